r"""The two-step baseline: estimate both densities, then divide."""

import numpy as np

from ddr._checks import check_positive
from ddr.kernels import row_blocks, squared_distances
from ddr.ratio import DensityRatio


def scott_bandwidth(X, weight):
    r"""Scott's rule for a kernel density estimate of weighted rows; one where they do not vary.

    It is the root mean variance of the columns times :math:`W^{-1/(d+4)}`, W the sum of weights.
    """
    total = weight.sum()
    mean = weight @ X / total
    variance = float(np.mean(weight @ np.square(X - mean) / total))
    return float(np.sqrt(variance) * total ** (-1.0 / (X.shape[1] + 4))) or 1.0


def log_density(X, rows, weight, sigma):
    """Logarithm of the Gaussian kernel density estimate of weighted ``rows``, at X."""
    share, out = weight / weight.sum(), np.empty(len(X))
    for block in row_blocks(len(X), len(rows)):
        exponents = squared_distances(X[block], rows) / (-2 * np.square(sigma))
        nearest = exponents.max(axis=1)
        out[block] = nearest + np.log(np.exp(exponents - nearest[:, None]) @ share)
    return out - X.shape[1] * np.log(sigma * np.sqrt(2 * np.pi))


class KDERatio(DensityRatio):
    r"""Density ratio as the quotient of two kernel density estimates.

    This is the naive method that the paper argues against (its Section 3): errors of the
    denominator are magnified, and density estimation fails in high dimension. Far from all rows,
    where both densities vanish, ``predict`` gives at most ten times the largest ratio at a row of
    the samples. Time grows with the product of the numbers of rows.

    Parameters
    ----------
    sigma : float or None, default=None
        Bandwidth of both estimates. None means Scott's rule for each sample.

    Attributes
    ----------
    weights_ : ndarray of shape (n_train,)
    sigma_ : tuple of float
        Bandwidths of the training and the test estimate.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X_train, X_test = rng.normal(0, 1, (500, 1)), rng.normal(0.5, 0.7, (500, 1))
    >>> KDERatio().fit(X_train, X_test).predict([[-2.0], [0.5]]).round(1)
    array([0. , 1.9])
    """

    def __init__(self, sigma=None):
        self.sigma = sigma

    def _fit(self, X_train, X_test, test_weight):
        kept = test_weight > 0
        X_test = X_test[kept]
        self._samples = (X_train, np.ones(len(X_train))), (X_test, test_weight[kept])
        given = None if self.sigma is None else check_positive(self.sigma, "sigma")
        self.sigma_ = tuple(given or scott_bandwidth(*sample) for sample in self._samples)
        self.weights_ = self._quotient(X_train)
        self._largest = 10.0 * max(self.weights_.max(), self._quotient(X_test).max())

    def _quotient(self, X):
        train, test = (
            log_density(X, *sample, sigma)
            for sample, sigma in zip(self._samples, self.sigma_, strict=True)
        )
        return np.exp(np.minimum(test - train, 300.0))

    def _predict(self, X):
        # Where both densities vanish their quotient means nothing.
        return np.minimum(self._quotient(X), self._largest)
