"""The files of a plan: its map as CSV, a script that works it out again, and a page of paper in HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rr_core.io.csv_files import csv_bytes
from rr_core.metrics import Users
from rr_core.plan.landscape import Landscape
from rr_core.plan.solve import Find
from rr_core.plan.targets import Target


def map_csv(landscape: Landscape, target: Target) -> bytes:
    """One row per cell of the map that is worked out, not interpolated: epsilon, how many users, and what is achieved
    there, with its unit, which quantity it is, and the probability that is promised for it (empty for an average)."""
    exact = ~landscape.interpolated
    epsilons, users = (axis[exact] for axis in np.meshgrid(landscape.epsilons, landscape.users))
    about = target.about
    named = f", {target.share:.10g} of users" if target.kind == "share" else ""
    promised = about.has_confidence and target.kind != "top"
    return csv_bytes(
        {
            "epsilon_nats": epsilons,
            "n_users": users,
            "achieved": landscape.values[exact],
            "unit": np.full(users.size, about.unit),
            "quantity": np.full(users.size, about.measure + named),
            "probability": np.full(users.size, target.confidence if promised else ""),
        }
    )


def script(
    target: Target,
    met_target: Target | None,
    k: int,
    epsilon: float,
    n: int,
    *,
    find: Find,
    users: Users,
    worst_case: bool,
    promise: str,
    bits: list[float] | None,
    delta: float,
) -> str:
    """Lines for a script that has ``draw``: they work out the plan again, and print it and what the page says of it.

    Args:
        target: what is asked for.
        met_target: what the plan meets, whose price is worked out.
        k, epsilon, n: the plan.
        find: which of N, epsilon and target is worked out.
        users: whose shares are estimated.
        worst_case: whether the plan is for every population rather than that of ``draw``.
        promise: sentence that is printed after what was worked out.
        bits: of privacy less, for each of which the users needed are printed; None without a price.
        delta: of the shuffled guarantee.
    """
    return _SCRIPT.format(
        target=target,
        kept=met_target,
        guess="None  # the worst case" if worst_case else "draw.population.probabilities",
        k=k,
        epsilon=epsilon,
        n=n,
        find=_SOLVERS[find],
        promise=promise,
        users=users,
        bits=bits,
        delta=delta,
    )


_NEEDED = """needed = {solver} theta, users=users)
print("The plan:", needed.reason if isinstance(needed, Unreachable) else f"{shown}")"""
# rr_core gives an epsilon to all its digits; the page rounds it upwards to four, as ``epsilon`` is.
_SOLVERS: dict[Find, str] = {
    "n": _NEEDED.format(solver="required_n(target, k, epsilon,", shown="{needed:,} users"),
    "eps": _NEEDED.format(solver="required_epsilon(target, k, n,", shown="epsilon = {needed!r}"),
    "value": 'print("The plan: both are given")',
}
_SCRIPT = """
# The plan.
from rr_core.plan import bounds, protocols, shuffling
from rr_core.plan.landscape import price_per_bit
from rr_core.plan.solve import Unreachable, achieved, required_epsilon, required_n
from rr_core.plan.targets import Target

k, epsilon, n, users = {k}, {epsilon!r}, {n}, {users!r}
theta = {guess}
target = {target!r}
{find}
print(f"epsilon = {{epsilon}}, N = {{n:,}} users, K = {{k:,}} categories")
print({promise!r})
reached = achieved(target, k, epsilon, n, theta, users=users)
print(f"reached, {{target.about.measure}}: {{reached:.10g}} ({{target.about.unit}})")
kept, bits = {kept!r}, {bits!r}
if bits is not None:
    price = price_per_bit(kept, k, epsilon, theta, bits, users=users)
    for one, budget, needed in zip(price.bits, price.epsilons, price.users):
        needed = needed if one else min(needed, n)
        print(f"{{one:.4g}} bits less, epsilon {{budget:.6g}}: {{needed:.0f}} users")
print(f"k-RR is as good as subset selection up to K = {{protocols.single_k(epsilon):.10g}}")
for row in protocols.compare(k, epsilon, n, 1 / k, users):
    print(f"{{row.key}}: rmse {{row.rmse:.10g}}, users {{row.users_relative:.10g}}, bits {{row.bits}}")
found = bounds.against_epsilon([epsilon], k, epsilon, n, users)
print(f"squared error of Inv {{found.now:.10g}}, lower bound at equal shares {{found.floor:.10g}}")
now = shuffling.shuffled(epsilon, n, {delta!r})
print(f"central epsilon {{now.epsilon:.10g}}, condition holds: {{now.holds}}")
"""


class SummarySection(NamedTuple):
    """One part of the page of paper.

    Attributes:
        heading: plain text.
        text: markdown with bold words only.
        heads, rows: a table of plain text; none without heads.
    """

    heading: str
    text: str
    heads: Sequence[str] = ()
    rows: Iterable[Sequence[str]] = ()


def summary_html(
    answer: str,
    meaning: str,
    settings: Iterable[tuple[str, str]],
    sections: Iterable[SummarySection],
    date: str,
) -> str:
    """The plan on one page of paper: HTML that needs nothing else.

    Args:
        answer, meaning: markdown with bold words only.
        settings: rows of names and values; these may come from a stranger's file.
        sections: the other parts, in turn.
        date: the day, as it is to be printed.
    """
    parts = [f"<p class=answer>{_bold(answer)}</p>", f"<p>{_bold(meaning)}</p>", _table((), settings)]
    for section in sections:
        parts += [f"<h2>{html.escape(section.heading)}</h2>", f"<p>{_bold(section.text)}</p>"]
        if section.heads:
            parts.append(_table(section.heads, section.rows))
    parts.append(
        f"<footer>Made on {html.escape(date)}. Each person sends one randomized report; their true answer stays with "
        "them.</footer>"
    )
    return _PAGE.format(body="\n".join(parts))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr>"] if heads else []
    for row in rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _bold(markdown: str) -> str:
    """Markdown with bold words only, as HTML."""
    plain = html.escape(markdown.replace("\\*", "*"))
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", plain)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Plan of a survey with randomized response</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
@page {{ size: A4; margin: 12mm 14mm; }}
body {{ font: 10.5pt/1.38 system-ui, sans-serif; color: #141414; background: #fff; max-width: 182mm; margin: 8mm auto;
  padding: 0 4mm; }}
h1 {{ font-size: 16pt; margin: 0 0 2mm; }}
h2 {{ font-size: 11.5pt; margin: 3.5mm 0 1mm; border-bottom: 1px solid #999; }}
p {{ margin: 1mm 0; }}
.answer {{ font-size: 12.5pt; border-left: 4px solid #0072B2; padding-left: 3mm; margin: 2mm 0; }}
table {{ border-collapse: collapse; margin: 1.5mm 0; font-size: 9.5pt; width: 100%; }}
td, th {{ text-align: left; padding: 0.5mm 2mm; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }}
footer {{ margin-top: 4mm; font-size: 8.5pt; color: #555; }}
@media print {{ body {{ margin: 0; padding: 0; max-width: none; font-size: 9pt; line-height: 1.28; }}
  table {{ font-size: 8.5pt; margin: 1mm 0; }} td, th {{ padding: 0.3mm 2mm; }} h2 {{ margin-top: 2.5mm; }}
  .answer {{ font-size: 11.5pt; }} footer {{ margin-top: 2mm; }} }}
</style></head><body>
<h1>Plan of a survey with k-ary randomized response</h1>
{body}
</body></html>
"""
