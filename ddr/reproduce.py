"""Compute the paper's tables anew, and say how far they lie from the store and from the paper."""

from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from ddr.experiments import Run, methods_of
from ddr.paper import BOOK, compare, summary
from ddr.protocols import EXPERIMENTS, load_protocol
from ddr.store import Store
from ddr.sweep import sweep

_KEYS = ["experiment", "protocol", "case", "method", "seed"]


def store_of(protocol, folder=None):
    """Open the results store of a protocol.

    Parameters
    ----------
    protocol : dict
    folder : path-like, optional
        By default the published results, ``book/results``.

    Returns
    -------
    ddr.store.Store

    Examples
    --------
    >>> from ddr.protocols import load_protocol
    >>> store_of(load_protocol("synthetic")).path.name
    'synthetic-matched.csv'
    """
    folder = Path(folder or BOOK / "results")
    names = protocol["experiment"], protocol["protocol"]
    return Store(folder, *names, Run(protocol).parameters)


def compute(protocol, folder, *, runs=None, cases=None, **options):
    """Compute the runs of a protocol that a store does not have yet.

    Parameters
    ----------
    protocol : dict
    folder : path-like
        Where the store is.
    runs : int, optional
        Runs of each case; the protocol's number by default.
    cases : list of str, optional
        Some of the protocol's cases; all by default.
    **options
        ``jobs``, ``scheduler``, ``progress`` and ``wait`` of :func:`ddr.sweep.sweep`.

    Returns
    -------
    DataFrame
        One row for each run and method.
    """
    tasks = [
        (case, seed)
        for seed in range(runs or protocol["runs"])  # all cases early: a first look comes soon
        for case in cases or protocol["cases"]
    ]
    return sweep(Run(protocol), tasks, store_of(protocol, folder), **options)


def recompute(protocol, runs=1, cases=None):
    """Compute runs again, without any store, beside what the published store says.

    Parameters
    ----------
    protocol : dict
    runs : int, default=1
        Runs of each case, from the first on.
    cases : list of str, optional

    Returns
    -------
    DataFrame
        Columns ``case``, ``seed``, ``method``, ``stored``, ``computed`` and ``difference`` of the
        accuracies. A run that is not stored has a missing ``stored``.
    """
    run = Run(protocol)
    with threadpool_limits(limits=1):  # as in a sweep
        rows = [
            {"case": case, "seed": seed, **row}
            for case in cases or protocol["cases"]
            for seed in range(runs)
            for row in run(case, seed)
        ]
    new = pd.DataFrame(rows).rename(columns={"accuracy": "computed"})
    old = store_of(protocol).rows().rename(columns={"accuracy": "stored"})
    keys = ["case", "seed", "method"]
    both = new[[*keys, "computed"]].merge(old[[*keys, "stored"]], on=keys, how="left")
    both["difference"] = both["computed"] - both["stored"]
    return both[[*keys, "stored", "computed", "difference"]]


def reproduce(
    experiments=EXPERIMENTS, protocol="matched", folder="_build/reproduction", say=print, **options
):
    """Compute tables into a store of their own and report the largest differences.

    Parameters
    ----------
    experiments : sequence of {"synthetic", "biased", "cross"}
    protocol : str, default="matched"
    folder : path-like, default="_build/reproduction"
        What an interrupted reproduction left here is taken up again.
    say : callable, default=print
        Receives the report, line by line.
    **options
        ``runs`` and the options of :func:`ddr.sweep.sweep`.

    Returns
    -------
    DataFrame
        All rows.
    """
    tables = []
    for experiment in experiments:
        content = load_protocol(experiment, protocol)
        say(f"{experiment}, {protocol} protocol, {options.get('runs') or content['runs']} runs")
        rows = compute(content, folder, **options)
        tables.append(rows)
        for line in report(rows, store_of(content).rows(), experiment, protocol):
            say(f"  {line}")
    return pd.concat(tables, ignore_index=True)


def report(rows, published, experiment, protocol):
    """Lines that say how far new runs lie from the published ones and from the paper.

    Parameters
    ----------
    rows, published : DataFrame
        Tidy runs.
    experiment, protocol : str

    Returns
    -------
    list of str
    """
    both = rows.merge(published, on=_KEYS, suffixes=("", "_published"))
    if both.empty:
        lines = ["from the published store: nothing is stored under these settings"]
    else:
        difference = (both["accuracy"] - both["accuracy_published"]).abs()
        worst = both.loc[difference.idxmax()]
        lines = [
            f"from the published store: largest difference of {len(both)} accuracies is "
            f"{difference.max():.2g} ({worst['case']}, {worst['method']}, run {worst['seed']})"
        ]
    comparison = compare(rows, experiment, protocol)
    if comparison["delta"].notna().any():
        worst = comparison.loc[comparison["delta"].abs().idxmax()]
        lines.append(
            f"from the paper: largest difference of means is {worst['delta']:+.4f} "
            f"({worst['case']}, {worst['method']})"
        )
    return [*lines, f"verdicts: {summary(comparison)}"]


def complete(protocol, folder=None):
    """Tell whether a store has every run of its protocol.

    Parameters
    ----------
    protocol : dict
    folder : path-like, optional

    Returns
    -------
    bool
    """
    rows = store_of(protocol, folder).rows()
    wanted = {
        (case, seed, method)
        for case in protocol["cases"]
        for seed in range(protocol["runs"])
        for method in methods_of(protocol, case)
    }
    return wanted <= set(zip(rows["case"], rows["seed"], rows["method"], strict=True))
