"""How well two samples are told apart, against counts of pairs and a plain classifier."""

import numpy as np
from labelled_rows import two_normal
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ddr.guard.apart import tell_apart
from ddr.iwcv import stratified_folds


def samples():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(90, 3)), rng.normal(0.2, 1.1, size=(70, 3)) * [1, 1, 40]
    return X * [1, 1, 40], X_target, rng.gamma(2.0, size=90)


def test_auc_and_p_value_are_counts_of_weighted_pairs():
    X, X_target, weight = samples()
    auc, p, (source, target) = tell_apart(X, X_target, weight)
    w = weight[np.random.default_rng(0).permutation(90)]  # the scores come in that order
    above = np.mean(target > source[:, None], axis=1)
    assert_allclose(auc, w @ above / w.sum())
    n = w.sum() ** 2 / (w @ w)  # so many rows of equal weight
    assert_allclose(p, norm.sf((auc - 0.5) * np.sqrt(12 * n * 70 / (n + 71))))


def test_scores_are_held_out_and_of_standardised_columns():
    X, X_target, weight = samples()
    order = [np.random.default_rng(0).permutation(n) for n in (90, 70)]
    both = np.r_[X[order[0]], X_target[order[1]]]
    Z = (both - both.mean(axis=0)) / both.std(axis=0)
    Z = np.c_[Z, Nystroem(n_components=100, random_state=0).fit_transform(Z)]
    w, side = np.r_[weight[order[0]] / weight.mean(), np.ones(70)], np.repeat([0, 1], [90, 70])
    expected = np.empty(160)
    for train, held_out in stratified_folds(side, 5, 0):
        model = LogisticRegression(max_iter=1000).fit(Z[train], side[train], w[train])
        expected[held_out] = model.decision_function(Z[held_out])
    assert_allclose(np.concatenate(tell_apart(X, X_target, weight)[2]), expected, atol=1e-4)


def test_samples_of_one_distribution_are_not_told_apart():
    draws = [np.random.default_rng(s).normal(size=(2, 100, 3)) for s in range(20)]
    found = [tell_apart(*pair) for pair in draws]
    assert sum(p < 0.01 for _, p, _ in found) <= 2


def test_telling_apart_sees_more_than_means_and_obeys_weights():
    rng = np.random.default_rng(0)
    ring = rng.normal(size=(300, 2))
    ring = 2 * ring / np.linalg.norm(ring, axis=1)[:, None]
    auc, p, (source, target) = tell_apart(rng.normal(size=(300, 2)), ring)
    assert auc > 0.8
    assert p < 1e-6
    assert_allclose(auc, roc_auc_score(np.repeat([0, 1], 300), np.append(source, target)))
    (X, y), (X_target, _) = two_normal(600, 0.5, 0), two_normal(600, 0.9, 1)
    weight = np.where(y == 1, 1.8, 0.2)
    corrected = tell_apart(X, X_target, weight)
    assert corrected[0] < 0.55 < tell_apart(X, X_target)[0]
    # Weights by other means.
    rows = np.random.default_rng(0).choice(600, 600, p=weight / weight.sum())
    assert_allclose(tell_apart(X[rows], X_target)[0], corrected[0], atol=0.09)
