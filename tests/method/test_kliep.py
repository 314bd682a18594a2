"""KLIEP against its optimality conditions, another solver and brute-force cross-validation."""

import numpy as np
import pytest
from labelled_rows import plain_kernel, two_samples
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from ddr import KLIEP
from ddr.kliep import kliep_coefficients


def slow_solution(K_test, mean_train, test_weight):
    """The constrained problem as the method's authors state it, by SLSQP."""
    share = test_weight / test_weight.sum()
    start = np.full(len(mean_train), 1.0 / len(mean_train)) / mean_train
    return minimize(
        lambda alpha: -share @ np.log(K_test @ alpha),
        start,
        jac=lambda alpha: -(share / (K_test @ alpha)) @ K_test,
        method="SLSQP",
        bounds=[(0, None)] * len(mean_train),
        constraints={"type": "eq", "fun": lambda alpha: mean_train @ alpha - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
    ).x


@pytest.mark.parametrize("sigma", [0.3, 0.8, 2.0])
@pytest.mark.parametrize("soft", [False, True])
def test_equals_an_independent_solver(sigma, soft):
    X_train, X_test, rng = two_samples(50, 40)
    weight = rng.uniform(0, 2, 40) if soft else np.ones(40)
    centers = X_test[:6]
    K, mean = plain_kernel(X_test, centers, sigma), plain_kernel(X_train, centers, sigma).mean(0)
    expected = slow_solution(K, mean, weight)
    assert_allclose(kliep_coefficients(K, mean, weight), expected, rtol=1e-4, atol=1e-5)
    fitted = KLIEP(sigma, centers=centers).fit(X_train, X_test, weight)
    assert_allclose(fitted.alpha_, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("scale", "n", "d"), [(0.2, 60, 2), (5.0, 60, 2), (1.0, 400, 20)])
def test_optimality_conditions(scale, n, d):
    """Gradient of the log-likelihood: one where a coefficient is positive, at most one elsewhere.

    The gradient times a feasible change bounds what can still be gained, so its excess over one
    is how far the objective lies from the maximum.
    """
    X_train, X_test, rng = two_samples(n, n, d)
    weight = rng.uniform(0, 2, n)
    fitted = KLIEP(scale * np.median(pdist(X_test)), random_state=0).fit(X_train, X_test, weight)
    mean = plain_kernel(X_train, fitted.centers_, fitted.sigma_).mean(axis=0)
    K = plain_kernel(X_test, fitted.centers_, fitted.sigma_)
    gradient = (weight / weight.sum() / (K @ fitted.alpha_)) @ K / mean
    assert fitted.alpha_.min() >= 0
    assert_allclose(mean @ fitted.alpha_, 1.0, rtol=1e-10)
    assert gradient.max() <= 1 + 1e-6
    support = fitted.alpha_ * mean > 1e-3
    assert support.any()
    assert_allclose(gradient[support], 1.0, atol=1e-5)


@pytest.mark.parametrize("soft", [False, True])
def test_likelihood_cross_validation_is_brute_force(soft):
    X_train, X_test, rng = two_samples(50, 40)
    weight = rng.uniform(0.1, 2, 40) if soft else np.ones(40)
    centers, sigmas = X_test[:5], [0.4, 0.8, 1.6]
    fitted = KLIEP(sigmas, centers=centers, n_folds=4, random_state=9)
    fitted.fit(X_train, X_test, weight)
    folds = np.random.RandomState(9).permutation(40) % 4
    expected = []
    for sigma in sigmas:
        mean = plain_kernel(X_train, centers, sigma).mean(axis=0)
        K, total = plain_kernel(X_test, centers, sigma), 0.0
        for fold in range(4):
            rest = folds != fold
            alpha = slow_solution(K[rest], mean, weight[rest])
            held = folds == fold
            total += weight[held] @ np.log(K[held] @ alpha)
        expected.append(total / weight.sum())
    assert_allclose(fitted.scores_, expected, rtol=1e-5)
    assert fitted.sigma_ == sigmas[int(np.argmax(expected))]


def test_default_widths_and_a_single_one():
    X_train, X_test, _ = two_samples(50, 40)
    fitted = KLIEP(random_state=0).fit(X_train, X_test)
    assert_allclose(fitted.sigmas_, np.median(pdist(X_test)) * 2.0 ** np.linspace(-2, 2, 9))
    assert fitted.scores_.shape == (9,)
    assert fitted.sigma_ == fitted.sigmas_[np.argmax(fitted.scores_)]
    assert KLIEP(0.7).fit(X_train, X_test).scores_ is None


def test_a_center_that_no_training_row_reaches_takes_no_part():
    X_train, X_test, _ = two_samples(50, 40)
    far = np.r_[X_test, [[300.0, 0.0]]]
    fitted = KLIEP(0.5).fit(X_train, far)
    assert_array_equal(fitted.alpha_[-1], 0.0)
    # The far row's likelihood cannot be raised, so the others decide as if it were not there.
    assert_allclose(fitted.weights_, KLIEP(0.5).fit(X_train, X_test).weights_, rtol=1e-6, atol=1e-8)


def test_a_test_row_that_no_kernel_reaches_changes_no_step():
    """Its share of the likelihood is lost, not given to the rows that kernels do reach."""
    X_train, X_test, rng = two_samples(50, 40)
    centers, weight = X_test[:6], rng.uniform(0.5, 2, 40)
    K, mean = plain_kernel(X_test, centers, 0.8), plain_kernel(X_train, centers, 0.8).mean(axis=0)
    with_far = np.r_[K, np.zeros((1, 6))], mean, np.r_[weight, 30.0]
    for max_iter in (1, 2, 100):
        assert_allclose(
            kliep_coefficients(*with_far, max_iter=max_iter),
            kliep_coefficients(K, mean, weight, max_iter=max_iter),
            rtol=1e-5,
            atol=1e-7,
        )


@pytest.mark.parametrize("reselect", [False, True])
def test_matcher_keeps_centers_and_by_default_the_first_width(reselect):
    X_train, X_test, _ = two_samples(50, 40)
    sigmas = [0.1, 0.5, 2.5]
    options = {"n_folds": 3, "random_state": 4}
    centers = KLIEP(1.0, n_centers=10, **options).fit(X_train, X_test).centers_
    match = KLIEP(sigmas, n_centers=10, **options).matcher(X_train, X_test, reselect)
    near = np.exp(-8 * np.sum((X_test - 0.4) ** 2, axis=1))
    first = KLIEP(sigmas, centers=centers, **options).fit(X_train, X_test, near)
    again = KLIEP(sigmas, centers=centers, **options).fit(X_train, X_test, np.ones(40))
    kept = KLIEP(first.sigma_, centers=centers).fit(X_train, X_test, np.ones(40))
    assert again.sigma_ != first.sigma_
    assert_allclose(match(near), first.weights_, rtol=1e-6)
    expected = again if reselect else kept
    assert_allclose(match(np.ones(40)), expected.weights_, rtol=1e-6)
