"""The three ways to learn that the paper compares: no weights, the plain ratio, DDR.

Every table, figure and benchmark of the book fits them here. No test label comes in.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ddr.iwcv import fit_weighted
from ddr.paper.choices import algorithm_1

#: What the three are called, in this order.
THREE = ("no weights", "plain ratio", "DDR")


class Fit(NamedTuple):
    """The weights of the training rows, the model that they gave, and DDR's states on the way."""

    weights: np.ndarray
    model: Any
    states: tuple = ()
    kept: int = 0


def weighted(X, y, learner, weights=None):
    """Fit a learner with weights, brought to mean one; where all are zero, with none."""
    weights = np.ones(len(y)) if weights is None or not np.any(weights > 0) else weights
    weights = weights / weights.mean()
    return Fit(weights, fit_weighted(learner, X, y, weights))


def plain_ratio(X, y, X_target, learner, ratio):
    """Fit a learner with the ratio of the marginal densities, the conventional weights (eq. 3)."""
    return weighted(X, y, learner, clone(ratio).fit(X, X_target).weights_)


def discriminative(X, y, X_target, learner, ratio, **choices):
    """Fit a learner by Algorithm 1; for ``choices`` see :func:`~ddr.paper.choices.algorithm_1`."""
    states, kept = algorithm_1(X, y, X_target, learner, ratio, **choices)
    return Fit(states[kept].weights, states[kept].model, tuple(states), kept)


def fit_three(X, y, X_target, learner, ratio, **choices):
    """Fit a learner without weights, with the plain ratio and by DDR.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ddr import ULSIF
    >>> from ddr.paper import fit_three, mixture_shift
    >>> p = mixture_shift(300, random_state=0)
    >>> found = fit_three(p.X_train, p.y_train, p.X_test, GaussianNB(), ULSIF(2.0, random_state=0))
    >>> for name, fit in found.items():
    ...     print(f"{name}: {fit.model.score(p.X_test, p.y_test):.3f}")
    no weights: 0.9...
    plain ratio: 0.9...
    DDR: 0.9...
    """
    data = X, y, X_target, learner, ratio
    fits = weighted(X, y, learner), plain_ratio(*data), discriminative(*data, **choices)
    return dict(zip(THREE, fits, strict=True))
