"""Probabilistic classifiers that respect importance weights.

``IWLSPC`` is the least-squares probabilistic classifier of the biased-sampling experiments;
``LinearSVMWithPosteriors`` the linear C-SVC of the cross-dataset experiments, with Platt
posteriors. Each has a ``...CV`` sibling that chooses its hyper-parameters by importance-weighted
cross-validation much faster than ``IWSearchCV`` around the plain one.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import piqp
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr.checks import (
    check_centers,
    check_choice,
    check_count,
    check_fit_data,
    check_grid,
    check_positive,
)
from ddr.kernels import (
    choose_centers,
    gaussian_kernel,
    group_equal_rows,
    median_distance,
    row_blocks,
    squared_distances,
)
from ddr.validation import (
    check_loss,
    first_best,
    posterior_loss,
    weighted_splits,
)

# ------------------------------------------------------------------------------------------------
# Importance-weighted least-squares probabilistic classification
# ------------------------------------------------------------------------------------------------


def iwlspc_moments(K, y_index, weight, n_classes):
    r"""Weighted second moment of the basis functions and their first moment in each class.

    Parameters
    ----------
    K : ndarray of shape (n, b)
        Kernel values :math:`\phi(x_i)`.
    y_index : ndarray of shape (n,), int
    weight : ndarray of shape (n,)
    n_classes : int

    Returns
    -------
    H : ndarray of shape (b, b)
        :math:`\sum_i w_i \phi(x_i)\phi(x_i)^\top`
    h : ndarray of shape (b, n_classes)
        :math:`\sum_i w_i 1[y_i = c] \phi(x_i)`

    Examples
    --------
    >>> import numpy as np
    >>> H, h = iwlspc_moments(np.array([[1.0], [0.5]]), np.array([0, 1]), np.array([1.0, 2.0]), 2)
    >>> H, h
    (array([[1.5]]), array([[1., 1.]]))
    """
    membership = np.zeros((len(K), n_classes))
    membership[np.arange(len(K)), y_index] = weight
    return K.T @ (K * weight[:, None]), K.T @ membership


def iwlspc_coefficients(H, h, total_weight, lam):
    r"""Coefficients :math:`\alpha_c = (H/W + \lambda I)^{-1} h_c/W` of every class at once.

    Parameters
    ----------
    H, h : ndarrays
        Sums from ``iwlspc_moments``.
    total_weight : float
        :math:`W = \sum_i w_i`.
    lam : float

    Returns
    -------
    ndarray of shape (b, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> iwlspc_coefficients(np.array([[1.5]]), np.array([[1.0, 1.0]]), 3.0, lam=0.5).round(4)
    array([[0.3333, 0.3333]])
    """
    A = H / total_weight
    A.flat[:: len(A) + 1] += lam
    _, alpha, info = dposv(A, h / total_weight, lower=True)
    if info != 0:
        raise ValueError(f"lam must be larger: the least-squares system is singular at {lam!r}")
    return alpha


def normalized_posterior(q, prior):
    r"""Posterior :math:`\max(0, q_c) / \sum_{c'} \max(0, q_{c'})` of a least-squares fit.

    Parameters
    ----------
    q : ndarray of shape (..., m)
    prior : ndarray, broadcastable to ``q``
        Returned where no :math:`q_c` is positive (far from all centres).

    Returns
    -------
    ndarray of the shape of ``q``

    Examples
    --------
    >>> import numpy as np
    >>> normalized_posterior(np.array([[0.2, 0.6], [-0.1, 0.3], [-0.1, 0.0]]), np.array([0.5, 0.5]))
    array([[0.25, 0.75],
           [0.  , 1.  ],
           [0.5 , 0.5 ]])
    """
    posterior = np.maximum(q, 0.0)
    total = posterior.sum(axis=-1, keepdims=True)
    empty = total[..., 0] == 0
    if empty.any():
        posterior[empty] = np.broadcast_to(prior, q.shape)[empty]
        total[empty] = 1.0
    posterior /= total
    return posterior


def _class_prior(y_index, weight, n_classes):
    prior = np.bincount(y_index, weights=weight, minlength=n_classes)
    return prior / prior.sum()


def _median_width(X, weight):
    """Median distance of the distinct rows of positive weight, so that weights mean copies."""
    X = X[weight > 0]
    return median_distance(X[np.unique(group_equal_rows(X), return_index=True)[1]])


class _LeastSquaresPosterior(ClassifierMixin, BaseEstimator):
    """What ``IWLSPC`` and ``IWLSPCCV`` share: the centres and the predictions."""

    def _resolve_centers(self, X, weight):
        if self.centers is None:
            n_centers = check_count(self.n_centers, "n_centers")
            return choose_centers(X, n_centers, weight=weight, random_state=self.random_state)
        return check_centers(self.centers, X.shape[1])

    def _fit_coefficients(self, X, y_index, weight, sigma, lam):
        self.sigma_ = sigma
        m, b = len(self.classes_), len(self.centers_)
        H, h = np.zeros((b, b)), np.zeros((b, m))
        for rows in row_blocks(len(X), b):
            K = gaussian_kernel(X[rows], self.centers_, sigma)
            H_rows, h_rows = iwlspc_moments(K, y_index[rows], weight[rows], m)
            H += H_rows
            h += h_rows
        self.alpha_ = iwlspc_coefficients(H, h, weight.sum(), lam)
        self.class_prior_ = _class_prior(y_index, weight, m)

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
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        q = np.empty((len(X), len(self.classes_)))
        for rows in row_blocks(len(X), len(self.centers_)):
            q[rows] = gaussian_kernel(X[rows], self.centers_, self.sigma_) @ self.alpha_
        return normalized_posterior(q, self.class_prior_)

    def predict(self, X):
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        posterior = self.predict_proba(X)
        return self.classes_[posterior.argmax(axis=1)]


class IWLSPC(_LeastSquaresPosterior):
    r"""Importance-weighted least-squares probabilistic classifier.

    Parameters
    ----------
    sigma : float, default=None
        Width of the Gaussian kernels; ``None``: median distance of the training rows.
    lam : float, default=0.1
        Ridge penalty. Its meaning does not depend on the number of rows nor on the scale of the
        weights.
    n_centers : int, default=100
        Kernel centres drawn from the training rows in proportion to their weight; all distinct
        rows when there are fewer.
    centers : array-like of shape (b, d), default=None
        Kernel centres to use instead, for example drawn from the test rows as the authors of the
        method do.
    random_state : int, RandomState or None
        Draws the centres.

    Attributes
    ----------
    classes_ : ndarray of shape (m,)
    alpha_ : ndarray of shape (b, m)
        Coefficients.
    centers_ : ndarray of shape (b, d)
    sigma_ : float
    class_prior_ : ndarray of shape (m,)
        Weighted class frequencies.
    n_features_in_ : int

    Notes
    -----
    With :math:`\phi_l(x) = \exp(-\lVert x - x_l\rVert^2 / 2\sigma^2)` and :math:`W = \sum_i w_i`,
    each class has its own least-squares model :math:`q(c|x) = \alpha_c^\top\phi(x)`,

    .. math::
        \alpha_c = \arg\min_\alpha \frac{1}{2W}\sum_i w_i \left(\alpha^\top\phi(x_i)\right)^2
            - \frac{1}{W}\sum_i w_i 1[y_i=c]\, \alpha^\top\phi(x_i)
            + \frac{\lambda}{2} \lVert\alpha\rVert^2
        = \left(\frac{1}{W} K^\top D_w K + \lambda I\right)^{-1} \frac{1}{W} K^\top D_w 1_c ,

    and the posterior is :math:`\max(0, q(c|x))`, normalised over the classes. Where no class is
    positive (far from every centre) it is the weighted class prior. The classes share one matrix
    and its factorisation. A weight means copies: weight 2 is a repeated row, weight 0 a row that
    is not there.

    References
    ----------
    .. [1] H. Hachiya, M. Sugiyama and N. Ueda (2012). Importance-weighted least-squares
       probabilistic classifier for covariate shift adaptation with application to human activity
       recognition. Neurocomputing 80, 93-101.
    .. [2] M. Sugiyama (2010). Superfast-trainable multi-class probabilistic classifier by
       least-squares posterior fitting. IEICE Transactions E93-D, 2690-2701.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.5], [2.0], [2.5]])
    >>> model = IWLSPC(sigma=1.0, lam=0.1).fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([[0.2], [2.3]]).round(2)
    array([[0.99, 0.01],
           [0.01, 0.99]])
    """

    def __init__(self, sigma=None, lam=0.1, n_centers=100, centers=None, random_state=None):
        self.sigma = sigma
        self.lam = lam
        self.n_centers = n_centers
        self.centers = centers
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Importance of each row, in any scale.

        Returns
        -------
        self
        """
        lam = check_positive(self.lam, "lam")
        sigma = None if self.sigma is None else check_positive(self.sigma, "sigma")
        X, y_index, weight = check_fit_data(self, X, y, sample_weight)
        self.centers_ = self._resolve_centers(X, weight)
        sigma = _median_width(X, weight) if sigma is None else sigma
        self._fit_coefficients(X, y_index, weight, sigma, lam)
        return self


