"""Formulas of practice: what collected reports tell, and what a plan needs."""

from __future__ import annotations

from collections.abc import Mapping

from pages._ui.reference.formula import Formula

PRACTICE: Mapping[str, tuple[Formula, ...]] = {
    "Collected reports: intervals and tests": (
        Formula(
            "Interval for one share",
            r"\{\,θ:\ |\mathrm{Inv}_i-θ|\le z\,\mathrm{sd}(θ)\,\}",
            "Wilson's score interval, with the corrected variance of eq. (8)",
            ("rr_core.collected.intervals.inv_interval",),
            "A quadratic in $θ$. With the estimate plugged into the variance, an interval for sampled users "
            "would have no width at $c_i=0$.",
        ),
        Formula(
            "Intervals for all shares at once",
            r"\Pr\bigl(\mathrm{Binomial}(N,m)\ge c_i\bigr)=\tfrac{α}{2K}\\"
            r"\Pr\bigl(\mathrm{Binomial}(N,m)\le c_i\bigr)=\tfrac{α}{2K}",
            "Clopper and Pearson, with Bonferroni's correction",
            ("rr_core.collected.intervals.inv_interval", "rr_core.collected.analysis.analyse"),
            "The ends $m$, from reports back to shares by $(m-q)/(p-q)$. So far out, normal tails are wrong.",
        ),
        Formula(
            "Is anybody there?",
            r"p_i=\Pr\bigl(\mathrm{Binomial}(N,q)\ge c_i\bigr)\\[5pt]"
            r"\tilde p_{(j)}=\max_{i\le j}\ \min\bigl(1,\,(K-i+1)\,p_{(i)}\bigr)",
            "exact under RR; S. Holm, Scandinavian Journal of Statistics 6, 1979",
            ("rr_core.collected.above_zero.above_zero",),
            "A category that nobody has gets Binomial(N, q) reports, whatever the others do.",
        ),
        Formula(
            "Which estimate is nearest to the truth?",
            r"\lVert e-θ\rVert^2-\lVert f-θ\rVert^2\ \approx\ g\cdot(e+f-2\,\mathrm{Inv})+2\,\mathrm{tr}(JV)\\[4pt]"
            r"\text{off by about }\ 2\sqrt{g^{\top}Vg+\mathrm{tr}(JVJV)}",
            "C. Stein, 1981; the second line P. Bellec and C.-H. Zhang, 2021",
            ("rr_core.collected.nearest.nearest",),
            "$e$ and $f$ are two estimates, $g=e-f$, $J$ its derivative along Inv, $V$ the covariance of Inv. Exact for "
            "normal noise; at the edge of the support $J$ is the step that one report less makes.",
        ),
        Formula(
            "Does this ε fit?",
            r"\mathrm{LR}=2\sum_i c_i\ln\frac{c_i}{N\,(q+(p-q)\,\mathrm{MLE}^{*}_i)}",
            "likelihood ratio; its law given the number of zeros after G. Cox and X. Shi, 2023",
            ("rr_core.collected.fit.fit_test", "rr_core.collected.fit.plausible_epsilon"),
            "Zero unless some category has fewer reports than the noise brings. It falls as ε grows: reports can show "
            "that a stated ε is too small, never that it is too large.",
        ),
    ),
    "Planning: targets, other protocols, limits": (
        Formula(
            "Mean squared error per category",
            r"\frac1K\sum_i\mathrm{Var}(\mathrm{Inv}_i)=\frac{q(1-q)+\frac1K(p-q)(1-p-q)}{N(p-q)^2}",
            "eq. (8) without its misprint; for fixed users it is the same for every population",
            (
                "rr_core.plan.solve.achieved",
                "rr_core.plan.solve.required_n",
                "rr_core.plan.solve.required_epsilon",
            ),
        ),
        Formula(
            "Users for one named share",
            r"N\approx\frac{z^2}{t^2}\cdot\frac{q(1-q)+θ(p-q)(1-p-q)}{(p-q)^2}",
            "normal law of Inv for fixed users; $z=1.96$ for 95%",
            ("rr_core.plan.solve.required_n", "rr_core.plan.fixed_tails.beyond"),
            "So that the share $θ$ is within $±t$. For users drawn from a population $θ(1-θ)$ is added to the variance "
            "of one user. The plan bounds the exact tails instead, which can take several times as many users where few "
            "are enough.",
        ),
        Formula(
            "Variance of any pure protocol",
            r"\mathrm{Var}=\frac{q^*(1-q^*)}{N(p^*-q^*)^2}+θ\,\frac{1-p^*-q^*}{N(p^*-q^*)}",
            "Wang et al., USENIX Security 2017",
            ("rr_core.plan.protocols.support", "rr_core.plan.protocols.compare"),
            "$p^*$, $q^*$: chance that a report supports the truth, or another category. k-RR: $p$, $q$. Symmetric unary "
            "encoding: $q^*=1/(e^{ε/2}+1)=1-p^*$. Optimised: $\\frac12$, $1/(e^ε+1)$. Local hashing to $g$ values: $p$ "
            "of $g$-ary RR, $1/g$.",
        ),
        Formula(
            "Subset selection",
            r"p^*=\frac{d\,e^ε}{d\,e^ε+K-d}\\[5pt] q^*=\frac{p^*(d-1)+(1-p^*)\,d}{K-1}",
            "Ye and Barg 2018; Wang et al., arXiv:1607.08025",
            ("rr_core.plan.protocols.subsets", "rr_core.plan.protocols.subset_size"),
            "A report names $d$ categories; the best $d$ is next to $K/(e^ε+1)$. With $d=1$ it is k-RR, which is best "
            "in the mean over all categories exactly while $K(K-3)\\le2(e^{2ε}-1)$ (`protocols.single_k`).",
        ),
        Formula(
            "When k-RR has a smaller variance than unary encoding",
            r"K<3e^ε+2",
            "Wang et al.; exact for a share of zero, against optimised unary encoding",
            ("rr_core.plan.protocols.flip_k", "rr_core.plan.protocols.flip_k_of_mean"),
            "For the mean over all categories the border is lower, for large ε about $2.41\\,e^ε$. Against subset "
            "selection it is lower again (see there), for large ε about $1.41\\,e^ε$. At K = 10, ε = 1 k-RR needs 1.41 "
            "times its users.",
        ),
        Formula(
            "A lower bound on average over all populations",
            r"\mathrm E\,\lVert\hatθ-θ\rVert^2\ \ge\ \frac{K}{N(e^ε-1)^2}",
            "Lopuhaä-Zwakenberg et al., Theorem 4.5 and eq. (59)",
            ("rr_core.plan.bounds.theorem", "rr_core.plan.bounds.table"),
            "The mean is over shares drawn from a continuous prior and users drawn from these shares, as $N\\to\\infty$. "
            "At given shares an estimate may do better (a constant, if it is right by luck); an unbiased one may not, at "
            "any $N$. Their Table 1 states it as $K/(Nε^2)$, which is its limit for $ε\\to0$ and no bound at larger ε.",
        ),
        Formula(
            "Two categories, exactly",
            r"\mathrm E\,\lVert\hatθ-θ\rVert^2=\frac{2\,e^ε}{N(e^ε-1)^2}",
            "Lopuhaä-Zwakenberg et al., Proposition 4.6",
            ("rr_core.plan.bounds.binary",),
            "For fixed users: the least that any protocol with an unbiased estimate can have at K = 2.",
        ),
        Formula(
            "Shuffled reports",
            r"ε_{\text{central}}\le\ln\Bigl(1+\frac{e^{ε}-1}{e^{ε}+1}\,a\Bigr)\\[9pt]"
            r"a=\frac{8\sqrt{e^{ε}\ln(4/δ)}}{\sqrt N}+\frac{8\,e^{ε}}{N}",
            "Feldman, McMillan, Talwar, FOCS 2021, Theorem 3.1",
            ("rr_core.plan.shuffling.shuffled", "rr_core.plan.shuffling.users_needed"),
            "Holds for $ε\\le\\ln\\frac{N}{16\\ln(2/δ)}$. An upper bound: the truth is lower.",
        ),
    ),
}
