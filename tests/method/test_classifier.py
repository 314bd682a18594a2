"""Algorithm 1 against a plain re-implementation, its edge cases, and scikit-learn's checks."""

import pickle
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr import KLIEP, KMM, ULSIF, DDRClassifier, KDERatio, ddr_weights
from ddr.discriminative import ClassRatios, prior_ratio
from ddr.paper.mixture import FourClusters
from ddr.ratio import OverlapWarning

SIGMA, LAM = 1.1, 0.05
PROPERTY = settings(deadline=None, derandomize=True, max_examples=6)


@pytest.fixture(autouse=True)
def run_in_any_case(monkeypatch):
    """Algorithm 1 is tested here; whether it is called for, in test_guard."""
    monkeypatch.setattr(DDRClassifier, "_shifted", lambda self, X, X_target: True)


def two_classes(n_train=120, n_test=90, seed=0):
    X, y = FourClusters().sample(n_train, "train", random_state=seed)
    X_target, _ = FourClusters().sample(n_test, "test", random_state=seed + 1000)
    return X, y, X_target


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
    choice = {
        "normalization": "posterior",
        "prior": "soft",
        "matching": "soft",
        "components": "both",
        "scale": "total",
        "information_prior": "target",
        **options,
    }
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
        states.append(
            {
                "mutual_information": information,
                "prior_ratio": gamma,
                "effective_sample_size": w.sum() ** 2 / (w @ w),
                "weight_change": np.sqrt(np.sum((w - old) ** 2) / np.sum(old**2)),
                "posteriors": p,
                "weights": w,
                "class_ratio": beta,
            }
        )
        winner = np.array([[float(row.argmax() == c) for c in range(len(classes))] for row in p])
        matched = p if choice["matching"] == "soft" else winner
        share = (p if choice["prior"] == "soft" else winner).mean(axis=0)
        gamma = share / p_train  # step 6
        beta, literal = np.ones(n), np.ones(n)
        for c, label in enumerate(classes):  # step 5
            rows, total = y == label, matched[:, c].sum()
            if choice["components"] != "prior_ratio":
                beta[rows] = plain_class_ratio(kernel[0][rows], kernel[1], matched[:, c], total)
            printed = plain_class_ratio(kernel[0][rows], kernel[1], matched[:, c], len(T))
            literal[rows] = printed
        used = beta.copy()
        if choice["scale"] == "class":
            for label in classes:
                used[y == label] /= used[y == label].mean()
        if choice["normalization"] == "literal":
            used = (
                literal
                if choice["scale"] != "class"
                else used * matched.mean(axis=0)[np.searchsorted(classes, y)]
            )
        of_row = gamma[np.searchsorted(classes, y)]
        new = {"both": used * of_row, "class_ratio": used, "prior_ratio": of_row}  # step 7
        new = new[choice["components"]]
        old, w = w, new if choice["scale"] == "none" else new / new.mean()
    return states


def first_drop(information, earliest):
    """Index kept when stopping at the first fall, and how many states were computed."""
    for t in range(earliest + 1, len(information)):
        if information[t] < information[t - 1]:
            return t - 1, t + 1
    return len(information) - 1, len(information)


def assert_runs_like(fitted, states, kept):
    """The fitted classifier went through these states and kept one of them."""
    assert len(fitted.history_) == len(states)
    for record, state in zip(fitted.history_, states, strict=True):
        for key in ("mutual_information", "prior_ratio", "effective_sample_size", "weight_change"):
            assert_allclose(record[key], state[key], rtol=1e-6, atol=1e-8, err_msg=key)
        assert_allclose(record["posteriors"], state["posteriors"], rtol=1e-5, atol=1e-8)
    assert fitted.n_iter_ == kept
    assert_allclose(fitted.weights_, states[kept]["weights"], rtol=1e-6, atol=1e-8)
    assert_allclose(fitted.class_ratio_, states[kept]["class_ratio"], rtol=1e-6, atol=1e-8)
    assert_allclose(fitted.prior_ratio_, states[kept]["prior_ratio"], rtol=1e-6)


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
@pytest.mark.parametrize("problem", [two_classes, three_classes])
def test_every_option_is_the_plain_algorithm(options, problem):
    X, y, X_target = problem()
    centers = X_target[::6]
    ratio = ULSIF(SIGMA, LAM, centers=centers, clip="ratio")
    fitted = DDRClassifier(
        GaussianNB(), ratio, stopping="fixed", max_iter=4, keep_posteriors=True, **options
    ).fit(X, y, X_target)
    states = algorithm_1(X, y, X_target, centers, GaussianNB(), 4, **options)
    assert_runs_like(fitted, states, kept=4)
    assert_allclose(fitted.predict_proba(X_target), states[4]["posteriors"], rtol=1e-5, atol=1e-8)
    assert_array_equal(fitted.predict(X_target), fitted.classes_[states[4]["posteriors"].argmax(1)])


