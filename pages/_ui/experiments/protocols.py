"""Other protocols: the figures of Lopuhaä-Zwakenberg et al., their sentences with verdicts, and one setting run anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

import streamlit as st

from pages._ui import chart, guidance, long_run, widgets
from pages._ui.downloads import button
from pages._ui.experiments.results import with_symbol
from pages._ui.link import binding_of_parameters
from rr_core.experiments import protocols as lopuhaa
from rr_core.experiments.ranking import FAMILY_LEVEL
from rr_core.figures.experiments_protocols import error_curves
from rr_core.io.text import csv_bytes
from rr_core.metrics import WHOSE
from rr_core.parameters import Choice, Number
from rr_core.plain_text import starred
from rr_core.protocols.collection import MOST_BITS
from rr_core.words.experiments_protocols import (
    FIGURE_NAMES,
    LOPUHAA_PROTOCOL_NAMES,
    errors_in_words,
    lopuhaa_evidence,
    lopuhaa_says,
)
from rr_core.words.phrases import table

_RUN = "exp_protocols_run"
_COLLECTIONS = 100  # as in the paper
_ENCODINGS: Mapping[str, lopuhaa.ProtocolKey] = {"oue": "oue", "rappor": "sue"}
_SHOWN = {"errors": "Errors", "ratio": "MLE ÷ InvP"}


@dataclass(frozen=True)
class ProtocolSettings:
    """What is drawn, and the setting to run anew."""

    figure: str = "2"
    truth: str = "fixed"
    encoding: str = "oue"
    shown: str = "errors"
    protocol: str = "oue"
    k: int = 10
    epsilon: float = 2.0
    n: int = 1000


_NUMBERS = (
    Number("k", "run_k", "number of categories of the new run", 2, 1000, True),
    Number("epsilon", "run_eps", "ε of the new run", 0.1, 8.0, False),
    Number("n", "run_n", "number of users of the new run", 10, 1_000_000, True),
)
_PARAMETERS = (
    Choice("figure", "fig", "figure", dict(FIGURE_NAMES)),
    Choice("truth", "against", "truth", dict(WHOSE)),
    Choice(
        "encoding", "unary", "encoding", {key: LOPUHAA_PROTOCOL_NAMES[of] for key, of in _ENCODINGS.items()}
    ),
    Choice("shown", "shown", "view", _SHOWN),
    Choice("protocol", "by", "protocol", dict(LOPUHAA_PROTOCOL_NAMES)),
    *_NUMBERS,
)
SETTINGS = binding_of_parameters("_exp_protocols", _PARAMETERS, ProtocolSettings())


def section() -> None:
    """The chosen figure with its widgets, the verdicts, a new run, and the file."""
    st.markdown(
        "Lopuhaä-Zwakenberg et al. (2020) compare Inv (their FO), InvP (their Norm-Sub) and maximum likelihood (MLE) "
        "under k-RR and **unary encoding**. Here their experiments are measured anew.\n\n"
        "**Try:** choose **Figure 3** and **MLE ÷ InvP**. From which ε on does MLE pay?"
    )
    settings = _widgets()
    rows = _rows(settings)
    chart.show(
        error_curves(rows, lopuhaa.against_inv_p(rows, lopuhaa.stored()), settings.shown == "ratio"),
        "exp_protocols",
    )
    _verdicts()
    _run_anew()
    data = partial(_csv, rows)
    button("Download data (CSV)", data, "protocols.csv", "exp_protocols_csv", width="content")


def _widgets() -> ProtocolSettings:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        widgets.pick_from_list("Figure", FIGURE_NAMES, width=270, **_bound("figure"))
        rows = _stored(SETTINGS.current())
        if len({row.setting.protocol for row in rows}) > 1:
            encodings = {"oue": "Optimised", "rappor": "Symmetric (RAPPOR)"}
            widgets.pick_one("Unary encoding", encodings, **_bound("encoding"))
        if len({row.truth for row in rows}) > 1:
            widgets.pick_one("Compared with", WHOSE, **_bound("truth"))
        widgets.pick_one("Shown", _SHOWN, **_bound("shown"))
        guidance.words("Unary encoding, Inv, InvP, Maximum likelihood, Randomized response")
    return SETTINGS.current()


def _bound(field: str) -> dict[str, Any]:
    return SETTINGS.of_field(f"exp_protocols_{field}", field)


def _stored(settings: ProtocolSettings) -> tuple[lopuhaa.Errors, ...]:
    return lopuhaa.stored()[cast("lopuhaa.FigureKey", settings.figure)]


def _rows(settings: ProtocolSettings) -> list[lopuhaa.Errors]:
    rows = _stored(settings)
    protocols, truths = {row.setting.protocol for row in rows}, {row.truth for row in rows}
    protocol = _ENCODINGS[settings.encoding] if len(protocols) > 1 else min(protocols)
    truth = settings.truth if settings.truth in truths else min(truths)
    return [row for row in rows if row.setting.protocol == protocol and row.truth == truth]


@cache
def _judged() -> tuple[lopuhaa.Sentence, ...]:
    return lopuhaa.sentences(lopuhaa.stored())


def _verdicts() -> None:
    """The paper's sentences, what the numbers say of each, and the numbers behind one click."""
    st.markdown(_table(""))
    st.caption("The taxi data are not here: populations of that size, made up, stand in their place.")
    with st.expander("The numbers behind the verdicts"):
        st.markdown(f"{_table('. {}')}\n\n{_MEANING}")


