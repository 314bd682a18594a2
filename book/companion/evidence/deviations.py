"""The deviations D1, D2, ...: what the paper leaves open, what we did, and the measured effect.

The entries are in ``book/deviations.yml``. Where a choice was varied in the multiverse, its effect
is looked up in the stored runs: the gain of DDR-uLSIF over uLSIF with the other choice beside the
gain without it, on the same cases and seeds.
"""

import pandas as pd

from companion.evidence.claim_computations import (
    figure_weights,
    posterior_changes,
    soft_moment_errors,
)
from companion.evidence.claims import claims
from companion.evidence.gains import against_all, count_line
from companion.evidence.tables import points
from companion.evidence.universes import universe_effect, universe_name
from companion.paths import BOOK, EXPERIMENTS, read_yaml


def deviations():
    """Read the deviations."""
    return read_yaml(BOOK / "deviations.yml")


def t_test_counts(results):
    """Count significant cases under the matched protocol by paired, Welch's and Holm's rule."""
    return [f"{e}: DDR-uLSIF {count_line(against_all(results, e))}" for e in EXPERIMENTS]


def posterior_change(results):
    """Measure how much p(y|x) changes between the synthetic training and test data."""
    return [posterior_changes(results, "live", at_least=0).evidence]


def wrong_side_weight(results):
    """Measure what the figure's text says about weights, with the settings of that claim."""
    (claim,) = [c for c in claims() if c["check"] == "figure_weights"]
    return [figure_weights(results, "live", **claim["settings"]).evidence]


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


_COMPUTED = {
    f.__name__: f for f in (t_test_counts, posterior_change, wrong_side_weight, weighted_centers)
}


def effect_sentences(results, entry):
    """Say what a deviation changes, in sentences with numbers."""
    effect = entry["effect"]
    if "not_measured" in effect:
        return [f"not measured: {effect['not_measured']}"]
    if "computed" in effect:
        return _COMPUTED[effect["computed"]](results)
    return [
        _universe_sentence(results, experiment, universe)
        for universe, experiments in effect["universes"].items()
        for experiment in experiments
    ]


def _universe_sentence(results, experiment, universe):
    name = universe_name(universe)
    found = universe_effect(results, experiment, universe)
    return (
        f"{experiment}, *{name}* instead of what is done here: gain over uLSIF "
        f"{points(found['gain_changed'])} points, with what is done here "
        f"{points(found['gain_baseline'])}; accuracy of DDR-uLSIF "
        f"{found['accuracy_changed']:.2f} % and {found['accuracy_baseline']:.2f} % "
        f"(the same {found['runs']} runs of {found['cases']} cases)"
    )


def measured_effects(results):
    """Collect the effects of all deviations."""
    return pd.DataFrame([e | {"effect": effect_sentences(results, e)} for e in deviations()])
