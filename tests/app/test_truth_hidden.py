"""While the truth is hidden, nothing that a page sends gives it away; revealed, the page is as it was."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from pages._ui import truth
from rr_core import Scenario
from rr_core.geometry.simplex import three_categories
from rr_core.rounding import percent
from rr_core.scenario import Draw
from tests.app.opening import OF_A_DRAW, ROOT, charts, checked, opened, parts_of, widget, words
from tests.sentences import holds

LINK = "dist=zipf&k=12&s=1.1&eps=1.5&n=9973&seed=11"
THREE = LINK.replace("k=12", "k=3")
MANY = LINK.replace("k=12", "k=100")
CURVE = LINK.replace("k=12", "k=300")
HIDE, REVEAL = "Hide the truth", "Reveal the truth"
WITH_TRUTH = [name for name in OF_A_DRAW if name not in truth._WITHOUT_TRUTH]
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@cache
def drawn(link: str) -> Draw:
    return Scenario.from_query(dict(pair.split("=") for pair in link.split("&")))[0].draw()


def nodes(block: Any) -> Iterator[Any]:
    """Everything on a page, in its order."""
    for child in block.children.values():
        if hasattr(child, "children"):
            if child.proto is not None:
                yield child
            yield from nodes(child)
        else:
            yield child


def unpacked(value: Any) -> Any:
    """A figure with its packed arrays as lists."""
    if isinstance(value, dict):
        if "bdata" in value:
            return np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]).tolist()
        return {key: unpacked(one) for key, one in value.items()}
    return [unpacked(one) for one in value] if isinstance(value, list) else value


def sent(page: AppTest) -> list[str]:
    """Everything that a page sends to the browser, element by element, as text."""
    texts = []
    for node in nodes(page._tree):
        proto = node.proto
        fields = MessageToDict(proto)
        fields.pop("deferredFileId", None)  # another one in every run
        if isinstance(fields.get("spec"), str):
            fields["spec"] = unpacked(json.loads(fields["spec"]))
        elif "bytes" in fields:  # the main figure
            fields["bytes"] = unpacked(json.loads(proto.bytes))
        texts.append(json.dumps(fields, ensure_ascii=False))
    return texts


@cache
def secrets(draw: Draw) -> list[tuple[str, np.ndarray, float]]:
    """Series of the truth, also among three categories: name, numbers or texts, and relative error of a number that
    tells one. What the reports tell as well is left out of the counts, and empty among the texts."""
    series: list[tuple[str, np.ndarray, float]] = []
    for one in {draw, three_categories(draw)}:
        users, reported = one.scenario.n, set(one.counts.tolist())
        counts = np.array([count for count in one.true_counts if count > 99 and count not in reported])
        expected = one.mechanism.expected(one.theta)
        near = {percent(count / users, 4) for count in reported}
        percents = [percent(float(count) / users, 4) for count in counts]
        series += [
            ("counts", counts, 0.0),
            ("shares", counts / users, 2e-6),
            ("expected counts", expected * users, 2e-6),
            ("expected shares", expected, 2e-6),
            ("percents", np.array([text if text not in near else "" for text in percents]), 0.0),
        ]
    return series


def given_away(text: str, draw: Draw) -> set[str]:
    """What a text gives away: series of the truth of which it has more numbers than may be there by chance."""
    written = np.unique([float(one.replace(",", "").replace("−", "-")) for one in NUMBER.findall(text)])
    percents = re.findall(r"(?<![\d.])[\d.]+%", text)
    found = set()
    for name, values, error in secrets(draw):
        if name == "percents":
            hits = np.isin(values, percents)
        else:
            low, high = values * (1 - error), values * (1 + error)
            hits = np.searchsorted(written, low) < np.searchsorted(written, high, "right")
        if hits.sum() > max(1, 0.4 * len(hits)):
            found.add(name)
    return found


def leaks(page: AppTest, draw: Draw) -> list[tuple[str, set[str]]]:
    """The elements of a page that give the truth away."""
    found = [(text[:300], given_away(text, draw)) for text in sent(page)]
    return [(text, series) for text, series in found if series]


@holds("Nothing on this page shows the true counts.")
@pytest.mark.parametrize(
    ("name", "link"),
    [*((name, link) for name in WITH_TRUTH for link in (LINK, CURVE)), ("geometry", THREE), ("ibu", LINK)],
)
def test_a_hidden_truth_is_nowhere_on_the_page(name, link):
    page = opened(name, f"{link}&truth=hidden")
    draw = drawn(link)
    assert leaks(page, draw) == []
    for chart in charts(page):
        names = [str(one.get("name", "")).lower() for one in chart["data"]]
        assert not [one for one in names if "truth" in one or "true users" in one or "expected" in one], names
        assert len(chart["alt"]) > 30
        assert "true count" not in chart["layout"]["xaxis"]["title"]["text"]
    shown = opened(name, link)
    button = widget(shown, HIDE)
    assert (button.disabled, "Nothing on this page" in button.help) == (name == "ibu", name == "ibu")
    if name == "ibu":
        assert leaks(shown, draw) == []
    elif name != "geometry" or link == THREE:  # the triangle of the others shows an example
        assert leaks(shown, draw), "the test would not notice the truth"


@pytest.mark.parametrize("part", parts_of("protocols"))
def test_no_part_of_protocols_tells_a_hidden_truth(part):
    for how in ("hidden", "shown"):
        page = opened("protocols", f"{LINK}&part={part}&truth={how}")
        assert how == "shown" or leaks(page, drawn(LINK)) == []
        assert ("This person's truth" in words(page)) == (how == "shown" and part in ("unary", "time"))
        if part in ("unary", "posterior"):
            assert ("truth" in charts(page)[0]["alt"]) == (how == "shown")


@pytest.mark.parametrize(("name", "link"), [("noisy_histogram", LINK), ("estimators", MANY)])
def test_a_film_does_not_end_in_the_hidden_truth(name, link):
    draw, page = drawn(link), opened(name, f"{link}&truth=hidden&part=film")
    assert "frames" in charts(page)[1]
    assert leaks(page, draw) == []
    assert "truth is hidden" in charts(page)[1]["alt"]
    assert "squared error" not in json.dumps(charts(page)[1])
    checked(widget(page, REVEAL).click().run())
    assert leaks(page, draw)


@pytest.mark.parametrize("link", [LINK, CURVE], ids=["12", "300"])
def test_a_figure_that_follows_the_hand_hides_the_truth_too(link):
    page = opened("estimators", f"{link}&truth=hidden")
    checked(widget(page, "Privacy ε").set_value(2.0).run(moving=True))
    assert leaks(page, drawn(link.replace("eps=1.5", "eps=2"))) == []
    assert "Truth" not in [shape.get("name") for shape in charts(page)[0]["layout"].get("shapes", [])]


def test_what_is_most_frequent_goes_by_reports():
    page = opened("estimators", f"{CURVE}&truth=hidden")
    checked(page.button_group(key="view_shown").set_value("Most frequent").run())
    assert leaks(page, drawn(CURVE)) == []
    title = charts(page)[0]["layout"]["xaxis"]["title"]["text"]
    assert "report" in title
    assert "true" not in title
    order = np.argsort(-drawn(CURVE).counts, kind="stable")[:30]
    assert charts(page)[0]["data"][0]["customdata"] == [str(i + 1) for i in order]


def test_where_nothing_shows_the_truth_what_is_most_frequent_goes_by_reports_anyway():
    """“Hide the truth” changed its own label alone, but for many categories: these were ranked by their true counts."""
    page = opened("ibu", CURVE)
    checked(page.button_group(key="view_shown").set_value("Most frequent").run())
    assert leaks(page, drawn(CURVE)) == []
    assert charts(page)[0]["layout"]["xaxis"]["title"]["text"] == "The 30 most reported categories"


@pytest.mark.parametrize("name", OF_A_DRAW)
def test_no_download_contains_a_hidden_truth(name):
    page = opened(name, f"{LINK}&truth=hidden")
    labels = [one.proto.label for one in page.get("download_button")]
    without = name in ("ibu", "protocols")  # whose files do not contain it
    assert ("Download data (CSV)" in labels) == without
    reveal = [one for one in page.button if one.label == "Data contain the truth: reveal"]
    assert len(reveal) == (not without)
    if not without:
        checked(reveal[0].click().run())
        labels = [one.proto.label for one in page.get("download_button")]
        assert labels[0] == "Download data (CSV)"
        assert widget(page, HIDE)


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_revealed_the_page_is_as_it_was(name):
    # Run again, for what widgets are told in their first run alone.
    shown, hidden = opened(name, LINK).run(), opened(name, f"{LINK}&truth=hidden").run()
    shown, hidden = sent(shown), sent(hidden)
    page = opened(name, f"{LINK}&truth=hidden")
    checked(widget(page, REVEAL).click().run().run())
    assert sent(page) == shown
    checked(widget(page, HIDE).click().run().run())
    assert sent(page) == hidden


@pytest.mark.parametrize("name", ["estimators", "geometry"])
def test_it_stays_hidden_in_another_draw_and_at_another_epsilon(name):
    link = THREE if name == "geometry" else LINK  # of which the triangle shows no example
    page = opened(name, link)
    checked(widget(page, HIDE).click().run())
    checked(widget(page, "New draw").click().run())
    assert leaks(page, drawn(link.replace("seed=11", "seed=12"))) == []
    checked(widget(page, "Privacy ε").set_value(3.0).run())
    assert leaks(page, drawn(link.replace("seed=11", "seed=12").replace("eps=1.5", "eps=3"))) == []
    assert page.query_params["truth"] == "hidden"
    checked(widget(page, REVEAL).click().run())
    assert "truth" not in page.query_params


def test_it_stays_hidden_on_all_pages_and_their_links_carry_it():
    page = AppTest.from_file(str(ROOT / "home.py"), default_timeout=60)
    for pair in f"{LINK}&truth=hidden".split("&"):
        page.query_params[pair.split("=")[0]] = pair.split("=")[1]
    checked(page.run())
    for name in ("estimators", "plan", "reference", "noisy_histogram"):
        checked(page.switch_page(f"pages/{name}.py").run())
        links = [one.proto for one in page.get("page_link")]
        assert links
        assert all("truth=hidden" in str(link.query_string) for link in links), links[0]
        assert page.query_params["truth"] == "hidden"
    assert widget(page, REVEAL)
    assert leaks(page, drawn(LINK)) == []


@pytest.mark.parametrize("name", ["plan", "experiments"])
def test_pages_without_the_truth_have_no_such_button(name):
    page = opened(name, f"{LINK}&truth=hidden")
    assert not [one for one in page.button if one.label in (HIDE, REVEAL)]


@pytest.mark.parametrize(("value", "hidden"), [("HIDDEN", True), ("yes", False)])
def test_the_link_says_hidden_or_shown(value, hidden):
    page = opened("estimators", f"{LINK}&truth={value}")
    assert widget(page, REVEAL if hidden else HIDE)
    said = [one.value for one in page.warning]
    if hidden:
        assert said == []
    else:
        assert [one.replace("\\", "") for one in said] == [
            f"The link's truth is “{value}”, which is neither hidden nor shown; it is shown."
        ]
