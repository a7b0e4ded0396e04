"""The ten scenes of the lesson, in their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rr_core import streams
from rr_core._validate import Array
from rr_core.collinearity import collinearity
from rr_core.estimators import inv
from rr_core.ibu.convergence import first_reached, settling_times
from rr_core.ibu.engine import ibu_path
from rr_core.ibu.path import log_spaced
from rr_core.lesson.scene import (
    EPSILONS,
    PEOPLE,
    BarsQuestion,
    ChoiceQuestion,
    Frame,
    LessonStep,
    NumberQuestion,
    OrderQuestion,
    Picture,
    Posed,
    Prediction,
    lesson,
    scene,
    with_unit,
)
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, inv_variance, negative_log_likelihood, total_variation
from rr_core.populations import zipf
from rr_core.registry import ESTIMATORS
from rr_core.repeats import Repeats, repeat
from rr_core.rounding import odds, raised
from rr_core.sampling import whole_users
from rr_core.scenario import Scenario
from rr_core.streams import Stream

_REPAIRS = {"inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}
_NAMES = tuple(PEOPLE)
_SURVEYS = 100
_APART = 0.02  # distance of two estimates, or of a share from zero, that can be told in a picture


def _per_cent(share: float, digits: int = 1) -> str:
    """A share as text: -0.0213 -> "−2.1%"."""
    text = f"{100 * share:.{digits}f}"
    return (text[1:] if text.strip("-0.") == "" and text.startswith("-") else text).replace("-", "−") + "%"


def _wrong(shares: Sequence[float], truth: Sequence[float]) -> str:
    """Of a hundred people, those in a wrong bar."""
    return f"{100 * total_variation(shares, truth):.1f}"


def _points(difference: float) -> str:
    return _per_cent(difference).replace("%", " points")


def _compared(
    said: int,
    answer: int,
    unit: str = "",
    few: str = "too few",
    many: str = "too many",
    near: int = 0,
    what: str = "it",
) -> str:
    """The beginning of each sentence about a number, which is ``what``; up to ``near`` from the answer is close."""
    told = with_unit(said, unit)
    if said == answer:
        return f"You said {told}, and so it is."
    how = "close" if abs(said - answer) <= near else many if said > answer else few
    return f"You said {told}, {how}: {what} is {with_unit(answer, unit)}."


def _bars(names: Sequence[str], *series: tuple[str, str, Sequence[float]], **lines: object) -> Picture:
    """Rows of bars: of each series its colour, its name and its shares; ``crowd`` and ``truth`` are lines."""
    rows = [{"kind": kind, "name": name, "shares": list(map(float, shares))} for kind, name, shares in series]
    return {"kind": "bars", "names": list(names), "series": rows, **lines}


Ticks = list[tuple[float, str]]


def _curve(
    points: Sequence[tuple[float, float]],
    marks: Sequence[Picture],
    x: tuple[str, Ticks],
    y: tuple[str, Ticks],
    of: str | None = None,
) -> Picture:
    """A curve, with marks upon it or beside it; of each axis its title, and its ticks with their names; whose it is."""
    axes = {"x": x[0], "x_ticks": x[1], "y": y[0], "y_ticks": y[1], "of": of}
    return {"kind": "curve", "points": list(points), "marks": list(marks), **axes}


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def _at(epsilon: float) -> str:
    return f"{epsilon:.3g}"


@scene(
    title="A coin hides you",
    minutes=3,
    aim="An answer by the coin is no proof: it may be an accident. ε says how far the coin leans to the truth.",
    belief="Fifty of a hundred coins show heads, so fifty answers are true.",
    ask="Your neighbour's report is on the screen. What do you know about them?",
    remember="The coin protects: a report may be the truth or an accident, and it does not show which.",
    more="noisy_histogram?part=person",
)
def coin(seed: int) -> Posed:
    """How many of a hundred reports are true."""
    rng = streams.generator(seed, Stream.LESSON, 1)
    landed, by_accident = np.sort(rng.random(100)), rng.integers(5, size=100) == 0
    fair = math.log(6)  # the coin of 5 answers that says "the truth" every second time

    def people(epsilon: float) -> tuple[Picture, int, int]:
        mechanism = RandomizedResponse(5, epsilon)
        heads = landed < mechanism.keep
        chances = [mechanism.keep, mechanism.q, 1 - mechanism.p]
        # Like with like, to be counted.
        each = np.sort(np.where(heads, 0, np.where(by_accident, 1, 2))).tolist()
        return {"kind": "people", "chances": chances, "each": each}, int(heads.sum()), each.count(1)

    epsilons = sorted((*EPSILONS, fair))
    frames = []
    for epsilon in epsilons:
        picture, heads, accidents = people(epsilon)
        told, accident, _ = picture["chances"]
        # As the picture does: so many digits that the two chances add up as written.
        digits = next(
            d
            for d in (1, 2)
            if abs(sum(round(100 * one, d) for one in (told, accident, -told - accident))) < 1e-9
        )
        leans = "is fair" if epsilon == fair else f"says “the truth” with chance {_per_cent(told, digits)}"
        guessed = _per_cent(told + accident, digits)
        caption = (
            f"At ε = {_at(epsilon)} the coin {leans}; {heads + accidents} of the 100 reports are true. Taking your "
            f"report for your answer is right with chance {guessed}, guessing with 20%. The odds grow from 1:4 to at "
            f"most {odds(epsilon)}:4, eᵋ times (e ≈ 2.72)."
        )
        frames.append(Frame(_at(epsilon), picture, caption))
    picture, heads, accidents = people(fair)

    def after(said: Prediction) -> str:
        nearer = abs(said[0] - heads) < abs(said[0] - heads - accidents)
        how = "Counting heads alone gives" if nearer else "Heads made"
        rest = f"{accidents} of the other {100 - heads} drew the truth by accident"
        return (
            f"{_compared(said[0], heads + accidents, near=10)} On average it is 60. {how} "
            f"{heads}{', but' if nearer else ' people tell the truth;'} {rest}. "
            "A report does not show which it is: that is the protection."
        )

    return Posed(
        "Everybody tosses a coin in private. Heads: report the truth. Tails: report one of five answers, drawn at "
        "random. A hundred people do so.",
        NumberQuestion("How many of their reports are true?", 0, 100),
        {**picture, "each": [3] * 100},
        (heads + accidents,),
        after,
        "Bend the coin: privacy ε",
        frames,
        epsilons.index(fair),
        mark=lambda said: {"count": said[0]},
        recall="Heads: the truth. Tails: any of five answers.",
    )


@scene(
    title="The crowd still shows",
    minutes=4,
    aim="The noise flattens the histogram towards equal bars, and leaves its order visible if the crowd is large "
    "enough.",
    belief="So much noise drowns the truth.",
    ask="Which bar would you bet on, seeing the reports alone?",
    remember="Noise pulls every bar towards the same height; what many people say still shows through it.",
    more="noisy_histogram",
)
def crowd(seed: int) -> Posed:
    """What the reports of 2,000 people look like."""
    survey, first = lesson(seed=seed), EPSILONS.index(1)
    truth = _shares(survey.true_counts)
    tallest = int(np.argmax(truth))
    frames = []
    for step in survey.steps:
        reports = _shares(step.counts)
        picture = _bars(_NAMES, ("truth", "Truth", truth), ("observed", "Reports", reports))
        frames.append(
            Frame(
                _at(step.epsilon),
                picture,
                f"At ε = {_at(step.epsilon)}, {_per_cent(step.keep)} of the coins say “the truth”. Tallest bar of "
                "reports: " + " and ".join(f"“{name}”" for name in _tallest(step.counts)) + ".",
            )
        )
    counts = survey.steps[first].counts
    reports = _shares(counts)

    def after(said: Prediction) -> str:
        drawn = [value / 100 for value in said]
        ends = [[float(f"{100 * end(shares):.1f}") for end in (min, max)] for shares in (drawn, reports)]
        (lowest, highest), (low, high) = ends  # the differences are those of the numbers on screen
        seen = (
            "is still the tallest"
            if _tallest(counts) == [_NAMES[tallest]]
            else "is no longer the tallest alone"
        )
        return (
            f"Of 100 people your bars put {100 * total_variation(drawn, reports):.0f} in a wrong place. Your bars "
            f"reach from {lowest:.0f}% to {highest:.0f}%, {highest - lowest:.0f} points; those of the reports from "
            f"{low:.1f}% to {high:.1f}%, {high - low:.1f} points. Chance pulls each bar towards 20%; "
            f"“{_NAMES[tallest]}” {seen}."
        )

    return Posed(
        "Now 2,000 people. Grey: their true answers, hidden in a real survey. The coin is bent: only one in four is "
        "told to say the truth.",
        BarsQuestion("Draw the bars of their reports.", _NAMES),
        _bars(_NAMES, ("truth", "Truth", truth)),
        tuple(whole_users(np.array(reports), 100).tolist()),
        after,
        "Privacy ε",
        frames,
        first,
        mark=lambda said: {"shares": [value / 100 for value in said]},
        recall="2,000 people report as the bent coin says.",
    )


def _tallest(counts: Sequence[int]) -> list[str]:
    return [name for name, count in zip(_NAMES, counts, strict=True) if count == max(counts)]


@scene(
    title="Subtract the noise",
    minutes=5,
    aim="Take away what chance alone brings, then stretch what is left to 100%: this is the estimate Inv.",
    belief="The share of the reports is about the share of the people.",
    ask="Why is what is left too small, and by how much?",
    remember="Subtract what chance alone brings, stretch the rest to 100%: this is Inv, right on average.",
    more="inv_negatives",
)
def subtract(seed: int) -> Posed:
    """What share of the people the largest bar of the reports stands for."""
    rng = streams.generator(seed, Stream.LESSON, 3)
    true_counts = rng.permutation([1240, 400, 200, 100, 60])
    truth, dice = _shares(true_counts.tolist()), rng.random((2, 5))
    steps = [LessonStep.collect(true_counts, epsilon, dice) for epsilon in EPSILONS]
    first = EPSILONS.index(1)
    step = steps[first]
    most, q = int(np.argmax(step.counts)), step.p - step.keep
    reports = _shares(step.counts)
    raw, estimate = reports[most], step.inv[most]
    less = [share - q for share in reports]

    def after(said: Prediction) -> str:
        nearest = min((raw, raw - q, estimate), key=lambda share: abs(said[0] / 100 - share))
        why = {
            raw: "The reports' own share still has chance's part in it. ",
            raw - q: "Subtracted, and not yet stretched. ",
        }.get(nearest, "")
        left = (float(f"{100 * raw:.1f}") - float(f"{100 * q:.1f}")) / 100  # of the numbers on screen
        start = (
            f"{_compared(said[0], round(100 * estimate), '%', 'too little', 'too much', 2, 'the estimate')} "
        )
        return (
            f"{start}{why}{_per_cent(raw)} − {_per_cent(q)} = {_per_cent(left)} is left, and stands for the "
            f"{_per_cent(step.keep)} who were told to say the truth: stretch it {1 / step.keep:.2f} times. This "
            f"estimate is called Inv; the truth, unknown in a survey, is {_per_cent(truth[most])}."
        )

    frames = [
        Frame(
            _at(one.epsilon),
            _bars(_NAMES, ("inv", "Inv", one.inv), truth=truth),
            f"At ε = {_at(one.epsilon)}: by chance {_per_cent(one.p - one.keep)}, stretched {1 / one.keep:.3g} times. "
            f"Of 100 people, Inv puts {_wrong(one.inv, truth)} in a wrong bar.",
        )
        for one in steps
    ]
    return Posed(
        f"Another school, ε = 1; only the reports are known. {_per_cent(1 - step.keep)} of the coins said “any of the "
        f"five”: a fifth of that, {_per_cent(q)} of all reports, is what chance alone brings each answer. "
        f"“{_NAMES[most]}” has {_per_cent(raw)}.",
        NumberQuestion(f"Which share of the people do you estimate for “{_NAMES[most]}”?", 0, 100, "%"),
        _bars(_NAMES, ("observed", "Reports", reports), crowd=q),
        (min(100, max(0, round(100 * estimate))),),
        after,
        "Privacy ε",
        frames,
        first,
        (_bars(_NAMES, ("observed", "Reports", less), crowd=0.0), frames[first].picture),
        mark=lambda said: {"row": most, "share": said[0] / 100},
        recall="“Any of the five” brings each answer a fifth by chance.",
    )


# Numbers of people, and the ends of each picture: so that its dots can be told apart, and hardly ever one is beyond.
_SIZES = {
    200: (-0.45, 0.45),
    2000: (-0.15, 0.15),
    20_000: (-0.06, 0.06),
    200_000: (-0.015, 0.035),
    2_000_000: (-0.015, 0.035),
}


@scene(
    title="Shares below zero",
    minutes=5,
    aim="Inv falls below zero by chance. More people make that small, and for an answer that nobody has they do "
    "not cure it.",
    belief="A negative share is a mistake in the program, and more people cure it.",
    ask="Its true share is zero, and the estimates scatter about the truth: where do they fall?",
    remember="A share below zero is chance, no mistake; more people cure it where somebody has the answer, else they "
    "only make it small.",
    more="inv_negatives?part=users",
)
def below(seed: int) -> Posed:
    """In how many of a hundred large surveys the share of an answer that nobody has falls below zero."""
    mechanism, shares = RandomizedResponse(5, 1.0), np.array([0.5, 0.3, 0.18, 0.02, 0.0])
    found: dict[int, Array] = {}
    for number, n in enumerate(_SIZES):
        rng = streams.generator(seed, Stream.LESSON, 4, number)
        true_counts = np.tile(np.round(n * shares).astype(np.int64), (_SURVEYS, 1))
        found[n] = inv(mechanism.randomize_histogram(true_counts, rng), mechanism)[:, 3:]

    def picture(n: int, ends: tuple[float, float] | None = None, of: int = 2) -> Picture:
        rare, empty = found[n].T.tolist()
        rows = [{"name": "nobody has it", "values": empty}, {"name": "2% have it", "values": rare}]
        low, high = ends or _SIZES[n]
        return {"kind": "dots", "rows": rows[:of], "low": low, "high": high}

    def negatives(n: int) -> tuple[int, int]:
        rare, empty = (found[n] < 0).sum(axis=0).tolist()
        return empty, rare

    frames = [
        Frame(
            f"{n:,}",
            picture(n),
            f"{n:,} people a survey: below zero in {negatives(n)[0]} of 100 where nobody has the answer, in "
            f"{negatives(n)[1]} where 2% have it.",
        )
        for n in _SIZES
    ]
    many, few = 200_000, 2000
    answer = negatives(many)[0]

    def after(said: Prediction) -> str:
        return (
            f"{_compared(said[0], answer, near=5)} Where nobody has an answer, the sign stays chance; only the size "
            f"shrinks: the lowest was {_per_cent(found[few].min(axis=0)[1])} with {few:,} people, "
            f"{_per_cent(found[many].min(axis=0)[1], 2)} with {many:,} (the picture zooms in). Where somebody has it, "
            f"more people are a cure: where 2% have it, {negatives(few)[1]} of 100 were below zero, now "
            f"{negatives(many)[1]}."
        )

    return Posed(
        f"An answer that nobody has, asked in 100 surveys of {few:,} people (ε = 1). Each dot is what Inv says of one "
        f"survey. In {negatives(few)[0]} it is below zero. Now a hundred times as many people: {many:,} in each.",
        NumberQuestion("In how many of the 100 surveys is it below zero then?", 0, 100),
        picture(few, of=1),
        (answer,),
        after,
        "People in each survey",
        frames,
        list(_SIZES).index(many),
        (picture(many, _SIZES[few], of=1), picture(many, of=1)),
        mark=lambda said: {"name": f"you: {said[0]} of 100"},
        recall="Each dot is what Inv says of one survey, ε = 1.",
    )


def _dice(seed: int, wanted: Callable[[LessonStep], bool]) -> int:
    """The first of `_seeds` whose survey at ε = 0.5 is as wanted."""
    return next(s for s in _seeds(seed) if wanted(lesson((0.5,), s).steps[0]))


def _seeds(seed: int) -> Iterator[int]:
    """This one, and others that no other draw of the lesson (of 10,000) comes to: a new draw is another survey."""
    while True:
        yield seed
        seed = (seed + 10_007) % 2**32


@scene(
    title="Three repairs",
    minutes=5,
    aim="InvN cuts and scales; InvP lowers all bars by the same amount; MLE* takes the most likely shares.",
    belief="Setting what is below zero to zero is repair enough.",
    ask="Who pays for the bar that was lifted to zero?",
    remember="InvN cuts and scales, InvP lowers all by the same, MLE* strikes out answers and does Inv again with "
    "the others' reports alone.",
    more="estimators",
)
def repairs(seed: int) -> Posed:
    """Under which repair the tallest bar is lowest."""
    survey = lesson(seed=_dice(seed, lambda step: min(step.inv) < -_APART))
    first = EPSILONS.index(0.5)
    step, truth = survey.steps[first], _shares(survey.true_counts)
    tallest = int(np.argmax(step.inv))

    def three(one: LessonStep) -> Picture:
        series = [(key, name, getattr(one, key)) for key, name in _REPAIRS.items()]
        return _bars(_NAMES, *series, truth=truth)

    values = [getattr(step, key)[tallest] for key in _REPAIRS]
    order = sorted(range(3), key=values.__getitem__)
    lowered = max(a - b for a, b in zip(step.inv, step.inv_p, strict=True) if b > 0)
    struck = [i for i, share in enumerate(step.mle_star) if share == 0]
    gone = ", ".join(f"“{_NAMES[i]}” ({step.counts[i]})" for i in struck)
    # Inv of the others' reports, of which the tallest has the most, as if only their answers had been asked for: one
    # part of them for each answer by chance, and e^ε - 1 that tell the truth.
    rest = sum(step.counts) - sum(step.counts[i] for i in struck)
    e_epsilon = math.exp(step.epsilon)
    parts = e_epsilon + 4 - len(struck)
    most = max(step.counts[i] for i in struck)
    # It is more, and looks so.
    digits = next(digits for digits in range(16) if round(rest / parts, digits) > most)
    chance = f"{rest / parts:.{digits}f}"

    def after(said: Prediction) -> str:
        right = all(values[a] <= values[b] + 1e-12 for a, b in pairwise(said))
        names = list(_REPAIRS.values())
        told = ", then ".join(names[i] for i in order)
        return (
            f"{'Right' if right else 'Not so'}: {told}. InvN's scaling costs the tallest most, "
            f"{_points(step.inv[tallest] - step.inv_n[tallest])}; InvP takes {_points(lowered)} from each it keeps. "
            f"MLE* strikes out {gone}: fewer than the {chance} that chance brings each of {5 - len(struck)} answers "
            f"in a survey of the other {rest:,}. Its Inv: {step.counts[tallest]} − {chance}, stretched "
            f"{parts / (e_epsilon - 1):.2f} times, ÷ {rest:,}."
        )

    frames = [
        Frame(
            _at(one.epsilon),
            three(one),
            f"At ε = {_at(one.epsilon)}"
            + (
                ", of 100 people in a wrong bar: "
                + ", ".join(f"{name} {_wrong(getattr(one, key), truth)}" for key, name in _REPAIRS.items())
                if min(one.inv) < 0
                else " no bar is below zero: all three repairs leave Inv as it is"
            )
            + ".",
        )
        for one in survey.steps
    ]
    return Posed(
        "Shares below zero must go, and all must make 100%. InvN (normalise) cuts them off and scales the rest down. "
        "InvP (project) lowers all bars that stay by the same amount. MLE* (maximum likelihood) strikes out answers and "
        "does Inv again with the others' reports alone.",
        OrderQuestion(
            f"Which of them leaves “{_NAMES[tallest]}” lowest, which tallest?",
            tuple(_REPAIRS.values()),
            ("cut and scale", "lower all alike", "strike out, Inv again"),
            ("lowest", "tallest"),
        ),
        _bars(_NAMES, ("inv", "Inv", step.inv)),
        tuple(order),
        after,
        "Privacy ε",
        frames,
        first,
        recall="InvN cuts, scales; InvP lowers; MLE* strikes out.",
    )


_CLOSEST = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)


@scene(
    title="Which comes closest, and when?",
    minutes=5,
    aim="Which repair is closest depends on the population: InvP where a few answers stand out, InvN where none does.",
    belief="What fits the reports best is closest to the truth.",
    ask="What would you have to know beforehand to choose?",
    remember="Report InvP where a few answers stand out; InvN where none does: all are about equal, or noise drowns all.",
    more="estimators?part=repeat",
)
def closest(seed: int) -> Posed:
    """In which population InvN wins more often."""
    populations = ("All about equally common", "A few are very common")
    exponents = (0.0, 3.0)

    def surveys(epsilon: float) -> list[Repeats]:
        results: list[Repeats] = []
        for s in exponents:
            scenario = Scenario(k=12, s=s, epsilon=epsilon, n=2000, seed=seed)
            *_, last = repeat(scenario.draw(), _SURVEYS)
            results.append(last)
        return results

    def picture(won: list[dict[str, float]]) -> Picture:
        series = [(key, name, [one[key] / _SURVEYS for one in won]) for key, name in _REPAIRS.items()]
        return {**_bars(populations, *series), "unit": "of 100 surveys"}

    made = {epsilon: surveys(epsilon) for epsilon in _CLOSEST}
    counted = {epsilon: [result.best["tv"] for result in results] for epsilon, results in made.items()}
    first = _CLOSEST.index(0.5)
    won = counted[0.5]
    errors = made[0.5][1].errors["tv"].mean(axis=0)
    off = [f"{100 * errors[list(ESTIMATORS).index(name)]:.0f}" for name in _REPAIRS]
    more = 0 if won[0]["inv_n"] >= won[1]["inv_n"] else 1

    def told(one: dict[str, float]) -> str:
        return ", ".join(f"{name} {one[key]:g}" for key, name in _REPAIRS.items())

    def after(said: Prediction) -> str:
        right = said[0] == more or won[0]["inv_n"] == won[1]["inv_n"]
        return (
            f"{'Right' if right else 'Not so'}. All about equal: InvN wins {won[0]['inv_n']:g} of 100; noise made the "
            "largest bars, and scaling takes most from these. A few common: it wins "
            f"{won[1]['inv_n']:g}; small bars are lost in noise, and InvP, lowering all alike, clears them. Of 100 "
            f"people in a wrong bar, on average: InvP {off[1]}, MLE* {off[2]}, InvN {off[0]}: best fit is not nearest. "
            "Where noise drowns all, InvN is."
        )

    frames = [
        Frame(
            _at(epsilon),
            picture(one),
            f"At ε = {_at(epsilon)}: all about equal, {told(one[0])}; a few common, {told(one[1])}.",
        )
        for epsilon, one in counted.items()
    ]
    shapes = tuple(tuple(zipf(12, s).tolist()) for s in exponents)
    return Posed(
        "Twelve answers, 2,000 people, ε = 0.5, and 100 surveys. In each the repair wins that puts the "
        "fewest people in a wrong bar; where all three are alike, none wins.",
        ChoiceQuestion("In which population does InvN (cut and scale) win more often?", populations, shapes),
        {"kind": "nothing"},
        (more,),
        after,
        "Privacy ε",
        frames,
        first,
        recall="Fewest people in a wrong bar wins a survey.",
    )


# So far beyond MLE* the hill goes down at least: on the way from the truth, at 0, to MLE*, at 1.
_BEYOND = 1.5


@scene(
    title="Most likely",
    minutes=5,
    aim="MLE* is the summit of a hill: no shares make these reports more likely. More people make the hill steeper.",
    belief="Ten times the people make a bad guess ten times less likely.",
    ask="What would the hill look like with one single report?",
    remember="MLE* is the summit: the shares under which these reports are likelier than under any others.",
    more="estimators?part=hill",
)
def likeliest(seed: int) -> Posed:
    """How much less likely the truth makes the reports than the best shares do, with ten times the people."""

    def log_ratio(step: LessonStep) -> float:
        mechanism = RandomizedResponse(5, step.epsilon)
        losses = [
            negative_log_likelihood(step.counts, shares, mechanism) for shares in (truth, step.mle_star)
        ]
        return float(losses[0] - losses[1])

    def shows(step: LessonStep) -> bool:
        """Whether the summit has a slope on both sides, and is neither flat nor steep."""
        beyond = np.subtract(np.multiply(_BEYOND, step.mle_star), np.multiply(_BEYOND - 1, truth))
        return bool(beyond.min() >= 0) and math.log(3) < log_ratio(step) < math.log(30)

    truth = _shares(tuple(PEOPLE.values()))
    survey = lesson((0.5,), _dice(seed, shows))
    (step,) = survey.steps
    mechanism, per_survey = RandomizedResponse(5, 0.5), log_ratio(step)
    way = np.linspace(-0.5, 2.5, 61)
    line = [np.add(truth, part * np.subtract(step.mle_star, truth)) for part in way]
    inside = [bool(shares.min() >= 0) for shares in line]
    best = negative_log_likelihood(step.counts, step.mle_star, mechanism)
    below = [
        negative_log_likelihood(step.counts, shares, mechanism) - best if ok else math.inf
        for shares, ok in zip(line, inside, strict=True)
    ]
    times = (0.1, 1, 10, 100)

    def picture(n: float) -> Picture:
        points = [
            (float(x), math.exp(-n * loss)) for x, loss in zip(way, below, strict=True) if loss < math.inf
        ]
        marks = [
            {"kind": "truth", "name": "the truth", "x": 0.0, "y": math.exp(-n * per_survey)},
            {"kind": "mle_star", "name": "MLE*", "x": 1.0, "y": 1.0},
        ]
        return _curve(
            points,
            marks,
            ("shares, on the way to MLE* and beyond", [(0.0, "the truth")]),
            ("how likely these reports are", [(0.0, "not at all"), (1.0, "best")]),
        )

    def ratio(n: float) -> str:
        return _times(n * per_survey)

    logs = (per_survey, per_survey + math.log(10), 10 * per_survey)
    options = tuple(f"{_times(one)} times{', as before' * (i == 0)}" for i, one in enumerate(logs))

    def after(said: Prediction) -> str:
        verdict = "Right" if said[0] == 2 else "Many more"
        return (
            f"{verdict}: {ratio(10)} times, {ratio(1)} multiplied by itself ten times, as chances of reports multiply. "
            "(Real people would come nearer the truth.) MLE*, the maximum likelihood estimate, is the summit. Inv fits "
            "the reports exactly: nothing is higher. Where a share of Inv is below zero, MLE* sets answers to zero and "
            "fits the others exactly; else MLE* is Inv."
        )

    frames = [
        Frame(
            f"{2000 * n:,.0f}",
            picture(n),
            f"{2000 * n:,.0f} people: under the truth these reports are {ratio(n)} times less likely than under MLE*.",
        )
        for n in times
    ]
    return Posed(
        f"The shares decide how likely these 2,000 reports are. Chance made them differ a little from the truth: under "
        f"the best shares they are {ratio(1)} times as likely as under the true ones. Imagine ten times as many people "
        "who report in the same proportions.",
        ChoiceQuestion("How many times less likely does the truth make the reports then?", options),
        picture(1),
        (2,),
        after,
        "People",
        frames,
        times.index(10),
        climb=True,
        mark=lambda said: {
            "name": f"you: {_times(logs[said[0]])} times",
            "x": 0.0,
            "y": math.exp(-logs[said[0]]),
        },
        recall="2,000 reports; then more, in the same proportions.",
    )


def _times(log_of_ratio: float) -> str:
    """A ratio in words, as the hill says it: 7.21, 340, 12,000, 1.2·10¹⁵."""
    if log_of_ratio < math.log(9.99):
        return f"{math.exp(log_of_ratio):.2f}"
    power = math.floor(log_of_ratio / math.log(10))
    two = round(10 ** (log_of_ratio / math.log(10) - power + 1))
    if power < 6:
        return f"{two * 10 ** (power - 1):,}"
    two, power = (10, power + 1) if two == 100 else (two, power)
    return f"{two / 10:.1f}·10{raised(power)}"


@scene(
    title="On one line",
    minutes=4,
    aim="Where the three repairs keep the same answers they lie on one line, and MLE* is between InvP and InvN.",
    belief="Three methods give three unrelated answers.",
    ask="If MLE* is between the others, can it be the farthest from the truth?",
    remember="Where the repairs keep the same answers they lie on one line, with MLE* between: it is not the "
    "farthest off.",
    more="geometry?part=line",
)
def line(seed: int) -> Posed:
    """Where on the line from InvP to InvN MLE* lies."""
    true_counts = np.array([456, 132, 12])
    truth = _shares(true_counts.tolist())

    def dice(number: int) -> Array:
        return streams.generator(number, Stream.LESSON, 8).random((2, 3))

    first = EPSILONS.index(0.5)

    def lies(step: LessonStep) -> tuple[bool, float]:
        """Whether the three are apart and on a line, and where MLE* is on it."""
        found = collinearity(step.counts, RandomizedResponse(3, step.epsilon))
        return bool(found.same_support and found.length > _APART), float(found.position)

    def shows(step: LessonStep) -> bool:
        """Whether the three can be told apart in the triangle too."""
        return lies(step)[0] and step.inv[2] < 0 and math.dist(step.inv_p, step.inv_n) > 3 * _APART

    number = next(one for one in _seeds(seed) if shows(LessonStep.collect(true_counts, 0.5, dice(one))))
    steps = [LessonStep.collect(true_counts, epsilon, dice(number)) for epsilon in EPSILONS]
    step, position = steps[first], lies(steps[first])[1]
    answer = round(100 * position)

    def picture(one: LessonStep, *kinds: str) -> Picture:
        names = {"truth": "truth", "inv": "Inv", **_REPAIRS}
        points = [
            {
                "kind": kind,
                "name": names[kind],
                "shares": truth if kind == "truth" else list(getattr(one, kind)),
            }
            for kind in kinds
        ]
        on_line, place = lies(one)
        known = on_line and "mle_star" in kinds
        apart = math.dist(one.inv_p, one.inv_n) > _APART
        return {
            "kind": "triangle",
            "points": points,
            "position": 100 * place if known else None,
            "apart": apart,
        }

    # What each repair makes of Inv's shares of A and B: InvN a multiple, InvP less by an amount, MLE* some of both.
    scale, lower = step.inv_n[0] / step.inv[0], step.inv[0] - step.inv_p[0]
    less = (step.mle_star[0] - step.mle_star[1]) / (step.inv[0] - step.inv[1])
    then = less * step.inv[0] - step.mle_star[0]

    def after(said: Prediction) -> str:
        on_the_line = ("inv_p", "mle_star", "inv_n")
        outside = "" if 0 <= said[0] <= 100 else "It lies between them. "
        return (
            f"{_compared(said[0], answer, '', 'too little', 'too much', 5)} {outside}InvN multiplies A and B of Inv "
            f"by {scale:.2f}; InvP lowers both by {_points(lower)}; MLE*, Inv again without C, does some of both: × "
            f"{less:.2f}, {_points(then)} lower. While all keep the same answers, it is never farther from the truth "
            "than the farther of the two. Of 100 people in a wrong bar: "
            f"{', '.join(f'{_REPAIRS[key]} {_wrong(getattr(step, key), truth)}' for key in on_the_line)}."
        )

    frames = []
    for one in steps:
        on_line, place = lies(one)
        text = (
            f"MLE* is at {100 * place:.0f} on the way from InvP, 0, to InvN, 100"
            if on_line
            else "the three keep different answers"
            if min(one.inv) < 0
            and len({sum(value > 0 for value in getattr(one, key)) for key in _REPAIRS}) > 1
            else "Inv is inside, and all three repairs leave it as it is"
            if min(one.inv) >= 0
            else "the three repairs are the same, or hardly apart"
        )
        everything = picture(one, "truth", "inv", *_REPAIRS)
        frames.append(Frame(_at(one.epsilon), everything, f"At ε = {_at(one.epsilon)}: {text}."))
    return Posed(
        "All shares of three answers are points of a triangle; on its lower edge C is zero. Inv fell out: its C is "
        "negative. InvP goes straight back to the edge, InvN towards corner C, as far as the edge. On the line through "
        "both, InvP is at 0 and InvN at 100.",
        NumberQuestion("Where on this line is MLE*?", -50, 150),
        picture(step, "inv", "inv_n", "inv_p"),
        (answer,),
        after,
        "Privacy ε",
        frames,
        first,
        mark=lambda said: {"place": said[0]},
        recall="InvP is at 0, InvN at 100.",
    )


_PATIENT = (0.2, 0.5, 1.0, 2.0, 5.0)
_MOST_STEPS, _NEAR, _CERTAIN = 10_000, 0.005, 1e-6
_WALK = (1, 3, 10, 32, 100, 316, 1000, 3162)  # steps at which the bars are drawn on their way


@scene(
    title="IBU: patience",
    minutes=5,
    aim="IBU corrects a guess in many small steps, tends to MLE*, and its certificate says when it may stop.",
    belief="A handful of steps is enough.",
    ask="How would you know that you are near, without knowing the summit?",
    remember="IBU tends to MLE* step by step; a small ε makes the steps short, and its certificate says when to stop.",
    more="ibu",
)
def patience(seed: int) -> Posed:
    """How many steps IBU takes until every bar is within half a point of MLE*."""
    survey = lesson(_PATIENT, seed)
    marks = log_spaced(_MOST_STEPS, 8)
    found, paths = {}, {}
    for step in survey.steps:
        mechanism = RandomizedResponse(5, step.epsilon)
        path = ibu_path(step.counts, mechanism, marks)
        near = settling_times(path, _NEAR).iterations.max()
        # It goes through every step, so the shortest run in which the certificate falls is the one to ask.
        runs = (ibu_path(step.counts, mechanism, [last]) for last in (300, 2000, _MOST_STEPS))
        stop = next(filter(None, (first_reached(run, _CERTAIN).certificate for run in runs)), None)
        far = [
            float(np.abs(np.subtract(path.estimate(i), step.mle_star)).max())
            for i in range(len(path.iterations))
        ]
        points = [
            (math.log10(t), distance)
            for t, distance in zip(path.iterations.tolist(), far, strict=True)
            if t > 0
        ]
        found[step.epsilon] = (
            _MOST_STEPS if math.isnan(near) else max(1, int(near)),
            _MOST_STEPS if stop is None else max(1, stop),
            points,
        )
        paths[step.epsilon] = path
    first = _PATIENT.index(0.5)
    answer, stop, _ = found[0.5]
    way = paths[0.5]

    def bars(i: int) -> Picture:
        series = ("ibu", f"IBU, step {way.iterations[i]:,}", way.estimate(i).tolist())
        return _bars(_NAMES, series, ("mle_star", "MLE*", survey.steps[first].mle_star))

    walk = [bars(i) for i, t in enumerate(way.iterations.tolist()) if t <= answer and t in _WALK]

    def least(number: int) -> str:
        return f"over {number:,}" if number >= _MOST_STEPS else f"{number:,}"

    def picture(epsilon: float) -> Picture:
        near, may_stop, points = found[epsilon]
        marks = [
            {"kind": "ibu", "name": f"near: {least(near)}", "x": math.log10(near), "y": None},
            {
                "kind": "mle_star",
                "name": f"may stop: {least(may_stop)}",
                "x": math.log10(may_stop),
                "y": None,
            },
        ]
        return _curve(
            points,
            marks,
            ("steps", [(math.log10(t), f"{t:,}") for t in (1, 10, 100, 1000, 10_000)]),
            (
                "distance to MLE*, farthest bar",
                [(0.0, "0"), *((0.1 * i, f"{10 * i} points") for i in (1, 2, 3, 4))],
            ),
            "ibu",
        )

    def after(said: Prediction) -> str:
        ratio = max(said[0], answer) / min(said[0], answer)
        much = f"{ratio:.1f}".removesuffix(".0") + f" times too {'many' if said[0] > answer else 'few'}"
        close = "close" if ratio < 1.1 else much
        how = f"You said {said[0]:,}, {close}: it takes {least(answer)}."
        right = f"You said {answer:,}, and so it is."
        # A guarantee is rounded up.
        most = f"{1 + math.ceil(1e5 * math.expm1(survey.n * math.log1p(_CERTAIN))) / 1e5:.5f}"
        return (
            f"{right if said[0] == answer else how} IBU multiplies each bar by a factor: how many times as likely a "
            "report would be if everybody had that answer, on average. At ε = 0.5 a report says little: all are near 1. "
            f"The largest is 1.000001 after {least(stop)} steps, and no other bars gain more: all {survey.n:,} reports "
            f"become at most 1.000001{raised(survey.n)} times as likely, under {most}. IBU may stop, without MLE*."
        )

    frames = [
        Frame(
            _at(epsilon),
            picture(epsilon),
            f"At ε = {_at(epsilon)}: near after {least(near)} steps, may stop after {least(may_stop)}.",
        )
        for epsilon, (near, may_stop, _) in found.items()
    ]
    return Posed(
        "IBU (iterative Bayesian update) starts from equal bars. Each step multiplies every bar by a factor: above 1 if "
        "the reports speak for more, below 1 if for less. So it comes nearer and nearer to the summit, MLE*. Our 2,000 "
        "reports, ε = 0.5.",
        NumberQuestion(
            "After how many steps is every bar within half a percentage point of MLE*?",
            1,
            _MOST_STEPS,
            " steps",
            True,
        ),
        bars(0),
        (answer,),
        after,
        "Privacy ε",
        frames,
        first,
        walk,
        mark=lambda said: {"x": math.log10(said[0]), "y": None},
        recall="Each step multiplies each bar by a factor.",
    )


@scene(
    title="What ε costs",
    minutes=5,
    aim="Halving ε costs at least four times the people for the same error by the coins; a second answer spends ε again.",
    belief="Half the budget, twice the people.",
    ask="Asked every day for a year at ε = 1: what has one person spent?",
    remember="ε is a budget: asked twice, spent twice; halving ε costs at least four times the people for the "
    "same error by the coins.",
    more="plan",
)
def price(seed: int) -> Posed:
    """How many times as many people half of the budget needs."""
    survey = lesson((1.0,), seed)
    theta = np.array(survey.steps[0].mle_star)
    tallest = int(np.argmax(theta))
    margin = 0.05

    def needed(epsilon: float, users: Users = "fixed") -> int:
        variance = float(inv_variance(theta, 1, RandomizedResponse(5, epsilon), users=users)[tallest])
        return math.ceil((1.959964 / margin) ** 2 * variance)

    people = {epsilon: needed(epsilon) for epsilon in EPSILONS}
    ratio = people[0.5] / people[1.0]
    points = [(math.log(e), math.log10(needed(e))) for e in np.geomspace(EPSILONS[0], EPSILONS[-1], 41)]

    def picture(epsilon: float, curve: Sequence[tuple[float, float]] = points) -> Picture:
        marks = [
            {
                "kind": "observed",
                "name": f"{people[epsilon]:,} people",
                "x": math.log(epsilon),
                "y": math.log10(people[epsilon]),
            }
        ]
        return _curve(
            curve,
            marks,
            ("privacy ε", [(math.log(e), _at(e)) for e in (0.1, 0.2, 0.5, 1, 2, 5)]),
            ("people needed for the coins' error", [(float(i), f"{10**i:,}") for i in range(1, 7)]),
        )

    def spending(often: str, epsilon: float, times: int) -> dict[str, Any]:
        """Budgets add up, and odds multiply: a block for each answer of one person."""
        told = f"ε = {times * epsilon:.3g}: odds up to {odds(times * epsilon)}-fold"
        return {"name": f"Asked {often}:", "each": _at(epsilon), "times": times, "odds": told}

    def after(said: Prediction) -> str:
        doubled = "Half the ε is not twice the people. " if said[0] < 4 else ""
        near = said[0] == round(ratio)
        verdict = "and so it is, rounded" if near else "too many" if said[0] > ratio else "too few"
        return (
            f"You said {with_unit(said[0], ' times')}, {verdict}: it is {ratio:.2f} times with five answers, more with "
            f"more of them, and for the coins' error never below 4, whatever ε. {doubled}It takes {people[0.5]:,} "
            f"people instead of {people[1.0]:,}. Ten times the people make an error only {math.sqrt(10):.1f} times "
            "smaller. Asking one person twice at ε = 0.5 spends ε\u00a0=\u00a01."
        )

    frames = [
        Frame(
            _at(epsilon),
            {**picture(epsilon), "spent": [spending("once", epsilon, 1), spending("twice", epsilon, 2)]},
            f"ε = {_at(epsilon)}: {people[epsilon]:,} people for ± 5 points by the coins alone; "
            f"{needed(epsilon, 'sampled'):,} if drawn to speak for many others.",
        )
        for epsilon in EPSILONS
    ]
    return Posed(
        f"In our first survey, at ε = 1, MLE* makes “{_NAMES[tallest]}” {_per_cent(theta[tallest], 0)}. So that the "
        f"coins put it off by at most 5 percentage points, in 95 of 100 surveys, it takes {people[1.0]:,} people. You "
        "want to halve ε.",
        NumberQuestion("How many times as many people does that take?", 1, 20, " times"),
        picture(1.0, curve=()),
        (round(ratio),),
        after,
        "Privacy ε",
        frames,
        EPSILONS.index(0.5),
        mark=lambda said: {"x": math.log(0.5), "y": math.log10(said[0] * people[1.0])},
        recall="You halve ε and keep ± 5 points.",
    )
