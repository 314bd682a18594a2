r"""Unconstrained least-squares importance fitting (uLSIF), with soft test rows.

The ratio is modelled as :math:`\hat\beta(x) = \sum_l \alpha_l k(x, x_l)` (paper, eq. 10) and fitted
by least squares, which has a closed form and a closed-form leave-one-out score.
"""

import numpy as np
from sklearn.base import clone

from ddr._checks import check_choice, check_grid
from ddr.kernels import WIDTHS, KernelBlocks, median_distance
from ddr.ratio import DensityRatio, centers_of


def default_lams(n_train):
    """Candidates for the regularisation: nine from 1e-3, or from 1/n_train if that is less, to 10.

    A matrix estimated from more rows needs less regularisation; a fixed lower end would bind.

    Examples
    --------
    >>> default_lams(5000)[[0, -1]].tolist()
    [0.0002, 10.0]
    """
    return np.geomspace(min(1e-3, 1 / n_train), 10, 9)


def second_moment(K, n_rows=None):
    r"""Second moment of the basis functions over the training rows (paper, eq. 12).

    .. math:: \hat S_{l,l'} = \frac{1}{n_{tr}} \sum_{i} k(x_i, x_l)\, k(x_i, x_{l'})

    Parameters
    ----------
    K : ndarray of shape (n, b)
        Kernel values of the training rows, or of a block of them.
    n_rows : int, default=None
        Number of all training rows, so that the moments of the blocks add up; None means n.

    Examples
    --------
    >>> import numpy as np
    >>> second_moment(np.array([[1.0, 0.0], [1.0, 2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """
    S = K.T @ K
    S /= len(K) if n_rows is None else n_rows
    return S


def soft_moment(K, test_weight=None, total=None):
    r"""First moment of the basis functions over weighted test rows (paper, eqs. 9, 13 and 14).

    .. math:: \hat s_{l,c} = \sum_j p(c|x_j)\, k(x_j, x_l) \Big/ \sum_j p(c|x_j)

    Weights of one give eq. 13. Each kernel value times its row's weight is the kernel of eq. 9.

    Parameters
    ----------
    K : ndarray of shape (n, b)
        Kernel values of the test rows, or of a block of them.
    test_weight : ndarray of shape (n,), default=None
        For a class-wise match, the posterior of that class. None means ones.
    total : float, default=None
        What to divide by: the sum of the weights of all rows, so that the moments of the blocks
        add up. None means the sum of these weights. Eq. 14 as printed has the number of test rows;
        that estimates :math:`p_{ts}(x, c)/p_{tr}(x|c)`, so a product with the prior ratio counts
        the test prior twice.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> soft_moment(K, np.array([0.5, 0.5])), soft_moment(K, np.array([0.5, 0.5]), total=2)
    (array([1., 1.]), array([0.5, 0.5]))
    """
    test_weight = np.ones(len(K)) if test_weight is None else test_weight
    return test_weight @ K / (np.sum(test_weight) if total is None else total)


def ulsif_coefficients(S, s, lam):
    r"""Minimiser of the uLSIF objective (paper, eq. 11).

    .. math::
        \hat\alpha = \arg\min_\alpha \tfrac12 \alpha^T \hat S \alpha - \hat s^T \alpha
        + \tfrac{\lambda}{2} \lVert\alpha\rVert^2 = (\hat S + \lambda I)^{-1} \hat s

    One eigendecomposition :math:`\hat S = U D U^T` serves every s and every regularisation:
    the inverse is :math:`U (D + \lambda I)^{-1} U^T`.

    Parameters
    ----------
    S : ndarray of shape (b, b), or pair of arrays
        Second moment over the training rows, or its eigenvalues and eigenvectors.
    s : ndarray of shape (b,)
        First moment over the test rows.
    lam : float or ndarray of shape (n_lams,)
        Regularisation, positive; several give a row of coefficients each.

    Examples
    --------
    >>> import numpy as np
    >>> ulsif_coefficients(np.eye(2), np.array([1.0, 2.0]), lam=1.0)
    array([0.5, 1. ])
    """
    eigenvalues, U = S if isinstance(S, tuple) else _spectrum(S)
    return ((s @ U) / np.add.outer(lam, eigenvalues)) @ U.T


def _spectrum(S):
    """Eigenvalues and eigenvectors of a second moment; rounding cannot make it indefinite."""
    eigenvalues, U = np.linalg.eigh(S)
    return np.maximum(eigenvalues, 0.0), U


