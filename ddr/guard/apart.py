"""Two samples side by side: how well they are told apart."""

import numpy as np
from scipy.stats import norm
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from ddr.information import effective_sample_size
from ddr.iwcv import stratified_folds

_MOST_ROWS = 2000  # of a sample: more would only cost time


def _some(n):
    return np.random.default_rng(0).permutation(n)[:_MOST_ROWS]


def tell_apart(X, X_target, weight=None):
    """How well a classifier tells two samples apart: AUC, p-value and held-out scores of both.

    A logistic regression on standardised columns and on Gaussian kernels, so that it sees more
    than a shift of the means; ``weight`` weighs the rows of X. The p-value is that of the rank
    test of equal distributions. Folds and kernels are drawn the same way each time.
    """
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    rows, others = _some(len(X)), _some(len(X_target))
    weight = weight[rows] * len(rows) / weight[rows].sum()
    Z = StandardScaler().fit_transform(np.vstack([X[rows], X_target[others]]))
    kernels = Nystroem(n_components=min(100, len(Z)), random_state=0).fit_transform(Z)
    Z = np.hstack([np.clip(Z, -5, 5), kernels])
    side = np.repeat([0, 1], [len(rows), len(others)])
    weights = np.append(weight, np.ones(len(others)))
    scores = np.empty(len(side))
    for train, held_out in stratified_folds(side, 5, 0):
        model = LogisticRegression(max_iter=1000)
        model.fit(Z[train], side[train], sample_weight=weights[train])
        scores[held_out] = model.decision_function(Z[held_out])
    auc = float(roc_auc_score(side, scores, sample_weight=weights))
    n, m = effective_sample_size(weight), len(others)
    p_value = float(norm.sf((auc - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))))
    return auc, p_value, (scores[side == 0], scores[side == 1])
