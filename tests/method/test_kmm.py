"""Kernel mean matching against its optimality conditions and another solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from scipy.stats import norm

from ddr import KMM
from ddr.kmm import kmm_weights


def two_samples(n_train=40, n_test=30, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_train, d)), rng.normal(0.8, 0.6, size=(n_test, d)), rng


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
    X_train, X_test, rng = two_samples()
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


def test_the_cases_reach_every_constraint():
    X_train, X_test, _ = two_samples()
    weights = {c: KMM(0.9, **o).fit(X_train, X_test).weights_ for c, o in CASES.items()}
    assert weights["bound"].max() > 1.7 - 1e-6
    assert_allclose(weights["lower mean"].mean(), 0.99, atol=1e-6)
    assert_allclose(weights["upper mean"].mean(), 1.001, atol=1e-6)
    assert 0.1 < weights["free mean"].mean() < 1.9
    assert abs(weights["free mean"].mean() - 1) > 0.005


def test_equals_an_independent_solver():
    X_train, X_test, _ = two_samples(12, 20)
    K, kappa = programme(X_train, X_test, np.ones(20), 0.9, 1.0)
    found = kmm_weights(K, kappa, bound=1.8, epsilon=0.1)
    slow = minimize(
        lambda b: (b @ K @ b / 2 - kappa @ b) / 12,
        np.ones(12),
        jac=lambda b: (K @ b - kappa) / 12,
        method="SLSQP",
        bounds=[(0, 1.8)] * 12,
        constraints=[
            {"type": "ineq", "fun": lambda b: b.mean() - 0.9},
            {"type": "ineq", "fun": lambda b: 1.1 - b.mean()},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert_allclose(found, slow.x, atol=1e-5)


def test_a_programme_solved_by_hand():
    K, kappa = np.diag([1.0, 2.0, 4.0]), np.array([0.5, 2.0, 6.0])
    assert_allclose(kmm_weights(K, kappa, bound=5.0, epsilon=0.5), [0.5, 1.0, 1.5], atol=1e-7)
    # Less kappa asks for a sum of 1.25; held at 2.4, the weights lose multiples of 1/K only.
    held = kmm_weights(K, kappa - 1.0, bound=5.0, epsilon=0.2)
    expected = np.array([0.5, 1.0, 1.5]) - 0.6 * np.array([4, 2, 1]) / 7
    assert_allclose(held, expected, atol=1e-6)


def test_default_width_and_epsilon():
    X_train, X_test, _ = two_samples()
    fitted = KMM(ridge=500.0).fit(X_train, X_test)
    assert_allclose(fitted.sigma_, np.median(pdist(X_test)))
    # A heavy ridge pulls the weights down to the smallest mean allowed, 1/sqrt(n).
    assert_allclose(fitted.weights_.mean(), 1 / np.sqrt(40), rtol=1e-5)
    other = KMM(ridge=500.0, epsilon=(np.sqrt(40) - 1) / np.sqrt(40)).fit(X_train, X_test)
    assert_allclose(fitted.weights_, other.weights_, atol=1e-9)
    assert KMM(0.3).fit(X_train, X_test).sigma_ == 0.3


def test_weights_follow_the_true_ratio_as_the_sample_grows():
    def error(n, seed):
        rng = np.random.default_rng([n, seed])
        X_train, X_test = rng.normal(size=(n, 1)), rng.normal(0.5, 0.7, size=(n, 1))
        true = (norm.pdf(X_train, 0.5, 0.7) / norm.pdf(X_train)).ravel()
        fitted = KMM().fit(X_train, X_test)
        return np.mean((fitted.weights_ - true) ** 2) / np.mean((true - 1) ** 2)

    small, large = (np.median([error(n, seed) for seed in range(9)]) for n in (30, 400))
    assert large < 0.5 * small
    assert large < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": -2.0}, "sigma must be a positive number, got -2.0"),
        ({"bound": 0.0}, "bound must be a positive number, got 0.0"),
        ({"epsilon": -0.1}, "epsilon must be a positive number, got -0.1"),
        ({"ridge": 0.0}, "ridge must be a positive number, got 0.0"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(options, message):
    X_train, X_test, _ = two_samples()
    with pytest.raises(ValueError, match=message):
        KMM(**options).fit(X_train, X_test)


def test_a_programme_without_solution_is_said():
    X_train, X_test, _ = two_samples()
    for options in ({"bound": 0.5, "epsilon": 0.1}, {"ridge": 1e300}):
        with pytest.raises(ValueError, match="KMM found no weights: ridge is too large, or bound"):
            KMM(**options).fit(X_train, X_test)
