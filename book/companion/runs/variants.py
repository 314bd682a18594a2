"""Readings of the paper that the package does not offer, for the multiverse and the searches."""

from dataclasses import dataclass

import numpy as np
from sklearn.naive_bayes import GaussianNB

from ddr.paper.mixture import CLASSES, MEANS, FourClusters
from ddr.ulsif import ULSIF


@dataclass(frozen=True)
class FixedCounts(FourClusters):
    """The mixture with the expected number of rows in each cluster, up to rounding."""

    domains: tuple = ("train", "test")

    def sample(self, n, domain="train", random_state=None):
        """Draw labelled points; in the domains named, in random order."""
        if domain not in self.domains:
            return super().sample(n, domain, random_state)
        rng = np.random.default_rng(random_state)
        priors, mixing = self._of(domain)
        ends = np.round(n * np.cumsum((priors[:, None] * mixing).ravel())).astype(int)
        cluster = rng.permutation(np.repeat(np.arange(4), np.diff(ends, prepend=0)))
        row, column = np.divmod(cluster, 2)
        return MEANS[row, column] + rng.standard_normal((n, 2)), CLASSES[row]


#: Mixtures by what is said of the number of rows in a cluster.
MIXTURES = {"random": FourClusters(), "train": FixedCounts(domains=("train",))}
MIXTURES["fixed"] = FixedCounts()


class SampleVarianceNB(GaussianNB):
    """Naive Bayes that divides by one less than the weight of a class."""

    def fit(self, X, y, sample_weight=None):
        """Fit with the variances of samples."""
        super().fit(X, y, sample_weight)
        self.var_ *= (self.class_count_ / np.maximum(self.class_count_ - 1, 1))[:, None]
        return self


class PooledULSIF(ULSIF):
    """uLSIF whose matrix is over all training rows (``pool``), as printed, not over the class's."""

    def __init__(self, pool=None, sigma=None, lam=None, n_centers=100, clip="ratio",
                 random_state=None):  # fmt: skip
        super().__init__(
            sigma=sigma, lam=lam, n_centers=n_centers, clip=clip, random_state=random_state
        )
        self.pool = pool

    def matcher(self, X_train, X_test, reselect=False):
        """Match all training rows, and give the ratio at those of one class."""
        places = {row.tobytes(): place for place, row in enumerate(self.pool)}
        own = [places[row.tobytes()] for row in X_train]
        match = super().matcher(self.pool, X_test, reselect)
        return lambda test_weight: match(test_weight)[own]
