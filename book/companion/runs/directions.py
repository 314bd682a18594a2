"""What it does to biased sampling that the direction of the bias is chosen by test labels.

The paper draws ten directions a run and takes the one on which ideal weights gain most on the test
set. So the choice sees the test labels, and it selects runs in which weights look useful.
"""

import warnings

import pandas as pd

from companion.runs.experiments import Run, setting_of
from companion.runs.multiverse import METHODS
from companion.runs.protocols import changed
from companion.runs.reproduce import store_of
from ddr.ratio import OverlapWarning

__all__ = ["both_choices", "chosen_gaps", "random_direction_runs"]


def chosen_gaps(protocol, cases, runs):
    """Gaps of the directions among which the runs of a protocol chose."""
    rows = []
    for case in cases:
        for seed in range(runs):
            gaps = [100 * gap for gap in setting_of(protocol, case, seed)[0].info["gaps"]]
            rows.append((case, seed, max(gaps), sum(gaps) / len(gaps)))
    return pd.DataFrame(rows, columns=["case", "seed", "taken", "mean"])


def random_direction_runs(protocol, cases, runs, published=None):
    """Runs of a protocol of biased sampling with the first direction instead of the best one."""
    other = changed(
        protocol,
        protocol="universe:omega-random",
        methods=METHODS,
        extra_methods={"cases": [], "methods": []},
        problem={"choose": "none"},
    )
    store = store_of(other, published)
    rows = pd.DataFrame() if store.mismatch() else store.rows()
    if len(rows):
        return rows, True
    run = Run(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)
        new = [
            {"case": case, "seed": seed, **row}
            for case in cases
            for seed in range(runs)
            for row in run(case, seed)
        ]
    return pd.DataFrame(new), False


def both_choices(chosen, random, methods=METHODS):
    """Mean accuracies with the chosen and with a random direction, over the runs that both have."""
    wide = [
        rows[rows["method"].isin(methods)].pivot(
            index=["case", "seed"], columns="method", values="accuracy"
        )
        for rows in (chosen, random)
    ]
    common = wide[0].index.intersection(wide[1].index)
    means = [table.loc[common, list(methods)].mean() for table in wide]
    return pd.DataFrame(means, index=["largest gap", "random"])