def _leaves_one_out_of_each(splits, n_used):
    """Whether the folds deal out the rows: each held out once, and trained on otherwise."""
    held_out = np.concatenate([test for _, test in splits])
    return len(np.unique(held_out)) == len(held_out) == n_used and all(
        len(train) + len(test) == n_used and not np.isin(train, test).any()
        for train, test in splits
    )


def _training_moments(K, y_index, weight, splits, n_classes):
    """Moments of the training rows of each fold."""
    if not _leaves_one_out_of_each(splits, np.count_nonzero(weight)):
        return [
            iwlspc_moments(K[train], y_index[train], weight[train], n_classes)
            for train, _ in splits
        ]
    # All moments less those of the held-out rows: each row is multiplied out once, not k - 1 times.
    parts = [iwlspc_moments(K[i], y_index[i], weight[i], n_classes) for _, i in splits]
    H, h = (sum(part) for part in zip(*parts, strict=True))
    return [(H - H_test, h - h_test) for H_test, h_test in parts]


def _held_out_posterior(K, y_index, weight, splits, lams, n_classes):
    """Posterior of each held-out row for every lam, fold after fold: (rows, lams, classes)."""
    posteriors = []
    moments = _training_moments(K, y_index, weight, splits, n_classes)
    for (train, test), (H, h) in zip(splits, moments, strict=True):
        total = weight[train].sum()
        alpha = [iwlspc_coefficients(H, h, total, lam) for lam in lams]
        q = K[test] @ np.concatenate(alpha, axis=1)
        prior = _class_prior(y_index[train], weight[train], n_classes)
        posteriors.append(normalized_posterior(q.reshape(len(test), len(lams), n_classes), prior))
    return np.concatenate(posteriors)


