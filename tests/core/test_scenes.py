"""The scenes of the lesson: their size in words, and every sentence held against its numbers, computed another way, over
random draws and predictions. A scene without a check here fails."""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
import re

import numpy as np
import pytest
from scipy import stats

from rr_core.lesson import EPSILONS, PEOPLE, SCENES, SEED, Scene, lesson
from rr_core.lesson.scene import NumberQuestion
from rr_core.registry import ESTIMATORS, VALID
from rr_core.repeats import repeat
from rr_core.scenario import Scenario
from tests.core import exact
from tests.sentences import holds, recomputes
from tests.sentences.spoken import numbers, percents, tells

BY_KEY = {scene.key: scene for scene in SCENES}
NAMES = tuple(PEOPLE)
TRUTH = np.array(list(PEOPLE.values())) / sum(PEOPLE.values())


def place(key):
    return f"rr_core/lesson/scenes.py::{key}"


def p_and_q(epsilon, k=5):
    return math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)


def exactly(name, counts, epsilon):
    """Shares in exact arithmetic, as floats."""
    channel = exact.channel_from_epsilon(len(counts), epsilon)
    return np.array(exact.ESTIMATORS[name](counts, channel), dtype=float)


inv, inv_n, inv_p, best_shares = (
    functools.partial(exactly, name) for name in ("inv", "inv_n", "inv_p", "mle_star")
)


def log_likelihood(counts, shares, epsilon):
    p, q = p_and_q(epsilon, len(counts))
    return float(np.array(counts) @ np.log(q + (p - q) * np.array(shares)))


def off(one, other):
    return float(np.abs(np.subtract(one, other)).sum() / 2)


def predictions(question, rng):
    """Both ends, and random ones."""
    if question.kind == "number":
        inner = (rng.randint(question.low, question.high) for _ in range(3))
        return [(number,) for number in (question.low, question.high, *inner)]
    if question.kind == "choice":
        return [(i,) for i in range(len(question.options))]
    if question.kind == "order":
        return list(itertools.permutations(range(len(question.items))))
    cuts = [sorted(rng.randint(0, 100) for _ in question.names[1:]) for _ in range(3)]
    drawn = [tuple(b - a for a, b in itertools.pairwise([0, *cut, 100])) for cut in cuts]
    return [(100, 0, 0, 0, 0), (20, 20, 20, 20, 20), *drawn]


def posed_often(key, many):
    """Draws of a scene, each with predictions that miss and one that hits, as many pairs as there are examples."""
    rng, scene = random.Random(key), BY_KEY[key]
    seeds = itertools.chain([SEED, SEED + 9999], iter(lambda: rng.randint(0, 2**32 - 1), None))
    told = 0
    for seed in seeds:
        posed = scene.pose(seed)
        for said in [*predictions(posed.question, rng), posed.answer]:
            yield seed, posed, said
            told += 1
        if told >= many:
            return


def compared(said, answer):
    return [answer] if said == answer else [said, answer]


def told_of_a_number(posed, said, near=0):
    after, far = posed.after(said), abs(said[0] - posed.answer[0])
    assert after.startswith("You said")
    assert ("and so it is" in after) == (far == 0)
    assert (", close: " in after) == (0 < far <= near)
    if far > near:
        assert any(many in after for many in ("too many", "too much")) == (said > posed.answer)
        assert any(few in after for few in ("too few", "too little")) == (said < posed.answer)
    return after


def fold(epsilon):
    """e^epsilon, no less and at most one in the third digit more."""
    return lambda told: 0 <= told - math.exp(epsilon) + 1e-9 <= 0.01 * math.exp(epsilon)


