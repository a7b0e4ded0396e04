"""Formulas of experiments: what is said of an estimator after many simulated collections."""

from __future__ import annotations

from collections.abc import Mapping

from pages._ui.reference.formula import Formula

EXPERIMENTS: Mapping[str, tuple[Formula, ...]] = {
    "Experiments: many collections of the same setting": (
        Formula(
            "Mean error and its uncertainty",
            r"\bar e=\frac1R\sum_{r=1}^{R}e_r\\ \mathrm{se}(\bar e)=\frac{1}{\sqrt R}\,\mathrm{sd}(e_1,\dots,e_R)",
            "$R$ collections of one setting (a cell), each with new noise",
            ("rr_core.experiments.cell.CellResult", "rr_core.experiments.run.run"),
            "All estimators see the same reports (common random numbers), so two of them are compared by the mean of "
            "their differences, from which what both share cancels.",
        ),
        Formula(
            "Squared bias and variance",
            r"\widehat{\mathrm{bias}^2}=\sum_i\bar d_i^{\,2}-\frac1R\,\widehat{\mathrm{var}}\\"
            r"\widehat{\mathrm{var}}=\frac{1}{R-1}\sum_i\sum_r(d_{ir}-\bar d_i)^2",
            "textbook; both unbiased, so the squared bias may come out a little below zero",
            ("rr_core.experiments.cell.CellResult",),
            "$d_{ir}$: estimate minus truth of category $i$ in collection $r$. The two add up to the mean squared error.",
        ),
        Formula(
            "Regret",
            r"\frac{\bar e(\mathrm{MLE}^{*})}{\min\{\bar e(\mathrm{InvN}),\,\bar e(\mathrm{InvP}),\,"
            r"\bar e(\mathrm{MLE}^{*})\}}",
            "of one cell, by the means; 1 where MLE\\*'s is the smallest",
            ("rr_core.experiments.ranking.regret", "rr_core.experiments.ranking.leading"),
            "What it costs to use MLE\\* instead of knowing the best of the three beforehand.",
        ),
        Formula(
            "Surely better",
            r"\frac{|\bar d|}{\mathrm{se}(\bar d)}>t_{R-1}\bigl(1-\tfrac{0.05}{2\cdot3C}\bigr)",
            "paired $t$ test with Bonferroni's correction over three pairs in $C$ cells",
            ("rr_core.experiments.ranking.sign", "rr_core.experiments.claims.claims"),
            "A page of a thousand comparisons would show chance winners otherwise. As far as the mean of the differences "
            "is about normal, any “surely” of a sweep is wrong in at most one sweep of twenty.",
        ),
    ),
}