class IWLSPCCV(_LeastSquaresPosterior):
    r"""IWLSPC with width and ridge penalty chosen by importance-weighted cross-validation.

    Gives the choice and the scores of ``IWSearchCV(IWLSPC(centers=...), ...)`` over the same
    folds, but computes distances once, each kernel once per width, and each fold's matrix by
    taking away the held-out rows.

    Parameters
    ----------
    sigmas : array-like, default=None
        Kernel widths to try; ``None``: ``sigma_factors`` times the median distance of the
        training rows.
    lams : array-like, default=(0.001, 0.01, 0.1, 1.0, 10.0)
        Ridge penalties to try.
    sigma_factors : array-like, default=(0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
        Used when ``sigmas`` is ``None``.
    cv : int, splitter or iterable, default=5
        See ``ddr.validation.importance_weighted_score``.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
    n_centers : int, default=100
    centers : array-like of shape (b, d), default=None
        See ``IWLSPC``; one set of centres serves all folds.
    random_state : int, RandomState or None
        Draws the centres and shuffles the folds.

    Attributes
    ----------
    best_sigma_, best_lam_ : float
        Of equally good pairs, the one with the largest penalty, then the largest width: the
        smoothest.
    best_score_ : float
        Weighted risk of the best pair: lower is better.
    cv_scores_ : ndarray of shape (n_sigmas, n_lams)
        Weighted risk of every pair, in the order given.
    sigmas_, lams_ : ndarrays
        What was tried.
    n_splits_ : int
    classes_, alpha_, centers_, sigma_, class_prior_, n_features_in_
        As of ``IWLSPC``, fitted on all rows with the best pair.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> model = IWLSPCCV(sigmas=[0.01, 1.0], lams=[0.01], random_state=0)
    >>> model.fit(X, X[:, 0] > 0, sample_weight=np.exp(X[:, 1])).best_sigma_
    1.0
    """

    def __init__(
        self,
        sigmas=None,
        lams=(0.001, 0.01, 0.1, 1.0, 10.0),
        *,
        sigma_factors=(0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0),
        cv=5,
        loss="zero_one",
        n_centers=100,
        centers=None,
        random_state=None,
    ):
        self.sigmas = sigmas
        self.lams = lams
        self.sigma_factors = sigma_factors
        self.cv = cv
        self.loss = loss
        self.n_centers = n_centers
        self.centers = centers
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Choose width and penalty, then fit on all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Importance of each row, in any scale.

        Returns
        -------
        self
        """
        check_loss(self.loss)
        self.lams_ = check_grid(self.lams, "lams")
        X, y_index, weight = check_fit_data(self, X, y, sample_weight)
        self.sigmas_ = self._resolve_sigmas(X, weight)
        self.centers_ = self._resolve_centers(X, weight)
        splits = weighted_splits(self.cv, X, y_index, weight, self.random_state)
        self.n_splits_ = len(splits)
        self.cv_scores_ = self._score_grid(X, y_index, weight, splits)
        sigma, lam = (grid.ravel() for grid in np.meshgrid(self.sigmas_, self.lams_, indexing="ij"))
        smoothest_first = np.lexsort((-sigma, -lam))
        best = smoothest_first[first_best(self.cv_scores_.ravel()[smoothest_first])]
        self.best_sigma_, self.best_lam_ = float(sigma[best]), float(lam[best])
        self.best_score_ = float(self.cv_scores_.ravel()[best])
        self._fit_coefficients(X, y_index, weight, self.best_sigma_, self.best_lam_)
        return self

    def _resolve_sigmas(self, X, weight):
        if self.sigmas is None:
            return check_grid(self.sigma_factors, "sigma_factors") * _median_width(X, weight)
        return check_grid(self.sigmas, "sigmas")

    def _score_grid(self, X, y_index, weight, splits):
        distances = squared_distances(X, self.centers_)
        held_out = np.concatenate([test for _, test in splits])
        held_weight = weight[held_out] / weight[held_out].sum()
        scores = []
        for sigma in self.sigmas_:
            K = np.exp(distances * (-0.5 / sigma**2))
            posterior = _held_out_posterior(
                K, y_index, weight, splits, self.lams_, len(self.classes_)
            )
            scores.append(held_weight @ posterior_loss(y_index[held_out], posterior, self.loss))
        return np.array(scores)


# ------------------------------------------------------------------------------------------------
# Linear support vector machine with Platt posteriors
# ------------------------------------------------------------------------------------------------


def fit_platt(decision, positive, weight):
    r"""Fit Platt's sigmoid to decision values, with weights.

    Parameters
    ----------
    decision : ndarray of shape (n,)
    positive : ndarray of shape (n,), bool
    weight : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (2,)
        A and B of :math:`p(f) = 1 / (1 + \exp(A f + B))`.

    Notes
    -----
    Minimises the weighted log-loss

    .. math:: -\sum_i w_i \left[t_i \ln p(f_i) + (1 - t_i)\ln(1 - p(f_i))\right]

    with Platt's targets, in which weights count as copies:
    :math:`t_i = (N_+ + 1)/(N_+ + 2)` for positive rows and :math:`1/(N_- + 2)` for the others,
    :math:`N_\pm` being their total weights. The targets keep the slope finite on separable data.

    References
    ----------
    .. [1] J. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74.

    Examples
    --------
    >>> import numpy as np
    >>> decision = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> A, B = fit_platt(decision, decision > 0, np.ones(4))
    >>> bool(A < 0), bool(abs(B) < 1e-6)
    (True, True)
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


