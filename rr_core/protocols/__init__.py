"""Protocols beside k-ary randomized response, and the posterior of k-RR.

channel             any finite channel, and well-known channels of surveys
channel_estimation  Inv, maximum likelihood and its certificate for any channel (plain IBU: `rr_core.ibu_channel`)
estimation          `inv` and `mle`, one call for every protocol
"""

from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    optimality_gap_channel,
    update_factors_channel,
)
from rr_core.protocols.estimation import Protocol, inv, mle

__all__ = [
    "Channel",
    "MaximumLikelihood",
    "Protocol",
    "inv",
    "mle",
    "optimality_gap_channel",
    "update_factors_channel",
]
