"""Importance-weighted least-squares probabilistic classification (IWLSPC).

The learner of the biased-sampling experiments, with width and ridge penalty chosen by
importance-weighted cross-validation.
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ddr._checks import check_grid, check_new_rows
from ddr.iwcv import first_best, posterior_loss, weighted_risk
from ddr.kernels import distinct_rows, gaussian_kernel, median_distance, squared_distances
from ddr.paper._learner import WeightedLearner
from ddr.ratio import centers_of

_WIDTHS = np.array([0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0])  # in median distances


def iwlspc_moments(K, y_index, weight, n_classes):
    r"""Weighted second moment of the kernel values, and their first moment in each class.

    .. math:: H = \sum_i w_i \phi(x_i)\phi(x_i)^\top, \qquad h_c = \sum_i w_i 1[y_i = c] \phi(x_i)
    """
    membership = np.eye(n_classes)[y_index] * weight[:, None]
    return K.T @ (K * weight[:, None]), K.T @ membership


def iwlspc_coefficients(H, h, total_weight, lam):
    r"""Coefficients :math:`\alpha_c = (H/W + \lambda I)^{-1} h_c/W` of every class at once."""
    A = H / total_weight
    A.flat[:: len(A) + 1] += lam
    _, alpha, info = dposv(A, h / total_weight, lower=True)
    if info != 0:
        raise ValueError(f"lam must be larger: the least-squares system is singular at {lam:g}")
    return alpha


def normalized_posterior(q, prior):
    r"""Posterior, :math:`\max(0, q_c)` normalised; where none is positive, the prior."""
    posterior = np.maximum(q, 0.0)
    posterior[~posterior.any(axis=-1)] = prior
    return posterior / posterior.sum(axis=-1, keepdims=True)


def _held_out_posterior(K, y_index, weight, splits, lams, n_classes):
    """Posterior of each held-out row for every lam, fold after fold: (rows, lams, classes)."""
    posteriors = []
    for train, test in splits:
        total = weight[train].sum()
        H, h = iwlspc_moments(K[train], y_index[train], weight[train], n_classes)
        alpha = [iwlspc_coefficients(H, h, total, lam) for lam in lams]
        q = K[test] @ np.concatenate(alpha, axis=1)
        mass = np.bincount(y_index[train], weight[train], n_classes)
        posteriors.append(normalized_posterior(q.reshape(len(test), len(lams), n_classes), mass))
    return np.concatenate(posteriors)


@dataclass(eq=False, repr=False)
class IWLSPCCV(WeightedLearner):
    r"""Importance-weighted least-squares probabilistic classifier, width and penalty chosen.

    Importance-weighted cross-validation computes distances once and each kernel once per width.

    Parameters
    ----------
    sigmas : array-like, default=None
        Widths of the Gaussian kernels to try; ``None``: seven from a quarter to four times the
        median distance of the distinct training rows.
    lams : array-like, default=(0.001, 0.01, 0.1, 1.0, 10.0)
        Ridge penalties to try. Their meaning does not depend on the number of rows nor on the
        scale of the weights.
    cv : int, splitter or iterable, default=5
        See ``ddr.iwcv.IWSearchCV``.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
    n_centers : int, default=100
        Kernel centres drawn from the training rows in proportion to their weight; all distinct
        rows when there are fewer.
    centers : array-like of shape (b, d), default=None
        Kernel centres to use instead, for example drawn from the test rows as the authors of the
        method do. One set of centres serves all folds.
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
    classes_ : ndarray of shape (m,)
    alpha_ : ndarray of shape (b, m)
        Coefficients of the best pair, fitted on all rows.
    centers_ : ndarray of shape (b, d)
    sigma_ : float
        The width they were fitted with.
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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> model = IWLSPCCV(sigmas=[0.01, 1.0], lams=[0.01], random_state=0)
    >>> model.fit(X, X[:, 0] > 0, sample_weight=np.exp(X[:, 1])).best_sigma_
    1.0
    """

    sigmas: object = None
    lams: object = (0.001, 0.01, 0.1, 1.0, 10.0)
    _: KW_ONLY
    n_centers: int = 100
    centers: object = None

    def fit(self, X, y, sample_weight=None):
        """Choose width and penalty, then fit on all rows; ``sample_weight`` is their importance."""
        self.lams_ = check_grid(self.lams, "lams")
        X, y_index, weight, splits = self._check_fit(X, y, sample_weight)
        widths = self.sigmas
        if widths is None:
            widths = _WIDTHS * median_distance(distinct_rows(X, weight)[0])  # weights mean copies
        self.sigmas_ = check_grid(widths, "sigmas")
        self.centers_ = centers_of(self, X, weight, self.random_state)
        self.cv_scores_ = self._score_grid(X, y_index, weight, splits)
        sigma, lam = (grid.ravel() for grid in np.meshgrid(self.sigmas_, self.lams_, indexing="ij"))
        smoothest_first = np.lexsort((-sigma, -lam))
        best = smoothest_first[first_best(self.cv_scores_.ravel()[smoothest_first])]
        self.best_sigma_, self.best_lam_ = float(sigma[best]), float(lam[best])
        self.best_score_ = float(self.cv_scores_.ravel()[best])
        self.sigma_, m, total = self.best_sigma_, len(self.classes_), weight.sum()
        H, h = iwlspc_moments(gaussian_kernel(X, self.centers_, self.sigma_), y_index, weight, m)
        self.alpha_ = iwlspc_coefficients(H, h, total, self.best_lam_)
        self.class_prior_ = np.bincount(y_index, weight, m) / total
        return self

    def _score_grid(self, X, y_index, weight, splits):
        distances, m = squared_distances(X, self.centers_), len(self.classes_)
        held_out = np.concatenate([test for _, test in splits])
        scores = []
        for sigma in self.sigmas_:
            K = gaussian_kernel(X, self.centers_, sigma, squared=distances)
            posterior = _held_out_posterior(K, y_index, weight, splits, self.lams_, m)
            losses = posterior_loss(y_index[held_out], posterior, self.loss)
            scores.append(weighted_risk(losses, weight[held_out]))
        return np.array(scores)

    def predict_proba(self, X):
        """Posterior probabilities of each row, one column for each of ``classes_``."""
        K = gaussian_kernel(check_new_rows(self, X), self.centers_, self.sigma_)
        return normalized_posterior(K @ self.alpha_, self.class_prior_)

    def predict(self, X):
        """Most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
