"""What a room reveals: every picture and sentence against numbers computed another way."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse
from rr_core.confidence_sequence import anytime_intervals
from rr_core.figures import room
from rr_core.figures.style import reading
from tests.sentences import recomputes
from tests.sentences.spoken import tells

GUESSES, REPORTS, INV, REPAIRS, MORE = range(1, len(room.STEPS) + 1)


def rooms(many):
    """Rooms from one report to many, with and without guesses and hands."""
    rng = np.random.default_rng(39)
    for i in range(many):
        k = int(rng.integers(2, 13))
        counts = rng.multinomial(int(10 ** rng.uniform(0, 4)), rng.dirichlet(np.full(k, 0.5)))
        hands = rng.integers(0, 20, k)
        hands[0] += 1
        mechanism = RandomizedResponse(k, float(rng.choice([0.25, 0.5, 1.0, 2.0, 4.0])))
        guesses = sorted(rng.integers(0, 101, int(rng.integers(1, 60))).tolist())
        answers = tuple(f"answer {chr(97 + place)}" for place in range(k))
        yield room.Asked(
            answers, mechanism, counts.tolist(), guesses * (i % 2), hands.tolist() if i % 3 else None
        )


def estimate(asked):
    """Inv from its definition."""
    q = 1 / (np.exp(asked.mechanism.epsilon) + asked.mechanism.k - 1)
    return (np.array(asked.counts) / sum(asked.counts) - q) / (q * np.expm1(asked.mechanism.epsilon))


def nearly(share):
    """Whole per cent, where a half may go either way."""
    return lambda told: abs(told - share) <= 0.005 + 1e-12


@recomputes(room._guesses)
def test_guesses_are_counted_in_tenths_and_told_by_their_quartiles(many):
    for asked in rooms(many):
        if not asked.guesses:
            assert room.first_step(asked) == REPORTS
            continue
        figure = room.revealed(asked, GUESSES)
        drawn = [
            sum(low <= guess < low + 10 + (low == 90) for guess in asked.guesses) for low in range(0, 100, 10)
        ]
        assert list(figure.data[0].y) == drawn
        low, middle, high = np.percentile(asked.guesses, [25, 50, 75]) / 100
        tells(reading(figure), len(asked.guesses), *map(nearly, (middle, low, high)))


@recomputes(room._reports)
def test_reports_are_drawn_as_they_came_beside_what_chance_alone_brings(many):
    for asked in rooms(many):
        figure = room.revealed(asked, REPORTS)
        assert list(figure.data[0].y) == asked.counts
        n, q = sum(asked.counts), 1 / (np.exp(asked.mechanism.epsilon) + asked.mechanism.k - 1)
        tells(reading(figure), n, n * q)
        assert ("1 report as it came," in reading(figure)) == (n == 1)


@recomputes(room._inv)
def test_inv_has_its_anytime_intervals_cut_to_shares_and_what_was_thought_before(many):
    for asked in rooms(many):
        figure = room.revealed(asked, INV)
        bars, lines, *beside = figure.data
        inv = estimate(asked)
        assert bars.y == pytest.approx(inv, abs=1e-9)
        low, high = (ends.clip(0, 1) for ends in anytime_intervals(asked.counts, asked.mechanism))
        assert np.array(lines.y)[::3] == pytest.approx(low)
        assert np.array(lines.y)[1::3] == pytest.approx(high)
        text = reading(figure).partition(" comes out at ")[2]
        below = int((inv < -1e-12).sum())
        ends = [] if (low[0], high[0]) == (0, 1) else [float(low[0]), float(high[0])]
        if low[0] == high[0]:  # beside all shares: as it is, and on which side
            ends = [
                *(float(end[0]) for end in anytime_intervals(asked.counts, asked.mechanism)),
                float(low[0]),
            ]
        tells(text, float(inv[0]), 0.95, *ends, below)
        expected = [np.array(asked.hands) / sum(asked.hands)] if asked.hands else []
        expected += [[np.median(asked.guesses) / 100]] if asked.guesses else []
        for trace, values in zip(beside, expected, strict=True):
            assert list(trace.y) == pytest.approx(list(values))


@recomputes(room._repairs)
def test_repairs_are_told_by_their_zeros_and_held_against_raised_hands(many):
    for asked in rooms(many):
        figure = room.revealed(asked, REPAIRS)
        by_name = {trace.name: np.array(trace.y) for trace in figure.data}
        repairs = [by_name[name] for name in ("InvN", "InvP", "MLE*")]
        assert all(one.min() >= 0 and one.sum() == pytest.approx(1) for one in repairs)
        numbers = [int((one == 0).sum()) for one in repairs] if estimate(asked).min() < -1e-12 else []
        if asked.hands:
            truth = np.array(asked.hands) / sum(asked.hands)
            assert by_name["Truth"] == pytest.approx(truth)
            numbers += [100, *(float(np.abs(one - truth).sum() / 2) for one in repairs)]
        tells(reading(figure).replace("Three ways", ""), *numbers)


@recomputes(room._more_people)
def test_more_people_are_simulated_from_invp_and_intervals_shrink(many):
    for asked in rooms(many // 2):
        figure = room.revealed(asked, MORE + 7)
        n = sum(asked.counts)
        points = [trace for trace in figure.data if trace.mode == "markers" and "report" in trace.name]
        ends = ["reports" if n > 1 else "report", *["reports, simulated"] * 2]
        assert [one.name for one in points] == [f"{10**i * n:,} {end}" for i, end in enumerate(ends)]
        assert points[0].y == pytest.approx(estimate(asked), abs=1e-9)
        low, high = anytime_intervals(asked.counts, asked.mechanism)
        widest = float((high.clip(0, 1) - low.clip(0, 1)).max())
        tells(reading(figure).partition("InvP")[2], widest, None, 10 * n, None, 100 * n)
        assert reading(room.revealed(asked, MORE)) == reading(figure)  # the same whenever it is shown


@pytest.mark.slow
def test_more_people_are_as_far_off_as_the_law_of_inv_says(monkeypatch):
    """Over 100 draws the mean square of the distance to the shares they were made of is the variance of Inv."""
    mechanism, off = RandomizedResponse(3, 1.0), []
    asked = room.Asked(("a", "b", "c"), mechanism, [42, 31, 32])
    # The points alone are looked at here.
    monkeypatch.setattr(room, "anytime_intervals", lambda *_, **__: (np.zeros(3), np.ones(3)))
    for seed in range(100):
        monkeypatch.setattr(room, "_SEED", seed)
        points = [trace for trace in room.revealed(asked, MORE).data if trace.mode == "markers"]
        from_truth = np.array(points[1].y) - room.inv_p(asked.counts, mechanism)
        off.append((from_truth**2).sum())
    q = mechanism.q
    n = 10 * 105
    variance = 3 * q * (1 - q) / (n * mechanism.keep**2) + (1 - mechanism.p - q) / (n * mechanism.keep)
    # A sum of squares of about two normal terms has a standard deviation of about its mean.
    assert np.mean(off) == pytest.approx(variance, rel=3.5 / np.sqrt(100))


@pytest.mark.parametrize("k", [2, 12])
def test_long_answers_stand_in_lines_below_their_bars(k):
    answers = [
        "More often than every second day of the week",
        "<b>no</b>",
        *(f"answer {i}" for i in range(10)),
    ][:k]
    asked = room.Asked(answers, RandomizedResponse(k, 1.0), [3] * k)
    for step in range(2, 6):
        texts = room.revealed(asked, step).layout.xaxis.ticktext
        assert answers[0].startswith(texts[0].replace("<br>", " ").removesuffix("…"))
        assert max(len(line) for line in texts[0].split("<br>")) <= 20
        assert texts[1] == "&lt;b&gt;no&lt;/b&gt;"
