"""The classifier that adapts only where that is likely to help, and asks for labels to be sure.

Without labels it corrects the class prior where the prior differs, the learner can tell it, and
nothing else seems to have shifted. With a few labels it decides among all candidates.
"""

import warnings
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ddr._adapting import AdaptingClassifier
from ddr._checks import check_choice, check_count, check_given, check_weights
from ddr._domains import rows_for_ratio, rows_of, two_samples
from ddr.classifier import DDRClassifier
from ddr.guard.apart import tell_apart
from ddr.guard.labels import asking_order, chosen, judge
from ddr.guard.prior import AdjustedClassifier, Crossfit, calibrate, em_prior, logarithms
from ddr.guard.report import RULE, ShiftReport
from ddr.iwcv import fit_weighted
from ddr.ratio import ConstantRatio, OverlapWarning

#: Fewer rows of a sample tell nothing of a shift.
FEWEST_ROWS = 10
#: How strongly offsets learned from labels are pulled to zero, in labels.
OFFSET_STRENGTH = 32


def prior_candidates(learner, plain, X, y, X_target, cost):
    """The calibrated model and the one of a corrected prior; the prior ratio; the cross-fit."""
    cross = Crossfit(learner, X, y, X_target, cost)
    sharpness, offset = calibrate(logarithms(cross.source), cross.codes, cost)
    calibrated = AdjustedClassifier(plain, sharpness, offset)
    train_prior = np.bincount(cross.codes, cost) / cost.sum()
    prior_ratio = em_prior(calibrated.predict_proba(X_target), train_prior) / train_prior
    corrected = AdjustedClassifier(plain, sharpness, offset + np.log(prior_ratio))
    return {"calibrated": calibrated, "em": corrected}, prior_ratio, cross


