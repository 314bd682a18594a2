r"""Which rows of the target to label, and what the labels say of the candidates.

A row on which all candidates agree tells nothing of which is better. So rows are asked for in
random order among those on which some candidate contradicts the model without weights. The rows
that concern one candidate come in random order as well: of its :math:`n` rows, :math:`t` labelled,
with :math:`d_i` one where the candidate is right and the plain model wrong, minus one where it is
the other way round, and else zero, :math:`\bar d\,n/N` is an unbiased estimate of its gain in
accuracy on the :math:`N` rows of the target.
"""

from dataclasses import dataclass

import numpy as np

#: Evidence at which a candidate is taken to gain: by chance, one in twenty.
SURE = 20.0
_STAKES = np.arange(0.05, 1.0, 0.05)  # parts of the largest stake that cannot ruin


@dataclass(frozen=True)
class Gain:
    """Estimated gain of a candidate over no weights, in points of accuracy on the target.

    ``low`` to ``high`` holds at any time with 95 %; ``error`` is the standard error, ``evidence``
    of a gain is one without any and suffices for ``mode="sure"`` from 20 on.
    """

    estimate: float
    low: float
    high: float
    error: float
    evidence: float
    labels: int


def asking_order(predictions, random_state=0):
    """Rows in the order they are asked for, and how many of them have disagreeing candidates.

    ``predictions`` has a row a candidate, the first without weights, and a column a target row.
    """
    rng = np.random.default_rng(random_state)
    split = np.any(predictions != predictions[0], axis=0)
    first, rest = (rng.permutation(np.flatnonzero(part)) for part in (split, ~split))
    return np.concatenate([first, rest]), len(first)


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


def adjusted(wealths, rows):
    """Evidence for each candidate (a row) once all were looked at: closed testing by averages.

    The smallest average of a candidate's wealth with those of any of the others (Vovk and Wang,
    2021): that of candidates which do not gain exceeds 20 with a chance of at most 5 % in all.
    Candidates weigh as much as the numbers of ``rows`` that they change, which no label decides:
    one that hardly differs from no weights cannot gain much, and shall not cost others evidence.
    """
    wealths = np.asarray(wealths, dtype=float)
    weights = np.broadcast_to(np.maximum(rows, 1), wealths.T.shape).T
    order = np.argsort(wealths, axis=0)
    least, weight = (
        np.cumsum(np.take_along_axis(each, order, axis=0), axis=0)
        for each in (weights * wealths, weights)
    )
    means = (weights * wealths)[:, None] + least
    means /= weights[:, None] + weight
    return np.minimum(wealths, means.min(axis=1))


def judge(names, said, rows, labels):
    """Gain of every candidate but the first, by the labels of rows in the order asked for.

    ``said`` has what each candidate says of the whole target, in the order of ``names``.
    """
    right, concerned = (said[:, rows] == labels).astype(int), said != said[0]
    sizes = concerned.sum(axis=1)
    d = [mine[where] for mine, where in zip(right - right[0], concerned[:, rows], strict=True)]
    wealths = [wealth(mine, n)[-1] if len(mine) else 1.0 for mine, n in zip(d, sizes, strict=True)]
    gains = {}
    for k, evidence in enumerate(adjusted(wealths[1:], sizes[1:]), start=1):
        n_labels, scale = len(d[k]), 100 * sizes[k] / said.shape[1]
        low, high = interval(d[k], sizes[k])
        # Never without an error: few labels must not look certain.
        error = np.sqrt(np.sum(d[k] ** 2) + 0.5) / max(n_labels, 1)
        estimate = d[k].mean() if n_labels else 0.0
        points = (float(scale * each) for each in (estimate, low, high, error))
        gains[names[k]] = Gain(*points, float(evidence), n_labels)
    return gains


def chosen(gains, mode):
    """Name of the candidate that the gains speak for, or "none"."""
    if mode == "sure":
        value = {name: g.estimate for name, g in gains.items() if g.evidence >= SURE}
    else:
        value = {name: g.estimate - g.error / 2 for name, g in gains.items()}
    return max(["none", *value], key=lambda name: value.get(name, 0.0))
