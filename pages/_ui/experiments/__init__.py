"""The sections of the page on experiments."""
