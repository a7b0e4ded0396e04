"""The formulas behind the plan, folded away."""

TEXT = r"""
With $m_i = q + (p-q)\theta_i$ the chance that a report names category $i$:

- **RMSE** (Theorem 9, corrected): $\mathrm{RMSE}^2 = \frac1K\sum_i \mathrm{Var}(\mathrm{Inv}_i)$ with
  $\mathrm{Var}(\mathrm{Inv}_i) = \frac{q(1-q) + \theta_i(p-q)(1-p-q)}{N(p-q)^2}$ for these people. In the sum only
  $\sum_i\theta_i = 1$ enters, so that the population does not matter. For whom they stand for,
  $\frac{m_i(1-m_i)}{N(p-q)^2}$.
- **Largest error:** the number of reports $c_i$ of a category is $\mathrm{Binomial}(N\theta_i, p) +
  \mathrm{Binomial}(N(1-\theta_i), q)$ for these people, $\mathrm{Binomial}(N, m_i)$ for whom they stand for, and
  $\Pr(\text{any } |\mathrm{Inv}_i - \theta_i| > t) \le \sum_i \Pr(|c_i - N m_i| > N(p-q)t)$, tail by tail.
- **One named share:** the same tails, of that category alone: where many users are needed, about
  $z^2\,\mathrm{Var}(\mathrm{Inv}_i)/t^2$ users, where
  $\mathrm{Var}$ is that of one user and $z = 1.96$ for 95%.
- **Told from zero:** a category is called present when $c_i$ is at least the number that
  $\mathrm{Binomial}(N, q)$ reaches with probability at most $0.05/K$; a share is found when its $c_i$ reaches it with
  the probability asked for.
- **Ranking:** $\sum \Pr(c_i \le c_j)$ over the neighbours at the top, and over the last of them with each of the others.
- **Whole people:** these people's shares are those of whole people. So a named share is worked out with a person more and
  a person less, and of at least one; two categories of a ranking with as few whole people between them as $N$ allows.
- **Protocols:** $\frac{q^*(1-q^*)}{N(p^*-q^*)^2} + \theta\,\frac{1-p^*-q^*}{N(p^*-q^*)}$, with $p^*, q^*$ the chances
  that a report supports a category that is, or is not, its owner's. Subset selection:
  $p^* = \frac{d e^\varepsilon}{d e^\varepsilon + K - d}$, $q^* = \frac{p^*(d-1) + (1-p^*)d}{K-1}$ with the best $d$, next
  to $K/(e^\varepsilon + 1)$; it is 1, and k-RR as good, exactly when $K(K-3) \le 2(e^{2\varepsilon} - 1)$.
- **Shuffling:** if $\varepsilon \le \ln\frac{N}{16\ln(2/\delta)}$, then
  $\varepsilon_{\mathrm{central}} \le \ln\!\left(1 + \frac{e^\varepsilon-1}{e^\varepsilon+1}\, s\right)$ with
  $s = \frac{8\sqrt{e^\varepsilon\ln(4/\delta)}}{\sqrt N} + \frac{8e^\varepsilon}{N}$.

The promises rest on upper bounds of the chance to miss, so that a number of users that is found to be enough stays
enough when more take part.
"""
