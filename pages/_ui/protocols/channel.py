"""Any channel: a table of chances, what it grants, and what its reports say about the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, dials, figure_controls, guidance, memory, state, truth
from pages._ui.figure_controls import widget
from pages._ui.frame import Page
from pages._ui.link import Binding
from pages._ui.safe_text import markdown
from rr_core import parameters, streams
from rr_core.figures.channel import (
    channel_convergence,
    channel_estimates,
    channel_sentences,
    channel_table,
)
from rr_core.figures.view import natural_order
from rr_core.figures.wording import plain_names
from rr_core.io import UnreadableFile
from rr_core.io.channel_file import MatrixFile, read_matrix, read_matrix_file
from rr_core.mechanism import RandomizedResponse
from rr_core.parameters import Choice, Number, Parameter
from rr_core.populations import TABLES, UPLOAD
from rr_core.protocols import Channel, ChannelCollection, collect, merge_last
from rr_core.protocols.channel import LARGEST_LOG_RATIO
from rr_core.scenario import Draw, Scenario
from rr_core.streams import Stream

_PERCENT = 100.0
_TOLERANCE = 1e-9  # nats per report
DESIGNS = {
    "forced": "Forced answers",
    "warner": "Warner's two questions",
    "geometric": "Noise between neighbours",
    "errors": "Mistaken for a neighbour",
    "k_rr": "k-RR",
    "own": "A table of my own",
}
_WHAT = {
    "geometric": "Categories have an order, like ages. A report is the truth or some steps away from it, each further "
    "step less likely by the factor eᵋ, with the sidebar's ε.",
    "warner": "A coin picks which of two questions a person answers: “Are you …?” or “Are you not …?”. Only the person "
    "knows which one.",
    "forced": "A die tells some people to give a fixed answer, whatever the truth. The others tell the truth.",
    "errors": "No privacy is meant: a clerk takes some people for their neighbour. The estimates correct that too.",
    "k_rr": "The mechanism of the other pages, written as a table; ε is the sidebar's.",
    "own": "One row for each truth: the chances of its reports. Each row sums to 1.",
}
_EXAMPLE = "0.7 0.2 0.1; 0.2 0.6 0.2; 0.1 0.2 0.7"
_LONGEST_TEXT, _LONGEST_SENTENCE = 400, 600
MOST_CATEGORIES = 200


@dataclass(frozen=True)
class _Matrix:
    """The parameter of a link that holds a typed matrix."""

    name: str = "matrix"
    parameter: str = "matrix"

    def parse(self, text: str, default: str) -> tuple[str, str]:
        try:
            read_matrix(text[: _LONGEST_TEXT + 1])
        except UnreadableFile as error:
            return default, f"The link's matrix was left out. {error}"
        return text, ""

    def format(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class ChannelSettings:
    """Which channel, and its own settings, in percent.

    Attributes:
        design: a key of DESIGNS.
        p: of people who answer the question itself (Warner).
        forced: of people who give a fixed answer.
        first: of forced answers that are the first category.
        error: of people mistaken for a neighbour.
        matrix: as it was typed.
    """

    design: str = "forced"
    p: float = 75.0
    forced: float = 40.0
    first: float = 60.0
    error: float = 20.0
    matrix: str = _EXAMPLE


_DESIGN = Choice("design", "channel", "channel", DESIGNS)
_NUMBERS = {
    "warner": (Number("p", "ask", "share of people asked the question itself in %", 0, _PERCENT, False),),
    "forced": (
        Number("forced", "forced", "share of forced people in %", 0, _PERCENT, False),
        Number(
            "first", "first", "share of forced answers that are the first category in %", 0, _PERCENT, False
        ),
    ),
    "errors": (
        Number("error", "wrong", "share of people mistaken for a neighbour in %", 0, _PERCENT, False),
    ),
}
_OF_DESIGN: Mapping[str, tuple[Parameter, ...]] = {**_NUMBERS, "own": (_Matrix(),)}
_ALL = (_DESIGN, *(one for several in _OF_DESIGN.values() for one in several))


def _read(query: Mapping[str, str]) -> tuple[ChannelSettings, tuple[str, ...]] | None:
    if query.keys().isdisjoint(one.parameter for one in _ALL):
        return None
    return parameters.read(_ALL, query, ChannelSettings())


def _write(settings: ChannelSettings) -> dict[str, str | None]:
    if settings == ChannelSettings():
        return {}
    return {**parameters.write((_DESIGN, *_OF_DESIGN.get(settings.design, ())), settings)}


SETTINGS: Binding[ChannelSettings] = Binding("_channel_settings", ChannelSettings(), _read, _write)


@dataclass(frozen=True, eq=False)
class _Own:
    """A matrix of the visitor, and whether it came from a file, which no shared cache may hold."""

    read: MatrixFile
    uploaded: bool


def section(page: Page) -> go.Figure:
    """The channel's estimates as main figure, with the widgets to choose it, and what it grants and tells apart."""
    draw, settings = page.work.draw, SETTINGS.current()
    st.markdown(
        "A **channel** is a table: for each truth, the chances of each report. k-RR is one of them. The estimates "
        "work for any: **Inv** solves the equations, **MLE** takes the shares under which the reports are most "
        "likely.\n\n"
        "**Try:** choose **Noise between neighbours** and lower **Privacy ε**. What happens to Inv?"
    )
    place = page.place()
    with figure_controls.row():
        design = widget(
            st.selectbox,
            "Channel",
            list(DESIGNS),
            format_func=DESIGNS.__getitem__,
            width=250,
            **SETTINGS.widget_arguments(
                "channel_design", settings.design, lambda design: replace(settings, design=design)
            ),
        )
        for number in _NUMBERS.get(design, ()):
            _slider(settings, number)
        guidance.words(
            "Channel",
            "Inv",
            "Unbiased",
            "Maximum likelihood",
            "Certificate",
            "Condition number",
            "IBU",
            "Privacy budget",
        )
    own = _own_matrix(settings) if design == "own" else None
    collected, labels, reports = _collected(page, settings, own)
    figure = channel_estimates(
        truth.unless_hidden(collected.theta),
        collected.phi if reports is None else None,
        collected.inv,
        collected.mle,
        labels,
    )
    page.lead(figure, "protocols", place=place)
    _explain(settings, draw, collected, labels, reports)
    if not dials.moving():
        _details(collected, labels, reports)
    return figure


