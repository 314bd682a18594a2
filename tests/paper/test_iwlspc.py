"""The least-squares probabilistic classifier, against its objective and the generic search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_rows import repeated, three_classes
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr.iwcv import IWSearchCV
from ddr.kernels import median_distance
from ddr.paper.iwlspc import IWLSPCCV, iwlspc_coefficients

LOSSES = ["zero_one", "log", "squared"]


def one(sigma=None, lam=0.1, **options):
    """Nothing to choose."""
    return IWLSPCCV(None if sigma is None else [sigma], [lam], **options)


def test_coefficients_minimise_the_written_out_objective():
    X, y, weight = three_classes(60)
    centers, sigma, lam = X[:7], 1.3, 0.05
    model = one(sigma, lam, centers=centers).fit(X, y, weight)
    phi = np.exp(-cdist(X, centers, "sqeuclidean") / (2 * sigma**2))

    def objective(alpha, c):
        q = phi @ alpha
        fit = sum(w * (0.5 * v**2 - (k == c) * v) for w, v, k in zip(weight, q, y, strict=True))
        return fit / weight.sum() + 0.5 * lam * alpha @ alpha

    for c in range(3):
        found = minimize(objective, np.zeros(7), args=(c,), options={"gtol": 1e-9})
        np.testing.assert_allclose(model.alpha_[:, c], found.x, atol=2e-6)


def test_posterior_is_the_positive_part_normalised():
    X, y, weight = three_classes(60)
    model = one(0.5, 1e-3, n_centers=20, random_state=0).fit(X, y, weight)
    new = np.random.default_rng(1).normal(size=(200, 3)) * 2
    q = np.exp(-cdist(new, model.centers_, "sqeuclidean") / (2 * 0.5**2)) @ model.alpha_
    assert (q < 0).any(axis=1).mean() > 0.2
    expected = np.maximum(q, 0) / np.maximum(q, 0).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-8)
    np.testing.assert_array_equal(model.predict(new), expected.argmax(axis=1))


def test_far_from_all_centres_the_posterior_is_the_weighted_prior():
    X, y, weight = three_classes(60)
    model = one(0.1).fit(X, y, weight)
    prior = [weight[y == c].sum() / weight.sum() for c in range(3)]
    np.testing.assert_allclose(model.predict_proba(np.full((2, 3), 1e3)), [prior, prior])
    np.testing.assert_allclose(model.class_prior_, prior)


@pytest.mark.parametrize("options", [{}, {"centers": np.eye(3)}, {"n_centers": 5}])
def test_a_weight_means_copies(options):
    X, y, _ = three_classes(40)
    weight = np.random.default_rng(1).integers(0, 4, 40).astype(float)
    assert (weight == 0).any()
    model = one(1.0, random_state=0, **options)
    given = [(X, y, weight), repeated(X, y, weight), (X, y, 1e-3 * weight), (X, y)]
    found, copies, scaled, plain = (clone(model).fit(*each).predict_proba(X) for each in given)
    np.testing.assert_allclose(found, copies, atol=1e-10)
    np.testing.assert_allclose(found, scaled, atol=1e-10)
    assert np.abs(found - plain).max() > 0.02
    default = IWLSPCCV(random_state=0).fit(np.vstack([X, X[:5]]), np.append(y, y[:5])).sigmas_
    np.testing.assert_allclose(default[[0, -1]], np.array([0.25, 4.0]) * median_distance(X))


def test_a_class_without_weight_keeps_its_column_with_probability_zero():
    X, y, weight = three_classes(40)
    model = one(1.0).fit(X, y, weight * (y != 1))
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.all(model.predict_proba(X)[:, 1] == 0)
    alone = one(1.0).fit(X, np.full(40, "only"))
    assert set(alone.predict(X)) == {"only"}
    np.testing.assert_allclose(alone.predict_proba(X), 1.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.hardening("mistake")
def test_order_of_rows_names_of_classes_and_origin_do_not_matter(seed):
    X, y, weight = three_classes(25, seed)
    rng = np.random.default_rng(seed)
    centers, order, shift = X[:6], rng.permutation(25), rng.normal(size=3)
    first = one(1.0, centers=centers).fit(X, y, weight).predict_proba(X)
    names = np.array(["m", "a", "z"])
    other = one(1.0, centers=centers + shift)
    other.fit(X[order] + shift, names[y][order], weight[order])
    posterior = dict(zip(other.classes_, other.predict_proba(X + shift).T, strict=True))
    for column, c in zip(first.T, np.unique(y), strict=True):
        np.testing.assert_allclose(posterior[names[c]], column, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cv", [4, ShuffleSplit(3, random_state=0)])
def test_fast_cross_validation_equals_the_generic_one(loss, cv):
    X, y, weight = three_classes(70)
    y[:1] = 3  # a class that one fold's training rows lack
    weight[5:15] = 0
    # Under the smallest width most rows lie beyond the reach of every centre.
    sigmas, lams, centers = [0.01, 0.3, 1.0, 3.0], [0.01, 1.0, 0.1], X[:10]
    fast = IWLSPCCV(sigmas, lams, cv=cv, loss=loss, centers=centers, random_state=0)
    fast.fit(X, y, weight)
    grid = {"sigmas": [[s] for s in sorted(sigmas)[::-1]], "lams": [[1.0], [0.1], [0.01]]}
    slow = IWSearchCV(IWLSPCCV(centers=centers), grid, cv=cv, loss=loss, random_state=0)
    slow.fit(X, y, weight)
    for params, risk in zip(slow.cv_results_["params"], slow.cv_results_["risk"], strict=True):
        place = sigmas.index(*params["sigmas"]), lams.index(*params["lams"])
        assert fast.cv_scores_[place] == pytest.approx(risk, rel=1e-9)
    assert {"sigmas": [fast.best_sigma_], "lams": [fast.best_lam_]} == slow.best_params_
    assert fast.best_score_ == pytest.approx(slow.best_score_)
    kept = weight > 0
    proba = slow.predict_proba(X)
    np.testing.assert_allclose(fast.predict_proba(X)[:, np.unique(y[kept])], proba, atol=1e-10)


def test_ties_go_to_the_smoothest_model():
    X = np.repeat([[0.0], [10.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    model = IWLSPCCV([0.5, 2.0, 1.0], [0.1, 10.0, 1.0], random_state=0).fit(X, y)
    assert np.all(model.cv_scores_ == 0)
    assert (model.best_sigma_, model.best_lam_) == (2.0, 10.0)


def test_a_singular_system_asks_for_more_penalty():
    H = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 1e20
    with pytest.raises(ValueError, match="lam must be larger"):
        iwlspc_coefficients(H - np.eye(2) * 1e19, np.ones((2, 1)), 1.0, lam=1e-9)


@parametrize_with_checks([IWLSPCCV(cv=3)])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
