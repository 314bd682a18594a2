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


class Expectation(NamedTuple):
    """Mean gain over cases, prediction for a new one, and each case's shrunken gain, in points."""

    mean: float
    between: float
    low: float
    high: float
    probability: float
    cases: pd.DataFrame


def expectation(results, protocol):
    """Predict the gain of DDR on a new dataset: 95 % interval and probability of a gain."""
    real = [paired(results, name, protocol, rival=NO_WEIGHTS) for name in ("biased", "cross")]
    gains = pd.concat([table for table in real if len(table)])
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


def sentence(results):
    """Say in one sentence what a new dataset may show, with either kind of settings."""
    found = {name: expectation(results, name) for name in PROTOCOLS}
    parts = [
        f"with {name} settings between {points(e.low)} and {points(e.high)} points (gain in "
        f"{100 * e.probability:.0f} % of datasets, mean {points(e.mean)})"
        for name, e in found.items()
    ]
    return Markdown(
        f"On a new dataset like the {len(found['tuned'].cases)} real ones here, expect DDR to "
        f"change the accuracy over no weights {' and '.join(parts)}."
    )


def picture(results):
    """Draw the shrunken gain of every real case, and below them what a new one may show."""
    panels = {}
    for protocol in PROTOCOLS:
        found = expectation(results, protocol)
        shown = found.cases.set_index("case")[["shrunk", "low", "high"]].T.to_dict("list")
        new = {"a new dataset": (found.mean, found.low, found.high)}
        panels[f"{protocol} settings"] = shown | new
    return estimates(panels, "gain over no weights in points")


def datasets_needed(results, gain=1.0):
    """Number of datasets that would show such a mean gain over no weights, tuned.

    Two-sided at 5 %, with a power of 80 %: (1.96 + 0.84)² times the variance between datasets.
    """
    return int(np.ceil((2.8 * expectation(results, "tuned").between / gain) ** 2))