@pytest.mark.parametrize("stopping", ["drop", "max", "fixed"])
@pytest.mark.parametrize("min_iter", [0, 1])
@pytest.mark.parametrize("problem", [two_classes, three_classes])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_stopping_rule_is_the_plain_algorithm(stopping, min_iter, problem, seed):
    X, y, X_target = problem(seed=seed)
    centers = X_target[::6]
    learner = LogisticRegression()
    fitted = DDRClassifier(
        learner,
        ULSIF(SIGMA, LAM, centers=centers),
        stopping=stopping,
        min_iter=min_iter,
        max_iter=6,
        keep_posteriors=True,
    ).fit(X, y, X_target)
    states = algorithm_1(X, y, X_target, centers, learner, 6)
    information = [state["mutual_information"] for state in states]
    if stopping == "drop":
        kept, computed = first_drop(information, min_iter)
    elif stopping == "max":
        kept, computed = min_iter + int(np.argmax(information[min_iter:])), 7
    else:
        kept, computed = 6, 7
    assert_runs_like(fitted, states[:computed], kept)


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
    X, y, X_target = two_classes()
    Scripted.script = list(confidence)
    fitted = DDRClassifier(
        Scripted(), ULSIF(1.0, 0.1), stopping=stopping, min_iter=min_iter, max_iter=4
    ).fit(X, y, X_target)
    assert fitted.n_iter_ == kept
    assert len(fitted.history_) == computed
    assert fitted.estimator_.confidence_ == confidence[kept]
    assert fitted.initial_estimator_.confidence_ == confidence[0]
    for record, p in zip(fitted.history_, confidence, strict=False):
        assert_allclose(
            record["mutual_information"], np.log(2) - plain_entropy([p, 1 - p]), rtol=1e-9
        )


@pytest.mark.parametrize("tol", [0.3, 0.02, 1e-9])
def test_stopping_when_the_weights_settle(tol):
    X, y, X_target = two_classes()
    centers = X_target[::6]
    fitted = DDRClassifier(
        ratio=ULSIF(SIGMA, LAM, centers=centers), stopping="weights", tol=tol, max_iter=8
    ).fit(X, y, X_target)
    states = algorithm_1(X, y, X_target, centers, GaussianNB(), 8)
    settled = [t for t in range(1, 9) if states[t]["weight_change"] < tol]
    expected = settled[0] if settled else 8
    assert fitted.n_iter_ == expected == len(fitted.history_) - 1
    assert_allclose(fitted.weights_, states[expected]["weights"], rtol=1e-5, atol=1e-7)


def test_the_tolerances_end_at_different_iterations():
    X, y, X_target = two_classes()
    ratio = ULSIF(SIGMA, LAM, centers=X_target[::6])
    ends = [
        DDRClassifier(ratio=ratio, stopping="weights", tol=tol, max_iter=8)
        .fit(X, y, X_target)
        .n_iter_
        for tol in (0.3, 0.02, 1e-9)
    ]
    assert ends[0] < ends[1] <= ends[2]


