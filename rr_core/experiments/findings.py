"""What the paper says of one of its figures, beside what a run of it shows.

The numbers have the last word. Cells where the mean errors of the three are equal are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rr_core.comparison import VALID
from rr_core.experiments.cell import CellResult
from rr_core.experiments.claims import Verdict, has, mle_lowest_nll, mle_never_worst, verdict_on
from rr_core.experiments.compared import Count, always_best, below, sign
from rr_core.experiments.grid import POINT, Cell
from rr_core.experiments.names import ESTIMATOR_NAMES, cell_name, population_name
from rr_core.experiments.run import SweepResult
from rr_core.experiments.shapes import CONCENTRATED, NEAR_UNIFORM, Shape, shape_of
from rr_core.experiments.standing import standing
from rr_core.experiments.wording import about, alike, counted, times

# A mean error of up to this many times the smallest one counts as close to it.
CLOSE = 1.5
_MOSTLY = 0.9
KOSARAK = 41_270  # categories of the paper's click-stream
# Where the paper speaks of MLE* as close to the best, and in which words.
_CLOSE = "MLE* is close to the best: “often” (6.2), “reliably”, in all settings (end of 6.2, supplement D)."
_CLOSE_REAL = "MLE* is close to the best: “consistently”, on both real data sets (6.3)."
_CHANGE = "the ranking of InvP and InvN can change with ε or N"
_COINCIDE = "The three are equal in every cell."


@dataclass(frozen=True)
class Finding:
    """One statement of the paper.

    Attributes:
        claim: what the paper says.
        found: what this run shows.
        verdict: of this run on the claim.
    """

    claim: str
    found: str
    verdict: Verdict


def findings(result: SweepResult, metric: str) -> tuple[Finding, ...]:
    """The paper's statements about a figure of ``metric``, population by population, then about MLE*.

    Whether MLE* is "close" goes by the means (at most CLOSE times the smallest); who is best, worst or lower where the
    seeds settle it, see `compared.sign`. A histogram from outside is judged by its shape; that the paper found it alike
    for a data set with as many categories is beside the point.

    Returns:
        Nothing for a metric that the paper does not speak of, before the first cell, and without the three valid
        estimators.
    """
    if not has(result, metric, *VALID):
        return ()
    if metric == "mse":
        parts = tuple(_by_population(result))
        best = (*map(_best, parts), *(_of_kosarak(part) for part in parts if _as_kosarak(part.cells[0].cell)))
        return (*best, _never_worst(result), _close(result))
    return (_lowest(result), _poorer(result)) if metric == "nll" else ()


def _by_population(result: SweepResult) -> Iterator[SweepResult]:
    groups: dict[tuple[str, float], list[CellResult]] = {}
    for cell in result.cells:
        groups.setdefault((cell.cell.dist, cell.cell.s), []).append(cell)
    for cells in groups.values():
        yield SweepResult(result.sweep, tuple(cells))


def _best(part: SweepResult) -> Finding:
    """What the paper expects of a population of this shape, and who wins there."""
    first = part.cells[0]
    shape = shape_of(first)
    who = f"{_capital(population_name(first.cell))}, {_called(first.cell, shape)}"
    if shape == "moderate":
        verdict, more = _alternating(part)
        said = "InvP and InvN alternate, as on ACSIncome" if first.cell.uploaded else _CHANGE
        return Finding(f"{who}: {said}.", _wins(part) + more + _likeness(first), verdict)
    name = "inv_p" if shape == "concentrated" else "inv_n"
    verdict, more = _surely_best(part, name)
    return Finding(f"{who}: {ESTIMATOR_NAMES[name]} is best.", _wins(part) + more + _likeness(first), verdict)


def _called(cell: Cell, shape: Shape) -> str:
    """How the paper calls populations of this shape."""
    if cell.dist == POINT:
        return "drawn in the place of s = 5"
    if cell.uploaded:
        return "moderately concentrated" if shape == "moderate" else shape
    return {"concentrated": "highly skewed", "moderate": "moderately skewed", "near uniform": shape}[shape]


def _surely_best(part: SweepResult, name: str) -> tuple[Verdict, str]:
    count = always_best(part, "mse", name)
    more = (
        f" {ESTIMATOR_NAMES[name]} is surely the best, or shares it, in {count.yes}, surely not in {count.no}."
        if count.asked
        else ""
    )
    return verdict_on(count), more


def _as_kosarak(cell: Cell) -> bool:
    return cell.uploaded and cell.k == KOSARAK


def _of_kosarak(part: SweepResult) -> Finding:
    """Of a histogram with as many categories as the paper's click-stream, which may be it or another."""
    verdict, more = _surely_best(part, "inv_p")
    claim = f"The paper says of Kosarak, which has as many categories ({KOSARAK:,}): InvP is best."
    return Finding(claim, more.strip() or _wins(part), verdict)


