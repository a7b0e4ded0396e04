"""The paper's claims, tested on the sweep on screen."""

from __future__ import annotations

import streamlit as st

from pages._ui.experiments import who_wins
from pages._ui.experiments.kept import kept
from pages._ui.experiments.shown import Shown
from pages._ui.safe_text import starred
from rr_core.experiments.claims import Claim, Verdict, claims
from rr_core.experiments.ranking import FAMILY_LEVEL
from rr_core.experiments.run import SweepResult
from rr_core.figures.experiments_names import population_name
from rr_core.figures.experiments_sentences import SHAPES_EXPLAINED, evidence, paper_says
from rr_core.figures.style import QUANTITIES, number
from rr_core.figures.wording import counted
from rr_core.misprints import worst_average
from rr_core.scenario import WORST_AVERAGE

_SYMBOLS: dict[Verdict, str] = {
    "holds": "✔",
    "not contradicted": "○",
    "mostly holds": "◕",
    "depends": "◐",
    "does not hold": "✘",
    "not settled": "?",
    "not tested": "–",
}
_MOST_ROWS = 50


def marked(verdict: Verdict) -> str:
    """A verdict with its symbol."""
    return f"{_SYMBOLS[verdict]} {verdict}"


def section(shown: Shown) -> None:
    """Every claim with its verdict and evidence, and the cells that speak against one."""
    st.subheader("Do the paper's claims hold here?")
    result = shown.result
    if not result.cells:
        st.caption("No cell of this sweep is computed yet.")
        return
    found = kept(result, "claims", lambda: claims(result))  # 40 ms for the main grid
    tested = [claim for claim in found if claim.verdict != "not tested"]
    lines = ["| The paper says | This run |", "|:--|:--|"]
    lines += [f"| {paper_says(claim)} | **{marked(claim.verdict)}.** {evidence(claim)} |" for claim in tested]
    silent = [paper_says(claim) for claim in found if claim not in tested]
    more = f"\n\nThis sweep has no cells that bear on: “{'”, “'.join(silent)}”." if silent else ""
    st.markdown(starred("\n".join(lines) + more + f"\n\n{_about(shown)}"))
    st.caption(starred(_words(result)))
    if found[0] in tested:
        _elsewhere()
    against = [claim for claim in found if claim.count is not None and claim.count.exceptions]
    for claim in against:
        _exceptions(claim)


def _about(shown: Shown) -> str:
    done, sweep = len(shown.result.cells), shown.result.sweep
    of, each = counted(len(sweep.cells), "cell"), counted(sweep.settings.seeds, "collection")
    return f"About {shown.name}: {done:,} of {of}, {each} in each."


def _words(result: SweepResult) -> str:
    """What the words of the table mean."""
    concentrated, even = SHAPES_EXPLAINED
    cells = counted(len(result.sweep.cells), "cell")
    return (
        "A **cell** is one setting: a population, K, ε and N. **Surely**: the collections settle it, by a t test with at "
        f"most {FAMILY_LEVEL:.0%} chance of a single wrong call over the {cells} of the whole sweep, here and in the map "
        "(as far as means of so many collections are about normal). "
        "The three are **equal** where their mean errors are: nothing came out negative, say, so there was nothing to "
        "mend. **By the means**: without that test. Where two are the worst of a **single collection** together, it "
        f"counts half. **Concentrated**: {concentrated}. **Near uniform**: {even}; the paper gives these words no "
        "numbers. A **slope** of −1 along N: ten times the users, a tenth of the error; of +1 along K: ten times the "
        "categories, ten times the error."
    )


def _elsewhere() -> None:
    """The first claim is false, whatever this sweep shows."""
    worst = worst_average()
    users, shares = sum(worst.true_counts), ", ".join(map(str, worst.true_counts))
    errors = ", ".join(f"{QUANTITIES[name].name} {number(error, 4)}" for name, error in worst.errors.items())
    st.markdown(
        starred(
            f"**“Never the worst” is false, though no cell of the paper's grid contradicts it.** With {users} users in "
            f"{len(worst.true_counts)} categories ({shares}) and ε = {worst.epsilon:g}, the exact mean squared errors "
            f"over all {worst.histograms} possible noisy histograms are {errors}. So far such settings are known only "
            "with few users."
        )
    )
    st.button(
        "Open these ten users",
        on_click=who_wins.open_scenario,
        args=(WORST_AVERAGE,),
        key="exp_worst_average",
        help="On the page Estimators, where the collection can be repeated 1,000 times.",
    )


def _exceptions(claim: Claim) -> None:
    assert claim.count is not None
    cells = claim.count.exceptions
    with st.expander(f"{counted(len(cells), 'cell')} surely against: {starred(paper_says(claim))}"):
        lines = ["| Population | K | ε | N |", "|:--|--:|--:|--:|"]
        lines += [
            f"| {population_name(cell)} | {cell.k:,} | {cell.epsilon:g} | {cell.n:,} |"
            for cell in cells[:_MOST_ROWS]
        ]
        more = f"\n\nAnd {len(cells) - _MOST_ROWS:,} more." if len(cells) > _MOST_ROWS else ""
        st.markdown("\n".join(lines) + more)
