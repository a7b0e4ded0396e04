"""Unary encoding: a report of one bit for each category, its estimates, and one report by itself."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import chart, dials, downloads, figure_controls, guidance, link, navigation, truth, widgets
from pages._ui.figure_controls import widget
from pages._ui.frame import Page
from pages._ui.link import binding_of_choice
from rr_core.figures.arrivals import MOST_DRAWN
from rr_core.figures.unary import gain_map, one_report, unary_estimates
from rr_core.io.text import by_category
from rr_core.plain_text import markdown
from rr_core.protocols import settings
from rr_core.protocols.collection import MOST_BITS, OnePerson, UnaryCollection, collect_unary, one_person
from rr_core.protocols.laws import support as bits_of
from rr_core.protocols.unary import UnaryEncoding
from rr_core.protocols.unary_estimation import mle_gains
from rr_core.rounding import counted, number, percent
from rr_core.scenario import Draw, Scenario
from rr_core.streams import Stream
from rr_core.words.phrases import certificate, display, people
from rr_core.words.plan import budget
from server import sessions

_LONGEST_NAME = 18


ENCODING = binding_of_choice("_unary_encoding", settings.ENCODING, settings.FIRST_ENCODING)


def section(page: Page) -> None:
    """The estimates from bits as main figure; then one report by itself, and what is best sent."""
    draw = page.results.draw
    st.markdown(
        "In **unary encoding** a report is one **bit** for each category: 1 for one's own, 0 for all others. A coin then "
        "flips some bits, so there may be many ones, or none. Google's **RAPPOR** is built on it.\n\n"
        "**Try:** move **Privacy ε** to 4 and compare MLE with InvP. Which one comes closer to the truth?"
    )
    place = chart.place_of_lead()
    with figure_controls.row():
        encoding = widget(
            widgets.pick_one,
            "Encoding",
            settings.ENCODINGS,
            **ENCODING.widget_arguments("unary_encoding", ENCODING.current(), lambda key: key),
        )
        guidance.words("Unary encoding, Inv, InvN, InvP, Maximum likelihood, Certificate, Nat")
    protocol = UnaryEncoding(draw.scenario.k, draw.scenario.epsilon, encoding == "oue")
    collected = page.results.once("unary", protocol, lambda: _collect(draw, protocol))
    estimates = {"inv": collected.inv, "inv_n": collected.inv_n, "inv_p": collected.inv_p}
    if collected.reports is not None and not dials.moving() and collected.mle is not None:
        estimates["mle"] = collected.mle.theta
    figure = unary_estimates(
        estimates,
        collected.support / collected.n,
        truth.unless_hidden(collected.theta),
        figure_controls.most_frequent_bars(page.results),
    )
    page.lead(figure, "protocols", place=place)
    st.markdown(_explanation(protocol, collected, draw))
    if not dials.moving():
        _one_report(draw, protocol)
        _what_to_send(draw.scenario)
        _gains("oue" if protocol.optimized else "sue")
    downloads.row(page.results, figure, "unary", partial(_data_csv, draw, collected))


def _collect(draw: Draw, protocol: UnaryEncoding) -> UnaryCollection:
    with sessions.room(sessions.BYTES_PER_CATEGORY * protocol.k + MOST_BITS):
        return collect_unary(protocol, draw.true_counts, draw.scenario.stream(Stream.UNARY))


def _explanation(protocol: UnaryEncoding, collected: UnaryCollection, draw: Draw) -> str:
    own, other = percent(protocol.p), percent(protocol.q)
    lines = [
        f"The own bit is 1 with probability **{own}**, {'each' if protocol.k > 2 else 'the'} other bit with probability "
        f"**{other}**. Together that grants ε = {budget(protocol.epsilon)}, for another truth changes the chances of two "
        "bits alone.",
        "Inv takes off the ones that chance alone brings and stretches the rest, for each category by itself. So its "
        "shares need not add up to 100%; those of InvN and InvP do.",
    ]
    if collected.reports is None:
        lines.append(
            f"**MLE** needs the bits of every report, not only their sums. Here it is shown for up to {MOST_BITS:,} "
            f"bits in all (K times N); this would be {draw.scenario.k * draw.scenario.n:,}."
        )
    elif not dials.moving() and collected.mle is not None:
        lines.append(
            "**MLE** uses more than the sums: which ones came together in a report. Its certificate is "
            f"{certificate(collected.mle.gap)}."
        )
    return "\n".join(f"- {line}" for line in lines)


def _one_report(draw: Draw, protocol: UnaryEncoding) -> None:
    st.subheader("What does one report say by itself?")
    k = draw.scenario.k
    if k > MOST_DRAWN:
        st.caption(f"Shown for up to {MOST_DRAWN} categories: lower **Categories K**.")
        return
    if truth.hidden():
        st.caption(truth.note("one person's truth and reports"))
        return
    person = one_person(draw.true_counts, draw.mechanism, protocol, draw.scenario.stream(Stream.UNARY, 1))
    names = list(map(str, draw.categories))
    shown = [display(name, _LONGEST_NAME) for name in names]
    chart.show(one_report(person.debiased, person.debiased_bits, shown), "one_report")
    st.markdown(_in_words(person, names[person.truth]))


def _in_words(person: OnePerson, name: str) -> str:
    bits = "".join(map(str, person.bits.tolist()))
    return (
        f"This person's truth is **{markdown(name)}**. By unary encoding they sent `{bits}`. Each 1 counts as "
        f"{people(number(person.one))}, each 0 as {number(person.zero)}.\n\n"
        "**A single report need not make sense.** Added over everybody they are the estimate **Inv**: to debias every "
        "report and add, or to add and debias once, is the same."
    )


def _data_csv(draw: Draw, collected: UnaryCollection) -> bytes:
    """Ones and estimates, without the truth; MLE is empty where it was not computed."""
    return by_category(draw.population.labels, draw.scenario.k, collected.columns())


def _gains(encoding: str) -> None:
    gains = [gain for gain in mle_gains() if gain.encoding == encoding]
    with st.expander("How much is MLE worth? A map"):
        for column, k in zip(st.columns(2, gap="medium"), sorted({gain.k for gain in gains}), strict=True):
            with column:
                chart.show(gain_map(gains, k), f"unary_gain_{k}")
        st.caption(
            f"Measured beforehand, {min(gain.replicates for gain in gains):,} collections or more in each setting, from "
            "distributions drawn at random (Jeffreys' prior). Green: how much smaller MLE's mean squared error is than "
            "InvP's; blue: how much larger."
        )
        query = {**link.current().to_query(), "part": "protocols", "fig": "3"}
        navigation.link_to(
            "pages/experiments.py",
            "Along ε, with a verdict on a paper's sentences",
            ":material/arrow_forward:",
            query,
        )


def _what_to_send(scenario: Scenario) -> None:
    k = scenario.k
    rr, unary = bits_of("rr", k, scenario.epsilon).bits(k), bits_of("sue", k, scenario.epsilon).bits(k)
    with st.expander("Should a phone send the debiased report?"):
        st.markdown(
            "Then nobody could use biased counts by mistake. But it costs, and hides nothing more:\n\n"
            "| one report | as it is | debiased, 8 bytes a number |\n|:--|--:|--:|\n"
            f"| k-RR | {counted(rr, 'bit')} | {64 * k:,} bits |\n"
            f"| Unary encoding | {unary:,} bits | {64 * k:,} bits |\n\n"
            "Debiasing needs nothing but K, ε and the number of reports N, so it can be done once, on the counts: with "
            "$Y$ the reports of a category and $r = Kq$ the chance that k-RR draws a category at random,\n\n"
            r"$$F_A(Y) = \frac{Y - N r/K}{1 - r} = N\,\mathrm{Inv}.$$"
        )
