"""Small labelled samples with weights, for the tests of the classifiers."""

import numpy as np


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
