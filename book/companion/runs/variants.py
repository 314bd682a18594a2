"""Readings of the paper that the package does not offer, for the multiverse and the searches."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from ddr.paper.mixture import FixedCounts, FourClusters
from ddr.paper.svm import LinearSVMWithPosteriorsCV
from ddr.ulsif import ULSIF

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


class NewFoldsSVMCV(LinearSVMWithPosteriorsCV):
    """The machine whose C is judged with new folds for each value, as LIBSVM's ``-v`` does."""

    def fit(self, X, y, sample_weight=None):
        """Fit a machine for each C and keep the best; of equally good ones the smallest C."""
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(self.Cs))
        fits = []
        for C, seed in zip(sorted(self.Cs), seeds, strict=True):
            options = self.get_params() | {"Cs": [C], "random_state": int(seed)}
            fits.append(LinearSVMWithPosteriorsCV(**options).fit(X, y, sample_weight))
        best = min(fits, key=lambda machine: machine.best_score_)
        vars(self).update({k: v for k, v in vars(best).items() if k.endswith("_")})
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
