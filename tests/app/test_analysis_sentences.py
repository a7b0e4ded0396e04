"""What is said of an analysis of collected reports, on its page, in its charts and in the report, computed anew from the
counts: binomial laws of SciPy, plain formulas, dense matrices."""

from __future__ import annotations

import inspect
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from scipy import stats

from pages._ui.reports import html_report, results
from rr_core import RandomizedResponse, zipf
from rr_core.data import read_csv
from rr_core.figures.reports import reports_floor, with_intervals
from rr_core.figures.style import QUANTITIES, reading
from rr_core.figures.view import bars
from rr_core.io import AllSeen, Names, Size, read_list
from rr_core.io import report_sentences as sentences
from rr_core.io.domain import Collected
from rr_core.io.report_files import json_file
from rr_core.io.report_results import ReportSettings, ReportsInUse, Results
from rr_core.registry import ESTIMATORS, LABELS, VALID
from rr_core.reports.analysis import analyse
from rr_core.reports.epsilon_fit import (
    PlausibleEpsilon,
    Simulations,
    collections_for,
    fit_test,
    plausible_epsilon,
    simulations,
)
from rr_core.reports.low_counts import floor
from rr_core.reports.nearest import COMPARED
from tests.app.analysed import analysed, counts_csv
from tests.sentences import holds, recomputes
from tests.sentences.spoken import (
    Down,
    Up,
    clipped,
    inv,
    is_negative,
    mle,
    p_and_q,
    percents,
    projected,
    tells,
    value,
)

CORNERS = [
    ([1, 0], 0.01),
    ([1, 0], 20.0),
    ([0, 1, 0], 1.0),
    ([7, 7], 1.0),
    ([5] * 12, 0.01),
    ([5] * 12, 20.0),
    ([100, 0], 1.0),
    ([10**9, 0], 20.0),
    ([10**9, 0, 0], 1.0),
    ([500_000_000] * 2, 20.0),
    ([333_333_333, 333_333_334, 333_333_333], 0.01),
    ([1000, 500, 0], 30.0),
    ([1000, 500, 400], 5.0),
    ([10**6] * 59 + [10**6 - 1], 5.0),
    ([100, 100, 1, 1], 1.0),
    ([3, 2, 2, 1, 1, 1], 0.1),
    ([2000, *([0] * 59)], 20.0),
    ([700, 600, 500, 460, 300, 200], 1.0),
    ([900, 400, 300, *([0] * 6)], 2.0),
    ([900, 400, 300, *range(1, 8)], 2.0),
    ([180, *np.random.default_rng(1).multinomial(4820, np.full(999, 1 / 999)).tolist()], 3.0),
    ([7200, 8000, 4000, 4010, 4020, 3990], 0.6),
    ([60, 30, 20, 9, 8, 7], 2.5),
    ([900, 850, 800, 3], 1.0),  # from here on one in two has names with too few reports
    ([30, 2, 1, 0, 0, 4], float(np.log(37 / 0.9996 - 5))),  # N q is almost 1
    ([*[900] * 6, *[3] * 7], 1.0),
    ([2, 1, 1, 1, 1, 1, *[0] * 49], 0.18108285679143898),  # many collections have the very same score
    ([10**9, 0], 16.0),  # the interval of Inv lies above 100% by less than a millionth
    ([11, *([6, 11] * 30)], 2.0),  # nothing is told from zero
    # N q = 0.25: only all that got few or none, taken together, are too few
    ([72, *np.random.default_rng(5).multinomial(228, np.full(999, 1 / 999)).tolist()], 5.3033),
]
SIMULATED = 100


