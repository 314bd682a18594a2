"""Compare what adapts to a shift on natural shifts, every method in one run, and store the rows.

The first call installs the other packages into .venv-bench. One row group (a task and a seed) is
stored at a time: a stopped run goes on where it stopped. Everything runs on one thread.
"""

import argparse
import os
import subprocess
import sys
import time

from benchmarks import shift_store as store
from benchmarks.environment import ROOT, SetupError, ensure

SEEDS = 10
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(argv=None):
    arguments = _parser().parse_args(argv)
    if arguments.here:
        return run(arguments)
    try:
        python = ensure()
    except SetupError as error:
        print(f"python -m benchmarks.shifts: {error}", file=sys.stderr)
        return 2
    words = [*(sys.argv[1:] if argv is None else argv), "--here"]
    environment = os.environ | dict.fromkeys(_THREADS, "1")
    return subprocess.call([python, "-m", "benchmarks.shifts", *words], cwd=ROOT, env=environment)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shifts", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="draws a task (default: 10)")
    parser.add_argument("--fresh", action="store_true", help="forget what is stored")
    parser.add_argument("--list", action="store_true", help="print what is left to measure")
    parser.add_argument(
        "--here", action="store_true", help="in this environment, not in .venv-bench"
    )
    return parser


def run(arguments):
    """Measure what is not stored yet, the first seed of every task before the second."""
    from benchmarks.shift_methods import measure
    from benchmarks.shift_tasks import TASKS

    scores = [] if arguments.fresh else store.read(store.SCORES)
    features = [] if arguments.fresh else store.read(store.FEATURES)
    done = store.done(features)
    units = [(task, seed) for seed in range(arguments.seeds) for task in TASKS]
    units = [(task, seed) for task, seed in units if (task.name, seed) not in done]
    # A group whose scores were written but not its features is measured again.
    scores = [row for row in scores if (row["task"], row["seed"]) in done]
    start = time.monotonic()
    for position, (task, seed) in enumerate(units):
        left = (time.monotonic() - start) / max(position, 1) * (len(units) - position)
        left = f", {left / 60:.0f} min left" if position else ""
        print(f"[{position + 1}/{len(units)}] {task.name}, seed {seed}{left}", flush=True)
        if arguments.list:
            continue
        new_scores, new_features = measure(task, seed)
        scores, features = scores + new_scores, features + new_features
        store.write(store.SCORES, scores)
        store.write(store.FEATURES, features)
    return 0


if __name__ == "__main__":
    sys.exit(main())
