"""Response tables: accuracy and cross-validation risk at every candidate, computed once for a draw.

With them a grid of candidates is a mere selection, so that many protocols cost no more than one.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from companion.paths import cross_task
from ddr.shifts import cross_dataset


class CrossResponses:
    """Responses of the unweighted linear SVM on a cross-dataset case, one row for each C."""

    def __init__(self, problem, search):
        self.problem = problem
        self.seed, self.cases = search["seed"], search["cases"]
        self.Cs, self.n_folds = search["Cs"], search["folds"]

    @property
    def parameters(self):
        """What decides a response."""
        return {"seed": self.seed, "problem": self.problem, "Cs": self.Cs, "folds": self.n_folds}

    def __call__(self, case, draw):
        """One row for each C: its test accuracy and its risk in cross-validation."""
        root = np.random.SeedSequence(self.seed, spawn_key=(self.cases.index(case), draw))
        problem_seed, fold_seed = root.spawn(2)
        task = cross_task(case)
        problem = cross_dataset(
            (task.first, task.second), task.direction, random_state=problem_seed, **self.problem
        )
        X, y = problem.X_train, problem.y_train
        K = X @ X.T
        accuracies = _accuracies(K, y, problem.X_test @ X.T, problem.y_test, self.Cs)
        rows = zip(self.Cs, accuracies, self._risks(K, y, fold_seed), strict=True)
        return [{"method": f"C={C:g}", "accuracy": a, "risk": risk} for C, a, risk in rows]

    def _risks(self, K, y, seed):
        """Share of held-out rows that machines without them get wrong, for each C."""
        wrong = np.zeros(len(self.Cs))
        state = int(seed.generate_state(1)[0])
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=state)
        for train, test in folds.split(K, y):
            found = _accuracies(
                K[np.ix_(train, train)], y[train], K[np.ix_(test, train)], y[test], self.Cs
            )
            wrong += len(test) * (1 - np.array(found))
        return wrong / len(y)


def _accuracies(K, y, K_test, y_test, Cs):
    """Accuracies of linear machines from one Gram matrix, for each C."""
    found = []
    for C in Cs:
        model = SVC(kernel="precomputed", C=C, cache_size=1).fit(K, y)
        decision = K_test[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
        found.append(float(np.mean(model.classes_[(decision > 0).astype(int)] == y_test)))
    return found