def _slider(settings: ChannelSettings, number: Number) -> None:
    words = {
        "p": "Asked “Are you …?”, % of people",
        "forced": "Forced, % of people",
        "first": "of them to the first category, %",
        "error": "Mistaken, % of people",
    }
    widget(
        st.slider,
        words[number.name],
        float(number.low),
        float(number.high),
        step=1.0,
        format="%.4g",
        width=230,
        **SETTINGS.widget_arguments(
            f"channel_{number.name}",
            float(getattr(settings, number.name)),
            lambda value: replace(settings, **{number.name: value}),
        ),
    )


def _own_matrix(settings: ChannelSettings) -> _Own:
    """The matrix that the visitor uploaded or else typed, with the widgets for both. An unreadable one leaves in use the
    last that was read."""
    with st.expander("My table", expanded=True):
        left, right = st.columns(2, gap="medium")
        with left:
            st.text_area(
                "A row for each truth",
                max_chars=_LONGEST_TEXT,
                height=130,
                help="Numbers like 0.25, 25% or 1/4, in lines or with semicolons between rows. A first line and a first "
                "column of names may be there.",
                **SETTINGS.widget_arguments(
                    "channel_matrix",
                    settings.matrix,
                    lambda text: replace(settings, matrix=text),
                    keep_entry=True,
                ),
            )
        with right:
            st.file_uploader("Or a file", type=["csv", "tsv", "txt", "gz"], key="channel_file")
            files = state.chosen_files("channel_file")
            if not files:
                state.say_if_let_go()
            else:
                st.caption("The file stays in this session, and is forgotten when you leave the page.")
        try:
            if files:
                file = files[0]
                read = state.read_once(
                    "channel", file.file_id, [file], lambda: read_matrix_file(file.bytes(), file.name)
                )
                return _noted(_Own(read, True))
            read = read_matrix(settings.matrix)
        except (UnreadableFile, memory.NoRoom) as error:
            st.error(
                markdown(f"{error} The last table that could be read stays in use."), icon=":material/error:"
            )
            held: _Own | None = memory.held().get("channel_matrix")
            return held or _Own(read_matrix(_EXAMPLE), False)
        return _noted(_Own(read, False))


def _noted(own: _Own) -> _Own:
    for note in own.read.notes:
        st.caption(markdown(note))
    memory.held().put("channel_matrix", own)
    return own


