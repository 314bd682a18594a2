"""Algorithm 1 against a plain re-implementation, under every open choice, and its edge cases."""

from itertools import islice
from typing import ClassVar

import numpy as np
import pytest
from labelled_rows import four_clusters
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ddr import ULSIF, rounds
from ddr.algorithm import prior_ratio
from ddr.paper.choices import algorithm_1 as chosen
from ddr.paper.choices import counted_prior_ratio, settled

SIGMA, LAM = 1.1, 0.05


def three_classes(seed=0):
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0.0], [2.5, 0.0], [1.0, 2.5]])
    y = rng.choice(3, size=120, p=[0.5, 0.3, 0.2])
    t = rng.choice(3, size=90, p=[0.2, 0.3, 0.5])
    X = means[y] + rng.normal(size=(120, 2))
    return X, np.array(["a", "b", "c"])[y], means[t] + [0.5, 0.2] + 0.7 * rng.normal(size=(90, 2))


def plain_entropy(p):
    return -sum(q * np.log(q) for q in p if q > 0)


def plain_class_ratio(K, k, row_weight, divisor):
    """Equations 10 to 14 for one class; clipped where the model is negative."""
    S = K.T @ K / len(K)
    s = row_weight @ k / divisor
    return np.maximum(K @ np.linalg.solve(S + LAM * np.eye(len(S)), s), 0)


def algorithm_1(X, y, T, centers, learner, n_iter, **options):
    """Run ``n_iter`` iterations of the paper's Algorithm 1, step by step; every state in order."""
    choice = {"normalization": "posterior", "prior": "soft", "matching": "soft", "scale": "total"}
    choice |= {"components": "both", "information_prior": "target"} | options
    classes, n = np.unique(y), len(y)
    kernel = [np.exp(-cdist(rows, centers, "sqeuclidean") / (2 * SIGMA**2)) for rows in (X, T)]
    p_train = np.array([np.mean(y == c) for c in classes])
    w, beta, gamma, states = np.ones(n), np.ones(n), np.ones(len(classes)), []
    old = np.full(n, np.nan)
    for _ in range(n_iter + 1):
        model = clone(learner).fit(X, y, sample_weight=w)  # step 3
        p = model.predict_proba(T)  # step 4
        p0 = p.mean(axis=0) if choice["information_prior"] == "target" else p_train
        information = plain_entropy(p0) - np.mean([plain_entropy(row) for row in p])
        state = {"information": information, "gamma": gamma, "posteriors": p, "weights": w}
        change = np.sqrt(np.sum((w - old) ** 2) / np.sum(old**2))
        states.append(state | {"beta": beta, "change": change})
        winner = np.array([[float(row.argmax() == c) for c in range(len(classes))] for row in p])
        matched = p if choice["matching"] == "soft" else winner
        share = (p if choice["prior"] == "soft" else winner).mean(axis=0)
        gamma = share / p_train  # step 6
        beta, literal = np.ones(n), np.ones(n)
        for c, label in enumerate(classes):  # step 5
            rows, total = y == label, matched[:, c].sum()
            if choice["components"] != "prior_ratio":
                beta[rows] = plain_class_ratio(kernel[0][rows], kernel[1], matched[:, c], total)
            literal[rows] = plain_class_ratio(kernel[0][rows], kernel[1], matched[:, c], len(T))
        used = beta.copy()
        if choice["scale"] == "class":
            for label in classes:
                used[y == label] /= used[y == label].mean()
                literal[y == label] = used[y == label] * matched[:, classes == label].mean()
        used = literal if choice["normalization"] == "literal" else used
        of_row = gamma[np.searchsorted(classes, y)]
        new = {"both": used * of_row, "class_ratio": used, "prior_ratio": of_row}  # step 7
        new = new[choice["components"]]
        old, w = w, new if choice["scale"] == "none" else new / new.mean()
    return states


def assert_same(states, kept, expected, expected_kept):
    """The states that were seen are these, and this one was kept."""
    assert kept == expected_kept
    assert len(states) == len(expected)
    for state, plain in zip(states, expected, strict=True):
        for name in ("information", "gamma", "posteriors", "weights", "beta"):
            assert_allclose(getattr(state, name), plain[name], rtol=1e-6, atol=1e-8)