def platt_posterior(scores, platt):
    """Posterior probabilities of class scores under fitted sigmoids, normalised over the classes.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
    platt : ndarray of shape (m, 2), or (1, 2) for two classes
        A and B of each class; for two classes those of the second.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> platt_posterior(np.array([[-1.0, 1.0]]), np.array([[-np.log(3), 0.0]])).round(2)
    array([[0.25, 0.75]])
    """
    if scores.shape[1] == 2:
        z = platt[0, 0] * scores[:, 1] + platt[0, 1]
        return np.stack([expit(z), expit(-z)], axis=1)
    log_posterior = -np.logaddexp(0, scores * platt[:, 0] + platt[:, 1])
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    return posterior / posterior.sum(axis=1, keepdims=True)


# Rows with a smaller margin under a related machine may become support vectors.
_NEAR = 1.5
# A row that the solver did not see may violate the margin by twice LIBSVM's own tolerance.
_SLACK = 2.0
# With fewer rows than this, telling which lie near the margin costs more than it saves.
_FEW_ROWS = 100
# Up to so many rows the interior-point solver is quick whatever the cost; LIBSVM's pairwise descent
# needs millions of steps when classes overlap and C is large, but bears any number of rows.
_SMALL_PROBLEM = 800


class _Machine(NamedTuple):
    """A linear two-class machine; ``free`` says that no row is held back by its cost."""

    coef: np.ndarray
    intercept: float
    free: bool


