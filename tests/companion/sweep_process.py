"""A small sweep, for tests that need it in a process of its own.

``python sweep_process.py FOLDER N_TASKS JOBS PAUSE`` sweeps, then prints how many runs it computed
in its own process.
"""

import sys
import time

import numpy as np
from companion.runs.store import Store
from companion.runs.sweep import SweepError, SweepInterrupted, sweep


class DrawingRun:
    """Draw numbers that the case and the seed decide."""

    def __init__(self, pause=0.0):
        self.pause = pause
        self.n_calls = 0

    def __call__(self, case, seed):
        self.n_calls += 1
        drawn = np.random.default_rng([seed, *case.encode()]).random(2)
        time.sleep(self.pause)
        names = {"seconds": time.perf_counter()}
        return [{"method": m, "accuracy": a, **names} for m, a in zip("ab", drawn, strict=True)]


def make_store(root):
    return Store(root, {"numbers": 2}, experiment="drawing", protocol="test")


def make_tasks(n_tasks):
    cases = ["shift=1", "shift=0.5", "shift=0.2"]
    return [(cases[i % 3], i // 3) for i in range(n_tasks)]


def work(run, root, n_tasks):
    return [(make_store(root), run, make_tasks(n_tasks))]


def comparable(root):
    """Give the rows of the store without the column that is not reproducible."""
    return make_store(root).rows().drop(columns="seconds").to_csv(index=False)


def sweep_here(root, n_tasks):
    """Sweep in this process; give the number of runs that had to be computed."""
    run = DrawingRun()
    sweep(work(run, root, n_tasks))
    return run.n_calls


def main(root, n_tasks, jobs, pause):
    run = DrawingRun(float(pause))
    try:
        sweep(work(run, root, int(n_tasks)), jobs=int(jobs))
    except SweepError as error:
        sys.exit(str(error))
    except SweepInterrupted as interruption:
        print(interruption, file=sys.stderr)
        sys.exit(130)
    print(f"computed {run.n_calls}")


if __name__ == "__main__":
    main(*sys.argv[1:])
