"""Symbols: how each is written, what it is called in code, what it means, its unit and range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages._ui.reference.entries import Entry, table

PROMISE = "every letter, its name in code, its meaning, unit and range"


@dataclass(frozen=True)
class Symbol:
    """A letter, its name in code ("–" if it has none), its meaning, and words to find it by."""

    letter: str
    code: str
    meaning: str
    words: str = ""


GROUPS: dict[str, Sequence[Symbol]] = {
    "The collection": (
        Symbol("$K$", "`k`", "Number of categories, a whole number from 2.", "domain size"),
        Symbol("$N$", "`n`", "Number of users; each sends one report. From 1."),
        Symbol("$ε$", "`epsilon`", "Privacy budget: no unit, natural logarithm, from 0 (excluded) to 5000.", "epsilon"),
        Symbol("$e^ε$", "–", "How many times likelier a report may be under one truth than another. Above 1."),
        Symbol("$p$", "`p`", "Chance that a report is the truth, from $1/K$ to 1 (both excluded)."),
        Symbol("$q$", "`q`", "Chance that a report is one given other category: $(1-p)/(K-1)$, below $1/K$."),
        Symbol("$p-q$", "`keep`", "Chance that the truth is kept on purpose, between 0 and 1."),
        Symbol("$Kq$", "–", "Chance of a uniform redraw from all $K$; equals $1-(p-q)$. The blog calls it $p$."),
        Symbol("$x_u,\\ y_u$", "`values`", "User $u$'s truth and report: $1..K$ on paper, $0..K-1$ in code."),
        Symbol("$T_i$", "`true_counts`", "Users whose truth is $i$: whole numbers that sum to $N$. Nobody sees them."),
        Symbol("$θ_i$", "`theta`", "Share of category $i$, from 0 to 1, summing to 1; for these users $T_i/N$.", "theta"),
        Symbol("$π_i$", "`probabilities`", "Share of category $i$ in the population the users come from.", "pi"),
        Symbol("$c_i$", "`counts`", "Reports of category $i$: whole numbers that sum to $N$."),
        Symbol("$φ_i$", "`phi`", "Share of the reports, $c_i/N$. A `histogram` argument takes $c$ or $φ$.", "phi"),
        Symbol("$μ_i$", "`expected`", "Expected share of the reports, $q+(p-q)θ_i$: between $q$ and $p$.", "mu"),
        Symbol("$s$", "`s`", "Zipf exponent, from 0 (all equal): the share of rank $r$ is proportional to $r^{-s}$."),
    ),
    "The estimates": (
        Symbol("$\\hatθ$", "`theta_hat`", "Any estimate of $θ$.", "theta hat"),
        Symbol("Inv", "`inv`", "Linear inversion: sums to 1, may be negative."),
        Symbol("InvN", "`inv_n`", "Inv, negatives set to zero, rescaled to sum to 1."),
        Symbol("InvP", "`inv_p`", "The distribution nearest to Inv."),
        Symbol("MLE\\*", "`mle_star`", "The distribution under which the reports are most likely, in closed form."),
        Symbol("IBU", "`ibu`", "On the way there by iteration: $θ^{(t)}$ after $t$ steps."),
    ),
    "Inside the formulas": (
        Symbol("$E$", "–", "$e^ε-1=(p-q)/q$, positive."),
        Symbol("$m,\\ S$", "–", "How many categories an estimate keeps (makes positive), and their reports."),
        Symbol("$τ^*$", "–", "Threshold of MLE\\*: the smallest $φ_i$ that is kept.", "tau"),
        Symbol("$c_τ,\\ λ$", "–", "Scale factors of MLE\\* in eq. (7) and Theorem 4; $c_τ=(p-q)/λ$.", "lambda"),
        Symbol("$m_i$", "`update_factors`", "Factor by which one IBU step multiplies $θ_i$; the weighted mean is 1."),
        Symbol("$ν$", "–", "Minus the sum of the negatives of Inv, from 0.", "nu"),
        Symbol("$Φ$", "–", "Share of the reports in the common support, between 0 and 1.", "Phi"),
        Symbol("$t$", "–", "Stretch in Theorem 2, $(1-v)/(p-v)>1$ with $v$ the smallest $φ_i$."),
    ),
    "The errors": (
        Symbol("$\\lVert\\hatθ-θ\\rVert^2$", "`squared_error`", "Sum of squared errors: 0 to 2 (Inv: or more).", "MSE"),
        Symbol("MSE", "–", "Its mean over collections; the paper's figures show it divided by $K$."),
        Symbol("TV", "`total_variation`", "Share of the mass in the wrong place: 0 to 1 (Inv: or more)."),
        Symbol("max", "`max_error`", "The largest error of one category: 0 to 1 (Inv: or more)."),
        Symbol("NLL", "`negative_log_likelihood`", "How badly an estimate fits the reports, in nats: lower is better."),
        Symbol("gap", "`optimality_gap`", "At most this many nats per report are missing to the maximum; 0 at MLE\\*."),
        Symbol("Var", "`inv_variance`", "Variance of each entry of Inv, a squared share."),
    ),
}  # fmt: skip

# What rr_core offers besides the estimators and errors above.
NAMES: Sequence[tuple[str, str]] = (
    ("rr_core.RandomizedResponse", "the mechanism: $K$ and $ε$ in, $p$, $q$, the channel and the noise out"),
    ("rr_core.Scenario", "population, $K$, $ε$, $N$ and seed as one value that fits in a link"),
    ("rr_core.Draw", "the users of a scenario and what they reported"),
    ("rr_core.Population", "a distribution with its names and source"),
    ("rr_core.zipf", "Zipf's law for any $K$ and $s$"),
    ("rr_core.PRESETS", "scenarios worth starting from, each a `rr_core.Preset`"),
    ("rr_core.IBUPath", "what `rr_core.ibu_path` recorded on its way"),
    ("rr_core.Collinearity", "what `rr_core.collinearity` found"),
    ("rr_core.limits", "every limit of the app, in one place"),
)


def entries() -> tuple[Entry, ...]:
    symbols = (symbol for group in GROUPS.values() for symbol in group)
    named = (Entry(f"`{name}`", f"{meaning}.") for name, meaning in NAMES)
    return (*(Entry(f"{s.letter} · {s.code}", s.meaning, s.words) for s in symbols), *named)


def show() -> None:
    for name, group in GROUPS.items():
        st.subheader(name)
        table(("Symbol", "In code", "Meaning, unit, range"), [(s.letter, s.code, s.meaning) for s in group])
    st.subheader("Other names in the code")
    table(("Name", "What it is"), [(f"`{name}`", meaning) for name, meaning in NAMES])