def _fit_hinge(X, sign, cost, tol, start=None):
    """Two-class C-SVC with a cost for each row, or the only class present.

    Rows far beyond the margin do not change the solution. Given a related machine to ``start``
    from, only the rows near its margin are solved for; the others are checked afterwards, and join
    if they violate the margin.
    """
    if len(np.unique(sign)) < 2:
        return _Machine(np.zeros(X.shape[1]), sign[0] if len(sign) else -1.0, True)
    seen = np.ones(len(X), dtype=bool)
    if start is not None and len(X) > _FEW_ROWS:
        seen = sign * (X @ start.coef + start.intercept) < _NEAR
    while True:
        if len(np.unique(sign[seen])) < 2:
            seen[:] = True
        solve = _solve_dual if np.count_nonzero(seen) <= _SMALL_PROBLEM else _solve_libsvm
        machine = solve(X[seen], sign[seen], cost[seen], tol)
        margin = sign * (X @ machine.coef + machine.intercept)
        if seen.all() or not np.any(margin[~seen] < 1 - _SLACK * tol):
            return machine
        seen |= margin < _NEAR


def _solve_libsvm(X, sign, cost, tol):
    svc = SVC(kernel="linear", C=1.0, tol=tol).fit(X, sign, cost)
    free = np.all(np.abs(svc.dual_coef_[0]) < cost[svc.support_] * (1 - 1e-9))
    return _Machine((svc.dual_coef_ @ svc.support_vectors_)[0], svc.intercept_[0], bool(free))


def _solve_dual(X, sign, cost, tol):
    """The same problem in its dual form, a quadratic programme, by the solver of KMM."""
    signed = sign[:, None] * X
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.setup(
        signed @ signed.T,
        -np.ones(len(X)),
        sign[None, :],
        np.zeros(1),
        x_l=np.zeros(len(X)),
        x_u=cost,
    )
    if solver.solve() != piqp.PIQP_SOLVED:
        return _solve_libsvm(X, sign, cost, tol)
    alpha = np.clip(solver.result.x, 0.0, cost)
    coef = alpha @ signed
    # A row strictly between its bounds lies on the margin. Without one, every intercept between
    # the two nearest rows is optimal, and LIBSVM takes the middle.
    offset = sign - X @ coef
    inside = (alpha > 1e-6 * cost) & (alpha < (1 - 1e-6) * cost)
    if np.any(inside):
        intercept = np.average(offset[inside], weights=np.minimum(alpha, cost - alpha)[inside])
    else:
        upper = (alpha > 0.5 * cost) == (sign > 0)  # rows that bound the intercept from above
        intercept = 0.5 * (offset[upper].min() + offset[~upper].max())
    return _Machine(coef, intercept, bool(np.all(alpha < (1 - 1e-6) * cost)))