def test_reselect_chooses_the_width_in_each_iteration():
    X, y, X_target = three_classes()
    centers, sigmas, lams = X_target[::6], np.geomspace(0.1, 4, 12), np.geomspace(1e-4, 1, 12)
    runs = {
        reselect: DDRClassifier(
            ratio=ULSIF(sigmas, lams, centers=centers),
            reselect=reselect,
            stopping="fixed",
            max_iter=2,
            keep_posteriors=True,
        ).fit(X, y, X_target)
        for reselect in (False, True)
    }
    start, then = (runs[True].history_[t]["posteriors"] for t in (0, 1))
    for c, label in enumerate(runs[True].classes_):
        rows = y == label
        first = ULSIF(sigmas, lams, centers=centers).fit(X[rows], X_target, start[:, c])
        kept = ULSIF(first.sigma_, first.lam_, centers=centers)
        kept.fit(X[rows], X_target, then[:, c])
        anew = ULSIF(sigmas, lams, centers=centers).fit(X[rows], X_target, then[:, c])
        assert_allclose(runs[False].class_ratio_[rows], kept.weights_, rtol=1e-5, atol=1e-7)
        assert_allclose(runs[True].class_ratio_[rows], anew.weights_, rtol=1e-5, atol=1e-7)
    assert not np.allclose(runs[False].weights_, runs[True].weights_)


@pytest.mark.hardening("mistake")
def test_posteriors_are_kept_on_request_only():
    X, y, X_target = two_classes()
    assert "posteriors" not in DDRClassifier().fit(X, y, X_target).history_[0]
    kept = DDRClassifier(keep_posteriors=True).fit(X, y, X_target).history_
    assert all(record["posteriors"].shape == (90, 2) for record in kept)


def test_the_literal_normalisation_counts_the_prior_twice():
    """Weights under eq. 14 as printed are the others times each class's share of the target."""
    X, y, X_target = two_classes()
    ratio = ULSIF(SIGMA, LAM, centers=X_target[::6])
    plain, literal = (
        DDRClassifier(ratio=ratio, normalization=n, scale="none", stopping="fixed", max_iter=1).fit(
            X, y, X_target
        )
        for n in ("posterior", "literal")
    )
    share = GaussianNB().fit(X, y).predict_proba(X_target).mean(axis=0)
    assert_allclose(literal.weights_, plain.weights_ * share[y - 1], rtol=1e-9)


def test_prior_ratio_by_hand():
    posteriors = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.8, 0.2, 0.0]])
    train = np.array([0.5, 0.25, 0.25])
    # A class of no mass is given half of one of the four rows, then all is brought to sum one.
    soft = np.array([2.6, 1.4, 0.5]) / 4.5
    hard = np.array([3.0, 1.0, 0.5]) / 4.5
    assert_allclose(prior_ratio(posteriors, train), soft / train)
    assert_allclose(prior_ratio(posteriors, train, "hard"), hard / train)
    with pytest.raises(ValueError, match="counting must be one of 'soft', 'hard', got 'both'"):
        prior_ratio(posteriors, train, "both")


def test_class_ratios_see_only_their_class():
    X, y, X_target = two_classes()
    codes = y - 1
    ratios = ClassRatios(ULSIF(SIGMA, LAM), X, codes, X_target, reselect=False)
    posteriors = np.random.default_rng(0).dirichlet([1, 1], size=90)
    moved = X.copy()
    moved[codes == 1] += 3.0
    others = ClassRatios(ULSIF(SIGMA, LAM), moved, codes, X_target, reselect=False)
    rows = codes == 0
    assert_allclose(ratios(posteriors)[rows], others(posteriors)[rows], rtol=1e-12)
    assert not np.allclose(ratios(posteriors)[~rows], others(posteriors)[~rows])


def test_a_class_out_of_reach_keeps_a_ratio_of_one():
    """An estimate of zero everywhere would erase the class; then the prior ratio acts alone."""
    X, y, X_target = two_classes()
    ratios = ClassRatios(ULSIF(0.5, 0.1), X, y - 1, X_target + 1000.0, reselect=False)
    assert_array_equal(ratios(np.full((90, 2), 0.5)), np.ones(120))


def test_an_estimate_that_underflows_is_nothing_to_match():
    """Subnormal numbers are what rounding left of zero: their mean cannot scale a class."""
    X, y, X_target = two_classes()
    far = X_target + np.array([X[:, 0].max() - X_target[:, 0].min() + 38.0, 0.0])
    estimate = ULSIF(1.0, 0.1).matcher(X, far)(np.ones(90))
    assert 0 < estimate.max() < 1e-300
    ratios = ClassRatios(ULSIF(1.0, 0.1), X, y - 1, far, reselect=False)
    assert_array_equal(ratios(np.full((90, 2), 0.5)), np.ones(120))
    works(X, y, far, OverlapWarning, ratio=ULSIF(1.0, 0.1), scale="class", max_iter=1)


