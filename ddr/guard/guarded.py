"""The classifier that adapts only where that is likely to help, and asks for labels to be sure.

Without labels it corrects the class prior where the prior differs, the learner can tell it, and
nothing else seems to have shifted. With a few labels it decides among all candidates.
"""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ddr._checks import check_choice, check_count, check_given, check_weights
from ddr._domains import rows_of, two_samples
from ddr.classifier import DDRClassifier, rows_for_ratio, takes_nan
from ddr.guard.apart import tell_apart, unsupported_share
from ddr.guard.labels import adjusted, asking_order, differences, interval, standard_error, wealth
from ddr.guard.prior import AdjustedClassifier, Crossfit, calibrate, em_prior, logarithms
from ddr.guard.report import RULE, Gain, ShiftReport
from ddr.information import effective_sample_size
from ddr.iwcv import fit_weighted
from ddr.ratio import AgreementWarning, ConstantRatio, OverlapWarning

#: Fewer rows of a sample tell nothing of a shift.
FEWEST_ROWS = 10
_SURE = 20.0  # the evidence at which a candidate is taken to gain: a chance of one in twenty
_OFFSET_RIDGE = 0.2  # of several tried on the natural shifts outside the vault


def prior_candidates(learner, plain, X, y, X_target, cost):
    """The calibrated model, the one of a corrected prior, its prior ratio, and the cross-fit."""
    cross = Crossfit(learner, X, y, X_target, cost)
    sharpness, offset = calibrate(logarithms(cross.source), cross.codes, cost)
    calibrated = AdjustedClassifier(plain, sharpness, offset)
    train_prior = np.bincount(cross.codes, cost) / cost.sum()
    prior_ratio = em_prior(calibrated.predict_proba(X_target), train_prior) / train_prior
    corrected = AdjustedClassifier(plain, sharpness, offset + np.log(prior_ratio))
    return calibrated, corrected, prior_ratio, cross


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
        error; or adapt only once a test that may be looked at after every label says that a
        candidate gains: at most 5 % of the targets on which none does are adapted to.
    learn : bool, default=True
        In the mode "best", also learn from the labels one offset a class, which corrects the
        posteriors of the candidate that they choose. In the mode "sure" nothing is learned.
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

    # A pipeline hands on the target without being asked to.
    __metadata_request__fit = {"X_target": True, "y_target": True}  # noqa: RUF012

    def __init__(
        self,
        estimator=None,
        ratio=None,
        *,
        mode="best",
        learn=True,
        candidates=None,
        ratio_transform=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.ratio = ratio
        self.mode = mode
        self.learn = learn
        self.candidates = candidates
        self.ratio_transform = ratio_transform
        self.random_state = random_state

    def fit(self, X, y, X_target=None, *, sample_weight=None, y_target=None, sample_domain=None):
        """Fit the candidates and look at the shift.

        ``X_target`` holds at least ten unlabelled rows of the target; None means no shift. The
        other arguments are as for :class:`~ddr.classifier.DDRClassifier`.
        """
        check_choice(self.mode, "mode", ("best", "sure"))
        check_given(X, "X")
        X, y, X_target, cost = two_samples(X, y, X_target, sample_domain, sample_weight)
        given = {"sample_weight": cost, "y_target": y_target}
        ddr = self._ddr(self.ratio, X, y, X_target, given)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(ddr, name):
                setattr(self, name, getattr(ddr, name))
        self._front, self.report_, self.choice_ = ddr, None, "none"
        self.models_ = {"none": ddr.initial_estimator_}
        if X_target is not None:
            X, X_target = (
                sample if hasattr(sample, "columns") else np.asarray(sample, dtype=float)
                for sample in (X, X_target)
            )
            y = column_or_1d(y)
            cost = check_weights(cost, len(y))
            self._examine(ddr, X, y, X_target, cost, given)
        self.estimator_ = self.models_[self.choice_]
        return self

    def _ddr(self, ratio, X, y, X_target, given):
        model = DDRClassifier(
            self.estimator,
            ratio,
            ratio_transform=self.ratio_transform,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():  # the report says what they would say
            for category in (OverlapWarning, AgreementWarning):
                warnings.simplefilter("ignore", category)
            warnings.filterwarnings("ignore", "X_target was not given")
            return model.fit(X, y, X_target, **given)

    def _examine(self, ddr, X, y, X_target, cost, given):
        """Fit the candidates, and report what is seen without labels."""
        learner, ratio = ddr._parts()
        plain = ddr.initial_estimator_
        rows = rows_for_ratio(X, y, X_target, self.ratio_transform, plain)
        name, few = min((("X", rows[0]), ("X_target", rows[1])), key=lambda pair: len(pair[1]))
        if len(few) < FEWEST_ROWS:
            raise ValueError(
                f"{name} must have at least {FEWEST_ROWS} rows to judge a shift by, got {len(few)}"
            )
        found = prior_candidates(learner, plain, X, y, X_target, cost)
        calibrated, corrected, prior_ratio, cross = found
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights = ratio.fit(*rows).weights_
        self.models_ |= {
            "calibrated": calibrated,
            "em": corrected,
            "prior_ratio": self._ddr(ConstantRatio(), X, y, X_target, given).estimator_,
            "ratio": fit_weighted(learner, X, y, cost * weights),
            "ddr": ddr.estimator_,
        }
        self.models_ |= self._own()
        self._X_target, self._told, self._asked = X_target, {}, set()
        said = [model.predict(X_target) for model in self.models_.values()]
        self._said = np.searchsorted(self.classes_, np.array(said))
        seed = self.random_state if isinstance(self.random_state, int | None) else 0
        self._order, self._open = asking_order(self._said, seed)
        auc, auc_p, scores = tell_apart(*rows)
        codes, changed = np.searchsorted(self.classes_, y), np.mean(self._said != self._said[0], 1)
        report = ShiftReport(
            n_source=len(rows[0]),
            n_target=len(rows[1]),
            auc=auc,
            auc_p=auc_p,
            residual_auc=tell_apart(*rows, prior_ratio[codes])[0],
            prior_ratio=dict(zip(self.classes_.tolist(), prior_ratio.tolist(), strict=True)),
            prior_p=cross.unchanged(),
            condition=cross.condition(),
            effective_size=effective_sample_size(ddr.weights_),
            unsupported=unsupported_share(*rows),
            changes=dict(zip(list(self.models_)[1:], changed[1:].tolist(), strict=True)),
            open=self._open / len(rows[1]),
            scores=scores,
        )
        self.choice_, reason = RULE.choose(report)
        if self.mode == "sure" and self.choice_ != "none":
            self.choice_, reason = "none", 'no labels were told, and mode="sure" asks for some'
        self._report(replace(report, reason=reason))

    def _own(self):
        """The user's candidates, checked."""
        own = {} if self.candidates is None else self.candidates
        if not isinstance(own, dict) or not all(hasattr(m, "predict_proba") for m in own.values()):
            raise ValueError(
                f"candidates must be a dict of fitted classifiers with predict_proba, got {own!r}"
            )
        taken = [name for name in own if name in self.models_]
        if taken:
            raise ValueError(f"candidates must have other names than the guard's, got {taken[0]!r}")
        return own

    def _report(self, report):
        """Store the report, with the rows to label next."""
        rows = [row for row in self._order[: self._open] if row not in self._told][:20]
        questions = tuple((int(row), *self.classes_[self._said[:, row]].tolist()) for row in rows)
        self.report_ = replace(
            report, choice=self.choice_, questions=questions, labels=len(self._told)
        )

    def ask(self, n=20):
        """Numbers of the ``n`` rows of ``X_target`` that are most worth a label.

        Rows on which the candidates disagree come first, in random order; the others follow once
        these are used up. Rows that were told are left out.
        """
        check_is_fitted(self)
        n = check_count(n, "n")
        if self.report_ is None:
            raise ValueError("ask needs a target: fit was called without X_target")
        rows = np.array([row for row in self._order if row not in self._told][:n], dtype=int)
        self._asked.update(rows.tolist())
        return rows

    def tell(self, rows, labels):
        """Learn the labels of rows that ``ask`` named, in one go or in steps, and decide anew.

        Labels count for the decision in the order in which the rows were asked for: one that is
        left out keeps those after it from counting.
        """
        check_is_fitted(self)
        rows, labels = np.atleast_1d(rows), np.atleast_1d(labels)
        self._check_told(rows, labels)
        codes = np.searchsorted(self.classes_, labels)
        self._told |= dict(zip(rows.tolist(), codes.tolist(), strict=True))
        self._decide()
        return self

    def _check_told(self, rows, labels):
        if self.report_ is None:
            raise ValueError("tell needs a target: fit was called without X_target")
        if rows.ndim != 1 or rows.shape != labels.shape:
            raise ValueError(
                "rows and labels must have the same length, "
                f"got {rows.shape} rows and {labels.shape} labels"
            )
        strange = [row for row in rows.tolist() if row not in self._asked]
        if strange:
            raise ValueError(f"rows must be rows that ask() named, got {strange[0]!r}")
        twice = [row for row in rows.tolist() if row in self._told]
        if twice or len(set(rows.tolist())) < len(rows):
            row = twice[0] if twice else max(rows.tolist(), key=rows.tolist().count)
            raise ValueError(f"rows must each be told once, got {row} again")
        unknown = [label for label in labels.tolist() if label not in self.classes_.tolist()]
        if unknown:
            allowed = ", ".join(repr(c) for c in self.classes_.tolist())
            raise ValueError(f"labels must be classes of y ({allowed}), got {unknown[0]!r}")

    def _decide(self):
        """Estimate every candidate's gain from the labels, and choose."""
        told = [row in self._told for row in self._order[: self._open]]
        rows = self._order[: told.index(False) if False in told else len(told)]
        codes = np.array([self._told[row] for row in rows], dtype=int)
        d = differences(self._said[:, rows], codes)
        names, n = list(self.models_), self._said.shape[1]
        concerned = self._said[:, rows] != self._said[0, rows]
        sizes = np.sum(self._said != self._said[0], axis=1)
        mine = [each[where] for each, where in zip(d, concerned, strict=True)]
        pairs = zip(mine, sizes, strict=True)
        wealths = [wealth(each, size)[-1] if len(each) else 1.0 for each, size in pairs]
        gains = {}
        for k, evidence in enumerate(adjusted(wealths[1:]), start=1):
            scale = 100 * sizes[k] / n
            low, high = interval(mine[k], sizes[k])
            estimate = mine[k].mean() if len(mine[k]) else 0.0
            gains[names[k]] = Gain(
                scale * estimate,
                scale * low,
                scale * high,
                scale * standard_error(mine[k]),
                float(evidence),
                len(mine[k]),
            )
        self._choose(gains, len(rows))

    def _choose(self, gains, counted):
        allowed = {
            name: gain
            for name, gain in gains.items()
            if (gain.estimate > gain.error / 2 if self.mode == "best" else gain.evidence >= _SURE)
        }
        caution = 0.5 if self.mode == "best" else 0.0
        self.choice_ = max(
            allowed,
            key=lambda name: allowed[name].estimate - caution * allowed[name].error,
            default="none",
        )
        found = f"{counted} labels where candidates disagree"
        if self.choice_ != "none":
            reason = f"{found} estimate a gain of {gains[self.choice_].estimate:+.1f} points"
        elif self.mode == "sure":
            reason = f"{found} do not show that another candidate gains"
        else:
            reason = f"{found} estimate no gain for another candidate that stands out"
        used = gains[self.choice_].estimate if self.choice_ != "none" else 0.0
        most = max((gain.high for gain in gains.values()), default=0.0) - used
        left = self._open - counted
        more = f"{left} such rows are left"
        more += f"; more labels could show up to {most:.1f} points more." if left else "."
        self.estimator_ = self.models_[self.choice_]
        if self.mode == "best" and self.learn:
            self.estimator_ = self._learned(self.estimator_)
        self._report(replace(self.report_, reason=reason, gains=gains, more=more))

    def _learned(self, model):
        """A model whose posteriors are corrected by one offset a class, learned from the labels."""
        posteriors = model.predict_proba(rows_of(self._X_target, list(self._told)))
        codes = np.array(list(self._told.values()))
        _, offset = calibrate(logarithms(posteriors), codes, temperature=False, ridge=_OFFSET_RIDGE)
        return AdjustedClassifier(model, offset=offset)

    def predict(self, X):
        """Predicted class of each row, by the model that was chosen."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        """Class probabilities of each row, by the model that was chosen."""
        check_is_fitted(self)
        options = {"dtype": np.float64, "ensure_all_finite": self._front._finite}
        if self._front._table and hasattr(X, "columns"):
            options = {"skip_check_array": True}
        return self.estimator_.predict_proba(validate_data(self, X, reset=False, **options))

    def score(self, X, y, sample_weight=None, *, sample_domain=None):
        """Accuracy; where ``sample_domain`` marks rows of both samples, that on the source."""
        if sample_domain is not None and np.any(np.asarray(sample_domain) > 0):
            X, y, _, sample_weight = two_samples(X, y, None, sample_domain, sample_weight)
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags
