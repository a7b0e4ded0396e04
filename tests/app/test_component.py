"""What a component told is put together where a callback reads it, and nowhere else."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest

from pages._ui import component


@pytest.fixture
def shown():
    """How Streamlit shows the value of a component that has told of a move."""

    class States(dict):
        """The values of widgets, and what is known of each."""

    states = States(events=[{"event": "moved", "value": 7}])
    states.widget_metadata = {"events": SimpleNamespace(value_type="json_trigger_value")}
    state = SimpleNamespace(_new_widget_state=states)
    present = import_module("streamlit.components.v2.bidi_component.main").make_bidi_component_presenter(
        "events"
    )
    return lambda value: present(value, state)


def test_a_look_at_a_value_makes_nothing_new(shown):
    value = {"kept": 1}
    assert shown(value) is value


def test_a_callback_reads_what_was_told(shown, monkeypatch):
    monkeypatch.setattr(component.st, "session_state", SimpleNamespace(get=lambda key: shown({"kept": 1})))
    assert dict(component.told("dials")) == {"kept": 1, "moved": 7}
    assert shown({}) == {}  # no longer


def test_a_component_that_is_not_there_told_nothing(monkeypatch):
    monkeypatch.setattr(component.st, "session_state", {})
    assert component.told("dials") == {}
