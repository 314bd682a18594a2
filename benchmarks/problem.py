"""Two Gaussian samples whose density ratio is known in closed form."""

import numpy as np

MEAN, SCALE = 0.6, 0.7
# The grid that densratio searches by default, for the width and for the regularisation.
GRID = 10.0 ** np.linspace(-3, 1, 9)
N_CENTERS = 100


def widths(X):
    """Nine widths from a quarter to four times the median distance between rows."""
    rows = X[:500]
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    return np.median(distances[np.triu_indices(len(rows), 1)]) * 2.0 ** np.arange(-2, 2.5, 0.5)


def two_gaussians(d, n, seed):
    """Draw n training rows from N(0, I) and n test rows whose first two coordinates are shifted.

    The other coordinates are the same in both, so the true ratio does not depend on d.
    """
    rng = np.random.default_rng(seed)
    X_train, X_test = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    X_test[:, :2] = MEAN + SCALE * X_test[:, :2]
    return X_train, X_test


def true_ratio(X):
    x = X[:, :2]
    log_ratio = 0.5 * x**2 - 0.5 * ((x - MEAN) / SCALE) ** 2 - np.log(SCALE)
    return np.exp(log_ratio.sum(axis=1))


def normalised_error(weights, truth):
    """Mean squared error in units of the truth's variance: 1 is no better than weights of one."""
    return float(np.mean((weights - truth) ** 2) / np.var(truth))


def labels(X, seed):
    """Two classes with the same p(y|x) in both samples."""
    probability = 1 / (1 + np.exp(-2 * X[:, :2].sum(axis=1)))
    return (np.random.default_rng(seed).random(len(X)) < probability).astype(int)
