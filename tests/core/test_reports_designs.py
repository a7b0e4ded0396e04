"""Designs by their names: the tables of chances, against the published formulas; answers under them; what is refused."""

import math

import numpy as np
import pytest

from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import analyse
from rr_core.reports.designs import (
    DESIGNS,
    MOST_DRAWS,
    Missing,
    Unclear,
    by_number,
    check_two,
    kuk,
    likely_yes,
    of_forced,
    of_table,
    of_yes_and_no,
    parameter,
    unrelated,
)

COUNTS = np.array([640, 360])
YES_NO = ("yes", "no")


@pytest.mark.parametrize("p", [0.1, 1 / 6, 0.7])
def test_crosswise_is_warners_design_about_the_same(p):
    found = of_yes_and_no(DESIGNS["crosswise"], ("same", "other"), COUNTS, [p], "same")
    assert (found.truths, found.reports, found.counts.tolist()) == (
        ("no", "yes"),
        ("other", "same"),
        [360, 640],
    )
    share = analyse(found.counts, found.channel).estimates["inv"][1]
    assert share == pytest.approx((0.64 + p - 1) / (2 * p - 1))  # Yu, Tian and Tang 2008


@pytest.mark.parametrize(("p", "prevalence"), [(0.7, 0.25), (0.5, 1 / 6), (0.9, 0.5)])
def test_unrelated_question(p, prevalence):
    """Greenberg et al. 1969: the share is (lambda - (1 - p) prevalence)/p."""
    found = of_yes_and_no(DESIGNS["unrelated"], YES_NO, COUNTS, [p, prevalence], "yes")
    share = analyse(found.counts, found.channel).estimates["inv"][1]
    assert share == pytest.approx((0.64 - (1 - p) * prevalence) / p)
    assert unrelated(p, prevalence).matrix[1, 1] == pytest.approx(p + (1 - p) * prevalence)


@pytest.mark.parametrize(("p", "p2", "draws"), [(0.8, 0.2, 1), (0.7, 0.4, 5), (0.2, 0.9, 3)])
def test_kuks_mean_number_of_red_cards(p, p2, draws):
    """Kuk 1990: the share is (mean red cards/draws - p2)/(p - p2), when it is estimated from the mean; the table has that
    mean for every truth."""
    matrix = kuk(p, p2, draws).matrix
    np.testing.assert_allclose(matrix @ np.arange(draws + 1), [draws * p2, draws * p], rtol=1e-12)
    assert matrix.shape == (2, draws + 1)
    labels = tuple(str(i) for i in range(draws + 1))
    counts = np.arange(1, draws + 2)
    found = of_yes_and_no(DESIGNS["kuk"], labels[::-1], counts[::-1], [p, p2, draws], None)
    assert (found.truths, found.reports) == (("no", "yes"), labels)
    assert found.counts.tolist() == counts.tolist()


def test_red_cards_may_be_written_as_decimals():
    """“4.0” was no number of red cards."""
    design, values = DESIGNS["kuk"], [0.8, 0.2, 4]
    whole = of_yes_and_no(design, ("0", "1", "4"), np.array([5, 6, 7]), values, None)
    for labels in (("0.0", "1.0", "4.0"), ("0.000e+00", "1.000e+00", "4.000e+00")):
        labels, counts, in_order = by_number(labels, np.array([5, 6, 7]))
        found = of_yes_and_no(design, labels, counts, values, None)
        assert (in_order, found.counts.tolist()) == (True, whole.counts.tolist())
    assert of_yes_and_no(design, ("1", "1.0"), np.array([5, 6]), values, None).counts.tolist() == [
        0,
        11,
        0,
        0,
        0,
    ]


def test_one_card_of_kuk_is_warners_design_and_decks_that_are_alike_tell_nothing():
    np.testing.assert_allclose(kuk(0.7, 0.3, 1).matrix, Channel.warner(0.7).matrix)
    assert not kuk(0.5, 0.5, 4).identified


def test_rappor_with_both_coins_is_the_law_of_its_two_steps():
    f, p, q = 0.5, 0.5, 0.75
    dice, n = np.random.default_rng(3), 200_000
    for true_bit, of_one in (
        (1, UnaryEncoding.rappor(2, f, p, q).p),
        (0, UnaryEncoding.rappor(2, f, p, q).q),
    ):
        kept = dice.random(n) >= f
        first = np.where(kept, true_bit, dice.random(n) < 0.5)
        second = dice.random(n) < np.where(first == 1, q, p)
        assert abs(second.mean() - of_one) < 5 * math.sqrt(0.25 / n)
    assert (UnaryEncoding.rappor(2, f, p, q).p, UnaryEncoding.rappor(2, f, p, q).q) == (0.6875, 0.5625)
    assert UnaryEncoding.rappor(4, 0.0, 0.25, 0.75).epsilon == pytest.approx(
        UnaryEncoding(4, 2 * math.log(3)).epsilon
    )


