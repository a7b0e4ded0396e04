"""Geometry: where the three repairs lie, why MLE* is in the middle, and when they share a line."""

import streamlit as st

from pages._ui import downloads, guidance
from pages._ui.frame import Parts, open_page, while_open
from pages._ui.geometry import collinearity, triangle

PARTS = Parts(
    "geometry",
    {
        "why": "Why in the middle?",
        "line": "On one line?",
        "beyond": "Beyond Theorem 2",
        "bias": "The price: bias",
    },
)
page = open_page("geometry", triangle.PICKED, PARTS.binding)
st.markdown(
    "A point is three shares; a corner is 100% of one category. **Inv** lies outside when a share is negative; **InvN**, "
    "**InvP** and **MLE\\*** are three ways back in.\n\n"
    "**Try:** click near an edge to move the reports. Where is MLE\\* each time?"
)
figure, points, theta = triangle.section(page, PARTS.binding.current())
parts = PARTS.tabs()
with parts["why"]:
    triangle.why_section(points, theta, page.results.geometry.three)
    downloads.row(page.results, figure, "geometry")
while_open(parts["line"], collinearity.theorem_section, page.results)
while_open(parts["beyond"], collinearity.equal_supports_section, page.results)
while_open(parts["bias"], triangle.bias_section, page.results)

with st.expander("Formulas"):
    st.markdown(
        r"""
With $\varphi$ the shares of the reports, $\varphi_1$ the smallest and $\varphi_2$ the second smallest:

- **Nested supports.** With $S$ the categories that are kept,
  $S_{\mathrm{InvP}} \subseteq S_{\mathrm{MLE^*}} \subseteq S_{\mathrm{InvN}}$.
- **Theorem 2.** If $\varphi_1 < q$ and $\varphi_2 \ge \frac{Kq - \varphi_1}{K - 1}$, then
  $\mathrm{InvN} - \mathrm{InvP} = t\,(\mathrm{MLE^*} - \mathrm{InvP})$ with
  $t = \frac{1 - \varphi_1}{p - \varphi_1} > 1$.
- **Wider rule.** If the three supports are equal, with $\Phi$ the share of reports in them and $\nu$ the sum of the
  negatives of Inv as a positive number, MLE\* stands at $\frac{(1 + \nu)(p - q)}{\Phi}$ of the way from InvP to InvN.
- **Three categories.** Two of them are set to zero where, for the third, $j$: InvN $\varphi_i \le q$; MLE\*
  $\varphi_j \ge e^\varepsilon \varphi_i$; InvP $\varphi_j - \varphi_i \ge p - q$, for both others $i$. None is where all
  $\varphi_i > q$.
- **Curves of likelihood.** With $m = q + (p - q)\theta$, a point has $\mathrm{KL}(\varphi \,\|\, m)$ less log-likelihood
  per report than Inv.
"""
    )

guidance.next_page()
