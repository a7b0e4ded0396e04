"""The crosswalk: what the same thing is called in other papers and packages, and which letters clash."""

from __future__ import annotations

import streamlit as st

from pages._ui.reference.entries import Entry, stacked, table

PROMISE = "the same thing in other papers and packages, and letters that clash"

METHODS = (
    Entry(
        "k-RR (`rr_core.RandomizedResponse`)",
        "randomized response (RR), k-ary RR, **GRR** (generalized RR; `GRR_Client` in multi-freq-ldpy), **direct "
        "encoding** (DE; `DEClient` in pure-ldp). With $K = 2$ it is Warner's survey technique of 1965.",
        "kRR generalised direct encoding mechanism",
    ),
    Entry(
        "Inv (`rr_core.inv`)",
        "linear inversion (paper), the unbiased or empirical estimator, matrix inversion, **debiasing** (the blog's "
        "function $F$), the **frequency oracle** (FO) of the LDP literature, where the word may also cover the "
        "mechanism; `estimate_all` in pure-ldp. Here its negatives are kept.",
        "linear inversion unbiased debias frequency oracle FO",
    ),
    Entry(
        "InvN (`rr_core.inv_n`)",
        "**norm-mul** (Wang et al. 2020). In multi-freq-ldpy it hides behind the name `MI`, “matrix inversion”, which "
        "clips and rescales. :material/warning: The method called plainly **norm** is something else: it adds one "
        "number to *every* entry until the sum is 1, and leaves negatives in place.",
        "norm mul normalization clip rescale",
    ),
    Entry(
        "InvP (`rr_core.inv_p`)",
        "**norm-sub** (Wang et al. 2020): clip at zero and subtract one number from the rest, which *is* the Euclidean "
        "**projection on the simplex**; `project_probability_simplex` in pure-ldp.",
        "norm sub simplex projection",
    ),
    Entry(
        "MLE\\* (`rr_core.mle_star`)",
        "the maximum-likelihood rule of **Kairouz, Bonawitz and Ramage 2016, Supplement F**; **Algorithm 1** of "
        "Lopuhaä-Zwakenberg et al. 2020 (their $\\Pi_{\\mathrm{MLE}}$, once its misprint is mended). Not *MLE-Apx* of "
        "Wang et al. 2020, which maximises a normal approximation.",
        "MLE maximum likelihood Kairouz Lopuhaa",
    ),
    Entry(
        "IBU (`rr_core.ibu`)",
        "iterative Bayesian update, **EM** (expectation-maximisation) for a discrete channel, iterated Jeffrey's rule; "
        "`IBU` in multi-freq-ldpy.",
        "EM expectation maximization Jeffrey",
    ),
    Entry(
        "Certificate (`rr_core.optimality_gap`)",
        "in optimisation, the **Frank–Wolfe gap** of the log-likelihood on the simplex. The paper has no stopping rule "
        "for IBU; this is one.",
        "stopping rule duality gap",
    ),
    Entry(
        "Squared error (`rr_core.squared_error`)",
        "*MSE* in the paper's text is the expected **sum** over categories; its figures, and scikit-learn's "
        "`mean_squared_error` behind them, show the **mean** over categories, $K$ times smaller.",
        "MSE mean squared error",
    ),
)

# letter, here, elsewhere
LETTERS = (
    ("$p$", "chance of the truth", "blog: chance of a *uniform redraw*, our $Kq$. Lopuhaä: a candidate $θ$"),
    ("$K,\\ k$", "number of categories", "Lopuhaä: $a$; $k$ in their Algorithm 1 counts dropped ones. Blog: $k$"),
    ("$N,\\ n$", "users", "Lopuhaä: $n$. Paper: $n$ in the proofs counts zeros; $n$ in section 6.4 is $N$"),
    ("$K/N$", "categories per user, in error bounds", "Lopuhaä: $a/n$; their $a/(nε^2)$ reads $K/(Nε^2)$"),
    ("$θ$", "these users' shares, `Draw.theta`", "Lopuhaä: $F$"),
    ("$π$", "the population they come from, `Population.probabilities`", "Lopuhaä: $P$; its prior is $μ$"),
    ("$T$", "true counts, $Nθ$", "Lopuhaä: $T = nF$"),
    ("$c,\\ φ$", "reports: counts, shares", "Lopuhaä: $S$ and $s$. Blog: $Y$"),
    ("$x_u,\\ y_u$", "a user's truth and report", "Lopuhaä: $X_i,\\ Y_i$"),
    ("$\\hatθ$", "an estimate", "Lopuhaä: $Π$ estimates $P$, and $Φ$ estimates $F$"),
    ("$Φ$", "share of the reports in the support", "Lopuhaä, Algorithm 1: $Φ_j$ is $c_j/S$"),
    ("$F$", "–", "blog: debiasing, our Inv. Lopuhaä: the users' shares, our $θ$"),
    ("matrix", "row: truth; column: report (the paper's $C_{ij}$)", "Lopuhaä: $Q_{y|x}$, the transpose"),
    ("$s$", "Zipf exponent", "paper, Algorithm 1 and eq. (5): running sums. Lopuhaä: report counts"),
    ("$m_i,\\ m$", "IBU factor of $i$; number of kept categories", "Lopuhaä: posterior means"),
)  # fmt: skip


def entries() -> tuple[Entry, ...]:
    letters = (Entry(letter, f"here: {here}; elsewhere: {there}.") for letter, here, there in LETTERS)
    return (*METHODS, *letters)


def show() -> None:
    st.subheader("Methods")
    stacked(METHODS)
    st.subheader("Letters that clash")
    table(("Letter", "Here", "Elsewhere"), [(a, b, c.replace("|", "\\mid ")) for a, b, c in LETTERS])
    st.caption(
        "Lopuhaä is short for Lopuhaä-Zwakenberg, Li, Škorić and Li; “Paper” for Pinzón et al. See *Sources*."
    )
