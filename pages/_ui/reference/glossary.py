"""Glossary: the words of the app, for a reader who has met none of them."""

from __future__ import annotations

from pages._ui.reference.entries import Entry, in_two_columns

PROMISE = "the words of the app, for a first reader"

TERMS: tuple[Entry, ...] = (
    Entry("Bias", "How far an estimator is off on average, over all collections that could have happened."),
    Entry(
        "Bootstrap",
        "Repeating the collection on a computer, with the estimate as the truth, to see how far estimates scatter.",
        "resampling simulation",
    ),
    Entry("Category", "One of the possible answers: a letter, a web page, a kind of work."),
    Entry(
        "Cell",
        "One setting of an experiment: a population with its K, an ε and an N. A *sweep* is many of them.",
        "sweep experiment grid",
    ),
    Entry(
        "Certificate",
        "A number computed from an estimate: no distribution fits the reports better by more than this, in "
        "log-likelihood per report. Zero proves that none fits better.",
        "optimality gap",
    ),
    Entry(
        "Channel",
        "The noise as a table: for each truth, the chance of each report. One row per truth, each summing to 1.",
        "matrix",
    ),
    Entry("Collection", "One round: every user reports once. Here it is simulated, so it can be repeated."),
    Entry(
        "Collinear",
        "On one straight line. Three estimates are three points in a space with one axis per category; the page Geometry "
        "shows when they lie on a line.",
    ),
    Entry(
        "Common random numbers",
        "Giving all competitors the same chance events, here the same reports, so that luck is the same for all.",
        "paired comparison",
    ),
    Entry(
        "Confidence interval",
        "A range made so that it holds the truth in, say, 95 of 100 collections. *Coverage* is how often it really does. "
        "*Simultaneous* intervals are wider: all of them hold at once that often.",
        "interval coverage level",
    ),
    Entry("Consistent", "An estimator that ends up at the truth when there are more and more users."),
    Entry(
        "Convergence",
        "Getting closer and closer to something: what IBU does to MLE\\*.",
        "iteration",
    ),
    Entry("Distribution", "Shares of all categories: none negative, together 1."),
    Entry(
        "Domain",
        "All categories that people could choose from, those that nobody reported included.",
        "categories K",
    ),
    Entry(
        "Epsilon (ε)",
        "The dial between privacy and accuracy. A report is at most $e^ε$ times likelier under one truth than under "
        "another: 2.7 times at $ε=1$, 1.1 times at $ε=0.1$. Small is private, large is accurate.",
        "epsilon privacy budget",
    ),
    Entry("Estimate, estimator", "A guess of what nobody may see, and the rule that computes it from the reports."),
    Entry("Expected value", "The average over all that chance could do. Single outcomes scatter around it.", "mean"),
    Entry(
        "Familywise error",
        "The chance of even one false alarm among many tests. Holm's correction keeps it below a level.",
        "Holm Bonferroni multiple tests",
    ),
    Entry("Histogram", "How many of each category. *True*: what people would say. *Noisy*: what arrives."),
    Entry(
        "Iteration", "One step of a method that repeats the same small improvement many times.", "IBU convergence"
    ),
    Entry("Likelihood", "How probable the reports that arrived would have been, if a given distribution were the truth."),
    Entry(
        "Linear inversion",
        "Undoing the noise by arithmetic: subtract what it adds on average, then stretch. Also called debiasing.",
        "Inv",
    ),
    Entry(
        "Local hashing",
        "A protocol: each person hashes the answer to a few values and randomizes that, so reports are short.",
        "OLH protocol",
    ),
    Entry(
        "Local differential privacy",
        "Each person adds the noise *before* sending anything, so nobody needs to be trusted with the truth. The "
        "guarantee holds for every report, whatever an onlooker knows already.",
        "LDP",
    ),
    Entry(
        "Lower bound",
        "An error below which no method of a stated kind can get: no unbiased one, say, or none on average over many "
        "truths.",
        "limit best possible",
    ),
    Entry("Maximum likelihood", "Choosing the distribution under which the reports are most likely.", "MLE"),
    Entry("Mean squared error", "The average squared distance between estimate and truth: bias² plus variance.", "MSE"),
    Entry("Mechanism", "The recipe by which a truth becomes a report. Here: randomized response."),
    Entry("Nat", "Unit of log-likelihood with the natural logarithm, as a bit is with base 2.", "NLL unit"),
    Entry("Negatives", "Shares below zero: what Inv gives to categories with fewer reports than noise brings."),
    Entry("Noise", "The part of a report that chance decides. It protects the person and blurs the histogram."),
    Entry(
        "Population",
        "What the users are drawn from. Even without noise, a thousand users may differ a little from it.",
        "sample",
    ),
    Entry(
        "p-value",
        "The chance of data at least as odd as these if nothing were wrong. It is not the chance that nothing is wrong.",
        "test significance",
    ),
    Entry("Post-processing", "Any computation on the reports. It cannot weaken their privacy.", "repair"),
    Entry(
        "Posterior odds",
        "What an onlooker believes after seeing a report: the odds before, times at most $e^ε$.",
        "Bayes belief",
    ),
    Entry(
        "Privacy budget",
        "Another name for $ε$: what may be spent. Reports about the same person add up: two at $ε=1$ cost 2, and may "
        "change an onlooker's odds by $e^2$.",
        "epsilon",
    ),
    Entry("Projection", "The nearest point of a set. InvP takes the distribution nearest to Inv.", "InvP simplex"),
    Entry(
        "Randomized response",
        "Toss a coin in private: it says either *tell the truth* or *name any category at random*. With a small $ε$ a "
        "single answer says little; many together show the shares.",
        "k-RR GRR coin",
    ),
    Entry(
        "Regret",
        "The error of a choice made beforehand, over the error of the best choice made with hindsight.",
        "MLE* always experiment",
    ),
    Entry("Report", "The one answer that a user sends: the truth, or not."),
    Entry("Seed", "A number that fixes the chance: the same seed gives the same users and the same noise.", "random"),
    Entry(
        "Shuffling",
        "Mixing all reports before anyone sees them, so that nobody knows whose is whose. It adds to the privacy.",
        "central amplification",
    ),
    Entry(
        "Simplex",
        "The set of all distributions: a segment for two categories, a triangle for three, and so on upwards.",
        "geometry",
    ),
    Entry("Standard error", "The typical size of the error that chance causes: the square root of the variance."),
    Entry(
        "Subset selection",
        "A protocol: each person names several categories, their own one more often among them than by chance. With one "
        "category it is k-RR.",
        "SS k-subset protocol",
    ),
    Entry("Support", "The categories to which an estimate gives a positive share.", "zeros"),
    Entry("Total variation", "The share of the mass in the wrong category: half the sum of the absolute errors.", "TV"),
    Entry("Unbiased", "Right on average: too high in some collections, too low in others, in balance."),
    Entry(
        "Unary encoding",
        "A protocol: each person sends one randomized yes or no per category, so reports are long.",
        "SUE OUE RAPPOR protocol",
    ),
    Entry("Valid", "Said of an estimate that is a distribution: no negatives, sum 1."),
    Entry("Variance", "How much an estimate scatters over collections: its mean squared distance from its average."),
    Entry(
        "Zipf's law",
        "Few categories common, many rare: the share of rank $r$ falls like $r^{-s}$. The words of a text come near it.",
    ),
)  # fmt: skip


def entries() -> tuple[Entry, ...]:
    return TERMS


def show() -> None:
    in_two_columns(TERMS)
