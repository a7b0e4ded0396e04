"""The sentences about collected reports mean what they say: at the corners of all ranges and for random reports, against
the same meaning worked out another way (exact fractions, SciPy's laws, plain loops); and what they warn of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from pages._ui.reports import sentences
from rr_core import RandomizedResponse, zipf
from rr_core.figures.style import QUANTITIES, whole
from rr_core.io import AllSeen, Size, read_list
from rr_core.io.report_results import Results
from rr_core.registry import ESTIMATORS, VALID
from rr_core.reports.analysis import intervals_outside, outside_interval
from tests.app.analysed import analysed, counts_csv, json_of
from tests.core import exact
from tests.sentences import recomputes
from tests.sentences.spoken import tells

NAMED = {QUANTITIES[name].name: name for name in ESTIMATORS}
NAME = r"(?:Inv[NP]?|MLE\*)"
OTHER_WAY = {"inv": exact.inv, "inv_n": exact.inv_n, "inv_p": exact.inv_p, "mle_star": exact.mle}
CORNERS = [
    ([1, 0], 0.01),
    ([1, 0], 20.0),
    ([0, 1, 0], 1.0),
    ([7, 7], 1.0),
    ([5] * 12, 0.01),
    ([5] * 12, 20.0),
    ([10**9, 0], 0.01),
    ([10**9, 0], 20.0),
    ([10**9, 0, 0], 1.0),
    ([500_000_000] * 2, 20.0),
    ([333_333_333, 333_333_334, 333_333_333], 0.01),
    ([10**6] * 199 + [10**6 - 1], 5.0),
    ([100, 100, 1, 1], 1.0),
    ([3, 2, 2, 1, 1, 1], 0.1),
    ([2000, *([0] * 199)], 20.0),
    ([1] * 100 + [0] * 100, 8.0),
]


def of(counts, epsilon: float, number: int = 0, replicates: int = 0) -> Results:
    data = counts_csv([f"c{i}" for i in range(len(counts))], counts)
    return analysed(
        [("reports.csv", data)],
        Size(len(counts)),
        epsilon=epsilon,
        level=(0.9, 0.95, 0.99)[number % 3],
        target=("users", "population")[number % 2],
        replicates=replicates,
    )


@cache
def random_reports(many: int = 60) -> list[tuple[Results, np.ndarray]]:
    """Results of random collections over all ranges, each with the shares that it is about."""
    rng, made = np.random.default_rng(11), []
    for i in range(many):
        k = int(np.exp(rng.uniform(np.log(2), np.log(100))))
        n = int(np.exp(rng.uniform(0, np.log(10**6))))
        epsilon = float(np.exp(rng.uniform(np.log(0.05), np.log(12))))
        theta = (zipf(k, rng.uniform(0, 5)), rng.dirichlet(np.full(k, 0.3)), np.eye(k)[0])[i % 3]
        people = rng.multinomial(n, theta)
        counts = RandomizedResponse(k, epsilon).randomize_histogram(people, rng)
        found = of(counts.tolist(), epsilon, i)
        made.append((found, people / n if found.target == "users" else theta))
    return made


def every() -> list[Results]:
    corners = [of(counts, epsilon, i) for i, (counts, epsilon) in enumerate(CORNERS)]
    return [*corners, *(found for found, _ in random_reports())]


@cache
def estimates(key: tuple[int, ...], epsilon: float) -> dict[str, list]:
    """The four estimates as exact fractions."""
    about = exact.channel_from_epsilon(len(key), epsilon)
    return {name: estimate(key, about) for name, estimate in OTHER_WAY.items()}


def exactly(found: Results) -> dict[str, np.ndarray]:
    key = tuple(found.used.collected.counts.tolist())
    return {
        name: np.array([float(x) for x in values])
        for name, values in estimates(key, found.used.protocol.epsilon).items()
    }


def value(text: str) -> float:
    """A number of a sentence."""
    text = text.replace(",", "").replace("−", "-")
    mantissa, _, power = text.partition("·10")
    plain = power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(mantissa) * 10.0 ** int(plain or 0)


def near(text: str, number: float, scale: float) -> bool:
    """Whether a sentence's number is this one, rounded to three digits (and beside rounding on this scale)."""
    return abs(value(text) - number) <= 0.00501 * abs(number) + 1e-9 * scale