OPTIONS = [
    {},
    {"normalization": "literal"},
    {"prior": "hard"},
    {"matching": "hard"},
    {"matching": "hard", "normalization": "literal"},
    {"components": "class_ratio"},
    {"components": "prior_ratio"},
    {"components": "prior_ratio", "prior": "hard"},
    {"components": "class_ratio", "normalization": "literal"},
    {"scale": "class"},
    {"scale": "none"},
    {"scale": "class", "normalization": "literal"},
    {"scale": "none", "normalization": "literal"},
    {"information_prior": "train"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("problem", [four_clusters, three_classes])
def test_every_choice_is_the_plain_algorithm(options, problem):
    X, y, X_target = problem()
    centers = X_target[::6]
    ratio = ULSIF(SIGMA, LAM, centers=centers, clip="ratio")
    fixed = {"stopping": "fixed", "max_iter": 4}
    found = chosen(X, y, X_target, GaussianNB(), ratio, **fixed, **options)
    expected = algorithm_1(X, y, X_target, centers, GaussianNB(), 4, **options)
    assert_same(*found, expected, 4)


class Scripted(ClassifierMixin, BaseEstimator):
    """Gives posteriors from a list, one entry a fit, so that mutual information is known."""

    script: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.confidence_ = self.script.pop(0)
        return self

    def predict_proba(self, X):
        side = np.arange(len(X)) % 2 == 0
        p = np.where(side, self.confidence_, 1 - self.confidence_)
        return np.c_[p, 1 - p]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize(
    ("confidence", "stopping", "min_iter", "kept", "computed"),
    [
        ([0.9, 0.8, 0.7, 0.9, 0.95], "drop", 0, 0, 2),
        ([0.9, 0.8, 0.7, 0.9, 0.95], "drop", 1, 1, 3),
        ([0.6, 0.7, 0.8, 0.7, 0.95], "drop", 1, 2, 4),
        ([0.6, 0.7, 0.8, 0.9, 0.95], "drop", 1, 4, 5),
        ([0.6, 0.7, 0.7, 0.7, 0.6], "drop", 0, 1, 5),  # equal is no fall; the earliest is kept
        ([0.99, 0.8, 0.7, 0.9, 0.6], "max", 0, 0, 5),
        ([0.99, 0.8, 0.7, 0.9, 0.6], "max", 1, 3, 5),
        ([0.99, 0.8, 0.7, 0.9, 0.6], "fixed", 0, 4, 5),
    ],
)
def test_stopping_by_hand(confidence, stopping, min_iter, kept, computed):
    Scripted.script = list(confidence)
    options = {"stopping": stopping, "max_iter": 4, "min_iter": min_iter}
    states, found = chosen(*four_clusters(), Scripted(), ULSIF(1.0, 0.1), **options)
    assert (found, len(states)) == (kept, computed)
    for state, p in zip(states, confidence, strict=False):
        assert state.model.confidence_ == p
        assert_allclose(state.information, np.log(2) - plain_entropy([p, 1 - p]), rtol=1e-9)


@pytest.mark.parametrize("tol", [0.3, 0.02, 1e-3, 1e-9])
def test_stopping_when_the_weights_settle(tol):
    X, y, X_target = four_clusters()
    centers = X_target[::6]
    ratio = ULSIF(SIGMA, LAM, centers=centers)
    found = settled(rounds(X, y, X_target, GaussianNB(), ratio), max_iter=8, tol=tol)
    expected = algorithm_1(X, y, X_target, centers, GaussianNB(), 8)
    changes = [state["change"] for state in expected]
    kept = next((t for t in range(1, 9) if changes[t] < tol), 8)
    if tol == 1e-3:  # the default
        options = {"stopping": "weights", "max_iter": 8}
        assert chosen(X, y, X_target, GaussianNB(), ratio, **options)[1] == kept
    assert_same(*found, expected[: kept + 1], kept)


def test_reselect_chooses_the_width_in_each_iteration():
    X, y, X_target = three_classes()
    grid = {"sigma": np.geomspace(0.1, 4, 12), "lam": np.geomspace(1e-4, 1, 12)}
    grid["centers"] = X_target[::6]
    runs = [
        list(islice(rounds(X, y, X_target, GaussianNB(), ULSIF(**grid), reselect=reselect), 3))
        for reselect in (False, True)
    ]
    start, then = (state.posteriors for state in runs[1][:2])
    for c, label in enumerate(np.unique(y)):
        rows = y == label
        first = ULSIF(**grid).fit(X[rows], X_target, start[:, c])
        kept = ULSIF(first.sigma_, first.lam_, centers=grid["centers"])
        kept.fit(X[rows], X_target, then[:, c])
        anew = ULSIF(**grid).fit(X[rows], X_target, then[:, c])
        assert_allclose(runs[0][2].beta[rows], kept.weights_, rtol=1e-5, atol=1e-7)
        assert_allclose(runs[1][2].beta[rows], anew.weights_, rtol=1e-5, atol=1e-7)
    assert not np.allclose(runs[0][2].weights, runs[1][2].weights)


def test_prior_ratio_by_hand():
    posteriors = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.8, 0.2, 0.0]])
    train = np.array([0.5, 0.25, 0.25])
    # A class of no mass is given half of one of the four rows, then all is brought to sum one.
    assert_allclose(prior_ratio(posteriors, train), np.array([2.6, 1.4, 0.5]) / 4.5 / train)
    counted = np.array([3.0, 1.0, 0.5]) / 4.5
    assert_allclose(counted_prior_ratio(posteriors, train), counted / train)


