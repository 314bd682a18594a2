"""A small real sweep, for tests that need it in a process of its own.

``python sweep_process.py FILE N_TASKS [--jobs N] [--wait] [--pause SECONDS]`` sweeps, then prints
how many runs it computed in its own process.
"""

import argparse
import itertools
import os
import signal
import sys
import time

import numpy as np
from companion.runs import store
from companion.runs.store import Store, StoreError, Task
from companion.runs.sweep import SweepError, SweepInterrupted, sweep

PARAMETERS = {"n": 60, "dimension": 3, "alphas": [0.1, 10.0]}


class RidgeRun:
    """Fit two ridge classifiers to one draw of two clouds around -shift and shift."""

    def __init__(self, pause=0.0):
        self.pause = pause
        self.n_calls = 0

    def __call__(self, case, seed):
        self.n_calls += 1
        start = time.perf_counter()
        shift = float(case.removeprefix("shift="))
        rng = np.random.default_rng([seed, int(10 * shift)])
        y = np.repeat([-1, 1], PARAMETERS["n"] // 2)
        X, X_test = (
            rng.normal(size=(len(y), PARAMETERS["dimension"])) + shift * y[:, None] for _ in "ab"
        )
        rows = []
        for alpha in PARAMETERS["alphas"]:
            gram = X.T @ X + alpha * np.eye(X.shape[1])
            coefficients = np.linalg.solve(gram, X.T @ y)
            accuracy = np.mean(np.sign(X_test @ coefficients) == y)
            norm = np.linalg.norm(coefficients)
            rows.append({"method": f"ridge {alpha}", "accuracy": accuracy, "ess": norm})
        time.sleep(self.pause)
        return [{**row, "seconds": time.perf_counter() - start} for row in rows]


def make_store(path):
    return Store(path, "ridge", "test", PARAMETERS)


def make_tasks(n_tasks):
    cases = ["shift=1", "shift=0.5", "shift=0.2"]
    return [Task(cases[i % 3], i // 3) for i in range(n_tasks)]


def comparable(path):
    """Give the rows of the store without the column that is not reproducible."""
    return make_store(path).rows().drop(columns="seconds").to_csv(index=False)


def sweep_here(path, n_tasks, pause=0.0):
    """Sweep in this process; give the number of runs that had to be computed."""
    run = RidgeRun(pause)
    sweep(run, make_tasks(n_tasks), make_store(path))
    return run.n_calls


def sweep_and_die(path, n_tasks, n_statements):
    """Sweep, and be killed when the n-th statement of SQL begins."""
    connect, numbers = store._connect, itertools.count(1)

    def deadly(statement):
        if next(numbers) == n_statements:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(where):
        connection = connect(where)
        connection.set_trace_callback(deadly)
        return connection

    store._connect = traced
    sweep_here(path, n_tasks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("n_tasks", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    # a shell's background jobs ignore the interrupt that a terminal would send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run, into = RidgeRun(options.pause), make_store(options.path)
    try:
        sweep(run, make_tasks(options.n_tasks), into, jobs=options.jobs, wait=options.wait)
    except (StoreError, SweepError) as error:
        sys.exit(str(error))
    except SweepInterrupted as interruption:
        print(interruption, file=sys.stderr)
        sys.exit(130)
    print(f"computed {run.n_calls}")


if __name__ == "__main__":
    main()
