"""Linear support vector machines with Platt posteriors.

The learner of the cross-dataset experiments: LIBSVM's C-SVC, weights respected in the machine and
in the sigmoid. ``LinearSVMWithPosteriorsCV`` chooses the cost by importance-weighted
cross-validation, much faster than ``IWSearchCV`` around ``LinearSVMWithPosteriors``.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr._checks import (
    check_choice,
    check_fit_data,
    check_grid,
    check_magnitude,
    check_positive,
)
from ddr.hinge import class_scores, fit_pairs, pair_planes
from ddr.platt import fit_platts, platt_posterior
from ddr.validation import check_loss, first_best, posterior_loss, weighted_splits


def _held_out_scores(X, y_index, weight, splits, n_classes, Cs, tol, starts):
    """Class scores of the held-out rows, fold after fold, for each C of an increasing sequence.

    Once no row of a fold is held back by its cost, a larger C has the same solution.
    """
    scores = [[] for _ in Cs]
    for train, test in splits:
        machines = starts
        for k, C in enumerate(Cs):
            if k == 0 or not all(machine.free for machine in machines):
                machines = fit_pairs(
                    X[train], y_index[train], C * weight[train], n_classes, tol, machines
                )
            coef, intercept = pair_planes(machines, X.shape[1])
            scores[k].append(class_scores(X[test] @ coef.T + intercept, n_classes))
    return [np.concatenate(parts) for parts in scores]


class _PlattSVM(ClassifierMixin, BaseEstimator):
    """What ``LinearSVMWithPosteriors`` and its CV sibling share: the final fit and predictions."""

    def _fit_machines(self, X, y_index, weight, C, starts=None):
        kept = weight > 0  # LIBSVM would drop these rows too, but fails when none is left
        machines = fit_pairs(
            X[kept], y_index[kept], C * weight[kept], len(self.classes_), self.tol, starts
        )
        self.coef_, self.intercept_ = pair_planes(machines, X.shape[1])
        return machines

    def _check_fit(self, X, y, sample_weight):
        """Checked rows, indices of their classes and weights."""
        check_choice(self.predict_by, "predict_by", ("posterior", "decision"))
        check_positive(self.tol, "tol")
        return check_fit_data(self, X, y, sample_weight)

    def _scores(self, X):
        return class_scores(X @ self.coef_.T + self.intercept_, len(self.classes_))

    def _checked_scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._scores(check_magnitude(X, "X"))

    def decision_function(self, X):
        """Values that ``predict`` goes by: positive for the second of two classes.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, m)
            With ``predict_by="decision"`` those of scikit-learn's ``SVC``, with
            ``predict_by="posterior"`` log-odds of two classes or posteriors of more.
        """
        scores = self._checked_scores(X)
        if self.predict_by == "decision":
            return scores[:, 1] if scores.shape[1] == 2 else scores
        if scores.shape[1] == 2:
            return -(self.platt_[0, 0] * scores[:, 1] + self.platt_[0, 1])
        return platt_posterior(scores, self.platt_)

    def predict_proba(self, X):
        """Posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, m)
            Columns in the order of ``classes_``; rows sum to one.
        """
        return platt_posterior(self._checked_scores(X), self.platt_)

    def predict(self, X):
        """Most probable class of each row, or that of the machine's side (``predict_by``).

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self._checked_scores(X)
        if self.predict_by == "posterior":
            scores = platt_posterior(scores, self.platt_)
        return self.classes_[scores.argmax(axis=1)]


