r"""Kernel mean matching (KMM), with soft test rows."""

import numpy as np

from ddr._checks import check_positive
from ddr.kernels import KernelBlocks, choose_centers, gaussian_kernel, median_distance
from ddr.ratio import DensityRatio, quadratic_minimum

#: More training rows are refused: their kernel matrix alone would take 3.2 GB, the solver more.
MOST_ROWS = 20_000


def kmm_weights(K, kappa, bound, epsilon):
    r"""Solve kernel mean matching's quadratic programme by the interior-point method of PIQP.

    .. math::
        \min_\beta \tfrac12 \beta^T K \beta - \kappa^T \beta \quad\text{subject to}\quad
        0 \le \beta_i \le B, \quad \left|\tfrac1n \sum_i \beta_i - 1\right| \le \epsilon

    K is the kernel matrix of the training rows, :math:`\kappa` n times the (weighted) mean kernel
    value between each training row and the test rows.
    """
    n = len(K)
    box = {"x_l": np.zeros(n), "x_u": np.full(n, bound)}
    mean = {"h_l": np.array([1.0 - epsilon]), "h_u": np.array([1.0 + epsilon])}
    mean["G"] = np.full((1, n), 1.0 / n)
    # Divided by n, the programme has the same minimiser and is better scaled.
    status, beta = quadratic_minimum(K / n, -kappa / n, 1e-9, **box, **mean)
    if status.name != "PIQP_SOLVED":
        raise ValueError("KMM found no weights: ridge is too large, or bound or epsilon too small")
    return np.clip(beta, 0.0, bound)


class KMM(DensityRatio):
    r"""Weights by kernel mean matching.

    Parameters
    ----------
    sigma : float or None, default=None
        Kernel width. None means the median distance between test rows.
    bound : float, default=1000
        Largest weight allowed, B.
    epsilon : float or None, default=None
        Allowed distance of the mean weight from one. None means
        :math:`(\sqrt{n_{tr}} - 1)/\sqrt{n_{tr}}`, as the method's authors take.
    ridge : float, default=1
        Added to the diagonal of the kernel matrix. Without it (1e-6, say) the method overfits: the
        matrix is nearly singular, and a few rows take all the weight.
    random_state : int, RandomState or None, default=None
        Draws the test rows whose median distance is taken.

    Attributes
    ----------
    weights_ : ndarray of shape (n_train,)
        Between 0 and ``bound``.
    sigma_ : float

    Notes
    -----
    The method gives weights to the training rows and no function, so ``predict`` is refused. It
    needs the training rows' kernel matrix, and time in the cube of their number: more than 20,000
    of them are refused.

    References
    ----------
    J. Huang, A. Smola, A. Gretton, K. Borgwardt and B. Schölkopf (2007). Correcting sample
    selection bias by unlabeled data. NIPS 19.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X_train, X_test = rng.normal(0, 1, (200, 1)), rng.normal(1, 0.7, (200, 1))
    >>> weights = KMM().fit(X_train, X_test).weights_
    >>> bool(weights[X_train.ravel() > 0].mean() > 3 * weights[X_train.ravel() < 0].mean())
    True
    """

    def __init__(self, sigma=None, *, bound=1000.0, epsilon=None, ridge=1.0, random_state=None):
        self.sigma = sigma
        self.bound = bound
        self.epsilon = epsilon
        self.ridge = ridge
        self.random_state = random_state

    def _fit(self, X_train, X_test, test_weight):
        n = len(X_train)
        if n > MOST_ROWS:
            raise ValueError(
                f"X_train must have at most {MOST_ROWS} rows for KMM, got {n}: use ULSIF"
            )
        bound = check_positive(self.bound, "bound")
        epsilon = 1.0 - n**-0.5 if self.epsilon is None else check_positive(self.epsilon, "epsilon")
        some = choose_centers(X_test, 500, test_weight, self.random_state)
        sigma = median_distance(some) if self.sigma is None else self.sigma
        self.sigma_ = check_positive(sigma, "sigma")
        K = gaussian_kernel(X_train, X_train, self.sigma_)
        K[np.diag_indices(n)] += check_positive(self.ridge, "ridge")
        kappa = np.zeros(n)
        for rows, _, cross in KernelBlocks(X_train, X_test).at_each([self.sigma_]):
            kappa[rows] = n * (cross @ test_weight) / test_weight.sum()
        self.weights_ = kmm_weights(K, kappa, bound, epsilon)

    def _predict(self, X):
        raise NotImplementedError("KMM has no value at new rows: use ULSIF or KLIEP for those")
