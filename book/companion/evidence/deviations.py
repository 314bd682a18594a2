"""The deviations D1, D2, ...: what the paper leaves open, what we did, and the measured effect.

The entries are in ``book/deviations.yml``. Where a choice was varied in the multiverse, its effect
is looked up in the stored runs: the gain of DDR-uLSIF over uLSIF with the other choice beside the
gain without it, on the same cases and seeds.
"""

from functools import lru_cache

import pandas as pd

from companion.evidence.claim_computations import figure_weights, posterior_changes
from companion.evidence.claims import claims
from companion.evidence.gains import against_all, count_line
from companion.evidence.soft_moments import soft_moment_errors
from companion.evidence.tables import points
from companion.evidence.universes import universe_effect, universe_name
from companion.paths import BOOK, EXPERIMENTS, read_yaml
from companion.runs.multiverse import universes

_NEEDED = {"id", "title", "open", "ours", "why", "effect"}
_KINDS = ("universes", "computed", "not_measured")


def deviations(path=None):
    """Read the deviations."""
    entries = read_yaml(path or BOOK / "deviations.yml")
    for number, entry in enumerate(entries, start=1):
        if set(entry) != _NEEDED:
            odd = sorted(set(entry) ^ _NEEDED)
            raise ValueError(f"deviation {number} must have the keys {sorted(_NEEDED)}: see {odd}")
        if entry["id"] != f"D{number}":
            raise ValueError(f"deviation {number} must have the id D{number}, got {entry['id']!r}")
        _check_effect(entry)
    return entries


@lru_cache
def _universe_names(experiment):
    return frozenset(universes(experiment))


def _check_effect(entry):
    effect = entry["effect"]
    if len(effect) != 1 or not set(effect) <= set(_KINDS):
        raise ValueError(
            f"effect of {entry['id']} must be one of {', '.join(_KINDS)}, got {list(effect)}"
        )
    if "computed" in effect and effect["computed"] not in _COMPUTED:
        raise ValueError(
            f"computed effect of {entry['id']} must be one of {', '.join(_COMPUTED)}, "
            f"got {effect['computed']!r}"
        )
    for universe, experiments in effect.get("universes", {}).items():
        for experiment in experiments:
            known = _universe_names(experiment) if experiment in EXPERIMENTS else ()
            if universe not in known:
                raise ValueError(
                    f"effect of {entry['id']} must name universes of book/multiverse.yml that an "
                    f"experiment has, got {universe!r} of {experiment!r}"
                )


def t_test_counts(results):
    """Count significant cases under the matched protocol by paired, Welch's and Holm's rule."""
    lines = {e: count_line(against_all(results, e)) for e in EXPERIMENTS}
    return [f"{e}: DDR-uLSIF {text}" for e, text in lines.items() if not text.startswith("no ")]


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
    f.__name__: f
    for f in (
        t_test_counts,
        posterior_change,
        wrong_side_weight,
        weighted_centers,
    )
}


def effect_sentences(results, entry):
    """Say what a deviation changes, in sentences with numbers."""
    effect = entry["effect"]
    if "not_measured" in effect:
        return [f"not measured: {effect['not_measured']}"]
    if "computed" in effect:
        return _COMPUTED[effect["computed"]](results) or ["not measured: no runs stored"]
    return [
        _universe_sentence(results, experiment, universe)
        for universe, experiments in effect["universes"].items()
        for experiment in experiments
    ]


def _universe_sentence(results, experiment, universe):
    name = universe_name(universe)
    found = universe_effect(results, experiment, universe)
    if found is None:
        return f"{experiment}, *{name}*: not measured"
    return (
        f"{experiment}, *{name}* instead of what is done here: gain over uLSIF "
        f"{points(found['gain_changed'])} points, with what is done here "
        f"{points(found['gain_baseline'])}; accuracy of DDR-uLSIF "
        f"{found['accuracy_changed']:.2f} % and {found['accuracy_baseline']:.2f} % "
        f"(the same {found['runs']} runs of {found['cases']} cases)"
    )


def measured_effects(results, path=None):
    """Collect the effects of all deviations."""
    rows = [e | {"effect": effect_sentences(results, e)} for e in deviations(path)]
    return pd.DataFrame(rows)
