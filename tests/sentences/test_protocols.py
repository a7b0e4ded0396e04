"""The sentences of the page of protocols, computed anew: every design, encoding, prior and scheme that the page has."""

from __future__ import annotations

import functools
import math
import re

import numpy as np
import pytest

from pages._ui import truth
from pages._ui.protocols import channel as channel_page
from pages._ui.protocols import over_time as time_page
from pages._ui.protocols import posterior as posterior_page
from pages._ui.protocols import side_by_side as compare_page
from pages._ui.protocols import unary as unary_page
from rr_core import RandomizedResponse
from rr_core.data import read_csv
from rr_core.figures import channel, over_time, protocols, unary
from rr_core.figures.style import reading
from rr_core.figures.view import bars, natural_order
from rr_core.geometry.simplex import CORNERS
from rr_core.protocols import Channel, HadamardResponse, PosteriorSummary, UnaryEncoding, collect
from rr_core.protocols.channel_estimation import inv_channel
from rr_core.protocols.collection import collect_unary, one_person
from rr_core.protocols.hadamard import inv_hadamard
from rr_core.protocols.over_time import SCHEMES, Longitudinal
from rr_core.protocols.posterior import DRAWS, prior_errors
from rr_core.protocols.settings import DESIGNS, ENCODINGS, ChannelSettings
from rr_core.protocols.unary_estimation import mle_gains
from rr_core.scenario import Scenario
from tests.app.opening import charts, checked, opened
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Down, Up, percents, random_scenarios, tells, value
from tests.words.test_plan import errors_of_protocols

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TINY = 5e-15  # distances below it are rounding


def distance(one, other):
    apart = 0.5 * math.fsum(abs(a - b) for a, b in zip(one, other, strict=True))
    return 0.0 if apart < TINY else apart


def near(true, slack):
    """Whether a number told is within so much of the true one."""
    return lambda told: abs(told - true) <= slack


def upwards(true, part=0.11, rounding=2e-15):
    """Whether a number told is not below the true one, and not far above."""
    return lambda told: true - rounding <= told <= true * (1 + part) + 2 * rounding


def channels(many):
    """Channels of every design of the page, and tables of one's own: square, wide, with zeros, telling nothing."""
    rng = np.random.default_rng(4)
    built = [design for design in DESIGNS if design != "own"]
    for i in range(many):
        k = int(rng.integers(2, 8))
        epsilon = float(np.exp(rng.uniform(np.log(0.01), np.log(20))))
        ends = i < 4 * len(built)
        settings = ChannelSettings(
            built[i % len(built)],
            *(float(rng.choice([0.0, 50.0, 100.0]) if ends else rng.uniform(0, 100)) for _ in range(4)),
        )
        if i % 3:
            k = 2 if settings.design == "warner" else k
            yield settings.channel(k, epsilon)
            continue
        table = rng.dirichlet(np.full(k + int(rng.integers(0, 3)), rng.choice([0.3, 3.0])), size=k)
        if i % 4 == 0:
            table = np.where(table < 0.1, 0.0, table)
            table[table.sum(axis=1) == 0, 0] = 1.0
        yield Channel(table / table.sum(axis=1, keepdims=True))


@functools.cache
def collections(many):
    rng = np.random.default_rng(5)
    return [
        collect(one, rng.multinomial(rng.choice([1, 30, 2000]), rng.dirichlet(np.ones(one.k))), i)
        for i, one in enumerate(channels(many))
    ]


def largest_log_ratio(matrix, pairs):
    ratios = [0.0]
    for x, other in pairs:
        for a, b in zip(matrix[x], matrix[other], strict=True):
            if a > 0 or b > 0:
                ratios.append(abs(math.log(a / b)) if a > 0 and b > 0 else math.inf)
    return max(ratios)