def test_the_answer_says_what_the_reports_say():
    for found in every():
        counts, mechanism, level = found.used.collected.counts, found.used.protocol, found.level
        k, n = mechanism.k, int(counts.sum())
        # Holm, step by step, on binomial tails of SciPy.
        tails = np.sort(stats.binom.sf(counts - 1, n, mechanism.q))
        above = 0
        for j, tail in enumerate(tails):
            if tail * (k - j) > 1 - level:
                break
            above += 1
        for name in ESTIMATORS:
            said = sentences.answer(found, name)
            told = re.match(
                r"(None|[\d,]+) of the ([\d,]+) shares (?:is|are) larger than chance alone (?:could|would) make",
                said,
            )
            assert value(told[2]) == k
            assert (0 if told[1] == "None" else value(told[1])) == above, said
            top = int(counts.argmax())
            ties = int((counts == counts.max()).sum()) - 1
            assert f"The most reported, “c{top}”" in said or (ties and "“not reported" in said)
            assert (f"(and {ties:,} more with as many reports)" in said) == (ties > 0)
            exactly_so = estimates(tuple(counts.tolist()), mechanism.epsilon)
            inv, share = float(exactly_so["inv"][top]), float(exactly_so[name][top])
            parts = re.search(
                r"has a share of (\S+)% by Inv(?:, about ([\d,]+) of these [\d,]+ people)?; the (\d+)% interval of Inv"
                r"(?:, cut at 0 and 1, is| lies wholly outside 0 to 100%, at) (\S+)% to (\S+)%\."
                r"(?: (\S+) gives it (\S+)%(, outside that interval)?\.)?",
                said,
            )
            assert near(parts[1], 100 * inv, 100)
            if parts[2]:
                assert found.target == "users"
                assert abs(value(parts[2]) - n * inv) <= 0.5 + 1e-6 * n * inv
                assert value(parts[2]) <= n
            assert int(parts[3]) == round(100 * level)
            low, high = value(parts[4]), value(parts[5])
            assert 0 <= low <= high <= 100 or "lies wholly outside" in said
            assert ("lies wholly outside" in said) == ((low >= 100 and high > 100) or high < 0)
            # It is Inv's own, so it holds Inv where that is a share.
            assert low <= 100.6 * inv + 1e-7
            assert high >= min(99.4 * inv, 100) - 1e-7 or high < 0
            assert (parts[6] is None) == (name == "inv")
            if parts[6]:
                assert NAMED[parts[6]] == name
                assert near(parts[7], 100 * share, 100)
                off = max(low - 100 * share, 100 * share - high)
                assert abs(off) < 0.006 * high + 1e-7 or (parts[8] is not None) == (off > 0)


def test_the_advice_never_names_an_order_of_equal_estimates():
    for found in every():
        same = exactly(found)
        verdict, *more = sentences.advice(found)
        named = re.findall(NAME, verdict)
        equal = {(a, b): np.abs(same[a] - same[b]).max() < 1e-12 for a in ESTIMATORS for b in ESTIMATORS}
        if "there is nothing to choose" in verdict:
            assert all(equal.values())
            assert same["inv"].min() > -1e-12
            assert found.analysis.nearest.preferred == "inv_p"
            continue
        assert not all(equal.values())
        if "nearer to the truth than" in verdict:
            best, *rest = (NAMED[name] for name in named)
            assert {best, *rest} == set(VALID)
            assert not any(equal[best, other] for other in rest)
        elif "the three are the same" in verdict:
            assert all(equal[a, b] for a in VALID for b in VALID)
        elif "which is the same here" in verdict:
            assert equal[NAMED[named[0]], NAMED[named[1]]]
        for name, plus, give in re.findall(rf"({NAME}) (\S+) \(± (\S+)\)", " ".join(more)):
            assert NAMED[name] not in found.analysis.nearest.tied
            assert value(plus) > 3.8 * value(give) > 0


@cache
def telling_reports() -> list[tuple[Results, np.ndarray]]:
    """Collections in which there is often something to tell: many categories, few of them large."""
    rng, made = np.random.default_rng(12), []
    for i in range(60):
        k, epsilon = int(rng.choice([100, 300, 600])), float(rng.uniform(1.5, 4))
        people = rng.multinomial(int(rng.choice([5_000, 30_000])), theta := zipf(k, rng.uniform(1.2, 2.5)))
        counts = RandomizedResponse(k, epsilon).randomize_histogram(people, rng)
        found = of(counts.tolist(), epsilon, i)
        made.append((found, people / people.sum() if found.target == "users" else theta))
    return made


