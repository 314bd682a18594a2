"""What shift a target has, and whether adapting to it is worth it.

:func:`shift_report` tells what can be seen of a shift without labels of the target;
:class:`GuardedDDRClassifier` follows its advice. The limits are fitted to natural shifts by
``benchmarks/shift_rule.py``.
"""

import warnings
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr._checks import check_given, check_rows
from ddr.classifier import DDRClassifier
from ddr.guard.apart import tell_apart, unsupported_share
from ddr.guard.prior import PriorCorrectedClassifier
from ddr.information import effective_sample_size
from ddr.ratio import ConstantRatio, OverlapWarning

#: Fewer rows of a sample tell nothing of a shift.
FEWEST_ROWS = 10
#: What a guard chooses among, and what that is called in a sentence.
CHOICES = {
    "none": "no weights",
    "em": "a corrected class prior (EM on calibrated posteriors)",
    "prior_ratio": "DDR's prior ratio alone",
    "ddr": "DDR",
}


@dataclass(frozen=True)
class Rule:
    """Limits by which a choice is made; the fitted ones are ``RULE``."""

    auc: float
    residual_auc: float
    prior_evidence: float
    ratio_agreement: float
    agreement: float

    def choose(self, seen):
        """Choice and its reason, from a report or anything else with the same attributes."""
        if seen.auc >= self.auc:
            apart = f"an AUC of {seen.auc:.2f} tells source and target apart"
            return "none", f"{apart}, too far for weights to be trusted (limit {self.auc:g})"
        if seen.prior_evidence < self.prior_evidence and seen.residual_auc < self.residual_auc:
            differs = f"the class prior differs (p = {seen.prior_evidence:.1g}) and explains the"
            return "em", f"{differs} shift: corrected, it leaves an AUC of {seen.residual_auc:.2f}"
        if seen.agreement >= self.agreement and seen.agreement == 1:
            return "none", "DDR changes no prediction"
        if seen.agreement >= self.agreement:
            return "ddr", f"DDR changes only {1 - seen.agreement:.1%} of the predictions"
        changed = f"{1 - seen.ratio_agreement:.0%} of the predictions change"
        if seen.ratio_agreement >= self.ratio_agreement:
            overlap = f"the samples overlap (AUC {seen.auc:.2f})"
            return "prior_ratio", f"{overlap}, the prior alone explains no shift, and {changed}"
        return "none", f"{changed} if adapted, which more often harms than helps"


#: Fitted by benchmarks/shift_rule.py; a test fits them again from the stored benchmark.
RULE = Rule(0.7, 0.52, prior_evidence=0.05, ratio_agreement=0.9, agreement=0.99)


