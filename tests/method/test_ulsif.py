"""uLSIF against numerical minimisation, brute-force refits and another package."""

import numpy as np
import pytest
from densratio import densratio
from labelled_rows import plain_kernel, two_samples
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ddr import ULSIF, kernels
from ddr.ulsif import WIDTHS, default_lams, second_moment, soft_moment, ulsif_coefficients

WEIGHTS = {
    "ones": lambda rng, n: np.ones(n),
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "fractions": lambda rng, n: rng.uniform(0, 1, n),
    "integers": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "anything": lambda rng, n: rng.uniform(0, 3, n) * (rng.random(n) < 0.8),
}


def plain_fit(K_train, K_test, test_weight, lam, clip):
    """Coefficients by the normal equations of eq. 11, moments by loops over rows."""
    b = K_train.shape[1]
    S = sum(np.outer(k, k) for k in K_train) / len(K_train)
    s = sum(v * k for v, k in zip(test_weight, K_test, strict=True)) / sum(test_weight)
    alpha = np.linalg.solve(S + lam * np.eye(b), s)
    return np.maximum(alpha, 0) if clip == "coefficients" else alpha


def plain_ratio(K, alpha):
    return np.maximum(K @ alpha, 0)


def brute_force_loo(K_train, K_test, test_weight, lam, clip):
    """Refit without each row: a training row leaves S, one copy of a test row leaves s."""
    n, total = len(K_train), test_weight.sum()
    score = 0.0
    for i in range(n) if n > 1 else ():  # a single row cannot be left out
        alpha = plain_fit(np.delete(K_train, i, axis=0), K_test, test_weight, lam, clip)
        score += 0.5 * plain_ratio(K_train[i], alpha) ** 2 / n
    for j in np.flatnonzero(test_weight):
        rest = test_weight.copy()
        rest[j] -= min(1.0, rest[j])
        if rest.any():  # with nothing left the ratio is zero
            alpha = plain_fit(K_train, K_test, rest, lam, clip)
            score -= test_weight[j] * plain_ratio(K_test[j], alpha) / total
    return score