@recomputes(channel._privacy, channel._identification, channel.channel_sentences)
def test_what_a_channel_grants_and_tells_apart(many):
    for found in collections(max(many, 90)):
        matrix = found.channel.matrix
        k, m = matrix.shape
        granted, tells_apart, best = channel.channel_sentences(found, LETTERS[:k], LETTERS[:m].upper())
        epsilon = largest_log_ratio(matrix, [(x, y) for x in range(k) for y in range(x)])
        if math.isinf(epsilon):
            report, fact = re.fullmatch(
                r"It grants no ε: report “(.)” rules out the truth “(.)”.", granted
            ).groups()
            column = matrix[:, LETTERS.upper().index(report)]
            assert column[LETTERS.index(fact)] == 0
            assert column.max() > 0
        elif epsilon < 1e-12:
            assert granted == "It grants ε = 0: reports do not depend on the truth at all."
        else:
            step = largest_log_ratio(matrix, [(x, x + 1) for x in range(k - 1)])
            told = [Up(epsilon), Up(math.exp(epsilon))]
            tells(granted, *told, *([Up(step)] if "neighbours" in granted else []))
            assert ("neighbours" in granted) == (k > 2 and step < 0.999 * epsilon)
        rank = np.linalg.matrix_rank(matrix)
        if rank == k:
            condition = np.linalg.norm(matrix, 2) * np.linalg.norm(np.linalg.pinv(matrix), 2)
            enlarged = [Up(condition) if condition < 1e6 else None] if condition > 1 + 1e-9 else []
            tells(tells_apart, k, *enlarged)
        else:
            tells(tells_apart, k, int(rank))
        phi = found.counts / found.counts.sum()
        mu = found.mle.theta @ matrix
        seen = phi > 0
        gap = max(math.fsum(phi[seen] * matrix[i, seen] / mu[seen]) for i in range(k)) - 1
        if "up to rounding" in best:
            assert gap < 1e-11
        else:
            tells(best, upwards(gap, 0.11, 1e-13))


@holds("; there is no unbiased estimate")
@recomputes(channel._reading)
def test_how_far_a_channels_estimates_are_off(many):
    for found in collections(max(many, 90)):
        for hidden in (False, True):
            text = reading(
                channel.channel_estimates(
                    None if hidden else found.theta, found.phi, found.inv, found.mle, None
                )
            )
            numbers, zeros = [], int(sum(share == 0 for share in found.mle.theta))
            off = distance(found.mle.theta, found.theta)
            assert ("no unbiased estimate" in text) == (found.inv is None)
            if found.inv is None:
                numbers += [] if hidden else [off]
            else:
                negatives = int(sum(share < -1e-12 * max(map(abs, found.inv)) for share in found.inv))
                numbers += [] if hidden else [distance(found.inv, found.theta), off]
                numbers += [negatives] if negatives else []
                assert ("no negative" in text) == (negatives == 0)
            numbers += [zeros, found.channel.k]
            if "leaves the picture" in text:
                numbers += [min(found.inv), max(found.inv)]
            tells(text, *numbers)


@recomputes(channel.channel_table)
def test_the_chances_of_a_table(many):
    for one in channels(many):
        names = LETTERS[: one.k], LETTERS[: one.m]
        tells(
            reading(channel.channel_table(one, *names)),
            1.0,
            min(map(min, one.matrix)),
            max(map(max, one.matrix)),
        )


def ibu(found, wanted):
    """IBU from equal shares after these numbers of iterations, and the certificates."""
    phi, matrix = found.phi, found.channel.matrix
    seen = phi > 0
    theta, out = np.full(found.channel.k, 1 / found.channel.k), {}
    for n in range(max(wanted) + 1):
        factor = (phi[seen] / (theta @ matrix[:, seen])) @ matrix[:, seen].T
        if n in wanted:
            out[n] = theta.copy(), float(factor.max() - 1)
        theta = theta * factor
    return out