class _Moments:
    """The two samples seen through the kernels of one set of centres, at several widths."""

    def __init__(self, X_train, X_test, centers, sigmas):
        self.train, self.test = KernelBlocks(X_train, centers), KernelBlocks(X_test, centers)
        self.sigmas, b = sigmas, len(centers)
        S = np.zeros((len(sigmas), b, b))
        for _, i, K in self.train.at_each(sigmas):
            S[i] += second_moment(K, len(X_train))
        self.spectra = list(map(_spectrum, S))  # the same for every test weight

    def first_moments(self, weight, sigmas):
        s, total = np.zeros((len(sigmas), len(self.test.centers))), weight.sum()
        for rows, i, K in self.test.at_each(sigmas):
            s[i] += soft_moment(K, weight[rows], total)
        return s


def _loo_scores(moments, lams, weight, clip):
    """Leave-one-out scores of all widths and regularisations, in closed form.

    Without one row the coefficients are ``f (B^-1 s + h B^-1 k)``, k the row's kernel values. With
    ``q = k' B^-1 k`` and ``a = k' B^-1 s``: f = (n - 1)/n and h = a/(n - q) for a training row
    (Sherman-Morrison; B holds lam (n - 1)/n), f = W/(W - u) and h = -u/W for a test row that loses
    the mass u of the total W.
    """
    n, total = len(moments.train.X), weight.sum()
    sigmas, first = moments.sigmas, moments.first_moments(weight, moments.sigmas)

    def left_out_ratios(lams):
        return [
            _left_out(U, 1.0 / np.add.outer(eigenvalues, lams), U.T @ s, clip)
            for (eigenvalues, U), s in zip(moments.spectra, first, strict=True)
        ]

    squares, linear = np.zeros((2, len(sigmas), len(lams)))
    if n > 1:  # a single training row cannot be left out
        ratios_at = left_out_ratios(lams * (n - 1) / n)
        for _, i, K in moments.train.at_each(sigmas):
            ratios = ratios_at[i](K, lambda a, q: a / (n - q))
            squares[i] += np.einsum("ij,ij->j", ratios, ratios)
    squares *= ((n - 1) / n) ** 2

    # One copy of the row is left out, or the whole row when it is less than one copy.
    removed = np.minimum(weight, 1.0)
    rest = total - removed
    # Where no other row is left the ratio is zero, so that row adds nothing to the score.
    grow = np.divide(total, rest, out=np.zeros_like(rest), where=rest > 1e-12 * total)
    ratios_at = left_out_ratios(lams)
    for rows, i, K in moments.test.at_each(sigmas):
        h = -removed[rows, None] / total
        ratios = ratios_at[i](K, lambda a, q, h=h: np.broadcast_to(h, a.shape))
        linear[i] += (weight * grow)[rows] @ ratios
    return 0.5 * squares / n - linear / total


def _left_out(U, inverse, s, clip):
    """Return ``ratios(K, step)`` at left-out rows, over f; ``step(a, q)`` is h of _loo_scores."""
    coefficients = inverse * s[:, None]
    fits = [((U * d) @ U.T, U @ (d * s)) for d in inverse.T] if clip == "coefficients" else []
    reaches = [np.abs(B).sum(axis=0) for B, _ in fits]

    def ratios(K, step):
        R = K @ U
        a = R @ coefficients
        q = np.square(R, out=R) @ inverse
        h = step(a, q)
        out = a + h * q
        Kt = np.ascontiguousarray(K.T) if fits else None
        for j, ((B, base), reach) in enumerate(zip(fits, reaches, strict=True)):
            # Kernel values are at most 1, so no row of the block can turn the other coefficients
            # negative: only these few are computed row by row, to take back what clipping removes.
            doubtful = base < np.abs(h[:, j]).max() * reach
            alpha = B[doubtful] @ Kt
            alpha *= h[:, j]
            alpha += base[doubtful, None]
            np.minimum(alpha, 0.0, out=alpha)
            out[:, j] -= np.einsum("ij,ij->j", alpha, Kt[doubtful])
        return np.maximum(out, 0.0)  # zero up to rounding where every coefficient is clipped

    return ratios


