import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr.classifiers import (
    IWLSPC,
    IWLSPCCV,
    LinearSVMWithPosteriors,
    LinearSVMWithPosteriorsCV,
    _fit_hinge,
    _Machine,
    fit_platt,
    iwlspc_coefficients,
    platt_posterior,
)
from ddr.kernels import median_distance
from ddr.validation import IWSearchCV, stratified_folds

LOSSES = ["zero_one", "log", "squared"]


def three_classes(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [-0.6, 0.6])
    return X, y, rng.gamma(1.0, size=n) + 0.01


def two_classes(n=80, seed=0, noise=0.7):
    X, _, weight = three_classes(n, seed)
    y = X[:, 0] + 0.5 * X[:, 1] + noise * np.random.default_rng(seed + 1).normal(size=n) > 0
    return X, y.astype(int), weight


def repeated(X, y, weight):
    """The same data with weights written out as copies."""
    copies = weight.astype(int)
    return np.repeat(X, copies, axis=0), np.repeat(y, copies)


# --- least-squares probabilistic classifier ------------------------------------------------------


def test_coefficients_minimise_the_written_out_objective():
    X, y, weight = three_classes(60)
    centers, sigma, lam = X[:7], 1.3, 0.05
    model = IWLSPC(sigma=sigma, lam=lam, centers=centers).fit(X, y, weight)
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
    model = IWLSPC(sigma=0.5, lam=1e-3, n_centers=20, random_state=0).fit(X, y, weight)
    new = np.random.default_rng(1).normal(size=(200, 3)) * 2
    q = np.exp(-cdist(new, model.centers_, "sqeuclidean") / (2 * 0.5**2)) @ model.alpha_
    assert (q < 0).any(axis=1).mean() > 0.2
    expected = np.maximum(q, 0) / np.maximum(q, 0).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-8)
    np.testing.assert_array_equal(model.predict(new), expected.argmax(axis=1))


def test_far_from_all_centres_the_posterior_is_the_weighted_prior():
    X, y, weight = three_classes(60)
    model = IWLSPC(sigma=0.1).fit(X, y, weight)
    prior = [weight[y == c].sum() / weight.sum() for c in range(3)]
    np.testing.assert_allclose(model.predict_proba(np.full((2, 3), 1e3)), [prior, prior])
    np.testing.assert_allclose(model.class_prior_, prior)


@pytest.mark.parametrize("options", [{}, {"centers": np.eye(3)}, {"n_centers": 5, "sigma": 1.0}])
def test_a_weight_means_copies(options):
    X, y, _ = three_classes(40)
    weight = np.random.default_rng(1).integers(0, 4, 40).astype(float)
    assert (weight == 0).any()
    model = IWLSPC(random_state=0, **options).fit(X, y, weight)
    copies = IWLSPC(random_state=0, **options).fit(*repeated(X, y, weight))
    np.testing.assert_allclose(model.predict_proba(X), copies.predict_proba(X), atol=1e-10)
    scaled = IWLSPC(random_state=0, **options).fit(X, y, 1e-3 * weight)
    np.testing.assert_allclose(model.predict_proba(X), scaled.predict_proba(X), atol=1e-10)
    plain = IWLSPC(random_state=0, **options).fit(X, y)
    assert np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() > 0.02


def test_a_class_without_weight_keeps_its_column_with_probability_zero():
    X, y, weight = three_classes(40)
    model = IWLSPC().fit(X, y, weight * (y != 1))
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.all(model.predict_proba(X)[:, 1] == 0)
    alone = IWLSPC().fit(X, np.full(40, "only"))
    assert set(alone.predict(X)) == {"only"}
    np.testing.assert_allclose(alone.predict_proba(X), 1.0)


def test_width_defaults_to_the_median_distance_of_distinct_rows():
    X, y, _ = three_classes(40)
    expected = median_distance(X)
    assert IWLSPC().fit(np.vstack([X, X[:5]]), np.append(y, y[:5])).sigma_ == expected
    cv = IWLSPCCV(sigma_factors=[0.5, 2.0], lams=[0.1]).fit(X, y)
    np.testing.assert_allclose(cv.sigmas_, [0.5 * expected, 2 * expected])


