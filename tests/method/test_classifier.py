"""DDRClassifier: Algorithm 1 as a scikit-learn classifier, its edge cases and its sentences."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_rows import four_clusters
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr import KLIEP, KMM, ULSIF, DDRClassifier, KDERatio, ddr_weights
from ddr.algorithm import rounds, until_drop
from ddr.paper.choices import fixed
from ddr.paper.mixture import FourClusters
from ddr.ratio import OverlapWarning

SIGMA, LAM = 1.1, 0.05
PROPERTY = settings(deadline=None, derandomize=True, max_examples=6)
FIXED = DDRClassifier(ratio=ULSIF(SIGMA, LAM), stopping=fixed, max_iter=2)


def test_it_runs_algorithm_1_whether_or_not_the_samples_differ():
    X, y, X_target = four_clusters()
    ratio = ULSIF(SIGMA, LAM, centers=X_target[::6])
    for target in (X_target, X):
        fitted = DDRClassifier(LogisticRegression(), ratio).fit(X, y, target)
        states, kept = until_drop(rounds(X, y, target, LogisticRegression(), ratio))
        assert (fitted.n_iter_, len(fitted.history_)) == (kept, len(states))
        assert_array_equal(fitted.weights_, states[kept].weights)
        assert_array_equal(fitted.class_ratio_, states[kept].beta)
        assert_array_equal(fitted.prior_ratio_, states[kept].gamma)
        assert_array_equal(fitted.predict_proba(target), states[kept].posteriors)
        said = [state.posteriors.argmax(axis=1) for state in (states[0], states[kept])]
        assert fitted.agreement_ == np.mean(said[0] == said[1])
        for record, state in zip(fitted.history_, states, strict=True):
            w = state.weights
            assert record["mutual_information"] == state.information
            assert_allclose(record["effective_sample_size"], w.sum() ** 2 / (w @ w))
        first, second = states[:2]
        change = np.sqrt(np.sum((second.weights - first.weights) ** 2) / len(y))
        assert_allclose(fitted.history_[1]["weight_change"], change)


def test_weights_near_the_true_joint_ratio():
    """The estimated w(x, y) comes closer to the true one (eq. 5) than an estimate of beta(x)."""
    mixture = FourClusters()
    X, y = mixture.sample(2000, "train", random_state=0)
    X_target, _ = mixture.sample(2000, "test", random_state=1)
    true = mixture.joint_ratio(X, y)
    fitted = DDRClassifier(random_state=0).fit(X, y, X_target)
    marginal = ULSIF(random_state=0).fit(X, X_target).weights_

    def error(estimate):
        return np.mean((estimate - true) ** 2) / np.mean((true - 1) ** 2)

    assert error(fitted.weights_) < 0.25
    assert error(fitted.weights_) < 0.9 * error(marginal)
    assert_allclose(fitted.prior_ratio_, mixture.prior_ratio([1, 2]), atol=0.1)


def test_without_a_target_nothing_is_weighted():
    X, y, X_target = four_clusters()
    with pytest.warns(UserWarning, match="X_target was not given"):
        fitted = DDRClassifier().fit(X, y)
    assert_array_equal(fitted.weights_, np.ones(120))
    assert_array_equal(fitted.class_ratio_, np.ones(120))
    assert_array_equal(fitted.prior_ratio_, np.ones(2))
    assert (fitted.n_iter_, len(fitted.history_), fitted.agreement_) == (1, 1, 1.0)
    assert fitted.initial_estimator_ is fitted.estimator_
    plain = GaussianNB().fit(X, y)
    assert_array_equal(fitted.predict_proba(X_target), plain.predict_proba(X_target))


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


def test_a_class_that_vanishes_from_the_predictions():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 30.0 * y[:, None]
    X_target = rng.normal(size=(50, 2))  # all of class 0, beyond doubt
    fitted = works(X, y, X_target)
    assert_array_equal(fitted.predict(X_target), 0)
    share = np.array([1.0, 0.5 / 50]) / 1.01  # half a row is left to the other class
    assert_allclose(fitted.prior_ratio_, share / 0.5, rtol=1e-9)
    assert_array_equal(fitted.class_ratio_[y == 1], 1.0)  # nothing to match
    assert fitted.weights_[y == 1].min() > 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scikit-learn's own, before our error
def test_only_constant_columns_get_one_clear_error():
    message = "estimator must give finite posteriors, got NaN: check the scale of X"
    with pytest.raises(ValueError, match=message):
        DDRClassifier().fit(np.ones((6, 2)), [0, 1] * 3, np.ones((4, 2)))
    fitted = works(np.ones((6, 2)), [0, 1] * 3, np.ones((4, 2)), estimator=LogisticRegression())
    assert_allclose(fitted.weights_, 1.0)


@pytest.mark.parametrize("ratio", [ULSIF(), KLIEP(), KMM(), KDERatio()], ids=repr)
@pytest.mark.parametrize("offset", [12.0, 1000.0])
def test_overlap_warning_when_the_target_lies_elsewhere(ratio, offset):
    X, y, X_target = four_clusters()
    both, labels = np.r_[X, X_target + offset], np.append(y, np.zeros(90, int))
    domain, fitted = np.repeat([1, -1], [120, 90]), DDRClassifier(ratio=ratio, max_iter=2)
    with pytest.warns(OverlapWarning, match="training and test samples hardly overlap") as caught:
        fitted.fit(both, labels, sample_domain=domain)
    overlap = [w for w in caught if w.category is OverlapWarning]
    assert len(overlap) == 1
    assert overlap[0].filename == __file__
    assert np.all(np.isfinite(fitted.weights_))


UNFIT = [LinearSVC(), KNeighborsClassifier(), "bayes", GaussianNB]
UNFIT += [make_pipeline(StandardScaler(), KNeighborsClassifier())]


@pytest.mark.parametrize(
    "options",
    [{"estimator": learner} for learner in UNFIT]
    + [{"ratio": ratio} for ratio in (GaussianNB(), "ulsif", ULSIF)]
    + [{"stopping": "early"}],
)
def test_unfit_parts_get_one_clear_sentence(options):
    X, y, X_target = four_clusters()
    ((name, value),) = options.items()
    with pytest.raises(TypeError, match=f"^{name} must be a .*, got {re.escape(repr(value))}"):
        DDRClassifier(**options).fit(X, y, X_target)


def test_bad_targets_get_one_clear_sentence():
    X, y, X_target = four_clusters()
    for target, message in [
        (csr_array(X_target), "X_target is no sample for this estimator: Sparse data"),
        (X_target * np.nan, "X_target is no .* contains NaN"),
        (X_target[:, :1], "X_target is .* has 1 features, but DDRClassifier"),
        (X_target[:0], "X_target is .* with 0 sample"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            DDRClassifier().fit(X, y, target)
    with pytest.raises(ValueError, match="X_target must hold the rows of a sample, got None"):
        ddr_weights(X, y, None)


def test_random_state_decides_everything():
    samples = four_clusters(120, 300)
    seeds = [(0, None), (0, None), (1, None), (0, 5), (1, 5)]  # one given to the ratio is respected
    weights = [ddr_weights(*samples, None, ULSIF(random_state=r), random_state=s) for s, r in seeds]
    assert_array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
    assert_array_equal(weights[3], weights[4])


@PROPERTY
@given(seed=st.integers(0, 10**6), shift=st.floats(-50, 50))
def test_order_of_rows_origin_and_names_of_classes_do_not_matter(seed, shift):
    X, y, X_target = four_clusters(60, 50, seed)
    plain = clone(FIXED).fit(X, y, X_target)
    names = np.array(["zebra", "ant"])  # also turns their order round
    order = np.random.default_rng(seed).permutation(60)
    other = clone(FIXED).fit(X[order] + shift, names[y[order] - 1], X_target + shift)
    assert_allclose(other.weights_, plain.weights_[order], rtol=1e-5, atol=1e-7)
    assert_allclose(other.prior_ratio_[::-1], plain.prior_ratio_, rtol=1e-6)
    assert_array_equal(other.predict(X_target + shift), names[plain.predict(X_target) - 1])


@PROPERTY
@given(seed=st.integers(0, 10**6), n_test=st.integers(1, 40), m=st.integers(2, 4))
def test_weights_are_finite_not_negative_and_of_mean_one(seed, n_test, m):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(m), rng.integers(0, m, 40)]
    X = rng.normal(size=(len(y), 3)) + y[:, None]
    works(X, y, rng.normal(1, 1, (n_test, 3)), allowed=OverlapWarning, max_iter=2)


@parametrize_with_checks([DDRClassifier(max_iter=2)])
@pytest.mark.filterwarnings("ignore:X_target was not given")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
