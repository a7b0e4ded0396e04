"""What one believes before and after the reports: the posterior of k-RR beside MLE*."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import chart, dials, downloads, figure_controls, guidance, truth, widgets
from pages._ui.draw_results import DrawResults
from pages._ui.figure_controls import widget
from pages._ui.frame import Page
from pages._ui.link import binding_of_parameters
from rr_core._validate import Array
from rr_core.figures.protocols import posterior_intervals, towards_mle, wrong_priors
from rr_core.io.text import by_category
from rr_core.protocols import PosteriorSummary, summarise_posterior
from rr_core.protocols import settings as options
from rr_core.protocols.posterior import PRIORS, distance_to_mle, prior_errors
from rr_core.scenario import Draw
from rr_core.streams import Stream
from rr_core.words.phrases import listed
from server import sessions

MOST_CATEGORIES, MOST_USERS = 2000, 1_000_000
_SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_MOST_OF_SIZES = 100  # categories


PRIOR = binding_of_parameters(
    "_prior_settings", options.PRIOR_PARAMETERS, options.PriorSettings(), write=options.write_prior
)


def section(page: Page) -> None:
    """The posterior mean with its intervals as main figure; as users grow; and with a wrong prior."""
    draw, settings = page.results.draw, PRIOR.current()
    st.markdown(
        "Before any report one may believe something about the shares: the **prior**. The reports change it into the "
        "**posterior**; its mean is an estimate, and its **credible intervals** hold each share with 95% probability, if "
        "the prior is believed."
    )
    too_many = {"k": draw.scenario.k > MOST_CATEGORIES, "n": draw.scenario.n > MOST_USERS}
    if any(too_many.values()):
        st.info(_too_many(**too_many), icon=":material/info:")
        helpless = ("s", "epsilon", "seed", *(name for name, many in too_many.items() if not many))
        page.controls(dict.fromkeys(helpless, "Nothing is drawn for so many."))
        return
    st.markdown("**Try:** choose **My own** and make it large. Which way do the estimates move?")
    place = chart.place_of_lead()
    with figure_controls.row():
        widget(widgets.pick_one, "Prior", options.PRIOR_NAMES, **PRIOR.of_field("prior_kind", "kind"))
        if settings.kind == "own":
            widget(
                st.number_input,
                "Its parameter",
                options.OWN_PRIOR.low,
                options.OWN_PRIOR.high,
                settings.own,
                format="%.4g",
                width=150,
                help="As if so many people of each category had been seen before. Large: about equal shares.",
                **PRIOR.of_field("prior_own", "own"),
            )
        guidance.words("Prior, Posterior, Credible interval, MLE\\*, InvP, Population, Total variation")
    about = settings.parameter, 300 if dials.moving() else options.DRAWS
    found = page.results.once("posterior", about, lambda: _summarise(draw, *about))
    estimates = page.results.comparison("population").estimates
    shown = {name: estimates[name] for name in ("inv_p", "mle_star")}
    population = truth.unless_hidden(draw.population.probabilities)
    figure = posterior_intervals(found, shown, population, figure_controls.most_frequent_bars(page.results))
    page.lead(figure, "protocols", place=place)
    if not dials.moving():
        _details(page.results, settings)
    downloads.row(page.results, figure, "posterior", partial(_data_csv, draw, found))


def _too_many(k: bool, n: bool) -> str:
    lower = [name for name, many in (("**Categories K**", k), ("**Users N**", n)) if many]
    return (
        f"The posterior is drawn here for up to {MOST_CATEGORIES:,} categories and {MOST_USERS:,} users: lower "
        f"{listed(lower)}."
    )


def _summarise(draw: Draw, prior: float, draws: int) -> PosteriorSummary:
    with sessions.room(8 * 4 * draws * draw.scenario.k):
        rng = draw.scenario.stream(Stream.POSTERIOR)
        return summarise_posterior(draw.counts, draw.mechanism, prior, draws, rng)


def _details(results: DrawResults, settings: options.PriorSettings) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("More users, less prior")
        if results.draw.scenario.k > _MOST_OF_SIZES:
            st.caption(f"Shown for up to {_MOST_OF_SIZES} categories: lower **Categories K**.")
        else:
            chart.show(towards_mle(_SIZES, _distances(results, settings.parameter)), "posterior_sizes")
    with right:
        st.subheader("How wrong may the prior be?")
        prior = min(PRIORS.values(), key=lambda one: abs(one - settings.parameter))
        rows = sorted((row for row in prior_errors() if row.prior == prior), key=lambda row: row.truth)
        chart.show(wrong_priors(rows), "posterior_wrong")
        st.caption(
            f"{_nearest(settings.parameter, prior)}Measured beforehand, {rows[0].replicates:,} collections at each "
            "point. Dotted: this prior itself. With many categories a prior can outweigh every report: of 100,000 users "
            "with ε = 1 and K = 1,000, 40% had one category, and the others equally many each. On average MLE\\* gave it "
            "over 20%, the posterior mean of Jeffreys' prior under 0.2%."
        )


def _nearest(parameter: float, prior: float) -> str:
    """Which measured prior stands for one that was not."""
    if parameter == prior:
        return ""
    return f"**This is the prior {prior:g}, not yours of {parameter:.4g}**, which was not measured. "


def _distances(results: DrawResults, prior: float) -> dict[str, Array]:
    draw = results.draw

    def make() -> Array:
        rng = draw.scenario.stream(Stream.POSTERIOR, 1)
        return distance_to_mle(draw.population.probabilities, draw.mechanism, _SIZES, (prior,), rng)

    (values,) = results.once("posterior_sizes", prior, make)
    return {f"{prior:g}": values}


def _data_csv(draw: Draw, found: PosteriorSummary) -> bytes:
    """Mean and intervals, without the truth."""
    columns = {"mean": found.mean, "low": found.low, "high": found.high}
    return by_category(draw.population.labels, draw.scenario.k, columns)
