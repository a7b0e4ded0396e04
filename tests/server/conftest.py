"""The fixtures of pages, where tests of the server open some."""

from tests.app.conftest import house, no_head_start, room_beside_other_tests, uploads_stay

__all__ = ["house", "no_head_start", "room_beside_other_tests", "uploads_stay"]
