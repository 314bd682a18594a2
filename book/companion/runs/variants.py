"""Readings of the paper that the package does not offer, for the multiverse and the searches."""

import numpy as np

from ddr.mixture import CLASSES, MEANS, FourClusters
from ddr.ulsif import ULSIF


class FixedCounts(FourClusters):
    """The mixture with the expected number of rows in each cluster, up to rounding."""

    def sample(self, n, domain="train", random_state=None):
        """Draw labelled points in random order."""
        rng = np.random.default_rng(random_state)
        priors, mixing = self._of(domain)
        ends = np.round(n * np.cumsum((priors[:, None] * mixing).ravel())).astype(int)
        cluster = rng.permutation(np.repeat(np.arange(4), np.diff(ends, prepend=0)))
        row, column = np.divmod(cluster, 2)
        return MEANS[row, column] + rng.standard_normal((n, 2)), CLASSES[row]


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