class LinearSVMWithPosteriors(_PlattSVM):
    r"""LIBSVM's linear C-SVC with Platt posteriors, weights respected in both.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation; that of row i is :math:`C w_i`.
    cv : int, splitter or iterable, default=5
        Folds whose held-out decision values the sigmoid is fitted to; see
        ``ddr.validation.importance_weighted_score``.
    calibration : {"cv", "train"}, default="cv"
        Fit the sigmoid to held-out decision values (as LIBSVM does), or to those of the training
        rows: no extra machine to fit, but overconfident.
    predict_by : {"posterior", "decision"}, default="posterior"
        Predict the most probable class, as LIBSVM does when asked for probabilities, or the side
        of the machine on which a row lies. The posterior of one half need not lie on its plane.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (m,)
    coef_, intercept_ : ndarrays of shape (pairs, d) and (pairs,)
        One machine for each pair of classes, positive for the second of the pair.
    platt_ : ndarray of shape (1, 2) for two classes, else (m, 2)
        A and B of the sigmoids.
    n_features_in_ : int

    Notes
    -----
    .. math:: \min_{v, b}\ \tfrac12\lVert v\rVert^2 + C\sum_i w_i \max(0, 1 - y_i(v^\top x_i + b))

    As in LIBSVM, the scale of the weights multiplies ``C``: bring them to mean one where ``C`` is
    to keep its meaning. A weight means copies: weight 2 is a repeated row, weight 0 a row that is
    not there (with explicit folds; with a number of folds, copies may be dealt apart).

    With more than two classes, each class's score among the pairwise machines gets its own
    sigmoid, and the probabilities are normalised.

    References
    ----------
    .. [1] C.-C. Chang and C.-J. Lin (2011). LIBSVM: a library for support vector machines. ACM
       Transactions on Intelligent Systems and Technology 2, 27.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=200) > 0, "right", "left")
    >>> model = LinearSVMWithPosteriors(random_state=0).fit(X, y)
    >>> model.predict([[-2.0, 0.0], [2.0, 0.0]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(
        self,
        C=1.0,
        *,
        cv=5,
        calibration="cv",
        predict_by="posterior",
        tol=1e-3,
        random_state=None,
    ):
        self.C = C
        self.cv = cv
        self.calibration = calibration
        self.predict_by = predict_by
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the machine and the sigmoid.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        check_choice(self.calibration, "calibration", ("cv", "train"))
        C = check_positive(self.C, "C")
        X, y_index, weight = self._check_fit(X, y, sample_weight)
        machines = self._fit_machines(X, y_index, weight, C)
        if self.calibration == "train":
            rows = np.flatnonzero(weight)
            scores = self._scores(X[rows])
        else:
            splits = weighted_splits(self.cv, X, y_index, weight, self.random_state)
            rows = np.concatenate([test for _, test in splits])
            (scores,) = _held_out_scores(
                X, y_index, weight, splits, len(self.classes_), [C], self.tol, machines
            )
        self.platt_ = fit_platts(scores, y_index[rows], weight[rows])
        return self


class LinearSVMWithPosteriorsCV(_PlattSVM):
    """``LinearSVMWithPosteriors`` with C chosen by importance-weighted cross-validation.

    The zero-one loss is that of the machine's side. Gives the choice of ``IWSearchCV`` around
    ``LinearSVMWithPosteriors(predict_by="decision")`` over the same folds, and fits the sigmoid to
    the held-out decision values that the choice has already cost.

    Parameters
    ----------
    Cs : array-like, default=(1.0, 10.0, 100.0)
        Costs to try.
    cv : int, splitter or iterable, default=5
        See ``ddr.validation.importance_weighted_score``.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
        ``"log"`` and ``"squared"`` score the sigmoid fitted to the held-out decision values
        on these same values: its two parameters are not cross-validated again.
    predict_by : {"posterior", "decision"}, default="posterior"
    tol : float, default=1e-3
    random_state : int, RandomState or None
        See ``LinearSVMWithPosteriors``.

    Attributes
    ----------
    best_C_ : float
        Of equally good costs, the smallest: the most regularised.
    best_score_ : float
        Weighted risk of the best cost: lower is better.
    cv_scores_ : ndarray of shape (n_Cs,)
        Weighted risk of every cost, in the order given.
    n_splits_ : int
    classes_, coef_, intercept_, platt_, n_features_in_
        As of ``LinearSVMWithPosteriors``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> model = LinearSVMWithPosteriorsCV(Cs=[1e-6, 1.0], random_state=0)
    >>> model.fit(X, X[:, 0] > 0.3).best_C_
    1.0
    """

    def __init__(
        self,
        Cs=(1.0, 10.0, 100.0),
        *,
        cv=5,
        loss="zero_one",
        predict_by="posterior",
        tol=1e-3,
        random_state=None,
    ):
        self.Cs = Cs
        self.cv = cv
        self.loss = loss
        self.predict_by = predict_by
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Choose C, then fit the machine on all rows and the sigmoid to held-out values.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        check_loss(self.loss)
        Cs = check_grid(self.Cs, "Cs")
        X, y_index, weight = self._check_fit(X, y, sample_weight)
        splits = weighted_splits(self.cv, X, y_index, weight, self.random_state)
        self.n_splits_ = len(splits)
        held_out = np.concatenate([test for _, test in splits])
        y_held, w_held = y_index[held_out], weight[held_out]
        m = len(self.classes_)
        order = np.argsort(Cs, kind="stable")
        machines = self._fit_machines(X, y_index, weight, Cs[order[0]])
        scores = _held_out_scores(X, y_index, weight, splits, m, Cs[order], self.tol, machines)
        risks = np.array([self._risk(s, y_held, w_held) for s in scores])
        best = first_best(risks)
        self.cv_scores_ = np.empty(len(Cs))
        self.cv_scores_[order] = risks
        self.best_C_, self.best_score_ = float(Cs[order[best]]), float(risks[best])
        if best > 0 and not all(machine.free for machine in machines):
            self._fit_machines(X, y_index, weight, self.best_C_, machines)
        self.platt_ = fit_platts(scores[best], y_held, w_held)
        return self

    def _risk(self, scores, y_index, weight):
        if self.loss != "zero_one":
            scores = platt_posterior(scores, fit_platts(scores, y_index, weight))
        return weight @ posterior_loss(y_index, scores, self.loss) / weight.sum()
