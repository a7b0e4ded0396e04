"""The plan on one page of paper: HTML that needs nothing else. No Streamlit."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence

from pages._ui.plan import answer, bounds, cost, protocols, shuffling
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import WHOSE, people, promise
from rr_core.figures.plan_words import at_least, at_most, budget
from rr_core.figures.style import number
from rr_core.mechanism import RandomizedResponse
from rr_core.plan.shuffling import shuffled


def summary(found: Planned, population: str, delta: float, when: str) -> str:
    """The page.

    Args:
        found: the plan.
        population: what the guess is called; may come from a stranger's file.
        delta: of the shuffled guarantee.
        when: the day, as it is to be printed.
    """
    now = shuffled(found.epsilon, found.n, delta)
    parts = [
        f"<p class=answer>{_rich(answer.sentence(found))}</p>",
        f"<p>{_rich(answer.meaning(found))}</p>",
        _table((), _settings(found, population)),
        "<h2>The price of privacy</h2>",
        f"<p>{_rich(cost.words(found))}</p>",
        _table(("Privacy", "ε", "Users needed", "Compared to the plan"), cost.rows(found)),
        "<h2>Should it be k-RR at all?</h2>",
        f"<p>{_rich(protocols.rule(found))}</p>",
        _table(
            ("Protocol", "RMSE per category", "Users for the same error", "Bits per report (coded)"),
            [protocols.cells(row) for row in protocols.at_plan(found)],
        ),
        "<h2>How far from the best possible?</h2>",
        f"<p>{_rich(bounds.words(bounds.at_plan(found)))}</p>",
        "<h2>If the reports are shuffled</h2>",
        f"<p>{_rich(shuffling.words(found, now))}</p>",
        f"<footer>Made on {html.escape(when)}. Each person sends one randomized report; their true answer stays with "
        "them.</footer>",
    ]
    return _PAGE.format(body="\n".join(parts))


def _settings(found: Planned, population: str) -> list[tuple[str, str]]:
    asked, mechanism = found.asked, RandomizedResponse(found.k, found.epsilon)
    guess = "the worst case over all populations" if asked.worst else population
    target = "what is reachable" if asked.find == "value" else promise(asked.target)
    return [
        ("Categories K", f"{found.k:,}"),
        (
            "Privacy ε",
            f"{budget(found.epsilon)} (p = {number(mechanism.p, 4)}, q = {number(mechanism.q, 4)})",
        ),
        ("Users N", people(found.n)),
        ("Target", target[0].upper() + target[1:]),
        ("Reached by the plan", _reached(found)),
        ("Population", guess),
        ("Whose shares", WHOSE[asked.users].lower()),
    ]


def _reached(found: Planned) -> str:
    kind = found.asked.kind
    if math.isinf(found.value) or (kind == "smallest" and found.value > 1):
        return "nothing can be promised"
    value = f"probability at least {at_least(found.value)}" if kind == "top" else at_most(found.value, 4)
    return f"{value} ({found.asked.about.measure})"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr>"] if heads else []
    for row in rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _rich(text: str) -> str:
    """Our own sentences, with the markdown they use, as HTML."""
    plain = html.escape(text.replace("\\*", "*"))
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