@recomputes(place("coin"), place("_compared"), "rr_core/lesson/scene.py::Scene")
def test_coin(many):
    refusal = "The link's prediction “none” does not answer the scene “A coin hides you”."
    assert BY_KEY["coin"].parse("none") == (None, refusal)
    for _, posed, said in posed_often("coin", many):
        each = [frame.picture["each"] for frame in posed.frames]
        told = [(one.count(0), one.count(1)) for one in each]
        heads, accidents = told[posed.first]
        assert posed.answer == (heads + accidents,)
        after = told_of_a_number(posed, said, 10)
        assert 100 * p_and_q(math.log(6))[0] == pytest.approx(60)
        tells(after, *compared(said[0], heads + accidents), 60, heads, accidents, 100 - heads)
        assert ("Counting heads alone" in after) == (abs(said[0] - heads) < abs(said[0] - posed.answer[0]))
        for frame, epsilon, (heads, accidents) in zip(
            posed.frames, sorted([*EPSILONS, math.log(6)]), told, strict=True
        ):
            p, q = p_and_q(epsilon)
            fair = epsilon == math.log(6)
            assert fair == ("is fair" in frame.caption)
            told_chance = [] if fair else [p - q]
            odds = [1, 4, fold(epsilon), 4, 2.72]
            tells(frame.caption, epsilon, *told_chance, heads + accidents, 100, p, 0.2, *odds)
            assert frame.picture["chances"] == pytest.approx([p - q, q, 1 - p])
            assert abs(heads - 100 * (p - q)) <= 5.5 * math.sqrt(25)  # the binomial law


@recomputes(place("crowd"))
def test_crowd(many):
    for seed, posed, said in posed_often("crowd", many):
        steps = lesson(seed=seed).steps
        reports = np.array(steps[posed.first].counts) / 2000
        assert np.abs(np.array(posed.answer) / 100 - reports).max() < 0.01
        after, drawn = posed.after(said), np.array(said) / 100
        wrong = numbers(after)[1]
        assert abs(wrong - 100 * off(drawn, reports)) <= 0.5 + 1e-9
        # Differences as one would take them of the numbers on screen.
        low, high = (round(float(f"{100 * end:.1f}"), 1) for end in (reports.min(), reports.max()))
        reach = [drawn.min(), drawn.max(), round(100 * np.ptp(drawn))]
        tells(after, 100, None, *reach, reports.min(), reports.max(), high - low, 0.2)
        alone = np.flatnonzero(reports == reports.max()).tolist() == [2]
        assert ("is still the tallest" in after) == alone
        for frame, step in zip(posed.frames, steps, strict=True):
            p, q = p_and_q(step.epsilon)
            tells(frame.caption, step.epsilon, p - q)
            assert [name in frame.caption for name in NAMES] == [
                count == max(step.counts) for count in step.counts
            ]


@recomputes(place("subtract"))
def test_subtract(many):
    for _, posed, said in posed_often("subtract", many):
        p, q = p_and_q(1)
        reports = np.array(posed.picture["series"][0]["shares"])
        most = int(reports.argmax())
        raw, estimate = reports[most], (reports[most] - q) / (p - q)
        truth = posed.frames[0].picture["truth"]
        assert sorted(truth) == pytest.approx([0.03, 0.05, 0.1, 0.2, 0.62])
        assert posed.answer[0] == min(100, round(100 * estimate))
        after = told_of_a_number(posed, said, 2)
        shown = percents(after)
        assert [*shown[-5:-3], *shown[-2:]] == pytest.approx([raw, q, p - q, truth[most]], abs=5.1e-4)
        assert shown[-3] == pytest.approx(raw - q, abs=1.1e-3)
        assert shown[-3] == pytest.approx(shown[-5] - shown[-4])  # as one would with the numbers on screen
        assert shown[:-5] == [one / 100 for one in compared(said[0], posed.answer[0])]
        assert float(re.search(r"it ([\d.]+) times", after)[1]) == pytest.approx(1 / (p - q), abs=0.0051)
        far = [abs(said[0] / 100 - share) for share in (raw, raw - q, estimate)]
        assert ("still has chance's part in it" in after) == (far[0] == min(far))
        assert ("not yet stretched" in after) == (far[1] == min(far) < far[0])
        tells(posed.before, 1, 5 * q, q, raw)
        assert NAMES[most] in posed.before
        for frame, epsilon in zip(posed.frames, EPSILONS, strict=True):
            p, q = p_and_q(epsilon)
            shares = frame.picture["series"][0]["shares"]
            tells(frame.caption, epsilon, q, 1 / (p - q), 100, 100 * off(shares, truth))
            back = np.round(2000 * (q + (p - q) * np.array(shares)), 6)  # the reports are whole
            assert back == pytest.approx(np.round(back), abs=1e-6)


