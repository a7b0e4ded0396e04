"""One scenario per session, whether its truth is hidden and it is presented, and the settings of each page, always in the
address bar.

What the session holds is the only truth. Widgets are drawn from it and change it in callbacks alone; the address is
written from it. The address takes precedence at three moments: the first run, the browser's Back or Forward, and
arriving on another page. A page hands the `Binding` of its own settings to `frame.open_page`. (Bound widgets,
``bind="query-params"``, were tried: the Back button then returns to a bare address, a value outside its range falls back
without a word, and the two widgets of one quantity fight over it.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui import session_files, widgets
from rr_core import limits, parameters
from rr_core.parameters import Choice, Parameter
from rr_core.plain_text import markdown
from rr_core.populations import TABLES, UPLOAD
from rr_core.scenario import FIRST, PARAMETERS, Scenario, other_k
from server import sessions

_TRUTH = Choice(
    "truth",
    "truth",
    "truth",
    {"shown": "shown", "hidden": "hidden"},
    "The link's {label} is “{text}”, which is neither hidden nor shown; it is {used}.",
)
_PRESENT = Choice(
    "present",
    "present",
    "present",
    {"off": "off", "on": "on"},
    "The link's {label} is “{text}”, which is neither on nor off; it is {used}.",
)
_ON_EVERY_PAGE = (*(field.parameter for field in PARAMETERS), _TRUTH.parameter, _PRESENT.parameter)
_STALE_SECONDS = 2.0
STAYED = (
    "This link is about a file that stayed with its owner: uploaded files never leave the browser session "
    "they belong to. If you have the file, upload it below; until then the link's other settings are shown "
    "with a Zipf distribution."
)

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Binding(Generic[T]):
    """A page's own settings: held by the session, taken from the address on arrival (with a sentence for each value
    that had to be changed; None where the address says nothing of them), and written to it (None for one that is not to
    be there)."""

    key: str
    default: T
    read: Callable[[Mapping[str, str]], tuple[T, tuple[str, ...]] | None]
    write: Callable[[T], Mapping[str, str | None]]

    def current(self) -> T:
        """The settings of this session."""
        settings: T = self._held()[0]
        return settings

    def notes(self) -> tuple[str, ...]:
        """Sentences about the address of the last arrival; empty once the user has changed a setting."""
        notes: tuple[str, ...] = self._held()[1]
        return notes

    def change(self, settings: T) -> None:
        """Replace the settings; for widget callbacks."""
        st.session_state[self.key] = settings, ()

    def widget_arguments(
        self, key: str, value: Any, changed: Callable[[Any], T], **how: bool
    ) -> dict[str, Any]:
        """Arguments of a widget bound to these settings, see `widgets.widget_arguments`: it displays ``value``,
        and ``changed`` returns the settings for its new value."""
        return widgets.widget_arguments(key, value, lambda chosen: self.change(changed(chosen)), **how)

    def of_field(self, key: str, name: str, settings: T | None = None, **how: bool) -> dict[str, Any]:
        """Arguments of a widget bound to one field of these settings, which are a dataclass, see `widget_arguments`; it
        changes ``settings``, or those that the session then holds."""
        value = getattr(settings or self.current(), name)
        if isinstance(getattr(self.default, name), float):
            # an end of a range may be a whole number, which a slider of others does not take
            value = float(value)

        def changed(chosen: Any) -> T:
            before: Any = settings or self.current()
            after: T = replace(before, **{name: chosen})
            return after

        return self.widget_arguments(key, value, changed, **how)

    def arrive(self, query: Mapping[str, str]) -> None:
        """Read the settings from an address."""
        st.session_state[self.key] = self.read(query) or (self.current(), ())

    def _held(self) -> tuple[Any, tuple[str, ...]]:
        held: tuple[Any, tuple[str, ...]] = st.session_state.get(self.key, (self.default, ()))
        return held


def binding_of_parameters(
    key: str,
    every: Sequence[Parameter],
    first: T,
    read: Callable[[Mapping[str, str]], tuple[T, tuple[str, ...]]] | None = None,
    write: Callable[[T], Mapping[str, str | None]] | None = None,
) -> Binding[T]:
    """Settings that stay as they are where an address has none of these parameters; each is read and written by itself,
    where it is not as in ``first``."""

    def changed(settings: T) -> dict[str, str | None]:
        before = parameters.write(every, first)
        now = parameters.write(every, settings)
        return {name: None if text == before[name] else text for name, text in now.items()}

    def given(query: Mapping[str, str]) -> tuple[T, tuple[str, ...]] | None:
        if query.keys().isdisjoint(one.parameter for one in every):
            return None
        return parameters.read(every, query, first) if read is None else read(query)

    return Binding(key, first, given, write or changed)


def binding_of_choice(
    key: str, choice: Choice[str], first: str, *, stays: bool = True, always: bool = False
) -> Binding[str]:
    """A setting that is one choice: ``first`` is not in the link unless ``always``, and comes back where an address
    does not have the setting unless it ``stays``."""

    def read(query: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
        if stays and choice.parameter not in query:
            return None
        chosen, note = choice.parse(query.get(choice.parameter, first), first)
        return chosen, (note,) if note else ()

    def write(chosen: str) -> dict[str, str | None]:
        return {choice.parameter: chosen if always or chosen != first else None}

    return Binding(key, first, read, write)


@dataclass(frozen=True)
class _Carried:
    """What the links to all pages carry."""

    scenario: Scenario
    truth_is_hidden: bool = False
    presenting: bool = False


@dataclass(slots=True)
class _Link:
    carried: _Carried
    notes: tuple[str, ...] = ()
    page: str = ""
    before: _Carried | None = None  # what links already on screen may carry, just after a change
    changed: float = 0.0
    k_of_file: str = ""  # what the link said of a file that is not here yet
    bindings: tuple[Binding[Any], ...] = ()
    own: dict[str, str | None] = field(default_factory=dict)


def _link() -> _Link:
    if "_link" not in st.session_state:
        st.session_state["_link"] = _Link(_Carried(FIRST))
    link: _Link = st.session_state["_link"]
    return link


def current() -> Scenario:
    """The scenario of this session."""
    return _link().carried.scenario


def truth_is_hidden() -> bool:
    """Whether the truth of the scenario is hidden on all pages of this session."""
    return _link().carried.truth_is_hidden


def presenting() -> bool:
    """Whether this session presents its pages."""
    return _link().carried.presenting


def manner_to_query() -> dict[str, str]:
    """The query parameters of a hidden truth and of presenting; nothing where they are off."""
    hidden = {_TRUTH.parameter: "hidden"} if truth_is_hidden() else {}
    return hidden | ({_PRESENT.parameter: "on"} if presenting() else {})


def page() -> str:
    """The address of the page on screen."""
    return _link().page


def set_parameters(query: Mapping[str, str | None]) -> None:
    """Set parameters of the address, or remove them (None), while the page is drawn; `write` writes them."""
    _link().own |= query


def change(**fields: Any) -> None:
    """Change the scenario; for widget callbacks."""
    link = _link()
    if fields.get("dist") in TABLES:
        fields["k"] = len(TABLES[fields["dist"]].rows)
    note: str | None = None
    if fields.get("dist") == UPLOAD:
        note = other_k(link.k_of_file, fields["k"], "your file")
        link.k_of_file = ""
    _change(scenario=replace(current(), **fields))
    link.notes = (note,) if note else ()


def new_draw() -> None:
    """Draw anew, from the next seed; a widget callback."""
    change(seed=(current().seed + 1) % (limits.SEED_MAX + 1))


def hide_truth(hidden: bool) -> None:
    """Hide the truth of the scenario on all pages, or show it; for widget callbacks."""
    _change(truth_is_hidden=hidden)


def present(on: bool) -> None:
    """Present the pages, or stop presenting them; for widget callbacks."""
    _change(presenting=on)


def _change(**carried: Any) -> None:
    link = _link()
    link.before, link.changed, link.notes = link.carried, time.monotonic(), ()
    link.carried = replace(link.carried, **carried)


def read(address: str, bindings: Iterable[Binding[Any]] = (), *, presentable: bool = True) -> bool:
    """Read the scenario and the page's settings from the address, at the moments when it takes precedence over the
    session. Returns whether this is such a moment: the page is being opened."""
    first = "_link" not in st.session_state
    link = _link()
    arrived = first or _from_history() or address != link.page
    link.own.clear()
    address_now = st.query_params.to_dict()
    query = {name: address_now[name] for name in _ON_EVERY_PAGE if name in address_now}
    if query and arrived:
        carried, notes = _read(query)
        # A click on a page link right behind a change (leaving a box commits it) carries the old scenario.
        outrun = carried == link.before and time.monotonic() - link.changed < _STALE_SECONDS
        if first or _from_history() or not outrun:
            link.carried, link.notes = carried, notes
    if current().dist == UPLOAD and session_files.uploaded() is None:
        session_files.open_upload(keep_users=True)
        link.carried = replace(link.carried, scenario=replace(current(), dist="zipf"))
        link.notes = (sessions.LET_GO,)
    if not presentable:
        link.carried = replace(link.carried, presenting=False)
    link.page, link.bindings = address, tuple(bindings)
    if arrived:
        for binding in link.bindings:
            binding.arrive(address_now)
    return arrived


def notes() -> tuple[str, ...]:
    """A plain sentence for each value of the link that had to be changed: the scenario's first, then the page's own."""
    return _link().notes + own_notes()


def show_notes(sentences: Iterable[str]) -> None:
    """Write these plain sentences at the top of the page; nothing where there are none."""
    for one in sentences:
        st.warning(markdown(one), icon=":material/info:")


def own_notes() -> tuple[str, ...]:
    """The sentences of `notes` about the page's own settings."""
    return tuple(note for binding in _link().bindings for note in binding.notes())


