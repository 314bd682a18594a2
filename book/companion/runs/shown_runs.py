"""The runs that a page shows: stored ones where the parameters match, computed ones otherwise.

A page is quick because it reads stored runs, and it cannot lie because it computes some of them
again each time it is executed.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from companion.paths import BUILD
from companion.runs.experiments import Run, setting_of
from companion.runs.protocols import changed
from companion.runs.reproduce import recompute, store_of
from companion.runs.store import Task, parameters_hash
from companion.runs.sweep import sweep
from ddr.discriminative import DDRClassifier

__all__ = ["ShownRuns", "recomputed", "runs_to_show", "setting_of", "weights_of", "with_cases"]


# Relative; another BLAS kernel may settle a near-tie of cross-validation the other way.
_DIAGNOSTICS_AGREE = 0.05


class ShownRuns(NamedTuple):
    """Rows of runs, and how many runs were stored and how many computed for this page."""

    rows: pd.DataFrame
    stored: int
    computed: int

    def __str__(self):
        return f"{self.stored} runs from the store, {self.computed} computed for this page"


def with_cases(protocol, cases):
    """Let a protocol know further cases, without changing the seeds of those it has."""
    new = sorted(set(cases) - set(protocol["cases"]))
    return changed(protocol, cases=[*protocol["cases"], *new])


def runs_to_show(protocol, runs, cases=None, published=None, scratch=None, **options):
    """Read the stored runs of a protocol, and compute those that are not stored."""
    cases = list(cases or protocol["cases"])
    wanted = [Task(case, seed) for case in cases for seed in range(runs)]
    store = store_of(protocol, published)
    # Asking a store of other parameters for its rows would write a warning into the page.
    rows = pd.DataFrame() if store.mismatch() else store.rows()
    have = set() if rows.empty else set(zip(rows["case"], rows["seed"], strict=True))
    missing = [task for task in wanted if task not in have]
    parts = (
        [rows[[key in set(wanted) for key in _keys(rows)]]] if len(missing) < len(wanted) else []
    )
    if missing:
        # Cases are part of the name: the seed of a new case depends on its place among them.
        name = parameters_hash({"cases": protocol["cases"], **Run(protocol).parameters})[:16]
        folder = (scratch or BUILD / "reruns") / name
        parts.append(sweep(Run(protocol), missing, store_of(protocol, folder), **options))
    found = pd.concat(parts, ignore_index=True)
    order = {case: position for position, case in enumerate(cases)}
    found = found.sort_values("case", key=lambda c: c.map(order), kind="stable", ignore_index=True)
    return ShownRuns(found, len(wanted) - len(missing), len(missing))


def _keys(rows):
    return zip(rows["case"], rows["seed"], strict=True)


def recomputed(protocol, runs, cases=None, tolerance=0.0):
    """Compute some stored runs again and say whether they agree."""
    if runs == 0:
        return "no stored run was computed again: none was asked for"
    nothing = "no stored run was computed again: none is stored under these parameters"
    if store_of(protocol).mismatch():
        return nothing
    both = recompute(protocol, runs, cases).dropna(subset=["stored"])
    if both.empty:
        return nothing
    off = both[both["difference"].abs() > tolerance]
    if len(off):
        worst = off.loc[off["difference"].abs().idxmax()]
        raise AssertionError(
            f"{len(off)} of {len(both)} accuracies differ from the store by more than "
            f"{tolerance:g}; the largest difference is {worst['difference']:+.4f} "
            f"({worst['case']}, {worst['method']}, run {worst['seed']})"
        )
    text = f"{len(both)} of {len(both)} accuracies computed again agree within {tolerance:g}"
    if "diagnostics" not in both:
        return text
    alike = int((both["diagnostics"].fillna(0) <= _DIAGNOSTICS_AGREE).sum())
    return (
        f"{text}; effective sample size, mutual information and prior ratio agree within "
        f"{100 * _DIAGNOSTICS_AGREE:g} % in {alike} of {len(both)}"
    )


def weights_of(protocol, problem, bench):
    """The weights that the methods give to the training rows of one run, divided by their mean."""
    X, y, X_test = problem.X_train, problem.y_train, problem.X_test
    model = DDRClassifier(bench.learner, bench.ratio("uLSIF"), **protocol.get("ddr", {}))
    weights = {} if problem.importance is None else {"Ideal": problem.importance}
    weights["uLSIF"] = bench.ratio("uLSIF").fit(X, X_test).weights_
    weights["DDR"] = model.fit(X, y, X_test).weights_
    return {name: weight / np.mean(weight) for name, weight in weights.items()}
