"""DDRClassifier where people use it: pipelines, searches, tables, weights, known labels, skada."""

import re
from itertools import islice

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ddr import ULSIF, DDRClassifier, GuardedDDRClassifier, IWSearchCV, ddr_weights
from ddr.algorithm import rounds, until_drop
from ddr.paper.choices import fixed
from ddr.paper.mixture import FourClusters

SCALE, OFFSET = np.array([1.0, 400.0]), np.array([50.0, 3.0])
UNTOUCHED = "X_target must be transformed as X was, but lies far out of its range in 2 of 2 columns"


@pytest.fixture(scope="module")
def samples():
    """Columns of very different scale; both samples have 240 rows."""
    X, y = FourClusters().sample(240, "train", random_state=0)
    X_target, y_target = FourClusters().sample(240, "test", random_state=1)
    return X * SCALE + OFFSET, y, X_target * SCALE + OFFSET, y_target


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def ddr(estimator=None, **options):
    return DDRClassifier(estimator or LogisticRegression(), random_state=0, **options)


def scaled(samples):
    X, y, X_target, y_target = samples
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_target), y_target


@pytest.fixture(scope="module")
def by_hand(samples):
    X, y, X_target, _ = scaled(samples)
    return ddr().fit(X, y, X_target)


def together(samples):
    """One X with both samples, the labels of the target hidden, and the domains."""
    X, y, X_target, y_target = samples
    hidden = np.append(y, np.full(len(y_target), -1))
    return np.r_[X, X_target], hidden, np.repeat([1, -2], [len(y), len(y_target)])


def test_one_x_with_domains_is_two_samples(samples):
    X, y, X_target, _ = scaled(samples)
    both, hidden, domain = together(scaled(samples))
    order = np.random.default_rng(0).permutation(len(both))  # the two may be mixed
    cost = np.random.default_rng(1).uniform(0.5, 2, len(both))
    marked = {"sample_domain": domain[order], "sample_weight": cost[order]}
    mixed = ddr().fit(both[order], hidden[order], **marked)
    source, target = order[order < len(y)], order[order >= len(y)]
    apart = ddr().fit(both[source], y[source], both[target], sample_weight=cost[source])
    assert_array_equal(mixed.weights_, apart.weights_)
    assert mixed.classes_.tolist() == [1, 2]
    frame = pd.DataFrame(both, columns=["height", "width"])
    tabled = ddr().fit(frame, pd.Series(hidden), sample_domain=list(domain))
    assert_allclose(tabled.weights_, ddr().fit(X, y, X_target).weights_)


@pytest.mark.parametrize("domain", [[0] * 480, [-1] * 480, ["a"] * 480, [np.nan] * 480, 1])
def test_domains_that_mark_no_source_get_one_clear_sentence(samples, domain):
    both, hidden, _ = together(samples)
    with pytest.raises(ValueError, match="sample_domain must hold a positive number for each"):
        ddr().fit(both, hidden, sample_domain=domain)


def test_two_targets_are_refused(samples):
    both, hidden, domain = together(samples)
    with pytest.raises(ValueError, match="X_target must be None where sample_domain marks"):
        ddr().fit(both, hidden, samples[2], sample_domain=domain)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ddr().fit(both, hidden, sample_domain=domain[1:])


@pytest.mark.parametrize("kind", ["prefixed", "routed", "skada"])
def test_a_pipeline_transforms_both_samples_alike(samples, kind):
    both, hidden, domain = together(samples)
    name = "ddrclassifier__sample_domain" if kind == "prefixed" else "sample_domain"
    rows = StandardScaler().fit_transform(both)
    by_hand = ddr().fit(rows[:240], hidden[:240], rows[240:])
    with sklearn.config_context(enable_metadata_routing=kind != "prefixed"):
        make = make_pipeline
        if kind == "skada":  # which takes the classifier as it is
            reason = "the extra `skada` is not installed"
            make = pytest.importorskip("skada", reason=reason).make_da_pipeline
        pipeline = make(StandardScaler(), ddr()).fit(both, hidden, **{name: domain})
        assert_allclose(pipeline.predict_proba(samples[2]), by_hand.predict_proba(rows[240:]))
        assert pipeline.score(*samples[2:]) == by_hand.score(rows[240:], samples[3]) > 0.9


