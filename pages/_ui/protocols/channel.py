"""Any channel: a table of chances, what it grants, and what its reports say about the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages._ui import (
    chart,
    dials,
    downloads,
    figure_controls,
    film,
    guidance,
    link,
    session_files,
    truth,
    widgets,
)
from pages._ui.draw_results import DrawResults
from pages._ui.figure_controls import widget
from pages._ui.frame import Page
from pages._ui.link import binding_of_parameters
from rr_core.data import read_toml
from rr_core.figures import channel as drawn
from rr_core.figures.estimators import GROUPED_UP_TO
from rr_core.figures.view import natural_order
from rr_core.io import UnreadableFile
from rr_core.io.channel_file import MatrixFile, read_matrix, read_matrix_file
from rr_core.io.text import by_category
from rr_core.parameters import Number
from rr_core.plain_text import markdown
from rr_core.protocols import Channel, ChannelCollection
from rr_core.protocols import settings as options
from rr_core.protocols.collection import collect, users_in_rows
from rr_core.scenario import Draw
from rr_core.streams import Stream
from rr_core.words.phrases import FOLDED, display, plain_names
from server import sessions

_TOLERANCE = 1e-9  # of the certificate
CHANNELS = read_toml("channels.toml")
_LONGEST_TEXT, _LONGEST_SENTENCE, _LONGEST_CORNER = 400, 600, 14


@dataclass(frozen=True)
class _Matrix:
    """The parameter of a link that holds a typed matrix."""

    name: str = "matrix"
    parameter: str = "matrix"

    def parse(self, text: str, default: str) -> tuple[str, str]:
        try:
            if len(text) > _LONGEST_TEXT:
                raise UnreadableFile(f"It has more than {_LONGEST_TEXT} characters.")
            read_matrix(text)
        except UnreadableFile as error:
            return default, f"The link's matrix was left out. {error}"
        return text, ""

    def format(self, value: str) -> str:
        return value


SETTINGS = binding_of_parameters(
    "_channel_settings",
    (*options.CHANNEL_PARAMETERS, _Matrix()),
    options.ChannelSettings(),
    lambda query: options.read_channel(query, _Matrix()),
    lambda settings: options.write_channel(settings, _Matrix()),
)


@dataclass(frozen=True, eq=False)
class _Shown:
    """What is on screen; ``reports`` are their names where they are no categories."""

    collected: ChannelCollection
    labels: Sequence[str] | None
    reports: tuple[str, ...] | None


def section(page: Page) -> None:
    """The channel's estimates as main figure, with the widgets to choose it, and what it grants and tells apart."""
    draw, settings = page.results.draw, SETTINGS.current()
    st.markdown(
        "A **channel** is a table: for each truth, the chances of each report. k-RR is one of them. The estimates "
        "work for any: **Inv** solves the equations, **MLE** takes the shares under which the reports are most "
        "likely.\n\n"
        "**Try:** choose **Noise between neighbours** and lower **Privacy ε**. What happens to Inv?"
    )
    place = chart.place_of_lead()
    with figure_controls.row():
        design = widget(
            widgets.pick_from_list,
            "Channel",
            options.DESIGNS,
            width=250,
            **SETTINGS.of_field("channel_design", "design"),
        )
        for number in options.CHANNEL_NUMBERS.get(design, ()):
            _slider(number)
        guidance.words(
            "Channel, Inv, Unbiased, Maximum likelihood, Certificate, Condition number, IBU, Privacy budget"
        )
    own = _own_matrix(settings) if design == "own" else None
    shown = _shown(page.results, settings, own)
    collected = shown.collected
    figure = drawn.channel_estimates(
        truth.unless_hidden(collected.theta),
        collected.phi if shown.reports is None else None,
        collected.inv,
        collected.mle,
        shown.labels,
    )
    page.lead(figure, "protocols", place=place, unused=_unused(settings.design, collected.channel.k))
    _explain(settings, draw, shown)
    if not dials.moving():
        _details(shown)
        with st.expander("Formulas"):
            st.markdown(FOLDED["channel_formulas"])
    table = {} if own is None else {"matrix": own.matrix.tolist(), "names": own.truths}
    downloads.row(page.results, figure, "channel", partial(_data_csv, shown), **table)


def _unused(design: str, k: int) -> dict[str, str]:
    unused = {"epsilon": CHANNELS[design]["unused"]} if "unused" in CHANNELS[design] else {}
    if design == "own" and not link.current().of_data:
        unused["k"] = f"Your table has {k:,} rows."
    return unused


def _slider(number: Number) -> None:
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
        **SETTINGS.of_field(f"channel_{number.name}", number.name),
    )


def _own_matrix(settings: options.ChannelSettings) -> MatrixFile:
    """The matrix that was uploaded, else typed, with both widgets; where it cannot be read, the last one that could."""
    with st.expander("My table", expanded=True):
        left, right = st.columns(2, gap="medium")
        with right:
            st.file_uploader("Or a file", key="channel_file")
            files = session_files.chosen_files("channel_file")
            if not files:
                session_files.say_if_let_go()
            else:
                st.caption(
                    "The file stays in this session, and is forgotten when you leave the page. A link has the table "
                    "that is typed instead."
                )
        with left:
            st.text_area(
                "A row for each truth",
                max_chars=_LONGEST_TEXT,
                height=130,
                disabled=bool(files),
                help="Numbers like 0.25, 25% or 1/4, in lines or with semicolons between rows. A first line and a first "
                "column of names may be there.",
                **SETTINGS.of_field("channel_matrix", "matrix", keep_entry=True),
            )
        try:
            if files:
                file = files[0]
                read = session_files.read_once(
                    "channel",
                    file.file_id,
                    [file],
                    lambda: partial(read_matrix_file, file.bytes(), file.name),
                )
                return _noted(read)
            read = read_matrix(settings.matrix)
        except (UnreadableFile, sessions.NoRoom) as error:
            st.error(
                markdown(f"{error} The last table that could be read stays in use."), icon=":material/error:"
            )
            held: MatrixFile | None = sessions.held().get("channel_matrix")
            return held or read_matrix(options.EXAMPLE)
        return _noted(read)


