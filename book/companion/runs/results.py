"""The one door to stored runs: read them, show them, and compute some of them again.

A page is quick because it reads published runs whose parameters match exactly, and it cannot lie
because it computes some of them again each time it is executed. Other parameters are computed.
"""

import hashlib
import shutil
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits

from companion.paths import BUILD, ROOT
from companion.runs.experiments import Run
from companion.runs.protocols import changed
from companion.runs.published import published_parameters, published_results
from companion.runs.reproduce import compute, names_of, store_of, tasks_of
from companion.runs.store import differences
from companion.runs.sweep import sweep

_KEYS = ["case", "seed", "method"]
_DIAGNOSTICS = ("ess", "mutual_information", "prior_ratio")
# Accuracies are shares of hundreds of test rows: between BLAS kernels a row on the boundary may
# change sides, or a near-tie of the cross-validation. On one machine the difference is zero.
ACCURACIES_AGREE = 0.02
# Relative, for the same reason.
_DIAGNOSTICS_AGREE = 0.05
# So many rows must have the stored diagnostics of the weights, up to rounding.
_SAME_WEIGHTS, _ROUNDING = 0.9, 1e-4


class ShownRuns(NamedTuple):
    """Rows of runs; how many were stored, how many computed for this page, how many wanted."""

    rows: pd.DataFrame
    stored: int
    computed: int
    wanted: int

    def __str__(self):
        there = self.stored + self.computed
        return (
            f"{'complete' if there == self.wanted else 'NOT COMPLETE'}: {there} of {self.wanted} "
            f"runs, {self.stored} from the store and {self.computed} computed for this page"
        )


def mismatch(protocol, run=None):
    """Say how the parameters of a protocol's runs differ from the published ones, if they do."""
    here = (run or Run(protocol)).parameters
    return differences(published_parameters().get(names_of(protocol), here), here)


def published_runs(protocol, run=None):
    """Read the published runs of a protocol, if they were computed with just its parameters."""
    results, (experiment, name) = published_results(), names_of(protocol)
    chosen = (results["experiment"] == experiment) & (results["protocol"] == name)
    return results[chosen & (not mismatch(protocol, run))].reset_index(drop=True)


def with_cases(protocol, cases):
    """Let a protocol know further cases, without changing the seeds of those it has."""
    new = sorted(set(cases) - set(protocol["cases"]))
    return changed(protocol, cases=[*protocol["cases"], *new])


def stored_or_computed(protocol, runs, cases=None, compute_missing=False):
    """Take the published runs of a protocol; compute where none is there, or where asked to.

    Where some are there, computing the others may take an hour, so that is done only on request.
    """
    cases = list(cases or protocol["cases"])
    rows, wanted = published_runs(protocol), tasks_of(protocol, runs, cases)
    have = set(wanted).intersection(zip(rows["case"], rows["seed"], strict=True))
    missing = [task for task in wanted if task not in have]
    if have and not compute_missing:
        missing = []
    if missing:
        new = compute([(store_of(protocol, BUILD / "reruns"), Run(protocol), missing)])
        rows = pd.concat([rows, new]) if have else new
    rows = rows[rows["case"].isin(cases) & (rows["seed"] < runs)].sort_values(
        "case", key=lambda c: c.map(cases.index), kind="stable", ignore_index=True
    )
    return ShownRuns(rows, len(have), len(missing), len(wanted))


def recompute(protocol, runs=1, cases=None):
    """Compute the first runs of cases again, without any store, beside what is published."""
    run, rows = Run(protocol), []
    with threadpool_limits(limits=1):
        for case, seed in tasks_of(protocol, runs, cases):
            rows += [{"case": case, "seed": seed, **row} for row in run(case, seed)]
    return beside_published(protocol, pd.DataFrame(rows))


