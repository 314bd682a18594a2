"""Fit every candidate and control on every natural shift, once, and store what they say.

    python -m benchmarks.natural_measure FOLDER

writes one file a task, size, draw and learner: predictions of each model on the target that may be
asked about and on the rows to measure on, labels, and what can be seen without labels. Whatever
needs no new fit, the strategies of asking above all, is then computed from these files by
``benchmarks.natural``. A stopped run goes on where it stopped; everything runs on one thread.
"""

import os
import sys
import time
import warnings
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
#: The learners of large draws: a forest would take most of the time.
LARGE = tuple(LEARNERS)[:3]
#: Draws of each size, and the budgets with which labelled rows join the source.
DRAWS = {300: 1, 3000: 1}
BUDGETS = (20, 50)


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
    adapters = {"skada nearest": skada.NearestNeighborReweightAdapter(laplace_smoothing=True)}
    if len(X) <= SIZES[0]:
        adapters["skada KLIEP"] = skada.KLIEPReweightAdapter([0.01, 0.1, 1.0], random_state=0)
    for name, adapter in adapters.items():
        adapter.fit(both, sample_domain=domain)
        weights = np.asarray(adapter.compute_weights(both, sample_domain=domain))[: len(X)].ravel()
        good = np.all(np.isfinite(weights)) and weights.max() > 0
        yield name, np.maximum(weights, 1e-6) / weights.mean() if good else np.ones(len(X))


def measure(learner, X, y, X_target, y_target, X_rest, y_rest, shared, seed):
    """Everything to be stored of one fit."""
    guard = GuardedDDRClassifier(learner, random_state=seed).fit(X, y, X_target)
    models, report = dict(guard.models_), guard.report_
    cross = Crossfit(learner, X, y, X_target)
    for name, regularise in (("BBSE", False), ("RLLS", True)):
        shift = np.log(label_shift_weights(cross, regularise))
        known = models["calibrated"]
        models[name] = AdjustedClassifier(known.estimator, known.temperature, known.offset + shift)
    for name, weights in shared.items():
        models[name] = fit_weighted(learner, X, y, weights)
    rng = np.random.default_rng(seed)
    designs = ("asked", "random") if len(X) <= SIZES[0] else ()  # many rows cost too much
    orders = {"asked": guard.ask(50), "random": rng.permutation(len(y_target))[:50]}
    for design in designs:
        order = orders[design]
        for budget in BUDGETS:
            rows = order[:budget]
            for name, weight in (("5", 5.0), ("20", 20.0), ("equal", len(y) / len(rows))):
                models[f"added {design} {budget} {name}"] = fit_weighted(
                    learner,
                    np.vstack([X, X_target[rows]]),
                    np.append(y, y_target[rows]),
                    np.append(np.ones(len(y)), np.full(len(rows), weight)),
                )
        if len(X) <= SIZES[0]:  # the labels as known posteriors of Algorithm 1
            known = np.full(len(y_target), -1)
            known[order[:20]] = y_target[order[:20]]
            ddr = DDRClassifier(learner, random_state=seed)
            ddr.fit(X, y, X_target, y_target=known)
            models[f"DDR told {design} 20"] = ddr.estimator_
    stored = {"names": np.array(list(models)), "y_target": y_target, "y_rest": y_rest}
    stored["order"] = guard.ask(len(y_target))
    for which, sample in (("target", X_target), ("rest", X_rest)):
        said = [logarithms(model.predict_proba(sample)) for model in models.values()]
        stored[which] = np.array(said, dtype=np.float16)
    seen = ("auc", "auc_p", "residual_auc", "prior_p", "condition", "open")
    stored |= {name: getattr(report, name) for name in seen}
    stored["em_changes"], stored["choice"] = report.changes["em"], guard.choice_
    return stored


def units():
    """All fits, small draws of natural tasks first, so that a partial run tells most."""
    plan = [(size, seed) for size in SIZES for seed in range(DRAWS[size])]
    for size, seed in sorted(plan, key=lambda pair: (pair[1], pair[0])):
        for task in TASKS:
            if size == SIZES[0] or task.kind not in MADE:
                yield task, size, seed


def main(folder):
    warnings.simplefilter("ignore")
    folder, start = Path(folder), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for task, size, seed in units():
        stem = f"{task.kind} {task.name.split(': ')[1]} {size} {seed}"
        names = LEARNERS if size == SIZES[0] else LARGE
        wanted = [n for n in names if not (folder / f"{stem} {n}.npz").exists()]
        if not wanted or (folder / f"{stem}.none").exists():
            continue
        drawn = draw(task, size, seed)
        if drawn is None:
            (folder / f"{stem}.none").touch()
            continue
        shared = dict(_skada_weights(drawn[0], drawn[2])) if size == SIZES[0] else {}
        for name in wanted:
            begun = time.monotonic()
            stored = measure(LEARNERS[name], *drawn, shared, seed)
            partial = folder / "partial.npz"
            np.savez_compressed(partial, **stored)
            os.replace(partial, folder / f"{stem} {name}.npz")
            spent = time.monotonic() - begun
            print(f"{time.monotonic() - start:.0f} s: {stem}, {name} ({spent:.1f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
