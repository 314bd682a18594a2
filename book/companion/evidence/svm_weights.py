"""How far weights can act on a support vector machine.

A weight multiplies the cost of a margin violation. A row on the right side of its margin has no
cost, and a row exactly on the margin does not pay its full cost: only rows that violate the margin,
whose multiplier stands at its bound C w, feel a change of their weight. Where the classes are
separable and C is large there are none, and weights change nothing unless they are (nearly) zero.
"""

import numpy as np
import pandas as pd

from ddr.paper.svm import LinearSVMWithPosteriors

# LIBSVM fulfils the conditions of optimality up to 1e-3: nearer margins cannot be told apart.
_SLACK = 2e-3


def _machine(X, y, C, weight=None):
    """The machine alone: its sigmoid, which costs further fits, is not looked at here."""
    return LinearSVMWithPosteriors(C=C, calibration="train", predict_by="decision").fit(
        X, y, sample_weight=weight
    )


def at_bound(model, X, y):
    """Tell which rows violate the margin, so that their weight matters."""
    sign = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    margin = sign * (np.asarray(X) @ model.coef_[0] + model.intercept_[0])
    return margin < 1 - _SLACK


def bound_share(X, y, Cs):
    """Share of rows at their bound without weights, for several C."""
    return [float(at_bound(_machine(X, y, C), X, y).mean()) for C in Cs]


def effect_of_weights(problem, weights, Cs):
    """What weights change in the machine, C by C."""
    X, y, X_test, y_test = problem.X_train, problem.y_train, problem.X_test, problem.y_test
    rows = []
    for C in Cs:
        plain = _machine(X, y, C)
        before = plain.predict(X_test)
        row = {"C": C, "bound": at_bound(plain, X, y).mean(), "accuracy": (before == y_test).mean()}
        for name, weight in weights.items():
            after = _machine(X, y, C, weight / np.mean(weight)).predict(X_test)
            row[f"changed {name}"] = (after != before).mean()
            row[f"accuracy {name}"] = (after == y_test).mean()
        rows.append(row)
    return pd.DataFrame(rows)
