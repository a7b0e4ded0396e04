"""Statistics of collected reports, whose truth nobody knows.

designs       ways of randomizing answers by the names that people know, and their tables of chances
analysis      everything in closed form about one set of reports, whatever design made them
nearest       which of Inv, InvN, InvP and MLE* of k-RR's reports is nearest to the truth
intervals     intervals of Inv, of each category and of all at once; exact tests: which categories somebody has,
              and whether the largest or the smallest count speaks against epsilon; both where there are two reports
epsilon_fit   the simulated test of a stated epsilon, and the smallest epsilon that is plausible
low_counts    categories, and names in a file, with fewer reports than noise alone brings
protocol_fit  tests of fit of the other designs
saddlepoint   tests against zero under tables of chances
survey        the analyses of all groups, with weights
alike         tests that all groups are alike
measured      how often intervals and test were right in simulated collections
"""

from rr_core.reports.analysis import Analysis, analyse
from rr_core.reports.epsilon_fit import FitTest, PlausibleEpsilon, fit_test, plausible_epsilon
from rr_core.reports.intervals import AboveZero, Interval, above_zero, inv_interval
from rr_core.reports.nearest import Nearest, nearest

__all__ = [
    "AboveZero",
    "Analysis",
    "FitTest",
    "Interval",
    "Nearest",
    "PlausibleEpsilon",
    "above_zero",
    "analyse",
    "fit_test",
    "inv_interval",
    "nearest",
    "plausible_epsilon",
]
