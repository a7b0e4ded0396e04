"""Protocols beside k-ary randomized response, and the posterior of k-RR.

channel             any finite channel, and well-known channels of surveys
channel_estimation  Inv, maximum likelihood and its certificate for any channel (plain IBU: `rr_core.ibu_channel`)
subset              subset selection: reports, their supports drawn all at once, and Inv
hadamard            Hadamard response: reports, their histogram drawn all at once, and Inv
collection          one collection through a channel, with its estimates
estimation          `inv` and `mle`, one call for every protocol
posterior           exact means, independent draws and the Gibbs sampler under a Dirichlet prior
chains              effective sample size and R-hat
"""

from rr_core.protocols.chains import effective_sample_size, split_r_hat
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    ibu_gaps_channel,
    inv_covariance_channel,
    optimality_gap_channel,
    update_factors_channel,
)
from rr_core.protocols.collection import ChannelCollection, collect, merge_last
from rr_core.protocols.estimation import Protocol, inv, mle
from rr_core.protocols.hadamard import HadamardResponse
from rr_core.protocols.posterior import gibbs_chain, posterior, posterior_mean
from rr_core.protocols.subset import SubsetSelection

__all__ = [
    "Channel",
    "ChannelCollection",
    "HadamardResponse",
    "MaximumLikelihood",
    "Protocol",
    "SubsetSelection",
    "collect",
    "effective_sample_size",
    "gibbs_chain",
    "ibu_gaps_channel",
    "inv",
    "inv_covariance_channel",
    "merge_last",
    "mle",
    "optimality_gap_channel",
    "posterior",
    "posterior_mean",
    "split_r_hat",
    "update_factors_channel",
]
