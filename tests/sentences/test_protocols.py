"""The sentences of the page of protocols, against their numbers: every design, encoding, prior and scheme that the page
has. The numbers of channels, encodings and schemes are held by `tests.core.test_protocols_*`."""

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
from rr_core.data import read_csv
from rr_core.figures import channel, over_time, protocols, unary
from rr_core.figures.style import reading
from rr_core.figures.view import bars, natural_order
from rr_core.geometry.simplex import to_plane
from rr_core.protocols import Channel, PosteriorSummary, UnaryEncoding, collect
from rr_core.protocols.collection import collect_unary, one_person
from rr_core.protocols.over_time import SCHEMES, Longitudinal
from rr_core.protocols.posterior import DRAWS, prior_errors
from rr_core.protocols.settings import DESIGNS, ENCODINGS, ChannelSettings
from rr_core.protocols.unary_estimation import mle_gains
from rr_core.scenario import Scenario
from rr_core.words.plan import protocol_in_a_sentence
from tests.app.opening import charts, checked, opened
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Down, Up, random_scenarios, tells, value

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
    rng, built = np.random.default_rng(4), [design for design in DESIGNS if design != "own"]
    for i in range(many):
        k, design = int(rng.integers(2, 8)), built[i % len(built)]
        percents_of = rng.choice([0.0, 50.0, 100.0], 4) if i < 4 * len(built) else rng.uniform(0, 100, 4)
        epsilon = float(np.exp(rng.uniform(np.log(0.01), np.log(20))))
        if i % 3:
            yield ChannelSettings(design, *percents_of.tolist()).channel(
                2 if design == "warner" else k, epsilon
            )
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
        for i, one in enumerate(channels(max(many, 90)))
    ]


@recomputes(channel._privacy, channel._identification, channel.channel_sentences)
def test_what_a_channel_grants_and_tells_apart(many):
    for found in collections(many):
        one, k = found.channel, found.channel.k
        granted, tells_apart, best = channel.channel_sentences(found, LETTERS[:k], LETTERS[: one.m].upper())
        if math.isinf(one.epsilon):
            pattern = r"It grants no ε: report “(.)” rules out the truth “(.)”."
            report, fact = re.fullmatch(pattern, granted).groups()
            column = one.matrix[:, LETTERS.upper().index(report)]
            assert column[LETTERS.index(fact)] == 0 < column.max()
        elif one.epsilon < 1e-12:
            assert granted == "It grants ε = 0: reports do not depend on the truth at all."
        else:
            step = [Up(one.epsilon_per_step)] if "neighbours" in granted else []
            tells(granted, Up(one.epsilon), Up(math.exp(one.epsilon)), *step)
        assert one.identified == (np.linalg.matrix_rank(one.matrix) == k)
        condition = one.condition_number
        enlarged = [Up(condition) if condition < 1e6 else None] if condition > 1 + 1e-9 else []
        tells(tells_apart, k, *(enlarged if one.identified else [int(one.rank)]))
        tells(best, *([] if "up to rounding" in best else [upwards(found.mle.gap, 0.11, 1e-13)]))


@holds("; there is no unbiased estimate")
@recomputes(channel._reading)
def test_how_far_a_channels_estimates_are_off(many):
    for found in collections(many):
        for theta in (found.theta, None):
            text = reading(channel.channel_estimates(theta, found.phi, found.inv, found.mle, None))
            estimates = [one for one in (found.inv, found.mle.theta) if one is not None]
            numbers = [] if theta is None else [distance(one, theta) for one in estimates]
            assert ("no unbiased estimate" in text) == (found.inv is None)
            if found.inv is not None:
                negatives = int((found.inv < -1e-12 * np.abs(found.inv).max()).sum())
                numbers += [negatives] if negatives else []
                assert ("no negative" in text) == (not negatives)
            numbers += [int((found.mle.theta == 0).sum()), found.channel.k]
            tells(text, *numbers, *([min(found.inv), max(found.inv)] if "leaves the picture" in text else []))


@recomputes(channel.channel_table)
def test_the_chances_of_a_table(many):
    for one in channels(many):
        names = LETTERS[: one.k], LETTERS[: one.m]
        tells(reading(channel.channel_table(one, *names)), 1.0, one.matrix.min(), one.matrix.max())