def _fit_pairs(X, y_index, cost, n_classes, tol, starts=None):
    """One machine for each pair of classes, from ``starts`` for other rows or costs if given."""
    machines = []
    for k, (first, second) in enumerate(combinations(range(n_classes), 2)):
        rows = np.flatnonzero((y_index == first) | (y_index == second))
        sign = np.where(y_index[rows] == second, 1.0, -1.0)
        start = None if starts is None else starts[k]
        machines.append(_fit_hinge(X[rows], sign, cost[rows], tol, start))
    return machines


def _decisions(machines, X):
    """Decision values of each pair's machine."""
    coef, intercept = _coefficients(machines, X.shape[1])
    return X @ coef.T + intercept


def _coefficients(machines, n_columns):
    """Normal vectors (pairs, d) and intercepts (pairs,); a single class has no pair."""
    coef = np.array([machine.coef for machine in machines]).reshape(-1, n_columns)
    return coef, np.array([machine.intercept for machine in machines])


def _class_scores(pair_decisions, n_classes):
    """Votes of the pairs, ties settled by the decision values, as scikit-learn's SVC has them."""
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


def _held_out_scores(X, y_index, weight, splits, n_classes, Cs, tol, starts):
    """Class scores of the held-out rows, fold after fold, for each C of an increasing sequence.

    Once no row of a fold is held back by its cost, a larger C has the same solution.
    """
    scores = [[] for _ in Cs]
    for train, test in splits:
        machines = starts
        for k, C in enumerate(Cs):
            if k == 0 or not all(machine.free for machine in machines):
                machines = _fit_pairs(
                    X[train], y_index[train], C * weight[train], n_classes, tol, machines
                )
            scores[k].append(_class_scores(_decisions(machines, X[test]), n_classes))
    return [np.concatenate(parts) for parts in scores]


def _fit_platts(scores, y_index, weight):
    """A and B of each class, or of the second of two."""
    n_classes = scores.shape[1]
    columns = [1] if n_classes == 2 else range(n_classes)
    return np.array([fit_platt(scores[:, c], y_index == c, weight) for c in columns])


class _PlattSVM(ClassifierMixin, BaseEstimator):
    """What ``LinearSVMWithPosteriors`` and its CV sibling share: the final fit and predictions."""

    def _fit_machines(self, X, y_index, weight, C, starts=None):
        kept = weight > 0  # LIBSVM would drop these rows too, but fails when none is left
        machines = _fit_pairs(
            X[kept], y_index[kept], C * weight[kept], len(self.classes_), self.tol, starts
        )
        self.coef_, self.intercept_ = _coefficients(machines, X.shape[1])
        return machines

    def _check_predict_by(self):
        check_choice(self.predict_by, "predict_by", ("posterior", "decision"))

    def _scores(self, X):
        return _class_scores(X @ self.coef_.T + self.intercept_, len(self.classes_))

    def _checked_scores(self, X):
        check_is_fitted(self)
        return self._scores(validate_data(self, X, reset=False, dtype=np.float64))

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
        self._check_predict_by()
        C = check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        X, y_index, weight = check_fit_data(self, X, y, sample_weight)
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
        See ``ddr.validation.importance_weighted_score``.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
        ``"log"`` and ``"squared"`` score the sigmoid fitted to the held-out decision values
        on these same values: its two parameters are not cross-validated again.
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
        self._check_predict_by()
        Cs = check_grid(self.Cs, "Cs")
        check_positive(self.tol, "tol")
        X, y_index, weight = check_fit_data(self, X, y, sample_weight)
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
        self.platt_ = _fit_platts(scores[best], y_held, w_held)
        return self

    def _risk(self, scores, y_index, weight):
        if self.loss != "zero_one":
            scores = platt_posterior(scores, _fit_platts(scores, y_index, weight))
        return weight @ posterior_loss(y_index, scores, self.loss) / weight.sum()
