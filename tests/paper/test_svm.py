"""The linear support vector machine and its sigmoid, against LIBSVM and written-out losses."""

import numpy as np
import pytest
from labelled_rows import three_classes, two_classes
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import ddr.paper.svm
from ddr.iwcv import IWSearchCV, stratified_folds
from ddr.paper.svm import LinearSVMWithPosteriorsCV, fit_platt, platt_posterior


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
    fitted = fit_platt(decision, positive, weight) * [scale, 1.0]
    np.testing.assert_allclose(fitted, found.x, atol=1e-5)


def test_sigmoid_survives_degenerate_values():
    rng = np.random.default_rng(0)
    decision = rng.normal(size=30)
    positive = decision + rng.normal(size=30) > 0
    constant = fit_platt(np.zeros(30), positive, np.ones(30))
    k = positive.sum()
    target = (k * (k + 1) / (k + 2) + (30 - k) / (32 - k)) / 30
    assert platt_posterior(np.zeros(1), constant)[0, 1] == pytest.approx(target)
    two = fit_platt(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))
    separable = platt_posterior(np.array([1.0]), two)
    assert separable[0, 1] == pytest.approx(2 / 3)  # Platt's target for one row
    one_label = fit_platt(decision, np.zeros(30, dtype=bool), np.ones(30))
    p = platt_posterior(decision, one_label)[:, 1]
    np.testing.assert_allclose(p, 1 / 32, atol=1e-6)


def one(C=1.0, **options):
    """Nothing to choose."""
    return LinearSVMWithPosteriorsCV([C], **{"random_state": 0} | options)


def tight_svc(C):
    return SVC(kernel="linear", C=C, tol=1e-9, break_ties=True)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_machine_is_that_of_libsvm(C, weighted):
    X, y, weight = two_classes()
    weight = weight if weighted else None
    model = one(C, predict_by="decision", tol=1e-6)
    model.fit(X, y, weight)
    reference = tight_svc(C).fit(X, y, weight)
    expected = reference.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))


def test_machine_of_many_rows_and_of_equal_rows_is_that_of_libsvm():
    X, y = make_classification(1200, 5, flip_y=0.1, random_state=0)
    X = np.round(X, 1)
    weight = np.random.default_rng(0).gamma(1.0, size=1200) + 0.01
    folds = stratified_folds(y, 3, random_state=0)
    model = one(cv=folds, predict_by="decision", tol=1e-6).fit(X, y, weight)
    expected = tight_svc(1.0).fit(X, y, weight).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


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
    start = ddr.paper.svm._Machine(np.array(coef), intercept, False)
    found = ddr.paper.svm._fit_machine(X, y == 1, weight, 1e-6, start)
    reference = tight_svc(1.0).fit(X, y, weight).decision_function(X)
    np.testing.assert_allclose(found.decision(X), reference, atol=1e-4)


def test_sigmoid_is_fitted_to_held_out_decisions():
    X, y, weight = two_classes()
    weight[3:9] = 0
    kept = np.flatnonzero(weight)
    model = one(2.0, cv=4, random_state=5, tol=1e-6).fit(X, y, weight)
    held, decisions = [], []
    for train, test in stratified_folds(y[kept], 4, random_state=5):
        train, test = kept[train], kept[test]
        held.append(test)
        svc = tight_svc(2.0).fit(X[train], y[train], weight[train])
        decisions.append(svc.decision_function(X[test]))
    held, decisions = np.concatenate(held), np.concatenate(decisions)
    expected = fit_platt(decisions, y[held] == 1, weight[held])
    np.testing.assert_allclose(model.platt_, expected, atol=1e-3)


def test_fast_choice_of_cost_equals_the_generic_one():
    X, y, weight = two_classes(70)
    weight[:10] = 0
    Cs = [10.0, 0.001, 0.1]
    fast = LinearSVMWithPosteriorsCV(Cs, cv=3, random_state=0, tol=1e-6).fit(X, y, weight)
    inner = one(predict_by="decision", tol=1e-6)
    slow = IWSearchCV(inner, {"Cs": [[C] for C in sorted(Cs)]}, cv=3, random_state=0)
    slow.fit(X, y, weight)
    np.testing.assert_allclose(fast.cv_scores_, slow.cv_results_["risk"], rtol=1e-9)
    assert [fast.best_C_] == slow.best_params_["Cs"]
    assert fast.best_score_ == pytest.approx(slow.best_score_)


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_choice_of_cost_by_posteriors_scores_the_sigmoid_of_the_held_out_values(loss):
    X, y, weight = two_classes()
    model = LinearSVMWithPosteriorsCV([1e-4, 1.0], cv=4, loss=loss, random_state=0, tol=1e-6)
    model.fit(X, y, weight)
    for C, score in zip([1e-4, 1.0], model.cv_scores_, strict=True):
        f, p_true = np.empty(80), np.empty(80)
        for train, test in stratified_folds(y, 4, random_state=0):
            f[test] = tight_svc(C).fit(X[train], y[train], weight[train]).decision_function(X[test])
        p = platt_posterior(f, fit_platt(f, y == 1, weight))
        p_true = p[np.arange(80), y]
        values = -np.log(p_true) if loss == "log" else 2 * (1 - p_true) ** 2
        assert score == pytest.approx(np.average(values, weights=weight), rel=1e-3)


def test_smallest_of_equally_good_costs_is_chosen():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0) + np.linspace(-0.1, 0.1, 40)[:, None]
    model = LinearSVMWithPosteriorsCV([100.0, 1.0, 10.0]).fit(X, np.repeat([0, 1], 20))
    assert np.all(model.cv_scores_ == 0)
    assert model.best_C_ == 1.0


def test_a_class_without_weight_or_of_one_row_does_not_crash():
    X, y, weight = two_classes(40)
    model = LinearSVMWithPosteriorsCV(random_state=0).fit(X, y, weight * (y == 0))
    assert not np.any(model.predict(X))
    assert np.all(model.predict_proba(X)[:, 1] < 0.2)
    rare = np.where(np.arange(40) == 0, 1, 0)  # one fold trains on a single class
    assert np.isfinite(one().fit(X, rare).predict_proba(X)).all()


def test_one_class_and_three_are_refused_in_a_sentence():
    X, y, _ = three_classes(40)
    for labels, n in ((y, 3), (np.zeros(40, int), 1)):
        with pytest.raises(ValueError, match=f"^Only binary classification .* y has {n} classes"):
            one().fit(X, labels)


def test_prediction_by_the_posterior_or_by_the_machine():
    X, y, weight = two_classes()
    model = one(0.01, cv=3).fit(X, y, weight)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)]
    )
    values = model.decision_function(X)
    odds = model.predict_proba(X)
    np.testing.assert_allclose(values, np.log(odds[:, 1] / odds[:, 0]), atol=1e-9)
    machine = clone(model).set_params(predict_by="decision").fit(X, y, weight)
    np.testing.assert_array_equal(machine.coef_, model.coef_)
    np.testing.assert_array_equal(machine.predict_proba(X), model.predict_proba(X))
    assert np.any(machine.decision_function(X) != values)


@parametrize_with_checks([LinearSVMWithPosteriorsCV([1.0], cv=2, tol=1e-10)])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
