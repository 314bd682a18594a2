r"""Which rows of the target to label, and what the labels say of the candidates.

A row on which all candidates agree tells nothing of which is better. So rows are asked for in
random order among those on which some candidate contradicts the model without weights. The rows
that concern one candidate come in random order as well: of its :math:`n` rows, :math:`t` labelled,
with :math:`d_i` one where the candidate is right and the plain model wrong, minus one where it is
the other way round, and else zero, :math:`\bar d\,n/N` is an unbiased estimate of its gain in
accuracy on the :math:`N` rows of the target.
"""

import numpy as np

_STAKES = np.arange(0.05, 1.0, 0.05)  # parts of the largest stake that cannot ruin


def asking_order(predictions, random_state=0):
    """Rows in the order they are asked for, and how many of them have disagreeing candidates.

    ``predictions`` has a row a candidate, the first without weights, and a column a target row.
    """
    rng = np.random.default_rng(random_state)
    split = np.any(predictions != predictions[0], axis=0)
    first, rest = (rng.permutation(np.flatnonzero(part)) for part in (split, ~split))
    return np.concatenate([first, rest]), len(first)


def differences(predictions, codes):
    """One where a candidate is right and the first one wrong, minus one the other way round."""
    right = (predictions == codes).astype(int)
    return right - right[0]


def standard_error(d):
    """Of the mean of so many differences, never nothing: few labels must not look certain."""
    return np.sqrt(np.sum(np.square(d)) + 0.5) / max(len(d), 1)


def wealth(d, n_rows, gain=0.0):
    r"""Wealth, after each label, of bets that ``n_rows`` differences have a mean above ``gain``.

    Rows are drawn without replacement, so what is left must have the mean
    :math:`\mu_t = (n\,gain - \sum_{s<t} d_s)/(n - t + 1)` under the hypothesis, and

    .. math:: \prod_t \Bigl(1 + c\,\frac{d_t - \mu_t}{1 + \mu_t}\Bigr)

    is a non-negative martingale for each stake :math:`0 < c < 1`, their average over c as well
    (Waudby-Smith and Ramdas, 2024). By Ville's inequality it exceeds 20 at any time with a chance
    of at most 5 %. Once no rows that are left could bring the mean down to ``gain``, the wealth is
    infinite; once none could bring it up, nothing.

    Examples
    --------
    >>> wealth([1, 1, 1, -1], n_rows=50).round(2)
    array([1.5 , 2.36, 3.89, 1.39])
    """
    d = np.asarray(d, dtype=float)
    t, total = np.arange(len(d)), np.cumsum(d)
    mean = (n_rows * gain - (total - d)) / (n_rows - t)
    needed, left = n_rows * gain - total, n_rows - t - 1
    with np.errstate(over="ignore"):
        bets = 1 + np.outer(_STAKES, (d - mean) / np.maximum(1 + mean, 1e-9))
        found = np.cumprod(np.maximum(bets, 0), axis=1).mean(axis=0)
    return np.where(needed < -left - 1e-9, np.inf, np.where(needed > left + 1e-9, 0.0, found))


def interval(d, n_rows, chance=0.05):
    """Means of all ``n_rows`` differences that bets on neither side refute at this chance."""
    d = np.asarray(d, dtype=float)
    return _refuted(d, n_rows, 2 / chance), -_refuted(-d, n_rows, 2 / chance)


def _refuted(d, n_rows, limit):
    """The largest mean that is too small for these differences, by halving."""
    low, high = -1.0, 1.0
    for _ in range(12 if len(d) else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(d, n_rows, middle)[-1] >= limit else (low, middle)
    return low


def adjusted(wealths):
    """Evidence for each candidate (a row) once all were looked at: closed testing by averages.

    The smallest average of a candidate's wealth with those of any of the others (Vovk and Wang,
    2021): that of candidates which do not gain exceeds 20 with a chance of at most 5 % in all.
    """
    wealths = np.asarray(wealths, dtype=float)
    least = np.cumsum(np.sort(wealths, axis=0), axis=0)
    others = np.arange(1, len(least) + 1).reshape(-1, *[1] * (wealths.ndim - 1))
    means = [np.min((mine + least) / (others + 1), axis=0) for mine in wealths]
    return np.minimum(wealths, np.array(means).reshape(wealths.shape))
