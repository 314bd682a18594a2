"""What every ratio estimator promises: weights mean copies, warnings, scikit-learn's ways."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_rows import two_samples
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from ddr import KLIEP, KMM, ULSIF, KDERatio
from ddr.ratio import OverlapWarning, doubt, far_share

EVERY = [ULSIF(n_centers=n_centers, random_state=0) for n_centers in (15, 100)]
EVERY += [ULSIF(clip="coefficients", n_centers=15, random_state=0), KMM(), KDERatio()]
EVERY += [KLIEP(n_centers=15, n_folds=3, random_state=0)]
EACH = [ULSIF(random_state=0), KLIEP(n_folds=3, random_state=0), KMM(), KDERatio()]
#: Fixed in all that a row could influence, so that each invariance is exact up to rounding.
FIXED = [ULSIF(0.8, 0.1, clip="ratio"), ULSIF(0.8, 0.1, clip="coefficients"), KLIEP(0.8), KMM(0.8)]
FIXED += [KDERatio(0.6), KDERatio()]
PROPERTY = settings(deadline=None, derandomize=True, max_examples=8)


def name(estimator):
    return repr(estimator)


each = pytest.mark.parametrize("ratio", EACH, ids=lambda r: type(r).__name__)


def assert_same_fit(one, other):
    """The same parameters, centres, score surface and weights."""
    for name in ("sigma_", "lam_", "sigmas_", "lams_", "centers_", "scores_", "weights_"):
        values = [getattr(fitted, name, None) for fitted in (one, other)]
        if values[0] is not None:
            assert_allclose(*values, rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("ratio", EVERY, ids=name)
@pytest.mark.parametrize("layout", ["repeated", "appended"])
def test_a_whole_weight_is_that_many_copies(ratio, layout):
    X_train, X_test, rng = two_samples()
    copies = rng.integers(0, 4, 30)
    assert set(copies) == {0, 1, 2, 3}
    weighted = clone(ratio).fit(X_train, X_test, copies.astype(float))
    if layout == "repeated":
        written_out = np.repeat(X_test, copies, axis=0)
    else:
        written_out = np.concatenate([X_test[copies > k] for k in range(3)])
    assert_same_fit(weighted, clone(ratio).fit(X_train, written_out))


@pytest.mark.parametrize("ratio", [r for r in FIXED if r.sigma is not None], ids=name)
def test_only_the_proportions_of_the_weights_matter_once_parameters_are_fixed(ratio):
    X_train, X_test, rng = two_samples()
    weight = rng.random(30)
    one = clone(ratio).fit(X_train, X_test, weight).weights_
    assert_allclose(clone(ratio).fit(X_train, X_test, 7.3 * weight).weights_, one, atol=1e-7)


@pytest.mark.parametrize("ratio", FIXED, ids=name)
@PROPERTY
@given(seed=st.integers(0, 2**31))
def test_rows_may_be_permuted_when_all_test_rows_are_centers(ratio, seed):
    X_train, X_test, rng = two_samples(25, 15, seed=seed)
    order, other, weight = rng.permutation(25), rng.permutation(15), rng.random(15)
    weights = clone(ratio).fit(X_train, X_test, weight).weights_
    permuted = clone(ratio).fit(X_train[order], X_test[other], weight[other]).weights_
    assert_allclose(permuted, weights[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ratio", [ULSIF(random_state=0), KMM(), KDERatio()], ids=name)
@PROPERTY
@given(seed=st.integers(0, 2**31), exponent=st.integers(-20, 20), shift=st.floats(-50, 50))
def test_units_and_origin_do_not_matter(ratio, seed, exponent, shift):
    """Widths follow the data, so weights do not depend on how the data are measured."""
    X_train, X_test, _ = two_samples(25, 15, seed=seed)
    scale = 2.0**exponent
    weights = clone(ratio).fit(X_train, X_test).weights_
    moved = clone(ratio).fit(scale * (X_train + shift), scale * (X_test + shift))
    assert_allclose(moved.weights_, weights, rtol=1e-5, atol=1e-6)


@each
@PROPERTY
@given(seed=st.integers(0, 2**31), d=st.integers(1, 4), shift=st.floats(0, 3))
def test_weights_are_finite_and_not_negative(ratio, seed, d, shift):
    rng = np.random.default_rng(seed)
    n_train, n_test = rng.integers(2, 20), rng.integers(1, 12)
    X_train = rng.integers(-3, 4, (n_train, d)).astype(float)  # with ties
    X_test = rng.integers(-3, 4, (n_test, d)) + shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)
        fitted = clone(ratio).fit(X_train, X_test, rng.uniform(0.01, 2, n_test))
    assert fitted.weights_.shape == (n_train,)
    assert np.all(np.isfinite(fitted.weights_))
    assert fitted.weights_.min() >= 0
    if isinstance(ratio, KLIEP) and fitted.weights_.any():
        assert_allclose(fitted.weights_.mean(), 1.0, rtol=1e-8)


@each
def test_overlap_warning_when_the_test_sample_lies_elsewhere(ratio):
    X_train, X_test, _ = two_samples()
    with pytest.warns(OverlapWarning, match="training and test samples hardly overlap") as caught:
        clone(ratio).fit(X_train, X_test + 1000.0)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # points at the caller's line


@each
@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.filterwarnings("error")
def test_no_overlap_warning_for_samples_that_overlap(ratio, d):
    X_train, X_test, _ = two_samples(100, 80, d)
    clone(ratio).fit(X_train, X_test)
    clone(ratio).fit(X_train[:2], X_test)


def test_overlap_looks_only_at_test_rows_that_count():
    X_train, X_test, _ = two_samples()
    both = np.r_[X_test, X_test + 1000.0]
    weight = np.repeat([1.0, 0.0], 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KMM(1.0).fit(X_train, both, weight)
    with pytest.warns(OverlapWarning, match="100% of the test rows lie far from every training"):
        KMM(1.0).fit(X_train, both, 1.0 - weight)


LIMITS = [(1000, 9, True), (1000, 10, False), (100, 1, True), (100, 2, False)]


@pytest.mark.parametrize(("n", "equal", "few"), [*LIMITS, (3, 1, True), (2, 1, False)])
def test_few_rows_that_carry_the_weights_are_said(n, equal, few):
    X = np.linspace(0, 1, n)[:, None]
    said = doubt(X, X, np.repeat([0.5, 0.0], [equal, n - equal]))
    words = f"the weights rest on {equal}.0 of {n} training rows (effective sample size)"
    assert said == (f"{words}: training and test samples hardly overlap" if few else None)


@pytest.mark.parametrize(("far", "said"), [(2, True), (1, False)])
def test_far_test_rows_are_said_from_half_of_them_on(far, said):
    X_train = np.linspace(0, 1, 9)[:, None]
    found = doubt(X_train, np.repeat([0.5, 99.0], [4 - far, far])[:, None], np.ones(9))
    assert (found or "").startswith("50% of the test rows lie far") == said


def test_far_share_by_hand_and_by_every_training_row_of_many():
    X_train = np.array([[0.0], [2.0], [4.0]])  # median distance 2, so far is beyond 6
    assert far_share(X_train, np.array([[9.9], [10.1], [-5.9], [-6.1], [1.0]])) == 0.4
    X_train = np.r_[np.linspace(0, 1, 2000), 50.0][:, None]
    assert far_share(X_train, np.repeat([50.0, 90.0], 500)[:, None]) == 0.5


def test_from_equal_rows_any_distance_is_far_but_not_from_a_single_one():
    same = np.ones((8, 2))
    assert far_share(same, same[:5]) == far_share(same[:1], same + 0.01) == 0
    assert far_share(same, same[:5] + 0.01) == 1


@each
def test_predict_at_the_training_rows_is_the_weights(ratio):
    X_train, X_test, _ = two_samples()
    fitted = clone(ratio).fit(X_train, X_test)
    if isinstance(ratio, KMM):
        with pytest.raises(NotImplementedError, match="KMM has no value at new rows"):
            fitted.predict(X_train)
        return
    assert_allclose(fitted.predict(X_train), fitted.weights_, rtol=1e-12)
    assert_allclose(fitted.predict(X_train[:3]), fitted.weights_[:3], rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="X has 1 features"):
        fitted.predict([[0.0]])


@each
def test_matcher_of_each_estimator_is_its_fit(ratio):
    X_train, X_test, rng = two_samples()
    match = clone(ratio).matcher(X_train, X_test)
    weight = rng.random(30)
    expected = clone(ratio).fit(X_train, X_test, weight).weights_
    assert_allclose(match(weight), expected, rtol=1e-7, atol=1e-8)
    assert not hasattr(ratio, "weights_")
    with warnings.catch_warnings():
        warnings.simplefilter("error", OverlapWarning)  # a matcher leaves warnings to its caller
        clone(ratio).matcher(X_train, X_test + 1000.0)(weight)


@each
def test_pickle_and_pandas(ratio):
    X_train, X_test, _ = two_samples()
    frames = [pd.DataFrame(rows, columns=["a", "b"]) for rows in (X_train, X_test)]
    framed = clone(ratio).fit(*frames)
    assert framed.feature_names_in_.tolist() == ["a", "b"]
    restored = pickle.loads(pickle.dumps(framed))
    assert_array_equal(restored.weights_, framed.weights_)
    if not isinstance(ratio, KMM):
        assert_array_equal(restored.predict(frames[1]), framed.predict(frames[1]))
    with pytest.raises(ValueError, match="feature names should match"):
        clone(ratio).fit(frames[0], frames[1].rename(columns={"b": "c"}))


@each
def test_bad_samples_get_one_clear_sentence(ratio):
    X_train, X_test, _ = two_samples()
    for bad, message in [
        ((X_train, csr_array(X_test)), "X_test is no sample for this estimator: Sparse"),
        ((X_train, X_test[:, :1]), "X_test is .* 1 features, but .* is expecting 2 features"),
        ((X_train, X_test[:0]), "X_test is .* with 0 sample"),
        ((X_train * np.nan, X_test), "X_train is .* contains NaN"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            clone(ratio).fit(*bad)