@recomputes(channel.channel_convergence, channel.channel_film)
def test_how_long_ibu_takes(many):
    said = set()
    for found in collections(many)[::6]:
        record, step = found.ibu, [upwards(found.mle.gap), found.mle.iterations]
        reached = record.iterations[1:][record.gaps[1:] <= 1e-9]
        text = reading(channel.channel_convergence(record, found.mle, 1e-9))
        if reached.size:
            tells(text, int(reached[0]), 1, 1e-9, *step)
        else:
            tells(text, int(record.iterations[-1]), 1, upwards(record.gaps[-1]), *step)
        assert ("no factor" in text) == bool(reached.size)
        apart = distance(record.thetas[-1], found.mle.theta)
        tells(reading(channel.channel_film(found, None)), int(record.iterations[-1]), apart)
        said.add(bool(reached.size))
    assert said == {True, False}


@recomputes(channel.channel_triangle)
def test_where_ibu_ends_in_the_triangle(many):
    said = set()
    equal = [collect(Channel([[0.2, 0.3, 0.5]] * 3), [5, 5, 90], 1)]
    for found in equal + [one for one in collections(many) if one.channel.k == 3][:5]:
        text, record = reading(channel.channel_triangle(found, None, LETTERS[:3])), found.ibu
        away = math.dist(to_plane(record.thetas[-1]), to_plane(found.mle.theta))
        tells(text, *([] if record.gaps[0] < 1e-12 else [int(record.iterations[-1]), away]))
        said.add(text.split()[6])
    assert said == {"climbs", "stays"}


@recomputes(channel.bounds_bars)
def test_how_good_an_estimate_can_get(many):
    said = set()
    for found in [one for one in collections(many) if one.channel.identified][::2]:
        bounds, n = found.bounds, found.n
        text, parts = reading(channel.bounds_bars(bounds, n)), [bounds.entropy / bounds.exact]
        parts += [bounds.epsilon / bounds.exact] if bounds.epsilon else []
        if bounds.is_exact:
            tells(text, n, bounds.inv / n, *(Down(min(part, 1.0)) for part in parts))
        else:
            tells(text, n, bounds.exact / n, bounds.inv / n, *(near(min(part, 1.0), 0.006) for part in parts))
        said.add(bounds.is_exact)
    assert said == {True, False}


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
    for i in range(2 * len(PERIODS)):
        (last, every), schemes = PERIODS[i % len(PERIODS)], schemes_of(rng)
        days = np.arange(1, last + 1)
        changes = (days - 1) // every if every else 0 * days
        spent = {key: scheme.epsilon_any_changes(days, changes) for key, scheme in schemes.items()}
        known = {key: scheme.epsilon_changing(days, every or last) for key, scheme in schemes.items()}
        text = reading(over_time.budget(days, spent, known if changes[-1] else None, int(changes[-1])))
        of_days = [*spent.values(), *known.values()] if changes[-1] else [*spent.values()]
        told = [upwards(float(one[-1]), 0.011, 1e-9) for one in of_days if math.isfinite(one[-1])]
        assert ("Memoised no limit" in text) == (last > 1 and changes[-1] > 0)
        tells(text, last, *([int(changes[-1])] if changes[-1] else []), *told)


@recomputes(over_time.exposure, over_time.errors)
def test_shares_guessed_and_errors_are_those_of_the_last_day(many):
    rng = np.random.default_rng(8)
    for _ in range(many):
        keys = list(rng.permutation(SCHEMES)[: rng.integers(1, 7)])
        days, without = np.unique(rng.integers(1, 366, 5)), float(rng.random())
        right = {
            key: np.append(rng.random(days.size - 1), rng.choice([rng.random(), 0.99999, 1.0]))
            for key in keys
        }
        guessed = [near(0.999, 1e-9) if right[key][-1] > 0.9995 else float(right[key][-1]) for key in keys]
        tells(reading(over_time.exposure(days, right, without)), int(days[-1]), *guessed, without)
        off = {key: np.exp(rng.uniform(-9, 3, days.size)) for key in keys}
        last = [float(one[-1]) for one in off.values()]
        told = [one if one < 0.995 else near(one, 0.0051) for one in last]
        tells(reading(over_time.errors(days, off, [], {})), int(days[-1]), *told)


