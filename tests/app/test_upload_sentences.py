"""What the panels of uploads say of a file, its numbers computed anew from what was put into it."""

from __future__ import annotations

from functools import partial
from unittest.mock import MagicMock

import numpy as np
import pytest
from scipy import stats

from pages._ui import session_files, upload
from pages._ui.reports import names
from pages._ui.reports import upload as panel
from rr_core import RandomizedResponse, Scenario
from rr_core.io import (
    AllSeen,
    Odd,
    Source,
    UnreadableFile,
    odd_names,
    read_list,
    read_reports,
)
from rr_core.io.distribution import inspect, read_distribution
from rr_core.limits import K_MAX, N_MAX
from rr_core.reports.low_counts import STRAY_CHANCE
from tests.sentences import recomputes
from tests.sentences.spoken import tells


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written while `pages._ui.upload` and `pages._ui.reports.upload` run without a page."""
    texts: list[str] = []
    page = MagicMock()
    for kind in ("markdown", "success", "warning", "text", "caption", "error"):
        getattr(page, kind).side_effect = lambda text, *_, **__: texts.append(text.replace("\\", ""))
    page.multiselect.return_value = []
    page.columns.side_effect = lambda widths, **_: [page] * len(widths)
    page.session_state = {}
    for module in (upload, panel, names):
        monkeypatch.setattr(module, "st", page)
    return texts


@recomputes(upload._understood)
def test_a_file_is_told_as_it_was_put_together(many, said, monkeypatch):
    monkeypatch.setattr(session_files, "keeps_users", lambda: False)
    rng = np.random.default_rng(6)
    for i in range(many // 5):
        k, share = int(rng.integers(2, 30)), i % 3 == 0
        counts = [int(10 ** rng.uniform(0, 9)) for _ in range(k)]
        names = [f"n{chr(97 + j % 26)}{'x' * (j // 26)}" for j in range(k)]
        extra = [("total", sum(counts))] if k > 2 and i % 2 else []
        rows = [*zip(names, counts, strict=True), *extra]
        data = ("name,share\n" if share else "name,count\n") + "".join(f"{a},{b}\n" for a, b in rows)
        read = read_distribution(data.encode(), "a.csv", leave_out=["total"])
        said.clear()
        upload._understood(inspect(data.encode(), "a.csv"), read)
        tells(said[0], len(rows), k, float(sum(counts)) if share else sum(counts))
        assert "e+" not in said[0] + said[2]
        assert ("N is limited" in said[1]) == (not share and sum(counts) > N_MAX)
        if not share and sum(counts) > N_MAX:
            tells(next(line for line in said[1].split("\n") if "N is limited" in line), N_MAX)
        assert ("“total”, the sum of all others" in said[1]) == bool(extra)


@recomputes(upload._choose)
def test_a_refused_file_leaves_what_was_shown(said, monkeypatch):
    def refuse(_):
        raise UnreadableFile("Line 3 is wrong.")

    file = session_files.File("id", "a.csv", 3)
    monkeypatch.setattr(session_files, "chosen_files", lambda _: [file])
    monkeypatch.setattr(upload, "_confirm", refuse)
    upload._choose()
    assert said[-1] == "Line 3 is wrong. What was shown before stays in use."
    (offer,) = (text for text in said if "million categories" in text)
    assert f"{K_MAX / 1e6:g} million categories" in offer


@recomputes(names._too_few, names.decide)
def test_names_with_too_few_reports_are_those_that_noise_hardly_leaves_so_few(many, said):
    rng = np.random.default_rng(7)
    for _ in range(many // 2):
        k, epsilon = int(rng.integers(3, 12)), float(rng.uniform(0.5, 2.5))
        mechanism = RandomizedResponse(k, epsilon)
        counts = mechanism.randomize_histogram(rng.integers(200, 900, k), int(rng.integers(1e6)))
        strange = {f"typo {chr(97 + j)}": int(rng.integers(1, 4)) for j in range(rng.integers(1, 4))}
        rows = {**{f"c{chr(97 + j)}": int(c) for j, c in enumerate(counts)}, **strange}
        if rng.random() < 0.3:  # more than one category's noise in all
            rows |= {f"many {chr(97 + j)}": int(counts.min() // 6) for j in range(8)}
        in_table = bool(rng.random() < 0.3)
        reports = of_counts(rows) if in_table else of_people(rows)
        found = odd_names(reports, AllSeen(), partial(RandomizedResponse, epsilon=epsilon))
        few = [odd for odd in found.names if odd.reason == "too few reports"]
        said.clear()
        names.decide(found, reports, k_is_known=False)
        if not few:
            continue
        text = next(one for one in said if one.startswith("By noise alone"))
        kept = {name: c for name, c in rows.items() if name not in {odd.label for odd in few}}
        expected = RandomizedResponse(len(kept), epsilon).q * sum(kept.values())
        alone = all(odd.by_default for odd in few)
        named = [odd.reports for odd in few[:5]] + ([len(few) - 5] if len(few) > 5 else [])
        tells(text, expected if alone else found.level, *named, *([round(1 / STRAY_CHANCE)] if alone else []))
        assert ("in less than one of 1,000 collections" in text) == alone
        assert ("in a table of counts, so they are counted" in text) == in_table
        if alone:  # any of the names, in a collection in which all of them are categories
            q = RandomizedResponse(len(kept), epsilon).q
            chance = stats.binom.cdf(max(odd.reports for odd in few), sum(kept.values()), q)
            assert chance * len(rows) < STRAY_CHANCE
    listed = read_list("\n".join(["ca", "cb", "cc", "nobody"]))
    reports = of_counts({"ca": 500, "cb": 400, "cc": 300, "nobody": 2})
    found = odd_names(reports, listed, lambda k: RandomizedResponse(k, 1.0))
    said.clear()
    names.decide(found, reports, k_is_known=True)
    tells(said[0], 2, RandomizedResponse(4, 1.0).q * 1202)
    reports = of_counts({"a": 500, "b": 400, "a; b": 30, "c; a": 20, "c": 10})
    names.decide(odd_names(reports, AllSeen()), reports, k_is_known=False)
    tells(next(text for text in said if "several answers" in text), 30, 20, 0, 1)
    assert names._chip(Odd("x", 1, "no answer", None, True)) == "x (1 report): no answer"


def of_people(rows: dict[str, int]):
    text = "category\n" + "".join(f"{name}\n" * count for name, count in rows.items())
    return read_reports([Source("a.csv", text.encode())])


def of_counts(rows: dict[str, int]):
    text = "category,count\n" + "".join(f"{name},{count}\n" for name, count in rows.items())
    return read_reports([Source("a.csv", text.encode())])


@recomputes(panel._files)
def test_the_scenario_whose_reports_are_offered_is_the_one_of_the_link(many, said, monkeypatch):
    rng = np.random.default_rng(8)
    monkeypatch.setattr(session_files, "chosen_files", lambda _: [])
    for _ in range(many):
        k, n, epsilon = (
            int(rng.integers(2, 10**6)),
            int(10 ** rng.uniform(0, 9)),
            float(f"{rng.uniform(0.01, 20):.3g}"),
        )
        monkeypatch.setattr(panel.link, "current", partial(Scenario, k=k, epsilon=epsilon, n=n))
        said.clear()
        panel._files("k_rr")
        tells(next(text for text in said if "No file at hand?" in text), k, epsilon, n)


def test_the_header_of_a_second_file_is_told_among_the_odd_names(said):
    reports = read_reports([Source("a.csv", b"answer\n" + b"yes\nno\n" * 30 + b"answer\nno\n")])
    names.decide(odd_names(reports, AllSeen()), reports, k_is_known=False)
    tells(next(text for text in said if "the name of the column" in text), 1)
