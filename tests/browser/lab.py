"""The app in a browser tab, in the words of a person who uses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages._ui import navigation
from tests import documents

if TYPE_CHECKING:  # so that a machine without Playwright skips these tests, rather than fails to read them
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Locator, Page, WebSocket

# Windows: a laptop, a projector, and a phone held upright.
WINDOW = {"width": 1440, "height": 900}
PROJECTOR, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
PATIENCE = 60_000  # milliseconds; only what fails takes that long

# How often the page was asked since it last changed: a clock would run on while the page waits for a processor.
_WATCH = """(() => { window.quiet = 0;
  new MutationObserver(() => { window.quiet = 0 })
    .observe(document, {subtree: true, childList: true, characterData: true}); })()"""
# Parts of the page arrive after the run's last message, some as code to be loaded first (skeletons).
_SETTLED = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app && app.getAttribute('data-test-script-state') === 'notRunning'
    && !document.querySelector('[data-testid="stSkeleton"]')
    && [...document.querySelectorAll('[data-testid="stPlotlyChart"], .rr-figure')].every(
      chart => chart.querySelector('.main-svg'))
    && ++window.quiet > 3 }"""
# What has the focus: its label, or the last line of its words.
FOCUSED = """() => { const at = document.activeElement;
  return at.getAttribute('aria-label') || (at.innerText ?? '').trim().split('\\n').at(-1) }"""
# Two animation frames: what the last message changed has been painted.
_PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# What the first figure draws, told by the first path of each of its traces and shapes; empty while there is none.
SEEN = """() => [...document.querySelector('.js-plotly-plot .main-svg')?.querySelectorAll('.trace, .shape-group') ?? []]
  .map(part => part.querySelector('path'))
  .map(path => path?.getAttribute('d') + path?.getAttribute('transform')).join()"""
# Counts new pictures of the first figure, frames, and frames in which no picture is on screen, until it is read.
COUNT_FRAMES = f"""() => {{ const seen = {SEEN}; let last = seen();
  const count = window.count = {{pictures: 0, frames: 0, blank: 0, since: performance.now()}};
  const look = () => {{
    if (window.count !== count) return;
    const now = seen();
    count.frames++;
    if (!now) count.blank++;
    else if (now !== last) {{ count.pictures++; last = now }}
    requestAnimationFrame(look) }};
  requestAnimationFrame(look) }}"""
FRAMES_COUNTED = """() => { const count = window.count; window.count = null;
  return {...count, seconds: (performance.now() - count.since) / 1000} }"""
_FIGURE = """(plot) => JSON.stringify(plot.data.map(t => [t.name, t.x, t.y, t.base, t.customdata]))"""
# What is seen of these words, and the contrast of their letters with what they stand on, by WCAG 2.
CONTRASTS = r"""selector => {
  const parts = colour => colour.match(/[\d.]+/g).map(Number);
  const light = rgb => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => { const c = rgb[i] / 255;
    return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4) }, 0);
  const ground = node => { const colour = parts(getComputedStyle(node).backgroundColor);
    return colour[3] === 0 && node.parentElement ? ground(node.parentElement) : colour };
  return [...document.querySelectorAll(selector)].filter(
    node => node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().width).map(node => {
      const style = getComputedStyle(node), below = ground(node);
      const ink = parts(node.ownerSVGElement ? style.fill : style.color);
      const seen = [0, 1, 2].map(i => ink[i] * style.opacity + below[i] * (1 - style.opacity));
      const [low, high] = [light(seen), light(below)].sort((a, b) => a - b);
      return [node.textContent, (high + 0.05) / (low + 0.05)] }) }"""
PAGES = {name: address for name, address, _ in documents.PAGES}
QUESTIONS = {name: question for name, _, question in documents.PAGES}
LABELS = {entry.name: entry.label for entry in navigation.BY_ADDRESS.values()}  # of links to the pages
LEAD = {
    "Noisy histogram": "noisy_histogram",
    "Inv and its negatives": "inv_negatives",
    "Estimators": "estimators",
    "Geometry": "geometry",
    "IBU → MLE*": "ibu",
    "Plan": "plan",
    "Experiments": "exp_map",
    "Protocols": "protocols",
}  # the key of the first figure of each page about the scenario
SCENARIO_PAGES = tuple(LEAD)
# Of them, where the walks begin from which Next leads to the others: the path, and what goes deeper.
BEGINNINGS = ("Noisy histogram", "Experiments")


def profile(browser: Browser, **options: Any) -> BrowserContext:
    """A browser profile (context) of its own, that watches when a page is done."""
    context = browser.new_context(**{"viewport": WINDOW, **options})
    context.add_init_script(_WATCH)
    context.set_default_timeout(PATIENCE)
    return context


