import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr.iwcv import IWSearchCV, first_best, stratified_folds, weighted_splits

LOSSES = ["zero_one", "log", "squared"]


def score(model, X, y, weight=None, cv=5, loss="zero_one", random_state=None):
    """Risk of one model."""
    return IWSearchCV(model, {}, cv, loss, random_state=random_state).fit(X, y, weight).best_score_


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["no", "maybe", "yes"])[np.digitize(X[:, 0] + rng.normal(size=90), [-0.7, 0.7])]
    return X, y, rng.gamma(1.0, size=90)


def loop_risk(make_model, X, y, weight, splits, loss):
    """The definition, written out row by row."""
    total = mass = 0.0
    for train, test in splits:
        model = make_model().fit(X[train], y[train], sample_weight=weight[train])
        for i in test:
            p = dict(zip(model.classes_, model.predict_proba(X[[i]])[0], strict=True))
            if loss == "zero_one":
                value = float(max(p, key=p.get) != y[i])
            elif loss == "log":
                value = -np.log(max(p.get(y[i], 0.0), np.finfo(float).eps))
            else:
                value = sum((p.get(c, 0.0) - (c == y[i])) ** 2 for c in np.unique(y))
            total += weight[i] * value
            mass += weight[i]
    return total / mass


@pytest.mark.parametrize("loss", LOSSES)
def test_score_is_the_written_out_sum(data, loss):
    X, y, weight = data
    splits = stratified_folds(y, 4, random_state=1)
    ours = score(GaussianNB(), X, y, weight, 4, loss, random_state=1)
    assert ours == pytest.approx(loop_risk(GaussianNB, X, y, weight, splits, loss), rel=1e-12)


def test_a_fold_without_a_class_gives_that_class_no_probability(data):
    X, y, weight = data
    y = np.where(np.arange(len(y)) == 7, "once", y)
    splits = stratified_folds(y, 3, random_state=0)
    assert any("once" not in y[train] for train, _ in splits)
    for loss in LOSSES:
        ours = score(GaussianNB(), X, y, weight, splits, loss)
        assert ours == pytest.approx(loop_risk(GaussianNB, X, y, weight, splits, loss))


def test_a_training_fold_of_one_class_predicts_that_class():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    splits = [(np.arange(5), np.array([5])), (np.array([0, 5]), np.arange(1, 5))]
    model = LogisticRegression(C=100.0)
    weight = np.array([1.0, 1, 1, 1, 1, 3])
    second = model.fit(X[[0, 5]], [0, 1]).predict(X[1:5]).sum()
    assert score(model, X, y, weight, splits) == (3 + second) / 7
    log = score(model, X, y, weight, splits[:1], "log")
    assert log == pytest.approx(-np.log(np.finfo(float).eps))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.floats(1e-6, 1e6), st.sampled_from(LOSSES))
@pytest.mark.hardening("mistake")
def test_scale_of_the_weights_and_names_of_the_classes_do_not_matter(seed, scale, loss):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(30, 2)), rng.integers(0, 3, 30), rng.random(30) + 0.1
    first = score(GaussianNB(), X, y, weight, 3, loss, random_state=seed)
    names = np.array(["ant", "bee", "cow"])[y]  # in the same order
    again = score(GaussianNB(), X, names, scale * weight, 3, loss, random_state=seed)
    assert again == pytest.approx(first, rel=1e-7)
    renamed = np.array(["z", "a", "m"])[y]  # in another order, so folds must be given
    splits = stratified_folds(y, 3, seed)
    assert score(GaussianNB(), X, renamed, weight, splits, loss) == pytest.approx(
        score(GaussianNB(), X, y, weight, splits, loss)
    )


def test_weight_zero_removes_a_row(data):
    X, y, weight = data
    kept = np.arange(len(y)) % 5 > 0
    assert score(GaussianNB(), X, y, weight * kept, random_state=3) == score(
        GaussianNB(), X[kept], y[kept], weight[kept], random_state=3
    )


def test_folds_hold_out_each_row_once_and_follow_their_seed():
    y = np.repeat([0, 1, 2], [40, 20, 10])
    folds, again, other = (stratified_folds(y, 5, random_state=seed) for seed in (0, 0, 1))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(70))
    assert all(np.bincount(y[test]).tolist() == [8, 4, 2] for _, test in folds)
    assert np.array_equal(again[0][1], folds[0][1])
    assert not np.array_equal(other[0][1], folds[0][1])