def _table(numbers: str) -> str:
    rows = [
        (lopuhaa_says(one), f"**{with_symbol(one.verdict)}**{numbers.format(lopuhaa_evidence(one))}")
        for one in _judged()
    ]
    return starred(table(("Lopuhaä-Zwakenberg et al. say", "Measured"), "ll", rows))


_MEANING = (
    "A **setting** is a protocol, a population, K, ε and N, with one of the two truths. **Surely**: by t tests with at "
    f"most {FAMILY_LEVEL:.0%} chance of a single wrong call over all figures together. **Similar** and **the same**, "
    f"which they give no number: at most {lopuhaa.SIMILAR:g} times the other error, either way. **±**: one standard "
    "error. From 100 to 400 collections for each setting; they have 100.\n\n"
    "**Chosen here**, where they are silent: n ≫ a is N = 1,000 K, n ≈ 10a is N = 10 K; UE is both the optimised and the "
    "symmetric encoding. **Made up**: 1,000 distances that halve in frequency every 100, and 5 payment types by Zipf's "
    "law with s = 2. Ages have 74 values (they count 75). Work class has 9 with “?” (they count 8)."
)


def _run_anew() -> None:
    with st.expander("Run one setting anew"):
        settings = SETTINGS.current()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            widgets.pick_from_list("Protocol", LOPUHAA_PROTOCOL_NAMES, width=260, **_bound("protocol"))
            labels = (("Categories", 1), ("Epsilon ε", 0.1), ("Users", 10))
            for number, (label, step) in zip(_NUMBERS, labels, strict=True):
                st.number_input(
                    label,
                    int(number.low) if number.whole else number.low,
                    int(number.high) if number.whole else number.high,
                    getattr(settings, number.name),
                    step=step,
                    width=150,
                    **_bound(number.name),
                )
        settings = SETTINGS.current()
        bits = 0 if settings.protocol == "k_rr" else settings.k * settings.n
        if bits > MOST_BITS:
            st.info(
                f"Unary encoding makes K × N = {bits:,} bits here, more than the {MOST_BITS:,} that this page simulates: "
                "lower the categories or the users."
            )
            return
        protocol = cast("lopuhaa.ProtocolKey", settings.protocol)
        _simulated(lopuhaa.Setting(protocol, lopuhaa.JEFFREYS, settings.k, settings.epsilon, settings.n))


def _simulated(setting: lopuhaa.Setting) -> None:
    started = long_run.start_button(_RUN, f"Simulate {_COLLECTIONS} collections", setting)
    run = partial(lopuhaa.measure, setting, _COLLECTIONS)
    found: tuple[lopuhaa.Errors, ...] | None = long_run.outcome(
        started, _RUN, setting, _COLLECTIONS, "collections", run, k=setting.k, shared=True
    )
    if found is None:
        st.caption(
            "A distribution from Jeffreys’ prior and new users for each collection, as in Figures 2 and 3."
        )
        return
    if found[0].collections < _COLLECTIONS:
        long_run.stopped(found[0].collections, _COLLECTIONS, "collections")
    st.markdown(starred("\n".join(f"- **{WHOSE[row.truth]}.** {errors_in_words(row)}" for row in found)))


def _csv(rows: list[lopuhaa.Errors]) -> bytes:
    values = zip(*(lopuhaa.as_row(row) for row in rows), strict=True)
    return csv_bytes(dict(zip(lopuhaa.columns(), map(list, values), strict=True)))
