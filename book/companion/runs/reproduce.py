"""Compute the runs of protocols anew into a store of their own, and say what was there."""

import time

from joblib import effective_n_jobs

from companion.paths import EXPERIMENTS
from companion.runs.experiments import Run
from companion.runs.multiverse import specifications, universes
from companion.runs.protocols import load_protocol, protocol_names
from companion.runs.published import published_parameters, published_results
from companion.runs.store import Store, Task, remove_runs, set_aside_if_damaged
from companion.runs.sweep import connected, sweep


def names_of(protocol):
    """What names a protocol among all."""
    return protocol["experiment"], protocol["protocol"]


def store_of(protocol, path):
    """Open the store of a protocol's runs in a file."""
    return Store(path, *names_of(protocol), Run(protocol).parameters)


def compute(protocol, path, *, runs=None, cases=None, **options):
    """Compute the runs of a protocol that a store does not have yet."""
    tasks = tasks_of(protocol, runs, cases)
    return sweep(Run(protocol), tasks, store_of(protocol, path), **options)


def tasks_of(protocol, runs=None, cases=None):
    """The first runs of cases; of all, and as many as the protocol says, where not told else."""
    return [
        Task(case, seed)
        for seed in range(runs or protocol["runs"])  # all cases early: a first look comes soon
        for case in cases or protocol["cases"]
    ]


def start_afresh(protocols, path, scheduler):
    """Remove the stored runs of some protocols, if nothing stands against computing them again."""
    if scheduler is not None:
        with connected(scheduler):
            pass
    remove_runs(path, [names_of(protocol) for protocol in protocols])


def compute_all(protocols, say, path, runs, jobs, scheduler):
    """Compute protocols one after the other; give the rows of each, and say what was done."""
    set_aside_if_damaged(path)
    wanted = [(store_of(protocol, path), tasks_of(protocol, runs)) for protocol in protocols]
    asked = sum(len(tasks) for _, tasks in wanted)
    there = sum(len(store.done().intersection(tasks)) for store, tasks in wanted)
    if there:
        say(f"{there} of {asked} runs were already in {path}; --fresh computes them again")
    start = time.monotonic()
    for number, protocol in enumerate(protocols, start=1):
        if len(protocols) > 1:
            say(f"{number} of {len(protocols)}: {protocol['protocol']}")
        yield compute(protocol, path, runs=runs, jobs=jobs, scheduler=scheduler, progress=True)
    place = f"on {scheduler}" if scheduler else f"with {_count(effective_n_jobs(jobs), 'job')}"
    say(f"{_count(asked - there, 'run')} computed in {_duration(time.monotonic() - start)} {place}")


def _count(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _duration(seconds):
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def difference_from_published(rows):
    """Say how far new runs lie from the published ones."""
    keys = ["experiment", "protocol", "case", "method", "seed"]
    both = rows.merge(published_results(), on=keys, suffixes=("", "_published"))
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
    known = []
    for experiment in EXPERIMENTS:
        known += [load_protocol(experiment, name) for name in protocol_names()[experiment]]
        known += [*universes(experiment).values(), *specifications(experiment).values()]
    return [protocol for protocol in known if names_of(protocol) in published_parameters()]
