"""Data and parameters at the edge of what numbers can hold, and careless calls."""

import threading

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KernelDensity

from ddr import (
    KLIEP,
    KMM,
    ULSIF,
    DDRClassifier,
    IWSearchCV,
    KDERatio,
    OverlapWarning,
    importance_weighted_score,
)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(60, 2)), rng.normal(0.5, 1.0, (50, 2))
    return X, (X[:, 0] > 0).astype(int), T


RATIOS = [ULSIF(random_state=0), KLIEP(random_state=0), KMM(), KDERatio()]


@pytest.mark.parametrize("selection", ["loo", "kfold"])
@pytest.mark.hardening("extreme numbers", mends="A regularisation of 1e-300 gave weights of 1e284.")
def test_regularisation_below_rounding_is_that_of_rounding(samples, selection):
    X, _, T = samples
    common = {"sigma": 1.0, "selection": selection, "random_state": 0}
    for lam in (1e-300, [1e-300, 1e-200]):
        weights = ULSIF(lam=lam, **common).fit(X, T).weights_
        np.testing.assert_allclose(weights, ULSIF(lam=1e-15, **common).fit(X, T).weights_, rtol=0.1)
        assert weights.max() < 1e4


@pytest.mark.hardening("extreme numbers", mends="A ratio that vanished within DDR said nothing.")
def test_a_ratio_that_vanishes_within_ddr_is_said(samples):
    X, y, T = samples
    narrow = ULSIF(sigma=1e-3, random_state=0)
    with pytest.warns(OverlapWarning, match="weights rest on"):
        narrow.fit(X, T)
    with pytest.warns(OverlapWarning, match="vanishes at every row of class .* counts as one"):
        DDRClassifier(ratio=narrow, random_state=0).fit(X, y, T)


@pytest.mark.parametrize("ratio", [ULSIF, KLIEP])
@pytest.mark.hardening("extreme numbers", mends="Centres of 1e200 overflowed.")
def test_centers_must_have_finite_squares(samples, ratio):
    X, _, T = samples
    with pytest.raises(ValueError, match="centers must hold numbers of magnitude at most 1e\\+150"):
        ratio(centers=[[1e200, 0.0]]).fit(X, T)


@pytest.mark.hardening("mistake", mends="KLIEP took more folds than it had rows.")
def test_kliep_refuses_more_folds_than_distinct_rows(samples):
    X, _, T = samples
    with pytest.raises(ValueError, match="n_folds must be at most 50 here, got 51"):
        KLIEP(n_folds=51).fit(X, np.vstack([T, T]))
    assert len(KLIEP(random_state=0).fit(X, T[:3]).weights_) == 60  # the default bears few rows


@pytest.mark.hardening(
    "mistake", mends="A regressor in a search for classifiers failed deep inside."
)
def test_regressors_are_refused_by_name(samples):
    X, y, _ = samples
    with pytest.raises(ValueError, match=r"estimator must be a classifier, got Ridge\(\)"):
        IWSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match=r"estimator must be a classifier, got Ridge\(\)"):
        importance_weighted_score(Ridge(), X, y)


@pytest.mark.parametrize("ratio", RATIOS, ids=lambda ratio: type(ratio).__name__)
@pytest.mark.hardening("mistake", mends="A sample of None ended in a traceback.")
def test_none_is_refused_by_name(samples, ratio):
    X, y, T = samples
    with pytest.raises(ValueError, match="X_train must hold the rows of a sample, got None"):
        ratio.fit(None, T)
    with pytest.raises(ValueError, match="X_test must hold the rows of a sample, got None"):
        ratio.fit(X, None)
    with pytest.raises(ValueError, match="X must hold the rows of a sample, got None"):
        DDRClassifier(ratio=ratio).fit(None, y, T)


def test_kernel_densities_are_those_of_scikit_learn(samples):
    X, _, T = samples
    weight = np.random.default_rng(1).gamma(1.0, size=50)
    ratio = KDERatio(0.4).fit(X, T, weight)
    train = KernelDensity(bandwidth=0.4).fit(X)
    test = KernelDensity(bandwidth=0.4).fit(T, sample_weight=weight)
    expected = np.exp(test.score_samples(X) - train.score_samples(X))
    np.testing.assert_allclose(ratio.weights_, expected, rtol=1e-9)


@pytest.mark.hardening(
    "extreme numbers", mends="A quotient of densities far from the data came to 1e130."
)
def test_quotient_of_densities_far_away_stays_within_what_was_seen(samples):
    X, _, T = samples
    ratio = KDERatio().fit(X, T)
    largest = 10 * max(ratio.weights_.max(), ratio.predict(T).max())
    far = ratio.predict([[30.0, 30.0], [1e3, 0.0], [1e130, 1.0], [-1e130, 0.0]])
    assert np.isfinite(far).all()
    assert far.max() <= largest


@pytest.mark.parametrize("estimator", RATIOS, ids=lambda e: type(e).__name__)
def test_a_fit_gives_each_attribute_one_value(samples, estimator):
    """Else a thread that fits the same estimator could meet the first of two."""
    given = {}

    class Recorder(type(estimator)):
        def __setattr__(self, name, value):
            given.setdefault(name, []).append(value)
            super().__setattr__(name, value)

    X, _, T = samples
    Recorder(**estimator.get_params()).fit(X, T)
    assert "weights_" in given
    for name, values in given.items():
        assert all(np.array_equal(value, values[-1]) for value in values[:-1]), name


@pytest.mark.parametrize(
    "estimator", [*RATIOS, DDRClassifier(random_state=0)], ids=lambda e: type(e).__name__
)
@pytest.mark.hardening("two at once", mends="Threads that shared an estimator could get an error.")
def test_threads_may_share_an_estimator(samples, estimator):
    """Each of them fits it to the same data: none fails, and the result is the usual one."""
    X, y, T = samples
    data = (X, y, T) if isinstance(estimator, DDRClassifier) else (X, T)
    expected, failures = estimator.fit(*data).weights_, []

    def work():
        try:
            for _ in range(3):
                estimator.fit(*data)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    np.testing.assert_allclose(estimator.weights_, expected)
