# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "adapt==0.4.5", "densratio==0.4.0", "genriesz==0.2.5", "skada==0.6.0", "piqp>=0.5,<1",
#   "numpy>=2.0,<3", "scikit-learn>=1.6,<2", "scipy>=1.13,<2", "tensorflow-cpu==2.21.0",
# ]
# [tool.uv]
# override-dependencies = ["tensorflow; sys_platform == 'never'"]  # adapt needs its CPU part alone
# ///
"""Time, memory and error of ddr beside other packages, or beside an earlier commit of its own.

    make bench                              beside other packages; writes benchmarks/results.csv
    make bench ARGS="--against main~5"      beside that commit; writes nothing

Each method runs on one thread of a process of its own, and the processes of a case take turns, so
that a busy machine slows all alike. Times are CPU seconds, the best of several.
"""

import argparse
import csv
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import namedtuple
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results.csv"
PACKAGES = ("numpy", "scipy", "scikit-learn", "adapt", "densratio", "genriesz", "skada")
GRID = np.logspace(-3, 1, 9)  # nine widths and nine penalties for all that search by least squares
N_CENTERS = 100
LONG, LIMIT = 20.0, 1800.0  # seconds: what takes longer is not repeated, or is given up
WORSE = 1.3  # how much slower than the earlier commit makes the comparison fail

# ------------------------------------------------------------------------------------- problems

#: ``truth`` is the known ratio at X; Z is the other sample.
Data = namedtuple("Data", "X y Z truth")


def two_gaussians(d, n, seed):
    """The first two of d columns shift from N(0, 1) to N(.6, .7²); p(y|x) stays."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    Z[:, :2] = 0.6 + 0.7 * Z[:, :2]
    x = X[:, :2]
    truth = np.exp((0.5 * x**2 - 0.5 * ((x - 0.6) / 0.7) ** 2 - np.log(0.7)).sum(axis=1))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * x.sum(axis=1)))).astype(int)
    return Data(X, y, Z, truth)


def problem(name, seed):
    """The problem of a case, by the numbers of columns and rows in its name."""
    sizes = [int(word.replace(",", "")) for word in name.split() if word[0].isdigit()]
    return two_gaussians(*sizes, seed)


def error(weights, data):
    """Mean squared error in units of the truth's variance: 1 is no better than no weights."""
    return float(np.mean((weights - data.truth) ** 2) / np.var(data.truth))


# -------------------------------------------------------------------------------------- methods
# Each takes the data and a seed, and returns weights of X. Packages load on first use.


def widths(Z):
    """Widths that follow the data: skada's KLIEP breaks down far from them."""
    from ddr.kernels import median_distance

    return median_distance(Z) * np.logspace(-1, 1, 9)


def ours(name, data, seed, **options):
    import ddr

    options = {key: value(data.Z) if callable(value) else value for key, value in options.items()}
    return getattr(ddr, name)(random_state=seed, **options).fit(data.X, data.Z).weights_


def ddr_classifier(data, seed):
    from sklearn.naive_bayes import GaussianNB

    from ddr import ULSIF, DDRClassifier

    ratio = ULSIF(GRID, GRID, n_centers=N_CENTERS, random_state=seed)
    return DDRClassifier(GaussianNB(), ratio).fit(data.X, data.y, data.Z).weights_


def densratio(data, seed):
    from densratio import densratio

    np.random.seed(seed)  # noqa: NPY002 - it draws its centres from this state
    grids = {"sigma_range": GRID, "lambda_range": GRID}
    result = densratio(data.Z, data.X, **grids, kernel_num=N_CENTERS, verbose=False)
    return np.asarray(result.compute_density_ratio(data.X)).ravel()


def adapt(name, data, seed):
    from adapt import instance_based

    np.random.seed(seed)  # noqa: NPY002 - as densratio
    options = {"max_centers": N_CENTERS, "gamma": list(0.5 / widths(data.Z) ** 2)}
    if name == "ULSIF":
        options |= {"gamma": list(0.5 / GRID**2), "lambdas": list(GRID)}
    elif name == "KMM":
        options = {"gamma": 0.5 / np.median(widths(data.Z)) ** 2}
    model = getattr(instance_based, name)(kernel="rbf", verbose=0, random_state=seed, **options)
    return np.ravel(model.fit_weights(data.X, data.Z))