@pytest.mark.parametrize(
    ("y", "n_folds"),
    [
        ([0] * 10 + [1] * 3, 3),  # no more folds than the rarest class has rows
        ([0] * 10 + [1] * 3 + [2], 3),  # a class with one row cannot be in every fold
        ([0] * 10 + [1], 5),
    ],
)
def test_rare_classes_lower_the_number_of_folds(y, n_folds, recwarn):
    assert len(stratified_folds(y, 5, random_state=0)) == n_folds
    assert not recwarn.list


def test_splits_may_come_from_a_splitter_or_a_list():
    X, y = np.empty((6, 1)), np.arange(6) % 2
    weight = np.array([1.0, 0, 1, 1, 0, 1])
    splits = weighted_splits(KFold(3), X, y, weight)
    assert [test.tolist() for _, test in splits] == [[0], [2, 3], [5]]
    assert [train.tolist() for train, _ in splits] == [[2, 3, 5], [0, 5], [0, 2, 3]]
    mask = np.array([True, True, True, False, False, False])
    only_zero = (np.array([0, 2]), np.array([1, 4]))  # nothing left to score: the fold is dropped
    ((train, test),) = weighted_splits([(mask, ~mask), only_zero], X, y, weight)
    assert train.tolist() == [0, 2]
    assert test.tolist() == [3, 5]


def test_the_first_of_equal_risks_is_the_best():
    assert first_best([0.4, 0.2 + 1e-15, 0.2, 0.2 + 1e-9]) == 1
    assert first_best([0.4, 0.2 + 1e-9, 0.2]) == 2


@pytest.mark.parametrize("loss", LOSSES)
def test_search_takes_the_candidate_with_the_lowest_score_and_refits_it(data, loss):
    X, y, weight = data
    grid = {"C": [1e-3, 0.1, 10.0], "fit_intercept": [True, False]}
    search = IWSearchCV(LogisticRegression(), grid, cv=3, loss=loss, random_state=0)
    search.fit(X, y, weight)
    scores = [
        score(LogisticRegression(**params), X, y, weight, 3, loss, random_state=0)
        for params in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["risk"], scores)
    folds = pd.DataFrame(search.cv_results_)[[f"split{k}_risk" for k in range(3)]].to_numpy()
    masses = [weight[test].sum() for _, test in stratified_folds(y, 3, random_state=0)]
    np.testing.assert_allclose(folds @ masses / sum(masses), scores)
    assert search.best_index_ == np.argmin(scores)
    assert search.best_score_ == pytest.approx(min(scores))
    assert search.best_params_ == search.cv_results_["params"][np.argmin(scores)]
    direct = LogisticRegression(**search.best_params_).fit(X, y, weight)
    np.testing.assert_array_equal(search.predict_proba(X), direct.predict_proba(X))
    np.testing.assert_array_equal(search.predict(X), direct.predict(X))
    assert search.classes_.tolist() == ["maybe", "no", "yes"]
    assert search.n_features_in_ == 3


def test_without_weights_the_search_is_plain_cross_validation(data):
    X, y, _ = data
    grid = {"n_neighbors": [1, 15]}  # an estimator that takes no weights
    search = IWSearchCV(KNeighborsClassifier(), grid, cv=KFold(5)).fit(X, y)
    for params, risk in zip(search.cv_results_["params"], search.cv_results_["risk"], strict=True):
        wrong = [
            np.mean(KNeighborsClassifier(**params).fit(X[a], y[a]).predict(X[b]) != y[b])
            for a, b in KFold(5).split(X)
        ]
        assert risk == pytest.approx(np.mean(wrong))


def test_a_pipeline_gives_the_weights_to_its_last_step(data):
    X, y, weight = data
    X = X * [1, 10, 100] + 5
    pipeline = Pipeline([("inner", make_pipeline(StandardScaler(), LogisticRegression()))])
    grid = {"inner__logisticregression__C": [1e-3, 1.0]}
    search = IWSearchCV(pipeline, grid, cv=3, random_state=0).fit(X, y, weight)
    scaled = StandardScaler().fit_transform(X)
    direct = LogisticRegression(C=search.best_params_["inner__logisticregression__C"])
    expected = direct.fit(scaled, y, weight).predict_proba(scaled)
    np.testing.assert_allclose(search.predict_proba(X), expected, rtol=1e-6)
    assert np.abs(direct.fit(scaled, y).predict_proba(scaled) - expected).max() > 0.01


def test_one_row_is_not_enough():
    with pytest.raises(ValueError, match="cv needs a class of two rows with weight, got"):
        score(GaussianNB(), [[0.0], [1.0]], [0, 1], [1.0, 0.0])


@parametrize_with_checks(
    [IWSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, random_state=0)]
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