@recomputes(channel.channel_convergence, channel.channel_film)
def test_how_long_ibu_takes(many):
    said = set()
    for found in collections(max(many, 90))[:: 6 if many <= 100 else 20]:
        text = reading(channel.channel_convergence(found.ibu, found.mle, 1e-9))
        marks = found.ibu.iterations.tolist()
        told = re.search(r"After ([\d,]+) iterations? (?:or fewer )?no factor", text)
        reached = int(value(told[1])) if told else marks[-1]
        before = marks[marks.index(reached) - 1]
        gaps = ibu(found, {before, reached, marks[-1]})
        last, gap = gaps[marks[-1]]
        step = [upwards(found.mle.gap), found.mle.iterations]
        if told:
            assert gaps[reached][1] <= 1e-9 * (1 + 1e-3)
            assert before == 0 or gaps[before][1] > 1e-9 * (1 - 1e-3)
            tells(text, reached, 1, 1e-9, *step)
        else:
            tells(text, marks[-1], 1, upwards(gap), *step)
            assert gap > 1e-9 * (1 - 1e-3)
        assert ("no factor" in text) == bool(told)
        said.add(bool(told))
        film = reading(channel.channel_film(found, None))
        apart = distance(last, found.mle.theta)
        tells(film, marks[-1], apart if apart > 1e-9 else near(apart, 1e-10))
    assert said == {True, False}


@recomputes(channel.channel_triangle)
def test_where_ibu_ends_in_the_triangle(many):
    said = set()
    equal = [collect(Channel([[0.2, 0.3, 0.5]] * 3), [5, 5, 90], 1)]
    for found in equal + [one for one in collections(max(many, 90)) if one.channel.k == 3][:5]:
        text = reading(channel.channel_triangle(found, None, LETTERS[:3]))
        last = found.ibu.iterations.tolist()[-1]
        thetas = ibu(found, {0, last})
        still, apart = thetas[0][1] < 1e-12, thetas[last][0] - found.mle.theta
        away = math.sqrt(math.fsum(apart**2) / 2) * math.dist(*CORNERS[:2])
        tells(text, *([] if still else [last, away if away > 1e-9 else near(away, 1e-10)]))
        said.add(text.split()[6])
    assert said == {"climbs", "stays"}


@recomputes(channel.bounds_bars)
def test_how_good_an_estimate_can_get(many):
    rng = np.random.default_rng(6)
    for found in [one for one in collections(max(many, 90)) if one.channel.condition_number < 1e5][
        :: 2 if many <= 100 else 10
    ]:
        matrix, bounds = found.channel.matrix[:, found.channel.possible], found.bounds
        k, m = matrix.shape
        # E |Inv of one report - theta|^2 over Jeffreys' prior.
        of_one = inv_channel(np.eye(found.channel.m)[found.channel.possible], found.channel)
        squares = 1.5 / (k / 2 + 1)  # E |theta|^2
        error = float((matrix.mean(axis=0) * (of_one**2).sum(axis=1)).sum()) - squares
        theta = np.maximum(rng.dirichlet(np.full(k, 0.5), 4000), 1e-100)
        information = np.einsum("ij,rj,lj->ril", matrix, 1 / (theta @ matrix), matrix)
        logs = np.linalg.slogdet(information)[1] / (k - 1)
        entropy, spread = k * math.exp(-logs.mean()), logs.std() / math.sqrt(len(logs))
        text = reading(channel.bounds_bars(bounds, found.n))
        alone = k / math.expm1(found.channel.epsilon) ** 2 if math.isfinite(found.channel.epsilon) else 0.0
        if k == m:
            left = entropy / error
            proved = lambda told, left=left, spread=spread: 0 <= told <= min(1, left * math.exp(6 * spread))  # noqa: E731
            assert percents(text)[0] >= 0.98 * left * math.exp(-6 * spread)
            tells(text, found.n, error / found.n, proved, *([Down(min(alone / error, 1))] if alone else []))
        else:
            traces = np.trace(np.linalg.inv(information), axis1=1, axis2=2) - (theta**2).sum(axis=1)
            least, off = traces.mean(), 6 * traces.std() / math.sqrt(len(traces)) + 6 * bounds.exact_error
            about = off / least + 6 * spread + 0.06
            tells(
                text,
                found.n,
                near(least / found.n, (off + 0.01 * least) / found.n),
                error / found.n,
                near(entropy / least, about),
                *([near(min(alone / least, 1), about)] if alone else []),
            )


