"""Formulas of the estimators and of the certificate."""

from __future__ import annotations

from collections.abc import Mapping

from pages._ui.reference.formula import Formula

ESTIMATES: Mapping[str, tuple[Formula, ...]] = {
    "Inv and its variance": (
        Formula(
            "Inv",
            r"\mathrm{Inv}_i=\frac{φ_i-q}{p-q}=\frac{c_i}{N}+\frac{Kc_i-N}{N(e^ε-1)}",
            "paper, eq. (2); the blog's F",
            ("rr_core.inv",),
            "Unbiased: $\\mathrm E[\\mathrm{Inv}_i]=θ_i$. The second form subtracts integers first: accurate at any $ε$.",
        ),
        Formula(
            "Variance, these users fixed",
            r"\mathrm{Var}(\mathrm{Inv}_i)=\\ \frac{q(1-q)+θ_i\,(p-q)(1-p-q)}{N\,(p-q)^2}",
            "paper, eq. (8), corrected: see Misprints",
            ("rr_core.inv_variance",),
            "Only the noise is random. Summed over the categories it is the mean squared error of Inv.",
        ),
        Formula(
            "Variance, users sampled too",
            r"\mathrm{Var}(\mathrm{Inv}_i)=\frac{μ_i(1-μ_i)}{N\,(p-q)^2}\\ μ_i=q+(p-q)θ_i",
            "each count is then Binomial; Lopuhaä-Zwakenberg et al., eq. (69)–(71), for two categories",
            ("rr_core.inv_variance",),
            'For the population behind the users: the same function with `users="sampled"`.',
        ),
    ),
    "InvN": (
        Formula(
            "Clip and rescale",
            r"\mathrm{InvN}_i=\frac{\max(0,\mathrm{Inv}_i)}{\sum_j\max(0,\mathrm{Inv}_j)}\\[9pt]"
            r" =\frac{\max(0,\mathrm{Inv}_i)}{1+ν}",
            "paper, section 2.3, item 1",
            ("rr_core.inv_n",),
            "Keeps what is above zero; $ν$ is minus the sum of the negatives.",
        ),
    ),
    "InvP": (
        Formula(
            "Nearest distribution",
            r"\mathrm{InvP}=\arg\min_{θ\in Δ}\lVert θ-\mathrm{Inv}\rVert\\ "
            r"\mathrm{InvP}_i=\frac1m+\frac{mc_i-S}{mN(p-q)}",
            "paper, section 2.3, item 2; the second form is ours",
            ("rr_core.inv_p",),
            "The second form holds on what is kept, zero elsewhere. It keeps the most categories for which the "
            "smallest of them stays positive, $N(p-q)>S-mc_i$.",
        ),
    ),
    "MLE*": (
        Formula(
            "What it maximises",
            r"\mathrm{MLE}^{*}=\arg\max_{θ\in Δ}\ \ell(θ)\\ \ell(θ)=\sum_i φ_i\ln\bigl(q+(p-q)θ_i\bigr)",
            "paper, eq. (3) and Theorem 3; Lopuhaä-Zwakenberg et al., eq. (22) and (103)",
            ("rr_core.mle_star", "rr_core.negative_log_likelihood"),
            "Equivalently it brings the expected histogram as near to $φ$ as it gets, in Kullback–Leibler divergence.",
        ),
        Formula(
            "Closed form by threshold",
            r"\mathrm{MLE}^{*}_i=\frac{c_{τ^*}φ_i-q}{p-q}\ \text{ if }φ_i\ge τ^*,\ \text{ else }0\\[9pt]"
            r"c_τ=\frac{1-q\,\#\{φ_i<τ\}}{\sum_{φ_i\geτ}φ_i}\\[9pt]"
            r"τ^*=\min\{τ:\ c_τφ_i\ge q\ \text{ if }φ_i\geτ\}",
            "paper, eq. (6) and (7), Theorems 1 and 7; Kairouz et al. 2016, Supplement F",
            ("rr_core.mle_star",),
            "Drop the smallest entries until no kept one is negative. The maximum is unique.",
        ),
        Formula(
            "Closed form on counts",
            r"\mathrm{MLE}^{*}_i=\frac{c_i}{S}+\frac{mc_i-S}{S\,(e^ε-1)}\\[9pt] =\frac{φ_i}{λ}-\frac{q}{p-q}",
            "paper, Theorem 4; Lopuhaä-Zwakenberg et al., eq. (109) and Algorithm 1, corrected",
            ("rr_core.mle_star", "rr_core.estimators.mle_rule"),
            "On what is kept, zero elsewhere; $λ=(p-q)/c_{τ^*}$. Kept: the most categories for which the smallest "
            "stays positive, $c_i(e^ε-1)>S-mc_i$.",
        ),
        Formula(
            "Equal counts, equal estimates",
            r"c_i=c_j\ \Rightarrow\ \hatθ_i=\hatθ_j\\ c_i\le c_j\ \Rightarrow\ \hatθ_i\le\hatθ_j",
            "paper, Theorems 5 and 6",
            ("rr_core.profile.profile",),
            "True of every estimator here (IBU from the uniform start), so all work is done once per distinct count.",
        ),
    ),
    "IBU, for any channel and for k-RR": (
        Formula(
            "Any channel",
            r"θ_i^{(t+1)}=\sum_j φ_j\,\frac{θ_i^{(t)}C_{ij}}{\sum_k θ_k^{(t)}C_{kj}}",
            "paper, eq. (4)",
            ("rr_core.ibu_channel",),
            "$C_{ij}$ is the chance of report $j$ under truth $i$. One step costs (categories in) × (reports out).",
        ),
        Formula(
            "k-RR",
            r"θ_i^{(t+1)}=θ_i^{(t)}\,m_i\\"
            r"m_i=q\sum_j\frac{φ_j}{μ_j}+(p-q)\frac{φ_i}{μ_i}\\ μ_i=q+(p-q)\,θ_i^{(t)}",
            "paper, eq. (5)",
            ("rr_core.ibu", "rr_core.ibu_path", "rr_core.update_factors"),
            "From the uniform start a step costs one pass over the *distinct* counts.",
        ),
        Formula(
            "How fast in the end",
            r"δ_i'=(1-h_i)\,δ_i+θ_i\sum_j h_j\,δ_j\\[9pt]"
            r" h_i=r\,\frac{(p-q)\,θ_i}{q+(p-q)\,θ_i}\quad\text{or}\quad 1-m_i",
            "linearising eq. (5) at its limit; not in the sources",
            ("rr_core.ibu.convergence.local_rate",),
            "$δ$ is the error; the first $h_i$ where MLE\\* is positive, the second where it is zero, with one number "
            "$r\\le1$. Both vanish at the border of the support: what is slow is what is nearly kept or nearly dropped.",
        ),
        Formula(
            "A start with zeros",
            r"θ_i^{(0)}=0\ \Rightarrow\ θ_i^{(t)}=0\ \text{for all}\ t",
            "eq. (5) only multiplies; the limit is Theorem 1 on the other categories",
            ("rr_core.ibu.path.IBUPath.limit", "rr_core.ibu.path.IBUPath.cut_off"),
            "IBU then tends to the distribution without those categories under which the reports are most likely, and "
            "the certificate tells.",
        ),
        Formula(
            "How many iterations",
            r"\lVertθ^{(t)}-\mathrm{MLE}^{*}\rVert^2\le10^{-3}",
            "paper, section 6.4, which does not say how near counts as reached",
            ("rr_core.ibu.figure4.measurement", "rr_core.ibu.convergence.first_reached"),
            "Measured over 20 seeds, at this distance all four of the paper's numbers hold to within a sixth (K = 500: "
            "about 7,000 iterations at n = 10⁴, ε = 1, and so on); the page IBU has the whole table.",
        ),
    ),
    "Certificate: how far from the maximum": (
        Formula(
            "A bound that needs no MLE",
            r"0\ \le\ \ell(\mathrm{MLE}^{*})-\ell(θ)\ \le\ \max_i m_i-1",
            "concavity of the log-likelihood per report, ℓ; not in the sources, which miss a stopping rule (section 1)",
            ("rr_core.optimality_gap", "rr_core.update_factors"),
            "The gradient of $\\ell$ is $m_i$ up to a constant, and $\\sum_iθ_im_i=1$. At the maximum the bound is zero, "
            "with $m_i=1$ wherever $θ_i>0$: a proof, on screen, that MLE\\* is the MLE.",
        ),
    ),
}