class ULSIF(DensityRatio):
    r"""Density ratio by unconstrained least-squares importance fitting.

    Parameters
    ----------
    sigma : float, array-like or None, default=None
        Kernel width, or candidates for it. None means nine widths from a quarter to four times
        the median distance between the centres.
    lam : float, array-like or None, default=None
        Regularisation, or candidates. None means nine values from 1e-3 to 10, or from
        1/n_train where there are more than a thousand training rows.
    n_centers : int, default=100
        Number of kernel centres, drawn from the test rows in proportion to their weight. With tens
        of columns and thousands of rows, 200 and ``lam=np.logspace(-5, 1, 9)`` are more accurate.
    centers : array-like of shape (b, d), default=None
        Use these centres instead.
    clip : {"ratio", "coefficients"}, default="ratio"
        Where negative values are removed: only from the ratio, or from the coefficients, as in the
        program of uLSIF's authors. The latter costs time and, in high dimension, accuracy.
    random_state : int, RandomState or None, default=None
        Draws the centres.

    Attributes
    ----------
    weights_ : ndarray of shape (n_train,)
        Estimated ratio at the training rows.
    sigma_, lam_ : float
        Chosen width and regularisation.
    sigmas_, lams_ : ndarray
        The candidates.
    scores_ : ndarray of shape (n_sigmas, n_lams) or None
        Estimated objective of every pair, the smaller the better; None when nothing was chosen.
    centers_ : ndarray of shape (b, d)
    alpha_ : ndarray of shape (b,)

    See Also
    --------
    ddr.classifier.DDRClassifier : class-wise ratios with soft test rows.

    Notes
    -----
    Leave-one-out is exact and takes no refit: a training row is left out of :math:`\hat S`, a test
    row out of :math:`\hat s`. The cost is O((n_train + n_test) b^2) a width whatever the number of
    regularisations (times that number with clipped coefficients), the memory O(b^2) plus a fixed
    cache.

    Of a row that a sample holds twice the copy stays in when the row is left out: where there are
    candidates to choose from, a sample given twice may get other weights. The published results of
    the paper's tables, whose breast-cancer data repeat 234 rows, rest on that.

    References
    ----------
    T. Kanamori, S. Hido and M. Sugiyama (2009). A least-squares approach to direct importance
    estimation. JMLR 10, 1391-1445.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X_train, X_test = rng.normal(0, 1, (500, 1)), rng.normal(0.5, 0.7, (500, 1))
    >>> ratio = ULSIF(random_state=0).fit(X_train, X_test)
    >>> ratio.predict([[-2.0], [0.5], [3.0]]).round(1)
    array([0. , 1.7, 0.1])
    """

    def __init__(
        self, sigma=None, lam=None, *, n_centers=100, centers=None, clip="ratio", random_state=None
    ):
        self.sigma = sigma
        self.lam = lam
        self.n_centers = n_centers
        self.centers = centers
        self.clip = clip
        self.random_state = random_state

    def _fit(self, X_train, X_test, test_weight):
        moments = self._prepare(X_train, X_test, test_weight, self.random_state)
        self._select(moments, test_weight)
        self.weights_ = self._match(moments, test_weight)

    def _prepare(self, X_train, X_test, test_weight, random_state):
        check_choice(self.clip, "clip", ("ratio", "coefficients"))
        self.centers_ = centers_of(self, X_test, test_weight, random_state)
        self.sigmas_ = check_grid(self.sigma, "sigma", median_distance(self.centers_) * WIDTHS)
        self.lams_ = check_grid(self.lam, "lam", default_lams(len(X_train)))
        return _Moments(X_train, X_test, self.centers_, self.sigmas_)

    def _select(self, moments, test_weight):
        """Choose width and regularisation by the smallest score."""
        self.scores_, best = None, (0, 0)
        if len(self.sigmas_) * len(self.lams_) > 1:
            self.scores_ = _loo_scores(moments, self.lams_, test_weight, self.clip)
            best = np.unravel_index(np.argmin(self.scores_), self.scores_.shape)
        self.sigma_, self.lam_ = float(self.sigmas_[best[0]]), float(self.lams_[best[1]])

    def _match(self, moments, test_weight):
        """Fit the coefficients at the width chosen; the ratio at the training rows."""
        i = self.sigmas_.tolist().index(self.sigma_)
        (s,) = moments.first_moments(test_weight, self.sigmas_[i : i + 1])
        alpha = ulsif_coefficients(moments.spectra[i], s, self.lam_)
        self.alpha_ = np.maximum(alpha, 0.0) if self.clip == "coefficients" else alpha
        return np.maximum(moments.train.product(self.alpha_, self.sigma_), 0.0)

    def matcher(self, X_train, X_test, reselect=False):
        """Prepare repeated fits, which share centres, drawn once, and eigendecompositions."""
        fitted = clone(self)
        moments = fitted._prepare(X_train, X_test, None, self.random_state)

        def match(test_weight):
            if reselect or not hasattr(fitted, "sigma_"):
                fitted._select(moments, test_weight)
            return fitted._match(moments, test_weight)

        return match