@recomputes(place("below"))
def test_below(many):
    for _, posed, said in posed_often("below", many):
        found = {
            int(frame.value.replace(",", "")): [np.array(row["values"]) for row in frame.picture["rows"]]
            for frame in posed.frames
        }
        below = {n: [int((values < 0).sum()) for values in rows] for n, rows in found.items()}
        after = told_of_a_number(posed, said, 5)
        assert posed.answer == (below[200_000][0],)
        lowest = [found[n][0].min() for n in (2000, 200_000)]
        assert lowest[0] < lowest[1]
        shown = percents(after)
        assert shown[:2] == pytest.approx(lowest, abs=5.1e-4)
        assert shown[2] == 0.02
        told = re.search(r"where 2% have it, (\d+) of 100 were below zero, now (\d+)\.", after)
        assert told.groups() == (str(below[2000][1]), str(below[200_000][1]))
        assert f"In {below[2000][0]} it is below zero" in posed.before
        for frame, (n, two) in zip(posed.frames, below.items(), strict=True):
            tells(frame.caption, n, two[0], 100, two[1], 0.02)
            assert 20 <= two[0] <= 80  # a fair coin: 1e-9 outside


@recomputes(place("repairs"))
def test_repairs(many):
    for _, posed, said in posed_often("repairs", many):
        raw = np.array(posed.picture["series"][0]["shares"])
        p, q = p_and_q(0.5)
        counts = np.round(2000 * (q + (p - q) * raw))
        assert raw.min() < 0
        tallest = int(raw.argmax())
        made = [inv_n(counts, 0.5), inv_p(counts, 0.5), best_shares(counts, 0.5)]
        for shares, series in zip(made, posed.frames[posed.first].picture["series"], strict=True):
            assert series["shares"] == pytest.approx(shares, abs=1e-9)
        values = [shares[tallest] for shares in made]
        after = posed.after(said)
        assert after.startswith("Right") == all(
            values[a] <= values[b] + 1e-9 for a, b in itertools.pairwise(said)
        )
        lost = raw - made[0]
        assert lost[tallest] == pytest.approx(lost.max())
        lowered = max(raw[i] - made[1][i] for i in range(5) if made[1][i] > 0)
        names = ("InvN", "InvP", "MLE*")
        assert ", then ".join(names[i] for i in posed.answer) in after
        points = re.findall(r"([\d.]+) points", after)
        assert list(map(float, points)) == pytest.approx([100 * lost[tallest], 100 * lowered], abs=0.051)
        # The answers that MLE* strikes out, and Inv of the reports of the others, as if only these had been asked for.
        struck = [i for i in range(5) if made[2][i] == 0]
        stay = np.delete(np.arange(5), struck)
        p, q = p_and_q(0.5, len(stay))
        rest = counts[stay].sum()
        assert made[2][stay] == pytest.approx((counts[stay] / rest - q) / (p - q))
        assert np.flatnonzero(counts < rest * q).tolist() == struck
        worked = re.search(
            r"MLE\* strikes out (.*): fewer than the ([\d.]+) that chance brings each of "
            rf"{len(stay)} answers in a survey of the other {rest:,.0f}\. Its Inv: "
            r"(\d+) − ([\d.]+), stretched ([\d.]+) times, ÷ ([\d,]+)\.",
            after,
        )
        assert worked[1] == ", ".join(f"“{NAMES[i]}” ({counts[i]:.0f})" for i in struck)
        assert max(counts[struck]) < float(worked[2])
        assert worked[2] == worked[4]
        assert float(worked[2]) == pytest.approx(rest * q, abs=0.5)
        tells(" ".join(worked.groups()[4:]), 1 / (p - q), rest)
        assert (counts[tallest] - float(worked[4])) / (p - q) == pytest.approx(
            rest * values[2], abs=0.51 / (p - q)
        )
        assert float(worked[3]) == counts[tallest]
        for frame, epsilon in zip(posed.frames, EPSILONS, strict=True):
            shown = [series["shares"] for series in frame.picture["series"]]
            if "leave Inv as it is" in frame.caption:
                assert np.ptp(shown, axis=0) == pytest.approx(0, abs=1e-12)
                tells(frame.caption, epsilon)
            else:
                tells(frame.caption, epsilon, 100, *(100 * off(one, TRUTH) for one in shown))