def test_many_rows_are_worked_in_blocks_with_the_same_result():
    X, y, weight = three_classes(3000)
    centers = X[:100]
    model = IWLSPC(sigma=1.0, lam=0.1, centers=centers).fit(X, y, weight)
    phi = np.exp(-cdist(X, centers, "sqeuclidean") / 2)
    right = phi.T @ (weight[:, None] * np.eye(3)[y]) / weight.sum()
    left = phi.T @ (weight[:, None] * phi) / weight.sum() + 0.1 * np.eye(100)
    np.testing.assert_allclose(model.alpha_, np.linalg.solve(left, right), atol=1e-9)
    q = np.maximum(phi @ model.alpha_, 0)
    np.testing.assert_allclose(model.predict_proba(X), q / q.sum(axis=1, keepdims=True), atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_order_of_rows_names_of_classes_and_origin_do_not_matter(seed):
    X, y, weight = three_classes(25, seed)
    rng = np.random.default_rng(seed)
    centers, order, shift = X[:6], rng.permutation(25), rng.normal(size=3)
    first = IWLSPC(sigma=1.0, centers=centers).fit(X, y, weight).predict_proba(X)
    names = np.array(["m", "a", "z"])
    other = IWLSPC(sigma=1.0, centers=centers + shift)
    other.fit(X[order] + shift, names[y][order], weight[order])
    posterior = dict(zip(other.classes_, other.predict_proba(X + shift).T, strict=True))
    for column, c in zip(first.T, np.unique(y), strict=True):
        np.testing.assert_allclose(posterior[names[c]], column, atol=1e-8)


# --- and its cross-validation --------------------------------------------------------------------


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
    grid = {"sigma": sorted(sigmas)[::-1], "lam": sorted(lams)[::-1]}
    slow = IWSearchCV(IWLSPC(centers=centers), grid, cv=cv, loss=loss, random_state=0)
    slow.fit(X, y, weight)
    for params, risk in zip(slow.cv_results_["params"], slow.cv_results_["risk"], strict=True):
        place = sigmas.index(params["sigma"]), lams.index(params["lam"])
        assert fast.cv_scores_[place] == pytest.approx(risk, rel=1e-9)
    assert {"sigma": fast.best_sigma_, "lam": fast.best_lam_} == slow.best_params_
    assert fast.best_score_ == pytest.approx(slow.best_score_)
    assert fast.n_splits_ == slow.n_splits_
    kept = weight > 0
    proba = slow.predict_proba(X)
    np.testing.assert_allclose(fast.predict_proba(X)[:, np.unique(y[kept])], proba, atol=1e-10)


def test_ties_go_to_the_smoothest_model():
    X = np.repeat([[0.0], [10.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    model = IWLSPCCV([0.5, 2.0, 1.0], [0.1, 10.0, 1.0], random_state=0).fit(X, y)
    assert np.all(model.cv_scores_ == 0)
    assert (model.best_sigma_, model.best_lam_) == (2.0, 10.0)


def test_risks_are_weighted():
    """Wrong labels that weigh next to nothing change the choice's score accordingly."""
    X, y, _ = two_classes(100, noise=0.0)
    wrong = np.arange(100) % 4 == 0
    y_noisy = np.where(wrong, 1 - y, y)
    weight = np.where(wrong, 1e-6, 1.0)
    for model in (IWLSPCCV(random_state=0), LinearSVMWithPosteriorsCV(random_state=0)):
        assert model.fit(X, y_noisy, weight).best_score_ < 0.08
        assert model.fit(X, y_noisy).best_score_ > 0.15


# --- Platt's sigmoid -----------------------------------------------------------------------------


def platt_loss(parameters, decision, positive, weight):
    n_plus, n_minus = weight[positive].sum(), weight[~positive].sum()
    total = 0.0
    for f, label, w in zip(decision, positive, weight, strict=True):
        p = 1 / (1 + np.exp(parameters[0] * f + parameters[1]))
        t = (n_plus + 1) / (n_plus + 2) if label else 1 / (n_minus + 2)
        total -= w * (t * np.log(p) + (1 - t) * np.log(1 - p))
    return total


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_sigmoid_minimises_the_weighted_log_loss(scale):
    rng = np.random.default_rng(0)
    decision = scale * rng.normal(size=60)
    positive = decision / scale + rng.normal(size=60) > 0.3
    weight = rng.gamma(1.0, size=60)
    found = minimize(
        lambda p: platt_loss(p / [scale, 1.0], decision, positive, weight),
        [-1.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000},
    )
    np.testing.assert_allclose(
        fit_platt(decision, positive, weight) * [scale, 1.0], found.x, atol=1e-5
    )


def test_sigmoid_takes_weights_as_copies_and_survives_degenerate_values():
    rng = np.random.default_rng(0)
    decision, weight = rng.normal(size=30), rng.integers(1, 4, 30)
    positive = decision + rng.normal(size=30) > 0
    copies = fit_platt(
        np.repeat(decision, weight), np.repeat(positive, weight), np.ones(weight.sum())
    )
    np.testing.assert_allclose(fit_platt(decision, positive, weight), copies, atol=1e-7)
    constant = fit_platt(np.zeros(30), positive, np.ones(30))
    k = positive.sum()
    target = (k * (k + 1) / (k + 2) + (30 - k) / (32 - k)) / 30
    assert platt_posterior(np.zeros((1, 2)), constant[None])[0, 1] == pytest.approx(target)
    separable = platt_posterior(
        np.array([[-1.0, 1.0]]),
        fit_platt(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))[None],
    )
    assert separable[0, 1] == pytest.approx(2 / 3)  # Platt's target for one row
    one_label = fit_platt(decision, np.zeros(30, dtype=bool), np.ones(30))
    p = platt_posterior(np.column_stack([-decision, decision]), one_label[None])[:, 1]
    np.testing.assert_allclose(p, 1 / 32, atol=1e-6)


def test_posteriors_of_many_classes_are_normalised_sigmoids():
    rng = np.random.default_rng(0)
    scores, platt = rng.normal(size=(5, 3)), np.column_stack([-rng.random(3), rng.normal(size=3)])
    p = 1 / (1 + np.exp(scores * platt[:, 0] + platt[:, 1]))
    np.testing.assert_allclose(platt_posterior(scores, platt), p / p.sum(axis=1, keepdims=True))
    extreme = platt_posterior(np.full((1, 3), 1e6), np.array([[1.0, 0.0]] * 3))
    np.testing.assert_allclose(extreme, 1 / 3)  # no 0 / 0


# --- support vector machine ----------------------------------------------------------------------


def tight_svc(C):
    return SVC(kernel="linear", C=C, tol=1e-9, break_ties=True)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_machine_is_that_of_libsvm(C, weighted):
    for X, y, weight in (two_classes(), three_classes()):
        weight = weight if weighted else None
        model = LinearSVMWithPosteriors(
            C, calibration="train", predict_by="decision", tol=1e-6
        ).fit(X, y, weight)
        reference = tight_svc(C).fit(X, y, weight)
        np.testing.assert_allclose(
            model.decision_function(X), reference.decision_function(X), atol=1e-4
        )
        np.testing.assert_array_equal(model.predict(X), reference.predict(X))


def test_machine_of_many_rows_and_of_equal_rows_is_that_of_libsvm():
    X, y = make_classification(1200, 5, flip_y=0.1, random_state=0)
    X = np.round(X, 1)
    weight = np.random.default_rng(0).gamma(1.0, size=1200) + 0.01
    folds = stratified_folds(y, 3, random_state=0)
    model = LinearSVMWithPosteriors(cv=folds, predict_by="decision", tol=1e-6).fit(X, y, weight)
    np.testing.assert_allclose(
        model.decision_function(X), tight_svc(1.0).fit(X, y, weight).decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize(
    ("coef", "intercept"),
    [
        ([50.0, 25.0, 0.0], 0.0),  # much too sure: most rows seem to lie far beyond the margin
        ([0.0, 0.0, 0.0], 9.0),  # one class seems not to matter at all
        ([-1.0, 0.0, 3.0], 0.0),
    ],
)
def test_machine_does_not_depend_on_where_the_search_for_it_starts(coef, intercept):
    X, y, weight = two_classes(300)
    sign = np.where(y == 1, 1.0, -1.0)
    start = _Machine(np.array(coef), intercept, False)
    machine = _fit_hinge(X, sign, weight, 1e-6, start)
    reference = tight_svc(1.0).fit(X, y, weight).decision_function(X)
    np.testing.assert_allclose(X @ machine.coef + machine.intercept, reference, atol=1e-4)


@pytest.mark.parametrize("make_data", [two_classes, three_classes])
def test_sigmoid_is_fitted_to_held_out_decisions(make_data):
    X, y, weight = make_data()
    weight[3:9] = 0
    kept = np.flatnonzero(weight)
    model = LinearSVMWithPosteriors(2.0, cv=4, random_state=5, tol=1e-6).fit(X, y, weight)
    held, decisions = [], []
    for train, test in stratified_folds(y[kept], 4, random_state=5):
        train, test = kept[train], kept[test]
        held.append(test)
        svc = tight_svc(2.0).fit(X[train], y[train], weight[train])
        decisions.append(svc.decision_function(X[test]))
    held, decisions = np.concatenate(held), np.concatenate(decisions)
    columns = {1: decisions} if decisions.ndim == 1 else dict(enumerate(decisions.T))
    expected = [fit_platt(f, y[held] == c, weight[held]) for c, f in columns.items()]
    np.testing.assert_allclose(model.platt_, expected, atol=1e-3)
    # Values of the training rows themselves look better than they are.
    train = LinearSVMWithPosteriors(2.0, calibration="train").fit(X, y, weight)
    f = tight_svc(2.0).fit(X, y, weight).decision_function(X)[kept]
    columns = {1: f} if f.ndim == 1 else dict(enumerate(f.T))
    expected = [fit_platt(f, y[kept] == c, weight[kept]) for c, f in columns.items()]
    np.testing.assert_allclose(train.platt_, expected, atol=1e-2)


def test_posteriors_follow_the_weights():
    """Weights that make one class three times as frequent raise its probability accordingly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    y = (rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    weight = np.where(y == 1, 3.0, 1.0)
    model = LinearSVMWithPosteriors(random_state=0).fit(X, y, weight)
    truth = 3 / (3 + np.exp(-2 * X[:, 0]))
    assert np.abs(model.predict_proba(X)[:, 1] - truth).mean() < 0.05
    plain = LinearSVMWithPosteriors(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    assert np.abs(plain - 1 / (1 + np.exp(-2 * X[:, 0]))).mean() < 0.05


@pytest.mark.parametrize("make_data", [two_classes, three_classes])
def test_svm_takes_weights_as_copies(make_data):
    X, y, _ = make_data(50)
    weight = np.random.default_rng(1).integers(0, 3, 50).astype(float)
    model = LinearSVMWithPosteriors(calibration="train", tol=1e-7).fit(X, y, weight)
    copies = LinearSVMWithPosteriors(calibration="train", tol=1e-7)
    copies.fit(*repeated(X, y, weight))
    np.testing.assert_allclose(model.predict_proba(X), copies.predict_proba(X), atol=1e-4)
    kept = weight > 0
    zero = LinearSVMWithPosteriorsCV(random_state=0, tol=1e-7).fit(X, y, weight)
    removed = LinearSVMWithPosteriorsCV(random_state=0, tol=1e-7).fit(
        X[kept], y[kept], weight[kept]
    )
    np.testing.assert_allclose(zero.predict_proba(X), removed.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("make_data", [two_classes, three_classes])
def test_fast_choice_of_cost_equals_the_generic_one(make_data):
    X, y, weight = make_data(70)
    weight[:10] = 0
    Cs = [10.0, 0.001, 0.1]
    fast = LinearSVMWithPosteriorsCV(Cs, cv=3, random_state=0, tol=1e-6).fit(X, y, weight)
    inner = LinearSVMWithPosteriors(calibration="train", predict_by="decision", tol=1e-6)
    slow = IWSearchCV(inner, {"C": sorted(Cs)}, cv=3, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(fast.cv_scores_[[1, 2, 0]], slow.cv_results_["risk"], rtol=1e-9)
    assert fast.best_C_ == slow.best_params_["C"]
    assert fast.best_score_ == pytest.approx(slow.best_score_)
    single = LinearSVMWithPosteriors(fast.best_C_, cv=3, random_state=0, tol=1e-6)
    single.fit(X, y, weight)
    np.testing.assert_allclose(fast.predict_proba(X), single.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_choice_of_cost_by_posteriors_scores_the_sigmoid_of_the_held_out_values(loss):
    X, y, weight = two_classes()
    model = LinearSVMWithPosteriorsCV([1e-4, 1.0], cv=4, loss=loss, random_state=0, tol=1e-6)
    model.fit(X, y, weight)
    for C, score in zip([1e-4, 1.0], model.cv_scores_, strict=True):
        f, p_true = np.empty(80), np.empty(80)
        for train, test in stratified_folds(y, 4, random_state=0):
            f[test] = tight_svc(C).fit(X[train], y[train], weight[train]).decision_function(X[test])
        p = platt_posterior(np.column_stack([-f, f]), fit_platt(f, y == 1, weight)[None])
        p_true = p[np.arange(80), y]
        values = -np.log(p_true) if loss == "log" else 2 * (1 - p_true) ** 2
        assert score == pytest.approx(np.average(values, weights=weight), rel=1e-3)


def test_smallest_of_equally_good_costs_is_chosen():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0) + np.linspace(-0.1, 0.1, 40)[:, None]
    model = LinearSVMWithPosteriorsCV([100.0, 1.0, 10.0]).fit(X, np.repeat([0, 1], 20))
    assert np.all(model.cv_scores_ == 0)
    assert model.best_C_ == 1.0


def test_classes_without_rows_or_weight_do_not_crash():
    X, y, weight = three_classes(40)
    without_one = weight * (y != 1)
    model = LinearSVMWithPosteriors(random_state=0).fit(X, y, without_one)
    assert not np.any(model.predict(X) == 1)
    reference = LinearSVMWithPosteriors(random_state=0)
    reference.fit(X[y != 1], y[y != 1], weight[y != 1])
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    assert np.all(model.predict_proba(X)[:, 1] < 0.2)
    binary = LinearSVMWithPosteriorsCV(random_state=0).fit(X, y == 1, without_one)
    assert not np.any(binary.predict(X))
    assert np.all(binary.predict_proba(X)[:, 1] < 0.2)
    rare = np.where(np.arange(40) == 0, 1, 0)  # one fold trains on a single class
    assert np.isfinite(LinearSVMWithPosteriors().fit(X, rare).predict_proba(X)).all()
    alone = LinearSVMWithPosteriors().fit(X, np.full(40, "only"))
    assert set(alone.predict(X)) == {"only"}
    np.testing.assert_allclose(alone.predict_proba(X), 1.0)


def test_digits_are_told_apart_by_all():
    X, y = load_digits(return_X_y=True)
    X, y = X[:900] / 16, y[:900]
    for model in (IWLSPCCV(random_state=0), LinearSVMWithPosteriors(cv=3, random_state=0)):
        model.fit(X[:600], y[:600])
        assert model.score(X[600:], y[600:]) > 0.88
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# --- scikit-learn's ways -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [IWLSPC(), IWLSPCCV(cv=3), LinearSVMWithPosteriors(cv=3), LinearSVMWithPosteriorsCV(cv=3)],
)
def test_models_are_reproducible_and_survive_pickling_and_pipelines(model):
    X, y, weight = two_classes()
    model.set_params(random_state=3)
    first = model.fit(X, y, weight).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y, weight).predict_proba(X), first)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), first)
    pipeline = make_pipeline(StandardScaler(), model)
    name = type(model).__name__.lower()
    pipeline.fit(X, y, **{f"{name}__sample_weight": weight})
    assert pipeline.predict_proba(X).shape == (80, 2)
    with pytest.raises(TypeError, match="dense data is required"):
        model.fit(csr_matrix(X), y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (IWLSPC(sigma=-1.0), "sigma must be a positive number, got -1.0"),
        (IWLSPC(sigma="wide"), "sigma must be a positive number, got 'wide'"),
        (IWLSPC(lam=0), "lam must be a positive number, got 0"),
        (IWLSPC(n_centers=0), "n_centers must be a whole number of at least 1, got 0"),
        (IWLSPC(centers=[[0.0]]), "centers must have 3 columns like the data, got 1"),
        (IWLSPCCV(sigmas=[1.0, 0.0]), "sigmas must be a positive number, got 0.0"),
        (
            IWLSPCCV(sigmas=[]),
            "sigmas must be a positive number or a list of them, got an empty list",
        ),
        (IWLSPCCV(sigma_factors=[-1.0]), "sigma_factors must be a positive number, got -1.0"),
        (IWLSPCCV(lams=[[1.0]]), "lams must be a positive number, got [1.0]"),
        (IWLSPCCV(loss="hinge"), "loss must be one of 'zero_one', 'log', 'squared', got 'hinge'"),
        (IWLSPCCV(cv=1), "cv must be a whole number of at least 2, got 1"),
        (LinearSVMWithPosteriors(C=0.0), "C must be a positive number, got 0.0"),
        (
            LinearSVMWithPosteriors(predict_by="margin"),
            "predict_by must be one of 'posterior', 'decision', got 'margin'",
        ),
        (
            LinearSVMWithPosteriorsCV(predict_by=None),
            "predict_by must be one of 'posterior', 'decision', got None",
        ),
        (LinearSVMWithPosteriors(tol=-1), "tol must be a positive number, got -1"),
        (
            LinearSVMWithPosteriors(calibration="test"),
            "calibration must be one of 'cv', 'train', got 'test'",
        ),
        (LinearSVMWithPosteriorsCV(Cs=[np.inf]), "Cs must be a positive number, got inf"),
        (
            LinearSVMWithPosteriorsCV(loss="hinge"),
            "loss must be one of 'zero_one', 'log', 'squared'",
        ),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(model, message):
    X, y, _ = two_classes(20)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(X, y)


def test_bad_weights_are_refused_by_all():
    X, y, _ = two_classes(20)
    for model in (IWLSPC(), IWLSPCCV(), LinearSVMWithPosteriors(), LinearSVMWithPosteriorsCV()):
        with pytest.raises(ValueError, match="sample_weight must not be negative, got -1"):
            model.fit(X, y, -np.ones(20))


def test_a_singular_system_asks_for_more_penalty():
    H = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 1e20
    with pytest.raises(ValueError, match="lam must be larger"):
        iwlspc_coefficients(H - np.eye(2) * 1e19, np.ones((2, 1)), 1.0, lam=1e-9)


@pytest.mark.parametrize("make_data", [two_classes, three_classes])
def test_prediction_by_the_posterior_or_by_the_machine(make_data):
    X, y, weight = make_data()
    model = LinearSVMWithPosteriors(0.01, cv=3, random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)]
    )
    values = model.decision_function(X)
    if values.ndim == 1:
        odds = model.predict_proba(X)
        np.testing.assert_allclose(values, np.log(odds[:, 1] / odds[:, 0]), atol=1e-9)
    else:
        np.testing.assert_allclose(values, model.predict_proba(X))
    machine = clone(model).set_params(predict_by="decision").fit(X, y, weight)
    np.testing.assert_array_equal(machine.coef_, model.coef_)
    np.testing.assert_array_equal(machine.predict_proba(X), model.predict_proba(X))
    assert np.any(machine.decision_function(X) != values)


@parametrize_with_checks(
    [
        IWLSPC(),
        IWLSPCCV(cv=3),
        LinearSVMWithPosteriors(cv=3),
        LinearSVMWithPosteriors(calibration="train"),
        LinearSVMWithPosteriorsCV(cv=3),
    ]
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