@pytest.mark.parametrize(("mass", "matched"), [(1e-9, False), (1e-3, True)])
def test_a_class_of_next_to_no_posterior_mass_is_not_matched(mass, matched):
    X, y, X_target = two_classes()
    ratios = ClassRatios(ULSIF(SIGMA, LAM), X, y - 1, X_target, reselect=False)
    posteriors = np.zeros((90, 2))
    posteriors[:, 0], posteriors[0] = 1.0, [1 - mass, mass]
    assert np.all(ratios(posteriors)[y == 2] == 1.0) != matched


@pytest.mark.parametrize("ratio", [ULSIF(), KLIEP(n_folds=3), KMM(), KDERatio()], ids=repr)
@pytest.mark.parametrize("reselect", [False, True])
def test_every_ratio_serves(ratio, reselect):
    X, y, X_target = two_classes(100, 80)
    fitted = DDRClassifier(ratio=ratio, reselect=reselect, max_iter=2, random_state=0)
    fitted.fit(X, y, X_target)
    assert_allclose(fitted.weights_.mean(), 1.0)
    assert fitted.weights_.min() >= 0
    # The smaller cluster of each class grows in the target, so its rows must gain weight.
    small = (X[:, 0] > 2.5) == (y == 1)
    assert fitted.weights_[small].mean() > 1.2 * fitted.weights_[~small].mean()