@holds("What fits the reports best is closest to the truth.")  # a belief, and false
@pytest.mark.parametrize("s", [0.0, 3.0])
def test_who_is_closest_is_counted_as_one_would_by_hand(s):
    posed = BY_KEY["closest"].pose(SEED)
    draw = Scenario(k=12, s=s, epsilon=0.5, n=2000, seed=SEED).draw()
    *_, run = repeat(draw, 100)
    errors = run.errors["tv"][:, [list(ESTIMATORS).index(name) for name in VALID]]
    wins = np.zeros(3)
    for row in errors:
        first = np.flatnonzero(row <= row.min() + 1e-12)
        if len(first) < 3:
            wins[first] += 1 / len(first)
    shown = [series["shares"][int(s > 0)] for series in posed.frames[posed.first].picture["series"]]
    assert [100 * share for share in shown] == pytest.approx(wins.tolist())
    # "Noise made the largest bars": they are larger than any true share. "Small bars are lost in noise".
    raw, truth = exactly("inv", draw.counts.tolist(), 0.5), np.array(draw.true_counts) / 2000
    if not s:
        assert raw.max() > 1.5 * truth.max()
        return
    small = np.argsort(truth)[:-3]
    assert raw[small].clip(min=0).sum() > 2 * truth[small].sum()
    inv_n, inv_p, best_fit = 100 * errors.mean(axis=0)
    assert inv_p < best_fit
    told = f"InvP {inv_p:.0f}, MLE* {best_fit:.0f}, InvN {inv_n:.0f}: best fit is not nearest."
    assert told in posed.after((1,))


@holds(
    "Of the three it leaves the shares most even, so it is nearest where all are equally common; and where noise drowns "
    "all, noise made the largest.",
    "InvN scales the rest down: the largest shares lose most.",
    "**InvN** cuts off the negatives and scales the rest down: use it if no category stands out (few people, small ε).",
)
def test_scaling_takes_most_from_the_largest_and_leaves_the_shares_most_even():
    rng = np.random.default_rng(52)
    for _ in range(200):
        k, epsilon = int(rng.integers(3, 9)), float(rng.uniform(0.2, 1.5))
        counts = np.sort(rng.multinomial(int(rng.integers(30, 300)), rng.dirichlet(np.full(k, 3.0))))
        raw, scaled = inv(counts.tolist(), epsilon), inv_n(counts.tolist(), epsilon)
        others = [make(counts.tolist(), epsilon) for make in (inv_p, best_shares)]
        lost = (raw - scaled)[raw > 0]
        assert np.all(np.diff(lost) >= -1e-12)  # rising with the share
        lowered = (raw - others[0])[others[0] > 0]
        assert lowered == pytest.approx(lowered[0])  # the same of all that stay
        for other in others:
            # The sum of the largest ones, however many: nowhere smaller (majorisation), so farther from equal shares.
            assert np.all(np.cumsum(other[::-1]) >= np.cumsum(scaled[::-1]) - 1e-12)
            assert off(scaled, np.full(k, 1 / k)) <= off(other, np.full(k, 1 / k)) + 1e-12
            assert np.count_nonzero(other) <= np.count_nonzero(scaled)