def letters(number: int) -> str:
    """A name without figures: a, b, ..., z, aa, ..."""
    return (letters(number // 26 - 1) if number >= 26 else "") + chr(97 + number % 26)


def strays(counts: np.ndarray, q: float) -> list[int]:
    """Reported categories with less than half of N q, which Binomial(N, q) hardly gives."""
    n = counts.sum()
    rare = stats.binom.cdf(counts, n, q) * counts.size <= 0.001
    found: list[int] = np.flatnonzero(rare & (counts < n * q / 2) & (counts > 0)).tolist()
    return found


def of(counts, epsilon: float, number: int = 0, ran: int = SIMULATED) -> Results:
    """An analysis as the page holds it; which level, target and settings it has goes round with its number. ``ran``: how
    many of the simulations of the test were made; 0 where it was not begun."""
    counts = np.asarray(counts, dtype=np.int64)
    mechanism = RandomizedResponse(counts.size, epsilon)
    labels = np.array([letters(i) for i in range(counts.size)], dtype=object)
    few = strays(counts, mechanism.q) if number % 2 else []
    outside = (("Elsewhere", 12), *((letters(i) * 2, 1) for i in range(number % 8)))[: number % 9]
    collected = Collected(labels, counts, outside, (), tuple((labels[i], int(counts[i])) for i in few))
    settings = ReportSettings(domain=("seen", "size", "listed")[number % 3])
    read = SimpleNamespace(
        files=(),
        dropped=(),
        merged=0,
        notes=(),
        columns=(),
        category_name="a",
        labels=np.array([*labels, *(name for name, _ in outside)], dtype=object),
        counts=np.array([*counts, *(number for _, number in outside)]),
        count_name=None,
        layout="counts",
        sha256="",
    )
    level, target = (0.9, 0.95, 0.99)[number % 3], ("users", "population")[number // 3 % 2]
    simulated = None
    if ran:
        simulated = Simulations(replace(fit_test(counts, mechanism, ran), requested=max(ran, SIMULATED)))
    return Results(
        ReportsInUse(read, collected, mechanism, settings, "reports", 1),
        level,
        target,
        analyse(counts, mechanism, level, "fixed" if target == "users" else "sampled"),
        simulated,
    )


@cache
def analyses(many: int) -> tuple[Results, ...]:
    """The corners, with and without simulations, and random reports, many from another epsilon than is stated."""
    rng = np.random.default_rng(36)
    made = [of(*corner, i) for i, corner in enumerate(CORNERS)]
    made += [of(*corner, i, (0, 30)[i % 2]) for i, corner in enumerate(CORNERS[:8])]
    few = np.random.default_rng(10).multinomial(200_000, np.repeat([1 / 20, 0], [20, 265]))
    made.append(of(RandomizedResponse(285, 6.4).randomize_histogram(few, 10), 6.4, 3, 0))
    for i in range(many):
        telling = i % 10 == 0
        k = 300 if telling else int(np.exp(rng.uniform(np.log(2), np.log(60))))
        n = int(rng.choice([5_000, 30_000])) if telling else int(10 ** rng.uniform(0, 5))
        epsilon = float(rng.uniform(1.5, 4) if telling else np.exp(rng.uniform(np.log(0.05), np.log(12))))
        if telling and i % 20:
            n, epsilon = 300_000, float(rng.uniform(4.5, 6))
        falling = zipf(k, rng.uniform(1.2, 2.5) if telling else rng.uniform(0, 5))
        population = (i // 10 % 2) * 2 if telling else i % 4
        theta = (falling, rng.dirichlet(np.full(k, 0.3)), np.eye(k)[0], np.full(k, 1 / k))[population]
        stated = epsilon * (1.0 if telling else float(rng.choice([0.5, 0.8, 1, 1, 1, 1.6, 3])))
        counts = RandomizedResponse(k, epsilon).randomize_histogram(rng.multinomial(n, theta), rng)
        made.append(of(counts, stated, int(rng.integers(720)), 0 if telling else SIMULATED))
    return tuple(made)


@pytest.fixture(autouse=True)
def _made(request: pytest.FixtureRequest) -> None:
    """Make them before the lines that run are noted, which takes three times as long."""
    if "many" in request.fixturenames:
        analyses(request.getfixturevalue("many"))


def setting(found: Results) -> SimpleNamespace:
    mechanism = found.used.protocol
    n = int(found.used.collected.counts.sum())
    return SimpleNamespace(k=mechanism.k, n=n, epsilon=mechanism.epsilon)


def estimates(found: Results) -> dict[str, np.ndarray]:
    counts, about = found.used.collected.counts, setting(found)
    ways = {
        "inv": inv,
        "inv_n": clipped,
        "inv_p": lambda *x: projected(*x)[0],
        "mle_star": lambda *x: mle(*x)[0],
    }
    return {name: way(counts, about) for name, way in ways.items()}


def above_zero(found: Results) -> np.ndarray:
    """Holm's test, step by step."""
    counts, about = found.used.collected.counts, setting(found)
    tails = stats.binom.sf(counts - 1, about.n, p_and_q(about)[1])
    above = np.zeros(about.k, dtype=bool)
    for j, i in enumerate(np.argsort(-counts, kind="stable")):
        if tails[i] * (about.k - j) > (1 - found.level) * (1 + 1e-12):
            break
        above[i] = True
    return above


def limits(found: Results, i: int, simultaneous: bool) -> tuple[float, float]:
    """The interval of Inv for one category, not cut: roots of a quadratic, or binomial limits."""
    about, c = setting(found), int(found.used.collected.counts[i])
    (p, q), n, keep = p_and_q(about), about.n, math.expm1(about.epsilon) * p_and_q(about)[1]
    own, given = c / n, found.target == "users"

    def variance(mean):
        share = (mean - q) / keep
        return share * p * (1 - p) + (1 - share) * q * (1 - q) if given else mean * (1 - mean)

    z = stats.norm.isf((1 - found.level) / 2)
    # (own - m)^2 = z^2 (a + b m + d m^2) / n, in fractions: for hardly any noise the roots are close together.
    a, d = variance(0.0), (0.0 if given else -1.0)
    w, at, b = (Fraction(float(x)) for x in (z * z / n, own, variance(1.0) - a - d))
    a, d = Fraction(a), Fraction(d)
    middle, scale = at + w * b / 2, 1 - w * d
    half = math.sqrt(max(middle**2 - scale * (at**2 - w * a), 0))
    ends = [(float(middle) - half) / float(scale), (float(middle) + half) / float(scale)]
    if simultaneous:
        each, alpha = ends, (1 - found.level) / about.k / 2
        ends = [
            0.0 if c == 0 else alpha ** (1 / n) if c == n else stats.beta.ppf(alpha, c, n - c + 1),
            1.0 if c == n else 1 - alpha ** (1 / n) if c == 0 else stats.beta.isf(alpha, c + 1, n - c),
        ]
        held = [min(max(end, q), p) for end in ends]
        ends = [
            own + (end - own) * math.sqrt(max(variance(at), 0) / (at * (1 - at)) if 0 < at < 1 else 1)
            for end, at in zip(ends, held, strict=True)
        ]
        ends = [min(ends[0], each[0]), max(ends[1], each[1])]
    return (ends[0] - q) / keep, (ends[1] - q) / keep


def p_value(found: Results) -> float:
    """Of the test of epsilon: how often the ratio, or its score, is as large, equal but for rounding counted in."""
    counts, about, test = found.used.collected.counts, setting(found), found.simulated.fit
    (p, q), n = p_and_q(about), about.n
    if about.k == 2:
        if (counts >= n * q * (1 - 1e-13)).all():
            return 1.0
        ones = (
            np.arange(n + 1) if n < 10**6 else np.array([0, n])
        )  # of very many the corners have all or none
        best = np.clip(ones / n, q, p)
        ratios = stats.entropy([ones / n, 1 - ones / n], [best, 1 - best])
        as_large = ratios >= ratios[ones == counts[1]] * (1 - 1e-10)
        return min(1.0, max(float(stats.binom.pmf(ones, n, chance)[as_large].sum()) for chance in (q, p)))
    shares, kept = mle(counts, about)
    expected = n * (q + math.expm1(about.epsilon) * q * shares)
    ratio = 2 * float(np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / expected), 0.0).sum())
    lost = int((~kept).sum())
    if n * q < 1:
        score = ratio if lost else 0.0
    elif lost:
        width = 2 / (9 * lost)
        score = max((np.cbrt(ratio / lost) - (1 - width)) / math.sqrt(width), -6.0)
    else:
        score = -6.0
    return (1 + int((test.null >= score - 1e-6 * max(1.0, abs(score))).sum())) / (1 + test.done)


def rejected(found: Results) -> bool | None:
    """Whether the test of epsilon rejects; None where it does not decide."""
    if found.simulated is None or found.simulated.fit.done < 100:
        return None
    most, fewest = extreme_chances(found)
    return p_value(found) <= 0.05 or min(most, fewest) <= 0.0005


def extreme_chances(found: Results) -> tuple[float, float]:
    counts, about = found.used.collected.counts, setting(found)
    p, q = p_and_q(about)
    most = about.k * stats.binom.sf(counts.max() - 1, about.n, p)
    return float(most), float(about.k * stats.binom.cdf(counts.min(), about.n, q))


@recomputes(sentences.data_and_mechanism)
def test_the_data_and_the_mechanism(many):
    for found in [*analyses(many), of([7, 2, 1], 700.0, ran=0)]:
        about, text = setting(found), sentences.data_and_mechanism(found)
        p, q = p_and_q(about)
        truth = (1, (about.k - 1) * q) if "p = 1 − " in text else (p,)
        assert len(truth) == 1 or p > 1 - 1e-6
        assert "p = 1," not in text
        tells(text, about.n, about.k, about.epsilon, *truth, q)


@recomputes(sentences.answer)
def test_the_answer_by_every_estimator_with_both_intervals(many):
    for number, found in enumerate(analyses(many)):
        about, counts, shares = setting(found), found.used.collected.counts, estimates(found)
        top, names = int(np.argmax(counts)), list(ESTIMATORS)
        ties, above = int((counts == counts[top]).sum()) - 1, int(above_zero(found).sum())
        one = float(shares["inv"][top])
        name, simultaneous = names[number % 4], number // 4 % 2 == 1
        text = sentences.answer(found, name, simultaneous=simultaneous)
        assert ("holds for all categories at once" in text) == (simultaneous or above == 0)
        low, high = limits(found, top, simultaneous or above == 0)
        outside = "lies wholly outside 0 to 100%" in text
        if min(abs(low - 1), abs(high)) > 1e-12:
            assert outside == (low > 1 or high < 0), (text, low, high)
        cut = ", cut at 0 and 1, is" in text
        if not outside:
            if min(abs(low), abs(high - 1)) > 1e-12:
                assert cut == (low < 0 or high > 1), (text, low, high)
            low, high = max(low, 0.0), min(high, 1.0)
        share = float(shares[name][top])
        repaired = name != "inv" and "Inv and by" not in text
        own = share if repaired else one
        told = float(math.floor(own * about.n + 0.5 + 1e-9))
        people = [told, about.n] if ", about " in text else []
        tells(
            text.replace("these people", ""),
            *([above] if above else []),
            about.k,
            *([ties] if ties else []),
            one,
            *([] if repaired else people),
            found.level,
            *((0, 1) if outside or cut else ()),  # 0 to 100%, or 0 and 1
            low,
            high,
            *([share, *people] if repaired else []),
            *([found.used.collected.outside_total] if found.used.collected.outside else []),
        )
        assert text.startswith("None of") == (above == 0)
        assert f"“{letters(top)}”" in text
        if abs(own - 1) > 1e-12:
            assert (", about " in text) == (found.target == "users" and own < 1 and above > 0)
        off = max(low - share, share - high)
        assert name == "inv" or abs(off) < 1e-9 or (", outside that interval" in text) == (off > 0)
        assert ("But the test of ε rejects" in text) == (rejected(found) is True)
        assert "with these categories" not in text or found.used.collected.too_few
        assert not re.search(r" (100|0)% to \1%", text) or abs(low - 1) < 1e-12, text


@recomputes(sentences.fit, sentences._extreme)
def test_whether_the_stated_epsilon_fits(many):
    for found in analyses(many):
        about, counts, verdicts = setting(found), found.used.collected.counts, rejected(found)
        (p, q), n = p_and_q(about), about.n
        told = sentences.fit(found)
        if verdicts is None:
            run = found.simulated
            tells(told[0], about.epsilon, *((run.fit.done, SIMULATED) if run else ()))
            assert ("not run" in told[0]) == (run is None)
            continue
        explained = bool((counts >= n * q * (1 - 1e-13)).all())
        assert told[0].startswith("Nothing in these reports speaks against") == explained
        assert told[0].startswith("The test rejects") == verdicts
        if explained:
            tells(told[0], about.epsilon)
            continue
        most, fewest = extreme_chances(found)
        bounds = [Up(max(one, 1e-300)) for one in (most, fewest) if one <= 0.0005]
        exact = () if about.k == 2 else (found.simulated.fit.done,)
        tells(told[1], n * q, int(counts.min()), Up(p_value(found)), *exact, *bounds)
        if not verdicts:
            tells(told[0], about.epsilon)
        elif most <= 0.0005:
            assert counts.max() > n * p
            first = re.match(r".*?N·p = \S+\.", told[0])[0]
            assert f"“{letters(int(counts.argmax()))}” got" in first
            tells(first, about.epsilon, int(counts.max()), n * p)
            assert value(re.search(r"N·p = (\S+)\.$", first)[1]) < counts.max()
        else:
            few = found.used.collected.too_few
            first = re.match(r".*?[^.\d]\.(?= |$)", told[0])[0]
            more = [len(few) - 5] if len(few) > 5 else []
            tells(first, about.epsilon, *(int(count) for _, count in few[:5]), *more)
            dropped = counts[~mle(counts, about)[1]]
            assert dropped.sum() < dropped.size * n * q
            assert ("taken together" in first) == (not few and fewest > 0.0005)
            assert ("some category" in first) == (not few and fewest <= 0.0005)
            assert ("off the list" in told[0]) == bool(few and found.used.settings.domain == "listed")
            assert ("leave such names out" in told[0]) == bool(few and found.used.settings.domain != "listed")
            assert all(stats.binom.cdf(count, n, q) * about.k <= 0.001 for _, count in few)


@recomputes(sentences._plausible)
def test_the_epsilon_under_which_the_reports_are_plausible(many):
    rng, base = np.random.default_rng(7), of([70, 30], 1.0)

    def of_two(few: int, n: int, above: float) -> Results:
        counts = np.array([n - few, few])
        found = plausible_epsilon(counts, 2, above=above, replicates=1)
        return replace(of(counts, above), simulated=replace(base.simulated, plausible=found))

    for _ in range(many // 10):
        n = int(10 ** rng.uniform(1, 4))
        few, above = int(rng.integers(0, n // 4 + 1)), 0.1
        found = of_two(few, n, above)
        text, low = sentences._plausible(found), found.simulated.plausible.low
        told = []
        tells(text, lambda number, told=told: told.append(number) is None)
        assert told[0] == pytest.approx(low, rel=1e-3)
        for epsilon, fits in ((low * 1.003, True), (max(low / 1.01, 0.11), low < 0.11)):
            other = of([n - few, few], epsilon)
            plausible = p_value(other) > 0.05 and min(extreme_chances(other)) > 0.0005
            assert plausible == fits or n < 200, (n, few, epsilon)
    never = of_two(0, 10**13, 1.0)
    text = sentences._plausible(never)
    assert text.startswith(" No ε up to 20 was found")
    assert stats.binom.cdf(0, 10**13, 1 / (np.exp(20) + 1)) < 1e-300
    for finished in (True, False):
        low = float(rng.uniform(0.1, 19))
        about = PlausibleEpsilon(low, math.inf, 0.05, False, finished)
        text = sentences._plausible(replace(base, simulated=replace(base.simulated, plausible=about)))
        tells(text, low)
        assert ("the search was stopped" in text) == (not finished)
    assert sentences._plausible(base) == ""


@recomputes(sentences._empty_categories)
def test_a_category_without_a_report_makes_a_smaller_domain_possible(many):
    for found in analyses(many):
        about, empty = setting(found), int((found.used.collected.counts == 0).sum())
        text = sentences._empty_categories(found)
        assert bool(text) == (empty > 0 and about.k > 2 and about.n * p_and_q(about)[1] >= 10)
        if text:
            tells(text, empty)
            assert ("category got" in text) == (empty == 1)


def noise_of_inv(found: Results) -> float:
    """Its expected squared error, summed over categories."""
    about, phi = setting(found), found.used.collected.counts / found.used.n
    p, q = p_and_q(about)
    given = p * (1 - p) + (about.k - 1) * q * (1 - q)
    spread = given if found.target == "users" else 1 - float(phi @ phi)
    return spread / about.n / (math.expm1(about.epsilon) * q) ** 2


@recomputes(sentences._advice_of_k_rr, sentences._distances)
def test_which_estimate_to_report_and_how_much_farther_the_others_are(many):
    """Distances, their errors and what is tied: by dense matrices in tests/core/test_reports_analysis.py."""
    told_of = 0
    for found in analyses(many):
        about, shares, verdict = setting(found), estimates(found), rejected(found)
        compared = found.analysis.nearest
        first, *more = sentences.advice(found)
        if verdict:
            names = "the names and ε" if found.used.collected.too_few else "ε"
            assert first == f"Settle {names} first: until then no estimate can be trusted."
            assert not more
            continue
        shown = found.analysis.estimates | shares  # and what else the register has
        same = {(a, b): np.abs(shown[a] - shown[b]).max() <= 1e-12 for a in shown for b in shown}
        named = [
            next(k for k in COMPARED if QUANTITIES[k].name == x) for x in re.findall(r"Inv[NP]?|MLE\*", first)
        ]
        if all(same.values()):
            negative = bool(is_negative(found.used.collected.counts, about).any())
            assert named == list(COMPARED)
            assert first.endswith("report any of them.")  # whichever the page shows
            assert first.startswith("Nothing came out negative") == (not negative)
            continue
        first, out, general = first.partition(" out from the noise. ")
        tells(first, *([4] if "standard errors" in first else [int(above_zero(found).sum())] if out else []))
        tied = compared.tied
        farther = [name for name in VALID if name not in tied]
        if about.k > 2 and not above_zero(found).any():
            assert named == ["inv"]
            assert "no share is larger than chance alone" in first
        elif all(same[a, b] for a in VALID for b in VALID):
            assert "the three are the same here" in first
            assert named == list(VALID)
        else:
            lead = next((name for name in ("inv_p", "mle_star") if name in tied), compared.best)
            assert named[0] == lead
            if len(tied) == 3:
                assert (lead, general) == ("inv_p", sentences._WHERE_ONE_STANDS_OUT)
            elif len(tied) == 2:
                (other,) = (name for name in tied if name != lead)
                assert named == [lead, other]
                assert ("which is the same here" in first) == same[lead, other]
            else:
                assert "nearer to the truth than" in first
        floor_ = about.n * p_and_q(about)[1]
        blind = floor_ < 1 or noise_of_inv(found) >= 2
        (distance,) = [one for one in more if "istance" in one or "How far" in one] or [""]
        if blind and not all(same[a, b] for a in VALID for b in VALID):
            assert "cannot be compared" in distance
        if "cannot be compared" in distance:
            assert blind
            tells(distance, *([1] if floor_ < 1 else []))
        elif distance:
            told_of += 1
            told = ((compared.differences[name], compared.standard_errors[name]) for name in farther)
            tells(distance, *(number for both in told for number in both))
            whose = "these people" if found.target == "users" else "their population"
            assert f"shares of {whose}, summed" in distance
        else:
            assert not farther
    assert told_of


@recomputes(sentences.intervals, sentences.few_reports)
def test_how_to_read_the_intervals(many):
    for number, found in enumerate(analyses(many)):
        about, name = setting(found), list(ESTIMATORS)[number // 2 % 4]
        simultaneous = number % 2 == 1
        told = sentences.intervals(found, name, simultaneous=simultaneous)
        one = found.level
        tells(told[0], one, one, *(() if simultaneous else (0, 1)))
        assert ("drawn from" in told[0]) == (found.target == "population")
        assert ("interval is meant to hold its own share" in told[0]) != simultaneous
        tells(told[2], about.k, lambda told, one=one: told == pytest.approx(one, abs=1e-12))
        floor_ = about.n * p_and_q(about)[1]
        few = [text for text in told if "coarse scale" in text]
        assert bool(few) == (floor_ < (10 if one >= 0.95 else 20))
        if few:
            tells(few[0], floor_)


@recomputes(sentences.outside)
def test_shares_and_intervals_where_none_can_be_are_counted(many):
    """Of one set of reports, and of several groups together, each by its own estimate."""
    seen, groups = set(), list[tuple[Results, str]]()
    for found in [*analyses(many), of([520, 310, 170], 1.0, 0, 0), of([900, 60, 40], 1.0, 0, 0)]:
        for name, simultaneous in product(("inv", "inv_p"), (False, True)):
            groups = [(found, name), *groups[: len(groups) % 3]]
            missed = below = above = beyond = k = 0
            for one, by in groups:
                columns, ending = one.columns(), "_all" if simultaneous else ""
                low, high = (columns[f"inv_{end}{ending}"] for end in ("low", "high"))
                shares, inside = columns[by], (high > 0) & (low < 1)  # of 0 to 100%, in part
                missed += int((((shares < low - 1e-12) | (shares > high + 1e-12)) & inside).sum())
                point = columns[f"inv_low{ending}_cut"] == columns[f"inv_high{ending}_cut"]
                below += int((point & (high <= 0)).sum())
                above += int((point & (low >= 1)).sum())
                beyond += int((((shares < -1e-12) | (shares > 1 + 1e-12)) & inside).sum())
                k += shares.size
            told = sentences.outside(
                [one.analysis for one, _ in groups], [by for _, by in groups], simultaneous=simultaneous
            )
            tells(
                " ".join(told),
                *((0.0, below, k, 1.0, above) if below + above else ()),
                *((missed, k - below - above) if missed else ()),
                *((beyond, k, 0.0, 1.0) if beyond else ()),
            )
            if len(groups) == 1:
                assert {*told} <= {*sentences.intervals(found, name, simultaneous=simultaneous)}
            seen.add((missed > 0, below > 0, above > 0, beyond > 0, len(groups) > 1))
    assert all({one[i] for one in seen} == {False, True} for i in range(5))


def test_the_least_epsilon_is_not_rejected_when_it_is_typed_as_told():
    """By as many collections as the page simulates: those of the search are fewer."""
    rng, truth = np.random.default_rng(54), RandomizedResponse(20, 2.0)
    for _ in range(6):
        counts = rng.multinomial(5000, truth.expected(zipf(20, 1.5)))
        found = simulations(counts, RandomizedResponse(20, 0.2), collections_for(20))
        text = sentences._plausible(replace(of(counts, 0.2), simulated=found))
        typed = float(re.search(r"at least about (\S+)\.$", text)[1])
        assert typed == found.plausible.low
        again = simulations(counts, RandomizedResponse(20, typed), collections_for(20))
        assert (again.fit.rejects(), again.plausible) == (False, None)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What `pages._ui.reports.results` writes without a page."""
    texts: list[str] = []
    page = MagicMock()
    for kind in ("markdown", "warning", "info", "caption"):
        getattr(page, kind).side_effect = lambda text, *_, **__: texts.append(text.replace("\\", ""))
    monkeypatch.setattr(results, "st", page)
    return texts


@recomputes(results.table, html_report._table_note)
def test_how_many_categories_a_table_holds(many, said):
    rng = np.random.default_rng(3)
    found = [
        of(rng.multinomial(90_000, np.full(k, 1 / k)), 3.0, i, 0) for i, k in enumerate((1000, 1001, 5000))
    ]
    for number, one in enumerate([*found, *analyses(many)[: len(CORNERS) + many // 4]]):
        k = one.used.protocol.k
        held = int(rng.integers(1, min(k, 1000) + 1)) if number > 2 else 1000
        name, simultaneous = list(ESTIMATORS)[number % 4], number % 2 == 1
        said.clear()
        results.table(one, results.Shown(name, simultaneous), one.order[:held])
        tells(said[-1], held, k, *([1000] if k > 1000 else []), k, one.level)
        note = html_report._table_note(one, name, held, simultaneous)
        tells(note, one.level, 0, 1, *((held, k) if held < k else ()))
        assert ("for all categories at once" in note) == simultaneous
        assert f"people are shares by {QUANTITIES[name].name} times N" in note


def test_what_was_assumed_is_said_where_nothing_was_left_out(said):
    data = [("reports.csv", counts_csv(list("abcd"), [290, 250, 170, 150]))]
    for domain, says in (
        (Size(9), "9: their number is known"),
        (read_list("a\nb\nc\nd"), "4: given as a list"),
    ):
        found = analysed(data, domain, epsilon=1.5, target="population")
        said.clear()
        results.left_out(found)
        report = html_report.html_report(found, [], "today").decode()
        for name, told in (("ε", "1.5"), ("Categories (K)", says), ("Shares of", "their population")):
            assert f"- {name}: {told}\n" in said[-1]
            assert f"<dt>{name}</dt><dd>{told}</dd>" in report


@recomputes(results.left_out)
def test_reports_outside_the_categories_are_counted_and_named(many, said):
    for found in analyses(many):
        said.clear()
        results.left_out(found)
        outside = found.used.collected.outside
        texts = [text for text in said[:-1] if "left out" in text]
        assert bool(texts) == bool(outside)
        if outside:
            tells(
                texts[0],
                sum(reports for _, reports in outside),
                *([len(outside) - 5] if len(outside) > 5 else []),
            )
            assert ("not on the list" in texts[0]) == (found.used.settings.domain == "listed")
            assert all(label in texts[0] for label, _ in outside[:5])


def test_rows_of_totals_are_not_called_reports(said):
    """1,308 reports were said to be left out where a row of the table held their total."""
    table = b"answer,count\nyes,700\nno,500\nsame,105\nNA,3\nTotal,1308\n"
    on_list = read_list("yes\nno\nsame")
    for domain, names, left in (
        (AllSeen(), Names(("Total",)), "1 row of totals is left out"),
        (on_list, Names(), "3 reports and 1 row of totals are left out"),
    ):
        found = analysed([("a.csv", table)], domain, names=names)
        assert sentences.outside_domain(found) == left
        assert f"{left}: see below." in sentences.answer(found)
    only = analysed([("a.csv", table.replace(b"NA,3\n", b""))], on_list)
    said.clear()
    results.left_out(only)
    assert said[0] == "1 row of totals is left out, under a name that is not counted as a category: Total."
    told = json.loads(json_file(only, "", ""))["left_out"]
    assert (told["reports_outside_domain"], told["outside_domain"]) == (0, [])
    assert told["summary_rows"] == [{"name": "Total", "number": 1308, "of": "totals"}]


def rows_of(table: str) -> list[list[str]]:
    """The cells of a Markdown table, without its heads."""
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[1:]]


@recomputes(results._coverage_table, results._credible_sentence, results._rejection_table)
def test_how_often_intervals_and_test_were_right_when_measured():
    coverage = read_csv("reports_interval_coverage.csv")
    held = [float(row["percent"]) / 100 for row in coverage]
    text, _, table = results._coverage_table().partition("\n\n")
    tells(text, 0.95, 2000, Down(min(held)), Up(max(held)), 0, 0)
    told = sorted(cell for row in rows_of(table) for cell in row[5:] if cell != "–")
    assert told == sorted(f"{100 * one:.1f}" for one in held)

    credible = [row for row in read_csv("reports_credible_coverage.csv") if row["categories"] == "large"]
    ends = []
    for prior in (0.5, 1.0):
        held = [float(row["percent"]) / 100 for row in credible if float(row["prior"]) == prior]
        ends += [Down(min(held)), Up(max(held))]
    tells(results._credible_sentence(), 0.95, *ends, 0.95)

    tests = read_csv("reports_fit_test.csv")
    small, right, large = (
        [float(row["percent"]) / 100 for row in tests if float(row["stated"]) == stated]
        for stated in (0.8, 1.0, 1.2)
    )
    assert {row["collections"] for row in tests if row["stated"] == "1.0"} == {"2000"}
    text, _, table = results._rejection_table().partition("\n\n")
    sizes = (Up(max(right)), 2000, 0.2, Down(min(small)), Up(max(small)), 0.2, Up(max(large)))
    tells(text, 0.05, *sizes, 0.001)
    told = sorted(share for row in rows_of(table) for share in percents(" ".join(row[5:])))
    assert told == pytest.approx(sorted([*small, *right, *large]))


@recomputes(with_intervals)
def test_the_chart_of_estimates_says_the_first_one_and_how_many_are_above_zero(many):
    for number, found in enumerate(analyses(many)):
        about, shares = setting(found), estimates(found)
        name, simultaneous = list(ESTIMATORS)[number % 4], number // 4 % 2 == 1
        view = bars(found.order, found.used.labels, "The most reported", min(20, about.k))
        text = reading(
            with_intervals(
                found.analysis.estimates,
                name,
                found.interval(simultaneous=simultaneous),
                found.analysis.above.above,
                about.n,
                view,
            )
        )
        top = int(found.used.collected.counts.argmax())
        low, high = limits(found, top, simultaneous)
        above, cut = int(above_zero(found).sum()), "cut at 0 and 1" in text
        side = [end for end, words in ((0, "wholly below 0%"), (1, "wholly above 100%")) if words in text]
        if min(abs(end - edge) for end in (low, high) for edge in (0, 1)) > 1e-12:
            assert side == [edge for edge, beyond in ((0, high < 0), (1, low > 1)) if beyond]
            assert cut == (not side and (low < 0 or high > 1))
        if not side:
            low, high = max(low, 0.0), min(high, 1.0)
        ends = (*((0, 1) if cut else ()), low, high, *side)
        tells(text, above, about.k, float(shares[name][top]), *ends, found.level)
        assert text.startswith(f"Markers of {LABELS[name]} are filled where ")
        assert ("all intervals together are" in text) == simultaneous


@recomputes(reports_floor)
def test_how_many_ranks_are_too_few(many):
    for number, found in enumerate(analyses(many)):
        if number % 4 and number > len(CORNERS):
            continue
        about, counts = setting(found), found.used.collected.counts
        compared = floor(counts, found.used.protocol)
        text = reading(reports_floor(compared))
        ranks = compared.ranks
        law = stats.binom.cdf(np.sort(counts)[ranks - 1], about.n, p_and_q(about)[1])
        # Rank j of k independent ones is so low with the chance that j or more of them are.
        chances = stats.binom.sf(ranks - 1, about.k, law)
        below = int((np.sort(counts)[ranks - 1] <= compared.lowest).sum())
        assert below == compared.too_few
        low = ["no rank lies" not in text]
        only = [] if ranks[-1] == about.k else [int(ranks[-1]), about.k]
        assert ("Only the" in text) == bool(only)
        if below:
            tells(text, *only, about.n * p_and_q(about)[1], below, ranks.size, 0.05)
            assert min(chances) <= 0.05
        else:
            tells(text, *only, about.n * p_and_q(about)[1])
            # Of m ranks any is too low in 5%: each in 5%/m or more.
            assert min(chances) > 0.05 / ranks.size * 0.7
        assert low == [below > 0]


@pytest.mark.parametrize(
    "test",
    [
        test_the_data_and_the_mechanism,
        test_the_answer_by_every_estimator_with_both_intervals,
        test_whether_the_stated_epsilon_fits,
        test_the_epsilon_under_which_the_reports_are_plausible,
        test_which_estimate_to_report_and_how_much_farther_the_others_are,
        test_how_to_read_the_intervals,
    ],
)
def test_the_corners_of_all_ranges(test):
    """What the quick run has of the tests above."""
    inspect.unwrap(test)(0)


@holds(sentences._WHERE_ONE_STANDS_OUT)
def test_where_a_share_stands_out_invp_is_never_far_behind():
    """Populations from flat to steep, few people and many, small and large ε; by means of 60 collections each."""
    rng, stood, far = np.random.default_rng(7), 0, []
    for k, s, epsilon, n in product((3, 12, 200), (0.01, 0.5, 1, 2, 3), (0.2, 1, 4), (300, 30_000)):
        mechanism, users = RandomizedResponse(k, epsilon), rng.multinomial(n, zipf(k, s))
        faithful = rng.binomial(users, mechanism.keep, (60, k))
        reports = faithful + rng.multinomial(n - faithful.sum(axis=1), np.full(k, 1 / k))
        found = k * stats.binom.sf(reports.max(axis=1) - 1, n, mechanism.q) < 0.05  # Holm's first step
        if found.mean() < 0.9:
            continue
        stood += 1
        errors = {
            name: ((ESTIMATORS[name](reports, mechanism) - users / n) ** 2).sum(axis=1).mean()
            for name in VALID
        }
        far.append(errors["inv_p"] / min(errors.values()))
    assert stood > 50
    assert max(far) <= 1.3