def test_inv_of_other_chances_is_that_of_the_symmetric_encoding_where_they_are_the_same():
    symmetric = UnaryEncoding(3, 1.5)
    same = UnaryEncoding.from_p_q(3, symmetric.p, symmetric.q)
    ones = [640, 400, 380]
    one, other = analyse(ones, symmetric, n=1000), analyse(ones, same, n=1000)
    for name, estimate in one.estimates.items():
        np.testing.assert_allclose(other.estimates[name], estimate, atol=1e-12)
    np.testing.assert_allclose(other.interval.low, one.interval.low, atol=1e-12)


def test_a_table_with_names_takes_the_answers_in_any_order():
    matrix = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]])
    found = of_table(("b", "a"), COUNTS, matrix, ("x", "y"), ("a", "b", "c"))
    assert (found.counts.tolist(), found.truths) == ([360, 640, 0], ("x", "y"))
    found = of_table(("b", "a"), COUNTS, matrix[:, :2] / matrix[:, :2].sum(axis=1, keepdims=True), ("a", "b"))
    assert (found.counts.tolist(), found.reports) == ([360, 640], ("a", "b"))
    with pytest.raises(Unclear, match="come in no order"):
        of_table(("b", "a"), COUNTS, matrix)
    with pytest.raises(Unclear, match="has no column"):
        of_table(("b", "q"), COUNTS, matrix, None, ("a", "b", "c"))
    with pytest.raises(Unclear, match="The table has 3 columns, the reports have 2 answers"):
        of_table(("b", "a"), COUNTS, matrix, in_order=True)


def test_forced_answers():
    found = of_forced(YES_NO, COUNTS, ["1/6", "0 %"])
    np.testing.assert_allclose(found.channel.matrix, Channel.forced_response([1 / 6, 0.0]).matrix)
    with pytest.raises(Unclear, match="sum to 1"):
        of_forced(YES_NO, COUNTS, ["1/2", "1/2"])
    with pytest.raises(Missing, match="how often the die"):
        of_forced(YES_NO, COUNTS, ["1/2", ""])
    with pytest.raises(Unclear, match="have 1 answer"):
        of_forced(("a",), COUNTS[:1], ["0"])


@pytest.mark.parametrize(
    ("key", "labels", "positive", "says"),
    [
        ("warner", ("a", "b", "c"), "a", "these reports have 3"),
        ("warner", YES_NO, None, "Say which answer means yes"),
        ("crosswise", YES_NO, None, "Say which answer means that both are the same"),
        ("warner", YES_NO, "maybe", "No answer is called “maybe”"),
        ("kuk", ("0", "red"), None, "“red” is no number of red cards among 3"),
        ("kuk", ("0", "4"), None, "“4” is no number of red cards among 3"),
    ],
)
def test_what_cannot_be_is_one_sentence(key, labels, positive, says):
    values = {"warner": [0.7], "crosswise": [0.3], "kuk": [0.8, 0.2, 3]}[key]
    with pytest.raises(Unclear, match=says):
        of_yes_and_no(DESIGNS[key], labels, np.ones(len(labels), dtype=np.int64), values, positive)


def test_parameters_are_chances_or_whole_numbers():
    p, draws = DESIGNS["warner"].parameters[0], DESIGNS["kuk"].parameters[2]
    assert (parameter(p, "1/6"), parameter(p, "25 %"), parameter(draws, " 5 ")) == (1 / 6, 0.25, 5)
    for asked, text in (
        (p, "1"),
        (p, "-1"),
        (p, "often"),
        (draws, "2.5"),
        (draws, f"{MOST_DRAWS + 1}"),
        (draws, "0"),
    ):
        with pytest.raises(Unclear):
            parameter(asked, text)
    with pytest.raises(Missing):
        parameter(p, " ")


def test_yes_is_known_in_several_languages_and_never_guessed():
    assert [likely_yes(pair) for pair in (("Ja", "Nein"), ("0", "1"), ("1", "2"), ("yes", "Ja"))] == [
        "Ja",
        "1",
        None,
        None,
    ]
    # As pandas writes bits beside an empty cell, and what is left of True, 1, False and 0 when they are put together.
    assert likely_yes(("0.0", "1.0")) == "1.0"
    assert likely_yes(("1", "False")) == "1"
    assert likely_yes(("1.0", "2.0")) is None
    check_two(DESIGNS["warner"], YES_NO)


def test_every_design_says_what_it_is_and_who_published_it():
    for design in DESIGNS.values():
        assert design.about.endswith(".")
        assert design.name
        assert design.source[-4:].isdecimal()
        assert not design.parameters or design.chances is not None
