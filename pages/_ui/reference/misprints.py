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
        "The same denominator, and from it a mean squared error of order $K/N$ for Inv and InvP. At the end, twice the "
        "distance is used for InvP where the *squared* distance needs four times.",
        "$N(p-q)^2$ again. For Inv it is $\\frac{K^2+(2e^ε-3)K-2(e^ε-1)}{N(e^ε-1)^2}$, whatever the shares: at fixed $ε$ "
        "it grows like $K^2$ once $K$ is well above $e^ε$. At fixed $K$ and $ε$ it is of order $1/N$, and InvP's is no "
        "larger: a projection comes no farther from the truth. All four stay consistent.",
        checks.growth,
        (
            "test_eq_8_and_theorem_9_divide_by_n_keep_squared",
            "test_the_error_of_inv_grows_like_k_squared",
            "test_inv_p_is_never_farther_than_inv",
        ),
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
        "Lemma 3 (d) and the proof of Theorem 7: which two entries",
        "$φ_{n-1}=φ_n$ implies $g(n)=g(n-1)$; the best $n$ has $φ_{n-1}\\neφ_n$ or $n=0$.",
        "$φ_n=φ_{n+1}$ and $φ_n\\neφ_{n+1}$, as the lemma's own proof says.",
        checks.drop,
        ("test_lemma_3_d_is_about_the_next_entry",),
    ),
    Misprint(
        PAPER,
        "Theorem 8: a subscript",
        "The proof's second and third formulas are for $\\hatθ_n$.",
        "For $\\hatθ_i$, as its first one: $n$ is the category that is dropped, and its estimates are 0.",
        checks.one_zero,
        ("test_theorem_8_means_the_entries_that_are_kept",),
    ),
    Misprint(
        PAPER,
        "“Optimal among all LDP mechanisms” (section 1)",
        "RR is optimal among all LDP mechanisms while $K<3e^ε+2$ (Wang et al. 2017).",
        "There, for a share of zero, its variance is smaller than that of unary encoding and local hashing, which Wang "
        "et al. compare. In the mean over all categories the border is lower, and subset selection (Ye and Barg 2018) "
        "can need fewer users.",
        checks.optimal,
        ("test_rr_is_not_optimal_among_all_mechanisms",),
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
        "MLE\\* is never the worst of the three.",
        "False of averages: ten users are enough for a counterexample. (None is known with more than a few dozen users, "
        "and the paper's settings do not contradict the claim.) False of single collections too: where the three keep "
        "the same categories MLE\\* cannot be the worst, otherwise it now and then is.",
        checks.worst,
        (
            "test_mle_star_is_the_worst_on_average_for_ten_users",
            "test_mle_star_is_sometimes_the_worst_in_one_draw",
        ),
    ),
    Misprint(
        PAPER,
        "“Sandwiched” between the two (section 6.2)",
        "MLE\\*'s mean squared error lies between InvN's and InvP's.",
        "Not always: it can be the smallest of the three, or the largest (the entry above).",
        checks.between,
        ("test_mle_star_is_the_best_on_average_in_the_scenario_the_app_opens_with",),
    ),
    Misprint(
        PAPER,
        "MLE\\* “consistently” close to the best (sections 6.2 and 6.3)",
        "MLE\\* stays close to the best estimator in all settings.",
        "Not in all: where the population is concentrated and users are many, InvP can have a small part of its error.",
        checks.close,
        ("test_mle_star_is_not_close_to_the_best_in_the_main_grid",),
    ),
    Misprint(
        PAPER,
        "InvP best when concentrated (sections 6.2 and 6.3)",
        "InvP has the smallest squared error under strong concentration, as in Kosarak.",
        "Not in every setting: with few users and strong noise InvN's can be smaller. (And Kosarak is not that "
        "concentrated: its squared shares sum to 0.12, those of Zipf to 0.09 at $s=1.3$ and 0.58 at $s=2.5$.)",
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
        "$\\frac{(e^ε+1)s_1-n}{n(e^ε-1)}$, which is Inv for two categories.",
        checks.lopuhaa_two_categories,
        ("test_lopuhaa_eq_64_subtracts_n",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., eqs. (72) to (75)",
        "$\\mathrm{Var}=\\frac{ne^ε}{(e^ε-1)^2}$, for the share of a category.",
        "That is the variance of a count. Divided by $n^2$ it is that of a share, and agrees with eq. (66).",
        checks.lopuhaa_variance,
        ("test_lopuhaa_eqs_72_to_75_lack_one_over_n_squared",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., eq. (60): the bound for frequencies",
        "No $n$ on the left; the exponent is $-\\frac{bε}{2(a-1)}$. (Its letter is hard to read in our copy.)",
        "$\\liminf n\\,\\mathrm{MSE}\\ge\\frac{a\\,e^{-bε/(a-1)}}{(e^ε-1)^2}$, which is what eqs. (52) and (55) give.",
        checks.lopuhaa_bound,
        ("test_lopuhaa_eq_60_lacks_n_and_half_of_its_exponent",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., the bound “for any case” (Theorem 1.4, Table 1)",
        "A lower bound on the error of any estimator, “any case”.",
        "Of its error *on average* over a prior that has a density, when the users themselves are drawn (their "
        "Definition 2.2). At a single distribution an estimator may be below it.",
        checks.lopuhaa_any_case,
        ("test_lopuhaa_bound_is_an_average_over_a_prior",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., eq. (88)",
        "$δ=\\frac1C\\sum_x w_xΔ_{γ+t(x)}$.",
        "Without $1/C$: the weights $w_x$ of eq. (83) are divided by $C$ already.",
        checks.lopuhaa_posterior,
        ("test_lopuhaa_eq_88_divides_by_c_twice",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., section 5: the Jeffreys prior",
        "The Dirichlet law with parameter $-\\frac12$.",
        "With parameter $\\frac12$, in the sense of their Fact A.1. (The exponents of its density are $-\\frac12$.)",
        checks.lopuhaa_jeffreys,
        ("test_lopuhaa_jeffreys_prior_has_parameter_one_half",),
    ),
    Misprint(
        OTHERS,
        "Lopuhaä-Zwakenberg et al., section 1: the cost of the optimal estimator",
        "$O(n^{a(b-1)})$.",
        "$O(n^{b(a-1)})$, as their Proposition 3.2 says.",
        checks.lopuhaa_summands,
        ("test_lopuhaa_cost_is_that_of_proposition_3_2",),
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
        "The app uses the right formula everywhere. Most numbers are computed by `rr_core.misprints` as the page opens, "
        "those of large runs were measured once; names in code type are tests of this project that hold the same."
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
