"""The formulas behind the plan, folded away."""

TEXT = r"""
With $m_i = q + (p-q)\theta_i$ the chance that a report names category $i$:

- **RMSE** (Theorem 9, corrected): $\mathrm{RMSE}^2 = \frac1K\sum_i \mathrm{Var}(\mathrm{Inv}_i)$ with
  $\mathrm{Var}(\mathrm{Inv}_i) = \frac{q(1-q) + \theta_i(p-q)(1-p-q)}{N(p-q)^2}$ for these people. In the sum only
  $\sum_i\theta_i = 1$ enters, so that the population does not matter. For whom they stand for,
  $\frac{m_i(1-m_i)}{N(p-q)^2}$.
- **Largest error:** the number of reports $c_i$ is $\mathrm{Binomial}(N, m_i)$, and
  $\Pr(\text{any } |\mathrm{Inv}_i - \theta_i| > t) \le \sum_i \Pr(|c_i - N m_i| > N(p-q)t)$, tail by tail.
- **Told from zero:** a category is called present when $c_i$ is at least the number that
  $\mathrm{Binomial}(N, q)$ reaches with probability at most $0.05/K$; a share $\theta$ is found when
  $\mathrm{Binomial}(N, q + (p-q)\theta)$ reaches it with the probability asked for.
- **Ranking:** $\sum \Pr(c_i \le c_j)$ over the neighbours at the top, and over the last of them with each of the others.
- **Protocols:** $\frac{q^*(1-q^*)}{N(p^*-q^*)^2}$ at share 0, with $p^*, q^*$ the chances that a report supports a
  category that is, or is not, its owner's. k-RR below optimised unary encoding exactly when $K < 3e^\varepsilon + 2$.
- **Shuffling:** if $\varepsilon \le \ln\frac{N}{16\ln(2/\delta)}$, then
  $\varepsilon_{\mathrm{central}} \le \ln\!\left(1 + \frac{e^\varepsilon-1}{e^\varepsilon+1}\, s\right)$ with
  $s = \frac{8\sqrt{e^\varepsilon\ln(4/\delta)}}{\sqrt N} + \frac{8e^\varepsilon}{N}$.

The promises rest on upper bounds of the chance to miss, so that they are kept at the N that is named and at every
larger one.
"""
