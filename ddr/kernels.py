"""Gaussian kernels at a few centres: distances, widths, centres, and row blocks.

Everything here costs O(rows x centres): no array of rows x rows is ever built.
"""

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state, gen_batches

# A block of about a megabyte stays in a core's cache between its exponential and its product.
_BLOCK_ELEMENTS = 2**17
# Distances and kernel values are kept between passes up to this size, else recomputed.
_CACHE_BYTES = 2**27
# Exponentials of numbers below cost ten times the time and are as good as zero.
_VANISHING = -700.0
#: Widths to try, in median distances. Each is the last times the square root of two, which
#: ``KernelBlocks`` makes nearly free.
WIDTHS = 2.0 ** np.arange(-2.0, 2.5, 0.5)


def squared_distances(X, centers):
    """Squared Euclidean distances between rows and centres."""
    # Moving the origin into the data keeps the expansion of the square accurate far from zero.
    origin = centers.mean(axis=0)
    X, centers = X - origin, centers - origin
    distances = X @ (-2.0 * centers.T)
    distances += np.einsum("ij,ij->i", X, X)[:, None]
    distances += np.einsum("ij,ij->i", centers, centers)
    return np.maximum(distances, 0.0, out=distances)


def gaussian_kernel(X, centers, sigma, *, squared=None, out=None):
    r"""Gaussian kernel values, the basis functions of the ratio model (paper, eq. 10).

    .. math:: k(x, x_l) = \exp\left(-\frac{\lVert x - x_l\rVert^2}{2\sigma^2}\right)

    Parameters
    ----------
    X : ndarray of shape (n, d)
    centers : ndarray of shape (b, d)
    sigma : float
        Kernel width.
    squared : ndarray of shape (n, b), default=None
        The squared distances, if they are known already.
    out : ndarray of shape (n, b), default=None
        Where to write the values.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_kernel(np.array([[0.0], [1.0]]), np.array([[0.0]]), sigma=1.0).round(4).ravel()
    array([1.    , 0.6065])
    """
    squared = squared_distances(X, centers) if squared is None else squared
    out = np.multiply(squared, -0.5 / sigma**2, out=out)
    alive = out > _VANISHING
    if alive.all():
        return np.exp(out, out=out)
    return np.multiply(np.exp(np.maximum(out, _VANISHING, out=out), out=out), alive, out=out)


def median_distance(X, max_rows=1000, random_state=0):
    """Median Euclidean distance between distinct pairs of rows."""
    if len(X) > max_rows:
        X = X[check_random_state(random_state).permutation(len(X))[:max_rows]]
    distances = pdist(X)
    if not distances.any():
        return 1.0
    if np.median(distances) == 0:  # more than half coincide: the rest still tells the scale
        distances = distances[distances > 0]
    return float(np.median(distances))


def distinct_rows(X, weight=None):
    """The first of each group of equal rows that have weight, in order, and what they weigh."""
    weight = np.ones(len(X)) if weight is None else weight
    kept, numbers = np.flatnonzero(weight > 0), {}  # adding zero makes -0.0 equal 0.0
    groups = [numbers.setdefault(row.tobytes(), len(numbers)) for row in X[kept] + 0.0]
    _, first = np.unique(groups, return_index=True)
    return X[kept[first]], np.bincount(groups, weights=weight[kept])


def choose_centers(X, n_centers, weight=None, random_state=None):
    """Draw kernel centres from rows, without replacement and in proportion to weight.

    A weight means copies: weight 0 is a row that is not there, weight 2 one that stands there
    twice. Distinct rows come in the order in which they first appear, all if ``n_centers`` suffice.
    """
    rows, mass = distinct_rows(X, weight)
    if len(rows) <= n_centers:
        return rows
    # A race (Efraimidis and Spirakis, 2006): rows wait an exponential time, their weight as rate.
    arrival = check_random_state(random_state).standard_exponential(len(rows)) / mass
    return rows[np.sort(np.argpartition(arrival, n_centers)[:n_centers])]


def row_blocks(n_rows, n_columns):
    """Slices that cover the rows in blocks of about a megabyte."""
    return list(gen_batches(n_rows, max(1, _BLOCK_ELEMENTS // max(n_columns, 1))))


class KernelBlocks:
    """Kernel values of many rows at few centres, by row blocks.

    Distances are kept while they fit a fixed budget and recomputed otherwise, so memory stays
    bounded for any number of rows.
    """

    def __init__(self, X, centers):
        self.X, self.centers = X, centers
        self.slices = row_blocks(len(X), len(centers))
        cached = 8 * len(X) * len(centers) <= _CACHE_BYTES
        self._distances = list(self._fresh()) if cached else None

    def _fresh(self):
        """Each ``(rows, D)`` with the squared distances of a block."""
        return ((rows, squared_distances(self.X[rows], self.centers)) for rows in self.slices)

    def at_each(self, sigmas):
        """Yield ``(rows, i, K)`` for each block at each width, from the widest to the narrowest.

        All widths of a block follow one another, while it is in the processor's cache. ``K`` is
        read-only and holds until the next step; a block in which every value underflows to zero is
        left out. A width that is the previous one divided by the square root of two costs no
        exponential: its kernel is the square of the last.
        """
        order = np.argsort(-np.asarray(sigmas)).tolist()
        for rows, D in self._distances or self._fresh():
            K, last = np.empty_like(D), None
            for i in order:
                if last is not None and abs(2 * (sigmas[i] / last) ** 2 - 1) < 1e-12:
                    np.multiply(K, K, out=K)
                else:
                    gaussian_kernel(None, None, sigmas[i], squared=D, out=K)
                last = sigmas[i]
                if not K.any():
                    break  # narrower kernels vanish as well, and add nothing to any sum
                yield rows, i, K

    def product(self, coefficients, sigma):
        """Kernel values times coefficients, a vector or a column for each of several, all rows."""
        out = np.zeros((len(self.X), *coefficients.shape[1:]))
        for rows, _, K in self.at_each([sigma]):
            out[rows] = K @ coefficients
        return out