def _collected(
    page: Page, settings: ChannelSettings, own: _Own | None
) -> tuple[ChannelCollection, tuple[str, ...] | None, tuple[str, ...] | None]:
    """The collection, the names of its categories, and those of its reports where these are no categories."""
    draw = page.work.draw
    labels: tuple[str, ...] | None
    if own is not None:
        read = own.read
        users, labels = _users(draw, len(read.matrix))
        about = (draw.scenario, read.matrix.tobytes(), read.matrix.shape)
        made = state.cached(
            "channel_own", about, lambda: _collect(draw.scenario, Channel(read.matrix), users)
        )
        labels = read.truths or labels
        square = read.reports is None and made.channel.m == made.channel.k
        return made, labels, None if square else read.reports or _numbered(made.channel.m)
    k = _most_categories(settings.design, draw.scenario)
    users, labels = _users(draw, min(k, draw.scenario.k))
    if settings.design == "warner":
        labels = (labels[0] if labels else "1", "not so")

    def make() -> ChannelCollection:
        return _collect(draw.scenario, _build(settings, len(users), draw.scenario.epsilon), users)

    if draw.scenario.dist == UPLOAD:
        return state.cached("channel", (draw.scenario, settings, len(users)), make), labels, None
    return _shared(draw.scenario, settings, make), labels, None


@st.cache_resource(max_entries=64, show_spinner=False)
def _shared(
    scenario: Scenario, settings: ChannelSettings, _make: Callable[[], ChannelCollection]
) -> ChannelCollection:
    return _make()


memory.shared(_shared.clear)


def _collect(scenario: Scenario, channel: Channel, users: Any) -> ChannelCollection:
    return collect(channel, users, streams.generator(scenario.seed, Stream.CHANNEL))


def _users(draw: Draw, k: int) -> tuple[Any, tuple[str, ...] | None]:
    """(k,) users of the draw, the last categories merged; a Zipf population of k categories where the draw has fewer."""
    scenario, labels = draw.scenario, draw.population.labels
    if k <= scenario.k:
        return merge_last(draw.true_counts, labels, k)
    dist = "zipf" if scenario.dist == UPLOAD or scenario.dist in TABLES else scenario.dist
    return replace(scenario, dist=dist, k=k).users().counts, None


def _most_categories(design: str, scenario: Scenario) -> int:
    if design == "warner":
        return 2
    if design == "geometric":
        return min(MOST_CATEGORIES, int(LARGEST_LOG_RATIO / scenario.epsilon) + 1)
    return MOST_CATEGORIES


def _build(settings: ChannelSettings, k: int, epsilon: float) -> Channel:
    if settings.design == "warner":
        return Channel.warner(settings.p / _PERCENT)
    if settings.design == "forced":
        return Channel.forced_with_first(k, settings.forced / _PERCENT, settings.first / _PERCENT)
    if settings.design == "errors":
        return Channel.misclassification(k, settings.error / _PERCENT)
    if settings.design == "geometric":
        return Channel.truncated_geometric(k, epsilon)
    return Channel.k_rr(RandomizedResponse(k, epsilon))


def _numbered(m: int) -> tuple[str, ...]:
    return tuple(f"{i + 1}" for i in range(m))


def _explain(
    settings: ChannelSettings,
    draw: Draw,
    collected: ChannelCollection,
    labels: tuple[str, ...] | None,
    reports: tuple[str, ...] | None,
) -> None:
    """What the channel is, what it grants and tells apart, in one element."""
    channel = collected.channel
    named, reported = _names(channel, labels, reports)
    lines = [f"**{DESIGNS[settings.design]}.** {_WHAT[settings.design]}"]
    if channel.k < draw.scenario.k:
        merged = (
            "“not so” stands for all other categories"
            if channel.k == 2
            else "the last ones are merged into one"
        )
        lines.append(
            f"The table has {channel.k:,} of the sidebar's {draw.scenario.k:,} categories: {merged}."
        )
    if channel.k > draw.scenario.k:
        lines.append(f"The table has {channel.k:,} rows, so K is {channel.k:,} here.")
    said = [markdown(line, _LONGEST_SENTENCE) for line in channel_sentences(collected, named, reported)]
    st.markdown("\n\n".join([" ".join(lines), "\n".join(f"- {line}" for line in said)]))


def _names(
    channel: Channel, labels: tuple[str, ...] | None, reports: tuple[str, ...] | None
) -> tuple[list[str], list[str]]:
    truths = plain_names(labels, natural_order(channel.k))
    return truths, truths if reports is None else plain_names(reports, natural_order(channel.m))


def _details(
    collected: ChannelCollection, labels: tuple[str, ...] | None, reports: tuple[str, ...] | None
) -> None:
    """The table as a picture, and how long IBU takes to the same answer."""
    left, right = st.columns(2, gap="medium")
    truths, reported = _names(collected.channel, labels, reports)
    with left:
        st.subheader("The table")
        chart.show(channel_table(collected.channel, truths, reported), "channel_table")
    with right:
        st.subheader("How long would IBU take?")
        chart.show(channel_convergence(*collected.ibu_gaps, collected.mle, _TOLERANCE), "channel_convergence")
