"""What earlier scripts import from here; it is `rr_core.reports.analysis`."""

from rr_core.reports.analysis import Analysis, analyse

__all__ = ["Analysis", "analyse"]
