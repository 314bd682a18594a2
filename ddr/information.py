"""Entropy, mutual information and effective sample size."""

import reprlib

import numpy as np
from scipy.special import entr

from ddr._checks import check_weights


def _as_posteriors(p, name):
    p = np.asarray(p, dtype=float)
    # Naive Bayes on standardised digits is off by 2e-4. NaN is refused by the comparison.
    if p.ndim not in (1, 2) or not np.all((p >= 0) & (abs(p.sum(-1, keepdims=True) - 1) < 1e-2)):
        raise ValueError(f"{name} must hold probabilities of sum 1, got {reprlib.repr(p)}")
    return p


def entropy(p):
    r"""Entropy in nats of one probability vector, or of each row of a matrix (paper, eq. 15).

    .. math:: H(p) = -\sum_{i=1}^m p_i \ln p_i, \qquad 0 \ln 0 = 0

    Parameters
    ----------
    p : array-like of shape (m,) or (n, m)
        Non-negative, each vector summing to one.

    Examples
    --------
    >>> float(entropy([1.0, 0.0]))
    0.0
    >>> entropy([[0.5, 0.5], [0.9, 0.1]]).round(4)
    array([0.6931, 0.3251])
    """
    return entr(_as_posteriors(p, "p")).sum(axis=-1)


def mutual_information(posteriors, prior=None):
    r"""Mutual information between rows and their predicted labels (paper, eq. 16).

    .. math:: \mathrm{MI} = H(\hat p_0) - \frac{1}{n}\sum_{t=1}^{n} H(\hat p_t)

    Parameters
    ----------
    posteriors : array-like of shape (n, m)
        Class probabilities of each row.
    prior : array-like of shape (m,), default=None
        The class prior; the mean posterior when not given. The paper leaves it undefined: with the
        mean posterior the value lies between 0 and ln m, with another prior it can be negative.

    Examples
    --------
    >>> round(mutual_information([[1.0, 0.0], [0.0, 1.0]]), 4)
    0.6931
    >>> round(mutual_information([[0.5, 0.5], [0.5, 0.5]]), 4)
    0.0
    """
    posteriors = np.atleast_2d(_as_posteriors(posteriors, "posteriors"))
    prior = posteriors.mean(axis=0) if prior is None else _as_posteriors(prior, "prior")
    return float(entropy(prior) - entropy(posteriors).mean())


def effective_sample_size(weights):
    r"""Kish's effective sample size, from 1 (one row carries all) to n (equal weights).

    .. math:: \mathrm{ESS} = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}

    Parameters
    ----------
    weights : array-like of shape (n,)
        Finite, non-negative, not all zero.

    Examples
    --------
    >>> effective_sample_size([1.0, 1.0, 1.0, 1.0])
    4.0
    >>> effective_sample_size([1.0, 0.0, 0.0, 0.0])
    1.0
    """
    weights = check_weights(weights, np.size(weights), "weights")
    weights = weights / weights.max()  # so that tiny weights do not vanish when squared
    return float(weights.sum() ** 2 / np.square(weights).sum())