@pytest.mark.slow
def test_what_is_called_nearer_is_nearer():
    told = 0
    for found, truth in [*random_reports(300), *telling_reports()]:
        counts, mechanism = found.used.collected.counts, found.used.protocol
        errors = {name: ((f(counts, mechanism) - truth) ** 2).sum() for name, f in ESTIMATORS.items()}
        verdict, *more = sentences.advice(found)
        compared = found.analysis.nearest
        if "nearer to the truth than" in verdict:
            best, *rest = (NAMED[name] for name in re.findall(NAME, verdict))
            assert best == compared.best
            assert all(errors[other] > errors[best] for other in rest)
        told += len(compared.tied) < len(VALID)
        for other in set(VALID) - set(compared.tied):
            assert errors[other] > errors[compared.best]
        for name, plus, give in re.findall(rf"({NAME}) (\S+) \(± (\S+)\)", " ".join(more)):
            # The numbers are those of the JSON file.
            assert value(plus) == pytest.approx(compared.differences[NAMED[name]], rel=0.006)
            assert value(give) == pytest.approx(compared.standard_errors[NAMED[name]], rel=0.06)
    assert told >= 8


def test_no_distance_is_told_that_no_truth_could_have():
    # The projection is nearer to every distribution than Inv; the estimate, at a wrong epsilon, says Inv by 0.64.
    found = of([100, 0], 1.0, replicates=100)
    assert found.analysis.nearest.differences["inv"] < -0.5
    assert sentences.advice(found) == ["Settle ε first: under a wrong one no estimate can be trusted."]
    for found in every():
        assert not re.search(r"Inv (\S+) \(±", " ".join(sentences.advice(found)))


def test_what_agrees_only_after_rounding_is_not_said_to_be_free_of_negatives():
    found = of([1000, 500, 0], 30.0)
    inv = estimates((1000, 500, 0), 30.0)["inv"]
    assert min(inv) < 0
    (said,) = sentences.advice(found)
    assert said == "Inv, InvN, InvP and MLE* agree to twelve decimals: there is nothing to choose."
    assert sentences.advice(of([1000, 500, 400], 5.0))[0].startswith("Nothing came out negative")


def test_the_interval_and_the_repairs_that_leave_it():
    for found in every():
        shares, mechanism, counts = exactly(found), found.used.protocol, found.used.collected.counts
        n, z = int(counts.sum()), stats.norm.isf((1 - found.level) / 2)
        for name in VALID:
            said = outside_interval(found.analysis, found.interval(simultaneous=False), name)
            if n * mechanism.q < 1:
                continue
            # Score intervals: inside are the shares from which Inv is not too many deviations away, at that share.
            outside = near_edge = 0
            for estimate, inv in zip(shares[name], shares["inv"], strict=True):
                m = mechanism.q + mechanism.keep * estimate
                variance = (
                    m * (1 - m)
                    if found.target == "population"
                    else mechanism.q * (mechanism.p + (mechanism.k - 2) * m)
                )
                off = abs(inv - estimate) * mechanism.keep
                bound = z * np.sqrt(max(variance, 0) / n)
                outside += off > bound * (1 + 1e-6) + 1e-11
                near_edge += abs(off - bound) <= 1e-5 * bound + 1e-10
            stated = re.match(r"For ([\d,]+) of ([\d,]+) categories", said)
            assert abs((value(stated[1]) if stated else 0) - outside) <= near_edge, (name, said)


@recomputes(intervals_outside)
def test_intervals_that_no_share_lies_in_are_counted():
    seen = set()
    for found in [*every(), of([520, 310, 170], 1.0), of([880, 120], 1.0), of([900, 60, 40], 1.0)]:
        k = found.used.protocol.k
        for simultaneous in (False, True):
            columns, ending = found.columns(), "_all" if simultaneous else ""
            low, high = (columns[f"inv_{end}{ending}"] for end in ("low", "high"))
            points = columns[f"inv_low{ending}_cut"] == columns[f"inv_high{ending}_cut"]
            below, above = (
                sum(point and beyond for point, beyond in zip(points, side, strict=True))
                for side in (high < 0, low > 1)
            )
            text = intervals_outside(found.interval(simultaneous=simultaneous))
            seen.add((below > 0, above > 0))
            if below + above:
                tells(text, 0.0, below, k, 1.0, above)
                assert text in sentences.intervals(found, "inv", simultaneous=simultaneous)
            else:
                assert text == ""
    assert seen >= {(False, False), (True, False), (True, True)}


