"""Misprints of the sources: what is printed, what is right, and the check that proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages._ui.reference import misprint_checks as checks
from pages._ui.reference.entries import Entry
from rr_core.misprints import Checks, all_checks

PROMISE = "what is printed, what is right, and the check that proves it"


@dataclass(frozen=True)
class Misprint:
    """One slip: where it stands, what is printed, what is right, and the check (numbers, then test names)."""

    where: str
    title: str
    printed: str
    right: str
    check: Callable[[Checks], str] | None = None
    tests: tuple[str, ...] = ()


PAPER = "The paper (Pinzón et al.)"
FIGURES = "Its figures and published code"
OTHERS = "Lopuhaä-Zwakenberg et al., the blog, the poster"

MISPRINTS: tuple[Misprint, ...] = (
    Misprint(
        PAPER,
        "Eq. (8): variance of Inv",
        "Both denominators are $N(p-q)$.",
        "$N(p-q)^2$, for a fixed population of users. If the users are themselves a sample, "
        "$\\mathrm{Var}=μ_i(1-μ_i)/(N(p-q)^2)$ with $μ_i=q+(p-q)θ_i$.",
        checks.variance,
        ("test_eq_8_and_theorem_9_divide_by_n_keep_squared",),
    ),
    Misprint(
        PAPER,
        "Theorem 9 and section 5.4: the rate $O(K/N)$",
        "The same denominator, and from it a mean squared error of order $K/N$. At the end, twice the distance is used "
        "for InvP where the *squared* distance needs four times.",
        "$N(p-q)^2$ again. Since $p-q$ itself shrinks like $1/K$, the error at fixed $ε$ grows like $K^2/N$. All four "
        "estimators remain consistent: $K$ is fixed while $N$ grows.",
        checks.growth,
        ("test_eq_8_and_theorem_9_divide_by_n_keep_squared",),
    ),
    Misprint(
        PAPER,
        "Section 5.2: the centre of the reports",
        "For $θ=(1,0,\\dots,0)$, $φ$ scatters around $(p-q,q,\\dots,q)$.",
        "Around $(p,q,\\dots,q)$, which is $q+(p-q)θ$.",
        checks.centre,
        ("test_section_5_2_centre_of_phi_is_p_then_q",),
    ),
    Misprint(
        PAPER,
        "After Algorithm 1: which entry is τ\\*",
        "$τ^*=φ_{σ(i)}$, with $i$ the number of zeros: the largest entry *dropped*.",
        "$τ^*=φ_{σ(i+1)}$, the smallest entry *kept*, as eq. (7) says. (Theorem 7 calls the largest dropped entry $τ$ "
        "and writes ≤ where eq. (7) writes <; that is consistent in itself.)",
        checks.threshold,
        ("test_tau_star_is_the_smallest_entry_that_is_kept",),
    ),
    Misprint(
        PAPER,
        "“If and only if” in the sketch of Theorem 1 (and on the poster)",
        "$\\hatθ_i\\le\\hatθ_j$ if and only if $φ_i\\leφ_j$.",
        "Only “if $φ_i\\leφ_j$ then $\\hatθ_i\\le\\hatθ_j$”, as Theorem 6 says: all dropped entries get the same 0.",
        checks.ties,
    ),
    Misprint(
        PAPER,
        "Section 2.3: how many users",
        "$φ$ is the histogram of $y_u$ for $u=1..K$.",
        "For $u=1..N$: one report per user, not per category.",
    ),
    Misprint(
        PAPER,
        "Section 5.3 and Table 1: the cost of InvP",
        "$O(K)$ in the one, $O(K\\log K)$ in the other.",
        "Both can be had: by sorting in $O(K\\log K)$, by selection in $O(K)$. This app sorts distinct counts only.",
    ),
    Misprint(
        PAPER,
        "The listing (supplement A): division by zero",
        "It asserts $p\\ge q$, then divides by $p-q$.",
        "It needs $p>q$. Here `rr_core.RandomizedResponse.from_p` accepts $1/K<p<1$ only.",
        lambda _: "With $K=4$ and $p=1/4$ we have $q=1/4$: the assertion passes, the division fails.",
        ("test_the_listing_divides_by_zero_where_its_assertion_passes",),
    ),
    Misprint(
        PAPER,
        "The listing (supplement A): rounding",
        "It subtracts the dropped frequencies from 1, one by one.",
        "Not wrong, but rounding errors pile up. Sums of integer counts are exact.",
        checks.drift,
        ("test_the_listing_drifts_at_the_industrial_size",),
    ),
    Misprint(
        PAPER,
        "“Never the worst” (section 6.2, conclusion, poster)",
        "MLE\\* always lies between InvN and InvP and is never the worst of the three.",
        "True of averages over many collections, as in the paper's figures, not of every single draw. With equal "
        "supports it cannot be the worst; with unequal ones it now and then is.",
        checks.worst,
        ("test_mle_star_is_never_the_worst_on_average_but_sometimes_in_one_draw",),
    ),
    Misprint(
        PAPER,
        "MLE\\* “consistently” close to the best (sections 6.2 and 6.3)",
        "MLE\\* stays close to the best estimator in all settings.",
        "It is not the worst on average, but often far from the best: where the population is concentrated and users are "
        "many, InvP has a small part of its error.",
        checks.close,
        ("test_mle_star_is_not_close_to_the_best_in_the_main_grid",),
    ),
    Misprint(
        PAPER,
        "InvP best when concentrated (sections 6.2 and 6.3)",
        "InvP has the smallest squared error under strong concentration, as in Kosarak.",
        "With enough users or a large $ε$. With few users, or strong noise, InvN has the smallest: on 100,000 sessions "
        "of Kosarak at $ε=1$ and $2$, whose squared shares sum to 0.12, as in Zipf with $s=1.3$ rather than $2.5$.",
        checks.concentrated,
        ("test_inv_p_is_not_always_best_where_concentrated",),
    ),
    Misprint(
        FIGURES,
        "Captions of Figures 1 and 2: $s$ up to 5.0",
        "$s\\in\\{0.01,\\ 1.3,\\ 5.0\\}$.",
        "2.5 instead of 5.0, as in the text, the supplement and the published configuration. In the published code "
        "$s\\ge5$ is no Zipf law at all: all users sit in one category.",
        checks.shares,
        ("test_zipf_at_s_5_is_not_the_point_mass_of_the_published_code",),
    ),
    Misprint(
        FIGURES,
        "MSE in the figures",
        "Section 5.4 defines it as a sum over categories.",
        "The figures show the mean over categories, $K$ times smaller. The app shows both.",
        lambda _: (
            "The authors' notebook calls scikit-learn's `mean_squared_error`, which averages over categories."
        ),
        ("test_the_published_mse_is_the_mean_over_categories",),
    ),
    Misprint(
        FIGURES,
        "What else only the published code tells",
        "100 random seeds per configuration (section 6.1). What the error is measured against, and the scale of NLL, "
        "are not said.",
        "Its settings say 10 seeds. The truth is the users' own histogram, drawn once per configuration and then "
        "fixed: only the noise is repeated. NLL is per report. Figure 4 has linear axes, squared error up to 0.12.",
        lambda _: (
            "Read in the files `cfg.py`, `utils.py`, the notebook and the plot script of the authors' repository "
            "(see *Sources*)."
        ),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., Algorithm 1",
        "Last line: $\\frac{n-k}{e^ε-1}+1$, with $n$ users. (The text above it stops when the estimate is “no longer "
        "nonnegative”.)",
        "$\\frac{a-k}{e^ε-1}+1$, with $a$ categories; then it is MLE\\*. (It stops when none is negative any more.)",
        checks.lopuhaa_algorithm,
        ("test_lopuhaa_algorithm_1_needs_the_number_of_categories",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., eq. (64)",
        "$\\frac{(e^ε+1)s_1-1}{n(e^ε-1)}$, called unbiased.",
        "$\\frac{(e^ε+1)s_1-n}{n(e^ε-1)}$, which is Inv for two categories. Their variances (65) to (75) are right.",
        checks.lopuhaa_two_categories,
        ("test_lopuhaa_eq_64_subtracts_n",),
    ),
    Misprint(
        OTHERS,
        "Blog: choosing from a set",
        "`random.choice(possible_outputs)`, where the outputs are a set.",
        "It needs a sequence: `random.choice(list(possible_outputs))`.",
        lambda _: "Python raises `TypeError`.",
        ("test_the_blog_cannot_choose_from_a_set",),
    ),
    Misprint(
        OTHERS,
        "Blog: its $p$ is not this $p$",
        "Nothing wrong: $p=K/(K-1+e^ε)$ is the chance of a *uniform redraw*.",
        "Elsewhere $p$ is the chance of the truth. The blog's is $Kq=1-(p-q)$ here.",
        checks.blog,
        ("test_the_blogs_p_is_the_chance_of_a_uniform_redraw",),
    ),
    Misprint(
        OTHERS,
        "Poster: formula of the MLE in the proof sketch",
        "$\\hatθ_i=\\frac{φ_i-q}{p-q}$ where it is not zero: that is Inv.",
        "$\\hatθ_i=\\frac{φ_i}{λ}-\\frac{q}{p-q}$, as in Theorem 4.",
        checks.poster,
    ),
    Misprint(
        OTHERS,
        "Poster: IBU is consistent",
        "A tick for IBU in the row “consistent”.",
        "True of the limit it tends to. After a fixed number of steps it misses the truth even with infinitely many "
        "users.",
        checks.stopped,
    ),
)


@st.cache_data(show_spinner="Checking the misprints…")
def numbers() -> Checks:
    """The numbers of every check, computed once for everybody."""
    return all_checks()


def entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(m.title, f"printed: {m.printed} Right: {m.right}", f"misprint {m.where}") for m in MISPRINTS
    )


def show() -> None:
    found = numbers()
    st.caption(
        "The app uses the right formula everywhere. The numbers are computed by `rr_core.misprints` as the page opens; "
        "names in code type are tests of this project that hold the same."
    )
    for where in (PAPER, FIGURES, OTHERS):
        st.subheader(where)
        for misprint in (m for m in MISPRINTS if m.where == where):
            with st.expander(misprint.title):
                st.markdown(_lines(misprint, found))


def _lines(misprint: Misprint, found: Checks) -> str:
    lines = [f"**Printed.** {misprint.printed}", f"**Right.** {misprint.right}"]
    proof = misprint.check(found) if misprint.check else ""
    names = " ".join(f"`{name}`" for name in misprint.tests)
    if proof or names:
        lines.append(f"**Check.** {proof} {names}")
    return "\n\n".join(lines)
