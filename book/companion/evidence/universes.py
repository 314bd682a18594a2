"""What the runs of the multiverse show: the gain under each open choice, and what it changes."""

from functools import lru_cache
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
    paired_table,
)
from companion.evidence.tables import points
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes

BASELINE = "baseline"


@lru_cache(maxsize=1)
def _entries():
    return read()["universes"]


def universe_name(universe):
    """Name a universe in words."""
    return _entries().get(universe, {}).get("name", universe.replace("-", " "))


def universe_gains(results, experiment):
    """Mean gain of DDR-uLSIF in each universe that was run, largest first."""
    rows = {}
    for universe in universes(experiment):
        wide = accuracies(results, experiment, f"universe:{universe}")
        if wide.empty:
            continue
        gains, plain = (
            paired_table(wide.reindex(columns=[METHOD, r]).dropna(), experiment, METHOD, r)
            for r in (RIVAL, NO_WEIGHTS)
        )
        means = wide.groupby(level="case").mean().mean()
        found = over_cases(gains)
        rows[universe] = (
            {"question": _entries()[universe]["question"]}
            | {m: means.get(m, np.nan) for m in (NO_WEIGHTS, RIVAL, METHOD)}
            | {"gain": found.pop("mean"), **found, "over_none": over_cases(plain)["mean"]}
            | {"runs": int(gains["n"].min()) if len(gains) else 0}
        )
    columns = ["question", NO_WEIGHTS, RIVAL, METHOD, "gain", "low", "high", "cases", "won"]
    columns += ["lost", "better", "worse", "over_none", "runs"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("universe")
    return table.sort_values("gain", ascending=False, kind="stable")


def baseline_accuracies(results, experiment):
    """Accuracies of the unchanged protocol: those of the multiverse, or the published ones."""
    base = accuracies(results, experiment, f"universe:{BASELINE}")
    return accuracies(results, experiment, "matched") if base.empty else base


def universe_change(results, experiment, universe, method=METHOD):
    """What a changed choice does to one method's accuracy, case by case, on the same runs."""
    other = accuracies(results, experiment, f"universe:{universe}")
    base = baseline_accuracies(results, experiment)
    if method not in other or method not in base:
        return paired_table(pd.DataFrame(index=base.index[:0]), experiment, "other", "base")
    both = pd.concat({"other": other[method], "base": base[method]}, axis=1).dropna()
    return paired_table(both, experiment, "other", "base")


def gain_changes(results, experiment):
    """How far the gain in each universe is from the baseline's, over the cases."""
    base = _gain_by_run(accuracies(results, experiment, f"universe:{BASELINE}"))
    rows = {}
    for universe in universes(experiment):
        other = _gain_by_run(accuracies(results, experiment, f"universe:{universe}"))
        both = pd.concat({"other": other, "base": base}, axis=1).dropna()
        if universe != BASELINE and len(both):
            change = (both["other"] - both["base"]).groupby(level="case").mean()
            rows[universe] = (*mean_interval(change), len(change), _p_value(change))
    columns = ["change", "low", "high", "cases", "p"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("universe")
    return table.assign(p_holm=holm(table["p"]))


def _p_value(values):
    """p-value of a mean of zero, also where all values are the same."""
    if np.ptp(values) < 1e-12:
        return float(abs(np.mean(values)) < 1e-12)
    return float(stats.ttest_1samp(values, 0).pvalue)


def joint_gains(results, experiment):
    """Mean gain in points of each joint specification that was run, a row; in each case, a column.

    Only cases that all of them have.
    """
    gains = {
        name: _gain_by_run(accuracies(results, experiment, name)).groupby(level="case").mean()
        for name in specifications(experiment)
    }
    table = pd.DataFrame({name: gain for name, gain in gains.items() if len(gain)}).T
    return table.dropna(axis=1)


def curve_inference(gains):
    """Median gain, share of clear gains and Stouffer's z of a specification curve.

    Their p-values come from turning the signs of all gains of a case together, in every way: so
    the specifications may depend on one another as they do.
    """
    values, k = gains.to_numpy(dtype=float), gains.shape[1]
    flips = np.array(list(product((1.0, -1.0), repeat=k)))  # the first turns nothing
    means = flips @ values.T / k
    spread = np.sqrt(np.maximum(np.square(values).mean(axis=1) - means**2, 1e-24) / (k - 1))
    p = stats.t.sf(means / spread, k - 1)
    found = {
        "median gain": np.median(means, axis=1),
        "share significant": (p < 0.025).mean(axis=1),
        "Stouffer's z": stats.norm.isf(p.clip(1e-15, 1 - 1e-15)).sum(axis=1) / np.sqrt(len(values)),
    }
    rows = {name: (s[0], (s >= s[0] - 1e-12).mean()) for name, s in found.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["found", "p"])


def deciding_choices(results, count=5):
    """The clear changes of the gain (interval without zero), largest first, each choice once."""
    tables = [gain_changes(results, e).reset_index().assign(experiment=e) for e in EXPERIMENTS]
    moved = pd.concat(tables, ignore_index=True)
    clear = moved[(moved["low"] > 0) | (moved["high"] < 0)]
    largest = clear.loc[clear["change"].abs().sort_values(ascending=False, kind="stable").index]
    return largest.drop_duplicates("universe").head(count).reset_index(drop=True)


def _gain_by_run(wide):
    wide = wide.reindex(columns=[METHOD, RIVAL])
    return 100 * (wide[METHOD] - wide[RIVAL]).astype(float)


def universe_effect(results, experiment, universe):
    """Gain and accuracy of DDR-uLSIF with one choice changed and unchanged, on the same runs."""
    tables = {
        "changed": accuracies(results, experiment, f"universe:{universe}"),
        "base": baseline_accuracies(results, experiment),
    }
    both = pd.concat(
        {(kind, m): t.reindex(columns=[METHOD, RIVAL])[m] for kind, t in tables.items() for m in
         (METHOD, RIVAL)}, axis=1,
    ).dropna()  # fmt: skip
    if both.empty:
        return None
    means = 100 * both.groupby(level="case").mean().mean()
    return {
        "cases": both.index.get_level_values("case").nunique(),
        "runs": len(both),
        "gain_baseline": means["base", METHOD] - means["base", RIVAL],
        "gain_changed": means["changed", METHOD] - means["changed", RIVAL],
        "accuracy_baseline": means["base", METHOD],
        "accuracy_changed": means["changed", METHOD],
    }


# ----------------------------------------------------------------------------------- in words


def _named(universe):
    return f"*{universe_name(universe)}*"


def universes_reading(found, moved):
    """Say what the universes show together."""
    positive, above = int((found["gain"] > 0).sum()), int((found["low"] > 0).sum())
    text = (
        f"The mean gain is positive in {positive} of {len(found)} universes, from "
        f"{points(found['gain'].min())} points ({_named(found['gain'].idxmin())}) to "
        f"{points(found['gain'].max())} ({_named(found['gain'].idxmax())}); in {above} of them "
        "its interval over the cases lies above zero."
    )
    sign = np.sign(found["gain"].round(6))
    same = int((sign.drop(BASELINE) == sign[BASELINE]).sum())
    largest = moved["change"].abs().idxmax()
    clear = moved[(moved["low"] > 0) | (moved["high"] < 0)].sort_values("change")
    names = ", ".join(f"{_named(n)} ({points(row.change)})" for n, row in clear.iterrows())
    sure = int((clear["p_holm"] < ALPHA).sum())
    return text + (
        f" The baseline gains {points(found.at[BASELINE, 'gain'])}; {same} of the "
        f"{len(found) - 1} changes keep its sign. The largest change is that of "
        f"{_named(largest)}: {points(moved.at[largest, 'change'])} points. "
        + (
            f"Changes whose interval excludes zero: {names}; after Holm's correction {sure}."
            if names
            else "No change has an interval that excludes zero."
        )
    )


def complete_universes(experiment, results):
    """The universes of a table that are stored completely."""
    found, wanted = universe_gains(results, experiment), universes(experiment)
    done = [
        name
        for name in found.index
        if found.at[name, "runs"] >= wanted[name]["runs"]
        and found.at[name, "cases"] == len(wanted[name]["cases"])
    ]
    return found.loc[done]
