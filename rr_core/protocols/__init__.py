"""Protocols beside k-ary randomized response, and the posterior of k-RR.

laws                of every protocol: how often a report supports the truth and another category, and its length
settings            of the page that compares them
channel             any finite channel, and well-known channels of surveys
channel_estimation  Inv, maximum likelihood and its certificate for any channel (plain IBU: `rr_core.ibu_channel`)
subset              subset selection: reports, their supports drawn all at once, and Inv
hadamard            Hadamard response: reports, their histogram drawn all at once, and Inv
collection          one collection through a channel, with its estimates
unary               unary encoding (SUE, which is basic RAPPOR, and OUE), and its estimates from the support
unary_estimation    maximum likelihood from the bits of unary encoding, its certificate, and what it gains
estimation          `inv` and `mle`, one call for every protocol
information_bounds  how small the mean squared error can be, from entropy to epsilon
over_time           the same people every day: budgets, errors and exposure under six schemes, and their reports
posterior           exact means and independent draws under a Dirichlet prior
"""

from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    ibu_path_channel,
    inv_covariance_channel,
    optimality_gap_channel,
    update_factors_channel,
)
from rr_core.protocols.collection import ChannelCollection, collect, merge_rarest
from rr_core.protocols.estimation import Protocol, inv, mle
from rr_core.protocols.hadamard import HadamardResponse
from rr_core.protocols.information_bounds import InformationBounds, information_bounds
from rr_core.protocols.over_time import Longitudinal, guesses
from rr_core.protocols.posterior import (
    PosteriorSummary,
    posterior,
    posterior_mean,
    summarise_posterior,
)
from rr_core.protocols.subset import SubsetSelection
from rr_core.protocols.unary import UnaryEncoding, inv_n_unary, inv_p_unary
from rr_core.protocols.unary_estimation import mle_unary, optimality_gap_unary, update_factors_unary

__all__ = [
    "Channel",
    "ChannelCollection",
    "HadamardResponse",
    "InformationBounds",
    "Longitudinal",
    "MaximumLikelihood",
    "PosteriorSummary",
    "Protocol",
    "SubsetSelection",
    "UnaryEncoding",
    "collect",
    "guesses",
    "ibu_path_channel",
    "information_bounds",
    "inv",
    "inv_covariance_channel",
    "inv_n_unary",
    "inv_p_unary",
    "merge_rarest",
    "mle",
    "mle_unary",
    "optimality_gap_channel",
    "optimality_gap_unary",
    "posterior",
    "posterior_mean",
    "summarise_posterior",
    "update_factors_channel",
    "update_factors_unary",
]
