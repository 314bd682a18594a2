"""Data and parameters at the edge of what numbers can hold, and careless calls."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from ddr import KLIEP, KMM, ULSIF, DDRClassifier, IWSearchCV, KDERatio, OverlapWarning


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(60, 2)), rng.normal(0.5, 1.0, (50, 2))
    return X, (X[:, 0] > 0).astype(int), T


@pytest.mark.hardening("extreme numbers", mends="A ratio that vanished within DDR said nothing.")
def test_a_ratio_that_vanishes_within_ddr_is_said(samples):
    X, y, T = samples
    narrow = ULSIF(sigma=1e-3, random_state=0)
    with pytest.warns(OverlapWarning, match="weights rest on"):
        narrow.fit(X, T)
    with pytest.warns(OverlapWarning, match="vanishes at every row of class .* counts as one"):
        DDRClassifier(ratio=narrow, random_state=0).fit(X, y, T)


@pytest.mark.parametrize("ratio", [ULSIF, KLIEP])
@pytest.mark.hardening("mistake", mends="A hundred thousand equal centres asked for 74 GB.")
def test_equal_centers_count_once(samples, ratio):
    X, _, T = samples
    many = ratio(1.0, centers=np.repeat(T[:3], 20_000, axis=0)).fit(X, T)
    few = ratio(1.0, centers=T[:3]).fit(X, T)
    np.testing.assert_array_equal(many.centers_, T[:3])
    np.testing.assert_array_equal(many.weights_, few.weights_)


@pytest.mark.parametrize("ratio", [ULSIF(), KLIEP(), KMM(), KDERatio()], ids=repr)
@pytest.mark.hardening("extreme numbers", mends="A sample of equal rows was judged without a word.")
def test_equal_rows_elsewhere_are_said_to_be_far(ratio):
    with pytest.warns(OverlapWarning, match="100% of the test rows lie far from every training"):
        ratio.fit(np.ones((50, 2)), np.full((40, 2), 1.1))


@pytest.mark.hardening("mistake", mends="A regressor in a search failed deep inside.")
def test_regressors_are_refused_by_name(samples):
    X, y, _ = samples
    with pytest.raises(ValueError, match=r"estimator must be a classifier, got Ridge\(\)"):
        IWSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, y)


@pytest.mark.hardening("mistake", mends="A sample of None ended in a traceback.")
def test_none_is_refused_by_name(samples):
    (X, y, T), ratio = samples, ULSIF()
    with pytest.raises(ValueError, match="X_train must hold the rows of a sample, got None"):
        ratio.fit(None, T)
    with pytest.raises(ValueError, match="X_test must hold the rows of a sample, got None"):
        ratio.fit(X, None)
    with pytest.raises(ValueError, match="X must hold the rows of a sample, got None"):
        DDRClassifier(ratio=ratio).fit(None, y, T)


@pytest.mark.hardening("extreme numbers", mends="A quotient far from the data came to 1e130.")
def test_quotient_of_densities_far_away_stays_within_what_was_seen(samples):
    X, _, T = samples
    ratio = KDERatio().fit(X, T)
    largest = 10 * max(ratio.weights_.max(), ratio.predict(T).max())
    far = ratio.predict([[30.0, 30.0], [1e3, 0.0], [1e130, 1.0], [-1e130, 0.0]])
    assert np.isfinite(far).all()
    assert far.max() <= largest