@pytest.mark.parametrize("enabled", [False, True])
def test_a_target_left_as_it_was_is_refused(samples, enabled):
    X, y, X_target, _ = samples
    name = "X_target" if enabled else "ddrclassifier__X_target"
    with sklearn.config_context(enable_metadata_routing=enabled):
        for scaler in (StandardScaler(), MinMaxScaler()):
            with pytest.raises(ValueError, match=UNTOUCHED):
                make_pipeline(scaler, ddr()).fit(X, y, **{name: X_target})
        idle = Pipeline([("idle", "passthrough"), ("ddrclassifier", ddr())])
        idle.fit(X, y, **{name: X_target})
    assert_allclose(idle[-1].weights_, ddr().fit(X, y, X_target).weights_)


@pytest.mark.filterwarnings("error")
def test_no_refusal_and_no_warning_without_need(samples):
    X, y, X_target, _ = scaled(samples)
    ddr().fit(X, y, X_target)
    ddr().fit(*samples[:3])
    ddr().fit(X, y, X_target + 2.0)  # a strong shift, but of rows of the same kind


def test_the_ratio_sees_what_the_learners_own_steps_make(samples, by_hand):
    X, y, X_target, _ = samples
    inside = ddr(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y, X_target)
    assert_allclose(inside.weights_, by_hand.weights_)
    assert_allclose(inside.predict_proba(X_target), by_hand.predict_proba(scaled(samples)[2]))
    nested = ddr(Pipeline([("all", make_pipeline(StandardScaler(), LogisticRegression()))]))
    assert_allclose(nested.fit(X, y, X_target).weights_, by_hand.weights_)
    raw = clone(inside).set_params(ratio_transform="passthrough").fit(X, y, X_target)
    assert not np.allclose(raw.weights_, by_hand.weights_)


def test_folds_cut_both_samples_and_score_the_source(samples, routing):
    both, hidden, domain = together(samples)
    pipeline = make_pipeline(StandardScaler(), ddr())
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(both, hidden))
    scores = cross_val_score(pipeline, both, hidden, cv=folds, params={"sample_domain": domain})
    for score, (train, test) in zip(scores, folds, strict=True):
        alone = clone(pipeline).fit(both[train], hidden[train], sample_domain=domain[train])
        source = test[domain[test] > 0]
        assert score == np.mean(alone.predict(both[source]) == hidden[source]) > 0.8


def test_the_weighted_search_adapts_by_the_whole_target(samples):
    X, y, X_target, _ = scaled(samples)
    weights = ddr_weights(X, y, X_target, random_state=0) + 0.1  # a row of weight zero is left out
    folds = list(StratifiedKFold(3).split(X, y))
    search = IWSearchCV(ddr(), {"max_iter": [1, 5]}, cv=folds)
    search.fit(X, y, sample_weight=weights, X_target=X_target)
    for found, max_iter in zip(search.cv_results_["risk"], (1, 5), strict=True):
        lost = 0.0
        for train, test in folds:
            model = ddr(max_iter=max_iter).fit(X[train], y[train], X_target)
            lost += weights[test] @ (model.predict(X[test]) != y[test])
        assert_allclose(found, lost / weights.sum())
    best = ddr(**search.best_params_).fit(X, y, X_target)
    assert_allclose(search.best_estimator_.weights_, best.weights_)


def test_sample_weights_multiply_those_that_adapt(samples):
    X, y, X_target, _ = scaled(samples)
    cost = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fitted = ddr(GaussianNB(), stopping=fixed, max_iter=3)
    fitted.fit(X, y, X_target, sample_weight=cost)
    expected = GaussianNB().fit(X, y, fitted.weights_ * cost)
    assert_allclose(fitted.predict_proba(X_target), expected.predict_proba(X_target))
    start = GaussianNB().fit(X, y, cost)
    assert_array_equal(fitted.initial_estimator_.theta_, start.theta_)
    equal = clone(fitted).fit(X, y, X_target, sample_weight=np.full(len(y), 3.0))
    assert_allclose(equal.weights_, clone(fitted).fit(X, y, X_target).weights_)


@pytest.mark.parametrize("unknown", [-1, None, np.nan])
def test_known_target_labels_are_their_posteriors(samples, unknown):
    X, y, X_target, y_target = scaled(samples)
    known = np.arange(len(y_target)) % 4 == 0
    labels = np.where(known, y_target, unknown)
    seen = []

    def stopping(states, max_iter):
        states, kept = until_drop(states, max_iter)
        seen[:] = [state.posteriors for state in states]
        return states, kept

    ddr(stopping=stopping).fit(X, y, X_target, y_target=labels)
    for posteriors in seen:
        assert_array_equal(posteriors[known], np.eye(2)[y_target[known] - 1])
        assert not np.any(np.isin(posteriors[~known], (0.0, 1.0)).all(axis=1))
    nothing = ddr().fit(X, y, X_target, y_target=np.full(len(labels), unknown))
    assert_array_equal(nothing.weights_, ddr().fit(X, y, X_target).weights_)