@recomputes(channel_page._merged)
def test_rows_that_were_merged_are_counted(many):
    for rows, k in [(2, 3), (2, 12), (3, 1_500_000), (100, 101)]:
        tells(channel_page._merged(rows, k, "others"), rows, k, k - rows + 1)


PERIODS = [(1, 0), (1, 1), (2, 1), (30, 0), (30, 7), (365, 1), (365, 365)]


def schemes_of(rng):
    k, epsilon = int(rng.integers(2, 101)), float(np.exp(rng.uniform(np.log(0.01), np.log(20))))
    part = float(rng.uniform(0.05, 0.95))
    return {
        key: Longitudinal(key, k, epsilon, None if key in ("fresh", "memoised") else part * epsilon)
        for key in SCHEMES
    }


@recomputes(over_time.budget)
def test_the_budget_told_is_never_below_what_is_spent(many):
    rng = np.random.default_rng(7)
    for i in range(max(many // 4, 2 * len(PERIODS))):
        (last, every), schemes = PERIODS[i % len(PERIODS)], schemes_of(rng)
        days = np.arange(1, last + 1)
        changes = (days - 1) // every if every else 0 * days
        spent = {key: scheme.epsilon_any_changes(days, changes) for key, scheme in schemes.items()}
        known = {key: scheme.epsilon_changing(days, every or last) for key, scheme in schemes.items()}
        text = reading(over_time.budget(days, spent, known if changes[-1] else None, int(changes[-1])))
        # Shares of a day by the remembered answers of a person who goes through all values in turn.
        held = {
            key: np.bincount(((days - 1) // (every or last)) % min(scheme.cells, scheme.k))
            for key, scheme in schemes.items()
        }
        exact = [
            last * scheme.epsilon
            if key == "fresh"
            else math.fsum(float(scheme.epsilon_after(int(t))) for t in held[key] if t)
            for key, scheme in schemes.items()
        ]
        if not changes[-1]:
            tells(text, last, *(upwards(one, 0.011, 1e-9) for one in exact))
            continue
        limits = [
            upwards(float(spent[key][-1]), 0.011, 1e-9) for key in SCHEMES if math.isfinite(spent[key][-1])
        ]
        assert ("Memoised no limit" in text) == (last > 1)
        tells(text, last, int(changes[-1]), *limits, *(upwards(one, 0.011, 1e-9) for one in exact))


@recomputes(over_time.exposure, over_time.errors)
def test_shares_guessed_and_errors_are_those_of_the_last_day(many):
    rng = np.random.default_rng(8)
    for _ in range(many):
        keys = list(rng.permutation(SCHEMES)[: rng.integers(1, 7)])
        days = np.unique(rng.integers(1, 366, 5))
        right = {
            key: np.append(rng.random(days.size - 1), rng.choice([rng.random(), 0.99999, 1.0]))
            for key in keys
        }
        without = float(rng.random())

        def guessed(one):
            return near(0.999, 1e-9) if one > 0.9995 else float(one)

        text = reading(over_time.exposure(days, right, without))
        tells(text, int(days[-1]), *(guessed(right[key][-1]) for key in keys), without)
        off = {key: np.exp(rng.uniform(-9, 3, days.size)) for key in keys}
        text = reading(over_time.errors(days, off, [], {}))
        last = [float(one[-1]) for one in off.values()]
        tells(text, int(days[-1]), *(one if one < 0.995 else near(one, 0.0051) for one in last))


@recomputes(time_page._in_words, time_page._about_changes)
def test_what_one_persons_days_say(many):
    rng = np.random.default_rng(9)
    for i in range(many):
        days = int(rng.integers(1, 366))
        mine = int(rng.integers(0, days + 1))
        other, epsilon = (
            int(rng.integers(0, days - mine + 1)),
            float(np.exp(rng.uniform(np.log(0.01), np.log(20)))),
        )
        if i % 10 == 0:
            other = min(mine, days - mine)
        text = time_page._in_words(("a", "b"), (mine, other), days, epsilon)
        exponent, most = abs(mine - other) * epsilon, Up(math.exp(epsilon))
        if exponent < 690:
            tells(text, days, mine, other, *([math.exp(exponent)] if mine != other else []), most)
        assert ("rose" in text, "fell" in text) == (mine > other, mine < other)
    for k, hashed in [(2, 2), (12, 3), (100, 100)]:
        tells(time_page._about_changes(k, hashed), k, k, hashed)


@recomputes(time_page._explanation)
def test_whose_days_are_shown(many, monkeypatch):
    for hidden in (False, True):
        monkeypatch.setattr(truth, "hidden", lambda hidden=hidden: hidden)
        for scenario in random_scenarios(many // 4, most=300):
            people = time_page._People(np.full(min(scenario.k, 100), 0.1), [])
            settings = time_page.options.TimeSettings(day=37.0)
            text = time_page._explanation(settings, scenario, people)
            shown = [] if scenario.k <= 100 else [100, scenario.k]
            tells(
                text,
                *shown,
                near(scenario.epsilon, 1e-9 * scenario.epsilon),
                near(0.37 * scenario.epsilon, 1e-9),
            )


@recomputes(unary_page._explanation)
def test_what_a_bit_is_and_how_sure_mle(many):
    for scenario in [*random_scenarios(many // 5, most=40), Scenario("zipf", 60, 1.0, 1.0, 10**6, 3)]:
        for encoding in ENCODINGS:
            scenario = Scenario(
                scenario.dist, scenario.k, scenario.s, scenario.epsilon, min(scenario.n, 10**6), 1
            )
            if scenario.n > 3000 and scenario.n * scenario.k <= 2_000_000:
                continue
            protocol, draw = UnaryEncoding(scenario.k, scenario.epsilon, encoding == "oue"), scenario.draw()
            found = collect_unary(protocol, draw.true_counts, 1)
            half = scenario.epsilon / 2
            p, q = (
                (0.5, 1 / (math.exp(2 * half) + 1))
                if encoding == "oue"
                else (1 - 1 / (math.exp(half) + 1), 1 / (math.exp(half) + 1))
            )
            text = unary_page._explanation(protocol, found, draw)
            told = [p, q, near(scenario.epsilon, 1e-9 * scenario.epsilon), 1.0]
            if found.reports is None:
                tells(text, 1, *told, 2_000_000, scenario.k * scenario.n)
                continue
            ratio = [np.where(found.reports[:, i] == 1, p / q, (1 - p) / (1 - q)) for i in range(scenario.k)]
            mixed = sum(share * one for share, one in zip(found.mle.theta, ratio, strict=True))
            gap = max(float(np.mean(one / mixed)) for one in ratio) - 1
            tells(text, 1, *told, *([] if "up to rounding" in text else [upwards(gap, 0.11, 1e-12)]))
            assert ("up to rounding" in text) == (found.mle.gap < 1e-12)


@recomputes(unary_page._in_words, unary.one_report)
def test_what_one_report_counts_as(many):
    for scenario in random_scenarios(many, most=60):
        k, n, epsilon = scenario.k, 5, scenario.epsilon
        counts = np.bincount([0] * n, minlength=k)
        for optimised in (False, True):
            protocol = UnaryEncoding(k, epsilon, optimised)
            person = one_person(counts, RandomizedResponse(k, epsilon), protocol, scenario.seed)
            p, q = protocol.p, protocol.q
            text = unary_page._in_words(person, "a")
            assert f"`{''.join(str(bit) for bit in person.bits)}`" in text
            without = re.sub("`.*?`. Each 1", "", text)
            tells(without, (1 - q) / (p - q), 0, -q / (p - q))
        total = math.exp(epsilon) + k - 1
        own, other = (1 - 1 / total) * total / math.expm1(epsilon), -1 / math.expm1(epsilon)
        debiased = np.where(np.arange(k) == 0, own, other)
        text = reading(unary.one_report(debiased, debiased, LETTERS[:1] * k))
        tells(text, own, other, 1)
        assert ("the other one" in text) == (k == 2)
        assert " 1 people" not in text


@recomputes(unary._reading)
def test_estimates_from_bits(many):
    rng = np.random.default_rng(10)
    for i in range(many):
        k = int(rng.integers(2, 30))
        theta = rng.dirichlet(np.ones(k))
        estimates = {name: rng.dirichlet(np.ones(k)) for name in ("inv_n", "inv_p", "mle")}
        estimates["inv"] = theta + rng.normal(size=k) * rng.choice([0.01, 5.0])
        if i % 3 == 0:
            del estimates["mle"]
        ones, view = rng.random(k), bars(natural_order(k), None, "Category")
        for fact in (None, theta):
            text = reading(unary.unary_estimates(estimates, ones, fact, view))
            gone = [min(estimates["inv"]), max(estimates["inv"])] if "leaves the picture" in text else []
            if fact is None:
                tells(text, k, int(sum(estimates["inv"] < 0)), math.fsum(ones), *gone)
                continue
            off = sorted(distance(one, theta) for name, one in estimates.items() if name != "inv")
            tells(text, *off, math.fsum(ones), *gone)


@recomputes(unary.gain_map)
def test_the_map_of_what_mle_gains_is_that_of_the_table():
    for encoding in ("sue", "oue"):
        for k in sorted({int(row["k"]) for row in read_csv("unary_gain.csv")}):
            rows = [
                row for row in read_csv("unary_gain.csv") if (row["encoding"], int(row["k"])) == (encoding, k)
            ]
            apart = [(1 - float(row["ratio"])) / float(row["error"]) for row in rows]
            best = min(rows, key=lambda row: float(row["ratio"]))
            figure = unary.gain_map([gain for gain in mle_gains() if gain.encoding == encoding], k)
            check(figure)
            (cells,) = figure.data
            place = (
                list(cells.y).index(f"{int(best['n']) // k:,}"),
                list(cells.x).index(f"{float(best['epsilon']):g}"),
            )
            assert cells.z[place] == pytest.approx(1 - float(best["ratio"]), abs=1e-6)
            text = reading(figure)
            clear, worse = (int(sum(sign * one > 4 for one in apart)) for sign in (1, -1))
            tells(
                text,
                k,
                clear,
                len(rows),
                1 - float(best["ratio"]),
                float(best["epsilon"]),
                int(best["n"]) // k,
                worse,
            )


@recomputes(protocols.wrong_priors)
def test_where_a_wrong_prior_is_best_is_that_of_the_table():
    for prior in (0.5, 1.0):
        rows = sorted(
            (row for row in read_csv("prior_errors.csv") if float(row["prior"]) == prior),
            key=lambda row: float(row["truth"]),
        )
        names = ("inv_n", "inv_p", "mle_star")
        best = [
            float(row["truth"])
            for row in rows
            if float(row["posterior"]) < min(float(row[name]) for name in names)
        ]
        first = rows[0]
        shown = sorted((row for row in prior_errors() if row.prior == prior), key=lambda row: row.truth)
        figure = protocols.wrong_priors(shown)
        check(figure)
        np.testing.assert_allclose(figure.data[0].y, [row.errors["posterior"] for row in shown])
        text = reading(figure)
        tells(text, int(first["k"]), float(first["epsilon"]), int(first["n"]), prior, *best)
        assert "none of these" not in text or not best


@recomputes(protocols._posterior_reading, protocols.towards_mle)
def test_the_posterior_beside_mle(many):
    rng = np.random.default_rng(11)
    for _ in range(many):
        k = int(rng.integers(2, 40))
        mean, low, width = rng.dirichlet(np.ones(k)), rng.random(k) / k, rng.random(k) / k
        found = PosteriorSummary(mean, low, low + width, 0.95)
        estimates = {name: rng.dirichlet(np.ones(k)) for name in ("inv_p", "mle_star")}
        fact, view = rng.dirichlet(np.ones(k)), bars(natural_order(k), None, "Category")
        holds = sum(a <= one <= b for a, one, b in zip(low, fact, low + width, strict=True))
        off = [distance(one, fact) for one in (mean, estimates["mle_star"], estimates["inv_p"])]
        text = reading(protocols.posterior_intervals(found, estimates, fact, view))
        tells(text, *off, int(holds), k)
        assert ("intervals holds the truth" in text) == (holds == 1)
        away = distance(mean, estimates["mle_star"])
        tells(reading(protocols.posterior_intervals(found, estimates, None, view)), away, k, max(width))
        sizes, values = sorted(int(10**one) for one in rng.uniform(1, 7, 4)), rng.random(4)
        text = reading(protocols.towards_mle(sizes, {"0.5": values}))
        tells(text, 0.5, DRAWS, float(values[0]), sizes[0], float(values[-1]), sizes[-1])


NAMES = {
    "rr": "k-RR",
    "subset": "subset selection",
    "sue": "symmetric unary encoding",
    "oue": "optimised unary encoding",
    "olh": "optimised local hashing",
    "hr": "Hadamard response",
}


def expected(k, epsilon, n, theta):
    """RMSE per category of Inv by each protocol, for these users; that of Hadamard response depends on their shares."""
    found, _ = errors_of_protocols(k, epsilon)
    protocol = HadamardResponse(k, epsilon)
    once = inv_hadamard(np.eye(protocol.m), protocol)  # (m, k) Inv of a single report
    found["hr"] = float(
        (theta @ protocol.matrix() @ once**2 - theta @ (protocol.matrix() @ once) ** 2).mean()
    )
    return {NAMES[key]: math.sqrt(variance / n) for key, variance in found.items()}


@recomputes(protocols._reading)
def test_which_protocol_has_the_smallest_error(many):
    for scenario in random_scenarios(many, most=60):
        theta = np.random.default_rng(scenario.seed).dirichlet(np.ones(scenario.k))
        errors = expected(scenario.k, scenario.epsilon, scenario.n, theta)
        least = min(errors.values())
        text = reading(protocols.side_by_side(scenario.k, scenario.epsilon, scenario.n, {}, theta))
        named = [name for name, error in errors.items() if f" {name}" in text.split("; ")[0]]
        ratio = (errors["k-RR"] / least) ** 2
        tells(
            text,
            scenario.k,
            near(scenario.epsilon, 1e-5 * scenario.epsilon),
            least,
            *([ratio] if "times the users" in text else []),
        )
        assert ("k-RR needs" in text) == ("k-RR" not in named)
        if abs(ratio - 1.0005) > 1e-6:
            assert ("hardly more" in text) == ("k-RR" not in named and ratio < 1.0005)
        for name, error in errors.items():
            more = (error / least) ** 2 - 1
            if not 1e-10 < more < 1e-6:  # what is worked out here is rounded too
                assert (name in named) == (more < 1e-9), (name, text)


@pytest.mark.slow
@recomputes(posterior_page._too_many)
def test_what_is_too_many_for_the_posterior(monkeypatch):
    flat = PosteriorSummary(*np.full((3, 2000), 1 / 2000), 0.95)
    monkeypatch.setattr(posterior_page, "summarise_posterior", lambda *_: flat)
    assert "lower **Categories K**." in posterior_page._too_many(k=True, n=False)
    assert "lower **Users N**." in posterior_page._too_many(k=False, n=True)
    assert "lower **Categories K** and **Users N**." in posterior_page._too_many(k=True, n=True)
    tells(posterior_page._too_many(k=True, n=True), 2000, 1_000_000)
    assert opened("protocols", "part=posterior&dist=zipf&k=2000&n=1000000").info == []
    assert len(opened("protocols", "part=posterior&dist=zipf&k=2001&n=1000").info) == 1
    assert len(opened("protocols", "part=posterior&dist=zipf&k=20&n=1000001").info) == 1


def said(query):
    page = opened("protocols", query)
    return [one.value for kind in (page.main.markdown, page.main.caption) for one in kind], page


def the(texts, begins):
    (found,) = [text for text in texts if begins in text]
    return found


@pytest.mark.slow
@recomputes(
    channel_page._own_matrix,
    channel_page._explain,
    time_page._formulas,
    posterior_page._details,
    posterior_page._nearest,
    compare_page.section,
    unary_page._one_report,
    unary_page._gains,
)
def test_what_stands_around_the_figures():
    texts, page = said("channel=own&matrix=1 0 0;0 1 0;0 0 1&dist=zipf&k=2")
    assert "The table has 3 rows, so K is 3 here." in the(texts, "A table of my own.")
    rows = ";".join(" ".join("1" if i == j else "0" for j in range(13)) for i in range(13))
    texts, _ = said(f"channel=own&matrix={rows}&dist=exam&s=2")
    assert "so K is 13 here, and the users are of a Zipf distribution with s = 1." in the(
        texts, "A table of my own."
    )
    page = checked(page.text_area[0].set_value("0.9 0.1; 0.5").run())
    assert "The last table that could be read stays in use" in page.error[0].value
    assert "K is 3 here" in the([one.value for one in page.main.markdown], "A table of my own.")

    for day, k in ((5, 12), (95, 100), (50, 2)):
        texts, _ = said(f"part=time&dist=zipf&k={k}&eps=2&day={day}")
        first, hashed = 2 * day / 100, Longitudinal("loloha", k, 2.0, 2 * day / 100).cells
        text = the(texts, "With more than two values")
        assert value(re.search(r"here ([\d.]+); so", text)[1]) == pytest.approx(first)
        assert f"LOLOHA has {hashed} hash values" in text

    rows = [row for row in read_csv("prior_errors.csv") if float(row["prior"]) == 0.5]
    for k, own, measured in ((100, 0.7, 0.5), (101, 0.76, 1.0), (5, 1.0, None)):
        texts, page = said(f"part=posterior&dist=zipf&k={k}&prior=own&alpha={own}")
        assert any("Shown for up to 100 categories" in text for text in texts) == (k > 100)
        text = the(texts, "Measured beforehand")
        assert f"{int(rows[0]['replicates']):,} collections at each point" in text
        assert text.startswith("**This is the prior") == (measured is not None)
        if measured:
            tells(text.partition("Measured")[0], measured, own)
        (dotted,) = charts(page)[-1]["layout"]["shapes"]
        assert dotted["x0"] == (measured or own)

    for k, hidden in ((2000, False), (2001, False), (12, True)):
        texts, page = said(f"part=compare&dist=zipf&k={k}" + "&truth=hidden" * hidden)
        text = the(texts, "| Protocol |")
        assert ("Collections are drawn for up to 2,000 categories" in text) == (k > 2000)
        drawn = k <= 2000 and not hidden
        assert ("In this draw" in str(charts(page)[0]["data"])) == ("Diamonds" in text) == drawn
        assert ("over all ways to deal" in the(texts, "very users")) == hidden

    gains = read_csv("unary_gain.csv")
    for k, bits, encoding in ((60, "rappor", "sue"), (61, "oue", "oue")):
        texts, _ = said(f"part=unary&dist=zipf&k={k}&bits={bits}")
        assert any("Shown for up to 60 categories" in text for text in texts) == (k > 60)
        least = min(int(row["replicates"]) for row in gains if row["encoding"] == encoding)
        assert f"{least:,} collections or more" in the(texts, "Measured beforehand")
