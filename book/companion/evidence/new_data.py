"""What to expect on a dataset of your own, from the real datasets of the paper's tables.

Each case has a gain and an error; the gains vary from case to case by more than that. A
hierarchical summary separates the two, shrinks each case towards the mean, and says what a further
case would show: datasets are what is scarce here, not runs.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.gains import METHOD, NO_WEIGHTS, paired, shrunken
from companion.evidence.tables import points

TABLES = ("biased", "cross")


class Expectation(NamedTuple):
    """Mean gain over cases, prediction for a new one, and each case's shrunken gain, in points."""

    mean: float
    between: float
    low: float
    high: float
    probability: float
    cases: pd.DataFrame


def expectation(results, protocol="matched", rival=NO_WEIGHTS, tables=TABLES):
    """Predict the gain of DDR on a new dataset: 95 % interval and probability of a gain."""
    gains = pd.concat([paired(results, name, protocol, METHOD, rival) for name in tables])
    gains = gains[gains["n"] > 1]
    half = (gains["high"] - gains["low"]) / 2
    error = half / stats.t.ppf(0.975, gains["n"] - 1)
    mean, of_mean, between, shrunk, spread = shrunken(gains["gain"], error)
    degrees = len(gains) - 2
    scale = np.hypot(between, of_mean)
    reach = stats.t.ppf(0.975, degrees) * scale
    cases = pd.DataFrame({"case": gains["case"], "gain": gains["gain"], "shrunk": shrunk})
    cases = cases.assign(low=shrunk - 1.96 * spread, high=shrunk + 1.96 * spread)
    probability = stats.t.cdf(mean / scale, degrees)
    return Expectation(mean, between, mean - reach, mean + reach, probability, cases)


def sentence(matched, tuned):
    """Say in one sentence what a new dataset may show, with either kind of settings."""
    parts = [
        f"with {name} settings between {points(e.low)} and {points(e.high)} points (gain in "
        f"{100 * e.probability:.0f} % of datasets, mean {points(e.mean)})"
        for name, e in (("matched", matched), ("tuned", tuned))
    ]
    return f"On a new dataset like the {len(matched.cases)} real ones here, expect DDR to change " \
        f"the accuracy over no weights {' and '.join(parts)}."  # fmt: skip