def skada(name, data, seed):
    import skada

    X = np.vstack([data.X, data.Z])
    domain = np.repeat([1, -2], [len(data.X), len(data.Z)])
    if name == "KLIEP":
        gammas = list(0.5 / widths(data.Z) ** 2)
        adapter = skada.KLIEPReweightAdapter(gammas, n_centers=N_CENTERS, random_state=seed)
    else:
        adapter = skada.KMMReweightAdapter(gamma=0.5 / np.median(widths(data.Z)) ** 2)
    adapter.fit(X, sample_domain=domain)
    return adapter.compute_weights(X, sample_domain=domain)[: len(data.X)]


def genriesz(data, seed):
    from genriesz import fit_density_ratio

    options = {"n_centers": N_CENTERS, "standardize": False, "generator": "sq", "cv": True}
    options |= {"sigma_grid": GRID, "lam_grid": GRID, "random_state": seed}
    return fit_density_ratio(data.Z, data.X, **options).predict_ratio(data.X)


ULSIF, CLIPPED = "ddr ULSIF", "ddr ULSIF, coefficients clipped"
KLIEP, KMM, DDR = "ddr KLIEP", "ddr KMM", "ddr DDRClassifier, naive Bayes"
LEAST_SQUARES = {"sigma": GRID, "lam": GRID, "n_centers": N_CENTERS}
METHODS = {
    ULSIF: partial(ours, "ULSIF", **LEAST_SQUARES),
    CLIPPED: partial(ours, "ULSIF", clip="coefficients", **LEAST_SQUARES),
    "densratio uLSIF": densratio,
    "adapt ULSIF": partial(adapt, "ULSIF"),
    "genriesz, squared": genriesz,
    KLIEP: partial(ours, "KLIEP", sigma=widths, n_centers=N_CENTERS),
    "adapt KLIEP": partial(adapt, "KLIEP"),
    "skada KLIEP": partial(skada, "KLIEP"),
    KMM: partial(ours, "KMM"),
    "adapt KMM": partial(adapt, "KMM"),
    "skada KMM": partial(skada, "KMM"),
    DDR: ddr_classifier,
}

# ---------------------------------------------------------------------------------------- cases


def cases():
    """Give question, problem, draws, and the methods; times are given over those of the first."""
    for d in (2, 50):
        name = f"two Gaussians, {d} columns, {{:,}} rows".format
        least_squares = [ULSIF, CLIPPED, "densratio uLSIF", "adapt ULSIF", "genriesz, squared"]
        yield "uLSIF", name(5000), 3, least_squares
        yield "KLIEP", name(5000), 3, [KLIEP, "skada KLIEP", "adapt KLIEP"]
        yield "KMM", name(2000), 3, [KMM, "skada KMM", "adapt KMM"]
        yield "DDR", name(5000), 3, [ULSIF, DDR]
        yield "uLSIF", name(20_000), 1, least_squares  # 10 GB and 20 minutes, peers' arrays
        yield "KLIEP", name(20_000), 1, [KLIEP, "skada KLIEP"]
    for n in (100_000, 1_000_000):
        yield "many rows", name(n), 1, [ULSIF, CLIPPED]


def peak():
    """Megabytes, as Linux counts them."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(root, method, name, seed):
    """Runs in a process of its own: the first call imports, which is not the method's time."""
    if str(root) not in sys.path[:1]:
        sys.path.insert(0, str(root))
        warnings.simplefilter("ignore")
        METHODS[method](two_gaussians(2, 120, 0), 0)
    data, before, seconds = problem(name, seed), peak(), []
    while len(seconds) < 5 and sum(seconds) < 1:
        begun = time.process_time()
        weights = METHODS[method](data, seed)
        seconds.append(time.process_time() - begun)
    return {
        "rows": len(data.X),
        "columns": data.X.shape[1],
        "seconds": min(seconds),
        "megabytes": peak() - before,
        "error": error(weights, data),
    }


