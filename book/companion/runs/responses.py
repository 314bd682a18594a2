"""Response tables: accuracy and cross-validation risk at every candidate, computed once for a draw.

With them a grid of candidates, a loss, a tie rule or a choice of folds is a mere selection, so that
thousands of protocols cost no more than one.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from companion.paths import cross_task
from ddr.shifts import cross_dataset


class CrossResponses:
    """Responses of the unweighted linear SVM on a cross-dataset case, one row for each C."""

    def __init__(self, problem, search, stage):
        self.problem, self.new_folds = problem, stage == "final"
        self.seed, self.cases = search["seed"], search["cases"]
        self.Cs, self.n_folds = search["stages"][stage]["Cs"], search["folds"]

    @property
    def parameters(self):
        """What decides a response."""
        return {
            "seed": self.seed,
            "problem": self.problem,
            "Cs": self.Cs,
            "folds": self.n_folds,
            "new_folds": self.new_folds,
        }

    def __call__(self, case, draw):
        """One row for each C: test accuracy, and risk on shared folds and on folds of its own."""
        root = np.random.SeedSequence(self.seed, spawn_key=(self.cases.index(case), draw))
        problem_seed, *fold_seeds = root.spawn(2 + len(self.Cs))
        task = cross_task(case)
        problem = cross_dataset(
            (task.first, task.second), task.direction, random_state=problem_seed, **self.problem
        )
        X, y = problem.X_train, problem.y_train
        K, K_test = X @ X.T, problem.X_test @ X.T
        risk = self._risks(K, y, [fold_seeds[0]] * len(self.Cs))
        risk_new = self._risks(K, y, fold_seeds[1:]) if self.new_folds else [np.nan] * len(self.Cs)
        return [
            {"method": f"C={C:g}", "accuracy": accuracy, "risk": shared, "risk_new": new}
            for C, accuracy, shared, new in zip(
                self.Cs,
                _accuracies(K, y, K_test, problem.y_test, self.Cs),
                risk,
                risk_new,
                strict=True,
            )
        ]

    def _risks(self, K, y, seeds):
        """Share of held-out rows that machines without them get wrong, for each C and its folds."""
        wrong = np.zeros(len(self.Cs))
        for seed in dict.fromkeys(seeds):
            places = [i for i, own in enumerate(seeds) if own is seed]
            Cs = [self.Cs[i] for i in places]
            folds = StratifiedKFold(
                self.n_folds, shuffle=True, random_state=int(seed.generate_state(1)[0])
            )
            for train, test in folds.split(K, y):
                found = _accuracies(
                    K[np.ix_(train, train)], y[train], K[np.ix_(test, train)], y[test], Cs
                )
                wrong[places] += len(test) * (1 - np.array(found))
        return wrong / len(y)


def _accuracies(K, y, K_test, y_test, Cs):
    """Accuracies of linear machines from one Gram matrix, for each C."""
    found = []
    for C in Cs:
        model = SVC(kernel="precomputed", C=C, cache_size=1).fit(K, y)
        decision = K_test[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
        found.append(float(np.mean(model.classes_[(decision > 0).astype(int)] == y_test)))
    return found
