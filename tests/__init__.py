"""Tests of rr_core, of the app, and of both in a browser.

How many examples a property is tried with: a few in the quick run; many with ``-m slow``, 20,000 unless RR_EXAMPLES says
otherwise, as it does in CI.
"""

import os

FEW_EXAMPLES, MANY_EXAMPLES = 100, int(os.environ.get("RR_EXAMPLES", "20000"))
