"""A small real sweep, for tests that need it in a process of its own.

``python sweep_process.py FOLDER N_TASKS [--jobs N] [--pause SECONDS]`` sweeps, then prints how many
runs it computed in its own process.
"""

import argparse
import signal
import sys
import time

import numpy as np
from companion.runs.store import Store
from companion.runs.sweep import SweepError, SweepInterrupted, sweep

PARAMETERS = {"alphas": [0.1, 10.0]}


class RidgeRun:
    """Fit two ridge regressions to one draw of numbers that the case and the seed decide."""

    def __init__(self, pause=0.0):
        self.pause = pause
        self.n_calls = 0

    def __call__(self, case, seed):
        self.n_calls += 1
        start = time.perf_counter()
        rng = np.random.default_rng([seed, *case.encode()])
        X, y, rows = rng.normal(size=(60, 3)), rng.normal(size=60), []
        for alpha in PARAMETERS["alphas"]:
            slopes = np.linalg.solve(X.T @ X + alpha * np.eye(3), X.T @ y)
            rows.append({"method": f"ridge {alpha}", "accuracy": slopes[0], "ess": slopes[1]})
        time.sleep(self.pause)
        return [{**row, "seconds": time.perf_counter() - start} for row in rows]


def make_store(root):
    return Store(root, PARAMETERS, experiment="ridge", protocol="test")


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
    run = RidgeRun()
    sweep(work(run, root, n_tasks))
    return run.n_calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("n_tasks", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    # a shell's background jobs ignore the interrupt that a terminal would send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run = RidgeRun(options.pause)
    try:
        sweep(work(run, options.root, options.n_tasks), jobs=options.jobs)
    except SweepError as error:
        sys.exit(str(error))
    except SweepInterrupted as interruption:
        print(interruption, file=sys.stderr)
        sys.exit(130)
    print(f"computed {run.n_calls}")


if __name__ == "__main__":
    main()