def write() -> None:
    """Write scenario and settings to the address if it differs: one message, one history entry, no rerun."""
    query = _query()
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)


def address() -> str | None:
    """The whole address of what is on screen, without that it is presented; None where there is no browser."""
    of_page = st.context.url
    return None if of_page is None else f"{of_page}?{relative().partition('?')[2]}"


def relative() -> str:
    """The address of what is on screen from "/" on, without that it is presented."""
    query = {name: text for name, text in _query().items() if name != _PRESENT.parameter}
    return f"/{_link().page}?{urlencode(query)}"


def _query() -> dict[str, str]:
    """The parameters of the address: the scenario, what else stands there, and the page's settings."""
    link = _link()
    others = {name: text for name, text in st.query_params.to_dict().items() if name not in _ON_EVERY_PAGE}
    own: dict[str, str | None] = {}
    for binding in link.bindings:
        own |= binding.write(binding.current())
    wanted = {**current().to_query(), **manner_to_query(), **others, **own, **link.own}
    return {name: text for name, text in wanted.items() if text is not None}


def _read(query: dict[str, str]) -> tuple[_Carried, tuple[str, ...]]:
    """What a link carries, and a plain sentence for each value that had to be changed."""
    scenario, notes = _read_scenario(query)
    truth, about_truth = _TRUTH.parse(query.get(_TRUTH.parameter, "shown"), "shown")
    present, about_presenting = _PRESENT.parse(query.get(_PRESENT.parameter, "off"), "off")
    carried = _Carried(scenario, truth == "hidden", present == "on")
    return carried, (*notes, *filter(None, (about_truth, about_presenting)))


def _read_scenario(query: dict[str, str]) -> tuple[Scenario, tuple[str, ...]]:
    uploaded = session_files.uploaded()
    if uploaded is not None and query.get("dist") == UPLOAD:
        others = {name: text for name, text in query.items() if name != "k"}
        scenario, notes = Scenario.from_query(others)
        k = uploaded.population.k
        note = other_k(query.get("k", ""), k, "your file")
        return replace(scenario, k=k), (note, *notes) if note else notes
    names_a_scenario = any(field.parameter in query for field in PARAMETERS)
    scenario, notes = Scenario.from_query(query, None if names_a_scenario else current())
    if scenario.dist != UPLOAD:
        session_files.close_upload()
        return scenario, notes
    session_files.open_upload(keep_users="n" in query)
    _link().k_of_file = query.get("k", "")
    return replace(scenario, dist="zipf"), (STAYED, *notes)


def _from_history() -> bool:
    """Whether this run was started by the browser's Back or Forward. Streamlit 1.67 has no public way to tell: an
    address that differs from the session's settings may also be one that lags behind a change."""
    context = get_script_run_ctx()
    return context is not None and bool(getattr(context, "is_history_navigation", False))
