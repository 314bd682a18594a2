r"""Kullback-Leibler importance estimation procedure (KLIEP), with soft test rows."""

import numpy as np
from sklearn.utils import check_random_state

from ddr._checks import check_count, check_grid
from ddr.kernels import WIDTHS, KernelBlocks, distinct_rows, gaussian_kernel, median_distance
from ddr.ratio import DensityRatio, centers_of, quadratic_minimum

# Keeps the logarithm finite where every kernel vanishes; far below any ratio that matters.
_TINY = 1e-300


def kliep_coefficients(K_test, mean_train, test_weight, tol=1e-9, max_iter=100):
    r"""Maximise the weighted log-likelihood of the test rows under a normalised ratio.

    .. math::
        \max_{\alpha \ge 0} \sum_j v_j \ln \sum_l \alpha_l k(x_j, x_l)
        \quad\text{subject to}\quad \frac{1}{n_{tr}} \sum_i \sum_l \alpha_l k(x_i, x_l) = 1

    The constraint can be moved into the objective as the penalty
    :math:`-\sum_j v_j \cdot \sum_l \alpha_l \bar k_l`: setting the derivative along :math:`\alpha`
    to zero shows that the constraint then holds at the maximum. What remains is concave and has
    only bounds: Newton steps under these bounds, by the quadratic programmes of PIQP, end at the
    global maximum (Y. Kim and others, 2020, Journal of Computational and Graphical Statistics 29,
    261-273). With the constraint met, no objective lies above this one by more than the largest
    entry of its gradient, which ``tol`` bounds. About ten steps are needed.
    """
    share = test_weight / test_weight.sum()
    components = K_test / mean_train  # each has mean one over the training rows
    seen = np.any(components > 0, axis=1) & (share > 0)  # no coefficients can change the others
    components, share = components[seen], share[seen]
    pi = np.full(len(mean_train), 1.0 / len(mean_train))
    value = _penalised(pi, components, share)
    for _ in range(max_iter):
        ratio = components @ pi
        gradient = share.sum() - (share / ratio) @ components
        if max(-gradient.min(), abs(gradient @ pi)) < tol:
            break
        step = _newton_step(pi, gradient, components * (np.sqrt(share) / ratio)[:, None])
        length, fall = 1.0, 1e-4 * (gradient @ step)
        while (new := _penalised(pi + length * step, components, share)) > value + length * fall:
            length /= 2
        pi = pi + length * step
        if value - new <= 1e-15:
            break
        value = new
    return pi / pi.sum() / mean_train


def _penalised(pi, components, share):
    """Minus the objective, with the constraint as a penalty; infinite where a ratio is zero."""
    with np.errstate(divide="ignore"):
        return share.sum() * pi.sum() - share @ np.log(components @ pi)


def _newton_step(pi, gradient, root):
    """Step to the minimum, over pi >= 0, of the quadratic model with Hessian root' root."""
    H = root.T @ root
    H[np.diag_indices(len(H))] += 1e-10 * np.trace(H) / len(H)  # kernels are nearly dependent
    status, end = quadratic_minimum(H, gradient - H @ pi, 1e-10, x_l=np.zeros(len(pi)))
    if not np.all(np.isfinite(end)):
        raise RuntimeError(f"KLIEP found no coefficients: {status}")
    return np.maximum(end, 0.0) - pi


def _mean(train, sigma):
    """Mean kernel values over the training rows, of each centre."""
    sums = (K.sum(axis=0) for _, _, K in train.at_each([sigma]))
    return sum(sums, np.zeros(len(train.centers))) / len(train.X)


def _solve(mean, K_test, test_weight):
    """Coefficients at one width; zero at centres that no training row reaches."""
    # A centre that no training row reaches cannot enter: the constraint could not hold.
    reached = mean > 1e-12
    alpha = np.zeros(len(mean))
    if np.any(reached):
        alpha[reached] = kliep_coefficients(K_test[:, reached], mean[reached], test_weight)
    return alpha


