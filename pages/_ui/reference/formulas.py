"""Every formula with its source and its place in the code, by topic."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._ui.reference.entries import Entry
from pages._ui.reference.formula import Formula
from pages._ui.reference.formulas_estimates import ESTIMATES
from pages._ui.reference.formulas_experiments import EXPERIMENTS
from pages._ui.reference.formulas_practice import PRACTICE
from pages._ui.reference.formulas_theory import THEORY

PROMISE = "each with its source and its place in the code"

COLLECTION: Mapping[str, tuple[Formula, ...]] = {
    "Mechanism": (
        Formula(
            "The channel",
            r"p=\frac{e^ε}{e^ε+K-1}\\[9pt] q=\frac{1}{e^ε+K-1}=\frac{1-p}{K-1}",
            "paper, eq. (1); poster",
            (
                "rr_core.RandomizedResponse",
                "rr_core.RandomizedResponse.matrix",
                "rr_core.RandomizedResponse.randomize",
            ),
            "$p$ for the truth, $q$ for each other category. The matrix has $p$ on its diagonal, $q$ elsewhere.",
        ),
        Formula(
            "The privacy that it gives",
            r"\Pr(y\mid x)\le e^ε\,\Pr(y\mid x')\\ ε=\ln\frac pq",
            "paper, section 2.2; Lopuhaä-Zwakenberg et al., Definition 2.1",
            ("rr_core.RandomizedResponse.from_p",),
            "For all truths $x, x'$ and every report $y$. From a given $p$, $ε=\\ln\\frac{p(K-1)}{1-p}$.",
        ),
        Formula(
            "Keep or redraw",
            r"p=(p-q)+q\\ Kq=1-(p-q)",
            "paper, section 2.2; the blog's “p” is Kq",
            ("rr_core.RandomizedResponse.keep", "rr_core.privacy.answer"),
            "Keep the truth with chance $p-q$, else draw from all $K$ categories, the truth included.",
        ),
    ),
    "Expected histogram": (
        Formula(
            "What arrives on average",
            r"\mathrm E[φ_i]=μ_i=q+(p-q)\,θ_i",
            "paper, section 2.3 and Supplement B",
            ("rr_core.RandomizedResponse.expected",),
            "Every share is pulled towards $1/K$, to $p-q$ times its distance from there.",
        ),
    ),
    "Drawing users and noise": (
        Formula(
            "The users",
            r"T\sim\mathrm{Multinomial}(N,\,π)\\ π_r\propto r^{-s}\ \text{(Zipf)}",
            "paper, section 6.1",
            ("rr_core.sampling.multinomial", "rr_core.zipf", "rr_core.Scenario.draw"),
            "$π$ is the population that the users come from.",
        ),
        Formula(
            "Noise drawn on the histogram",
            r"c_i=B_i+U_i\\ B_i\sim\mathrm{Binomial}(T_i,\,p-q)\\"
            r" U\sim\mathrm{Multinomial}(R,\,\tfrac1K)\\ R=N-\textstyle\sum_j B_j",
            "follows from “keep or redraw”; not in the sources",
            ("rr_core.RandomizedResponse.randomize_histogram", "rr_core.sampling.noisy_histogram"),
            "The same law as user by user, at a cost that does not depend on $N$: the $R$ users who do not keep their "
            "truth "
            "are thrown uniformly into the $K$ categories.",
        ),
    ),
}

TOPICS: Mapping[str, tuple[Formula, ...]] = {**COLLECTION, **ESTIMATES, **THEORY, **EXPERIMENTS, **PRACTICE}


def entries() -> tuple[Entry, ...]:
    return tuple(Entry(f.name, f.body, topic) for topic, formulas in TOPICS.items() for f in formulas)


def show() -> None:
    st.caption(
        "Open a topic. “Paper” is Pinzón et al.; its sections B and C are the supplement of the arXiv text."
    )
    for topic, formulas in TOPICS.items():
        with st.expander(f"**{topic.replace('*', chr(92) + '*')}**"):
            for formula in formulas:
                st.markdown(f"**{formula.name}**\n\n{formula.body}")
