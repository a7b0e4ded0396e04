"""The parts of long pages: the link opens one, a tab goes into the link, and an unknown one is told."""

import pytest

from pages._ui.link import Binding
from pages._ui.parts import part_in_link
from tests.app.opening import opened

LONG = {"geometry": "bias", "ibu": "cost", "experiments": "claims", "plan": "files"}


@pytest.mark.parametrize(("name", "part"), LONG.items())
def test_a_link_opens_a_part_and_an_unknown_one_is_told(name, part):
    page = opened(name, f"part={part}")
    assert page.session_state[f"_part_of_{name}"] == (part, ())
    assert len(page.tabs) > 2
    page = opened(name, "part=elsewhere")
    first, notes = page.session_state[f"_part_of_{name}"]
    assert first != part
    assert len(notes) == 1
    assert "elsewhere" in notes[0]


def test_the_first_part_needs_no_parameter():
    parts: Binding[str] = part_in_link("plan", {"one": "First", "two": "Second"})
    assert parts.write("one") == {"part": None}
    assert parts.write("two") == {"part": "two"}
    assert parts.read({}) == ("one", ())
    assert parts.read({"part": "two"}) == ("two", ())
