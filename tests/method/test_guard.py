"""The report of a shift, the prior correction, and the classifier that follows the report."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr import AgreementWarning, DDRClassifier, GuardedDDRClassifier, shift_report
from ddr.guard import CHOICES, RULE, Rule
from ddr.guard.apart import tell_apart, unsupported_share
from ddr.guard.prior import PriorCorrectedClassifier, em_prior
from ddr.paper.choices import fixed


@parametrize_with_checks([GuardedDDRClassifier()])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def classes(n, prior, seed, gap=1.5):
    """Two normal classes, with the labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prior).astype(int)
    return rng.normal(size=(n, 3)) + gap * y[:, None] * [1, 0.5, 0], y


def test_em_finds_the_likeliest_prior():
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet([1, 1], 50)
    train = np.array([0.3, 0.7])

    def loss(p):
        return -np.log(posteriors @ (np.array([p, 1 - p]) / train)).sum()

    best = minimize_scalar(loss, bounds=(0.01, 0.99), method="bounded").x
    assert_allclose(em_prior(posteriors, train)[0], best, atol=1e-4)


def test_prior_correction_finds_a_changed_prior_and_gains_by_it():
    (X, y), (X_target, y_target) = classes(600, 0.5, 0), classes(600, 0.9, 1)
    model = PriorCorrectedClassifier(LogisticRegression(), random_state=0).fit(X, y, X_target)
    assert_allclose(model.prior_ratio_ * np.bincount(y) / len(y), [0.1, 0.9], atol=0.05)
    assert model.evidence_ < 1e-6
    assert_allclose(model.predict_proba(X_target).sum(axis=1), 1)
    assert model.score(X_target, y_target) > LogisticRegression().fit(X, y).score(
        X_target, y_target
    )


def test_samples_of_one_distribution_are_not_told_apart():
    rng = np.random.default_rng(3)
    flagged = [
        tell_apart(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)), None, s)[1] < 0.01
        for s in range(20)
    ]
    assert sum(flagged) <= 2


def test_telling_apart_sees_more_than_means_and_obeys_weights():
    rng = np.random.default_rng(0)
    ring = rng.normal(size=(300, 2))
    ring = 2 * ring / np.linalg.norm(ring, axis=1)[:, None]
    auc, p, (source, target) = tell_apart(rng.normal(size=(300, 2)), ring)
    assert auc > 0.8
    assert p < 1e-6
    assert len(source) == len(target) == 300
    X, y = classes(600, 0.5, 0)
    X_target, _ = classes(600, 0.9, 1)
    corrected = tell_apart(X, X_target, np.where(y == 1, 1.8, 0.2))
    assert corrected[0] < 0.55 < tell_apart(X, X_target)[0]


def test_unsupported_rows_are_counted():
    X = np.random.default_rng(0).normal(size=(200, 2))
    assert unsupported_share(X, np.vstack([X[:50], X[:50] + 100])) == 0.5


def test_label_shift_is_recognised_and_corrected():
    (X, y), (X_target, y_target) = classes(400, 0.5, 0), classes(400, 0.9, 1)
    model = GuardedDDRClassifier(LogisticRegression(), random_state=0).fit(X, y, X_target)
    report = model.report_
    assert model.choice_ == report.choice == "em"
    assert report.residual_p > 0.01 > report.auc_p
    plain = report.models["none"].score(X_target, y_target)
    assert model.score(X_target, y_target) > plain
    assert_allclose(model.predict_proba(X_target), report.models["em"].predict_proba(X_target))


def test_samples_far_apart_get_no_weights():
    X, y = classes(200, 0.5, 0)
    model = GuardedDDRClassifier(random_state=0).fit(X, y, X + np.array([0, 0, 5]))
    assert model.choice_ == "none"
    assert "AUC of 1.00" in model.report_.reason
    assert_allclose(model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))


def test_the_order_of_the_target_decides_nothing():
    (X, y), (X_target, _) = classes(300, 0.5, 0), classes(300, 0.8, 1)
    order = np.random.default_rng(0).permutation(300)
    reports = [shift_report(X, y, rows) for rows in (X_target, X_target[order])]
    assert reports[0].choice == reports[1].choice
    assert_allclose(*[list(report.prior_ratio.values()) for report in reports])


def test_low_agreement_warns():
    X, y = classes(60, 0.5, 0, gap=0.2)
    turned = np.random.default_rng(1).normal(size=(60, 3)) * [-1, 1, 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = DDRClassifier(stopping=fixed, random_state=0).fit(X, y, turned)
    said = [str(w.message) for w in caught if w.category is AgreementWarning]
    assert (model.agreement_ < 0.7) == bool(said)
    assert model.agreement_ < 0.7
    assert f"{1 - model.agreement_:.0%} of the target rows" in said[0]


def test_report_prints_and_shows_every_line(tmp_path):
    (X, y), (X_target, _) = classes(100, 0.5, 0), classes(100, 0.8, 1)
    report = shift_report(X, np.where(y == 1, "<ill>", "well"), X_target)
    lines = str(report).split("\n")
    for row in report.rows():
        assert any(all(part in line for part in row) for line in lines)
    assert f"Recommendation: Use {CHOICES[report.choice]}" in str(report)
    assert "&lt;ill&gt;" in report._repr_html_()
    report.plot().savefig(tmp_path / "report.png")


@pytest.mark.parametrize(
    ("seen", "choice"),
    [
        ({"auc": 0.9}, "none"),
        ({"prior_evidence": 0.001}, "em"),
        ({"prior_evidence": 0.001, "residual_auc": 0.65}, "prior_ratio"),
        ({"agreement": 0.99}, "ddr"),
        ({}, "prior_ratio"),
        ({"ratio_agreement": 0.5}, "none"),
    ],
)
def test_each_limit_decides(seen, choice):
    calm = {"auc": 0.6, "residual_auc": 0.5, "prior_evidence": 0.5}
    calm |= {"agreement": 0.9, "ratio_agreement": 0.95}
    rule = Rule(0.8, 0.55, prior_evidence=0.01, ratio_agreement=0.9, agreement=0.97)
    chosen, reason = rule.choose(SimpleNamespace(**(calm | seen)))
    assert chosen == choice
    assert reason
    assert RULE.auc < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: shift_report(X, y, None), "X_target must hold the rows .*got None"),
        (lambda X, y: shift_report(X, y, X[:9]), "X_target must have at least 10 rows .*got 9"),
        (lambda X, y: shift_report(X[:8], y[:8], X), "X must have at least 10 rows .*got 8"),
        (lambda X, y: shift_report(X, y, X[:, :2]), "X_target has 2 features.*3"),
    ],
)
def test_errors_name_argument_value_and_what_is_allowed(call, message):
    X, y = classes(40, 0.5, 0)
    with pytest.raises(ValueError, match=message):
        call(X, y)
