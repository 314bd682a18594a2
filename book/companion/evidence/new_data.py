"""What to expect on a dataset of your own, from the real datasets of the paper's tables.

Each case has a gain and an error; the gains vary from case to case by more than that. A
hierarchical summary separates the two, shrinks each case towards the mean, and says what a further
case would show: datasets are what is scarce here, not runs.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

from companion.evidence.gains import NO_WEIGHTS, paired, shrunken
from companion.evidence.plots import estimates
from companion.evidence.tables import points
from companion.paths import PROTOCOLS

NEW = "a new dataset"


class Expectation(NamedTuple):
    """Shrunken gains of all cases and of a new one in points; spread of the cases; P(gain > 0)."""

    gains: pd.DataFrame
    between: float
    probability: float


def expectation(results, protocol):
    """Predict the gain of DDR on a new dataset: 95 % interval and probability of a gain."""
    real = [paired(results, name, protocol, rival=NO_WEIGHTS) for name in ("biased", "cross")]
    gains = pd.concat([table for table in real if len(table)]).query("n > 1")
    error = (gains["high"] - gains["low"]) / 2 / stats.t.ppf(0.975, gains["n"] - 1)
    mean, of_mean, between, shrunk, spread = shrunken(gains["gain"], error)
    scale, degrees = np.hypot(between, of_mean), len(gains) - 2
    half = np.append(1.96 * spread, stats.t.ppf(0.975, degrees) * scale)
    found = pd.DataFrame({"mean": np.append(shrunk, mean)}, index=[*gains["case"], NEW])
    found = found.assign(low=found["mean"] - half, high=found["mean"] + half)
    return Expectation(found, between, stats.t.cdf(mean / scale, degrees))


def sentence(results):
    """Say in one sentence what a new dataset may show, with either kind of settings."""
    said = []
    for protocol in PROTOCOLS:
        gains, _, probability = expectation(results, protocol)
        mean, low, high = map(points, gains.loc[NEW])
        said.append(
            f"with {protocol} settings between {low} and {high} points (gain in "
            f"{100 * probability:.0f} % of datasets, mean {mean})"
        )
    return Markdown(
        f"On a new dataset like the {len(gains) - 1} real ones here, expect DDR to "
        f"change the accuracy over no weights {' and '.join(said)}."
    )


def picture(results):
    """Draw the shrunken gain of every real case, and below them what a new one may show."""
    panels = {f"{name} settings": expectation(results, name).gains.T for name in PROTOCOLS}
    return estimates(panels, "gain over no weights in points")


def datasets_needed(results, gain=1.0):
    """Number of datasets that would show such a mean gain over no weights, tuned.

    Two-sided at 5 %, with a power of 80 %: (1.96 + 0.84)² times the variance between datasets.
    """
    return int(np.ceil((2.8 * expectation(results, "tuned").between / gain) ** 2))