def test_the_warning_of_few_reports():
    for found in every():
        n, q = found.used.n, found.used.protocol.q
        said = sentences.intervals(found, "inv")
        fewest = 10 if found.level >= 0.95 else 20
        assert any("coarse scale" in sentence for sentence in said) == (n * q < fewest)


@pytest.mark.parametrize("number", [0, 2, 4, 6])
def test_the_verdict_on_epsilon_is_that_of_its_numbers_whoever_is_meant(number):
    mechanism = RandomizedResponse(30, 3.0)
    counts = mechanism.randomize_histogram(np.eye(30, dtype=int)[0] * 3000, number)
    stated = (1.5, 2.2, 3.0, 4.0)[number // 2]
    users, population = (of(counts.tolist(), stated, number + i, replicates=110) for i in (0, 1))
    assert (users.target, population.target) == ("users", "population")
    assert sentences.fit(users) == sentences.fit(population)
    verdict = " ".join(sentences.fit(users))
    q = 1 / (np.exp(stated) + 29)
    explained = counts.min() >= counts.sum() * q
    assert ("some population explains every count exactly" in verdict) == explained
    if not explained:
        assert f"the fewest collected are {counts.min():,}" in verdict
        p = value(re.search(r"p-value (\S+),", verdict)[1])
        extremes = population.simulated.fit.extremes
        assert ("The test rejects" in verdict) == (p <= 0.05 or extremes.too_many or extremes.too_few)
        facts = json_of(population, "now").decode()
        assert '"fit": null' not in facts
        assert '"fit": {' in facts


def test_a_count_that_epsilon_does_not_allow_is_named_though_the_p_value_is_large():
    # 180 of 5,000 reports for one of 1,000 categories, at p = 0.0197: a chance below 10^-10.
    counts = np.append(180, np.random.default_rng(1).multinomial(4820, np.full(999, 1 / 999)))
    found, p = of(counts.tolist(), 3.0, replicates=100), np.exp(3) / (np.exp(3) + 999)
    verdict, level, _ = sentences.fit(found)
    assert found.rejects_epsilon
    assert "The test rejects ε = 3: “c0” got 180 reports" in verdict
    assert value(re.search(r"N·p = (\S+)\.", verdict)[1]) == pytest.approx(5000 * p, rel=1e-3)
    chance = 1000 * stats.binom.sf(179, 5000, p)
    assert value(re.search(r"so many has a chance of (\S+) at most", level)[1]) == pytest.approx(
        chance, rel=0.01
    )
    assert value(re.search(r"p-value (\S+),", level)[1]) > 0.05
    assert "rejects the ε" in sentences.answer(found)
    facts = json.loads(json_of(found, "now"))
    assert facts["fit"]["rejected"]
    # A chance too small for a double is not called zero.
    verdict, level, _ = sentences.fit(of([10**6, *[0] * 99], 1.0, replicates=100))
    assert "has a chance of 1·10⁻³⁰⁰ at most" in level


def test_half_a_person_is_rounded_alike_by_the_answer_the_table_and_the_chart():
    # K = 2 and p = 3/4: Inv is (4c - N) / 2N, here 2.5 people.
    found = analysed([("r.csv", counts_csv(["a", "b"], [2, 1]))], Size(2), p=0.75)
    assert 3 * found.analysis.estimates["inv"][0] == 2.5
    assert "about 3 of these 3 people" in sentences.answer(found, "inv")
    table = sentences.table_columns(found, "inv", np.array([0, 1]), simultaneous=False)
    assert table["People"][0] == 3
    assert not np.signbit(whole([-0.2, -0.0, 0.4])).any()
    assert whole([0.5, 1.5, 2.5, -0.5, -1.6]).tolist() == [1, 2, 3, 0, -2]


def test_no_single_category_is_blamed_where_only_all_together_are_too_low():
    # N q = 0.25: a category gets no report with a chance of 78%, and none less than that.
    k, n = 1000, 300
    counts = np.zeros(k, dtype=np.int64)
    counts[0] = 72
    counts[1:] += np.random.default_rng(5).multinomial(n - 72, np.full(k - 1, 1 / (k - 1)))
    found = of(counts.tolist(), float(np.log(0.1675 / (1 - 0.1675) * (k - 1))), replicates=200)
    fits = found.simulated.fit
    assert fits.rejects(0.05)
    assert stats.binom.cdf(0, n, found.used.protocol.q) > 0.75
    dropped = found.used.collected.counts[found.analysis.estimates["mle_star"] == 0]
    assert dropped.sum() < dropped.size * fits.floor
    assert "the least reported categories, taken together, got fewer" in sentences.fit(found)[0]
    assert "clearly fewer reports than N·q." not in sentences.fit(found)[0]
    # One alone is.
    found = of([700, 600, 500, 460, 300, 200], 1.0, replicates=200)
    assert not found.simulated.fit.extremes.too_many
    assert found.simulated.fit.extremes.too_few
    assert "some category got clearly fewer reports than N·q." in sentences.fit(found)[0]


def test_an_epsilon_beyond_those_of_the_app_is_found_too():
    counts = [10**13, 100, 50]  # N q is 139 at 25, 31 at 26.5
    found = analysed(
        [("r.csv", counts_csv(["a", "b", "c"], counts))], AllSeen(), epsilon=25.0, replicates=100, seek=True
    )
    assert 25 < found.simulated.plausible.low < 26.5
    assert all(stats.poisson.cdf([50, 100], sum(counts) / (np.exp(26.5) + 2)) > 0.9)
    verdict = sentences.fit(found)[0]
    assert verdict.endswith(f"plausible under ε of about {found.simulated.plausible.low:.2f}.")
    # Nor does the count seem to be what is expected at most.
    assert "“a” got 10,000,000,000,000 reports" in verdict
    assert "N·p = 9,999,999,999,872" in verdict


def test_a_report_that_is_not_always_the_truth_is_not_said_to_be():
    for epsilon, p in ((20.0, "1 − 4.12231·10⁻⁹,"), (1.0, "0.576117,"), (700.0, "1 − 1.97194·10⁻³⁰⁴,")):
        assert f"p = {p} and" in sentences.data_and_mechanism(of([7, 2, 1], epsilon))


def test_almost_one_report_is_not_called_too_few_for_one():
    counts = [30, 2, 1, 0, 0, 4]  # N q = 0.9996
    found = of(counts, float(np.log(sum(counts) / 0.9996 - 5)))
    (said,) = (one for one in sentences.advice(found) if "cannot be compared" in one)
    assert "N·q = 1" not in said
    assert said.endswith("a category that nobody has is expected to get fewer than 1 report (N·q).")


def test_intervals_of_all_at_once_are_not_said_to_hold_for_each_alone():
    found = of([500, 420, 400, 370], 1.0, number=1)
    each, together = (sentences.intervals(found, "inv", simultaneous=one)[0] for one in (False, True))
    assert "Each 95% interval is meant to hold its own share in 95% of collections" in each
    assert "Each 95% interval" not in together


def test_inv_leads_where_nothing_is_told_from_zero():
    found = of([11, *([6, 11] * 30)], 2.0)
    assert found.analysis.leading == "inv"
    assert "None of the 61 shares is larger than chance alone could make it." in sentences.answer(found)
    assert sentences.advice(found)[0].startswith("Report Inv")
    assert outside_interval(found.analysis, found.analysis.interval, "inv") == ""


def test_reports_that_are_left_out_and_a_domain_too_large_are_told():
    counts = [290, 250, 170, 150, 1]
    data = [("reports.csv", counts_csv([f"c{i}" for i in range(5)], counts))]
    found = analysed(data, read_list("c0\nc1\nc2\nc3"))
    assert "1 report is left out: see below." in sentences.answer(found)
    assert "“c4” (1)" in sentences.left_out(found)[0]
    assert "c4" not in sentences.left_out(found, named=False)[0]
    assert "left out" not in sentences.answer(of(counts, 1.0))
    # Every category beyond two without a report may be one that nobody could choose.
    found = of([900, 400, 300, *[0] * 6], 2.0, replicates=120)
    assert "Or K is too large: 6 categories got no report at all." in sentences.fit(found)[0]
    assert sentences.advice(found)[0].startswith("Settle ε first")
    assert "K is too large" not in sentences.fit(of([100, 0], 1.0, replicates=100))[0]


def test_after_a_swap_it_is_said_that_p_is_of_the_swapped_reports():
    found = of([700, 300], 1.0)
    assert "a report was the truth with probability p = 0.731" in sentences.data_and_mechanism(found)
    used = replace(found.used, settings=replace(found.used.settings, swapped=True))
    said = sentences.data_and_mechanism(replace(found, used=used))
    assert "after the swap of the two answers a report is the truth with probability p = 0.731" in said