class KLIEP(DensityRatio):
    """Density ratio by the Kullback-Leibler importance estimation procedure.

    Parameters
    ----------
    sigma : float, array-like or None, default=None
        Kernel width, or candidates among which the held-out likelihood chooses. None means nine
        widths from a quarter to four times the median distance between the centres.
    n_centers : int, default=100
    centers : array-like of shape (b, d), default=None
        As of ``ULSIF``.
    n_folds : int, default=5
        Folds of the distinct test rows when there is a width to choose; at most one a row.
    random_state : int, RandomState or None, default=None
        Draws centres and folds.

    Attributes
    ----------
    weights_ : ndarray of shape (n_train,)
        Estimated ratio at the training rows, of mean one.
    sigma_ : float
        Chosen width.
    sigmas_ : ndarray
        The candidates.
    scores_ : ndarray of shape (n_sigmas,) or None
        Held-out mean log-ratio of each width, the larger the better; None when nothing was chosen.
    centers_ : ndarray of shape (b, d)
    alpha_ : ndarray of shape (b,)

    Notes
    -----
    The kernel values of all test rows are held in memory, and every width is fitted six times: for
    200,000 rows of five columns on each side that takes a minute and a gigabyte, where one
    ``sigma`` takes three seconds.

    References
    ----------
    M. Sugiyama, S. Nakajima, H. Kashima, P. von Bünau and M. Kawanabe (2007). Direct importance
    estimation with model selection and its application to covariate shift adaptation. NIPS 20.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X_train, X_test = rng.normal(0, 1, (300, 1)), rng.normal(0.5, 0.7, (300, 1))
    >>> ratio = KLIEP(random_state=0).fit(X_train, X_test)
    >>> bool(np.isclose(ratio.weights_.mean(), 1.0)), ratio.predict([[-2.0], [0.5]]).round(1)
    (True, array([0.1, 1.8]))
    """

    def __init__(self, sigma=None, *, n_centers=100, centers=None, n_folds=5, random_state=None):
        self.sigma = sigma
        self.n_centers = n_centers
        self.centers = centers
        self.n_folds = n_folds
        self.random_state = random_state

    def _fit(self, X_train, X_test, test_weight):
        rng = check_random_state(self.random_state)
        # Copies and weights become the same input.
        X_test, test_weight = distinct_rows(X_test, test_weight)
        self.centers_ = centers_of(self, X_test, test_weight, rng)
        self.sigmas_ = check_grid(self.sigma, "sigma", median_distance(self.centers_) * WIDTHS)
        train = KernelBlocks(X_train, self.centers_)
        self._select(train, X_test, test_weight, rng)
        K_test = gaussian_kernel(X_test, self.centers_, self.sigma_)
        self.alpha_ = _solve(_mean(train, self.sigma_), K_test, test_weight)
        self.weights_ = train.product(self.alpha_, self.sigma_)

    def _select(self, train, X_test, test_weight, rng):
        """Choose the width by the likelihood of held-out test rows."""
        n_folds = check_count(self.n_folds, "n_folds", minimum=2)
        self.scores_, best = None, 0
        if len(self.sigmas_) > 1 and len(X_test) > 1:  # a single row cannot be held out
            folds = rng.permutation(len(X_test)) % n_folds
            scores = [self._score(train, X_test, test_weight, s, folds) for s in self.sigmas_]
            self.scores_, best = np.array(scores), np.argmax(scores)
        self.sigma_ = float(self.sigmas_[best])

    def _score(self, train, X_test, test_weight, sigma, folds):
        K_test, mean = gaussian_kernel(X_test, self.centers_, sigma), _mean(train, sigma)
        total = 0.0
        for fold in range(folds.max() + 1):
            held = folds == fold
            alpha = _solve(mean, K_test[~held], test_weight[~held])
            total += test_weight[held] @ np.log(np.maximum(K_test[held] @ alpha, _TINY))
        return total / test_weight.sum()
