"""Statistics of collected reports, whose truth nobody knows: intervals, tests, which estimate is nearest."""
