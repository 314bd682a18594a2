"""What is measured. Every function takes plain numbers and returns a dictionary for JSON.

Each call runs in a fresh process (``benchmarks.worker``), on one thread. Times are CPU seconds, so
that other programs on the machine disturb them little, and the best of several repeats.
"""

import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np

from benchmarks.floor import bare_clipping, bare_search
from benchmarks.methods import METHODS
from benchmarks.problem import (
    GRID,
    N_CENTERS,
    labels,
    normalised_error,
    true_ratio,
    two_gaussians,
)

OURS = ("ddr-ratio", "ddr-coefficients")
# A method that takes longer than this is not repeated.
LONG = 3.0


def clock_step():
    """Smallest step of the CPU clock, to be sure that it is fine enough for what is timed."""
    start = time.process_time()
    while (now := time.process_time()) == start:
        pass
    return now - start


def cpu_seconds(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def peak_bytes():
    # Linux counts in KiB, macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def _warm_up(fit, d):
    """Import what a method needs, which is not the method's own time."""
    fit(*two_gaussians(d, 120, 0), 0)


def quick_methods(d, n, seeds, repeats):
    """Time the methods that take seconds, in turn, with the floor; and their errors."""
    names = [name for name, method in METHODS.items() if not method.slow]
    seconds, errors = {}, {name: [] for name in names}
    for name in names:
        _warm_up(METHODS[name].fit, d)
    for repeat in range(max(repeats, seeds)):
        X_train, X_test = two_gaussians(d, n, repeat % seeds)
        truth = true_ratio(X_train)
        for name in names:
            if repeat >= seeds and seconds[name] > LONG:
                continue
            spent, weights = cpu_seconds(METHODS[name].fit, X_train, X_test, repeat % seeds)
            seconds[name] = min(spent, seconds.get(name, np.inf))
            if repeat < seeds:
                errors[name].append(normalised_error(weights, truth))
        for name, function in (("floor", bare_search), ("clipping", bare_clipping)):
            centers = X_test[:N_CENTERS]
            spent, _ = cpu_seconds(function, X_train, X_test, centers, GRID, GRID)
            seconds[name] = min(spent, seconds.get(name, np.inf))
    return {"seconds": seconds, "errors": errors}


def slow_method(name, d, n, seeds):
    """Time one slow method, and ours in the same process, so that the quotient is of one run."""
    fit = METHODS[name].fit
    _warm_up(fit, d)
    base, seconds, errors = peak_bytes(), [], []
    for seed in range(seeds):
        X_train, X_test = two_gaussians(d, n, seed)
        spent, weights = cpu_seconds(fit, X_train, X_test, seed)
        seconds.append(spent)
        errors.append(normalised_error(weights, true_ratio(X_train)))
    grown = peak_bytes() - base
    ours = {}
    for other in OURS:
        _warm_up(METHODS[other].fit, d)
        repeats = [cpu_seconds(METHODS[other].fit, X_train, X_test, 0)[0] for _ in range(5)]
        ours[other] = min(repeats)
    return {"seconds": min(seconds), "errors": errors, "grown_bytes": grown, "ours": ours}


def discriminative(d, n, repeats):
    """Compare a whole DDR fit with one ULSIF fit on the same rows; the learner's time is apart."""
    from sklearn.naive_bayes import GaussianNB

    from ddr import ULSIF, DDRClassifier, until_drop
    from ddr.paper.choices import fixed

    class TimedNB(GaussianNB):
        spent = 0.0

        def fit(self, X, y, sample_weight=None):
            spent, model = cpu_seconds(super().fit, X, y, sample_weight)
            TimedNB.spent += spent
            return model

        def predict_proba(self, X):
            spent, posteriors = cpu_seconds(super().predict_proba, X)
            TimedNB.spent += spent
            return posteriors

    X_train, X_test = two_gaussians(d, n, 0)
    y = labels(X_train, 0)
    ratios = {
        "default grid": ULSIF(random_state=0),
        "benchmark grid": ULSIF(GRID, GRID, random_state=0),
    }
    rows = {}
    for _ in range(repeats):
        for grid, ratio in ratios.items():
            ulsif, _ = cpu_seconds(ratio.fit, X_train, X_test)
            for name, stopping in (("drop", until_drop), ("fixed", fixed)):
                TimedNB.spent = 0.0
                model = DDRClassifier(TimedNB(), ratio, stopping=stopping, random_state=0)
                whole, model = cpu_seconds(model.fit, X_train, y, X_test)
                row = rows.setdefault(f"{grid}, {name}", {"iterations": len(model.history_) - 1})
                for key, value in (
                    ("ulsif", ulsif),
                    ("whole", whole),
                    ("without_learner", whole - TimedNB.spent),
                ):
                    row[key] = min(value, row.get(key, np.inf))
    return {"cases": rows}


def many_rows(n, clip, d=50):
    """Time and peak memory of one fit, the two input arrays included."""
    _warm_up(METHODS[f"ddr-{clip}"].fit, d)
    X_train, X_test = two_gaussians(d, n, 0)
    seconds, weights = cpu_seconds(METHODS[f"ddr-{clip}"].fit, X_train, X_test, 0)
    error = normalised_error(weights, true_ratio(X_train))
    return {"seconds": seconds, "error": error, "peak_bytes": peak_bytes()}


def imports(repeats):
    """CPU seconds of import statements in fresh interpreters, in turn; medians."""
    statements = (
        "import sklearn.linear_model",
        "import ddr",
        "from ddr import DDRClassifier",
    )
    program = "import time; t = time.process_time(); {}; print(time.process_time() - t)"
    seconds = {statement: [] for statement in statements}
    for repeat in range(repeats + 1):
        for statement in statements:
            command = [sys.executable, "-c", program.format(statement)]
            spent = float(subprocess.run(command, check=True, capture_output=True).stdout)
            if repeat:  # the first round fills the disk cache
                seconds[statement].append(spent)
    return {"seconds": {statement: median(values) for statement, values in seconds.items()}}