def _wins(part: SweepResult) -> str:
    """In how many cells each surely has the smallest mean."""
    stand = standing(part, "mse")
    if not stand.apart:
        return _COINCIDE
    each = ", ".join(f"{ESTIMATOR_NAMES[name]} in {wins}" for name, wins in stand.sure.items())
    rest = [f"two share it in {stand.shared}"] if stand.shared else []
    rest += [f"not settled in {stand.unsettled}"] if stand.unsettled else []
    equal = f" (in {stand.equal} more they are equal)" if stand.equal else ""
    return f"Surely the smallest mean, in {counted(stand.apart, 'cell')}{equal}: {', '.join([each, *rest])}."


def _alternating(part: SweepResult) -> tuple[Verdict, str]:
    """Whether each of the two is better somewhere. One figure that shows only one of them speaks against nothing: the
    paper says that their ranking can change, and that they alternate over its settings together."""
    count = below(part, "mse", "inv_p", "inv_n")
    if not count.asked:
        return "not tested", ""
    more = f" Of the two, InvP is surely better in {count.yes}, InvN in {count.no}."
    if count.yes and count.no:
        return "holds", more
    if not count.yes and not count.no:
        return "not settled", more
    return "not contradicted", f"{more} That they change places is not seen here."


def _likeness(cell: CellResult) -> str:
    """For a histogram from outside, how concentrated it is beside the paper's populations."""
    if not cell.cell.uploaded:
        return ""
    return (
        f" Its squared shares sum to {cell.concentration:.2g} (from {CONCENTRATED:g} on it is called concentrated here); "
        "those of Zipf with 10,000 categories to 0.0001 (s = 0.01), 0.094 (s = 1.3) and 0.58 (s = 2.5). It is as even "
        f"as {1 / cell.concentration:,.3g} equally common categories (near uniform: from {NEAR_UNIFORM:g} K on)."
    )


def _never_worst(result: SweepResult) -> Finding:
    claim = mle_never_worst(result)
    return Finding(claim.paper, claim.evidence, claim.verdict)


def _close(result: SweepResult) -> Finding:
    """How far MLE* is from the best, where the three differ."""
    stand = standing(result, "mse", CLOSE)
    paper = _CLOSE_REAL if any(cell.cell.uploaded for cell in result.cells) else _CLOSE
    if not stand.apart:
        return Finding(paper, _COINCIDE, "not tested")
    if not stand.settled:
        return Finding(paper, "The collections settle in no cell which of the three is best.", "not settled")
    middle = "hardly above" if alike(stand.typical) else times(stand.typical)
    near = (
        f"By the means it is {middle} the smallest in the middle cell, and at most {CLOSE:g} times in {stand.near} of "
        f"{stand.apart}."
    )
    largest = "Its mean error is nowhere surely above the smallest."
    if stand.where is not None:
        largest = (
            f"Its mean error is up to {about(stand.largest)} the smallest (for {cell_name(stand.where)})."
        )
        if alike(stand.largest):
            largest = "Its mean error is nowhere surely above the smallest by 0.5% or more."
    return Finding(paper, f"{largest} {near}", _share(stand.near, stand.apart))


def _share(yes: int, of: int) -> Verdict:
    if yes == of:
        return "holds"
    if not yes:
        return "does not hold"
    return "mostly holds" if yes / of >= _MOSTLY else "depends"


def _lowest(result: SweepResult) -> Finding:
    claim = mle_lowest_nll(result)
    return Finding(claim.paper, claim.evidence, claim.verdict)


def _poorer(result: SweepResult) -> Finding:
    """How much worse the other two fit the reports."""
    settings = result.sweep.settings
    m, best = settings.metrics.index("nll"), settings.estimators.index("mle_star")
    sentences, counts = [], []
    for name in ("inv_n", "inv_p"):
        e = settings.estimators.index(name)
        higher = [cell for cell in result.cells if sign(result, cell, "nll", "mle_star", name) == -1]
        sentence = f"{ESTIMATOR_NAMES[name]}'s is surely higher in {len(higher)} of {len(result.cells)}"
        if higher:
            most = max(higher, key=lambda cell: float(cell.difference[m, e, best]))
            by = float(most.difference[m, e, best])
            sentence += f", by up to about {by:.2g} nats per report (for {cell_name(most.cell)})"
        sentences.append(f"{sentence}.")
        counts.append(below(result, "nll", "mle_star", name))
    verdict = _often(counts, len(result.cells) / 2)
    return Finding("InvN and InvP often fit the reports less well.", " ".join(sentences), verdict)


def _often(counts: list[Count], half: float) -> Verdict:
    """Whether each answer is yes in half of the cells or more; it may be where the seeds do not settle it."""
    surely = [count.yes >= half for count in counts]
    maybe = [count.yes + count.unsure >= half for count in counts]
    if all(surely):
        return "holds"
    if all(maybe):
        return "not contradicted" if any(surely) else "not settled"
    return "depends" if any(maybe) else "does not hold"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
