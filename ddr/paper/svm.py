"""Linear support vector machines with Platt posteriors.

The learner of the cross-dataset experiments: LIBSVM's C-SVC through scikit-learn, weights respected
in the machine and in the sigmoid. ``LinearSVMWithPosteriorsCV`` chooses the cost by
importance-weighted cross-validation; each machine tells the next which rows lie near the margin.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from ddr._checks import check_choice, check_fit_data, check_grid, check_new_rows, check_positive
from ddr.iwcv import LOSSES, first_best, posterior_loss, weighted_risk, weighted_splits

# LIBSVM takes seconds for so many steps; what needs more has very large columns or costs. Then
# scikit-learn warns that the solver stopped early.
_MOST_STEPS = 10**6
# Of so many rows the matrix of inner products takes 0.5 GB; beyond, LIBSVM computes what it needs.
_MOST_PRODUCTS = 8000
# Rows with a smaller margin under a related machine may become support vectors.
_NEAR = 2.0
# Of more rows than this, a machine of every fourth row is fitted first: it tells which rows matter.
_MANY, _STEP = 1000, 4
# A row that was left out may violate the margin by twice LIBSVM's own tolerance.
_SLACK = 2.0


class _Machines(NamedTuple):
    """One linear machine for each pair of classes, positive for the second of the pair."""

    coef: np.ndarray  # (pairs, d)
    intercept: np.ndarray  # (pairs,)
    free: bool  # whether no row is held back by its cost: larger costs have the same solution


def _fit_pair(X, sign, cost, tol, seen):
    """Plane of a C-SVC, first of the rows ``seen``; rows that violate its margin join them.

    Rows far beyond the margin do not change the solution, so a related machine tells which matter.
    """
    while True:
        if len(np.unique(sign[seen])) < 2:
            seen = np.ones(len(X), dtype=bool)
        rows = np.flatnonzero(seen)
        X_seen = X[rows]
        kernel = "precomputed" if len(rows) <= _MOST_PRODUCTS else "linear"
        svc = SVC(kernel=kernel, tol=tol, max_iter=_MOST_STEPS)
        svc.fit(X_seen if kernel == "linear" else X_seen @ X_seen.T, sign[rows], cost[rows])
        dual, support = svc.dual_coef_[0], rows[svc.support_]
        coef, intercept = dual @ X[support], svc.intercept_[0]
        margin = sign * (X @ coef + intercept)
        if not np.any(margin[~seen] < 1 - _SLACK * tol):
            return coef, intercept, np.all(np.abs(dual) < cost[support] * (1 - 1e-9))
        seen = seen | (margin < _NEAR)


def _fit_machines(X, y_index, cost, n_classes, tol, start=None):
    """Fit a C-SVC for each pair of classes; of a single class, predict that class."""
    planes = []
    for k, (first, second) in enumerate(combinations(range(n_classes), 2)):
        rows = np.flatnonzero((y_index == first) | (y_index == second))
        sign = np.where(y_index[rows] == second, 1.0, -1.0)
        if len(np.unique(sign)) < 2:
            planes.append((np.zeros(X.shape[1]), sign[0] if len(sign) else -1.0, True))
            continue
        seen = np.ones(len(rows), dtype=bool)
        if start is not None:
            seen = sign * (X[rows] @ start.coef[k] + start.intercept[k]) < _NEAR
        planes.append(_fit_pair(X[rows], sign, cost[rows], tol, seen))
    coef = np.array([plane[0] for plane in planes]).reshape(-1, X.shape[1])
    return _Machines(coef, np.array([p[1] for p in planes]), all(p[2] for p in planes))


def _held_out_scores(X, y_index, weight, splits, n_classes, Cs, tol, start):
    """Class scores of the held-out rows, fold after fold, for each C of an increasing sequence."""
    scores = [[] for _ in Cs]
    for train, test in splits:
        machines = start
        for k, C in enumerate(Cs):
            if k == 0 or not machines.free:
                cost = C * weight[train]
                machines = _fit_machines(X[train], y_index[train], cost, n_classes, tol, machines)
            decisions = X[test] @ machines.coef.T + machines.intercept
            scores[k].append(_class_scores(decisions, n_classes))
    return [np.concatenate(parts) for parts in scores]


def _class_scores(pair_decisions, n_classes):
    """Votes of the pairs, ties settled by decision values, as in SVC; of two classes, -f and f."""
    if n_classes == 2:
        return np.concatenate([-pair_decisions, pair_decisions], axis=1)
    votes = np.zeros((len(pair_decisions), n_classes))
    confidence = np.zeros_like(votes)
    for (first, second), f in zip(combinations(range(n_classes), 2), pair_decisions.T, strict=True):
        votes[:, first] += f <= 0
        votes[:, second] += f > 0
        confidence[:, first] -= f
        confidence[:, second] += f
    return votes + confidence / (3 * (np.abs(confidence) + 1))


def fit_platt(decision, positive, weight):
    r"""A and B of Platt's sigmoid :math:`p(f) = 1 / (1 + \exp(A f + B))` of decision values.

    Minimises the weighted log-loss

    .. math:: -\sum_i w_i \left[t_i \ln p(f_i) + (1 - t_i)\ln(1 - p(f_i))\right]

    with Platt's targets, in which weights count as copies:
    :math:`t_i = (N_+ + 1)/(N_+ + 2)` for positive rows and :math:`1/(N_- + 2)` for the others,
    :math:`N_\pm` being their total weights. The targets keep the slope finite on separable data.
    """
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = np.abs(decision).max() or 1.0
    features = np.stack([decision / scale, np.ones_like(decision)])
    share = weight / weight.sum()

    def objective(parameters):
        z = parameters @ features
        slope = share * (expit(z) - 1 + target)
        return share @ (np.logaddexp(0, z) - (1 - target) * z), features @ slope

    def hessian(parameters):
        z = parameters @ features
        return (features * (share * expit(z) * expit(-z))) @ features.T

    start = np.array([0.0, np.log((n_negative + 1) / (n_positive + 1))])
    solution = minimize(
        objective, start, jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-10}
    )
    return solution.x / [scale, 1.0]


def _fit_platts(scores, y_index, weight):
    """A and B of the sigmoid of each class, or of the second of two."""
    n_classes = scores.shape[1]
    columns = [1] if n_classes == 2 else range(n_classes)
    return np.array([fit_platt(scores[:, c], y_index == c, weight) for c in columns])


def platt_posterior(scores, platt):
    """Posterior probabilities of class scores under fitted sigmoids; rows sum to one."""
    if scores.shape[1] == 2:
        z = platt[0, 0] * scores[:, 1] + platt[0, 1]
        return np.stack([expit(z), expit(-z)], axis=1)
    log_posterior = -np.logaddexp(0, scores * platt[:, 0] + platt[:, 1])
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    return posterior / posterior.sum(axis=1, keepdims=True)


class _PlattSVM(ClassifierMixin, BaseEstimator):
    """What ``LinearSVMWithPosteriors`` and its CV sibling share: the final fit and predictions."""

    def _fit_all(self, X, y_index, weight, C, start=None):
        """Fit the machines to all rows but those of weight zero, which LIBSVM drops as well."""
        kept = np.flatnonzero(weight)
        m, cost = len(self.classes_), C * weight
        if start is None and len(kept) > _MANY:
            few = kept[::_STEP]
            start = _fit_machines(X[few], y_index[few], _STEP * cost[few], m, self.tol)
        machines = _fit_machines(X[kept], y_index[kept], cost[kept], m, self.tol, start)
        self.coef_, self.intercept_ = machines.coef, machines.intercept
        return machines

    def _check_fit(self, X, y, sample_weight):
        """Checked rows, indices of their classes and weights."""
        check_choice(self.predict_by, "predict_by", ("posterior", "decision"))
        check_positive(self.tol, "tol")
        return check_fit_data(self, X, y, sample_weight)

    def _scores(self, X):
        return _class_scores(X @ self.coef_.T + self.intercept_, len(self.classes_))

    def _checked_scores(self, X):
        return self._scores(check_new_rows(self, X))

    def decision_function(self, X):
        """Values that ``predict`` goes by: positive for the second of two classes.

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
        """Posterior probabilities of each row, one column for each of ``classes_``."""
        return platt_posterior(self._checked_scores(X), self.platt_)

    def predict(self, X):
        """Most probable class of each row, or that of the machine's side (``predict_by``)."""
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
        ``ddr.iwcv.importance_weighted_score``.
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
    .. [2] J. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74.

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
        self, C=1.0, *, cv=5, calibration="cv", predict_by="posterior", tol=1e-3, random_state=None
    ):
        self.C = C
        self.cv = cv
        self.calibration = calibration
        self.predict_by = predict_by
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the machine and the sigmoid; ``sample_weight`` is the importance of each row."""
        check_choice(self.calibration, "calibration", ("cv", "train"))
        C = check_positive(self.C, "C")
        X, y_index, weight = self._check_fit(X, y, sample_weight)
        machines = self._fit_all(X, y_index, weight, C)
        if self.calibration == "train":
            rows = np.flatnonzero(weight)
            scores = self._scores(X[rows])
        else:
            splits = weighted_splits(self.cv, X, y_index, weight, self.random_state)
            rows = np.concatenate([test for _, test in splits])
            (scores,) = _held_out_scores(
                X, y_index, weight, splits, len(self.classes_), [C], self.tol, machines
            )
        self.platt_ = _fit_platts(scores, y_index[rows], weight[rows])
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
        See ``ddr.iwcv.importance_weighted_score``.
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
        """Choose C and fit as ``LinearSVMWithPosteriors`` does, the sigmoid to held-out values."""
        check_choice(self.loss, "loss", LOSSES)
        Cs = check_grid(self.Cs, "Cs")
        X, y_index, weight = self._check_fit(X, y, sample_weight)
        splits = weighted_splits(self.cv, X, y_index, weight, self.random_state)
        self.n_splits_ = len(splits)
        held_out = np.concatenate([test for _, test in splits])
        y_held, w_held = y_index[held_out], weight[held_out]
        m = len(self.classes_)
        order = np.argsort(Cs, kind="stable")
        start = self._fit_all(X, y_index, weight, Cs[order[0]])
        scores = _held_out_scores(X, y_index, weight, splits, m, Cs[order], self.tol, start)
        risks = np.array([self._risk(s, y_held, w_held) for s in scores])
        best = first_best(risks)
        self.cv_scores_ = np.empty(len(Cs))
        self.cv_scores_[order] = risks
        self.best_C_, self.best_score_ = float(Cs[order[best]]), float(risks[best])
        if best > 0 and not start.free:
            self._fit_all(X, y_index, weight, self.best_C_, start)
        self.platt_ = _fit_platts(scores[best], y_held, w_held)
        return self

    def _risk(self, scores, y_index, weight):
        if self.loss != "zero_one":
            scores = platt_posterior(scores, _fit_platts(scores, y_index, weight))
        return weighted_risk(posterior_loss(y_index, scores, self.loss), weight)
