"""The deviations D1, D2, ...: what the paper leaves open, what we did, and the measured effect.

The entries are in ``book/deviations.yml``. Where a choice was varied in the multiverse, its effect
is looked up in the stored runs: the gain of DDR-uLSIF over uLSIF with the other choice beside the
gain without it, on the same cases and seeds.
"""

import pandas as pd

from companion.evidence.claim_computations import soft_moment_errors
from companion.evidence.gains import count_line
from companion.evidence.tables import points
from companion.evidence.universes import universe_effect, universe_name
from companion.paths import BOOK, EXPERIMENTS, read_yaml


def deviations():
    """Read the deviations."""
    return read_yaml(BOOK / "deviations.yml")


def t_test_counts(results):
    """Count significant cases under the matched protocol by paired, Welch's and Holm's rule."""
    return [f"{e}: DDR-uLSIF {count_line(results, e)}" for e in EXPERIMENTS]


def weighted_centers(results):
    """Measure what the weights of the centres change in the class-wise ratio."""
    found = soft_moment_errors()
    return [
        f"on the mixture, with the true posteriors as soft weights, the squared error of the "
        f"class-wise ratio over its variance is {found['weighted_centers']:.2f} when kernels carry "
        f"the posteriors of their centres, {found['own']:.2f} when they do not (mean of "
        f"{found['draws']} draws); the two estimates differ by {100 * found['change']:.1f} % (root "
        "mean square, relative to the latter)"
    ]


_COMPUTED = {"t_test_counts": t_test_counts, "weighted_centers": weighted_centers}


def effect_sentences(results, claims, entry):
    """Say what a deviation changes, in sentences with numbers."""
    [(kind, effect)] = entry["effect"].items()
    if kind == "not_measured":
        return [f"not measured: {effect}"]
    if kind == "claim":
        return claims.loc[claims["id"] == effect, "evidence"].tolist()
    if kind == "computed":
        return _COMPUTED[effect](results)
    return [
        _universe_sentence(results, experiment, universe)
        for universe, experiments in effect.items()
        for experiment in experiments
    ]


def _universe_sentence(results, experiment, universe):
    found = universe_effect(results, experiment, universe)
    return (
        f"{experiment}, *{universe_name(universe)}* instead of what is done here changes the gain "
        f"over uLSIF by {points(found['gain_change'])} points (published: "
        f"{points(found['gain_published'])}) and the accuracy of DDR-uLSIF by "
        f"{points(found['accuracy_change'])} (published: {found['accuracy_published']:.2f} %), on "
        f"the same {found['runs']} runs of {found['cases']} cases"
    )


def measured_effects(results, claims):
    """Collect the effects of all deviations, from runs and from the claims that were judged."""
    rows = [e | {"effect": effect_sentences(results, claims, e)} for e in deviations()]
    return pd.DataFrame(rows)
