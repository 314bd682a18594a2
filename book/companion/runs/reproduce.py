"""Compute the runs of protocols anew into a store of their own, and say what was there."""

import time

from joblib import effective_n_jobs

from companion.paths import EXPERIMENTS
from companion.runs.experiments import Run
from companion.runs.multiverse import specifications, universes
from companion.runs.protocols import load_protocol, protocol_names
from companion.runs.published import published_parameters, published_results
from companion.runs.store import STORE, Store, Task, remove_runs, set_aside_if_damaged
from companion.runs.sweep import connected, sweep


def store_of(protocol, path=None):
    """Open the store of a protocol's runs in a file."""
    names = protocol["experiment"], protocol["protocol"]
    return Store(path or STORE, *names, Run(protocol).parameters)


def compute(protocol, path=None, *, runs=None, cases=None, **options):
    """Compute the runs of a protocol that a store does not have yet."""
    return sweep(Run(protocol), _tasks(protocol, runs, cases), store_of(protocol, path), **options)


def _tasks(protocol, runs=None, cases=None):
    return [
        Task(case, seed)
        for seed in range(runs or protocol["runs"])  # all cases early: a first look comes soon
        for case in cases or protocol["cases"]
    ]


def start_afresh(protocols, path=None, scheduler=None):
    """Remove the stored runs of some protocols, if nothing stands against computing them again."""
    if scheduler is not None:
        with connected(scheduler):
            pass
    remove_runs(store_of(protocol, path) for protocol in protocols)


def compute_all(protocols, say, *, path=None, runs=None, jobs=1, scheduler=None, **options):
    """Compute protocols one after the other; give the rows of each, and say what was done."""
    set_aside_if_damaged(path or STORE)
    protocols = list(protocols)
    tasks = {protocol["protocol"]: _tasks(protocol, runs) for protocol in protocols}
    asked = sum(map(len, tasks.values()))
    there = sum(
        len(store_of(protocol, path).done().intersection(tasks[protocol["protocol"]]))
        for protocol in protocols
    )
    if there:
        said = f"{there} of {asked} runs were already in {path or STORE}"
        say(f"{said}; --fresh computes them again")
    start = time.monotonic()
    options |= {"jobs": jobs, "scheduler": scheduler}
    for number, protocol in enumerate(protocols, start=1):
        if len(protocols) > 1:
            say(f"{number} of {len(protocols)}: {protocol['protocol']}")
        yield compute(protocol, path, runs=runs, **options)
    place = f"on {scheduler}" if scheduler else f"with {_count(effective_n_jobs(jobs), 'job')}"
    say(f"{_count(asked - there, 'run')} computed in {_duration(time.monotonic() - start)} {place}")


def _count(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _duration(seconds):
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def difference_from_published(rows, published=None):
    """Say how far new runs lie from the published ones."""
    published = published_results() if published is None else published
    keys = ["experiment", "protocol", "case", "method", "seed"]
    both = rows.merge(published, on=keys, suffixes=("", "_published"))
    if both.empty:
        return "from the published runs: nothing is published under this name"
    difference = (both["accuracy"] - both["accuracy_published"]).abs()
    worst = both.loc[difference.idxmax()]
    return (
        f"from the published runs: largest difference of {len(both)} accuracies is "
        f"{difference.max():.2g} ({worst['case']}, {worst['method']}, run {worst['seed']})"
    )


def known_protocols():
    """Every protocol that has runs published: tables, universes and joint specifications."""
    published = published_parameters()
    return [
        protocol
        for e in EXPERIMENTS
        for protocol in (
            *(load_protocol(e, name) for name in protocol_names()[e]),
            *universes(e).values(),
            *specifications(e).values(),
        )
        if (e, protocol["protocol"]) in published
    ]