def test_minus_one_may_be_a_class(samples):
    X, y, X_target, y_target = scaled(samples)
    signs, labels = 2 * y - 3, 2 * y_target - 3
    named = ddr().fit(X, signs, X_target, y_target=labels)
    numbered = ddr().fit(X, y, X_target, y_target=y_target)
    assert_allclose(named.weights_, numbered.weights_)
    with pytest.raises(ValueError, match=r"y_target must hold classes of y, or None, .* got 7"):
        ddr().fit(X, signs, X_target, y_target=np.full(len(labels), 7))
    with pytest.raises(ValueError, match=r"y_target must have shape \(240,\), .*, got \(7,\)"):
        ddr().fit(X, signs, X_target, y_target=np.ones(7))


@pytest.fixture(scope="module")
def tables(samples):
    X, y, X_target, y_target = samples
    rng = np.random.default_rng(0)

    def table(rows, labels):
        frame = pd.DataFrame(rows, columns=["height", "width"])
        kind = np.where(rng.random(len(rows)) < 0.8, labels, 3 - labels)
        frame["kind"] = pd.Categorical(np.array(["", "red", "blue"])[kind])
        frame["gaps"] = np.where(rng.random(len(rows)) < 0.3, np.nan, rng.normal(size=len(rows)))
        return frame

    return table(X, y), y, table(X_target, y_target), y_target


def test_tables_with_categories_and_gaps_reach_a_learner_that_takes_them(tables):
    table, y, target, y_target = tables
    learner = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20)
    model = ddr(learner, ratio_transform=["height", "width"]).fit(table, y, target)
    assert model.estimator_.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert model.estimator_.is_categorical_.tolist() == [False, False, True, False]
    assert model.score(target, y_target) > 0.9
    once = ddr(learner, ratio=ULSIF(100.0, 0.1, random_state=0), stopping=fixed, max_iter=1)
    once.set_params(ratio_transform=["height", "width"]).fit(table, y, target)
    rows, target_rows = (part[["height", "width"]].to_numpy() for part in (table, target))
    start = once.initial_estimator_.predict_proba(target)
    states = rounds(rows, y, target_rows, LogisticRegression(), once.ratio, known=start)
    assert_allclose(once.class_ratio_, list(islice(states, 2))[1].beta)


def test_the_ratio_asks_for_its_columns_in_one_sentence(tables):
    table, y, target, _ = tables
    learner = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)
    with pytest.raises(ValueError, match="ratio_transform must make finite numbers of X, or name"):
        ddr(learner).fit(table, y, target)
    gaps = table[["height", "gaps"]].to_numpy(), y, target[["height", "gaps"]].to_numpy()
    with pytest.raises(ValueError, match="ratio_transform must make finite numbers of X"):
        ddr(HistGradientBoostingClassifier(max_iter=5)).fit(*gaps)
    for transform in ([0], SimpleImputer()):
        learner = HistGradientBoostingClassifier(max_iter=5)
        ddr(learner, ratio_transform=transform).fit(*gaps).predict(gaps[2])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        ddr().fit(*gaps)


@pytest.mark.parametrize("kind", [DDRClassifier, GuardedDDRClassifier])
def test_sparse_rows_reach_a_learner_that_takes_them(samples, kind):
    X, y, X_target, _ = samples
    rng = np.random.default_rng(0)
    X, X_target = (np.where(rng.random(Z.shape) < 0.3, 0, Z) for Z in (X, X_target))
    model = kind(LogisticRegression(), random_state=0)
    dense = clone(model).fit(X, y, X_target).predict_proba(X_target)
    for sparse in (csr_array, csc_array):
        fitted = clone(model).fit(sparse(X), y, sparse(X_target))
        assert_allclose(fitted.predict_proba(sparse(X_target)), dense, atol=1e-4)
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is"):
        kind(GaussianNB()).fit(csr_array(X), y, csr_array(X_target))


def test_a_long_fit_tells_where_it_is(samples, capsys):
    X, y, X_target, _ = scaled(samples)
    ddr(stopping=fixed, max_iter=2).fit(X, y, X_target)
    assert capsys.readouterr().out == ""
    ddr(stopping=fixed, max_iter=2, verbose=True).fit(X, y, X_target)
    first, *lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\[ddr\] iteration 0 of at most 2: \d+\.\d s", first)
    for t, line in enumerate(lines, start=1):
        words = rf"\[ddr\] iteration {t} of at most 2: \d+\.\d s, at most \d+\.\d s left"
        assert re.fullmatch(words, line)
    assert lines[-1].endswith(" at most 0.0 s left")
