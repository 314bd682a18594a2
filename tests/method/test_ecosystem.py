"""DDRClassifier where people use it: pipelines, searches, tables, weights, known labels, skada."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr import ULSIF, DDRClassifier, GuardedDDRClassifier, IWSearchCV, ddr_weights
from ddr.discriminative import ClassRatios
from ddr.paper.mixture import FourClusters

SCALE, OFFSET = np.array([1.0, 400.0]), np.array([50.0, 3.0])
CUT = re.escape("X_target must be a tuple of one, (X_target,), within a cross-validation")
UNTOUCHED = "X_target must go through the steps before the classifier as X does"


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


# --- pipelines


def test_a_pipeline_that_transforms_both_samples_is_scaling_by_hand(samples, by_hand, routing):
    X, y, X_target, y_target = samples
    pipeline = make_pipeline(StandardScaler(), ddr(), transform_input=["X_target"])
    pipeline.fit(X, y, X_target=X_target)
    assert_allclose(pipeline[-1].weights_, by_hand.weights_)
    assert pipeline.score(X_target, y_target) == by_hand.score(*scaled(samples)[2:]) > 0.9


@pytest.mark.parametrize("enabled", [False, True])
def test_a_pipeline_that_would_leave_the_target_as_it_is_is_refused(samples, enabled):
    X, y, X_target, _ = samples
    pipeline = make_pipeline(StandardScaler(), ddr())
    name = "X_target" if enabled else "ddrclassifier__X_target"
    with sklearn.config_context(enable_metadata_routing=enabled):
        with pytest.raises(ValueError, match=UNTOUCHED):
            pipeline.fit(X, y, **{name: X_target})
        idle = Pipeline([("idle", "passthrough"), ("ddrclassifier", ddr())])
        idle.fit(X, y, **{name: X_target})
    assert_allclose(idle[-1].weights_, ddr().fit(X, y, X_target).weights_)


def test_the_refusal_saves_from_a_worse_model(samples, by_hand):
    """What the pipeline above would have learned, had the target stayed as it was."""
    X, y, X_target, y_target = scaled(samples)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unscaled = ddr().fit(X, y, samples[2])
    assert any("X_target seems to be unscaled" in str(w.message) for w in caught)
    assert unscaled.score(X_target, y_target) < by_hand.score(X_target, y_target) - 0.05


def test_no_warning_of_scale_without_need(samples):
    X, y, X_target, _ = scaled(samples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ddr().fit(X, y, X_target)
        ddr().fit(*samples[:3])


def test_the_guard_takes_its_target_as_the_classifier_does(samples, routing):
    X, y, X_target, _ = samples
    guard = GuardedDDRClassifier(LogisticRegression(), random_state=0)
    direct = clone(guard).fit(*scaled(samples)[:3])
    pipeline = make_pipeline(StandardScaler(), guard, transform_input=["X_target"])
    assert_allclose(pipeline.fit(X, y, X_target=X_target)[-1].report_.auc, direct.report_.auc)
    with pytest.raises(ValueError, match=UNTOUCHED):
        make_pipeline(StandardScaler(), guard).fit(X, y, X_target=X_target)
    search = GridSearchCV(guard, {"estimator__C": [1.0]}, cv=[(np.arange(240), np.arange(240))])
    with pytest.raises(ValueError, match=CUT):
        search.fit(*scaled(samples)[:2], X_target=scaled(samples)[2])
    search.fit(*scaled(samples)[:2], X_target=(scaled(samples)[2],))
    assert search.best_estimator_.choice_ == direct.choice_


def test_the_ratio_sees_what_the_learners_own_steps_make(samples, by_hand):
    X, y, X_target, _ = samples
    inside = ddr(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y, X_target)
    assert_allclose(inside.weights_, by_hand.weights_)
    assert_allclose(inside.predict_proba(X_target), by_hand.predict_proba(scaled(samples)[2]))
    nested = ddr(Pipeline([("all", make_pipeline(StandardScaler(), LogisticRegression()))]))
    assert_allclose(nested.fit(X, y, X_target).weights_, by_hand.weights_)
    raw = clone(inside).set_params(ratio_transform="passthrough").fit(X, y, X_target)
    assert not np.allclose(raw.weights_, by_hand.weights_)


def test_routing_does_not_change_what_a_learners_pipeline_learns(samples, by_hand, routing):
    X, y, X_target, _ = samples
    inside = ddr(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y, X_target)
    assert_allclose(inside.weights_, by_hand.weights_)


# --- cross-validation


def searches(model):
    grid = {"max_iter": [1, 2]}
    folds = StratifiedKFold(3)
    return [
        lambda X, y, T: GridSearchCV(model, grid, cv=folds).fit(X, y, X_target=T),
        lambda X, y, T: cross_val_score(model, X, y, cv=folds, params={"X_target": T}),
        lambda X, y, T: CalibratedClassifierCV(model, cv=folds).fit(X, y, X_target=T),
    ]


@pytest.mark.parametrize("search", searches(ddr()), ids=["grid", "score", "calibration"])
@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_cross_validation_never_cuts_the_target_in_silence(samples, search, enabled):
    X, y, X_target, _ = scaled(samples)
    with sklearn.config_context(enable_metadata_routing=enabled):
        with pytest.raises(ValueError, match=CUT):
            search(X, y, X_target)
        search(X, y, (X_target,))


def test_in_each_fold_the_whole_target_counts(samples):
    X, y, X_target, _ = scaled(samples)
    [(train, _)] = list(StratifiedKFold(2).split(X, y))[:1]
    found = GridSearchCV(ddr(), {"max_iter": [2]}, cv=[(train, train)]).fit(
        X, y, X_target=(X_target,)
    )
    alone = ddr(max_iter=2).fit(X[train], y[train], X_target)
    assert found.best_score_ == alone.score(X[train], y[train])
    assert_allclose(found.best_estimator_.weights_, ddr(max_iter=2).fit(X, y, X_target).weights_)


def test_known_labels_are_not_cut_either(samples):
    X, y, X_target, _ = scaled(samples)
    labels = np.full(len(y), -1)
    search = GridSearchCV(ddr(), {"max_iter": [1]}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match=r"y_target must be a tuple of one, \(y_target,\)"):
        search.fit(X, y, X_target=(X_target,), y_target=labels)
    search.fit(X, y, X_target=(X_target,), y_target=(labels,))


def test_searching_a_pipeline_transforms_the_whole_target(samples, by_hand, routing):
    X, y, X_target, _ = samples
    pipeline = make_pipeline(StandardScaler(), ddr(), transform_input=["X_target"])
    search = GridSearchCV(pipeline, {"ddrclassifier__max_iter": [10]}, cv=3)
    search.fit(X, y, X_target=(X_target,))
    assert_allclose(search.best_estimator_[-1].weights_, by_hand.weights_)


def test_the_weighted_search_adapts_by_the_whole_target(samples):
    X, y, X_target, _ = scaled(samples)
    weights = ddr_weights(X, y, X_target, random_state=0) + 0.1  # a row of weight zero is left out
    folds = list(StratifiedKFold(3).split(X, y))
    search = IWSearchCV(ddr(), {"components": ["both", "prior_ratio"]}, cv=folds)
    search.fit(X, y, sample_weight=weights, X_target=X_target)
    for candidate, risk in zip(
        search.cv_results_["params"], search.cv_results_["risk"], strict=True
    ):
        lost = [
            weights[test]
            @ (ddr(**candidate).fit(X[train], y[train], X_target).predict(X[test]) != y[test])
            for train, test in folds
        ]
        assert_allclose(risk, sum(lost) / weights.sum())
    best = ddr(**search.best_params_).fit(X, y, X_target)
    assert_allclose(search.best_estimator_.weights_, best.weights_)
    with pytest.raises(TypeError, match="estimator must take X_target in fit, as DDRClassifier do"):
        IWSearchCV(LogisticRegression(), {"C": [1.0]}).fit(X, y, X_target=X_target)


# --- weights, labels, no target


def test_sample_weights_multiply_those_that_adapt(samples):
    X, y, X_target, _ = scaled(samples)
    cost = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fitted = ddr(GaussianNB(), stopping="fixed", max_iter=3, keep_posteriors=True)
    fitted.fit(X, y, X_target, sample_weight=cost)
    expected = GaussianNB().fit(X, y, fitted.weights_ * cost)
    assert_allclose(fitted.predict_proba(X_target), expected.predict_proba(X_target))
    start = GaussianNB().fit(X, y, cost).predict_proba(X_target)
    assert_allclose(fitted.history_[0]["posteriors"], start)
    equal = clone(fitted).fit(X, y, X_target, sample_weight=np.full(len(y), 3.0))
    assert_allclose(equal.weights_, clone(fitted).fit(X, y, X_target).weights_)


def test_weights_in_the_place_of_the_target_are_refused_by_name(samples):
    X, y, *_ = samples
    for weights in (np.ones(len(y)), [1.0] * len(y), pd.Series(np.ones(len(y)))):
        with pytest.raises(ValueError, match=r"X_target must hold .* length 240.* sample_weight="):
            ddr().fit(X, y, weights)


def test_without_a_target_it_says_so(samples):
    with pytest.warns(UserWarning, match="X_target was not given: this is the plain estimator"):
        ddr().fit(*samples[:2])


@pytest.mark.parametrize("unknown", [-1, None, np.nan])
def test_known_target_labels_are_their_posteriors(samples, unknown):
    X, y, X_target, y_target = scaled(samples)
    known = np.arange(len(y_target)) % 4 == 0
    labels = np.where(known, y_target, unknown)
    fitted = ddr(keep_posteriors=True).fit(X, y, X_target, y_target=labels)
    for record in fitted.history_:
        assert_array_equal(record["posteriors"][known], np.eye(2)[y_target[known] - 1])
        assert not np.any(np.isin(record["posteriors"][~known], (0.0, 1.0)).all(axis=1))
    plain = ddr().fit(X, y, X_target)
    assert not np.allclose(fitted.weights_, plain.weights_)
    nothing = ddr().fit(X, y, X_target, y_target=np.full(len(labels), unknown))
    assert_array_equal(nothing.weights_, plain.weights_)


def test_minus_one_may_be_a_class(samples):
    X, y, X_target, y_target = scaled(samples)
    signs, labels = 2 * y - 3, 2 * y_target - 3
    named = ddr().fit(X, signs, X_target, y_target=labels)
    numbered = ddr().fit(X, y, X_target, y_target=y_target)
    assert_allclose(named.weights_, numbered.weights_)
    with pytest.raises(
        ValueError, match=r"y_target must hold classes of y, or None or NaN .* got 7"
    ):
        ddr().fit(X, signs, X_target, y_target=np.full(len(labels), 7))
    with pytest.raises(ValueError, match=r"for each of the 240 rows of X_target, got shape \(7,\)"):
        ddr().fit(X, signs, X_target, y_target=np.ones(7))


def test_labels_of_the_target_help(samples):
    """With every label known the prior ratio is that of the samples."""
    X, y, X_target, y_target = scaled(samples)
    fitted = ddr().fit(X, y, X_target, y_target=y_target)
    assert_allclose(fitted.prior_ratio_, np.bincount(y_target)[1:] / np.bincount(y)[1:])


# --- tables


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
    assert model.feature_names_in_.tolist() == ["height", "width", "kind", "gaps"]
    assert model.estimator_.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert model.estimator_.is_categorical_.tolist() == [False, False, True, False]
    assert model.score(target, y_target) > 0.9
    once = ddr(learner, ratio=ULSIF(100.0, 0.1, random_state=0), stopping="fixed", max_iter=1)
    once.set_params(ratio_transform=["height", "width"]).fit(table, y, target)
    rows, target_rows = (part[["height", "width"]].to_numpy() for part in (table, target))
    ratios = ClassRatios(once.ratio, rows, y - 1, target_rows, reselect=False)
    assert_allclose(once.class_ratio_, ratios(once.initial_estimator_.predict_proba(target)))


def test_the_ratio_asks_for_its_columns_in_one_sentence(tables):
    table, y, target, _ = tables
    learner = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)
    with pytest.raises(ValueError, match="ratio_transform must make finite numbers of X, or name"):
        ddr(learner).fit(table, y, target)
    gaps = table[["height", "gaps"]].to_numpy(), y, target[["height", "gaps"]].to_numpy()
    with pytest.raises(ValueError, match="ratio_transform must make finite numbers of X"):
        ddr(HistGradientBoostingClassifier(max_iter=5)).fit(*gaps)
    ddr(HistGradientBoostingClassifier(max_iter=5), ratio_transform=[0]).fit(*gaps)
    imputed = ddr(HistGradientBoostingClassifier(max_iter=5), ratio_transform=SimpleImputer())
    imputed.fit(*gaps).predict(gaps[2])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        ddr().fit(*gaps)
    for wrong in ("height", 3):
        with pytest.raises(ValueError, match=f"ratio_transform must be None, .* got {wrong!r}"):
            ddr(ratio_transform=wrong).fit(
                table[["height", "width"]], y, target[["height", "width"]]
            )


def test_a_learners_own_encoder_serves_the_ratio_too(tables):
    table, y, target, y_target = tables
    steps = make_column_transformer(
        (StandardScaler(), ["height", "width"]), (OneHotEncoder(), ["kind"]), sparse_threshold=1.0
    )
    model = ddr(make_pipeline(steps, LogisticRegression())).fit(table, y, target)
    fitted = clone(steps).fit(table)
    rows, target_rows = (fitted.transform(t).toarray() for t in (table, target))
    assert_allclose(model.weights_, ddr().fit(rows, y, target_rows).weights_)
    assert model.score(target, y_target) > 0.9


def test_arrays_with_gaps_pass_a_pipeline_that_fills_them(tables):
    table, y, target, _ = tables
    X, X_target = (t[["height", "width", "gaps"]].to_numpy() for t in (table, target))
    model = ddr(make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()))
    assert model.fit(X, y, X_target).predict(X_target).shape == y.shape


@parametrize_with_checks([ddr(HistGradientBoostingClassifier(max_iter=5))])
@pytest.mark.filterwarnings("ignore:X_target was not given")
def test_scikit_learns_checks_with_a_learner_that_takes_gaps(estimator, check):
    check(estimator)


# --- methods of the learner, signs of life


def test_methods_are_those_of_the_learner(samples, by_hand):
    _, _, X_target, _ = scaled(samples)
    assert_array_equal(
        by_hand.decision_function(X_target), by_hand.estimator_.decision_function(X_target)
    )
    assert_allclose(np.exp(by_hand.predict_log_proba(X_target)), by_hand.predict_proba(X_target))
    assert hasattr(DDRClassifier(LogisticRegression()), "decision_function")
    assert not hasattr(DDRClassifier(), "decision_function")
    assert hasattr(DDRClassifier(), "predict_log_proba")


def test_a_long_fit_tells_where_it_is(samples, capsys):
    X, y, X_target, _ = scaled(samples)
    ddr(stopping="fixed", max_iter=2).fit(X, y, X_target)
    assert capsys.readouterr().out == ""
    ddr(stopping="fixed", max_iter=2, verbose=True).fit(X, y, X_target)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7  # the start, and twice: two classes, one model
    assert all(
        re.search(r": \d+\.\d s, about \d+\.\d s left of the fir", line) for line in lines[:4]
    )
    assert "iteration 1 of at most 2 learned" in lines[3]
    assert all(re.search(r": \d+\.\d s, at most \d+\.\d s left$", line) for line in lines[4:])
    assert lines[-1].endswith(" at most 0.0 s left")


# --- skada


@pytest.fixture
def adapter():
    """Importing skada enables routing for good; here it ends with the test."""
    with sklearn.config_context(enable_metadata_routing=True):
        pytest.importorskip("skada", reason="the extra `skada` is not installed")
        from ddr.skada import DDRReweightAdapter

        yield DDRReweightAdapter


def da_pipeline(adapter, **options):
    from skada import make_da_pipeline

    learner = LogisticRegression().set_fit_request(sample_weight=True)
    return make_da_pipeline(adapter(ddr(**options)), learner)


def test_skadas_pipeline_learns_from_our_weights(samples, adapter):
    X, y, X_target, y_target = scaled(samples)
    domain = np.repeat([1, -2], [len(X), len(X_target)])
    both, labels = np.r_[X, X_target], np.r_[y, y_target]  # skada hides the latter from us
    pipeline = da_pipeline(adapter).fit(both, labels.copy(), sample_domain=domain)
    weights = ddr().fit(X, y, X_target).weights_
    expected = LogisticRegression().fit(X, y, weights)
    found = pipeline.predict_proba(X_target, sample_domain=np.full(len(X_target), -2))
    assert_allclose(found, expected.predict_proba(X_target), rtol=1e-6)
    hidden = np.r_[y, np.full(len(y_target), -1)]
    again = da_pipeline(adapter).fit(both, hidden, sample_domain=domain)
    assert_array_equal(again.predict(X_target), pipeline.predict(X_target))


def test_the_adapter_uses_labels_that_skada_leaves(samples, adapter):
    X, y, X_target, y_target = scaled(samples)
    domain = np.repeat([1, -2], [len(X), len(X_target)])
    some = np.where(np.arange(len(y_target)) < 60, y_target, -1)
    fitted = adapter(ddr()).fit(np.r_[X, X_target], np.r_[y, some], sample_domain=domain)
    expected = ddr().fit(X, y, X_target, y_target=some)
    assert_array_equal(fitted.classifier_.weights_, expected.weights_)
    signs = np.r_[2 * y - 3, np.full(len(y_target), -1)]
    with pytest.raises(ValueError, match="y must not have the class -1: skada marks unknown"):
        adapter().fit(np.r_[X, X_target], signs, sample_domain=domain)


def test_the_adapters_example_runs(adapter):
    import doctest

    import ddr.skada

    result = doctest.testmod(ddr.skada, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (result.attempted > 5, result.failed) == (True, 0)
