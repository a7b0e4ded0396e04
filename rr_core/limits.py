"""What a person may enter: widgets, links, validators and property tests read it here.

Only the first line is of the mathematics; the others say what the app offers a person.
"""

# The mathematics: every epsilon that a caller of rr_core states. e^700 and e^-700 are doubles.
EPSILON_MIN, EPSILON_MAX = 1e-6, 700.0

# The app.
K_MIN, K_MAX = 2, 1_500_000
EPSILON_APP_MIN, EPSILON_APP_MAX = 0.01, 20.0
N_MIN, N_MAX = 1, 1_000_000_000
S_MIN, S_MAX = 0.0, 5.0
SEED_MIN, SEED_MAX = 0, 2**32 - 1
MAX_UPLOAD_BYTES = 200 * 1024 * 1024

# A sweep of one's own.
COLLECTIONS_MIN, COLLECTIONS_MAX = 1, 1000
SWEEP_CELLS_MAX, SWEEP_SECONDS_MAX = 2000, 1800.0
LIST_LETTERS_MAX = 300
TYPED_LETTERS_MAX = 1_000_000  # in a box for a list or a table; more belong in a file

# A plan; shares in percent of users.
SHARE_MIN, SHARE_MAX = 0.0, 100.0
TARGET_MIN = 1e-7  # the least share that a target can name
CONFIDENCE_MIN, CONFIDENCE_MAX = 0.5, 0.9999

# What reading one upload may cost.
READ_SECONDS_MAX = 30.0
HELD_BYTES_MAX, HELD_ROWS_MAX = 192 * 1024**2, 8_000_000  # of a table of counts, which is held whole
