r"""The linear two-class C-SVC, solved to full accuracy.

.. math:: \min_{v, b}\ \tfrac12\lVert v\rVert^2 + \sum_i c_i \max(0, 1 - s_i(v^\top x_i + b)),
   \qquad s_i = \pm 1

This is LIBSVM's problem with a cost :math:`c_i = C w_i` for each row. LIBSVM's pairwise descent
stops at a tolerance of 1e-3 and needs millions of steps when classes overlap and C is large. With
few columns the problem is small in another way: an interior-point step costs one Cholesky
factorisation of the size of the columns. Once the steps have shown which rows lie on the margin
and which beyond it, one linear system gives the solution to rounding, and the duality gap proves
it. Only rows near the margin matter, so the steps run on those and the others are checked at the
end. Where no proof is reached, LIBSVM is asked.

References
----------
.. [1] S. Fine and K. Scheinberg (2001). Efficient SVM training using low-rank kernel
   representations. Journal of Machine Learning Research 2, 243-264.
.. [2] E. M. Gertz and S. J. Wright (2003). Object-oriented software for quadratic programming.
   ACM Transactions on Mathematical Software 29, 58-81.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq, qr
from scipy.optimize import lsq_linear
from sklearn.svm import SVC

# A solution is proved when its duality gap is below this share of the objective.
_PROOF = 1e-10
# LIBSVM's default tolerance leaves about this share: without a proof, still no worse than that.
_AS_LIBSVM = 1e-5
# Margins are compared with one up to this.
_ROUNDING = 1e-9
# Rows with a margin below this under a related solution may become support vectors.
_NEAR = 1.5
# With fewer rows than this, looking for those near the margin costs more than it saves.
_FEW_ROWS = 500
_MAX_STEPS = 100
_LIBSVM_STEPS = 1_000_000


def solve_hinge(X, sign, cost, near=None):
    """Minimise the weighted hinge loss with a squared norm.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sign : ndarray of shape (n,)
        +1 or -1; both must be present.
    cost : ndarray of shape (n,)
        Positive cost of each row.
    near : tuple of ndarray of shape (d,) and float, default=None
        Solution of a related problem (other costs, other rows): tells which rows to start with.
        The result does not depend on it beyond rounding.

    Returns
    -------
    v : ndarray of shape (d,)
    b : float
        Where an interval of intercepts is optimal, its middle, as LIBSVM chooses.

    Examples
    --------
    >>> import numpy as np
    >>> v, b = solve_hinge(np.array([[-2.0], [-1.0], [1.0], [3.0]]), np.array([-1, -1, 1, 1]),
    ...                    cost=np.full(4, 10.0))
    >>> v.round(6), round(b, 6) + 0.0
    (array([1.]), 0.0)
    """
    X, cost, center, scale = _standardized(X, cost)
    if near is not None:
        near = near[0] * scale, near[1] + center @ near[0]
    v, b = _solve_near(X, np.asarray(sign, dtype=float), cost, near)
    v = v / scale
    return v, float(b - center @ v)


def _standardized(X, cost):
    """Centre the rows and give them unit mean square; the problem keeps its form."""
    center = X.mean(axis=0)
    X = X - center
    scale = np.sqrt(np.einsum("ij,ij->", X, X) / len(X)) or 1.0
    return X / scale, cost * scale**2, center, scale


def _solve_near(X, sign, cost, near):
    """Solve on the rows near the margin, add those that the solution violates, repeat."""
    if near is None and len(X) > _FEW_ROWS:
        some = np.argsort(sign, kind="stable")[:: -(-len(X) // _FEW_ROWS)]  # of both classes
        near = _solve_all(X[some], sign[some], cost[some])
    working = np.ones(len(X), dtype=bool)
    if near is not None and len(X) > _FEW_ROWS:
        working = sign * (X @ near[0] + near[1]) < _NEAR
    while True:
        both = np.any(sign[working] > 0) and np.any(sign[working] < 0)
        if not both or working.mean() > 0.7:
            working[:] = True
        v, b = _solve_all(X[working], sign[working], cost[working])
        violated = ~working & (sign * (X @ v + b) < 1 - _ROUNDING)
        if not violated.any():
            return v, b
        working |= violated


def _solve_all(X, sign, cost):
    basis = None
    if X.shape[0] < X.shape[1]:
        # Rows span fewer dimensions than there are columns: work in their span.
        basis, R = qr(X.T, mode="economic", check_finite=False)
        X = R.T
    solution = _interior_point(X, sign, cost) or _libsvm(X, sign, cost)
    v, b = solution
    return (v if basis is None else basis @ v), b


def _libsvm(X, sign, cost):
    svc = SVC(kernel="linear", max_iter=_LIBSVM_STEPS).fit(X, sign, sample_weight=cost)
    return (svc.dual_coef_ @ svc.support_vectors_)[0], svc.intercept_[0]


def hinge_intercept(f, sign, cost):
    """Intercept that minimises the hinge loss for given values without intercept.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Values of v'x.
    sign, cost : ndarrays of shape (n,)

    Returns
    -------
    float
        Middle of the interval of minimisers.

    Notes
    -----
    Row i turns from loss to none, or back, at the intercept s_i - f_i, and there the slope of the
    total loss rises by c_i, starting from minus the cost of the positive rows: a weighted quantile.

    Examples
    --------
    >>> import numpy as np
    >>> hinge_intercept(np.array([-3.0, 1.0]), np.array([-1, 1]), np.ones(2))
    1.0
    """
    turns = sign - f
    order = np.argsort(turns, kind="stable")
    risen = np.cumsum(cost[order])
    needed, rounding = cost[sign > 0].sum(), 1e-12 * risen[-1]
    k = np.searchsorted(risen, needed - rounding)
    low = turns[order[k]]
    flat = risen[k] <= needed + rounding
    return float(0.5 * (low + turns[order[k + 1]]) if flat else low)


def duality_gap(v, a, margin, cost):
    """Gap between the objective and the dual value, and the objective.

    The dual value bounds the minimum from below when v is the sum of a_i s_i x_i, all a_i lie
    between 0 and c_i, and the a_i of both classes have equal sums.

    Parameters
    ----------
    v : ndarray of shape (d,)
    a : ndarray of shape (n,)
    margin : ndarray of shape (n,)
        Values of s (v'x + b).
    cost : ndarray of shape (n,)

    Returns
    -------
    gap, objective : float

    Examples
    --------
    >>> import numpy as np
    >>> duality_gap(np.ones(1), np.array([0.5, 0.5]), np.ones(2), np.ones(2))
    (0.0, 0.5)
    """
    half_norm = 0.5 * v @ v
    objective = half_norm + cost @ np.maximum(0, 1 - margin)
    return float(objective - (a.sum() - half_norm)), float(objective)


def _interior_point(X, sign, cost):
    """Mehrotra's predictor-corrector on the dual; ``None`` if the gap does not close.

    Unknowns: multipliers 0 < a < c with u = c - a, surplus z > 0 and slack t > 0 with
    margin - 1 = z - t, a z -> 0, u t -> 0. Z holds the rows s (x, 1).
    """
    Z = np.column_stack([X, np.ones(len(X))]) * sign[:, None]
    a, u, z, t, b = _start(X, Z, sign, cost)
    best, best_gap = None, _AS_LIBSVM
    with np.errstate(all="ignore"):
        for _ in range(_MAX_STEPS):
            v = Z[:, :-1].T @ a
            margin = Z[:, :-1] @ v + sign * b
            gap, objective = duality_gap(v, a, margin, cost)
            if gap < 1e-3 * objective:
                exact = _on_the_face(X, Z, sign, cost, a, u, z, t)
                if exact is not None:
                    return exact
            if abs(gap) <= best_gap * objective and abs(sign @ a) <= best_gap * cost.sum():
                best, best_gap = (v, hinge_intercept(X @ v, sign, cost)), abs(gap) / objective
            elif best is not None:
                break  # rounding has the upper hand
            try:
                a, u, z, t, b = _step(Z, sign, a, u, z, t, b, margin)
            except (LinAlgError, ValueError):  # beyond the reach of double precision
                break
    return best


def _start(X, Z, sign, cost):
    """Multipliers balanced between the classes, the best along their ray."""
    plus, minus = cost[sign > 0].sum(), cost[sign < 0].sum()
    a = 0.5 * cost * np.where(sign > 0, min(1, minus / plus), min(1, plus / minus))
    v = Z[:, :-1].T @ a
    shrink = min(1.0, max(1e-6, a.sum() / max(v @ v, 1e-300)))
    a, v = shrink * a, shrink * v
    b = hinge_intercept(X @ v, sign, cost)
    surplus = Z[:, :-1] @ v + sign * b - 1
    z = np.maximum(surplus, 0) + np.abs(surplus).mean() + 0.1
    return a, cost - a, z, z - surplus, b


def _step(Z, sign, a, u, z, t, b, margin):
    """One Newton step: predictor, then corrector with the same factorisation."""
    d = Z.shape[1] - 1
    residual, imbalance = margin - 1 - z + t, sign @ a
    E = 1 / (z / a + t / u)
    root = Z * np.sqrt(E)[:, None]
    M = root.T @ root
    M.flat[: d * (d + 1) : d + 2] += 1  # the intercept carries no penalty
    factor = cho_factor(M, lower=True)

    def direction(r_z, r_t):
        g = r_z / a - r_t / u - residual
        right = Z.T @ (E * g)
        right[d] += imbalance
        dvb = cho_solve(factor, right, check_finite=False)
        da = E * (g - Z @ dvb)
        return da, (r_z - z * da) / a, (r_t + t * da) / u, dvb[d]

    def longest(da, dz, dt):
        return 1 / max((-da / a).max(), (da / u).max(), (-dz / z).max(), (-dt / t).max(), 1e-300)

    da, dz, dt, _ = direction(-a * z, -u * t)
    size = min(1, longest(da, dz, dt))
    mu = (a @ z + u @ t) / (2 * len(a))
    ahead = (a + size * da) @ (z + size * dz) + (u - size * da) @ (t + size * dt)
    target = (ahead / (2 * len(a)) / mu) ** 3 * mu
    da, dz, dt, db = direction(target - a * z - da * dz, target - u * t + da * dt)
    size = min(1, 0.99 * longest(da, dz, dt))
    return a + size * da, u - size * da, z + size * dz, t + size * dt, b + size * db


def _on_the_face(X, Z, sign, cost, a, u, z, t):
    """Exact solution if the rows on and beyond the margin are those that the iterate suggests.

    Rows beyond the margin have a = c, rows with surplus a = 0; the others have margin one, which
    together with the balance of the classes is a linear system. ``None`` unless its solution
    fulfils all conditions of optimality to rounding.
    """
    beyond = u < t
    on = ~beyond & (a >= z)
    k = np.count_nonzero(on)
    if k > 2 * Z.shape[1] + 50:  # more than a vertex can hold: the iterate is not there yet
        return None
    exact = np.where(beyond, cost, 0.0)
    exact[on] = _multipliers_on(Z[on], sign[on], cost[on], Z[beyond].T @ cost[beyond])
    v = Z[:, :-1].T @ exact
    b = hinge_intercept(X @ v, sign, cost)
    margin = Z[:, :-1] @ v + sign * b
    gap, objective = duality_gap(v, exact, margin, cost)
    proved = (
        abs(gap) <= _PROOF * objective
        and abs(sign @ exact) <= _PROOF * cost.sum()
        and np.all(margin[beyond] <= 1 + _ROUNDING)
        and np.all(margin[~beyond] >= 1 - _ROUNDING)
        and np.all(margin[on] <= 1 + _ROUNDING)
    )
    return (v, b) if proved else None


def _multipliers_on(Z, sign, cost, pull):
    """Multipliers of the rows on the margin, given what the rows beyond it sum up to."""
    k = len(Z)
    K = np.zeros((k + 1, k + 1))
    K[:k, :k] = Z[:, :-1] @ Z[:, :-1].T
    K[:k, k] = K[k, :k] = sign
    right = np.append(1 - Z[:, :-1] @ pull[:-1], -pull[-1])
    # Least squares: more rows on the margin than dimensions make the system singular.
    solution, _, rank, _ = lstsq(K, right, check_finite=False, lapack_driver="gelsy")
    a = solution[:k]
    if rank <= k and np.any((a < 0) | (a > cost)):
        # Many multipliers give the same v; look for some within their bounds.
        a = lsq_linear(Z.T, Z.T @ a, bounds=(0, cost), method="bvls", tol=1e-14).x
    return np.clip(a, 0, cost)