def class_ratio(X, y, X_target, posteriors, ratio):
    """Ratio of each row within its class, given the target's posteriors."""
    states = rounds(X, y, X_target, GaussianNB(), ratio, known=posteriors)
    return list(islice(states, 2))[1].beta


def test_a_class_out_of_reach_keeps_a_ratio_of_one_and_is_noted():
    """An estimate of zero everywhere would erase the class; then the prior ratio acts alone."""
    X, y, X_target = four_clusters()
    states = rounds(X, y, X_target + 1000.0, LogisticRegression(), ULSIF(0.5, 0.1))
    first, second = islice(states, 2)
    assert first.vanished == ()
    assert second.vanished  # the classes that have any posterior mass
    assert_array_equal(second.beta, np.ones(120))


def test_an_estimate_that_underflows_is_nothing_to_match():
    """Numbers next to zero are what rounding left of it: their mean cannot scale a class."""
    X, y, X_target = four_clusters()
    far = X_target + np.array([X[:, 0].max() - X_target[:, 0].min() + 37.0, 0.0])
    estimate = ULSIF(1.0, 0.1).matcher(X, far)(np.ones(90))
    assert 0 < estimate.max() < 1e-200
    beta = class_ratio(X, y, far, np.full((90, 2), 0.5), ULSIF(1.0, 0.1))
    assert_array_equal(beta, np.ones(120))


@pytest.mark.parametrize(("mass", "matched"), [(1e-9, False), (1e-3, True)])
def test_a_class_of_next_to_no_posterior_mass_is_not_matched(mass, matched):
    X, y, X_target = four_clusters()
    posteriors = np.zeros((90, 2))
    posteriors[:, 0], posteriors[0] = 1.0, [1 - mass, mass]
    beta = class_ratio(X, y, X_target, posteriors, ULSIF(SIGMA, LAM))
    assert np.all(beta[y == 2] == 1.0) != matched


def test_what_a_row_costs_multiplies_its_weight():
    X, y, X_target = four_clusters()
    cost = np.random.default_rng(0).gamma(1.0, size=len(y))
    states = rounds(X, y, X_target, GaussianNB(), ULSIF(1.0, 0.1), sample_weight=cost)
    for state in islice(states, 3):
        expected = GaussianNB().fit(X, y, sample_weight=state.weights * cost)
        assert_allclose(state.posteriors, expected.predict_proba(X_target))


def test_the_ratio_of_a_class_of_one_row_stays_one_and_of_two_rows_does_not():
    X, y, X_target = four_clusters()
    X, y = np.vstack([X, [[2.0, 2.0], [3.0, 4.0], [9.0, 9.0]]]), np.append(y, [6, 6, 7])
    learner = LogisticRegression()
    for state in islice(rounds(X, y, X_target, learner, ULSIF(1.0, 0.1)), 1, 3):
        assert state.beta[-1] == 1
        assert (state.beta[:-1] != 1).all()
