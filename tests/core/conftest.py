"""Hypothesis draws the same examples on every run, and no slow machine fails a test."""

from hypothesis import settings

settings.register_profile("core", derandomize=True, deadline=None, max_examples=100, print_blob=False)
settings.load_profile("core")
