"""Platt's sigmoid: posterior probabilities from decision values, with weights."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


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


def fit_platts(scores, y_index, weight):
    """Fit a sigmoid to the scores of each class, or of the second of two.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
    y_index : ndarray of shape (n,), int
        Column of the true class.
    weight : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (m, 2), or (1, 2) for two classes
        A and B of each.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[2.0, -2.0], [-2.0, 2.0]])
    >>> fit_platts(scores, np.array([0, 1]), np.ones(2)).shape
    (1, 2)
    """
    n_classes = scores.shape[1]
    columns = [1] if n_classes == 2 else range(n_classes)
    return np.array([fit_platt(scores[:, c], y_index == c, weight) for c in columns])


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
