"""A small real sweep, for tests that need it in a process of its own.

``python tests/sweep_process.py FOLDER N_TASKS [--jobs N] [--wait] [--pause SECONDS]`` prints
``ready`` once its imports are done, then sweeps, then prints how many runs it computed itself.
"""

import argparse
import logging
import signal
import sys
import time

import numpy as np

from ddr.store import Store, StoreError, Task
from ddr.sweep import SweepError, SweepInterrupted, sweep

PARAMETERS = {"n": 60, "dimension": 3, "alphas": [0.1, 10.0]}


def ridge_run(case, seed, pause=0.0):
    """Fit two ridge classifiers to one draw of two clouds around -shift and shift."""
    shift = float(case.removeprefix("shift="))
    rng = np.random.default_rng([seed, int(10 * shift)])
    start = time.perf_counter()
    y = np.repeat([0, 1], PARAMETERS["n"] // 2)
    X, X_test = (
        rng.normal(size=(len(y), PARAMETERS["dimension"])) + shift * (2 * y[:, None] - 1)
        for _ in "ab"
    )
    rows = []
    for alpha in PARAMETERS["alphas"]:
        gram = X.T @ X + alpha * np.eye(X.shape[1])
        coefficients = np.linalg.solve(gram, X.T @ (2 * y - 1))
        accuracy = np.mean((X_test @ coefficients > 0) == y)
        norm = np.linalg.norm(coefficients)
        rows.append({"method": f"ridge {alpha}", "accuracy": accuracy, "norm": norm})
    time.sleep(pause)
    seconds = time.perf_counter() - start
    return [{**row, "seconds": seconds} for row in rows]


class SlowRun:
    """The same run with a pause in it; also counts the calls of its own process."""

    def __init__(self, pause):
        self.pause = pause
        self.n_calls = 0

    def __call__(self, case, seed):
        self.n_calls += 1
        return ridge_run(case, seed, self.pause)


def make_store(folder):
    return Store(folder, "ridge", "test", PARAMETERS)


def make_tasks(n_tasks):
    cases = ["shift=1", "shift=0.5", "shift=2"]
    return [Task(cases[i % 3], i // 3) for i in range(n_tasks)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("n_tasks", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--pause", type=float, default=0.002)
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    # a shell's background jobs ignore the interrupt that a terminal would send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run, store = SlowRun(options.pause), make_store(options.folder)
    print("ready", flush=True)
    try:
        sweep(run, make_tasks(options.n_tasks), store, jobs=options.jobs, wait=options.wait)
    except (StoreError, SweepError) as error:
        sys.exit(str(error))
    except SweepInterrupted as interruption:
        print(interruption, file=sys.stderr)
        sys.exit(130)
    print(f"computed {run.n_calls}")


if __name__ == "__main__":
    main()
