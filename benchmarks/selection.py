"""Active model selection from the literature, replayed on what candidates said of a target.

Each function asks for labels one by one in its own way, and gives the number of the candidate that
it would choose after so many.
"""

import numpy as np
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.special import betaln, entr

_POINTS = np.linspace(1e-6, 1 - 1e-6, 256)


def by_pairs(said, y, budget, rng):
    """Rows drawn by how many pairs of candidates disagree; unbiased by LURE weights.

    Farquhar, Gal and Rainforth (2021).
    """
    rows = np.flatnonzero(np.any(said != said[0], axis=0))
    pairs = np.array([len(said) ** 2 - np.sum(np.bincount(c) ** 2) for c in said[:, rows].T])
    order = np.argsort(rng.exponential(size=len(pairs)) / pairs)
    drawn, pairs, n = rows[order], pairs[order], len(order)
    chance = pairs / (pairs.sum() - np.cumsum(pairs) + pairs)
    t, used = np.arange(1, n + 1), min(budget, n)
    weight = (n - used) / np.maximum(n - t, 1) * (1 / ((n - t + 1) * chance) - 1)
    weight = 1 + np.where(t < n, weight, 0.0)
    right = said[:, drawn[:used]] == y[drawn[:used]]
    return (right * weight[:used]).sum(axis=1).argmax()


def model_picker(said, y, budgets):
    """Choices after each budget, by expected variance of the loss (Karimi and others, 2021)."""
    loss, left = np.zeros(len(said)), np.flatnonzero(np.any(said != said[0], axis=0))
    for asked in range(max(budgets) + 1):
        if asked in budgets:
            yield loss.argmin()
        if not len(left):
            continue
        share = np.exp(-0.5 * (loss - loss.min()))
        wrong = [share @ (said[:, left] != c) / share.sum() for c in range(said.max() + 1)]
        place = np.max([w * (1 - w) for w in wrong], axis=0).argmax()
        loss += said[:, left[place]] != y[left[place]]
        left = np.delete(left, place)


class Coda:
    r"""What CODA believes of candidates by their posteriors (Kay and others, 2025).

    Row :math:`c` of a candidate's confusion matrix is Dirichlet: one on the diagonal, one in all
    beside it, a tenth of its confusion with the consensus, twice. A label adds a hundredth. These
    are the settings of the authors' program.
    """

    def __init__(self, posteriors):
        self.posteriors, self.said = posteriors, posteriors.argmax(axis=2)
        m = posteriors.shape[2]
        consensus = np.eye(m)[posteriors.mean(axis=0).argmax(axis=1)]
        found = np.einsum("nc,hns->hcs", consensus, posteriors)
        found /= np.maximum(found.sum(axis=2, keepdims=True), 1e-6)
        self.counts = 2 * (np.where(np.eye(m) == 1, 1.0, 1 / (m - 1)) + 0.1 * found)

    def learn(self, row, label):
        """Add what is told of a row."""
        self.counts[np.arange(len(self.said)), label, self.said[:, row]] += 0.01

    def beliefs(self):
        """Each row's class, the classes' shares, and which candidate says a class best."""
        of_rows = np.einsum("hcs,hns->nc", self.counts, self.posteriors)
        of_rows /= of_rows.sum(axis=1, keepdims=True)
        return of_rows, of_rows.mean(axis=0), is_best(*self.right_and_wrong())

    def right_and_wrong(self):
        """Beta parameters of being right: a row a class, a column a candidate."""
        right = np.diagonal(self.counts, axis1=1, axis2=2).T
        return right, self.counts.sum(axis=2).T - right

    def best(self):
        """The candidate that is most probably best."""
        _, shares, best = self.beliefs()
        return (shares @ best).argmax()

    def information(self, rows):
        """By how much a label of each row is expected to lower the entropy of which is best."""
        of_rows, shares, best = self.beliefs()
        right, wrong = self.right_and_wrong()
        now = shares @ best
        patterns, which = np.unique(self.said[:, rows], axis=1, return_inverse=True)
        expected = np.zeros(len(rows))
        for c, share in enumerate(shares):
            hit = (patterns == c).T
            then = now + share * (is_best(right[c] + hit, wrong[c] + ~hit) - best[c])
            expected += of_rows[rows, c] * entropy(then)[which.ravel()]
        return entropy(now) - expected


def entropy(shares):
    """Entropy along the last axis."""
    return entr(np.maximum(shares, 1e-12)).sum(axis=-1)


def is_best(right, wrong):
    """Chance, along the last axis, that a candidate's Beta-distributed share is the largest."""
    logs = np.log([_POINTS, 1 - _POINTS])
    density = (right[..., None] - 1) * logs[0] + (wrong[..., None] - 1) * logs[1]
    density = np.exp(density - betaln(right, wrong)[..., None])
    below = np.log(np.maximum(cumulative_trapezoid(density, _POINTS, initial=0), 1e-30))
    others = np.exp(below.sum(axis=-2, keepdims=True) - below)
    found = trapezoid(density * others, _POINTS)
    return found / found.sum(axis=-1, keepdims=True)


def coda(posteriors, y, budgets):
    """Choices after each of the budgets, by CODA; it asks where candidates disagree first."""
    state = Coda(posteriors)
    left = np.ones(len(y), dtype=bool)
    split = np.any(state.said != state.said[0], axis=0)
    for asked in range(max(budgets) + 1):
        if asked in budgets:
            yield state.best()
        rows = np.flatnonzero(left & split)
        if len(rows) == 0:  # what all agree on tells nothing of which is better
            continue
        row = rows[state.information(rows).argmax()]
        state.learn(row, y[row])
        left[row] = False
