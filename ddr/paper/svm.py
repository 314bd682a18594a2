"""The linear support vector machine of two classes, with Platt posteriors.

The learner of the cross-dataset experiments: LIBSVM's C-SVC through scikit-learn, weights respected
in the machine and in the sigmoid, and the cost chosen by importance-weighted cross-validation; each
machine tells the next which rows lie near the margin.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from ddr._checks import check_choice, check_grid, check_new_rows, check_positive
from ddr.iwcv import first_best, posterior_loss, weighted_risk
from ddr.paper._learner import WeightedLearner

# LIBSVM takes seconds for so many steps; what needs more has very large columns or costs. Then
# scikit-learn warns that the solver stopped early.
_MOST_STEPS = 10**6
# Rows with a smaller margin under a related machine may become support vectors.
_NEAR = 2.0
# Of more rows than this, a machine of every fourth row is fitted first: it tells which rows matter.
_MANY, _STEP = 1000, 4
# A row that was left out may violate the margin by twice LIBSVM's own tolerance.
_SLACK = 2.0


class _Machine(NamedTuple):
    """A plane, positive for the second class."""

    coef: np.ndarray
    intercept: float
    free: bool  # whether no row is held back by its cost: larger costs have the same solution

    def decision(self, X):
        return X @ self.coef + self.intercept


def _fit_machine(X, second, cost, tol, start=None):
    """Fit a C-SVC, first to the rows near the margin of ``start``; one class alone is predicted.

    Rows far beyond the margin do not change the solution; those that turn out to violate it join.
    """
    sign = np.where(second, 1.0, -1.0)
    if len(np.unique(sign)) < 2:
        return _Machine(np.zeros(X.shape[1]), sign[0], True)
    seen = np.ones(len(X), dtype=bool) if start is None else sign * start.decision(X) < _NEAR
    while True:
        if len(np.unique(sign[seen])) < 2:
            seen = np.ones(len(X), dtype=bool)
        rows = np.flatnonzero(seen)
        svc = SVC(kernel="precomputed", tol=tol, max_iter=_MOST_STEPS)
        svc.fit(X[rows] @ X[rows].T, sign[rows], cost[rows])
        dual, support = svc.dual_coef_[0], rows[svc.support_]
        free = bool(np.all(np.abs(dual) < cost[support] * (1 - 1e-9)))
        machine = _Machine(dual @ X[support], svc.intercept_[0], free)
        margin = sign * machine.decision(X)
        if not np.any(margin[~seen] < 1 - _SLACK * tol):
            return machine
        seen = seen | (margin < _NEAR)


def _held_out_decisions(X, second, weight, splits, Cs, tol, start):
    """Decision values of the held-out rows, fold after fold, for each of increasing costs."""
    decisions = [[] for _ in Cs]
    for train, test in splits:
        machine = start
        for k, C in enumerate(Cs):
            if k == 0 or not machine.free:
                machine = _fit_machine(X[train], second[train], C * weight[train], tol, machine)
            decisions[k].append(machine.decision(X[test]))
    return [np.concatenate(parts) for parts in decisions]


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
    options = {"method": "trust-exact", "options": {"gtol": 1e-10}}
    return minimize(objective, start, jac=True, hess=hessian, **options).x / [scale, 1.0]


def platt_posterior(decision, platt):
    """Posterior probabilities of both classes; ``platt`` holds A and B of the sigmoid."""
    z = platt[0] * decision + platt[1]
    return np.stack([expit(z), expit(-z)], axis=1)


@dataclass(eq=False, repr=False)
class LinearSVMWithPosteriorsCV(WeightedLearner):
    r"""LIBSVM's linear C-SVC with Platt posteriors, weights respected in both, and C chosen.

    Parameters
    ----------
    Cs : array-like, default=(1.0, 10.0, 100.0)
        Costs of a margin violation to try; that of row i is :math:`C w_i`. One is taken as it is.
    cv : int, splitter or iterable, default=5
        Folds whose held-out rows judge the costs, and whose decision values the sigmoid is fitted
        to, as in LIBSVM; see ``ddr.iwcv.IWSearchCV``.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
        The zero-one loss is that of the machine's side. ``"log"`` and ``"squared"`` score the
        sigmoid on the held-out values that it was fitted to: its two parameters are not
        cross-validated again.
    predict_by : {"posterior", "decision"}, default="posterior"
        Predict the most probable class, as LIBSVM does when asked for probabilities, or the side
        of the machine on which a row lies. The posterior of one half need not lie on its plane.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    best_C_ : float
        Of equally good costs, the smallest: the most regularised.
    best_score_ : float
        Weighted risk of the best cost: lower is better.
    cv_scores_ : ndarray of shape (n_Cs,)
        Weighted risk of every cost, from the smallest on.
    classes_ : ndarray of shape (2,)
    coef_, intercept_ : ndarrays of shape (1, d) and (1,)
        The machine, positive for the second class.
    platt_ : ndarray of shape (2,)
        A and B of the sigmoid.
    n_features_in_ : int

    Notes
    -----
    .. math:: \min_{v, b}\ \tfrac12\lVert v\rVert^2 + C\sum_i w_i \max(0, 1 - y_i(v^\top x_i + b))

    As in LIBSVM, the scale of the weights multiplies ``C``: bring them to mean one where ``C`` is
    to keep its meaning. A weight means copies: weight 2 is a repeated row, weight 0 a row that is
    not there (with explicit folds; with a number of folds, copies may be dealt apart).

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
    >>> X = rng.normal(size=(60, 2))
    >>> model = LinearSVMWithPosteriorsCV(Cs=[1e-6, 1.0], random_state=0)
    >>> model.fit(X, X[:, 0] > 0.3).best_C_
    1.0
    """

    Cs: object = (1.0, 10.0, 100.0)
    _: KW_ONLY
    predict_by: str = "posterior"
    tol: float = 1e-3

    def fit(self, X, y, sample_weight=None):
        """Choose C, fit the machine to all rows and the sigmoid to held-out decision values."""
        check_choice(self.predict_by, "predict_by", ("posterior", "decision"))
        check_positive(self.tol, "tol")
        Cs = np.sort(check_grid(self.Cs, "Cs"))
        X, codes, weight, splits = self._check_fit(X, y, sample_weight)
        n_classes, second = len(self.classes_), codes == 1
        if n_classes != 2:
            raise ValueError(f"Only binary classification is supported. y has {n_classes} classes.")
        held_out = np.concatenate([test for _, test in splits])
        truth, mass = second[held_out], weight[held_out]
        start = self._fit_all(X, second, weight, Cs[0])
        decisions = _held_out_decisions(X, second, weight, splits, Cs, self.tol, start)
        self.cv_scores_ = np.array([self._risk(values, truth, mass) for values in decisions])
        best = first_best(self.cv_scores_)
        self.best_C_, self.best_score_ = float(Cs[best]), float(self.cv_scores_[best])
        if best > 0 and not start.free:  # else the first machine is the best one
            self._fit_all(X, second, weight, self.best_C_, start)
        self.platt_ = fit_platt(decisions[best], truth, mass)
        return self

    def _fit_all(self, X, second, weight, C, start=None):
        """Fit the machine to all rows but those of weight zero, which LIBSVM drops as well."""
        kept, cost = np.flatnonzero(weight), C * weight
        if start is None and len(kept) > _MANY:
            few = kept[::_STEP]
            start = _fit_machine(X[few], second[few], _STEP * cost[few], self.tol)
        machine = _fit_machine(X[kept], second[kept], cost[kept], self.tol, start)
        self.coef_, self.intercept_ = machine.coef[None], np.array([machine.intercept])
        return machine

    def _risk(self, decision, second, weight):
        if self.loss == "zero_one":
            return weighted_risk((decision > 0) != second, weight)
        posterior = platt_posterior(decision, fit_platt(decision, second, weight))
        return weighted_risk(posterior_loss(second.astype(int), posterior, self.loss), weight)

    def _decision(self, X):
        return check_new_rows(self, X) @ self.coef_[0] + self.intercept_[0]

    def decision_function(self, X):
        """Values that ``predict`` goes by: positive for the second class.

        With ``predict_by="decision"`` those of scikit-learn's ``SVC``, with
        ``predict_by="posterior"`` log-odds.
        """
        decision = self._decision(X)
        by_machine = self.predict_by == "decision"
        return decision if by_machine else -(self.platt_[0] * decision + self.platt_[1])

    def predict_proba(self, X):
        """Posterior probabilities of each row, one column for each of ``classes_``."""
        return platt_posterior(self._decision(X), self.platt_)

    def predict(self, X):
        """Most probable class of each row, or that of the machine's side (``predict_by``)."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
