r"""Linear support vector machines: the two-class problem, and one machine for each pair of classes.

With a cost for each row, :math:`y_i \in \{-1, 1\}`,

.. math:: \min_{v, b}\ \tfrac12\lVert v\rVert^2 + \sum_i c_i \max(0, 1 - y_i(v^\top x_i + b)),

or in its dual form

.. math::
    \min_\alpha\ \tfrac12\Big\lVert\sum_i \alpha_i y_i x_i\Big\rVert^2 - \sum_i \alpha_i
    \quad\text{with}\quad \sum_i \alpha_i y_i = 0,\ 0 \le \alpha_i \le c_i .
"""

import warnings
from itertools import combinations
from typing import NamedTuple

import numpy as np
import piqp
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

# Rows with a smaller margin under a related machine may become support vectors.
_NEAR = 1.5
# A row that the solver did not see may violate the margin by twice LIBSVM's own tolerance.
_SLACK = 2.0
# With fewer rows than this, telling which lie near the margin costs more than it saves.
_FEW_ROWS = 100
# Up to so many rows the interior-point solver is quick whatever the cost; LIBSVM's pairwise descent
# needs millions of steps when classes overlap and C is large, but bears any number of rows.
_SMALL_PROBLEM = 800
# LIBSVM takes seconds for so many steps; what needs more has very large columns or costs.
_MOST_STEPS = 10**6


class Machine(NamedTuple):
    """A linear two-class machine.

    Attributes
    ----------
    coef : ndarray of shape (d,)
    intercept : float
    free : bool
        Whether no row is held back by its cost: larger costs have the same solution.

    Examples
    --------
    >>> import numpy as np
    >>> Machine(np.array([1.0]), intercept=0.0, free=True).free
    True
    """

    coef: np.ndarray
    intercept: float
    free: bool


def fit_hinge(X, sign, cost, tol, start=None):
    """Fit a two-class C-SVC with a cost for each row; of a single class, predict that class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sign : ndarray of shape (n,)
        -1.0 or 1.0.
    cost : ndarray of shape (n,)
        Positive.
    tol : float
        LIBSVM's stopping tolerance.
    start : Machine, default=None
        A machine for related rows or costs.

    Returns
    -------
    Machine

    Notes
    -----
    Rows far beyond the margin do not change the solution. Given a related machine to ``start``
    from, only the rows near its margin are solved for; the others are checked afterwards, and join
    if they violate the margin.

    Examples
    --------
    >>> import numpy as np
    >>> X, sign = np.array([[-2.0], [-1.0], [1.0]]), np.array([-1.0, -1.0, 1.0])
    >>> machine = fit_hinge(X, sign, np.full(3, 10.0), tol=1e-3)
    >>> machine.coef.round(4), machine.free
    (array([1.]), True)
    """
    if len(np.unique(sign)) < 2:
        return Machine(np.zeros(X.shape[1]), sign[0] if len(sign) else -1.0, True)
    seen = np.ones(len(X), dtype=bool)
    if start is not None and len(X) > _FEW_ROWS:
        seen = sign * (X @ start.coef + start.intercept) < _NEAR
    while True:
        if len(np.unique(sign[seen])) < 2:
            seen[:] = True
        machine = _solve(X[seen], sign[seen], cost[seen], tol)
        margin = sign * (X @ machine.coef + machine.intercept)
        if seen.all() or not np.any(margin[~seen] < 1 - _SLACK * tol):
            return machine
        seen |= margin < _NEAR


def _solve(X, sign, cost, tol):
    """The problem by the solver that suits its size, or by one that bears any scale of it."""
    if len(X) <= _SMALL_PROBLEM:
        machine = _solve_dual(X, sign, cost)
    else:
        machine = _solve_libsvm(X, sign, cost, tol)
    return _solve_primal(X, sign, cost) if machine is None else machine


