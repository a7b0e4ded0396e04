"""The fixtures of pages, where tests of the server open some."""

from tests.app.conftest import house, room_beside_other_tests, uploads_stay

__all__ = ["house", "room_beside_other_tests", "uploads_stay"]
