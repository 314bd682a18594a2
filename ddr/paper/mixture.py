"""The two-class, four-cluster mixture of the paper (Table 1), with every density in closed form.

Both the priors and the class-conditional densities differ between training and test, so the
posterior p(y|x) differs too: the data break the assumption of covariate shift on purpose.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ddr._checks import check_choice, check_count

CLASSES = np.array([1, 2])
#: Centres of the clusters: ``MEANS[c, k]`` is cluster ``k`` of class ``CLASSES[c]``.
MEANS = np.array([[[1.0, 5.0], [4.0, 5.0]], [[1.0, 1.0], [4.0, 1.0]]])
_DOMAINS = ("train", "test")


@dataclass(frozen=True)
class FourClusters:
    r"""Two classes of two unit Gaussians each, mixed differently in training and in test.

    Parameters
    ----------
    train_priors, test_priors : pair of float
        P(class 1), P(class 2) in each domain; non-negative, summing to one.
    train_mixing, test_mixing : pair of pairs of float
        Row c holds the shares of the left cluster (first coordinate 1) and of the right one (4)
        within class c; non-negative, each row summing to one.

    Notes
    -----
    Class 1 lies at (1, 5) and (4, 5), class 2 at (1, 1) and (4, 1), all with covariance I:

    .. math:: p(x, y = c) = P(c) \sum_{k=1}^{2} \rho_{ck}\, \mathcal N(x;\, \mu_{ck}, I).

    The defaults are those of Table 1 of the paper. The methods take points ``X`` of shape (n, 2),
    classes ``y``, one for all points or one for each, and a ``domain``, "train" or "test"; they
    return an array with an entry for each point.

    Examples
    --------
    >>> mixture = FourClusters()
    >>> X, y = mixture.sample(200, domain="train", random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [1, 2])
    >>> mixture.prior_ratio([1, 2])
    array([1.2, 0.8])
    """

    train_priors: tuple = (0.5, 0.5)
    test_priors: tuple = (0.6, 0.4)
    train_mixing: tuple = ((0.9, 0.1), (0.1, 0.9))
    test_mixing: tuple = ((0.5, 0.5), (0.5, 0.5))

    def __post_init__(self):
        for domain in _DOMAINS:
            _check_simplex(f"{domain}_priors", getattr(self, f"{domain}_priors"), (2,))
            _check_simplex(f"{domain}_mixing", getattr(self, f"{domain}_mixing"), (2, 2))

    def sample(self, n, domain="train", random_state=None):
        """Draw ``n`` points of a domain and their classes, which follow its priors.

        ``random_state`` is what ``numpy.random.default_rng`` takes.
        """
        rng = np.random.default_rng(random_state)
        row, column = self._clusters(check_count(n, "n"), domain, rng)
        return MEANS[row, column] + rng.standard_normal((n, 2)), CLASSES[row]

    def _clusters(self, n, domain, rng):
        """Place in ``MEANS`` of the cluster that each point belongs to."""
        priors, mixing = self._of(domain)
        row = (rng.random(n) >= priors[0]).astype(int)
        return row, (rng.random(n) >= mixing[row, 0]).astype(int)

    def density(self, X, domain="train"):
        """Marginal density p(x) of a domain."""
        return np.exp(logsumexp(self._log_joint(X, domain), axis=1))

    def class_density(self, X, y, domain="train"):
        """Class-conditional density p(x | y) of a domain."""
        return np.exp(_pick(self._log_class_density(X, domain), y))

    def marginal_ratio(self, X):
        """Return p_test(x) / p_train(x), the weight of conventional covariate-shift methods."""
        train, test = (logsumexp(self._log_joint(X, domain), axis=1) for domain in _DOMAINS)
        return np.exp(test - train)

    def class_ratio(self, X, y):
        """Return beta = p_test(x | y) / p_train(x | y), the first factor of Equation (8)."""
        difference = self._log_class_density(X, "test") - self._log_class_density(X, "train")
        return np.exp(_pick(difference, y))

    def prior_ratio(self, y):
        """Return gamma = P_test(y) / P_train(y), the second factor of Equation (8)."""
        return np.divide(self.test_priors, self.train_priors)[_row_of(y)]

    def joint_ratio(self, X, y):
        """Return w = p_test(x, y) / p_train(x, y) of Equation (5): class times prior ratio."""
        return self.class_ratio(X, y) * self.prior_ratio(y)

    def posterior(self, X, domain="test"):
        """Bayes posterior P(y | x) of a domain: a column for each class, rows that sum to one."""
        log_joint = self._log_joint(X, domain)
        return np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))

    def bayes_predict(self, X, domain="test"):
        """Most probable class of each point in a domain: no classifier does better on average."""
        return CLASSES[self._log_joint(X, domain).argmax(axis=1)]

    def _of(self, domain):
        check_choice(domain, "domain", _DOMAINS)
        parts = getattr(self, f"{domain}_priors"), getattr(self, f"{domain}_mixing")
        return tuple(np.asarray(part, float) for part in parts)

    def _log_class_density(self, X, domain):
        _, mixing = self._of(domain)
        X = np.asarray(X, dtype=float)
        squared = ((X[:, None, None, :] - MEANS) ** 2).sum(axis=-1)
        # Far from every cluster exp() underflows; in logarithms the ratios stay exact there.
        return logsumexp(-squared / 2, b=mixing, axis=2) - np.log(2 * np.pi)

    def _log_joint(self, X, domain):
        return self._log_class_density(X, domain) + np.log(self._of(domain)[0])


def _check_simplex(name, values, shape):
    array = np.asarray(values, dtype=float)
    if array.shape != shape or np.any(array < 0) or not np.allclose(array.sum(axis=-1), 1):
        raise ValueError(f"{name} must hold shares of shape {shape} that sum to 1, got {values!r}")


def _row_of(y):
    y = np.asarray(y)
    if not np.isin(y, CLASSES).all():
        raise ValueError(f"y must hold the classes 1 and 2 only, got {np.unique(y).tolist()}")
    return np.asarray(y, dtype=int) - 1


def _pick(columns, y):
    return columns[np.arange(len(columns)), _row_of(y)]


@dataclass(frozen=True)
class FixedCounts(FourClusters):
    """The mixture with the expected number of rows in each cluster, up to rounding.

    Parameters
    ----------
    domains : tuple
        Where the numbers are fixed, "train" and "test"; elsewhere they are drawn.
    """

    domains: tuple = ("train", "test")

    def _clusters(self, n, domain, rng):
        if domain not in self.domains:
            return super()._clusters(n, domain, rng)
        priors, mixing = self._of(domain)
        ends = np.round(n * np.cumsum((priors[:, None] * mixing).ravel())).astype(int)
        return np.divmod(rng.permutation(np.repeat(np.arange(4), np.diff(ends, prepend=0))), 2)