def _noted(read: MatrixFile) -> MatrixFile:
    for note in read.notes:
        st.caption(markdown(note))
    sessions.held().put("channel_matrix", read)
    return read


def _shown(results: DrawResults, settings: options.ChannelSettings, own: MatrixFile | None) -> _Shown:
    """The channel of the settings, or of the visitor's own matrix, and a collection through it."""
    draw, rng = results.draw, results.draw.scenario.stream(Stream.CHANNEL)
    if own is not None:
        channel = Channel(own.matrix)
        users, labels = users_in_rows(draw, channel.k, fixed=True)
        about = (draw.scenario, draw.population.key, own.matrix.tobytes(), own.matrix.shape)
        made = session_files.cached("channel_own", about, lambda: collect(channel, users, rng))
        square = own.reports is None and channel.m == channel.k
        reports = None if square else own.reports or tuple(f"{i + 1}" for i in range(channel.m))
        return _Shown(made, own.truths or labels, reports)
    channel = settings.channel(settings.rows(draw.scenario), draw.scenario.epsilon)
    users, labels = users_in_rows(draw, channel.k)
    made = results.once("channel", settings, lambda: collect(channel, users, rng))
    return _Shown(made, settings.names(labels), None)


def _explain(settings: options.ChannelSettings, draw: Draw, shown: _Shown) -> None:
    channel = shown.collected.channel
    lines = [f"**{options.DESIGNS[settings.design]}.** {CHANNELS[settings.design]['about']}"]
    scenario = draw.scenario
    if settings.design == "own" and not scenario.of_data:
        lines.append(f"The table has {channel.k:,} rows, so K is {channel.k:,} here.")
    elif channel.k < scenario.k:
        lines.append(_merged(channel.k, scenario.k, _names(shown)[0][-1]))
    elif channel.k > scenario.k:
        lines.append(
            f"The table has {channel.k:,} rows, so K is {channel.k:,} here, and the users are of a Zipf distribution "
            "with s = 1."
        )
    said = drawn.channel_sentences(shown.collected, *_names(shown))
    listed = "\n".join(f"- {markdown(line, _LONGEST_SENTENCE)}" for line in said)
    st.markdown(f"{' '.join(lines)}\n\n{listed}")


def _merged(rows: int, k: int, last: str) -> str:
    return (
        f"The table has {rows:,} rows for the sidebar's {k:,} categories: the last, “{markdown(last)}”, stands for "
        f"the {k - rows + 1:,} rarest of them."
    )


def _names(shown: _Shown) -> tuple[list[str], list[str]]:
    channel = shown.collected.channel
    truths = plain_names(shown.labels, natural_order(channel.k))
    return truths, truths if shown.reports is None else plain_names(shown.reports, natural_order(channel.m))


def _details(shown: _Shown) -> None:
    """One closer look at a time: what IBU does takes longer than the rest of the page."""
    collected = shown.collected
    looks = ["The table", "IBU"] + (["How good can it get?"] if collected.channel.identified else [])
    look = st.segmented_control(
        "Look closer",
        looks,
        required=True,
        default=looks[0],
        key=f"channel_look_{len(looks)}",
        persist_state="page",
    )
    if look == "IBU":
        _ibu(shown)
    elif look == looks[-1]:
        chart.show(drawn.bounds_bars(collected.bounds, collected.n), "channel_bounds")
        st.markdown(FOLDED["channel_bounds"])
    else:
        chart.show(drawn.channel_table(collected.channel, *_names(shown)), "channel_table")


def _ibu(shown: _Shown) -> None:
    """How long IBU takes to the same answer; its way as a film and, with three categories, in the triangle."""
    collected = shown.collected
    left, right = st.columns(2, gap="medium")
    with left:
        chart.show(drawn.channel_convergence(collected.ibu, collected.mle, _TOLERANCE), "channel_convergence")
        st.caption(
            "For k-RR, MLE is **MLE\\***, one formula: there all categories are treated alike, so that the order of the "
            "reports tells which shares are zero. Other tables need have no such order: MLE is found in steps."
        )
    with right:
        if collected.channel.k == 3:
            three = [display(name, _LONGEST_CORNER) for name in _names(shown)[0]]
            theta = truth.unless_hidden(collected.theta)
            chart.show(drawn.channel_triangle(collected, theta, three), "channel_triangle")
        elif collected.channel.k <= GROUPED_UP_TO:
            film.show(drawn.channel_film(collected, shown.labels), "channel_film")


def _data_csv(shown: _Shown) -> bytes:
    """The estimates, without the truth; Inv is empty where there is none."""
    found = shown.collected
    return by_category(shown.labels, found.channel.k, found.columns())
