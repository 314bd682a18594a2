"""The two-step baseline against scipy's kernel density estimates."""

import numpy as np
import pytest
from labelled_rows import two_samples
from numpy.testing import assert_allclose
from scipy.stats import gaussian_kde, multivariate_normal

from ddr import KDERatio
from ddr.kde import log_density, scott_bandwidth
from ddr.ratio import OverlapWarning


def scipy_kde(X, bandwidth, weight=None):
    X = X.ravel()
    factor = bandwidth / np.sqrt(np.cov(X, aweights=weight))
    return gaussian_kde(X, bw_method=factor, weights=weight)


@pytest.mark.parametrize("soft", [False, True])
def test_quotient_of_scipys_densities_in_one_column(soft):
    X_train, X_test, rng = two_samples(50, 40, 1)
    weight = rng.uniform(0, 2, 40) if soft else None
    fitted = KDERatio(0.35).fit(X_train, X_test, weight)
    rows = np.linspace(-2, 2, 21)
    expected = scipy_kde(X_test, 0.35, weight)(rows) / scipy_kde(X_train, 0.35)(rows)
    assert_allclose(fitted.predict(rows[:, None]), expected, rtol=1e-8)
    assert fitted.sigma_ == (0.35, 0.35)


def test_log_density_is_that_of_weighted_normal_densities():
    rng = np.random.default_rng(0)
    X, rows, weight = rng.normal(size=(6, 3)), rng.normal(size=(9, 3)), rng.gamma(1.0, size=9)
    each = [multivariate_normal(row, 0.7**2 * np.eye(3)).pdf(X) for row in rows]
    expected = np.log(np.average(each, axis=0, weights=weight))
    assert_allclose(log_density(X, rows, weight, 0.7), expected)


def test_default_bandwidths_follow_scotts_rule_for_each_sample():
    X_train, X_test, rng = two_samples(50, 40, 1)
    weight = rng.integers(0, 3, 40).astype(float)
    fitted = KDERatio().fit(X_train, X_test, weight)
    copies = np.repeat(X_test, weight.astype(int), axis=0)
    assert_allclose(fitted.sigma_[0], X_train.std() * 50 ** (-1 / 5))
    assert_allclose(fitted.sigma_[1], copies.std() * len(copies) ** (-1 / 5))


def test_scotts_rule_in_several_columns():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 2.0, 3.0] + 5.0
    spread = np.sqrt(np.mean(X.var(axis=0)))
    assert_allclose(scott_bandwidth(X, np.ones(30)), spread * 30 ** (-1 / 7))
    assert scott_bandwidth(np.ones((4, 2)), np.ones(4)) == 1.0


def test_far_from_training_rows_the_quotient_stays_finite():
    X_train, X_test, _ = two_samples(50, 40, 1)
    fitted = KDERatio(0.1).fit(X_train, np.r_[X_test, [[60.0]]])
    assert fitted.predict([[60.0]]) == np.exp(300.0)
    with pytest.warns(OverlapWarning):
        KDERatio(0.1).fit(X_train, X_test + 60.0)


def test_rows_of_weight_zero_are_not_there_nor_do_they_lift_the_limit_far_away():
    X_train, X_test, _ = two_samples(50, 40, 1)
    weight = np.r_[np.ones(40), 0.0]
    fitted = KDERatio().fit(X_train, np.r_[3 * X_test, [[99.0]]], weight)
    expected = KDERatio().fit(X_train, 3 * X_test)
    rows = np.array([[0.0], [1.0], [99.0]])
    assert_allclose(fitted.predict(rows), expected.predict(rows))
    at_samples = expected.predict(np.r_[X_train, 3 * X_test])
    assert_allclose(expected.predict([[1e3]]), 10 * at_samples.max())
