"""Iterative Bayesian update (IBU): expectation-maximisation for randomized response.

    engine        runs it: one histogram, many at once, any channel, from any start
    path          the levels that it works on, the record of a run, and its distances from MLE*
    convergence   when a tolerance is reached, which categories come last, the rate in the end, several ε side by side
    costs         seconds: of MLE* and three ways to iterate
    figure4       the paper's section 6.4 and Figure 4, and how many iterations were measured there

``rr_core.ibu`` is also the name of a function: ``from rr_core import ibu`` gives the function, and
``from rr_core.ibu import …`` takes names out of this package. So write ``from rr_core.ibu.engine import Start`` or
``from rr_core.ibu import Start``; ``import rr_core.ibu.engine as starts`` would look for ``starts`` on the function.
"""

from rr_core.ibu.engine import Start, ibu, ibu_channel, ibu_path, ibu_paths, iterates
from rr_core.ibu.path import IBUPath, log_spaced
from rr_core.simulate import Progress

__all__ = [
    "IBUPath",
    "Progress",
    "Start",
    "ibu",
    "ibu_channel",
    "ibu_path",
    "ibu_paths",
    "iterates",
    "log_spaced",
]
