"""Pages run by Streamlit's own test harness, without a browser: fast, but the address does not follow widgets."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Block

from pages._ui import navigation

# The harness looks through all installed packages for components with each page that it opens, compiles the page anew in
# each run, and asks a thousand times a second whether it has ended: most of its time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
local_script_runner.ScriptCache = cache(local_script_runner.ScriptCache)
_end_late = local_script_runner.require_widgets_deltas


def _wait(runner: local_script_runner.LocalScriptRunner, seconds: float) -> None:
    runner._script_thread.join(seconds)
    if not runner.script_stopped():
        _end_late(runner, 0)


local_script_runner.require_widgets_deltas = _wait

ROOT = Path(__file__).parents[2]
ABOUT_SCENARIO = (
    "noisy_histogram",
    "inv_negatives",
    "estimators",
    "geometry",
    "ibu",
    "plan",
    "experiments",
    "protocols",
)
# The map of a plan shows neither a draw nor a category, and experiments have draws of their own.
OF_A_DRAW = tuple(name for name in ABOUT_SCENARIO if name not in ("plan", "experiments"))


def opened(name: str, query: str = "") -> AppTest:
    """A page opened by a link, after its first run, without an exception."""
    page = AppTest.from_file(str(ROOT / navigation.BY_ADDRESS[name].file), default_timeout=60)
    for pair in filter(None, query.split("&")):
        parameter, value = pair.split("=")
        page.query_params[parameter] = value
    return checked(page.run())


def checked(page: AppTest) -> AppTest:
    assert [box.message for box in page.exception] == []
    return page


def open_part(page: AppTest, name: str, part: str) -> AppTest:
    """The page of this name after its reader opened another part, by its key in a link."""
    page.session_state[f"_part_of_{name}"] = (part, ())
    return checked(page.run())


def parts_of(name: str) -> list[str | None]:
    """Keys of the parts of a page; [None] where it has none."""
    path = ROOT / navigation.BY_ADDRESS[name].file
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Parts":
            return list(ast.literal_eval(call.args[1]))
    return [None]


# Every page with each of its parts.
PLACES = [(name, part) for name in navigation.BY_ADDRESS for part in parts_of(name)]


class Dial:
    """A dial of the sidebar, which Streamlit's harness does not know: what it shows, and a move of the hand."""

    def __init__(self, page: AppTest, proto: Any, dial: dict[str, Any], answered: int) -> None:
        self.page, self.proto, self.dial, self.number = page, proto, dial, answered + 1
        self.label, self.value, self.text = dial["label"], dial["value"], ""
        self.error, self.stops = dial["error"], dial["stops"]

    def set_value(self, value: object) -> Dial:
        self.text = str(value)
        return self

    def run(self, *, moving: bool = False) -> AppTest:
        move = {"name": self.dial["name"], "text": self.text, "moving": moving, "number": self.number}
        return self.tell("moved", move)

    def tell(self, event: str, value: object) -> AppTest:
        """What the browser tells the page of."""
        states = self.page._tree.get_widget_states()
        states.widgets.add(
            id=_make_trigger_id(self.proto.id, "events"),
            json_trigger_value=json.dumps([{"event": event, "value": value}]),
        )
        return self.page._run(states)


def dials(page: AppTest) -> list[Dial]:
    """The dials of the sidebar."""
    found = []
    for proto, data in components(page):
        if "dials" in data and not data["compact"]:
            found += [Dial(page, proto, dial, data["answered"]) for dial in data["dials"]]
    return found


def components(page: AppTest) -> list[tuple[Any, dict[str, Any]]]:
    """Components of our own but the main figure: as they are sent, and their data."""
    sent = [element.proto for element in page.get("bidi_component")]
    return [(proto, json.loads(proto.json or proto.mixed.json)) for proto in sent if not proto.bytes]


def widget(page: AppTest | Block, label: str) -> Any:
    """The one widget with this visible label, on a page or in a part of it."""
    kinds = (page.selectbox, page.number_input, page.slider, page.select_slider, page.button, page.toggle)
    turned = dials(page) if isinstance(page, AppTest) else []
    (found,) = [one for kind in (*kinds, turned) for one in kind if one.label == label]
    return found


def labels(page: AppTest) -> list[str]:
    """Visible labels of the sidebar's widgets."""
    side = page.sidebar
    kinds = (side.selectbox, side.number_input, side.slider, side.select_slider, side.button, dials(page))
    return [one.label for kind in kinds for one in kind]


def charts(page: AppTest) -> list[dict[str, Any]]:
    """The figures on the page as they are sent, each with its text alternative as "alt"."""
    found = []
    for element in page._tree:
        if element.type == "plotly_chart":
            found.append({**json.loads(element.proto.spec), "alt": element.proto.alt})
        elif element.type == "bidi_component" and element.proto.bytes:
            found.append(json.loads(element.proto.bytes))  # the main figure
    return found


def words(page: AppTest) -> str:
    """What the page says, but for its boxes and labels."""
    return "\n".join(one.value for one in (*page.markdown, *page.caption))


def points(chart: dict[str, Any]) -> int:
    return sum(_length(trace.get("y")) for trace in chart["data"])


def _length(values: Any) -> int:
    """How many numbers a list, or an array that was packed for the browser, holds."""
    if isinstance(values, dict):
        size = int(values["dtype"][-1])
        return len(values["bdata"]) * 3 // 4 // size
    return 0 if values is None else len(values)
