"""The same people report every day: what an onlooker learns, the budget spent, and the error of the average."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages._ui import chart, dials, downloads, figure_controls, guidance, link, truth
from pages._ui.draw_results import DrawResults
from pages._ui.figure_controls import widget
from pages._ui.frame import Page
from pages._ui.link import binding_of_parameters
from rr_core._validate import Array
from rr_core.figures.over_time import NAMES, budget, errors, exposure
from rr_core.ibu import log_spaced
from rr_core.io.text import csv_bytes
from rr_core.plain_text import markdown
from rr_core.protocols import settings as options
from rr_core.protocols.over_time import SCHEMES, Longitudinal, reports_of, simulated_rmse
from rr_core.rounding import counted, number, odds, raised
from rr_core.sampling import whole_users
from rr_core.scenario import Scenario
from rr_core.streams import Stream
from rr_core.words.phrases import plain_names
from rr_core.words.plan import budget as privacy

_REPEATS = 40  # of the simulated errors
_APART = 0.7  # of the last simulated day: the day before it at the latest


SETTINGS = binding_of_parameters("_time_settings", options.TIME_PARAMETERS, options.TimeSettings())


@dataclass(frozen=True, eq=False)
class _People:
    """Whose reports are shown: the most common categories, as if there were no others. While the truth is hidden all
    categories are equally common, for the population has nearly the same shares."""

    prior: Array
    names: list[str]

    @property
    def k(self) -> int:
        return self.prior.size


@dataclass(frozen=True, eq=False)
class _Shown:
    """What the main figure shows: (d,) numbers of days, and (d,) shares guessed right by scheme."""

    people: _People
    days: NDArray[np.int64]
    right: dict[str, Array]


def section(page: Page) -> None:
    """People guessed right as main figure; then budgets and errors, and one person by themselves."""
    results, settings = page.results, SETTINGS.current()
    scenario = results.draw.scenario
    st.markdown(
        "The same people answer the same question **every day**. **Fresh** noise can be averaged away. **Memoised** "
        "noise is drawn once and sent again. The other schemes remember a noisy answer, too, and add new noise each "
        "day.\n\n"
        "**Try:** raise **Days**. Which lines keep rising, and which stop?"
    )
    place = chart.place_of_lead()
    with figure_controls.row():
        _controls(settings)
        guidance.words("Memoisation, Two-step schemes, Local hashing, Unary encoding, Privacy budget")
    settings = SETTINGS.current()
    shown = results.once("time_exposure", (settings, truth.hidden()), lambda: _exposure(results, settings))
    figure = exposure(shown.days, shown.right, float(shown.people.prior.max()))
    unused = truth.unused_without("s")
    if link.presenting():
        unused["n"] = "The figure is about one person."
        if settings.schemes == ("memoised",):
            unused["seed"] = "The line of memoised noise is computed, not drawn."
    page.lead(figure, "protocols", place=place, unused=unused)
    st.markdown(_explanation(settings, scenario, shown.people))
    if not dials.moving():
        left, right = st.columns(2, gap="medium")
        with left:
            _budgets(settings, scenario, shown)
        with right:
            _errors(results, settings, shown)
        _one_person(results, settings, shown.people)
        _formulas(settings, scenario, shown.people.k)
    downloads.row(results, figure, "over_time", partial(_data_csv, settings, scenario, shown))


def _controls(settings: options.TimeSettings) -> None:
    widget(
        st.pills,
        "Schemes",
        list(NAMES),
        selection_mode="multi",
        format_func=NAMES.__getitem__,
        **SETTINGS.widget_arguments(
            "time_schemes",
            list(settings.schemes),
            lambda chosen: replace(
                SETTINGS.current(), schemes=options.SEVERAL_SCHEMES.chosen(chosen) or settings.schemes
            ),
        ),
    )
    widget(st.slider, "Days", 1, options.MOST_DAYS, width=180, **SETTINGS.of_field("time_days", "days"))
    if set(settings.schemes) - {"fresh", "memoised"}:
        widget(
            st.slider,
            "One report's share of ε, %",
            5.0,
            95.0,
            step=1.0,
            format="%.4g",
            width=180,
            help="For the schemes with two steps: ε of a single report, as a share of the sidebar's ε, which all reports "
            "together come up to.",
            **SETTINGS.of_field("time_day", "day"),
        )


def _people(results: DrawResults) -> _People:
    """The most common categories of the population, in their own order."""
    population = results.draw.population
    shares = population.probabilities
    if truth.hidden():
        shares = np.full(shares.size, 1 / shares.size)
    chosen = options.most_common(shares)
    return _People(shares[chosen] / shares[chosen].sum(), plain_names(population.labels, chosen))


def _stream(scenario: Scenario, what: int, key: str) -> np.random.Generator:
    return scenario.stream(Stream.OVER_TIME, what, SCHEMES.index(key))


def _exposure(results: DrawResults, settings: options.TimeSettings) -> _Shown:
    people = _people(results)
    return _Shown(people, *settings.guessed_right(results.draw.scenario, people.prior))


def _explanation(settings: options.TimeSettings, scenario: Scenario, people: _People) -> str:
    lines = [
        "The **onlooker** sees who sent which report, knows how common each category is, and guesses the category with "
        "the largest probability. A person's category stays the same here."
    ]
    if truth.hidden():
        few = f"{people.k} of {scenario.k:,}" if people.k < scenario.k else "all"
        lines.append(
            f"While the truth is hidden, {few} categories are shown, as if they were equally common."
        )
    elif people.k < scenario.k:
        lines.append(
            f"Shown for the {people.k} most common of {scenario.k:,} categories, as if there were no others."
        )
    if set(settings.schemes) - {"fresh", "memoised"}:
        lines.append(
            f"ε = {privacy(scenario.epsilon)} is that of each fresh report, and of all remembered noise. A single report "
            f"of the schemes with two steps has ε = {privacy(settings.first(scenario.epsilon))}."
        )
    return "\n".join(f"- {line}" for line in lines)


def _budgets(settings: options.TimeSettings, scenario: Scenario, shown: _Shown) -> None:
    st.subheader("How much privacy is spent?")
    st.number_input(
        "A new value every … days (0: it stays)",
        0,
        options.MOST_DAYS,
        settings.every,
        disabled=settings.days == 1,
        help="On a single day no value changes." if settings.days == 1 else None,
        **SETTINGS.of_field("time_every", "every"),
    )
    days = np.arange(1, settings.days + 1)
    changes = settings.changes(days)
    schemes = {key: settings.scheme(key, shown.people.k, scenario.epsilon) for key in settings.schemes}
    spent = {key: scheme.epsilon_any_changes(days, changes) for key, scheme in schemes.items()}
    known = {
        key: scheme.epsilon_changing(days, settings.every or settings.days) for key, scheme in schemes.items()
    }
    chart.show(budget(days, spent, known if changes[-1] else None, int(changes[-1])), "time_budget")
    hashed = settings.scheme("loloha", shown.people.k, scenario.epsilon).cells
    st.caption(_about_changes(shown.people.k, hashed))


def _about_changes(k: int, hashed: int) -> str:
    return (
        "With values that change, the limit holds whatever the values, and for an onlooker who does not know on which "
        "days they change: reports that stop looking alike tell of a change, and memoised ones, when two differ, prove "
        "it. An onlooker who knows which days share remembered noise learns only of the values: the thin lines, for a "
        "person who goes through all values (of LOLOHA, hash values) before one comes back. Noise is remembered for "
        f"each, so every new value spends ε again: {k:,} times if a person goes through all {k:,}, with LOLOHA up to "
        f"{hashed:,} times (its hash values)."
    )


def _rmse(key: str, shown: _Shown, settings: options.TimeSettings, scenario: Scenario) -> Array:
    scheme, k = settings.scheme(key, shown.people.k, scenario.epsilon), shown.people.k
    return np.sqrt(scheme.variance(1 / k, scenario.n, shown.days))


def _errors(results: DrawResults, settings: options.TimeSettings, shown: _Shown) -> None:
    scenario = results.draw.scenario
    st.subheader("How exact is the average over the days?")
    st.caption(
        "Lines: formulas. Marks: simulated, for N people whose values stay. The noise of one day averages out; "
        "remembered noise does not."
    )
    dots, simulated = results.once(
        "time_errors", (settings, truth.hidden()), lambda: _simulated(settings, scenario, shown)
    )
    formulas = {key: _rmse(key, shown, settings, scenario) for key in settings.schemes}
    chart.show(errors(shown.days, formulas, dots, simulated), "time_errors")


def _simulated(
    settings: options.TimeSettings, scenario: Scenario, shown: _Shown
) -> tuple[NDArray[np.int64], dict[str, Array]]:
    people = shown.people
    dots = log_spaced(settings.days, 2)[1:]  # two for each decade
    dots = dots[(dots < _APART * settings.days) | (dots == settings.days)]
    users = whole_users(people.prior, scenario.n)
    return dots, {
        key: simulated_rmse(
            settings.scheme(key, people.k, scenario.epsilon), users, dots, _REPEATS, _stream(scenario, 1, key)
        )
        for key in settings.schemes
    }


def _one_person(results: DrawResults, settings: options.TimeSettings, people: _People) -> None:
    st.subheader("One person, fresh noise each day")
    if truth.hidden():
        st.caption(truth.note("one person's truth and reports"))
        return
    scenario = results.draw.scenario
    rng = _stream(scenario, 2, "fresh")
    value = int(rng.choice(people.k, p=people.prior))
    scheme = Longitudinal("fresh", people.k, scenario.epsilon)
    counts = reports_of(scheme, value, settings.days, rng)
    others = np.where(np.arange(people.k) == value, -1, counts)
    rival = int(others.argmax())
    st.markdown(
        _in_words(
            (people.names[value], people.names[rival]),
            (int(counts[value]), int(counts[rival])),
            settings.days,
            scenario.epsilon,
        )
    )


def _in_words(names: tuple[str, str], named: tuple[int, int], days: int, epsilon: float) -> str:
    truth_name, rival = (markdown(name) for name in names)
    times = [counted(one, "time").replace(f"{one:,}", f"**{one:,}**") for one in named]
    more = named[0] - named[1]
    changed = "are what they were before"
    if more:
        changed = f"{'rose' if more > 0 else 'fell'} by the factor {_power(abs(more) * epsilon)}"
    return (
        f"This person's truth is **{truth_name}**. In {counted(days, 'day')} they reported it {times[0]}. No other "
        f"category came more often than **{rival}**: {times[1]}. For an onlooker the odds of {truth_name} against "
        f"{rival} {changed}: eᵋ for each report more.\n\n"
        f"With **memoised** noise that factor is at most eᵋ = **{odds(epsilon)}**, on any number of days."
    )


def _power(exponent: float) -> str:
    """e to the exponent, in words; it may be beyond the largest double."""
    if exponent < 13.8:  # up to a million
        return f"**{number(float(np.exp(exponent)))}**"
    tens, rest = divmod(exponent / float(np.log(10)), 1)
    digits, _, one_more = f"{10**rest:.2e}".partition("e")
    return f"**{number(float(digits))}·10{raised(int(tens) + int(one_more))}**"


def _formulas(settings: options.TimeSettings, scenario: Scenario, k: int) -> None:
    first = settings.first(scenario.epsilon)
    hashed = settings.scheme("loloha", k, scenario.epsilon).cells
    with st.expander("The formulas, and where the printed ones differ"):
        st.markdown(
            r"$e = e^{\varepsilon}$ is of the remembered answer, $b = e^{\varepsilon_1}$ of one report, "
            r"$f = p_2/q_2$ the odds of the daily noise, $D$ the number of values (K, or LOLOHA's hash values):"
            "\n\n"
            r"$$f = 1 + \frac{(b-1)(e+D-1)}{e-b},\qquad \varepsilon_t = \ln\frac{e f^t + D - 1}{f^t + e + D - 2}.$$"
            "\n\n"
            r"For RAPPOR and L-OSUE $f$ is this with $D = 2$ (RAPPOR: with half of each ε, and twice this "
            r"$\varepsilon_t$). Arcolezi et al. print $f = (eb-1)/(e-b)$ for L-GRR and LOLOHA, too. With more than two "
            r"values one report then grants less than "
            rf"$\varepsilon_1$, here {privacy(first)}; so the $f$ above is used. One day's reports are then k-RR, unary "
            rf"encoding or local hashing at $\varepsilon_1$, and LOLOHA has {hashed:,} hash values."
        )


def _data_csv(settings: options.TimeSettings, scenario: Scenario, shown: _Shown) -> bytes:
    return csv_bytes(settings.columns(scenario, shown.people.k, shown.days, shown.right))