def _solve_libsvm(X, sign, cost, tol):
    """The problem by LIBSVM's pairwise descent; None if that takes too many steps."""
    svc = SVC(kernel="linear", C=1.0, tol=tol, max_iter=_MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc.fit(X, sign, cost)
    if svc.n_iter_[0] >= _MOST_STEPS:
        return None
    free = np.all(np.abs(svc.dual_coef_[0]) < cost[svc.support_] * (1 - 1e-9))
    return Machine((svc.dual_coef_ @ svc.support_vectors_)[0], svc.intercept_[0], bool(free))


def _solve_dual(X, sign, cost):
    """The same problem in its dual form, by the solver of KMM; None if that does not converge."""
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
        return None
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
    return Machine(coef, intercept, bool(np.all(alpha < (1 - 1e-6) * cost)))


def _solve_primal(X, sign, cost):
    r"""The problem as first stated, with slacks, for columns or costs that are very large.

    With :math:`X = R^\top Q^\top` no more columns than rows are left. Data and costs are divided by
    their largest values, s and c, so that only the factor of the norm is extreme:

    .. math:: \min_{u, b, \xi \ge 0}\ \frac{\lVert u\rVert^2}{2 s^2 c} + \sum_i \frac{c_i}{c}\xi_i
        \quad\text{with}\quad y_i\left(u^\top r_i / s + b\right) \ge 1 - \xi_i,\quad v = Q u / s
    """
    Q, R = np.linalg.qr(X.T)
    n, d = len(X), len(R)
    s, c = np.abs(R).max() or 1.0, cost.max()
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.setup(
        sparse.diags(np.r_[np.full(d, 1 / s / s / c), np.zeros(n + 1)], format="csc"),
        np.r_[np.zeros(d + 1), cost / c],
        G=sparse.hstack([sign[:, None] * np.c_[R.T / s, np.ones(n)], sparse.eye(n)], format="csc"),
        h_l=np.ones(n),
        x_l=np.r_[np.full(d + 1, -np.inf), np.zeros(n)],
    )
    status = solver.solve()
    if status != piqp.PIQP_SOLVED:
        warnings.warn(
            f"a support vector machine was not solved to its tolerance ({status}): "
            "bring the columns of X, C and the weights to a common scale",
            ConvergenceWarning,
            stacklevel=2,
        )
    u, (intercept,), slack = np.split(solver.result.x, [d, d + 1])
    return Machine(Q @ u / s, intercept, bool(np.all(slack < 1e-6)))


def fit_pairs(X, y_index, cost, n_classes, tol, starts=None):
    """Fit one machine for each pair of classes, positive for the second of the pair.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y_index : ndarray of shape (n,), int
    cost : ndarray of shape (n,)
    n_classes : int
    tol : float
    starts : list of Machine, default=None
        Machines of the same pairs for related rows or costs.

    Returns
    -------
    list of Machine

    Examples
    --------
    >>> import numpy as np
    >>> X, y_index = np.array([[-2.0], [0.0], [2.0]]), np.array([0, 1, 2])
    >>> machines = fit_pairs(X, y_index, np.full(3, 10.0), n_classes=3, tol=1e-3)
    >>> [round(float(machine.coef[0]), 3) for machine in machines]
    [1.0, 0.5, 1.0]
    """
    machines = []
    for k, (first, second) in enumerate(combinations(range(n_classes), 2)):
        rows = np.flatnonzero((y_index == first) | (y_index == second))
        sign = np.where(y_index[rows] == second, 1.0, -1.0)
        start = None if starts is None else starts[k]
        machines.append(fit_hinge(X[rows], sign, cost[rows], tol, start))
    return machines


def pair_planes(machines, n_columns):
    """Stack the normal vectors and the intercepts of machines.

    Parameters
    ----------
    machines : list of Machine
        Empty for a single class, which has no pair.
    n_columns : int
        Of the data.

    Returns
    -------
    coef : ndarray of shape (pairs, n_columns)
    intercept : ndarray of shape (pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> pair_planes([Machine(np.array([2.0, 0.0]), -1.0, True)], n_columns=2)
    (array([[2., 0.]]), array([-1.]))
    """
    coef = np.array([machine.coef for machine in machines]).reshape(-1, n_columns)
    return coef, np.array([machine.intercept for machine in machines])


def class_scores(pair_decisions, n_classes):
    """Votes of the pairs, ties settled by the decision values, as scikit-learn's SVC has them.

    Parameters
    ----------
    pair_decisions : ndarray of shape (n, pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)
        The predicted class has the highest score; of two classes, the decision value and its
        negative.

    Examples
    --------
    >>> import numpy as np
    >>> class_scores(np.array([[0.5]]), n_classes=2)
    array([[-0.5,  0.5]])
    >>> class_scores(np.array([[1.0, 1.0, -1.0]]), n_classes=3).argmax(axis=1)
    array([1])
    """
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
