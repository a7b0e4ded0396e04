"""Formulas about the estimates: geometry, the law of one count, privacy of one report, errors."""

from __future__ import annotations

from collections.abc import Mapping

from pages._ui.reference.formula import Formula

THEORY: Mapping[str, tuple[Formula, ...]] = {
    "Geometry: three estimates on one line": (
        Formula(
            "Theorem 2, one zero",
            r"\mathrm{InvN}-\mathrm{InvP}=t\,(\mathrm{MLE}^{*}-\mathrm{InvP})\\[9pt] t=\frac{1-v}{p-v}>1",
            "paper, Theorems 2 and 8",
            ("rr_core.collinearity", "rr_core.Collinearity.theorem2_holds"),
            "When the smallest entry is $v<q$ and every other one is at least $(Kq-v)/(K-1)$. MLE\\* lies between.",
        ),
        Formula(
            "Nested supports",
            r"\mathrm{supp}(\mathrm{InvP})\subseteq\mathrm{supp}(\mathrm{MLE}^{*})\\"
            r" \subseteq\mathrm{supp}(\mathrm{InvN})",
            "not in the sources; tested on random histograms",
            ("rr_core.Collinearity.supports",),
            "What InvN sets to zero MLE\\* sets to zero too, and what MLE\\* does, InvP.",
        ),
        Formula(
            "Equal supports, any number of zeros",
            r"\mathrm{MLE}^{*}=\mathrm{InvP}+x\,(\mathrm{InvN}-\mathrm{InvP})\\[9pt] x=\frac{(1+ν)(p-q)}{Φ}",
            "not in the sources; Theorem 2 is the case of one zero, where x = 1/t",
            (
                "rr_core.Collinearity.position",
                "rr_core.Collinearity.same_support",
                "rr_core.Collinearity.residual",
            ),
            "On a common support every estimate is $αφ+β$, so the three are collinear. $Φ$ is the share of the "
            "reports in the support. With unequal supports they need not be: the residual says how far off.",
        ),
    ),
    "Reports of one category, and negatives": (
        Formula(
            "Law of one report count",
            r"c_i\sim\mathrm{Binomial}(T_i,\,p)\\ +\ \mathrm{Binomial}(N-T_i,\,q)",
            "paper, eq. (1); Lopuhaä-Zwakenberg et al., proof of Proposition 4.6",
            ("rr_core.law.report_distribution", "rr_core.law.report_band"),
            "The band of the histogram page comes from it.",
        ),
        Formula(
            "Its variance",
            r"\mathrm{Var}(c_i)=T_i\,p(1-p)\\ +\ (N-T_i)\,q(1-q)",
            "the two Binomials are independent",
            ("rr_core.law.report_variance",),
        ),
        Formula(
            "Chance of a negative",
            r"\Pr(\mathrm{Inv}_i<0\mid T_i=0)\\ =\Pr\bigl(\mathrm{Binomial}(N,q)<Nq\bigr)\ \longrightarrow\ \tfrac12",
            "paper, section 5.1, which counts the other N−1 users",
            ("rr_core.law.negative_chance", "rr_core.law.negatives"),
            "For a category that nobody has, as $N$ grows. Once $N$ is well above $1/q$, more users make negatives "
            "smaller, hardly rarer.",
        ),
    ),
    "What one report gives away": (
        Formula(
            "Posterior odds",
            r"\frac{\Pr(x\mid y)}{\Pr(x'\mid y)}=\frac{\Pr(x)}{\Pr(x')}\cdot\frac{\Pr(y\mid x)}{\Pr(y\mid x')}\\[9pt]"
            r"\frac{\Pr(y\mid x)}{\Pr(y\mid x')}\in\{e^{-ε},\,1,\,e^{ε}\}",
            "Bayes' rule with eq. (1)",
            ("rr_core.privacy.posterior",),
            "Nobody's odds between two answers move by more than $e^ε$, whatever they knew before.",
        ),
    ),
    "Errors": (
        Formula(
            "Squared error and MSE",
            r"\lVert\hatθ-θ\rVert^2=\sum_i(\hatθ_i-θ_i)^2\\ \mathrm{MSE}=\mathrm E\,\lVert\hatθ-θ\rVert^2",
            "paper, section 5.4; its figures show this divided by K",
            ("rr_core.squared_error",),
            "A sum over categories. The app shows the mean per category beside it and says which is which.",
        ),
        Formula(
            "Mean squared error of Inv",
            r"\mathrm{MSE}=\frac{K^2+(2e^{ε}-3)K-2(e^{ε}-1)}{N\,(e^{ε}-1)^2}",
            "paper, Theorem 9, with its denominator mended (see Misprints)",
            ("rr_core.misprints.squared_error_of_inv",),
            "For fixed users, whatever their shares. Along $K$ it grows like $K^2$ once $K$ is well above $e^ε$. "
            "InvP's is no larger: a projection comes no farther from the truth.",
        ),
        Formula(
            "Total variation and largest error",
            r"\mathrm{TV}=\tfrac12\sum_i\lvert\hatθ_i-θ_i\rvert\\ \max_i\lvert\hatθ_i-θ_i\rvert",
            "paper, section 5.4, for TV",
            ("rr_core.total_variation", "rr_core.max_error"),
        ),
        Formula(
            "Negative log-likelihood",
            r"\mathrm{NLL}=-\sum_i φ_i\ln\bigl(q+(p-q)\hatθ_i\bigr)",
            "paper, section 6.1 and Theorem 3; per report, as in the published code",
            ("rr_core.negative_log_likelihood",),
            "In nats. The function sums over reports when it is given counts.",
        ),
        Formula(
            "Bias and variance",
            r"\mathrm{MSE}=\lVert\mathrm E\,\hatθ-θ\rVert^2+\sum_i\mathrm{Var}(\hatθ_i)",
            "textbook identity; the paper's repository plots both parts",
            ("rr_core.repeats.Repeats.bias2", "rr_core.repeats.Repeats.variance"),
            "Estimated over repeated collections; the bias is corrected for their finite number.",
        ),
    ),
}
