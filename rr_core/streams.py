"""The random streams of the project: one table, so that no two purposes ever draw the same random numbers.

A stream is named by a seed, the numbers of its purpose below, and as many further numbers as the purpose has. NumPy
fills a key of fewer than four numbers up with zeros, so that (5, 2), (5, 2, 0) and (5, 2, 0, 0) are one stream: two keys
are apart only if they still differ after that. Seeds are below 2^32; a larger one would be read as two numbers.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

Key = tuple[int, ...]


class Stream(Enum):
    """Purposes of random streams: the numbers after the seed in a key, and (in brackets) the numbers that
    follow."""

    USERS = (0,)  # who the users are, drawn from the population
    NOISE = (1,)  # their reports (in a sweep: number of the block of collections)
    REPEATS = (2,)  # the same collection again (number of the collection)
    # One person's answers (their category; which answer). Always four numbers, so apart from the next two.
    ANSWERS = (3,)
    EMPTY = (3, 0, 0, 0)  # how often an empty category goes negative
    CLOUDS = (3, 0, 0)  # the clouds of the triangle (whose truth, from 1)
    FLOOR = (4,)  # collected reports: how few reports of the least reported categories are too few
    FIT = (5,)  # collected reports: the test of epsilon (number of the block)
    PLAN = (7,)  # the simulated curves of a plan (number of the point; first collection of the block)
    START = (8,)  # a random start of IBU
    ARRIVALS = (12,)  # the order in which the reports of a collection arrive
    CHANNEL = (13,)  # reports of any channel
    UNARY = (14,)  # reports by unary encoding; then those of one person
    EACH = (15,)  # one collection by each of several protocols
    POSTERIOR = (16,)  # draws from a posterior; then collections of growing size
    OVER_TIME = (18,)  # reports on many days (who is watched, one person, the errors; the scheme)
    BOUNDS = (17,)  # distributions over which the bounds of a channel are averaged
    LESSON = (20,)  # a scene of the lesson (its number; number of the setting)
    ROOM = (21,)  # what more people than those of a room would show
    BY_PROTOCOL = (19,)  # experiments with several protocols (number of the collection)


def key(seed: int | Key, stream: Stream, *numbers: int) -> Key:
    """The key of a stream.

    Args:
        seed: from 0 to 2^32 - 1; a sweep has four numbers instead, see `rr_core.experiments.cell.cell_seed`.
        stream: what is drawn.
        numbers: what follows, integers >= 0, as the table says.

    >>> key(5, Stream.REPEATS, 3)
    (5, 2, 3)
    """
    return (*(seed if isinstance(seed, tuple) else (seed,)), *stream.value, *numbers)


def generator(seed: int | Key, stream: Stream, *numbers: int) -> np.random.Generator:
    """A NumPy generator at the beginning of a stream; arguments as in `key`.

    >>> generator(5, Stream.USERS).random() == generator(5, Stream.USERS, 0).random()  # filled up with zeros
    True
    """
    return np.random.default_rng(key(seed, stream, *numbers))
