"""The deviations D1, D2, ...: what the paper leaves open, what we did, and the measured effect.

The entries are in ``book/deviations.yml``. Where a choice was varied in the multiverse, its effect
is looked up in the stored runs: the gain of DDR-uLSIF over uLSIF with the other choice beside the
gain without it, on the same cases and seeds.
"""

from functools import lru_cache
from pathlib import Path

import pandas as pd
import yaml

from companion.evidence.claim_checks import universe_runs
from companion.evidence.claim_live import figure_weights, posterior_changes
from companion.evidence.claims import claims
from companion.evidence.moment_readings import moment_readings
from companion.evidence.printed import EXPERIMENTS, ours
from companion.evidence.significance import count_line, significance
from companion.paths import BOOK
from companion.runs.multiverse import universes

__all__ = ["deviations", "effect_sentences", "measured_effects", "universe_effect"]

_NEEDED = {"id", "title", "open", "ours", "why", "effect"}
_KINDS = ("universes", "computed", "not_measured")


def deviations(path=None):
    """Read the deviations."""
    entries = yaml.safe_load(Path(path or BOOK / "deviations.yml").read_text(encoding="utf-8"))
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
        unknown = set(experiments) - set(EXPERIMENTS)
        if unknown:
            raise ValueError(
                f"effect of {entry['id']} must name experiments {', '.join(EXPERIMENTS)}, "
                f"got {sorted(unknown)}"
            )
        for experiment in experiments:
            if universe not in _universe_names(experiment):
                raise ValueError(
                    f"effect of {entry['id']} must name universes of book/multiverse.yml that "
                    f"{experiment} has, got {universe!r}"
                )


def universe_effect(results, experiment, universe, method="DDR-uLSIF", rival="uLSIF"):
    """Compare the gain of a method with one choice changed and unchanged."""
    changed = [universe_runs(results, experiment, universe, m) for m in (method, rival)]
    base = [universe_runs(results, experiment, "baseline", m) for m in (method, rival)]
    if base[0].empty:
        runs = ours(results, experiment, "matched").set_index(["case", "seed"])
        base = [runs.loc[runs["method"] == m, "accuracy"] for m in (method, rival)]
    names = ("changed", "changed_rival", "base", "base_rival")
    paired = pd.concat(dict(zip(names, [*changed, *base], strict=True)), axis=1).dropna()
    if paired.empty:
        return None
    by_case = 100 * paired.groupby(level="case").mean().mean()
    return {
        "cases": paired.index.get_level_values("case").nunique(),
        "runs": len(paired),
        "gain_baseline": by_case["base"] - by_case["base_rival"],
        "gain_changed": by_case["changed"] - by_case["changed_rival"],
        "accuracy_baseline": by_case["base"],
        "accuracy_changed": by_case["changed"],
    }


def t_test_counts(results):
    """Count significant cases under the matched protocol by paired, Welch's and Holm's rule."""
    lines = {e: count_line(significance(results, e)) for e in EXPERIMENTS}
    return [f"{e}: DDR-uLSIF {text}" for e, text in lines.items() if not text.startswith("no ")]


def posterior_change(results):
    """Measure how much p(y|x) changes between the synthetic training and test data."""
    return [posterior_changes(results, "live", holds_from=0, part_from=0).evidence]


def wrong_side_weight(results):
    """Measure what the figure's text says about weights, with the settings of that claim."""
    (claim,) = [c for c in claims() if c["check"] == "figure_weights"]
    return [figure_weights(results, "live", **claim["settings"]).evidence]


def pooled_second_moment(results):
    """Measure the error of the class-wise ratio when S-hat is taken over all training rows."""
    found = moment_readings()
    return [
        f"on the mixture, with the true posteriors as soft weights, the squared error of the "
        f"class-wise ratio over its variance is {found['own']:.2f} with the class's own samples "
        f"and {found['pooled']:.2f} with all training samples (mean of {found['draws']} draws)"
    ]


def weighted_centers(results):
    """Measure what the weights of the centres change in the class-wise ratio."""
    found = moment_readings()
    return [
        f"in the same computation the error is {found['weighted_centers']:.2f} when kernels carry "
        f"the posteriors of their centres, {found['own']:.2f} when they do not; the two estimates "
        f"differ by {100 * found['change']:.1f} % (root mean square, relative to the latter)"
    ]


_COMPUTED = {
    f.__name__: f
    for f in (
        t_test_counts,
        posterior_change,
        wrong_side_weight,
        pooled_second_moment,
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
    found = universe_effect(results, experiment, universe)
    if found is None:
        return f"{experiment}, {universe}: not measured"
    return (
        f"{experiment}, {universe}: gain over uLSIF {found['gain_changed']:+.2f} points with this "
        f"choice, {found['gain_baseline']:+.2f} without it; DDR-uLSIF "
        f"{found['accuracy_changed']:.2f} % and {found['accuracy_baseline']:.2f} % "
        f"(the same {found['runs']} runs of {found['cases']} cases)"
    )


def measured_effects(results, path=None):
    """Collect the effects of all deviations."""
    rows = [e | {"effect": effect_sentences(results, e)} for e in deviations(path)]
    return pd.DataFrame(rows)
