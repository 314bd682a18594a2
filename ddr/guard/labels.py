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
GAINS = np.linspace(-1, 1, 201)


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


def wealth(d, n_rows, gain=0.0, sign=1):
    r"""Wealth of bets that the mean difference of ``n_rows`` rows lies above ``gain``.

    Rows are drawn without replacement, so what is left must have the mean
    :math:`\mu_t = (n\,gain - \sum_{s<t} d_s)/(n - t + 1)` under the hypothesis, and

    .. math:: \prod_t \Bigl(1 + c\,\frac{d_t - \mu_t}{1 + \mu_t}\Bigr)

    is a non-negative martingale for each stake :math:`0 < c < 1`, their average over c as well
    (Waudby-Smith and Ramdas, 2024). By Ville's inequality it exceeds 20 at any time with a chance
    of at most 5 %. ``sign=-1`` bets that the mean lies below. Where no mean of what is left could
    bring about ``gain``, the wealth is infinite, or nothing.
    """
    d, gain = sign * np.asarray(d, dtype=float), sign * gain
    t = np.arange(len(d))
    mean = (n_rows * gain - (np.cumsum(d) - d)) / (n_rows - t)
    total = n_rows * gain - d.sum()
    if total < -(n_rows - len(d)) - 1e-9:
        return np.inf
    if np.any(mean > 1) or total > n_rows - len(d) + 1e-9:
        return 0.0
    scale = np.maximum(1 + mean, 1e-9)
    return float(np.mean(np.prod(1 + np.outer(_STAKES, (d - mean) / scale), axis=1)))


def interval(d, n_rows, chance=0.05):
    """Means of all ``n_rows`` differences that no bet on either side refutes at this chance."""
    held = [g for g in GAINS if wealth(d, n_rows, g) + wealth(d, n_rows, g, -1) < 2 / chance]
    return (min(held), max(held)) if held else (float(np.mean(d)),) * 2


def adjusted(wealths):
    """Evidence for each candidate once all were looked at: closed testing by averages.

    The smallest average of a candidate's wealth with those of any of the others (Vovk and Wang,
    2021): it exceeds 20 for a candidate that does not gain with a chance of at most 5 % in all.
    """
    wealths = np.asarray(wealths, dtype=float)
    least = np.sort(wealths)
    sums, many = np.concatenate([[0.0], np.cumsum(least)]), np.arange(1, len(least) + 2)
    return np.array([min(w, np.min((w + sums) / many)) for w in wealths])