def learned(model, X, codes):
    """A model whose posteriors are corrected by one offset a class, learned from labelled rows."""
    log = logarithms(model.predict_proba(X))
    _, offset = calibrate(log, codes, temperature=False, ridge=OFFSET_STRENGTH / len(codes))
    return AdjustedClassifier(model, offset=offset)


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
    Shift report
      Source against target, AUC ...
    Recommendation: ...
    """
    check_given(X_target, "X_target")
    return GuardedDDRClassifier(estimator, random_state=random_state).fit(X, y, X_target).report_


@dataclass(eq=False, repr=False)
class GuardedDDRClassifier(AdaptingClassifier):
    """Classifier that adapts to a target where that helps, and asks for labels to find out.

    ``fit`` makes the candidates: no weights, the same calibrated, the class prior corrected by EM,
    DDR's prior ratio, the plain density ratio, DDR. Without labels it chooses between the first
    and the third. ``ask`` names rows on which candidates disagree, and ``tell`` takes their labels
    and decides among all.

    Parameters
    ----------
    estimator : classifier, default=None
    ratio : density-ratio estimator, default=None
        As for :class:`~ddr.classifier.DDRClassifier`.
    mode : {"best", "sure"}, default="best"
        After labels, use the candidate of the largest estimated gain, less half its standard
        error, and learn one offset a class from the labels, which corrects its posteriors; or
        adapt only once a test that may be looked at after every label says that a candidate
        gains: at most 5 % of the targets on which none does are adapted to.
    candidates : dict of fitted classifiers, default=None
        Further models to decide among, by name.
    ratio_transform : default=None
        As for :class:`~ddr.classifier.DDRClassifier`.
    random_state : int, RandomState or None, default=None
        Seeds the learners and the order of the rows that are asked for.

    Attributes
    ----------
    choice_ : str
        Name of the candidate in use.
    report_ : ShiftReport or None
        None where no target was given.
    models_ : dict
        The candidates.
    estimator_ : classifier
        The model that predicts.
    classes_ : ndarray of shape (m,)
    n_features_in_ : int

    References
    ----------
    I. Waudby-Smith and A. Ramdas. Estimating means of bounded random variables by betting.
    Journal of the Royal Statistical Society B, 86, 2024.

    Examples
    --------
    >>> from ddr.paper.datasets import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, y_target = FourClusters().sample(300, "test", random_state=1)
    >>> model = GuardedDDRClassifier(random_state=0).fit(X, y, X_target)
    >>> rows = model.ask(20)
    >>> model.tell(rows, y_target[rows]).choice_
    'ddr'
    """

    _: KW_ONLY
    mode: str = "best"
    candidates: dict | None = None

    def fit(self, X, y, X_target=None, *, sample_weight=None, y_target=None, sample_domain=None):
        """Fit the candidates and look at the shift.

        ``X_target`` holds at least ten unlabelled rows of the target; None means no shift. The
        other arguments are as for :class:`~ddr.classifier.DDRClassifier`.
        """
        check_choice(self.mode, "mode", ("best", "sure"))
        check_given(X, "X")
        X, y, X_target, cost = two_samples(X, y, X_target, sample_domain, sample_weight)
        given = {"sample_weight": cost, "y_target": y_target}
        options = {"ratio_transform": self.ratio_transform, "random_state": self.random_state}
        # The report says what such warnings would say.
        with warnings.catch_warnings(action="ignore", category=OverlapWarning):
            both, by_prior = (
                DDRClassifier(self.estimator, ratio, **options).fit(X, y, X_target, **given)
                for ratio in (self.ratio, ConstantRatio())
            )
        X, y, X_target = self._check_samples(X, y, X_target)
        self.report_, self.choice_ = None, "none"
        self.models_ = {"none": both.initial_estimator_}
        if X_target is not None:
            self._examine(X, y, X_target, check_weights(cost, len(y)), by_prior, both)
        self.estimator_ = self.models_[self.choice_]
        return self

    def _examine(self, X, y, X_target, cost, by_prior, both):
        """Fit the candidates, and report what is seen without labels."""
        learner, ratio = self._parts()
        plain = self.models_["none"]
        rows = rows_for_ratio(X, y, X_target, self.ratio_transform, plain)
        n, n_target = len(rows[0]), len(rows[1])
        if min(n, n_target) < FEWEST_ROWS:
            few = f"got {n} and {n_target}"
            raise ValueError(f"X and X_target must have at least {FEWEST_ROWS} rows each, {few}")
        models, prior_ratio, cross = prior_candidates(learner, plain, X, y, X_target, cost)
        with warnings.catch_warnings(action="ignore"):
            weights = ratio.fit(*rows).weights_
        self.models_ |= models | {
            "prior_ratio": by_prior.estimator_,
            "ratio": fit_weighted(learner, X, y, cost * weights),
            "ddr": both.estimator_,
        }
        self.models_ |= self._own()
        self._X_target, self._told, self._asked = X_target, {}, set()
        self._said = np.array([model.predict(X_target) for model in self.models_.values()])
        seed = self.random_state if isinstance(self.random_state, int | None) else 0
        self._order, self._open = asking_order(self._said, seed)
        auc, auc_p, scores = tell_apart(*rows)
        changes = np.mean(self._said != self._said[0], axis=1)
        report = ShiftReport(
            auc=auc,
            auc_p=auc_p,
            residual_auc=tell_apart(*rows, prior_ratio[cross.codes])[0],
            prior_ratio=dict(zip(self.classes_.tolist(), prior_ratio.tolist(), strict=True)),
            prior_p=cross.unchanged(),
            condition=cross.condition(),
            changes=dict(zip(list(self.models_)[1:], changes[1:].tolist(), strict=True)),
            open=self._open / n_target,
            scores=scores,
        )
        self.choice_, reason = RULE.choose(report)
        if self.mode == "sure" and self.choice_ != "none":
            self.choice_, reason = "none", 'no labels were told, and mode="sure" asks for some'
        self._report(report, reason=reason)

    def _own(self):
        """The user's candidates, checked."""
        own = {} if self.candidates is None else self.candidates
        if not isinstance(own, dict) or set(own) & set(self.models_):
            raise ValueError(
                "candidates must be a dict of fitted classifiers, with other names than "
                f"{', '.join(self.models_)}, got {own!r}"
            )
        return own

    def _report(self, report, **news):
        """Store the report with what is new, and the rows to label next."""
        rows = [row for row in self._order[: self._open] if row not in self._told][:20]
        questions = tuple((int(row), *self._said[:, row].tolist()) for row in rows)
        news |= {"choice": self.choice_, "questions": questions, "labels": len(self._told)}
        self.report_ = replace(report, **news)

    def ask(self, n=20):
        """Numbers of the ``n`` rows of ``X_target`` that are most worth a label.

        Rows on which the candidates disagree come first, in random order; the others follow once
        these are used up. Rows that were told are left out.
        """
        self._check_target_given("ask")
        n = check_count(n, "n")
        rows = np.array([row for row in self._order if row not in self._told][:n], dtype=int)
        self._asked.update(rows.tolist())
        return rows

    def tell(self, rows, labels):
        """Learn the labels of rows that ``ask`` named, in one go or in steps, and decide anew.

        Labels count for the decision in the order in which the rows were asked for: one that is
        left out keeps those after it from counting.
        """
        self._check_target_given("tell")
        rows, labels = np.atleast_1d(rows), np.atleast_1d(labels)
        self._check_told(rows, labels)
        self._told |= dict(zip(rows.tolist(), labels.tolist(), strict=True))
        self._decide()
        return self

    def _check_target_given(self, method):
        check_is_fitted(self)
        if self.report_ is None:
            raise ValueError(f"{method} needs a target: fit was called without X_target")

    def _check_told(self, rows, labels):
        if rows.ndim != 1 or rows.shape != labels.shape:
            raise ValueError(
                "rows and labels must have the same length, "
                f"got {rows.shape} rows and {labels.shape} labels"
            )
        for place, row in enumerate(rows.tolist()):
            if row not in self._asked:
                raise ValueError(f"rows must be rows that ask() named, got {row!r}")
            if row in self._told or row in rows[:place]:
                raise ValueError(f"rows must each be told once, got {row} again")
        unknown = set(labels.tolist()) - set(self.classes_.tolist())
        if unknown:
            allowed = ", ".join(repr(c) for c in self.classes_.tolist())
            raise ValueError(f"labels must be classes of y ({allowed}), got {unknown.pop()!r}")

    def _decide(self):
        """Estimate every candidate's gain from the labels, and choose."""
        told = np.isin(self._order[: self._open], list(self._told))
        counted = int(np.append(told, False).argmin())
        rows, left = self._order[:counted], self._open - counted
        labels = np.array([self._told[row] for row in rows], dtype=self.classes_.dtype)
        gains = judge(list(self.models_), self._said, rows, labels)
        self.choice_ = chosen(gains, self.mode)
        self.estimator_ = self.models_[self.choice_]
        if self.mode == "best":
            labelled = rows_of(self._X_target, list(self._told))
            codes = np.searchsorted(self.classes_, list(self._told.values()))
            self.estimator_ = learned(self.estimator_, labelled, codes)
        found = gains[self.choice_].estimate if self.choice_ != "none" else 0.0
        most = max(gain.high for gain in gains.values()) - found
        shown = f"estimate a gain of {found:+.1f} points"
        if self.choice_ == "none":
            shown = "do not show that another candidate gains"
        reason = f"{counted} labels where candidates disagree {shown}"
        if left:
            reason += f"; {left} such rows are left, which could show up to {most:.1f} points more"
        self._report(self.report_, reason=reason, gains=gains)
