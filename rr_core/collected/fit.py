"""What earlier scripts import from here; it is `rr_core.reports.epsilon_fit`."""

from rr_core.reports.epsilon_fit import fit_test, plausible_epsilon

__all__ = ["fit_test", "plausible_epsilon"]
