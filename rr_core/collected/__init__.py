"""Statistics of collected reports, whose truth nobody knows: intervals, tests, bootstrap, advice."""
