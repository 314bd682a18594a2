"""What sharing work saves in the experiments' cross-validation: the same search with and without.

``IWSearchCV`` fits every candidate on every fold from nothing; the ``...CV`` classifiers share
distances, moments and machines. Both choose over the same folds, and must choose the same.
"""

import numpy as np

from benchmarks.measure import cpu_seconds


def shared_searches(repeats):
    """Time the two searches of the matched protocols on one run of a biased and a cross case."""
    cases = {
        "IWLSPC, biased sampling, MNIST5v6": ("biased", "MNIST5v6", _iwlspc),
        "linear SVM, cross-dataset, USPS to MNIST 5 vs 6": (
            "cross",
            "USPS to MNIST 5 vs 6",
            _svm,
        ),
    }
    return {"searches": {name: _compare(repeats, *case) for name, case in cases.items()}}


def _compare(repeats, experiment, case, pair):
    from companion.runs.experiments import draw
    from companion.runs.protocols import load_protocol

    problem, learner, ratios = draw(load_protocol(experiment), case, 0)
    weight = ratios["uLSIF"].fit(problem.X_train, problem.X_test).weights_
    together, apart = pair(learner)
    fit = problem.X_train, problem.y_train, weight / weight.mean()
    seconds = {"together": np.inf, "apart": np.inf}
    for _ in range(repeats):
        for name, search in (("together", together), ("apart", apart)):
            seconds[name] = min(seconds[name], cpu_seconds(search.fit, *fit)[0])
    risks = together.cv_scores_.ravel(), apart.cv_results_["risk"]
    return seconds | {
        "candidates": len(risks[1]),
        "folds": int(together.n_splits_),
        "rows": len(problem.X_train),
        "largest_difference_of_risks": float(np.abs(np.subtract(*risks)).max()),
    }


def _iwlspc(learner):
    from ddr import IWSearchCV
    from ddr.paper import IWLSPC

    grid = {"lam": list(learner.lams), "sigma": list(learner.sigmas)}
    plain = IWLSPC(centers=learner.centers)
    return learner, IWSearchCV(plain, grid, learner.cv, random_state=learner.random_state)


def _svm(learner):
    from ddr import IWSearchCV
    from ddr.paper import LinearSVMWithPosteriors

    # Calibration on the training rows: posteriors play no part in a zero-one loss.
    plain = LinearSVMWithPosteriors(calibration="train", predict_by="decision")
    grid = {"C": list(learner.Cs)}
    return learner, IWSearchCV(plain, grid, learner.cv, random_state=learner.random_state)