@recomputes(time_page._in_words, time_page._about_changes)
def test_what_one_persons_days_say(many):
    rng = np.random.default_rng(9)
    for i in range(many):
        days, epsilon = int(rng.integers(1, 366)), float(np.exp(rng.uniform(np.log(0.01), np.log(20))))
        mine = int(rng.integers(0, days + 1))
        other = min(mine, days - mine) if i % 10 == 0 else int(rng.integers(0, days - mine + 1))
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
            text = time_page._explanation(time_page.options.TimeSettings(day=37.0), scenario, people)
            shown, epsilon = [] if scenario.k <= 100 else [100, scenario.k], scenario.epsilon
            tells(text, *shown, near(epsilon, 1e-9 * epsilon), near(0.37 * epsilon, 1e-9))


@recomputes(unary_page._explanation)
def test_what_a_bit_is_and_how_sure_mle(many):
    for scenario in [*random_scenarios(many // 5, most=40), Scenario("zipf", 60, 1.0, 1.0, 10**6, 3)]:
        for encoding in ENCODINGS:
            k, epsilon, n = scenario.k, scenario.epsilon, min(scenario.n, 10**6)
            if n > 3000 and n * k <= 2_000_000:
                continue
            draw = Scenario(scenario.dist, k, scenario.s, epsilon, n, 1).draw()
            protocol = UnaryEncoding(k, epsilon, encoding == "oue")
            found = collect_unary(protocol, draw.true_counts, 1)
            text = unary_page._explanation(protocol, found, draw)
            told = [protocol.p, protocol.q, near(epsilon, 1e-9 * epsilon), 1.0]
            told += [2_000_000, k * n] if found.reports is None else []
            if found.reports is not None and "up to rounding" not in text:
                told.append(upwards(found.mle.gap, 0.11, 1e-12))
            tells(text, 1, *told)


@recomputes(unary_page._in_words, unary.one_report)
def test_what_one_report_counts_as(many):
    for scenario in random_scenarios(many // 2, most=60):
        k, mechanism = scenario.k, scenario.mechanism
        for optimised in (False, True):
            protocol = UnaryEncoding(k, scenario.epsilon, optimised)
            person = one_person(np.bincount([0] * 5, minlength=k), mechanism, protocol, scenario.seed)
            p, q, text = protocol.p, protocol.q, unary_page._in_words(person, "a")
            assert f"`{''.join(str(bit) for bit in person.bits)}`" in text
            tells(re.sub("`.*?`. Each 1", "", text), (1 - q) / (p - q), 0, -q / (p - q))
        own, other = (1 - mechanism.q) / mechanism.keep, -mechanism.q / mechanism.keep
        debiased = np.where(np.arange(k) == 0, own, other)
        text = reading(unary.one_report(debiased, debiased, LETTERS[:1] * k))
        tells(text, own, other, 1)
        assert ("the other one" in text) == (k == 2)


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
        for k in sorted({gain.k for gain in mle_gains()}):
            shown = [gain for gain in mle_gains() if (gain.encoding, gain.k) == (encoding, k)]
            best = min(shown, key=lambda gain: gain.ratio)
            figure = unary.gain_map([gain for gain in mle_gains() if gain.encoding == encoding], k)
            check(figure)
            (cells,) = figure.data
            place = list(cells.y).index(f"{best.n // k:,}"), list(cells.x).index(f"{best.epsilon:g}")
            assert cells.z[place] == pytest.approx(1 - best.ratio, abs=1e-6)
            apart = [(1 - gain.ratio) / gain.error for gain in shown]
            clear, worse = (sum(sign * one > 4 for one in apart) for sign in (1, -1))
            tells(reading(figure), k, clear, len(shown), 1 - best.ratio, best.epsilon, best.n // k, worse)


@recomputes(protocols.wrong_priors)
def test_where_a_wrong_prior_is_best_is_that_of_the_table():
    for prior in (0.5, 1.0):
        shown = sorted((row for row in prior_errors() if row.prior == prior), key=lambda row: row.truth)
        figure = protocols.wrong_priors(shown)
        check(figure)
        np.testing.assert_allclose(figure.data[0].y, [row.errors["posterior"] for row in shown])
        best = [row.truth for row in shown if min(row.errors, key=row.errors.__getitem__) == "posterior"]
        (first, *_) = (row for row in read_csv("prior_errors.csv") if float(row["prior"]) == prior)
        about = int(first["k"]), float(first["epsilon"]), int(first["n"]), prior
        tells(reading(figure), *about, *best)


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


@recomputes(protocols._reading)
def test_which_protocol_has_the_smallest_error(many):
    for scenario in random_scenarios(many, most=60):
        k, epsilon = scenario.k, scenario.epsilon
        theta = np.random.default_rng(scenario.seed).dirichlet(np.ones(k))
        errors = protocols.expected_errors(k, epsilon, scenario.n, theta)
        least = min(errors.values())
        text = reading(protocols.side_by_side(k, epsilon, scenario.n, {}, theta))
        ratio = (errors["rr"] / least) ** 2
        tells(text, k, near(epsilon, 1e-5 * epsilon), least, *([ratio] if "times the users" in text else []))
        named = {key for key in errors if f" {protocol_in_a_sentence(key)}" in text.split("; ")[0]}
        assert ("k-RR needs" in text) == ("rr" not in named)
        assert ("hardly more" in text) == ("rr" not in named and ratio < 1.0005)
        assert named == {key for key, error in errors.items() if (error / least) ** 2 < 1 + 1e-9}


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
    rows = ";".join(" ".join("1" if i == j else "0" for j in range(13)) for i in range(13))
    texts, _ = said(f"channel=own&matrix={rows}&dist=exam&s=2")
    own = the(texts, "A table of my own.")
    assert (
        "The table has 13 rows, so K is 13 here, and the users are of a Zipf distribution with s = 1." in own
    )
    _, page = said("channel=own&matrix=1 0 0;0 1 0;0 0 1&dist=zipf&k=2")
    page = checked(page.text_area[0].set_value("0.9 0.1; 0.5").run())
    assert "The last table that could be read stays in use" in page.error[0].value
    assert "The table has 3 rows, so K is 3 here." in the(
        [one.value for one in page.main.markdown], "A table of my own."
    )

    texts, _ = said("part=time&dist=zipf&k=12&eps=2&day=5")
    text = the(texts, "With more than two values")
    assert value(re.search(r"here ([\d.]+); so", text)[1]) == pytest.approx(0.1)
    assert f"LOLOHA has {Longitudinal('loloha', 12, 2.0, 0.1).cells} hash values" in text

    texts, page = said("part=posterior&dist=zipf&k=101&prior=own&alpha=0.76")
    assert any("Shown for up to 100 categories" in text for text in texts)
    before, _, text = the(texts, "Measured beforehand").partition("Measured")
    assert f"{int(read_csv('prior_errors.csv')[0]['replicates']):,} collections at each point" in text
    assert before.startswith("**This is the prior")
    tells(before, 1.0, 0.76)
    (dotted,) = charts(page)[-1]["layout"]["shapes"]
    assert dotted["x0"] == 1.0

    for k, hidden in ((2001, False), (12, True), (12, False)):
        texts, page = said(f"part=compare&dist=zipf&k={k}" + "&truth=hidden" * hidden)
        text = the(texts, "| Protocol |")
        assert ("Collections are drawn for up to 2,000 categories" in text) == (k > 2000)
        drawn = k <= 2000 and not hidden
        assert ("In this draw" in str(charts(page)[0]["data"])) == ("Diamonds" in text) == drawn
        assert ("over all ways to deal" in the(texts, "very users")) == hidden

    texts, _ = said("part=unary&dist=zipf&k=61&bits=oue")
    assert any("Shown for up to 60 categories" in text for text in texts)
    least = min(int(row["replicates"]) for row in read_csv("unary_gain.csv") if row["encoding"] == "oue")
    assert f"{least:,} collections or more" in the(texts, "Measured beforehand")