class Lab:
    """One tab. Complaints of its page are kept in ``said``."""

    def __init__(self, context: BrowserContext, server: str) -> None:
        self.server = server
        self.said: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.said.append(f"page error: {error}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self._watch(request.url))
        self.page.on("websocket", self._connect)
        self.finished_runs = 0
        self.under_way = ""  # "asked" for a run, "begun", or nothing

    def _hear(self, message: ConsoleMessage) -> None:
        # On an inner page Streamlit first looks for its server below that page's own address.
        probe = "404" in message.text and "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and not probe:
            self.said.append(f"console: {message.text}")

    def _dismiss(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _watch(self, url: str) -> None:
        if not url.startswith((self.server, "data:", "blob:")):
            self.said.append(f"asked the network for {url}")

    def _connect(self, socket: WebSocket) -> None:
        self.under_way = ""
        socket.on("framesent", self._ask)
        socket.on("framereceived", self._count)

    def _ask(self, frame: bytes | str) -> None:
        """A key on a dial asks for two runs: the second when the first has been drawn."""
        if isinstance(frame, bytes) and BackMsg.FromString(frame).HasField("rerun_script"):
            self.under_way = "asked"

    def _count(self, frame: bytes | str) -> None:
        """Count finished runs from what the server says: a short run may leave no trace in the page."""
        if isinstance(frame, bytes) and len(frame) < 20_000:
            message = ForwardMsg.FromString(frame)
            if message.HasField("new_session"):
                self.under_way = "begun"
            elif (
                message.HasField("script_finished")
                and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                self.finished_runs += 1
                if self.under_way == "begun":
                    self.under_way = ""

    # Going places

    def open(self, address: str) -> Lab:
        """Open an address as if typed: ``/estimators?k=10``, or a whole copied link."""
        with self.rerun():
            self.page.goto(address if address.startswith("http") else self.server + address)
        return self

    def turn_to(self, address: str) -> Lab:
        """Go to another address as by Back or Forward, which takes a fraction of the time of loading the page anew."""
        with self.rerun():
            self.page.evaluate(
                "address => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')) }",
                address,
            )
        return self

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """Do something that makes the app run, and wait until that run is finished and everything is drawn."""
        self.page.bring_to_front()  # of a tab behind another Chromium paints one frame a second
        before = self.finished_runs
        yield
        self._wait_while(lambda: self.finished_runs == before)
        self.settle()

    def settle(self) -> None:
        """Wait until no run is under way and everything is drawn."""
        while True:
            self._wait_while(lambda: self.under_way != "")
            # Asked every now and then, not at every frame: two cores carry three browsers.
            self.page.wait_for_function(_SETTLED, timeout=PATIENCE, polling=40)
            self.page.evaluate(_PAINTED)
            if not self.under_way:
                return

    def _wait_while(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE / 1000
        while is_so():
            assert time.monotonic() < end, "the app did not run"
            self.page.wait_for_timeout(25)  # messages are heard while Playwright waits

    def go(self, name: str) -> None:
        """Follow the link of the navigation to the page of this name."""
        link = self.page.get_by_test_id("stSidebar").get_by_role("link", name=LABELS[name], exact=True)
        with self.rerun():
            link.click(delay=80)
        self.page.wait_for_url(lambda url: urlsplit(url).path.strip("/") == PAGES[name])

    def back(self) -> None:
        self._step("back")

    def forward(self) -> None:
        self._step("forward")

    def _step(self, where: str) -> None:
        before = self.page.url
        with self.rerun():
            self.page.evaluate(f"() => history.{where}()")
            self.page.wait_for_url(lambda url: url != before)

    def reload(self) -> None:
        with self.rerun():
            self.page.reload()

    @property
    def path(self) -> str:
        return urlsplit(self.page.url).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.page.url).query))

    # Using the widgets

    def more(self, name: str) -> None:
        """Open the rest of the scenario's widgets, where this one is among them."""
        if name in ("Preset", "Seed", "Reset") and not self.page.get_by_test_id("stPopoverBody").count():
            self.page.get_by_role("button", name="More").click(delay=80)
            self.page.get_by_test_id("stPopoverBody").wait_for()

    def unfold_widgets(self) -> None:
        """Unfold the scenario's widgets on the home page; until they stand, what is to be clicked moves."""
        self.page.get_by_test_id("stSidebar").get_by_text("Your own numbers").click()
        self.page.wait_for_timeout(1000)

    def press(self, name: str) -> None:
        self.more(name)
        with self.rerun():
            self.page.get_by_role("button", name=name, exact=True).click(delay=80)

    def choose(self, label: str, option: str) -> None:
        """Pick an option of a selection box."""
        self.more(label)
        box = self.page.get_by_role("combobox", name=label, exact=True)
        box.click(delay=80)
        with self.rerun():
            self.page.get_by_role("option", name=option, exact=True).click(delay=80)

    def pick(self, option: str) -> None:
        """Pick one of a row of choices."""
        with self.rerun():
            self.page.get_by_role("radio", name=option, exact=True).click(delay=80)

    def type(self, label: str, value: object) -> None:
        """Type a number into its box and press Enter."""
        self.more(label)
        box = self.page.get_by_role("spinbutton", name=label, exact=True)
        box.fill(str(value))
        with self.rerun():
            box.press("Enter")

    def slider(self, label: str) -> Locator:
        return self.page.get_by_role("slider", name=label, exact=True)

    def slide(self, label: str, key: str = "ArrowRight") -> None:
        with self.rerun():
            self.slider(label).press(key)

    def upload(self, name: str, data: bytes) -> None:
        """Give a file to the upload panel, opening it first where it is closed."""
        chooser = self.page.locator('.st-key-upload_file input[type="file"]')
        if not chooser.count():
            self.choose("Distribution", "Your own file")
        with self.rerun():
            chooser.set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})

    def use(self, name: str, data: bytes) -> None:
        self.upload(name, data)
        self.press("Use this distribution")

    def tab_to(self, name: str) -> None:
        """Press Tab until what is called so has the focus: by its label, or by the last line of its words."""
        for _ in range(80):
            self.page.keyboard.press("Tab")
            if self.page.evaluate(FOCUSED) == name:
                return
        raise AssertionError(f"Tab does not reach {name}")

    # Reading the page

    def sidebar(self) -> dict[str, str]:
        """What the scenario's widgets show, by label."""
        side = self.page.get_by_test_id("stSidebar")
        shown = {}
        for role in ("combobox", "spinbutton"):
            for box in side.get_by_role(role).all():
                shown[box.get_attribute("aria-label") or ""] = box.input_value()
        for slider in side.get_by_role("slider").all():
            shown[slider.get_attribute("aria-label") or ""] = slider.get_attribute("aria-valuetext") or ""
        return shown

    def greyed(self) -> dict[str, str]:
        """Why the dials of the sidebar that do nothing on this view are grey, by the labels of both of its widgets."""
        rows = self.page.locator('[data-testid="stSidebar"] .rr-off').all()
        return {
            widget.get_attribute("aria-label") or "": row.locator(".rr-why").inner_text()
            for row in rows
            for widget in row.locator("input").all()
        }

    def chart(self, key: str) -> Locator:
        return self.page.locator(f".st-key-{key} .js-plotly-plot")

    def figure(self, key: str) -> str:
        """Everything that a figure draws, as text to compare."""
        text: str = self.chart(key).evaluate(_FIGURE)
        return text

    def metrics(self) -> list[str]:
        """Labels and values of the numbers in large print."""
        return [metric.inner_text() for metric in self.page.get_by_test_id("stMetric").all()]

    def table(self) -> list[list[str]]:
        """The table of errors, row by row."""
        rows = self.page.locator('[data-testid="stMarkdown"] table tr').all()
        return [row.locator("th, td").all_inner_texts() for row in rows]

    def numbers(self) -> list[Any]:
        return [self.metrics(), self.table()]

    def alerts(self) -> list[str]:
        return [alert.inner_text() for alert in self.page.get_by_test_id("stAlert").all()]

    def words(self) -> str:
        return self.page.get_by_test_id("stMain").inner_text()

    def part(self, name: str) -> None:
        """Open a part of a long page by its tab."""
        with self.rerun():
            self.page.get_by_role("tab", name=name).click(delay=80)

    def download(self, name: str) -> bytes:
        with self.page.expect_download() as caught:
            self.page.get_by_role("button", name=name).click(delay=80)
        return Path(caught.value.path()).read_bytes()

    def must_be_fine(self) -> None:
        """No exception box, no complaint in the console, no dialog, no look outside."""
        boxes = self.page.get_by_test_id("stException").all_inner_texts()
        assert boxes == [], boxes
        assert self.said == [], self.said  # said here: only test files explain their asserts

    def leave(self) -> None:
        """End the session and forget it, so that the tab is as a new one, and its profile too."""
        self.page.evaluate("() => { sessionStorage.clear(); localStorage.clear() }")
        self.page.goto(f"{self.server}/_stcore/health")
        self.page.context.clear_cookies()
        session = self.page.context.new_cdp_session(self.page)
        session.send("Page.resetNavigationHistory")
        session.detach()
        self.said.clear()
