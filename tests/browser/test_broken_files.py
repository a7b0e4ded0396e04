"""Broken files: each gets its own sentence, and nothing that was on screen is lost."""

from __future__ import annotations

import pytest

from tests.browser.expected import LINK, QUERY
from tests.browser.files import BROKEN
from tests.browser.lab import Lab


@pytest.fixture(scope="module")
def lab(profiles, server):
    tab = Lab(profiles(), server).open(f"/estimators?{LINK}")
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def before(lab):
    return lab.figure("estimators"), lab.table()


# Each kind of sentence once; the page harness goes through all of them.
IN_THE_BROWSER = ("negative", "NaN", "picture", "cut Parquet", "too large", "ragged", "header only")


@pytest.mark.parametrize(
    "broken", [broken for broken in BROKEN if broken.about in IN_THE_BROWSER], ids=lambda broken: broken.about
)
def test_broken_file_gets_its_sentence_and_loses_nothing(broken, lab, before):
    if lab.query != QUERY or lab.page.get_by_test_id("stFileUploader").count():
        lab.open(f"/estimators?{LINK}")  # another file's test ended early
    lab.upload(broken.name, broken.data)
    (sentence,) = lab.alerts()
    assert all(word in sentence for word in broken.words), sentence
    assert "Error" not in sentence.replace("error", "")
    assert lab.page.get_by_role("button", name="Use this distribution").count() == 0
    assert (lab.figure("estimators"), lab.table()) == before
    assert lab.query == QUERY
    lab.press("Cancel")
    assert lab.page.get_by_test_id("stFileUploader").count() == 0
    assert lab.sidebar()["Distribution"] == "Zipf"
    assert lab.alerts() == []
    assert (lab.figure("estimators"), lab.table()) == before
    lab.must_be_fine()


def test_sentences_differ():
    assert len({broken.words for broken in BROKEN}) == len(BROKEN) >= 12


def test_broken_file_keeps_an_upload_in_use(open_lab):
    lab = open_lab("/noisy_histogram")
    lab.use("fruit.csv", b"fruit,count\napple,500\nplum,300\nfig,200\n")
    figure, query = lab.figure("noisy_histogram"), lab.query
    lab.press("Another file")
    lab.upload("table.csv", BROKEN[0].data)
    assert len(lab.alerts()) == 1
    assert (lab.figure("noisy_histogram"), lab.query) == (figure, query)
    lab.press("Cancel")
    assert (lab.figure("noisy_histogram"), lab.query) == (figure, query)
