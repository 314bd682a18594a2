"""The report of a shift, the prior correction, and the classifier that asks for labels."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from labelled_rows import two_normal as classes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr import AgreementWarning, DDRClassifier, GuardedDDRClassifier, shift_report
from ddr.guard import CHOICES, Rule
from ddr.paper.choices import fixed


@parametrize_with_checks([GuardedDDRClassifier()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def guard(source, target, **options):
    learner = options.pop("estimator", LogisticRegression())
    return GuardedDDRClassifier(learner, random_state=0, **options).fit(*source, target)


def test_class_weight_of_a_learner_is_no_shift():
    (X, y), (X_target, _) = classes(3000, 0.15, 0), classes(3000, 0.15, 1)
    model = guard((X, y), X_target, estimator=LogisticRegression(class_weight="balanced"))
    assert model.choice_ == "none"
    assert_allclose(list(model.report_.prior_ratio.values()), 1, atol=0.25)


@pytest.mark.parametrize(
    ("seen", "choice"),
    [
        ({}, "em"),
        ({"prior_p": 0.2}, "none"),
        ({"condition": 9.0}, "none"),
        ({"residual_auc": 0.64}, "none"),
        ({"residual_auc": 0.36}, "none"),
        ({"auc": 0.8, "condition": 9.0, "residual_auc": 0.36}, "em"),
        ({"auc": 0.8, "condition": 33.0, "residual_auc": 0.5}, "none"),
        ({"auc": 0.8, "residual_auc": 0.66}, "none"),
        ({"prior_p": 0.2, "auc": 0.8}, "none"),
        ({"prior_p": 0.0078125}, "none"),  # right at a limit
        ({"condition": 8.0, "residual_auc": 0.625}, "em"),
        ({"auc": 0.75, "condition": 32.0, "residual_auc": 0.375}, "em"),
    ],
)
def test_each_limit_decides(seen, choice):
    calm = {"auc": 0.6, "prior_p": 0.001, "condition": 2.0, "residual_auc": 0.51}
    rule = Rule(prior_p=0.0078125, condition=8.0, residual=0.125, large=0.75)
    assert rule.choose(SimpleNamespace(**(calm | seen)))[0] == choice


@pytest.mark.parametrize("prior", [(0.5, 0.9), (0.9, 0.1)])
def test_label_shift_is_recognised_and_corrected(prior):
    source, (X_target, y_target) = (classes(1500, p, i, gap=2) for i, p in enumerate(prior))
    model = guard(source, X_target)
    assert model.choice_ == model.report_.choice == "em"
    truth = [(1 - prior[1]) / (1 - prior[0]), prior[1] / prior[0]]
    assert_allclose(list(model.report_.prior_ratio.values()), truth, rtol=0.3, atol=0.1)
    assert model.score(X_target, y_target) > model.models_["none"].score(X_target, y_target) + 0.02
    assert guard(source, X_target, mode="sure").choice_ == "none"


def test_other_shifts_and_none_are_left_alone():
    source = classes(300, 0.5, 0)
    for seed in range(5):
        assert guard(source, classes(300, 0.5, seed + 1)[0]).choice_ == "none"
    model = guard(source, classes(300, 0.8, 1, moved=4)[0])
    assert model.choice_ == "none"
    assert model.report_.residual_auc > 0.9
    plain = LogisticRegression().fit(*source)
    assert_allclose(model.predict_proba(source[0]), plain.predict_proba(source[0]))


def test_choice_hangs_neither_on_a_seed_nor_on_the_order_of_the_target():
    source, (X_target, _) = classes(300, 0.5, 0), classes(300, 0.7, 1)
    reports = [
        GuardedDDRClassifier(random_state=seed).fit(*source, rows).report_
        for seed, rows in ((0, X_target), (7, X_target), (0, X_target[::-1]))
    ]
    assert len({report.choice for report in reports}) == 1
    assert reports[0].prior_p == reports[1].prior_p
    assert reports[0].residual_auc == reports[1].residual_auc
    assert_allclose(*[list(reports[i].prior_ratio.values()) for i in (0, 2)])


def test_numbers_of_the_report_are_those_of_other_code():
    source, (X_target, _) = classes(200, 0.5, 0), classes(150, 0.8, 1)
    model = guard(source, X_target)
    report, plain = model.report_, LogisticRegression().fit(*source).predict(X_target)
    said = {name: each.predict(X_target) for name, each in model.models_.items()}
    assert_array_equal(said["none"], plain)
    for name, share in report.changes.items():
        assert share == np.mean(said[name] != plain)
    different = np.array([len(set(row)) > 1 for row in zip(*said.values(), strict=True)])
    assert report.open == np.mean(different)
    corrected, calibrated = (model.models_[name] for name in ("em", "calibrated"))
    weights = corrected.predict_proba(X_target) / calibrated.predict_proba(X_target)
    ratio = np.array(list(report.prior_ratio.values()))
    assert_allclose(weights[:, 1] / weights[:, 0], ratio[1] / ratio[0])
    table = [line.split() for line in report.table().split("\n")]
    assert table[0] == ["row", *model.models_]
    for row, *cells in table[1:]:
        assert different[int(row)]
        assert cells == [str(said[name][int(row)]) for name in model.models_]


def test_report_prints_and_shows_every_line():
    (X, y), (X_target, y_target) = classes(100, 0.5, 0), classes(100, 0.8, 1)
    names = np.array(["well", "<ill>"])
    report = shift_report(X, names[y], X_target)
    lines = str(report).split("\n")
    for row in report.rows():
        assert any(all(part in line for part in row) for line in lines)
    assert f"Recommendation: Use {CHOICES[report.choice]}" in str(report)
    assert "&lt;ill&gt;" in report._repr_html_()
    assert lines[-7].startswith("Label these rows first")
    asked = [str(row) for row, *_ in report.questions[:5]]
    assert [line.split()[0] for line in lines[-5:]] == asked
    (axes,) = report.plot().axes
    sides = [group[0].get_label() for group in axes.containers]
    assert sides == ["source", "target"]
    for bars, scores in zip(axes.containers, report.scores, strict=True):
        heights, _ = np.histogram(scores, len(bars), density=True)
        assert_allclose([bar.get_height() for bar in bars], heights)
    model = GuardedDDRClassifier(random_state=0).fit(X, names[y], X_target)
    rows = model.ask(5)
    report = model.tell(rows, names[y_target[rows]]).report_
    drawn = [line.get_xdata() for line in report.plot().axes[0].lines]
    assert_array_equal(drawn.pop(), 0)
    for gain, interval, dot in zip(report.gains.values(), drawn[::2], drawn[1::2], strict=True):
        assert (*interval, *dot) == (gain.low, gain.high, gain.estimate)
        words = f"{gain.low:+.1f} to {gain.high:+.1f} points, {gain.labels} labels"
        assert words in str(report)


def test_target_can_be_marked_instead():
    (X, y), (X_target, _) = classes(80, 0.5, 0), classes(60, 0.8, 1)
    both, hidden = np.vstack([X, X_target]), np.append(y, np.full(60, -1))
    models = [GuardedDDRClassifier(random_state=0) for _ in range(2)]
    models[0].fit(X, y, X_target)
    models[1].fit(both, hidden, sample_domain=np.repeat([1, -2], [80, 60]))
    assert models[0].report_.prior_p == models[1].report_.prior_p
    assert_allclose(*[model.predict_proba(X_target) for model in models])


def test_tables_categories_missing_values_and_weights_reach_the_learner():
    (X, y), (X_target, y_target) = classes(150, 0.5, 0), classes(120, 0.8, 1)
    frames = []
    for rows in (X, X_target):
        frame = pd.DataFrame(rows, columns=["a", "b", "c"])
        frame["kind"] = pd.Categorical(np.where(rows[:, 2] > 0, "x", "y"))
        frame.loc[frame.index[::7], "c"] = np.nan
        frames.append(frame)
    learner = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    model = GuardedDDRClassifier(learner, ratio_transform=["a", "b"], random_state=0)
    weight = np.where(y == 1, 3.0, 1.0)
    model.fit(frames[0], y, frames[1], sample_weight=weight)
    rows = model.ask(10)
    assert model.tell(rows, y_target[rows]).predict(frames[1]).shape == (120,)
    plain = clone(model).fit(frames[0], y, frames[1])
    said = [m.models_["none"].predict_proba(frames[1])[:, 1].mean() for m in (model, plain)]
    assert said[0] > said[1] + 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: shift_report(X, y, None), "X_target must hold the rows .*got None"),
        (lambda X, y: shift_report(X, y, X[:9]), "at least 10 rows each, got 40 and 9"),
        (lambda X, y: shift_report(X[:8], y[:8], X), "at least 10 rows each, got 8 and 40"),
        (lambda X, y: shift_report(X, y, X[:, :2]), r"X_target is .* has 2 features.*3"),
        (
            lambda X, y: guard((X, y), X, mode="safe"),
            "mode must be one of 'best', 'sure', got 'safe'",
        ),
        (lambda X, y: guard((X, y), X, candidates=[1]), "candidates must be a dict"),
        (
            lambda X, y: guard((X, y), X, candidates={"em": GaussianNB()}),
            "candidates must .*other names than none, .*'em'",
        ),
        (lambda X, y: GuardedDDRClassifier().fit(X, y).ask(), "ask needs a target"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_errors_name_argument_value_and_what_is_allowed(call, message):
    X, y = classes(40, 0.5, 0)
    with pytest.raises(ValueError, match=message):
        call(X, y)


def test_low_agreement_warns():
    X, y = classes(60, 0.5, 0, gap=0.2)
    turned = np.random.default_rng(1).normal(size=(60, 3)) * [-1, 1, 1]
    with pytest.warns(AgreementWarning) as caught:
        model = DDRClassifier(stopping=fixed, random_state=0).fit(X, y, turned)
    assert model.agreement_ < 0.7
    assert f"{1 - model.agreement_:.0%} of the target rows" in str(caught[0].message)
