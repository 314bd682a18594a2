"""Compute the runs of protocols anew into a store of their own, and say what was there."""

import time

import pandas as pd
from joblib import effective_n_jobs

from companion.paths import EXPERIMENTS
from companion.runs.experiments import Run
from companion.runs.multiverse import specifications, universes
from companion.runs.protocols import load_protocol, protocol_names
from companion.runs.published import published_parameters
from companion.runs.store import COLUMNS, Store
from companion.runs.sweep import sweep


def names_of(protocol):
    """What names a protocol among all."""
    return protocol["experiment"], protocol["protocol"]


def store_of(protocol, root):
    """Open the store of a protocol's runs; the seed of a case depends on its place among all."""
    parameters = {**Run(protocol).parameters, "cases": protocol["cases"]}
    experiment, name = names_of(protocol)
    return Store(root, parameters, experiment=experiment, protocol=name)


def tasks_of(protocol, runs=None, cases=None):
    """The first runs of cases; of all, and as many as the protocol says, where not told else."""
    return [
        (case, seed)
        for seed in range(runs or protocol["runs"])  # all cases early: a first look comes soon
        for case in cases or protocol["cases"]
    ]


def work_of(protocols, root, runs=None):
    """What a sweep computes for protocols."""
    return [(store_of(p, root), Run(p), tasks_of(p, runs)) for p in protocols]


def compute(work, **options):
    """Compute what the stores lack; give the rows that were asked for, as they are published."""
    sweep(work, **options)
    tables = [store.rows(tasks) for store, _, tasks in work]
    return pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)


def compute_and_tell(protocols, say, root, runs=None, jobs=1, scheduler=None):
    """Compute the rows of protocols, and say what was done."""
    work, start = work_of(protocols, root, runs), time.monotonic()
    asked = sum(len(tasks) for *_, tasks in work)
    there = sum(len(set(tasks).intersection(store.done())) for store, _, tasks in work)
    if there:
        say(f"{there} of {asked} runs were already in {root}; remove it to compute them again")
    rows = compute(work, jobs=jobs, scheduler=scheduler, progress=True)
    jobs = counted(effective_n_jobs(jobs or -1), "job")
    place = f"on {scheduler}" if scheduler else f"with {jobs}"
    say(f"{counted(asked - there, 'run')} computed in {time.monotonic() - start:.1f} s {place}")
    return rows


def counted(n, noun):
    """Write a number of things."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def protocols_named(experiment, name):
    """Give one protocol of an experiment, or those of its multiverse."""
    if name == "multiverse":
        return [*universes(experiment).values(), *specifications(experiment).values()]
    return [load_protocol(experiment, name)]


def known_protocols():
    """Every protocol that has runs published: tables, universes and joint specifications."""
    known = [
        protocol
        for experiment in EXPERIMENTS
        for name in [*protocol_names()[experiment], "multiverse"]
        for protocol in protocols_named(experiment, name)
    ]
    return [protocol for protocol in known if names_of(protocol) in published_parameters()]