@dataclass(frozen=True, eq=False)
class ShiftReport:
    """What two samples and four models show of a shift; prints, and shows itself in a notebook.

    ``auc`` is how well a cross-validated classifier tells source from target, ``auc_p`` the p-value
    of no shift; ``residual_auc`` and ``residual_p`` the same once the source has the target's class
    prior. ``prior_ratio`` is that of each class by EM, ``prior_evidence`` the p-value of an
    unchanged prior. ``effective_size`` belongs to DDR's weights, ``unsupported`` is the share of
    the target farther from the source than 99 % of its rows are from one another. The agreements
    are shares of the target on which DDR, its prior ratio alone, and EM say what the model without
    weights says. ``choice`` and ``reason`` are the recommendation.
    """

    n_source: int
    n_target: int
    auc: float
    auc_p: float
    residual_auc: float
    residual_p: float
    prior_ratio: dict
    prior_evidence: float
    effective_size: float
    unsupported: float
    agreement: float
    ratio_agreement: float
    em_agreement: float
    scores: tuple = field(repr=False)  # held out, of the rows of source and target
    models: dict = field(repr=False)
    choice: str = ""
    reason: str = ""

    @property
    def advice(self):
        """What to use, and why, in a sentence."""
        return f"Use {CHOICES[self.choice]}: {self.reason}."

    def rows(self):
        """Each line of the report: what, how much, and what it says."""
        ratios = ", ".join(f"{c}: {ratio:.2f}" for c, ratio in self.prior_ratio.items())
        same = "seems unchanged" if self.residual_p > 0.01 else "seems changed"
        ess = f"of {self.n_source} rows"
        return [
            ("Source against target, AUC", f"{self.auc:.2f}", f"p = {self.auc_p:.1g} of no shift"),
            ("The same, prior corrected", f"{self.residual_auc:.2f}", f"p(x|y) {same}"),
            ("Prior ratio", ratios, f"p = {self.prior_evidence:.1g} of no change"),
            ("Effective sample size of DDR", f"{self.effective_size:.0f}", ess),
            ("Target without support", f"{self.unsupported:.0%}", "about 1% without a shift"),
            ("DDR agrees with no weights", f"{self.agreement:.0%}", "of the target"),
            ("Its prior ratio alone does", f"{self.ratio_agreement:.0%}", "of the target"),
            ("EM does", f"{self.em_agreement:.0%}", "of the target"),
        ]

    def __str__(self):
        lines = [f"Shift report: {self.n_source} source rows, {self.n_target} target rows"]
        lines += [f"  {what:<30}{value:>8}  {note}" for what, value, note in self.rows()]
        return "\n".join([*lines, *wrap(f"Recommendation: {self.advice}", 80)])

    def _repr_html_(self):
        lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows())
        table = "".join(f"<tr>{cells}</tr>" for cells in lines)
        return f"<table><caption>Shift report</caption>{table}</table><p>{escape(self.advice)}</p>"

    def plot(self):
        """Figure of how far the samples are apart, and of the ratio of the class priors."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        bins = np.histogram_bin_edges(np.concatenate(self.scores), 30)
        for name, scores in zip(("source", "target"), self.scores, strict=True):
            left.hist(scores, bins, density=True, alpha=0.5, label=name)
        left.set(title=f"Told apart: AUC {self.auc:.2f}", xlabel="held-out score", yticks=[])
        left.legend()
        right.bar([str(c) for c in self.prior_ratio], self.prior_ratio.values())
        right.axhline(1, color="0.5", lw=1)
        right.set(title="Ratio of the class priors", xlabel="class", ylabel="target / source")
        return figure


def shift_report(X, y, X_target, estimator=None, *, random_state=0):
    """What shift a target has and what to do about it, without a label of the target.

    Parameters
    ----------
    X : array-like of shape (n_source, d)
    y : array-like of shape (n_source,)
    X_target : array-like of shape (n_target, d), at least ten rows
    estimator : classifier, default=None
        As for :class:`~ddr.classifier.DDRClassifier`; None means ``GaussianNB()``.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ShiftReport

    Examples
    --------
    >>> from ddr.paper.datasets import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(300, "test", random_state=1)
    >>> print(shift_report(X, y, X_target))
    Shift report: 300 source rows, 300 target rows
      Source against target, AUC ...
    Recommendation: ...
    """
    check_given(X_target, "X_target")
    guard = GuardedDDRClassifier(estimator, random_state=random_state)
    return guard.fit(X, y, X_target).report_


class GuardedDDRClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that adapts to an unlabelled target only where that is likely to help.

    It fits models without weights, with the class prior corrected by EM on calibrated posteriors,
    with DDR's prior ratio and by all of Algorithm 1. Which one predicts is chosen by what
    :func:`shift_report` sees, without a label of the target.

    Parameters
    ----------
    estimator : classifier, default=None
    ratio : density-ratio estimator, default=None
        As for :class:`~ddr.classifier.DDRClassifier`.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    choice_ : {"none", "em", "prior_ratio", "ddr"}
    report_ : ShiftReport or None
        None where no target was given.
    estimator_ : classifier
        The model that was chosen.
    classes_ : ndarray of shape (m,)
    n_features_in_ : int

    Examples
    --------
    >>> from ddr.paper.datasets import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(300, "test", random_state=1)
    >>> model = GuardedDDRClassifier(random_state=0).fit(X, y, X_target)
    >>> model.choice_ == model.report_.choice, model.predict(X_target).shape
    (True, (300,))
    """

    # A pipeline hands on the target without being asked to.
    __metadata_request__fit = {"X_target": True}  # noqa: RUF012

    def __init__(self, estimator=None, ratio=None, *, random_state=None):
        self.estimator = estimator
        self.ratio = ratio
        self.random_state = random_state

    def fit(self, X, y, X_target=None):
        """Fit the models, look at the shift, and keep the model that it calls for.

        ``X_target`` holds at least ten unlabelled rows of the target; None means no shift.
        """
        check_given(X, "X")
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        if X_target is None:
            self.report_, self.choice_ = None, "none"
            self.estimator_ = self._ddr(self.ratio).fit(X, y).estimator_
        else:
            X_target = check_rows(self, X_target, "X_target")
            name, rows = min((("X", X), ("X_target", X_target)), key=lambda pair: len(pair[1]))
            if len(rows) < FEWEST_ROWS:
                raise ValueError(
                    f"{name} must have at least {FEWEST_ROWS} rows to judge a shift by, "
                    f"got {len(rows)}"
                )
            report = self._examine(X, y, X_target)
            self.choice_, reason = RULE.choose(report)
            self.report_ = replace(report, choice=self.choice_, reason=reason)
            self.estimator_ = report.models[self.choice_]
        self.classes_ = self.estimator_.classes_
        return self

    def _ddr(self, ratio):
        return DDRClassifier(self.estimator, ratio, random_state=self.random_state)

    def _examine(self, X, y, X_target):
        with warnings.catch_warnings():  # the report says what they would say
            warnings.simplefilter("ignore", OverlapWarning)
            ddr = self._ddr(self.ratio).fit(X, y, X_target)
            ratio = self._ddr(ConstantRatio()).fit(X, y, X_target)
        plain, seed = ddr.initial_estimator_, self.random_state
        em = PriorCorrectedClassifier(clone(plain), random_state=seed).fit(X, y, X_target)
        weights = em.prior_ratio_[np.searchsorted(em.classes_, y)]
        auc, auc_p, scores = tell_apart(X, X_target, None, seed)
        residual_auc, residual_p, _ = tell_apart(X, X_target, weights, seed)
        return ShiftReport(
            n_source=len(X),
            n_target=len(X_target),
            auc=auc,
            auc_p=auc_p,
            residual_auc=residual_auc,
            residual_p=residual_p,
            prior_ratio=dict(zip(em.classes_.tolist(), em.prior_ratio_.tolist(), strict=True)),
            prior_evidence=em.evidence_,
            effective_size=effective_sample_size(ddr.weights_),
            unsupported=unsupported_share(X, X_target, seed),
            agreement=ddr.agreement_,
            ratio_agreement=ratio.agreement_,
            em_agreement=float(np.mean(em.predict(X_target) == plain.predict(X_target))),
            scores=scores,
            models={"none": plain, "em": em, "prior_ratio": ratio, "ddr": ddr},
        )

    def predict(self, X):
        """Predicted class of each row, by the model that was chosen."""
        check_is_fitted(self)
        return self.estimator_.predict(validate_data(self, X, dtype=np.float64, reset=False))

    def predict_proba(self, X):
        """Class probabilities of each row, by the model that was chosen."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(validate_data(self, X, dtype=np.float64, reset=False))
