"""What the runs of the multiverse show: the gain under each open choice, and what it changes."""

from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.gains import (
    ALPHA,
    METHOD,
    NO_WEIGHTS,
    RIVAL,
    accuracies,
    holm,
    mean_interval,
    over_cases,
    paired,
    paired_table,
    shrunken,
    t_tests,
)
from companion.evidence.tables import points
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes

BASELINE = "baseline"


def protocol_of(universe):
    """The protocol whose published runs are a universe: the baseline is the published table."""
    return "matched" if universe == BASELINE else f"universe:{universe}"


def universe_name(universe):
    """Name a universe in words."""
    return _about(universe).get("name", universe.replace("-", " "))


def _about(universe):
    return read()["unchanged"] if universe == BASELINE else read()["universes"].get(universe, {})


def universe_gains(results, experiment):
    """Mean gain of DDR-uLSIF in each universe that was run, largest first."""
    rows = {}
    for universe in (BASELINE, *universes(experiment)):
        protocol = protocol_of(universe)
        wide = accuracies(results, experiment, protocol)
        if wide.empty:
            continue
        found, plain = (
            over_cases(paired(results, experiment, protocol, rival=r)) for r in (RIVAL, NO_WEIGHTS)
        )
        means = wide.groupby(level="case").mean().mean()
        rows[universe] = (
            {"question": _about(universe)["question"]}
            | means[[NO_WEIGHTS, RIVAL, METHOD]].to_dict()
            | {"gain": found.pop("mean"), **found, "over_none": plain["mean"]}
        )
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("universe")
    return table.sort_values("gain", ascending=False, kind="stable")


def universe_change(results, experiment, universe, method=METHOD):
    """What a changed choice does to one method's accuracy, case by case, on the same runs."""
    both = _beside_baseline(results, experiment, universe, [method])
    return paired_table(both, experiment, "changed", "base")


def _beside_baseline(results, experiment, universe, methods):
    """Accuracies with one choice changed and unchanged, in the runs that have both."""
    tables = {
        kind: accuracies(results, experiment, protocol_of(name)).reindex(columns=methods)
        for kind, name in (("changed", universe), ("base", BASELINE))
    }
    return pd.concat(tables, axis=1).dropna()


def gain_changes(results, experiment):
    """How far the gain in each universe is from the baseline's, over the cases."""
    rows = {}
    for universe in universes(experiment):
        both = _beside_baseline(results, experiment, universe, [METHOD, RIVAL])
        if len(both):
            change = _gain_by_run(both["changed"]) - _gain_by_run(both["base"])
            change = change.groupby(level="case").mean()
            p, _ = t_tests(change, np.zeros(len(change)))
            rows[universe] = (*mean_interval(change), len(change), float(p))
    columns = ["change", "low", "high", "cases", "p"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("universe")
    return table.assign(p_holm=holm(table["p"]))


def clear_changes(moved):
    """Those changes of the gain whose interval excludes zero, largest first."""
    clear = moved[(moved["low"] > 0) | (moved["high"] < 0)]
    return clear.sort_values("change", key=abs, ascending=False, kind="stable")


def joint_gains(results, experiment):
    """Mean gain in points of each joint specification, a row, in each of its cases, a column."""
    gains = {
        name: _gain_by_run(accuracies(results, experiment, name)).groupby(level="case").mean()
        for name in specifications(experiment)
    }
    return pd.DataFrame(gains).T


def curve_inference(gains):
    """Median gain, share of clear gains less losses, and Stouffer's z of a specification curve.

    Their two-sided p-values come from turning the signs of all gains of a case together, in every
    way: so the specifications may depend on one another as they do.
    """
    values, k = gains.to_numpy(dtype=float), gains.shape[1]
    flips = np.array(list(product((1.0, -1.0), repeat=k)))  # the first turns nothing
    means = flips @ values.T / k
    spread = np.sqrt(np.maximum(np.square(values).mean(axis=1) - means**2, 1e-24) / (k - 1))
    p = stats.t.sf(means / spread, k - 1)
    found = {
        "median gain": np.median(means, axis=1),
        "share significant": (p < ALPHA / 2).mean(axis=1) - (p > 1 - ALPHA / 2).mean(axis=1),
        "Stouffer's z": stats.norm.isf(p.clip(1e-15, 1 - 1e-15)).sum(axis=1) / np.sqrt(len(values)),
    }
    rows = {name: (s[0], (abs(s) >= abs(s[0]) - 1e-12).mean()) for name, s in found.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["found", "p"])


def all_changes(results):
    """Every change of the gain in every table, with Holm's p over all, and shrunken."""
    tables = [gain_changes(results, e).reset_index().assign(experiment=e) for e in EXPERIMENTS]
    changes = pd.concat(tables, ignore_index=True).dropna(subset=["p"])
    half = (changes["high"] - changes["low"]) / 2
    error = half / stats.t.ppf(0.975, changes["cases"] - 1)
    changes = changes.assign(
        p_holm=holm(changes["p"]), shrunk=shrunken(changes["change"], error)[3]
    )
    return changes.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


def deciding_choices(results, count=5):
    """The clear changes of the gain in all tables, largest first, each choice once."""
    largest = clear_changes(all_changes(results))
    return largest.drop_duplicates("universe").head(count).reset_index(drop=True)


def _gain_by_run(wide):
    wide = wide.reindex(columns=[METHOD, RIVAL])
    return 100 * (wide[METHOD] - wide[RIVAL]).astype(float)


def universe_effect(results, experiment, universe):
    """Published gain and accuracy of DDR-uLSIF, and what one changed choice does to the accuracy.

    The change is that on the runs which both have; `gain_changes` has that of the gain.
    """
    both = _beside_baseline(results, experiment, universe, [METHOD, RIVAL])
    means = 100 * both.groupby(level="case").mean().mean()
    published = 100 * accuracies(results, experiment, "matched").groupby(level="case").mean().mean()
    return {
        "cases": both.index.get_level_values("case").nunique(),
        "runs": len(both),
        "gain_published": published[METHOD] - published[RIVAL],
        "accuracy_published": published[METHOD],
        "accuracy_change": means["changed", METHOD] - means["base", METHOD],
    }


def _named(universe):
    return f"*{universe_name(universe)}*"


def universes_reading(found, moved):
    """Say what the universes show together."""
    positive, above = int((found["gain"] > 0).sum()), int((found["low"] > 0).sum())
    sign = np.sign(found["gain"].round(6))
    same = int((sign.drop(BASELINE) == sign[BASELINE]).sum())
    largest = moved["change"].abs().idxmax()
    clear = clear_changes(moved).sort_values("change")
    names = ", ".join(f"{_named(n)} ({points(row.change)})" for n, row in clear.iterrows())
    decided = "No change has an interval that excludes zero."
    if names:
        sure = int((clear["p_holm"] < ALPHA).sum())
        decided = f"Changes whose interval excludes zero: {names}; after Holm's correction {sure}."
    return (
        f"The mean gain is positive in {positive} of {len(found)} universes, from "
        f"{points(found['gain'].min())} points ({_named(found['gain'].idxmin())}) to "
        f"{points(found['gain'].max())} ({_named(found['gain'].idxmax())}); in {above} of them "
        f"its interval over the cases lies above zero. The baseline gains "
        f"{points(found.at[BASELINE, 'gain'])}; {same} of the {len(found) - 1} changes keep its "
        f"sign. The largest change is that of {_named(largest)}: "
        f"{points(moved.at[largest, 'change'])} points. {decided}"
    )
