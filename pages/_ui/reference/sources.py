"""How to cite, and where texts and data come from."""

from __future__ import annotations

import streamlit as st

from pages._ui.reference.entries import Entry, stacked
from rr_core.populations import TABLES

PROMISE = "how to cite the papers and this tool, and where the data come from"

_PAPER = """@misc{pinzon2026estimating,
  title  = {Estimating the True Distribution of Data
            Collected with Randomized Response},
  author = {Pinz{\\'o}n, Carlos Antonio and ElSalamouny, Ehab and
            Massot, Lucas and Miller, Alexis and
            Arcolezi, H{\\'e}ber Hwang and Palamidessi, Catuscia},
  year   = {2026},
  eprint = {2601.08603},
  archivePrefix = {arXiv}
}"""
_TOOL = """@misc{rr_dashboard,
  title = {Frequency estimation from randomized response:
           an interactive dashboard},
  note  = {Software. Version: ... Address: ... Accessed: ...}
}"""

PAPERS: tuple[Entry, ...] = (
    Entry(
        "The paper",
        "C. A. Pinzón, E. ElSalamouny, L. Massot, A. Miller, H. H. Arcolezi, C. Palamidessi: *Estimating the True "
        "Distribution of Data Collected with Randomized Response*. AAAI, 2026; [arXiv:2601.08603]"
        "(https://arxiv.org/abs/2601.08603) has the supplement with all proofs. The poster is by the same authors; "
        "code: [mle-of-randomized-response](https://github.com/caph1993/mle-of-randomized-response).",
        "Pinzon cite",
    ),
    Entry(
        "Lopuhaä-Zwakenberg et al.",
        "M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li: *Improving Frequency Estimation under Local Differential "
        "Privacy*, 2020.",
        "Lopuhaa Skoric",
    ),
    Entry(
        "The blog post",
        "C. Harrison: [*Debiasing randomized response*](https://charlieharrison.xyz/2024/08/29/debiasing-rr.html), 2024.",
        "blog RAPPOR",
    ),
    Entry(
        "The first MLE of k-RR",
        "P. Kairouz, K. Bonawitz, D. Ramage: *Discrete Distribution Estimation under Local Privacy*. ICML 2016; the "
        "rule is in Supplement F.",
    ),
    Entry(
        "Names norm, norm-mul, norm-sub",
        "T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li: *Locally Differentially Private Frequency Estimation "
        "with Consistency*. NDSS 2020; arXiv:1905.08320.",
        "Wang",
    ),
    Entry(
        "Variance of Inv, other protocols",
        "T. Wang, J. Blocki, N. Li, S. Jha: *Locally Differentially Private Protocols for Frequency Estimation*. "
        "USENIX Security 2017.",
        "Wang",
    ),
    Entry(
        "Shuffling",
        "V. Feldman, A. McMillan, K. Talwar: *Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy "
        "Amplification by Shuffling*. FOCS 2021; arXiv:2012.12803.",
        "shuffle central",
    ),
    Entry(
        "Subset selection; the least error of unbiased estimates at equal shares",
        "M. Ye, A. Barg: *Optimal Schemes for Discrete Distribution Estimation under Locally Differential Privacy*. IEEE "
        "Transactions on Information Theory 64, 2018.",
        "lower bound subset selection",
    ),
    Entry(
        "IBU",
        "D. Agrawal, C. C. Aggarwal, PODS 2001; its convergence: E. ElSalamouny, C. Palamidessi, EuroS&P 2020.",
        "EM",
    ),
    Entry(
        "Randomized response itself",
        "S. L. Warner: *Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias*. Journal of the "
        "American Statistical Association 60, 1965.",
        "Warner history",
    ),
)


def data() -> tuple[Entry, ...]:
    """The populations that are published facts, with the source that the core names."""
    return tuple(Entry(table.name, table.source, "data") for table in TABLES.values())


def entries() -> tuple[Entry, ...]:
    return (*PAPERS, *data())


def show() -> None:
    st.subheader("Texts")
    stacked(PAPERS)
    st.subheader("To copy")
    st.markdown("The paper:")
    st.code(_PAPER, language="bibtex")
    st.markdown("This tool, where its numbers or figures helped you (also name the link of the scenario):")
    st.code(_TOOL, language="bibtex")
    st.subheader("Data in the app")
    stacked(data())
    st.markdown(
        "All other populations are formulas. The adult census table is B. Becker and R. Kohavi, *Adult*, UCI Machine "
        "Learning Repository, 1996. An uploaded file stays in its owner's session."
    )
