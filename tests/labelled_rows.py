"""Small samples for the tests, and the kernel by its formula."""

import numpy as np
from scipy.spatial.distance import cdist

from ddr.paper.mixture import FourClusters


def plain_kernel(X, centers, sigma):
    return np.exp(-cdist(X, centers, "sqeuclidean") / (2 * sigma**2))


def two_samples(n_train=40, n_test=30, d=2, seed=0, mean=0.4, sd=0.8):
    """Training and test rows without labels, and the generator that drew them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_train, d)), rng.normal(mean, sd, size=(n_test, d)), rng


def four_clusters(n_train=120, n_test=90, seed=0):
    """Training rows of the paper's mixture, their labels, and target rows."""
    X, y = FourClusters().sample(n_train, "train", random_state=seed)
    X_target, _ = FourClusters().sample(n_test, "test", random_state=seed + 1000)
    return X, y, X_target


def three_classes(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [-0.6, 0.6])
    return X, y, rng.gamma(1.0, size=n) + 0.01


def two_classes(n=80, seed=0, noise=0.7):
    X, _, weight = three_classes(n, seed)
    y = X[:, 0] + 0.5 * X[:, 1] + noise * np.random.default_rng(seed + 1).normal(size=n) > 0
    return X, y.astype(int), weight


def repeated(X, y, weight):
    """The same data with weights written out as copies."""
    copies = weight.astype(int)
    return np.repeat(X, copies, axis=0), np.repeat(y, copies)


def two_normal(n, prior, seed, gap=1.5, moved=0.0):
    """Two normal classes, with the labels; ``moved`` moves both along the second column."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prior).astype(int)
    return rng.normal(size=(n, 3)) + gap * y[:, None] * [1, 0.5, 0] + [0, moved, 0], y