@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_closed_form_is_the_numerical_minimum_of_equation_11(lam):
    X_train, X_test, rng = two_samples(25, 18)
    p, sigma, centers = rng.random(18), 0.8, X_test[:7]
    ratio = ULSIF(sigma, lam, centers=centers, clip="ratio").fit(X_train, X_test, p)
    K, k = plain_kernel(X_train, centers, sigma), plain_kernel(X_test, centers, sigma)

    def objective(alpha):
        quadratic = sum(
            alpha[u] * alpha[v] * np.mean(K[:, u] * K[:, v]) for u in range(7) for v in range(7)
        )
        linear = sum(alpha[u] * np.sum(p * k[:, u]) / p.sum() for u in range(7))
        return quadratic / 2 - linear + lam / 2 * np.sum(alpha**2)

    minimum = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    assert_allclose(ratio.alpha_, minimum.x, atol=1e-5)
    S, s = second_moment(K), soft_moment(k, p)
    assert_allclose(ulsif_coefficients(S, s, lam), ratio.alpha_, rtol=1e-9)
    assert_allclose(ratio.weights_, np.maximum(K @ ratio.alpha_, 0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("clip", ["ratio", "coefficients"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_leave_one_out_is_brute_force(clip, kind):
    X_train, X_test, rng = two_samples(25, 18)
    weight = WEIGHTS[kind](rng, len(X_test))
    centers, sigmas, lams = X_test[::2], [0.8, 0.4, 1.6], [0.003, 0.1, 1.0]
    ratio = ULSIF(sigmas, lams, centers=centers, clip=clip).fit(X_train, X_test, weight)
    kernels = [[plain_kernel(X, centers, sigma) for X in (X_train, X_test)] for sigma in sigmas]
    expected = [[brute_force_loo(*pair, weight, lam, clip) for lam in lams] for pair in kernels]
    assert_allclose(ratio.scores_, expected, rtol=1e-9, atol=1e-11)
    i, j = np.unravel_index(np.argmin(expected), (3, 3))
    assert (ratio.sigma_, ratio.lam_) == (sigmas[i], lams[j])


@pytest.mark.parametrize(
    ("n_train", "n_test", "weight"),
    [(1, 6, None), (6, 1, None), (6, 1, [3.0]), (1, 1, None), (6, 2, [0.5, 0.0]), (2, 2, [2, 0.3])],
)
@pytest.mark.parametrize("clip", ["ratio", "coefficients"])
@pytest.mark.filterwarnings("error")
def test_leave_one_out_of_the_smallest_samples(n_train, n_test, weight, clip):
    X_train, X_test, _ = two_samples(n_train, n_test)
    ratio = ULSIF([0.5, 1.0], [0.1, 1.0], centers=[[0.0, 0.0], [1.0, 0.5]], clip=clip)
    ratio.fit(X_train, X_test, weight)
    weight = np.ones(n_test) if weight is None else np.array(weight, float)
    for i, sigma in enumerate([0.5, 1.0]):
        K = plain_kernel(X_train, ratio.centers_, sigma)
        k = plain_kernel(X_test, ratio.centers_, sigma)
        expected = [brute_force_loo(K, k, weight, lam, clip) for lam in (0.1, 1.0)]
        assert_allclose(ratio.scores_[i], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("clip", ["ratio", "coefficients"])
def test_row_blocks_change_nothing(monkeypatch, clip):
    X_train, X_test, rng = two_samples(60, 50)
    weight = rng.uniform(0, 2, 50)
    options = {"n_centers": 20, "clip": clip, "random_state": 0}
    whole = ULSIF(**options).fit(X_train, X_test, weight)
    monkeypatch.setattr(kernels, "_BLOCK_ELEMENTS", 100)
    monkeypatch.setattr(kernels, "_CACHE_BYTES", 0)
    blocks = ULSIF(**options).fit(X_train, X_test, weight)
    assert_allclose(blocks.scores_, whole.scores_, rtol=1e-8)
    assert_allclose(blocks.weights_, whole.weights_, rtol=1e-8, atol=1e-10)
    assert_allclose(blocks.predict(X_test), whole.predict(X_test), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_centers", [15, 40])
@pytest.mark.parametrize(("sigma", "lam"), [(0.5, 0.1), (1.5, 0.01)])
def test_equal_to_densratio(n_centers, sigma, lam):
    X_train, X_test, rng = two_samples(50, 40, d=3)
    theirs = densratio(
        X_test, X_train, sigma=sigma, lambda_=lam, kernel_num=n_centers, verbose=False
    )
    centers = np.asarray(theirs.kernel_info.centers)
    ours = ULSIF(sigma, lam, centers=centers, clip="coefficients").fit(X_train, X_test)
    assert_allclose(ours.alpha_, theirs.theta, rtol=1e-7, atol=1e-9)
    new = rng.normal(size=(20, 3))
    assert_allclose(ours.predict(new), theirs.compute_density_ratio(new), rtol=1e-7, atol=1e-9)
    assert_allclose(ours.weights_, theirs.compute_density_ratio(X_train), rtol=1e-7, atol=1e-9)


def test_default_grids_are_about_the_median_distance():
    X_train, X_test, _ = two_samples(40, 30)
    ratio = ULSIF().fit(X_train, X_test)
    distances = cdist(X_test, X_test)[np.triu_indices(30, 1)]
    assert_allclose(ratio.sigmas_, np.median(distances) * 2.0 ** np.linspace(-2, 2, 9))
    assert_allclose(ratio.lams_, 10.0 ** np.linspace(-3, 1, 9))
    assert ratio.scores_.shape == (len(WIDTHS), len(ratio.lams_)) == (9, 9)
    assert_array_equal(ratio.centers_, X_test)


def test_default_regularisation_goes_lower_where_there_are_many_training_rows():
    for n in (2, 999, 1000):
        assert_allclose(default_lams(n), 10.0 ** np.linspace(-3, 1, 9))
    assert_allclose(default_lams(10_000), 10.0 ** np.linspace(-4, 1, 9))
    many = ULSIF(1.0).fit(np.zeros((2000, 1)), np.zeros((3, 1)))
    assert many.lams_[0] == pytest.approx(1 / 2000)


@pytest.mark.parametrize("reselect", [False, True])
def test_matcher_is_fit_with_centers_of_all_test_rows(reselect):
    X_train, X_test, _ = two_samples(30, 40)
    X_test[:20] *= 0.2
    ratio = ULSIF([0.4, 0.8, 1.6], [0.01, 0.1, 1.0], n_centers=12, random_state=3)
    centers = ULSIF(1.0, 0.1, n_centers=12, random_state=3).fit(X_train, X_test).centers_
    match = ratio.matcher(X_train, X_test, reselect)
    first = 1.0 / (1.0 + np.exp(10 * (X_test[:, 0] - 0.1)))  # a cluster, then the whole sample
    second = np.ones(40)
    chosen = ULSIF([0.4, 0.8, 1.6], [0.01, 0.1, 1.0], centers=centers).fit(X_train, X_test, first)
    assert_allclose(match(first), chosen.weights_, rtol=1e-9, atol=1e-12)
    again = ULSIF([0.4, 0.8, 1.6], [0.01, 0.1, 1.0], centers=centers).fit(X_train, X_test, second)
    kept = ULSIF(chosen.sigma_, chosen.lam_, centers=centers).fit(X_train, X_test, second)
    assert (again.sigma_, again.lam_) != (chosen.sigma_, chosen.lam_)
    expected = again if reselect else kept
    assert_allclose(match(second), expected.weights_, rtol=1e-9, atol=1e-12)
    assert not hasattr(ratio, "sigma_")