def beside_published(protocol, rows, run=None):
    """Set rows that were computed again beside the published ones."""
    columns = [*_KEYS, "accuracy", *_DIAGNOSTICS]
    rows, old = rows.reindex(columns=columns), published_runs(protocol, run)[columns]
    both = rows.merge(old, on=_KEYS, how="left", suffixes=("", "_stored"))
    # Mutual informations near zero are noise in their last digits.
    far = [(both[d] - both[f"{d}_stored"]).abs() / (1e-3 + both[d].abs()) for d in _DIAGNOSTICS]
    both = both.rename(columns={"accuracy": "computed", "accuracy_stored": "stored"})
    both["difference"] = both["computed"] - both["stored"]
    both["diagnostics"] = pd.concat(far, axis=1).max(axis=1)
    return both


def difference_from_published(protocol, rows):
    """Say how far new runs lie from the published ones."""
    both = beside_published(protocol, rows).dropna(subset=["stored"])
    found = "none is published under these parameters"
    if len(both):
        found = f"the largest difference of {len(both)} accuracies is {_largest(both)}"
    return f"from the published runs: {found}"


def _largest(both):
    worst = both.loc[both["difference"].abs().idxmax()]
    return f"{worst.difference:+.4f} ({worst.case}, {worst.method}, run {worst.seed})"


def what_differs(work_in, **options):
    """Compute what is (store, run, tasks) in a folder; say what differs from what is published.

    An interrupted comparison is taken up again, unless the code has changed; one that came to its
    end leaves nothing behind. Yields names, tasks and sentences.
    """
    root, code = BUILD / "verify", hashlib.sha256()
    for path in sorted([*(ROOT / "ddr").rglob("*.py"), *Path(__file__).parent.glob("*.py")]):
        code.update(path.read_bytes())
    work = work_in(root / code.hexdigest()[:16])
    sweep([item for item in work if not mismatch(item[0].names, item[1])], **options)
    for store, run, tasks in work:
        if other := mismatch(store.names, run):
            said = [f"published with other parameters ({other})"]
        else:
            said = what_moved(beside_published(store.names, store.rows(tasks), run))
        yield store.names, tasks, said
    shutil.rmtree(root, ignore_errors=True)


def what_moved(both):
    """Say in sentences how runs computed again differ from the published ones, if they do."""
    missing, moved = both["stored"].isna().sum(), both["difference"].abs() > ACCURACIES_AGREE
    found = [f"{missing} of {len(both)} rows are not published"] if missing else []
    found += [
        f"the accuracy of {row.method} on {row.case}, run {row.seed}, is {row.computed:.4f} "
        f"instead of {row.stored:.4f}"
        for row in both[moved].itertuples()
    ]
    others = both.loc[both["diagnostics"] > _ROUNDING, "case"]
    if len(others) > (1 - _SAME_WEIGHTS) * len(both):
        names = ", ".join(sorted(set(others)))
        found.append(f"{len(others)} of {len(both)} rows have other weights than stored ({names})")
    return found


def recomputed(protocol, runs, cases=None, tolerance=0.0):
    """Compute some published runs again and say whether they agree; raise if they do not."""
    both = pd.DataFrame()
    if runs and len(published_runs(protocol)):
        both = recompute(protocol, runs, cases).dropna(subset=["stored"])
    if both.empty:
        return "no stored run was computed again"
    off = (both["difference"].abs() > tolerance).sum()
    if off:
        raise AssertionError(
            f"{off} of {len(both)} accuracies differ from the store by more than {tolerance:g}; "
            f"the largest difference is {_largest(both)}"
        )
    alike = int((both["diagnostics"].fillna(0) <= _DIAGNOSTICS_AGREE).sum())
    return (
        f"{len(both)} of {len(both)} accuracies computed again agree within {tolerance:g}; "
        "effective sample size, mutual information and prior ratio agree within "
        f"{100 * _DIAGNOSTICS_AGREE:g} % in {alike} of {len(both)}"
    )
