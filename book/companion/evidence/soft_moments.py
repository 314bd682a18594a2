"""A reading of the moments behind soft uLSIF that the published runs do not take.

The paper's weighted kernel would weight the centres too (deviation D3). That is measured on the
mixture, where the class-wise ratio is known.
"""

from functools import lru_cache

import numpy as np

from companion.runs.protocols import load_protocol
from ddr.kernels import choose_centers, gaussian_kernel
from ddr.mixture import FourClusters
from ddr.ulsif import second_moment, soft_moment, ulsif_coefficients

CLASSES = (1, 2)


@lru_cache(maxsize=4)
def soft_moment_errors(draws=20, n_train=500, n_test=2000, lam=0.1):
    r"""Compare both readings of the soft moments with the true class-wise ratio."""
    mixture, rows = FourClusters(), []
    sigma = load_protocol("synthetic")["ratios"]["uLSIF"]["sigma"]
    for seed in range(draws):
        X, y = mixture.sample(n_train, "train", random_state=seed)
        X_target, _ = mixture.sample(n_test, "test", random_state=seed + 10_000)
        centers = choose_centers(X_target, 100, None, np.random.RandomState(seed))
        K, K_target = (gaussian_kernel(Z, centers, sigma) for Z in (X, X_target))
        at_centers = mixture.posterior(centers, "test")
        at_target = mixture.posterior(X_target, "test")
        for column, label in enumerate(CLASSES):
            own = y == label
            truth = mixture.class_ratio(X[own], label)
            moment = soft_moment(K_target, at_target[:, column])
            rows.append(_errors(K, own, moment, at_centers[:, column], truth, lam))
    keys = ("own", "weighted_centers", "change")
    return dict(zip(keys, map(float, np.mean(rows, axis=0)), strict=True)) | {"draws": draws}


def _errors(K, own, moment, center_weight, truth, lam):
    K_own, K_weighted = K[own], K[own] * center_weight
    plain = _ratio(K_own, second_moment(K_own), moment, lam)
    weighted = _ratio(K_weighted, second_moment(K_weighted), moment * center_weight, lam)
    errors = [np.mean((ratio - truth) ** 2) / truth.var() for ratio in (plain, weighted)]
    change = np.sqrt(np.mean((weighted - plain) ** 2) / np.mean(plain**2))
    return [*errors, change]


def _ratio(K, S, s, lam):
    return np.maximum(K @ ulsif_coefficients(S, s, lam), 0.0)