@pytest.mark.parametrize(
    "learner",
    [GaussianNB(), LogisticRegression(), RandomForestClassifier(20), SVC(probability=True)],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.filterwarnings("ignore:.*probability.*")
def test_every_weighted_learner_with_posteriors_serves(learner):
    X, y, X_target = two_classes()
    one, same = (
        DDRClassifier(learner, ULSIF(1.0, 0.1), max_iter=2, random_state=0).fit(X, y, X_target)
        for _ in range(2)
    )
    assert_array_equal(one.weights_, same.weights_)
    assert_array_equal(one.predict_proba(X_target), same.predict_proba(X_target))
    assert isinstance(one.estimator_, type(learner))


def test_a_pipeline_scales_and_gives_the_weights_to_its_learner():
    X, y, X_target = two_classes()
    X, X_target = X * [1, 100], X_target * [1, 100]
    ratio = ULSIF(30.0, 0.1, centers=X_target[::6])
    options = {"ratio": ratio, "stopping": "fixed", "max_iter": 2}
    piped = DDRClassifier(make_pipeline(StandardScaler(), LogisticRegression()), **options)
    piped.fit(X, y, X_target)
    scaler = StandardScaler().fit(X)
    by_hand = LogisticRegression().fit(scaler.transform(X), y, piped.weights_)
    expected = by_hand.predict_proba(scaler.transform(X_target))
    assert_allclose(piped.predict_proba(X_target), expected, rtol=1e-9)
    unweighted = LogisticRegression().fit(scaler.transform(X), y)
    gap = expected - unweighted.predict_proba(scaler.transform(X_target))
    assert np.abs(gap).max() > 0.01


def test_adaptation_helps_on_the_papers_mixture():
    plain, adapted = [], []
    for seed in range(5):
        X, y = FourClusters().sample(300, "train", random_state=seed)
        X_target, y_target = FourClusters().sample(1000, "test", random_state=seed + 100)
        plain.append(GaussianNB().fit(X, y).score(X_target, y_target))
        adapted.append(DDRClassifier(random_state=0).fit(X, y, X_target).score(X_target, y_target))
    assert np.mean(adapted) > np.mean(plain) + 0.005


def test_weights_near_the_true_joint_ratio():
    """The estimated w(x, y) comes closer to the true one (eq. 5) than an estimate of beta(x)."""
    mixture = FourClusters()
    X, y = mixture.sample(2000, "train", random_state=0)
    X_target, _ = mixture.sample(2000, "test", random_state=1)
    true = mixture.joint_ratio(X, y)
    fitted = DDRClassifier(random_state=0, scale="none").fit(X, y, X_target)
    marginal = ULSIF(random_state=0).fit(X, X_target).weights_

    def error(estimate):
        return np.mean((estimate - true) ** 2) / np.mean((true - 1) ** 2)

    assert error(fitted.weights_) < 0.25
    assert error(fitted.weights_) < 0.9 * error(marginal)
    assert_allclose(fitted.prior_ratio_, mixture.prior_ratio([1, 2]), atol=0.1)


def test_risk_identity_holds_for_joint_weights_and_fails_for_marginal_ones():
    """Equation 2 by Monte Carlo, for the boundary half-way between the classes."""
    mixture, n = FourClusters(), 200_000
    X, y = mixture.sample(n, "train", random_state=0)
    X_target, y_target = mixture.sample(n, "test", random_state=1)
    loss = ((X[:, 1] > 3) != (y == 1)).astype(float)
    target_loss = ((X_target[:, 1] > 3) != (y_target == 1)).astype(float)

    def mean_and_error(values):
        return values.mean(), values.std() / np.sqrt(n)

    risk, risk_error = mean_and_error(target_loss)
    joint, joint_error = mean_and_error(loss * mixture.joint_ratio(X, y))
    marginal, marginal_error = mean_and_error(loss * mixture.marginal_ratio(X))
    assert abs(joint - risk) < 4 * np.hypot(joint_error, risk_error)
    assert abs(marginal - risk) > 10 * np.hypot(marginal_error, risk_error)


def test_without_a_target_nothing_is_weighted():
    X, y, X_target = two_classes()
    with pytest.warns(UserWarning, match="X_target was not given"):
        fitted = DDRClassifier().fit(X, y)
    assert_array_equal(fitted.weights_, np.ones(120))
    assert_array_equal(fitted.class_ratio_, np.ones(120))
    assert_array_equal(fitted.prior_ratio_, np.ones(2))
    assert (fitted.n_iter_, fitted.history_) == (1, [])
    assert fitted.initial_estimator_ is fitted.estimator_
    plain = GaussianNB().fit(X, y)
    assert_array_equal(fitted.predict_proba(X_target), plain.predict_proba(X_target))


def test_no_shift_gives_weights_near_one():
    X, y = FourClusters().sample(3000, "train", random_state=0)
    X_target, _ = FourClusters().sample(3000, "train", random_state=1)
    fitted = DDRClassifier(random_state=0).fit(X, y, X_target)
    assert np.mean((fitted.weights_ - 1) ** 2) < 0.1
    assert_allclose(fitted.prior_ratio_, 1.0, atol=0.1)


def test_ddr_weights_are_those_of_the_classifier():
    X, y, X_target = two_classes()
    fitted = DDRClassifier(LogisticRegression(), ULSIF(1.0, 0.1), prior="hard").fit(X, y, X_target)
    weights = ddr_weights(X, y, X_target, LogisticRegression(), ULSIF(1.0, 0.1), prior="hard")
    assert_array_equal(weights, fitted.weights_)


def works(X, y, X_target, allowed=None, **options):
    """Fit without a warning, but for those allowed, and check what is promised of the weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if allowed is not None:
            warnings.simplefilter("ignore", allowed)
        fitted = DDRClassifier(random_state=0, **options).fit(X, y, X_target)
    assert fitted.weights_.shape == (len(X),)
    assert np.all(np.isfinite(fitted.weights_))
    assert fitted.weights_.min() >= 0
    assert_allclose(fitted.weights_.mean(), 1.0)
    assert np.all(np.isfinite(fitted.prior_ratio_))
    assert fitted.prior_ratio_.min() > 0
    assert np.all(np.isfinite([r["mutual_information"] for r in fitted.history_]))
    return fitted


@pytest.mark.parametrize("options", [{}, {"matching": "hard"}, {"prior": "hard"}], ids=str)
def test_a_class_that_vanishes_from_the_predictions(options):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 30.0 * y[:, None]
    X_target = rng.normal(size=(50, 2))  # all of class 0, beyond doubt
    fitted = works(X, y, X_target, **options)
    assert_array_equal(fitted.predict(X_target), 0)
    share = np.array([1.0, 0.5 / 50]) / 1.01  # half a row is left to the other class
    assert_allclose(fitted.prior_ratio_, share / 0.5, rtol=1e-9)
    assert_array_equal(fitted.class_ratio_[y == 1], 1.0)  # nothing to match
    assert fitted.weights_[y == 1].min() > 0


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_a_vanished_class_under_the_literal_normalisation_has_no_nan():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X, X_target = rng.normal(size=(80, 2)) + 30.0 * y[:, None], rng.normal(size=(50, 2))
    weights = ddr_weights(X, y, X_target, normalization="literal", matching="hard", random_state=0)
    assert np.all(np.isfinite(weights))
    assert_array_equal(weights[y == 1], 0.0)


def test_a_class_with_one_training_row():
    X, y, X_target = two_classes()
    rare = np.where(np.arange(120) == 7, 3, y)
    fitted = works(X, rare, X_target)
    assert fitted.class_ratio_[7] == 1.0  # the prior ratio acts alone
    assert fitted.classes_.tolist() == [1, 2, 3]


def test_constant_columns():
    X, y, X_target = two_classes()
    plain = works(X, y, X_target)
    padded = works(np.c_[X, np.full(120, 7.0)], y, np.c_[X_target, np.full(90, 7.0)])
    assert_allclose(padded.weights_, plain.weights_, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scikit-learn's own, before our error
def test_only_constant_columns_get_one_clear_error():
    message = r"estimator must give finite posteriors, got NaN from GaussianNB\(\): check the scale"
    with pytest.raises(ValueError, match=message):
        DDRClassifier().fit(np.ones((6, 2)), [0, 1] * 3, np.ones((4, 2)))
    fitted = works(np.ones((6, 2)), [0, 1] * 3, np.ones((4, 2)), estimator=LogisticRegression())
    assert_allclose(fitted.weights_, 1.0)


def test_duplicated_rows():
    X, y, X_target = two_classes()
    fitted = works(
        np.repeat(X[:20], 6, axis=0), np.repeat(y[:20], 6), np.repeat(X_target, 4, axis=0)
    )
    assert_allclose(fitted.weights_[::6], fitted.weights_[5::6], rtol=1e-9)


@pytest.mark.parametrize("n_test", [1, 2, 7])
def test_fewer_target_rows_than_centers(n_test):
    X, y, X_target = two_classes()
    works(X, y, X_target[:n_test], allowed=OverlapWarning)  # a point draws weight to few rows


def test_one_row_of_each_class():
    fitted = works([[0.0], [1.0]], ["no", "yes"], [[0.1], [0.2], [0.9]])
    assert_array_equal(fitted.class_ratio_, 1.0)


def test_one_class_only_gets_one_clear_error():
    message = "y must have at least 2 classes to tell apart, got one class, 'a'"
    with pytest.raises(ValueError, match=message):
        DDRClassifier().fit([[0.0], [1.0]], ["a", "a"], [[0.5]])


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e20, 1e140])
def test_huge_and_tiny_scales(scale):
    X, y, X_target = two_classes()
    plain = works(X, y, X_target)
    assert_allclose(works(scale * X, y, scale * X_target).weights_, plain.weights_, rtol=1e-5)


def test_magnitudes_that_overflow_get_one_clear_error():
    X, y, X_target = two_classes()
    sentence = r"must hold numbers of magnitude at most 1e\+150, got .*: rescale the data"
    with pytest.raises(ValueError, match="X_target " + sentence):
        DDRClassifier().fit(X, y, 1e200 * X_target)
    with pytest.raises(ValueError, match="X " + sentence), np.errstate(all="ignore"):
        DDRClassifier().fit(1e200 * X, y, X_target)


@pytest.mark.parametrize("ratio", [ULSIF(), KLIEP(), KMM(), KDERatio()], ids=repr)
@pytest.mark.parametrize("offset", [20.0, 1000.0])
def test_overlap_warning_when_the_target_lies_elsewhere(ratio, offset):
    X, y, X_target = two_classes()
    with pytest.warns(OverlapWarning, match="training and test samples hardly overlap") as caught:
        fitted = DDRClassifier(ratio=ratio, max_iter=2).fit(X, y, X_target + offset)
    overlap = [w for w in caught if w.category is OverlapWarning]
    assert len(overlap) == 1
    assert overlap[0].filename == __file__
    assert np.all(np.isfinite(fitted.weights_))


def test_overlap_warning_when_few_rows_carry_the_weight():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(150, 1)), [[6.0]], rng.normal(-3, 1, (150, 1)), [[6.1]]]
    y = np.repeat([0, 1], 151)
    with pytest.warns(OverlapWarning, match="the weights rest on"):
        DDRClassifier(ratio=ULSIF(0.3, 0.1)).fit(X, y, rng.normal(6, 0.1, (60, 1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalization": "x"}, "normalization must be one of 'posterior', 'literal', got 'x'"),
        ({"prior": "x"}, "prior must be one of 'soft', 'hard', got 'x'"),
        ({"matching": "x"}, "matching must be one of 'soft', 'hard', got 'x'"),
        ({"components": "x"}, "components must be one of 'both', 'class_ratio', 'prior_ratio'"),
        ({"scale": "x"}, "scale must be one of 'total', 'class', 'none', got 'x'"),
        ({"stopping": "x"}, "stopping must be one of 'drop', 'max', 'weights', 'fixed', got 'x'"),
        ({"information_prior": "x"}, "information_prior must be one of 'target', 'train', got 'x'"),
        ({"min_iter": 2}, "min_iter must be one of 0, 1, got 2"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"tol": 0.0}, "tol must be a positive number, got 0.0"),
        ({"ratio": ULSIF(-1.0)}, "sigma must be a positive number, got -1.0"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_clear_sentence(options, message):
    X, y, X_target = two_classes()
    with pytest.raises(ValueError, match=message):
        DDRClassifier(**options).fit(X, y, X_target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LinearSVC()}, r"estimator must have predict_proba, got LinearSVC\(\)"),
        (
            {"estimator": KNeighborsClassifier()},
            "estimator must accept sample_weight in fit, got KNeighborsClassifier",
        ),
        (
            {"estimator": make_pipeline(StandardScaler(), KNeighborsClassifier())},
            "estimator must accept sample_weight in fit, got Pipeline",
        ),
        (
            {"estimator": "bayes"},
            r"estimator must be a classifier like .*NB\(\), got 'bayes'",
        ),
        ({"estimator": GaussianNB}, r"estimator must be a classifier like .*, got <class 'sklearn"),
        (
            {"ratio": GaussianNB()},
            r"ratio must be a density-ratio .* like ULSIF\(\), got Gauss",
        ),
        (
            {"ratio": "ulsif"},
            r"ratio must be a density-ratio estimator of ddr .*, got 'ulsif'",
        ),
        ({"ratio": ULSIF}, "ratio must be a density-ratio estimator of .*, got <class 'ddr.ulsif"),
    ],
)
def test_unfit_parts_get_one_clear_sentence(options, message):
    X, y, X_target = two_classes()
    with pytest.raises(TypeError, match=message):
        DDRClassifier(**options).fit(X, y, X_target)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ratios_that_are_not_finite_name_their_parameter():
    X, y, X_target = two_classes()
    with pytest.raises(ValueError, match=r"sigma must be larger, got .*: the weights of KDER"):
        DDRClassifier(ratio=KDERatio(1e-300)).fit(X, y, X_target)


def test_sparse_and_misshapen_input_get_one_clear_sentence():
    X, y, X_target = two_classes()
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is"):
        DDRClassifier().fit(csr_array(X), y, X_target)
    with pytest.raises(TypeError, match="Sparse data was passed for X_target, but dense data is"):
        DDRClassifier().fit(X, y, csr_array(X_target))
    with pytest.raises(ValueError, match="Input X_target contains NaN"):
        DDRClassifier().fit(X, y, X_target * np.nan)
    with pytest.raises(ValueError, match="X_target has 1 features, but DDRClassifier is expecti"):
        DDRClassifier().fit(X, y, X_target[:, :1])
    with pytest.raises(ValueError, match="X_target must hold the rows of a sample, got None"):
        ddr_weights(X, y, None)
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        DDRClassifier().fit(X, y, X_target[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DDRClassifier().fit(X, y[:-1], X_target)
    with pytest.raises(ValueError, match="Unknown label type"):
        DDRClassifier().fit(X, X[:, 0], X_target)
    with pytest.raises(NotFittedError):
        DDRClassifier().predict(X)
    with pytest.raises(NotFittedError):
        DDRClassifier().predict_proba(X)


def test_clone_and_pickle():
    X, y, X_target = two_classes()
    model = DDRClassifier(LogisticRegression(C=2.0), KLIEP(1.0), prior="hard", random_state=3)
    assert repr(clone(model)) == repr(model)
    fitted = clone(model).fit(X, y, X_target)
    assert not hasattr(model, "weights_")
    assert not hasattr(model.ratio, "weights_")
    assert not hasattr(model.estimator, "coef_")
    restored = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(restored.predict_proba(X_target), fitted.predict_proba(X_target))
    assert_array_equal(restored.weights_, fitted.weights_)


def test_pandas_input_keeps_its_names():
    X, y, X_target = two_classes()
    frame, target = (pd.DataFrame(rows, columns=["height", "width"]) for rows in (X, X_target))
    model = DDRClassifier(ratio=ULSIF(1.0, 0.1))
    fitted = clone(model).fit(frame, pd.Series(y, name="label"), target)
    assert fitted.feature_names_in_.tolist() == ["height", "width"]
    assert_allclose(fitted.weights_, clone(model).fit(X, y, X_target).weights_, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(target)
    with pytest.raises(ValueError, match="feature names should match"):
        clone(model).fit(frame, y, target.rename(columns={"width": "depth"}))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(target[["width", "height"]])


def test_random_state_decides_everything():
    X, y, X_target = two_classes(120, 300)

    def weights(seed, ratio=None):
        return DDRClassifier(ratio=ratio, random_state=seed).fit(X, y, X_target).weights_

    assert_array_equal(weights(0), weights(0))
    assert not np.array_equal(weights(0), weights(1))
    # A seed given to the ratio itself is respected.
    seeded = ULSIF(random_state=5)
    assert_array_equal(weights(0, seeded), weights(1, seeded))


@PROPERTY
@given(seed=st.integers(0, 10**6))
def test_permuting_training_rows_permutes_the_weights(seed):
    X, y, X_target = two_classes(60, 50, seed)
    order = np.random.default_rng(seed).permutation(60)
    model = DDRClassifier(ratio=ULSIF(SIGMA, LAM), stopping="fixed", max_iter=2)
    weights = clone(model).fit(X, y, X_target).weights_
    permuted = clone(model).fit(X[order], y[order], X_target).weights_
    assert_allclose(permuted, weights[order], rtol=1e-6, atol=1e-8)


@PROPERTY
@given(seed=st.integers(0, 10**6), shift=st.floats(-50, 50))
def test_moving_the_origin_changes_nothing(seed, shift):
    X, y, X_target = two_classes(60, 50, seed)
    model = DDRClassifier(ratio=ULSIF(SIGMA, LAM), stopping="fixed", max_iter=2)
    weights = clone(model).fit(X, y, X_target).weights_
    moved = clone(model).fit(X + shift, y, X_target + shift).weights_
    assert_allclose(moved, weights, rtol=1e-5, atol=1e-7)


@PROPERTY
@given(seed=st.integers(0, 10**6))
def test_renaming_the_labels_changes_nothing(seed):
    X, y, X_target = two_classes(60, 50, seed)
    model = DDRClassifier(ratio=ULSIF(SIGMA, LAM), stopping="fixed", max_iter=2)
    plain = clone(model).fit(X, y, X_target)
    names = np.array(["zebra", "ant"])  # also turns their order round
    named = clone(model).fit(X, names[y - 1], X_target)
    assert_allclose(named.weights_, plain.weights_, rtol=1e-6, atol=1e-8)
    assert_allclose(named.prior_ratio_[::-1], plain.prior_ratio_, rtol=1e-6)
    assert_array_equal(named.predict(X_target), names[plain.predict(X_target) - 1])


@PROPERTY
@given(
    seed=st.integers(0, 10**6),
    n_test=st.integers(1, 40),
    m=st.integers(2, 4),
    options=st.sampled_from([{}, {"scale": "class"}, {"matching": "hard"}, {"prior": "hard"}]),
)
def test_weights_are_finite_not_negative_and_of_mean_one(seed, n_test, m, options):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(m), rng.integers(0, m, 40)]
    X = rng.normal(size=(len(y), 3)) + y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)
        weights = ddr_weights(
            X, y, rng.normal(1, 1, (n_test, 3)), max_iter=2, random_state=0, **options
        )
    assert np.all(np.isfinite(weights))
    assert weights.min() >= 0
    assert_allclose(weights.mean(), 1.0)


@parametrize_with_checks(
    [DDRClassifier(), DDRClassifier(LogisticRegression(max_iter=500), scale="class")]
)
@pytest.mark.filterwarnings("ignore:X_target was not given")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