@recomputes(place("closest"))
def test_closest(many):
    for _, posed, said in posed_often("closest", max(6, many // 20)):  # a draw takes a second
        won = [series["shares"] for series in posed.frames[posed.first].picture["series"]]
        after = posed.after(said)
        told = r"equal: InvN wins ([\d.]+) of 100; .* it wins ([\d.]+); .* average: InvP (\d+), MLE\* \d+, InvN (\d+): "
        told_wins = [float(number) for number in re.search(told, after).groups()]
        assert told_wins[:2] == pytest.approx([100 * one for one in won[0]])
        assert told_wins[2] < told_wins[3]  # which ones: see the test above
        more = 0 if won[0][0] >= won[0][1] else 1
        assert ("Not so" in after) != after.startswith("Right.")
        assert after.startswith("Right") == (said[0] == more or won[0][0] == won[0][1])
        drowned = [series["shares"] for series in posed.frames[0].picture["series"]]
        for population in range(2):  # at the left end noise drowns all
            assert drowned[0][population] == max(of[population] for of in drowned)
        for frame in posed.frames:
            shares = [series["shares"] for series in frame.picture["series"]]
            counts = [100 * of[population] for population in range(2) for of in shares]
            tells(frame.caption, float(frame.value), *counts)


def power(text):
    """The natural logarithm of a ratio in words."""
    raised = re.fullmatch(r"([\d.]+)·10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if raised:
        tens = int(raised[2].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
        return math.log(float(raised[1])) + tens * math.log(10)
    return math.log(float(text.replace(",", "")))


@recomputes(place("likeliest"))
def test_likeliest(many):
    for seed, posed, said in posed_often("likeliest", many):
        number = next(one for one in itertools.count(seed, 10_007) if _has_a_hill(one % 2**32))
        ratio = _less_likely(lesson((0.5,), number % 2**32).steps[0].counts)
        shown = [power(text) for text in re.findall(r"[\d.,·]+[⁰¹²³⁴⁵⁶⁷⁸⁹]*(?= times)", posed.before)]
        assert shown[0] == pytest.approx(ratio, abs=0.06)
        options = [power(option.split()[0]) for option in posed.question.options]
        assert options == pytest.approx([ratio, ratio + math.log(10), 10 * ratio], abs=0.06)
        after = posed.after(said)
        assert after.startswith("Right") == (said == posed.answer == (2,))
        ten, one = (
            power(text) for text in re.findall(r"[\d.,·]+[⁰¹²³⁴⁵⁶⁷⁸⁹]*(?= (?:times|multiplied))", after)[:2]
        )
        assert (ten, one) == (pytest.approx(10 * ratio, abs=0.06), pytest.approx(ratio, abs=0.06))
        for frame, times in zip(posed.frames, (0.1, 1, 10, 100), strict=True):
            assert frame.caption.startswith(f"{2000 * times:,.0f} people")
            told = re.search(r"are ([\d.,·⁰¹²³⁴⁵⁶⁷⁸⁹]+) times less", frame.caption)[1]
            assert power(told) == pytest.approx(times * ratio, abs=0.06)
            heights = [y for _, y in frame.picture["points"]]
            assert max(heights) <= 1 + 1e-9  # MLE* is the summit
            assert max(x for x, _ in frame.picture["points"]) >= 1.5  # with a slope beyond it, too


@holds(
    "Inv fits the reports exactly: nothing is higher.",
    "Where a share of Inv is below zero, MLE* sets answers to zero and fits the others exactly; else MLE* is Inv.",
)
def test_inv_fits_all_reports_and_mle_those_of_the_answers_that_it_keeps():
    rng = np.random.default_rng(7)
    for _ in range(200):
        k, epsilon = int(rng.integers(2, 7)), float(rng.uniform(0.1, 3))
        counts = rng.integers(0, 60, k) + (np.arange(k) == 0)
        shares, best, (p, q) = inv(counts, epsilon), best_shares(counts, epsilon), p_and_q(epsilon, k)
        phi = counts / counts.sum()
        assert q + (p - q) * shares == pytest.approx(phi)
        # Gibbs: no chances of the reports make them likelier than their own proportions.
        other = rng.dirichlet(np.ones(k))
        seen = phi[phi > 0]
        assert phi @ np.log(other) <= seen @ np.log(seen) + 1e-12
        kept = best > 0
        assert kept.all() == (shares.min() > 0)
        if shares.min() >= 0:
            assert best == pytest.approx(shares)
        expected = q + (p - q) * best[kept]
        assert expected / expected.sum() == pytest.approx(phi[kept] / phi[kept].sum())


def _has_a_hill(seed):
    counts = lesson((0.5,), seed).steps[0].counts
    beyond = TRUTH + 1.5 * (best_shares(counts, 0.5) - TRUTH)
    return beyond.min() >= 0 and math.log(3) < _less_likely(counts) < math.log(30)


def _less_likely(counts):
    return log_likelihood(counts, best_shares(counts, 0.5), 0.5) - log_likelihood(counts, TRUTH, 0.5)


@recomputes(place("line"))
def test_line(many):
    truth = np.array([0.76, 0.22, 0.02])
    for _, posed, said in posed_often("line", many):
        shown = {
            point["kind"]: np.array(point["shares"]) for point in posed.frames[posed.first].picture["points"]
        }
        p, q = p_and_q(0.5, 3)
        counts = np.round(600 * (q + (p - q) * shown["inv"]))
        for kind, made in (("inv_n", inv_n), ("inv_p", inv_p), ("mle_star", best_shares)):
            assert shown[kind] == pytest.approx(made(counts, 0.5), abs=1e-9)
        assert shown["inv"][2] < 0 == shown["inv_p"][2] == shown["inv_n"][2]
        way = shown["inv_n"] - shown["inv_p"]
        position = float((shown["mle_star"] - shown["inv_p"]) @ way / (way @ way))
        assert shown["mle_star"] == pytest.approx(shown["inv_p"] + position * way, abs=1e-9)
        assert 0 <= position <= 1
        assert posed.answer == (round(100 * position),)
        after = told_of_a_number(posed, said, 5)
        assert ("It lies between them" in after) == (not 0 <= said[0] <= 100)
        # Each repair is A and B of Inv, scaled and then lowered by the same amount.
        scales = {}
        for kind in ("inv_n", "inv_p", "mle_star"):
            stay = shown["inv"][:2]
            scales[kind] = (shown[kind][0] - shown[kind][1]) / (stay[0] - stay[1])
            lowered = scales[kind] * stay - shown[kind][:2]
            assert lowered[0] == pytest.approx(lowered[1], abs=1e-9)
            assert lowered[0] >= (-1e-9 if kind == "inv_n" else 1e-6)
        assert scales["inv_n"] < scales["mle_star"] < scales["inv_p"] == pytest.approx(1)
        worked = re.search(
            r"by (\d\.\d\d); InvP lowers both by ([\d.]+) points; .* × (\d\.\d\d), ([\d.]+) points lower\.",
            after,
        )
        tells(
            " ".join(worked.groups()),
            scales["inv_n"],
            100 * (shown["inv"][0] - shown["inv_p"][0]),
            scales["mle_star"],
            100 * (scales["mle_star"] * shown["inv"][0] - shown["mle_star"][0]),
        )
        told = dict(re.findall(r"(InvP|MLE\*|InvN) (\d+\.\d)", after))
        for name, kind in (("InvP", "inv_p"), ("MLE*", "mle_star"), ("InvN", "inv_n")):
            assert float(told[name]) == pytest.approx(100 * off(shown[kind], truth), abs=0.051)
        for frame in posed.frames:
            points = {point["kind"]: np.array(point["shares"]) for point in frame.picture["points"]}
            kept = {tuple(points[kind] > 0) for kind in ("inv_n", "inv_p", "mle_star")}
            apart = math.dist(points["inv_n"], points["inv_p"])
            assert frame.picture["apart"] == (apart > 0.02)
            if "keep different" in frame.caption:
                assert len(kept) > 1
            elif "Inv is inside" in frame.caption:
                assert points["inv"].min() >= 0
                assert all(
                    points[kind] == pytest.approx(points["inv"]) for kind in ("inv_n", "inv_p", "mle_star")
                )
            elif "hardly apart" in frame.caption:
                assert points["inv"].min() < 0
                assert len(kept) == 1
                assert apart <= 0.02 + 1e-9
            else:
                assert len(kept) == 1
                place = float(
                    (points["mle_star"] - points["inv_p"]) @ (points["inv_n"] - points["inv_p"]) / apart**2
                )
                assert abs(numbers(frame.caption)[1] - 100 * place) <= 0.51


@recomputes(place("patience"))
def test_patience(many):
    for seed, posed, said in posed_often("patience", max(12, many // 20)):  # half a second each
        said = (max(1, posed.answer[0] - 30),) if said == (1,) else said  # a near one too
        after = posed.after(said)
        step = lesson((0.5,), seed).steps[0]
        near, stop = ibu_by_hand(step.counts, 0.5)
        assert posed.answer == (near,)
        if said == posed.answer:
            assert after.startswith(f"You said {near:,}, and so it is.")
        else:
            times = max(said[0], near) / min(said[0], near)
            assert f": it takes {near:,}." in after
            if times < 1.1:
                assert f"You said {said[0]:,}, close:" in after
            else:
                assert numbers(after)[1] == pytest.approx(times, abs=0.051)
                assert f"times too {'many' if said[0] > near else 'few'}:" in after
        assert f"The largest is 1.000001 after {stop:,} steps, and no other bars gain more" in after
        assert 1.000001**2000 < 1.00201
        assert "at most 1.000001²⁰⁰⁰ times as likely, under 1.00201." in after
        for frame in posed.frames:
            marks = [mark["name"].split(": ")[1] for mark in frame.picture["marks"]]
            assert frame.caption.endswith(f"near after {marks[0]} steps, may stop after {marks[1]}.")


@functools.cache
def ibu_by_hand(counts, epsilon):
    """From which step on every share is within half a point of the best, and when the certificate is 1e-6."""
    p, q = p_and_q(epsilon)
    phi, theta, best = np.array(counts) / sum(counts), np.full(5, 0.2), best_shares(counts, epsilon)
    far, stop = 0, None
    for step in range(20_001):
        expected = q + (p - q) * theta
        factors = q * (phi / expected).sum() + (p - q) * phi / expected
        if stop is None and factors.max() - 1 <= 1e-6:
            stop = step
        if np.abs(theta - best).max() > 0.005:
            far = step
        theta = theta * factors
    return far + 1, stop


@recomputes(place("price"))
def test_price(many):
    for seed, posed, said in posed_often("price", many):
        theta = np.array(lesson((1.0,), seed).steps[0].mle_star)
        share, quantile = theta.max(), stats.norm.ppf(0.975)

        def people(epsilon, drawn=False, share=share, quantile=quantile):
            p, q = p_and_q(epsilon)
            variance = (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2
            return (quantile / 0.05) ** 2 * (variance + drawn * share * (1 - share))

        half, whole = people(0.5), people(1)
        after = told_of_a_number(posed, said)
        assert posed.answer == (round(math.ceil(half) / math.ceil(whole)),)
        told = [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) people", after)]
        assert abs(told[0] - half) <= 1.01
        assert f"instead of {math.ceil(whole):,}" in after
        assert float(
            re.search(
                r"it is ([\d.]+) times with five answers, more with more of them, and for the coins' error never "
                r"below 4, whatever ε",
                after,
            )[1]
        ) == pytest.approx(half / whole, abs=0.0061)
        assert f"only {math.sqrt(10):.1f} times smaller" in after
        assert ("is not twice" in after) == (said[0] < 4)
        assert percents(posed.before)[0] == pytest.approx(share, abs=0.0051)
        assert f"takes {math.ceil(whole):,} people" in posed.before
        for frame, epsilon in zip(posed.frames, EPSILONS, strict=True):
            # The coins put the share of the people who report off; who was drawn, that of all others.
            coins, sample = (
                lambda n, e=epsilon, drawn=drawn: abs(n - people(e, drawn)) <= 1.01 for drawn in (False, True)
            )
            tells(frame.caption, epsilon, coins, 5, sample)
            assert re.search(r"5 points by the coins alone; [\d,]+ if drawn to speak for many", frame.caption)
            for spent, times in zip(frame.picture["spent"], (1, 2), strict=True):
                told, odds = re.fullmatch(r"ε = ([\d.]+): odds up to ([\d.,]+)-fold", spent["odds"]).groups()
                assert float(told) == pytest.approx(times * float(spent["each"])) == times * epsilon
                assert fold(times * epsilon)(float(odds.replace(",", "")))
                assert spent["times"] == times


@holds(
    "Halving ε costs at least four times the people for the same error by the coins; a second answer spends ε again.",
    "ε is a budget: asked twice, spent twice; halving ε costs at least four times the people for the same error by the "
    "coins.",
)
def test_half_of_epsilon_needs_at_least_four_times_the_people():
    for k, epsilon, share in itertools.product(
        (2, 3, 5, 50, 10_000), np.geomspace(0.01, 14, 20), np.linspace(0, 1, 6)
    ):

        def variance(epsilon, k=k, share=share):
            p, q = p_and_q(epsilon, k)
            return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2

        ratio = variance(epsilon / 2) / variance(epsilon)
        assert ratio >= 4
        # "More with more of them".
        fewer = variance(epsilon / 2, k=k - 1) / variance(epsilon, k=k - 1) if k > 2 else ratio
        assert ratio >= fewer * (1 - 1e-9)


def test_every_scene_has_its_check():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert set(BY_KEY) <= tests


NO_PREDICTIONS = (
    "",
    "a",
    "1.2.3.4.5.6.7",
    "1e3",
    "99999999999999",
    "٣",
    "<b>",
    "-51",
    "100001",
    "0.0.0",
    "nan",
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.key)
def test_a_scene_is_short_asks_what_one_can_be_wrong_about_and_refuses_what_is_no_prediction(scene):
    """A new draw, of the next seed, is another survey."""
    for text in NO_PREDICTIONS:
        prediction, note = scene.parse(text)
        if prediction is None:
            assert note.startswith("The link's prediction “")
            assert note.endswith(f"” does not answer the scene “{scene.title}”.")
        else:
            assert scene.question.check(prediction)
            assert isinstance(scene.question, NumberQuestion)
    rng, drawn = random.Random(1), set()
    for seed in (SEED, SEED + 1):
        posed = scene.pose(seed)
        assert len(f"{posed.before} {posed.question.text}".split()) <= 60
        assert posed.question.check(posed.answer)
        assert scene.question.check(posed.answer)
        assert len(scene.question.for_browser().get("options", ())) == len(
            posed.question.for_browser().get("options", ())
        )
        assert any(said != posed.answer for said in predictions(posed.question, rng))
        for said in [*predictions(posed.question, rng), posed.answer]:
            longest = max((frame.caption for frame in posed.frames), key=len)
            assert len(f"{posed.after(said)} {longest}".split()) <= 90
            assert scene.parse(Scene.format(said)) == (said, "")
            assert posed.question.words(said)
            json.dumps(posed.mark(said))
        json.dumps([posed.picture, list(posed.reveal)])
        drawn.add(json.dumps([frame.picture for frame in posed.frames]))
        assert scene.pose(seed) is posed  # a class that opens one link computes it once
        assert 0 < len(posed.recall.split()) <= 12
    assert len(drawn) == 2
    assert len(scene.remember.split()) <= 30
    assert 2 <= scene.minutes <= 5