def run(name, draws, contestants):
    """Let contestants, pairs of sources and method, take turns; give the draws of each."""
    pools = {one: get_context("spawn").Pool(1) for one in contestants}
    found = {one: [] for one in contestants}
    for seed in range(draws):
        for one, done in found.items():
            if done and ("failed" in done[-1] or done[-1]["seconds"] > LONG):
                continue
            try:
                done.append(pools[one].apply_async(measure, (*one, name, seed)).get(LIMIT))
            except Exception as failure:
                done.append({"failed": f"{type(failure).__name__}: {failure}".rstrip(": ")})
    for pool in pools.values():
        pool.terminate()
    return found


def ratio(draws, reference):
    """Median over the draws that both have, which were measured one after the other."""
    pairs = [(a, b) for a, b in zip(draws, reference, strict=False) if "failed" not in a | b]
    return median(a["seconds"] / b["seconds"] for a, b in pairs) if pairs else None


def row(draws, reference):
    """Draws of a contestant as one row of the table; errors are averaged over its draws."""
    if "failed" in draws[-1]:
        return {"failed": draws[-1]["failed"]}
    numbers = {
        "seconds": min(draw["seconds"] for draw in draws),
        "times": ratio(draws, reference),
        "megabytes": max(draw["megabytes"] for draw in draws),
        "error": mean(draw["error"] for draw in draws),
    }
    sizes = {"rows": draws[0]["rows"], "columns": draws[0]["columns"], "draws": len(draws)}
    return sizes | {name: f"{value:.4g}" for name, value in numbers.items()}


# ------------------------------------------------------------------------------- what is called


def beside_peers(chosen):
    """Measure cases and put their rows in the table, beside the facts that decide a timing."""
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "ddr"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    with open(RESULTS, newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        rows = {tuple(row.values())[:3]: row for row in table}
    for question, name, draws, methods in chosen:
        found = run(name, draws, [(ROOT, method) for method in methods])
        for (_, method), done in found.items():
            about = {"question": question, "problem": name, "method": method}
            measured = row(done, found[ROOT, methods[0]]) | {"commit": commit}
            rows[question, name, method] = about | measured
            print(about | measured, flush=True)
        with open(RESULTS, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, table.fieldnames, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[key] for key in sorted(rows))
    RESULTS.with_suffix(".json").write_text(json.dumps(facts(), indent=1) + "\n", encoding="utf-8")
    # Another package may need more time than it is given; ours may not fail.
    return any(row.get("failed") for key, row in rows.items() if key[2].startswith("ddr"))


def facts():
    """What decides a timing, besides the code."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    about = {"processor": models[0], "cores": os.cpu_count(), "python": platform.python_version()}
    return about | {name: version(name) for name in PACKAGES}


def beside_commit(chosen, commit):
    """Measure ours here and at a commit in turns; tell whether one became much slower."""
    pairs = {(m, case[1]): None for case in chosen for m in case[3] if m.startswith("ddr")}
    slower = False
    with tempfile.TemporaryDirectory() as old:
        git = ["git", "-C", str(ROOT), "archive", "--format=tar", f"--output={old}/ddr.tar"]
        subprocess.run([*git, commit, "ddr"], check=True)
        shutil.unpack_archive(f"{old}/ddr.tar", old, filter="data")
        for method, name in pairs:
            now, then = run(name, 7, [(ROOT, method), (old, method)]).values()
            failed = [draws[-1]["failed"] for draws in (now, then) if "failed" in draws[-1]]
            times = ratio(now, then)
            slower |= times is not None and times > WORSE
            words = failed[0] if failed else f"{times:.2f} × {then[0]['seconds']:.3g} s"
            print(f"{name}: {method}: {words}", flush=True)
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="compare ours with ours of a commit")
    parser.add_argument("--only", metavar="WORD", default="", help="cases whose name has this word")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in f"{case[0]}, {case[1]}"]
    if not chosen:
        parser.error(f"--only must be part of a case's name, got {arguments.only!r}")
    # The processes inherit these: one thread, and no words from tensorflow.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    if arguments.against:
        return beside_commit(chosen, arguments.against)
    return beside_peers(chosen)


if __name__ == "__main__":
    sys.exit(main())
