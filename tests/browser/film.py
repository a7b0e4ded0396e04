"""A film on a page in a browser: its buttons, what it draws, and what the browser says to the server meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import numpy as np

from tests.browser.lab import PATIENCE, Lab

# How many marks and bars the browser draws, at each of its own frames for a second.
_ON_SCREEN = """plot => new Promise(done => {
  const counts = new Set(), until = performance.now() + 1000;
  const look = () => {
    counts.add(plot.querySelectorAll('.scatterlayer .point, .barlayer .point').length);
    performance.now() < until ? requestAnimationFrame(look) : done([...counts]);
  };
  look();
})"""


class Film:
    """The film with this key on a page.

    Args:
        lab: a fresh tab.
        address: of the page.
        key: of the chart.
        moment: expression whose first group is the number of iterations or reports in the note of a frame.
    """

    def __init__(self, lab: Lab, address: str, key: str, moment: str) -> None:
        self.lab, self.sent, self.heard, self._moment = lab, 0, 0, moment
        self.chart = lab.chart(key)
        lab.page.on("websocket", self._listen)
        lab.open(address)

    def _listen(self, socket) -> None:
        socket.on("framesent", lambda _: setattr(self, "sent", self.sent + 1))
        socket.on("framereceived", lambda _: setattr(self, "heard", self.heard + 1))

    def button(self, name: str):
        return self.chart.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def tab_to_it(self) -> None:
        """Press Tab until the film has the focus."""
        for _ in range(40):
            self.lab.page.keyboard.press("Tab")
            if self.chart.evaluate("plot => plot.closest('[tabindex]') === document.activeElement"):
                return
        raise AssertionError("the film cannot be reached by Tab")

    @property
    def moment(self) -> int:
        text = self.chart.locator(".annotation-text").first.text_content() or ""
        return int(re.search(self._moment, text)[1].replace(",", ""))

    def drawn(self, trace: int) -> np.ndarray:
        return np.array(self.chart.evaluate(f"plot => Array.from(plot._fullData[{trace}].y)"), dtype=float)

    def numbers_of_marks(self) -> list[int]:
        """How many marks and bars were on screen during a second, each number once."""
        return self.chart.evaluate(_ON_SCREEN)

    def moment_at_rest(self, milliseconds: int = 500) -> int:
        """The moment on screen, which must stay for so long."""
        self.lab.page.wait_for_timeout(300)
        paused = self.moment
        self.lab.page.wait_for_timeout(milliseconds)
        assert self.moment == paused
        return paused

    def wait_for(self, wanted: Callable[[int], bool]) -> None:
        """Until the moment on screen is the one wanted."""
        end = time.monotonic() + PATIENCE / 1000
        while not wanted(self.moment):
            assert time.monotonic() < end, f"still at {self.moment}"
            self.lab.page.wait_for_timeout(50)
