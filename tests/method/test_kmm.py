"""Kernel mean matching against its optimality conditions and another solver."""

import numpy as np
import pytest
from labelled_rows import two_samples
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist

from ddr import KMM
from ddr.kmm import kmm_weights


def programme(X_train, X_test, weight, sigma, ridge):
    """K and kappa of the method, from plain kernels."""
    K = np.exp(-cdist(X_train, X_train, "sqeuclidean") / (2 * sigma**2))
    cross = np.exp(-cdist(X_train, X_test, "sqeuclidean") / (2 * sigma**2))
    n = len(X_train)
    return K + ridge * np.eye(n), n * (cross * weight).sum(axis=1) / weight.sum()


CASES = {
    "free mean": {"bound": 1000.0, "epsilon": 0.9},
    "upper mean": {"bound": 1000.0, "epsilon": 0.001, "ridge": 1e-3},
    "bound": {"bound": 1.7, "epsilon": 0.5},
    "lower mean": {"bound": 1000.0, "epsilon": 0.01, "ridge": 20.0},
    "bound and mean": {"bound": 1.3, "epsilon": 0.05},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("soft", [False, True])
def test_optimality_conditions(case, soft):
    """Stationarity with a multiplier for the mean, signs of those of the box, feasibility."""
    X_train, X_test, rng = two_samples(mean=0.8, sd=0.6)
    weight = rng.uniform(0, 2, 30) if soft else np.ones(30)
    options = {"ridge": 1.0, **CASES[case]}
    beta = KMM(0.9, **options).fit(X_train, X_test, weight).weights_
    bound, epsilon = options["bound"], options["epsilon"]
    K, kappa = programme(X_train, X_test, weight, 0.9, options["ridge"])
    assert beta.min() >= 0
    assert beta.max() <= bound
    assert abs(beta.mean() - 1) <= epsilon + 1e-6
    gradient = (K @ beta - kappa) / len(beta)
    inside = (beta > 1e-4) & (beta < bound - 1e-4)
    multiplier = gradient[inside].mean() if inside.any() else 0.0
    assert_allclose(gradient[inside], multiplier, atol=1e-5)
    assert np.all(gradient[beta <= 1e-4] >= multiplier - 1e-5)
    assert np.all(gradient[beta >= bound - 1e-4] <= multiplier + 1e-5)
    if abs(beta.mean() - 1) < epsilon - 1e-4:
        assert_allclose(multiplier, 0.0, atol=1e-5)
    elif beta.mean() > 1:
        assert multiplier <= 1e-6  # the objective would fall with a larger mean
    else:
        assert multiplier >= -1e-6


def test_a_programme_solved_by_hand():
    K, kappa = np.diag([1.0, 2.0, 4.0]), np.array([0.5, 2.0, 6.0])
    assert_allclose(kmm_weights(K, kappa, bound=5.0, epsilon=0.5), [0.5, 1.0, 1.5], atol=1e-7)
    # Less kappa asks for a sum of 1.25; held at 2.4, the weights lose multiples of 1/K only.
    held = kmm_weights(K, kappa - 1.0, bound=5.0, epsilon=0.2)
    expected = np.array([0.5, 1.0, 1.5]) - 0.6 * np.array([4, 2, 1]) / 7
    assert_allclose(held, expected, atol=1e-6)


def test_too_many_rows_are_refused_before_their_matrix_is_made(monkeypatch):
    X_train, X_test, _ = two_samples()
    message = "^X_train must have at most 20000 rows for KMM, got 200000: use ULSIF$"
    with pytest.raises(ValueError, match=message):
        KMM().fit(np.zeros((200_000, 2)), X_test)
    monkeypatch.setattr("ddr.kmm.MOST_ROWS", len(X_train))
    assert KMM().fit(X_train, X_test).weights_.shape == (len(X_train),)


def test_default_width_and_epsilon():
    X_train, X_test, _ = two_samples(mean=0.8, sd=0.6)
    fitted = KMM(ridge=500.0).fit(X_train, X_test)
    assert_allclose(fitted.sigma_, np.median(pdist(X_test)))
    # A heavy ridge pulls the weights down to the smallest mean allowed, 1/sqrt(n).
    assert_allclose(fitted.weights_.mean(), 1 / np.sqrt(40), rtol=1e-5)
    other = KMM(ridge=500.0, epsilon=(np.sqrt(40) - 1) / np.sqrt(40)).fit(X_train, X_test)
    assert_allclose(fitted.weights_, other.weights_, atol=1e-9)
    assert KMM(0.3).fit(X_train, X_test).sigma_ == 0.3
