"""The correction of the prior, number by number, against other code."""

import numpy as np
import pytest
from labelled_rows import two_normal
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import f
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ddr.guard.prior import AdjustedClassifier, Crossfit, calibrate, em_prior, logarithms
from ddr.iwcv import stratified_folds


def three_normal(n, n_target, seed=0):
    rng = np.random.default_rng(seed)
    y, t = rng.permutation(np.arange(n) % 3), rng.choice(3, n_target, p=[0.5, 0.3, 0.2])
    means = np.array([[0.0, 0], [1.5, 0], [0, 1.5]])
    X, X_target = (means[c] + rng.normal(size=(len(c), 2)) for c in (y, t))
    return X, y, X_target, rng.gamma(2.0, size=n)


def test_calibration_is_the_minimum_of_the_written_out_loss():
    X, y, _, weight = three_normal(60, 1)
    log = 1.7 * GaussianNB().fit(X, y).predict_log_proba(X) + [0.5, 0, -1]

    def loss(free, temperature=None):
        values = free if temperature is None else [temperature, *free]
        scores = values[0] * log + values[1:]
        own = scores[np.arange(60), y] - np.log(np.exp(scores).sum(axis=1))
        pull = (values[0] - 1) ** 2 + np.sum(np.square(values[1:]))
        return -np.average(own, weights=weight) + 0.3 / 2 * pull

    options = {"method": "Nelder-Mead", "options": {"maxiter": 9000, "xatol": 1e-9, "fatol": 1e-13}}
    temperature, offset = calibrate(log, y, weight, ridge=0.3)
    expected = minimize(loss, [1.0, 0, 0, 0], **options).x
    assert_allclose([temperature, *offset], expected, atol=2e-3)
    temperature, offset = calibrate(log, y, weight, temperature=False, ridge=0.3)
    assert temperature == 1
    assert_allclose(offset, minimize(loss, [0.0, 0, 0], args=(1.0,), **options).x, atol=2e-3)


def test_the_temperature_is_positive_or_left_at_one():
    X, y, _, _ = three_normal(60, 1)
    log = GaussianNB().fit(X, y).predict_log_proba(X)
    assert calibrate(-log, y, ridge=1e-6)[0] == 0.01  # posteriors that say the opposite
    assert calibrate(log / 9, y, temperature=False)[0] == 1


def test_a_class_that_no_row_has_keeps_half_a_row():
    posteriors = np.array([[1 - 1e-9, 1e-9]] * 20)
    assert_allclose(em_prior(posteriors, np.array([0.5, 0.5])), np.array([1, 0.025]) / 1.025)


def test_each_row_is_scored_by_the_model_of_its_fold():
    X, y, X_target, weight = three_normal(50, 34)
    found, rng = Crossfit(GaussianNB(), X, y, X_target, weight), np.random.RandomState(0)
    folds = stratified_folds(y, 5, rng)
    deal = rng.permutation(np.arange(34) % 5)
    for k, (train, held_out) in enumerate(folds):
        model = GaussianNB().fit(X[train], y[train], weight[train])
        assert_allclose(found.source[held_out], model.predict_proba(X[held_out]))
        assert_allclose(found.target[deal == k], model.predict_proba(X_target[deal == k]))
    assert_array_equal(found.target_fold, deal)


def test_p_value_of_an_unchanged_prior_is_hotellings_written_out():
    """Differences of means within folds, and the scatter about the means of the folds."""
    X, y, X_target, weight = three_normal(40, 31)
    found = Crossfit(GaussianNB(), X, y, X_target, weight)
    apart, scatter = np.zeros(2), np.zeros((2, 2))
    for k in range(5):
        rows, others = found.fold == k, found.target_fold == k
        share = others.mean()
        parts = (found.source[rows, 1:], weight[rows]), (found.target[others, 1:], None)
        means = [np.average(values, axis=0, weights=w) for values, w in parts]
        apart += share * (means[1] - means[0])
        for (values, w), mean in zip(parts, means, strict=True):
            each = np.full(len(values), 1 / len(values)) if w is None else w / w.sum()
            for row, part in zip(values, each, strict=True):
                scatter += (share * part) ** 2 * np.outer(row - mean, row - mean)
    freedom = 40 + 31 - 10
    t2 = apart @ np.linalg.solve(scatter, apart)
    expected = f.sf(t2 * (freedom - 1) / (2 * freedom), 2, freedom - 1)
    assert 0.001 < expected < 0.9
    assert_allclose(found.unchanged(), expected, rtol=1e-6)


def test_a_learner_that_says_the_same_of_every_row_shows_no_change():
    X, y, X_target, _ = three_normal(60, 30)
    learner = DummyClassifier(strategy="uniform")
    assert Crossfit(learner, X, y, X_target).unchanged() == 1.0


def test_em_finds_the_likeliest_prior():
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet([1, 1], 50)
    train = np.array([0.3, 0.7])

    def loss(p):
        return -np.log(posteriors @ (np.array([p, 1 - p]) / train)).sum()

    best = minimize_scalar(loss, bounds=(0.01, 0.99), method="bounded").x
    assert_allclose(em_prior(posteriors, train)[0], best, atol=1e-4)


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression()], ids=["NB", "LR"])
def test_p_value_of_an_unchanged_prior_is_one(learner):
    p = []
    for seed in range(150):
        (X, y), (X_target, _) = two_normal(100, 0.3, seed), two_normal(80, 0.3, 1000 + seed)
        p.append(Crossfit(learner, X, y, X_target).unchanged())
    assert np.mean(np.array(p) < 0.05) < 0.1
    assert np.mean(np.array(p) < 0.2) < 0.28
    assert 0.45 < np.mean(p) < 0.55
    (X, y), (X_target, _) = two_normal(200, 0.3, 0), two_normal(200, 0.6, 1)
    assert Crossfit(learner, X, y, X_target).unchanged() < 1e-4


def test_condition_says_whether_the_learner_tells_the_prior():
    X, y = two_normal(300, 0.5, 0, gap=6)
    assert Crossfit(GaussianNB(), X, y, X).condition() < 1.2
    assert Crossfit(GaussianNB(), X, np.random.default_rng(0).permutation(y), X).condition() > 8


def test_adjusting_is_bayes_rule():
    X, y = two_normal(100, 0.5, 0)
    model = GaussianNB().fit(X, y)
    wanted = model.predict_proba(X) * [0.4, 1.6]
    adjusted = AdjustedClassifier(model, offset=np.log([0.4, 1.6]))
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert_allclose(adjusted.predict_proba(X), wanted, rtol=1e-6)
    assert_array_equal(adjusted.predict(X), wanted.argmax(axis=1))
    assert np.all(np.isfinite(logarithms(np.array([[0.0, 1.0]]))))
