"""Fit every candidate and control on every natural shift, once, and store what they say.

    python -m benchmarks.natural_measure FOLDER

writes one file a task, size, draw and learner: predictions of each model on the target that may be
asked about and on the rows to measure on, labels, and what can be seen without labels. Whatever
needs no new fit, the strategies of asking above all, is then computed from these files by
``benchmarks.natural``. A stopped run goes on where it stopped; everything runs on one thread.
"""

import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks.natural_tasks import MADE, SIZES, TASKS, draw
from ddr import DDRClassifier, GuardedDDRClassifier
from ddr.guard.prior import AdjustedClassifier, Crossfit, logarithms
from ddr.iwcv import fit_weighted

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(max_iter=1000),
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
    "forest": RandomForestClassifier(50, min_samples_leaf=2, random_state=0),
}
#: How often rows are drawn of each task and size.
DRAWS = 3
#: What is kept of the guard's report.
SEEN = ("auc", "auc_p", "residual_auc", "prior_p", "condition", "open")
#: Numbers of labelled rows that join the source, and what each of them weighs there.
BUDGETS, ADDED_WEIGHTS = (20, 50), (5.0, 20.0)


def label_shift_weights(cross, regularise):
    """Class weights by BBSE (Lipton and others, 2018) or RLLS (Azizzadenesheli, 2019)."""
    n, m = cross.source.shape
    said = cross.source.argmax(axis=1)
    confusion = np.zeros((m, m))
    np.add.at(confusion, (said, cross.codes), 1 / n)
    wanted = np.bincount(cross.target.argmax(axis=1), minlength=m) / len(cross.target)
    if not regularise:
        return np.clip(np.linalg.pinv(confusion) @ wanted, 0.05, None)
    left = wanted - confusion.sum(axis=1)
    delta = 1 / n + np.sqrt(m / len(cross.target)) / 10
    theta = np.linalg.solve(confusion.T @ confusion + delta * np.eye(m), confusion.T @ left)
    return np.clip(1 + theta, 0.05, None)


def _skada_weights(X, X_target):
    """Weights of the source by two of skada's reweighters; its KLIEP needs widths."""
    import skada
    from sklearn import set_config

    set_config(enable_metadata_routing=False)  # which skada switches on for the whole process
    both, domain = np.vstack([X, X_target]), np.repeat([1, -2], [len(X), len(X_target)])
    adapters = {
        "skada nearest": skada.NearestNeighborReweightAdapter(laplace_smoothing=True),
        "skada KLIEP": skada.KLIEPReweightAdapter([0.01, 0.1, 1.0], random_state=0),
    }
    for name, adapter in adapters.items():
        adapter.fit(both, sample_domain=domain)
        weights = np.asarray(adapter.compute_weights(both, sample_domain=domain))[: len(X)].ravel()
        good = np.all(np.isfinite(weights)) and weights.max() > 0
        yield name, np.maximum(weights, 1e-6) / weights.mean() if good else np.ones(len(X))


def _with_added(learner, X, y, X_target, y_target, rows, weight):
    """The learner with labelled rows of the target among the source."""
    weights = np.append(np.ones(len(y)), np.full(len(rows), weight))
    both = np.vstack([X, X_target[rows]]), np.append(y, y_target[rows])
    return fit_weighted(learner, *both, weights)


def _held_out(learner, X, y, X_target, y_target, rows):
    """What is said of each labelled row where four fifths of the others are added."""
    said, fold = np.zeros(len(rows), dtype=int), np.arange(len(rows)) % 5
    for k in range(5):
        args = X_target, y_target, rows[fold != k], ADDED_WEIGHTS[1]
        said[fold == k] = _with_added(learner, X, y, *args).predict(X_target[rows[fold == k]])
    return said


def measure(learner, X, y, X_target, y_target, X_rest, y_rest, shared):
    """Everything to be stored of one fit; ``shared`` has other packages' weights."""
    guard = GuardedDDRClassifier(learner, random_state=0).fit(X, y, X_target)
    models, report = dict(guard.models_), guard.report_
    cross = Crossfit(learner, X, y, X_target)
    for name, regularise in (("BBSE", False), ("RLLS", True)):
        shift = np.log(label_shift_weights(cross, regularise))
        known = models["calibrated"]
        models[name] = AdjustedClassifier(known.estimator, known.temperature, known.offset + shift)
    for name, weight in shared.items():
        models[name] = fit_weighted(learner, X, y, weight)
    order = guard.ask(len(y_target))
    by_chance = np.random.default_rng(0).permutation(len(y_target))
    orders = {"asked": order, "random": by_chance}
    for budget, weight, design in product(BUDGETS, ADDED_WEIGHTS, orders):
        rows = orders[design][:budget]
        added = _with_added(learner, X, y, X_target, y_target, rows, weight)
        models[f"added {design} {budget} {weight:g}"] = added
    if len(X) <= SIZES[0]:  # many rows would cost too much
        known = np.full(len(y_target), -1)  # the labels as known posteriors of Algorithm 1
        known[order[:20]] = y_target[order[:20]]
        ddr = DDRClassifier(learner, random_state=0).fit(X, y, X_target, y_target=known)
        models["added posteriors 20 1"] = ddr.estimator_
    stored = {"names": list(models), "y_target": y_target, "y_rest": y_rest, "order": order}
    for budget in BUDGETS if len(X) <= SIZES[0] else ():
        stored[f"held {budget}"] = _held_out(learner, X, y, X_target, y_target, order[:budget])
    for which, sample in (("target", X_target), ("rest", X_rest)):
        said = [logarithms(model.predict_proba(sample)) for model in models.values()]
        stored[which] = np.array(said, dtype=np.float16)
    return stored | {name: getattr(report, name) for name in SEEN}


def units(part=1):
    """All draws, small ones first, so that a partial run tells most; or one in so many."""
    natural = [task for task in TASKS if task.kind not in MADE]
    every = [*product(range(DRAWS), SIZES[:1], TASKS), *product(range(DRAWS), SIZES[1:], natural)]
    rows = np.random.default_rng(0).permutation(len(every))[: len(every) // part]
    return [every[row] for row in sorted(rows)]


def main(folder, part=1):
    """Measure what FOLDER lacks."""
    warnings.simplefilter("ignore")
    folder, start = Path(folder), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for number, size, task in units(int(part)):
        drawn, weights = draw(task, size, number), {}
        stem = f"{task.name.replace(': ', ' ')} {size} {number}"
        missing = [name for name in LEARNERS if not (folder / f"{stem} {name}.npz").exists()]
        if drawn is None or not missing:
            continue
        if size == SIZES[0]:
            weights = dict(_skada_weights(drawn[0], drawn[2]))
        for name in missing:
            key = {"task": task.name, "learner": name, "size": size, "draw": number}
            stored = measure(LEARNERS[name], *drawn, weights)
            partial = folder / "partial"
            with partial.open("wb") as file:
                np.savez_compressed(file, **key, **stored)
            partial.replace(folder / f"{stem} {name}.npz")
            print(f"{time.monotonic() - start:.0f} s: {stem}, {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
