"""Compute the paper's tables anew, and say how far they lie from the store and from the paper."""

import time
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from companion.evidence.verdicts import compare, judge, summary
from companion.paths import BOOK
from companion.runs.experiments import Run, methods_of
from companion.runs.protocols import EXPERIMENTS, load_protocol
from companion.runs.store import Store, Task, make_folder, remove_stores
from companion.runs.sweep import check_jobs, check_reachable, check_scheduler, sweep

_KEYS = ["experiment", "protocol", "case", "method", "seed"]
_DIAGNOSTICS = ("ess", "mutual_information", "prior_ratio")


def store_of(protocol, folder=None):
    """Open the results store of a protocol."""
    folder = Path(folder or BOOK / "results")
    names = protocol["experiment"], protocol["protocol"]
    return Store(folder, *names, Run(protocol).parameters)


def compute(protocol, folder, *, runs=None, cases=None, **options):
    """Compute the runs of a protocol that a store does not have yet."""
    tasks = _tasks(protocol, runs, cases)
    return sweep(Run(protocol), tasks, store_of(protocol, folder), **options)


def _tasks(protocol, runs=None, cases=None):
    return [
        Task(case, seed)
        for seed in range(runs or protocol["runs"])  # all cases early: a first look comes soon
        for case in cases or protocol["cases"]
    ]


def is_published(folder):
    """Tell whether a folder is that of the published runs, by whatever path."""
    published, folder = BOOK / "results", Path(folder)
    return published.exists() and folder.exists() and folder.samefile(published)


def start_afresh(protocols, folder, *, jobs=1, scheduler=None, **_):
    """Remove the stored runs of some protocols, if nothing stands against computing them again."""
    make_folder(folder, "folder")
    if is_published(folder):
        raise ValueError(
            f"fresh must not remove published runs, got the folder {str(folder)!r}: "
            "choose another one"
        )
    check_jobs(jobs)
    if scheduler is not None:
        check_scheduler(scheduler)
        check_reachable(scheduler)
    remove_stores(store_of(protocol, folder) for protocol in protocols)


@contextmanager
def reported(protocols, folder, say, *, runs=None, jobs=1, scheduler=None, **_):
    """Say which runs are there before a computation, and how long it took after it."""
    asked = there = 0
    for protocol in protocols:
        tasks, store = _tasks(protocol, runs), store_of(protocol, folder)
        asked += len(tasks)
        if not store.mismatch():  # the sweep refuses that store in its own words
            there += len(store.done().intersection(tasks))
    if there:
        say(f"{there} of {asked} runs were already in {folder}; --fresh computes them again")
    start = time.monotonic()
    yield
    place = f"on {scheduler}" if scheduler else f"with {_count(effective_n_jobs(jobs), 'job')}"
    say(f"{_count(asked - there, 'run')} computed in {_duration(time.monotonic() - start)} {place}")


def _count(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _duration(seconds):
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def recompute(protocol, runs=1, cases=None):
    """Compute runs again, without any store, beside what the published store says."""
    run = Run(protocol)
    with threadpool_limits(limits=1):  # as in a sweep
        rows = [
            {"case": case, "seed": seed, **row}
            for case in cases or protocol["cases"]
            for seed in range(runs)
            for row in run(case, seed)
        ]
    keys, values = ["case", "seed", "method"], ["accuracy", *_DIAGNOSTICS]
    old = store_of(protocol).rows().reindex(columns=[*keys, *values])
    both = pd.DataFrame(rows).merge(old, on=keys, how="left", suffixes=("", "_stored"))
    both = both.rename(columns={"accuracy": "computed", "accuracy_stored": "stored"})
    both["difference"] = both["computed"] - both["stored"]
    both["diagnostics"] = pd.concat(
        # Mutual informations near zero are noise in their last digits.
        [(both[d] - both[f"{d}_stored"]).abs() / (1e-3 + both[d].abs()) for d in _DIAGNOSTICS],
        axis=1,
    ).max(axis=1)
    return both[[*keys, "stored", "computed", "difference", "diagnostics"]]


def reproduce(
    experiments=EXPERIMENTS,
    protocol="matched",
    folder="_build/reproduction",
    say=print,
    fresh=False,
    **options,
):
    """Compute tables into a store of their own and report the largest differences."""
    contents = {experiment: load_protocol(experiment, protocol) for experiment in experiments}
    if fresh:
        start_afresh(contents.values(), folder, **options)
    tables = []
    for experiment, content in contents.items():
        runs = options.get("runs") or content["runs"]
        say(f"{experiment}, {protocol} protocol, {_count(runs, 'run')} of each case")
        with reported([content], folder, lambda line: say(f"  {line}"), **options):
            rows = compute(content, folder, **options)
        tables.append(rows)
        for line in report(rows, store_of(content).rows(), experiment, protocol):
            say(f"  {line}")
    return pd.concat(tables, ignore_index=True)


def report(rows, published, experiment, protocol):
    """Lines that say how far new runs lie from the published ones and from the paper."""
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
    return [*lines, f"verdicts: {summary(judge(rows, experiment, protocol))}"]


def complete(protocol, folder=None):
    """Tell whether a store has every run of its protocol."""
    rows = store_of(protocol, folder).rows()
    wanted = {
        (case, seed, method)
        for case in protocol["cases"]
        for seed in range(protocol["runs"])
        for method in methods_of(protocol, case)
    }
    return wanted <= set(zip(rows["case"], rows["seed"], rows["method"], strict=True))
