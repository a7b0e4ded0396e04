"""What tests of the page of experiments share: a small sweep, a queue that goes step by step, its words."""

from __future__ import annotations

import base64
from concurrent.futures import Executor, Future
from functools import cache

import numpy as np

from pages._ui.experiments.runs import Run
from rr_core.experiments.claims import claims
from rr_core.experiments.grid import Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.words.experiments import evidence, paper_says
from server.sweeps import SweepQueue
from tests import until
from tests.app.opening import checked, opened, widget

OWN = "sweep=own&pop=1.3&ks=5,10&es=1,2&ns=100,1000&seeds=4"
CELLS_OF_OWN = over(s=1.3, k=(5, 10), epsilon=(1, 2), n=(100, 1000))
SETTINGS = Settings(4, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse", "nll"), bias=False)


@cache
def own(draw=1, **settings) -> SweepResult:
    """The own sweep of these tests as the engine computes it in one go."""
    return run(Sweep(CELLS_OF_OWN, Settings(**{**vars(SETTINGS), "seed": draw, **settings})))


def started(house, query=OWN):
    return press(opened("experiments", query), "Run")


def finished(house, page, number=0, key="own"):
    """The page after the run on screen, for which the server has its gate of this number, came to its end."""
    house.finish(number, seen(page, key).job)
    return checked(page.run())


def press(page, label):
    return checked(widget(page, label).click().run())


def typed(page, label, text):
    (box,) = [one for one in page.text_input if one.label == label]
    return checked(box.set_value(text).run())


def seen(page, key="own") -> Run:
    """The run on screen."""
    label = page.session_state["_exp_session"].current[key]
    (run,) = [run for run in kept(page) if (run.key, run.label) == (key, label)]
    return run


def kept(page) -> tuple[Run, ...]:
    """The runs of a page's session."""
    return page.session_state["_held"].get("sweeps") or ()


def words(page):
    """All that is said, without the signs of markdown."""
    kinds = (page.markdown, page.caption, page.info, page.error, page.warning)
    return "\n".join(one.value for kind in kinds for one in kind).replace("\\", "").replace("**", "")


def labels_of(page):
    return [button.label for button in page.button]


def told(page):
    """What the bars of progress say."""
    return [bar.proto.text for bar in page.get("progress")]


def bring(page, name, data):
    (uploader,) = [one for one in page.file_uploader if one.label == "Open a saved sweep"]
    return checked(uploader.set_value((name, data, "application/octet-stream")).run())


def values(packed):
    if isinstance(packed, dict):
        return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])
    return np.array(packed, dtype=float)


def assert_claims(page, result):
    """Every claim has its verdict and evidence on the page, or is said to be untested."""
    for claim in claims(result):
        assert paper_says(claim) in words(page)
        elsewhere = ", but false in other settings: see below" * (claim.key == "never_worst")
        told = (f"{claim.verdict}{more}. {evidence(claim)}" for more in ("", elsewhere))
        assert claim.verdict == "not tested" or any(one in words(page) for one in told)


def may_run(page):
    return any(button.label == "Run" and not button.disabled for button in page.button)


class Gate(Executor):
    """Computes one task each time it is let, in the order of submission."""

    def __init__(self):
        self.waiting, self.ended = [], False

    def submit(self, function, /, *args):
        self.waiting.append((Future(), function, args))
        return self.waiting[-1][0]

    def step(self):
        future, function, args = self.waiting.pop(0)
        future.set_result(function(*args))


class House:
    """Turns with gates that the test holds, and a clock that it sets."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr("rr_core.experiments.run._PER_TASK", 1e-9)  # a task is one cell
        self.gates, self.now, self.wait = [], 0.0, until
        self.queue = SweepQueue(self._start, self._end, lambda: self.now)

    def _start(self, workers):
        self.gates.append(Gate())
        return self.gates[-1]

    def _end(self, gate):
        gate.ended = True

    def gate(self, number, tasks=1):
        self.wait(lambda: len(self.gates) > number and len(self.gates[number].waiting) >= tasks)
        return self.gates[number]

    def finish(self, number, job):
        gate = self.gate(number)
        while gate.waiting:
            gate.step()
        self.wait(lambda: job.is_over)
