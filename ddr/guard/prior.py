r"""Correct a classifier for class frequencies that differ in the target, p(x|y) being the same."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import f as f_distribution
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from ddr._domains import rows_of
from ddr.iwcv import fit_weighted, stratified_folds

_SMALLEST = 1e-9  # of a posterior: its logarithm must be finite
FOLDS = 5


def em_prior(posteriors, train_prior, max_iter=1000, tol=1e-8):
    r"""Class prior of the target by expectation-maximisation (Saerens and others, 2002).

    Each step weighs calibrated posteriors by the ratio of the priors, as the paper's eq. 8 weighs
    rows, and takes their mean. A class keeps at least half a row, as in Algorithm 1, step 6.

    .. math:: \pi(c) \leftarrow \frac1n \sum_j
              \frac{p(c|x_j)\,\pi(c)/p_{tr}(c)}{\sum_k p(k|x_j)\,\pi(k)/p_{tr}(k)}

    Examples
    --------
    >>> import numpy as np
    >>> posteriors = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    >>> em_prior(posteriors, np.array([0.5, 0.5])).round(3)
    array([0.812, 0.188])
    """
    prior = np.asarray(train_prior, dtype=float)
    for _ in range(max_iter):
        joint = posteriors * (prior / train_prior)
        new = np.mean(joint / joint.sum(axis=1, keepdims=True), axis=0)
        new = np.maximum(new, 0.5 / len(posteriors))
        prior, last = new / new.sum(), prior
        if np.max(np.abs(prior - last)) < tol:
            break
    return prior


def logarithms(posteriors):
    """Finite logarithms of class probabilities."""
    return np.log(np.maximum(posteriors, _SMALLEST))


def calibrate(log_posteriors, codes, weight=None, temperature=True, ridge=1e-3):
    """Temperature and one offset a class that make labelled rows likeliest.

    ``ridge`` pulls them to one and to zero; without ``temperature`` the offsets alone are found.
    """
    n, m = log_posteriors.shape
    weight = np.ones(n) if weight is None else weight
    share, truth, start = (weight / weight.sum())[:, None], np.eye(m)[codes], np.eye(1, m + 1)[0]

    def loss(parameters):
        log_posterior = log_softmax(parameters[0] * log_posteriors + parameters[1:], axis=1)
        rest, away = (np.exp(log_posterior) - truth) * share, parameters - start
        gradient = np.append(np.sum(rest * log_posteriors), rest.sum(axis=0)) + ridge * away
        return -np.sum(share * truth * log_posterior) + ridge / 2 * away @ away, gradient

    bounds = [(1e-2, None) if temperature else (1, 1)] + [(None, None)] * m
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[0], found[1:]


def _within(rows, fold, weight):
    """Rows less the mean of their fold, times their weights."""
    sums = [np.bincount(fold, weight * column) for column in rows.T]
    return weight[:, None] * (rows - (np.array(sums) / np.bincount(fold, weight)).T[fold])


class Crossfit:
    """Posteriors of source and target rows by models that did not learn from the source row.

    The target's rows are dealt to the folds too: where nothing shifted, the rows of a fold are
    then alike whichever sample they belong to, and :meth:`unchanged` can compare them.
    """

    def __init__(self, learner, X, y, X_target, weight=None):
        classes, self.codes = np.unique(y, return_inverse=True)
        self.weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        n_target, rng = X_target.shape[0], check_random_state(0)
        splits = stratified_folds(self.codes, FOLDS, rng)
        deal = rng.permutation(np.arange(n_target) % len(splits))
        self.source = np.zeros((len(y), len(classes)))
        self.target, self.fold = np.zeros((n_target, len(classes))), np.zeros(len(y), dtype=int)
        self.target_fold = deal
        for number, (train, held_out) in enumerate(splits):
            model = fit_weighted(learner, rows_of(X, train), y[train], self.weight[train])
            known = np.searchsorted(classes, model.classes_)  # a class of one row may be missing
            self.fold[held_out], rows = number, np.flatnonzero(deal == number)
            for out, sample, which in ((self.source, X, held_out), (self.target, X_target, rows)):
                if len(which):
                    out[np.ix_(which, known)] = model.predict_proba(rows_of(sample, which))

    def unchanged(self):
        """P-value of an unchanged class prior, by the mean posteriors of both samples.

        Hotelling's test of the differences within folds; no calibration and no EM come into it. It
        also rejects where p(x) moved along the posteriors with the prior as it was.
        """
        n, n_target = len(self.source), len(self.target)
        even = np.full(n_target, 1 / n_target)
        share = np.bincount(self.target_fold, even) / np.bincount(self.fold, self.weight)
        weight = self.weight * share[self.fold]  # each fold counts as much as in the target
        apart = even @ self.target - weight @ self.source
        rest = _within(self.source, self.fold, weight)
        rest_target = _within(self.target, self.target_fold, even)
        covariance = rest.T @ rest + rest_target.T @ rest_target
        kept = self.source.any(axis=0) & (np.diag(covariance) > 1e-14)
        kept[np.flatnonzero(kept)[:1]] = False  # posteriors add up to one
        d, freedom = kept.sum(), n + n_target - 2 * len(share)
        if d == 0 or freedom <= d:
            return 1.0
        t2 = apart[kept] @ np.linalg.pinv(covariance[np.ix_(kept, kept)]) @ apart[kept]
        return float(f_distribution.sf(t2 * (freedom - d + 1) / (d * freedom), d, freedom - d + 1))

    def condition(self):
        """Condition number of the classes' mean posteriors: large if they hardly tell the prior."""
        each = [
            np.average(self.source[self.codes == c], axis=0, weights=self.weight[self.codes == c])
            for c in range(self.source.shape[1])
        ]
        return float(min(np.linalg.cond(np.array(each)), 1e6))


class AdjustedClassifier(ClassifierMixin, BaseEstimator):
    r"""A fitted classifier with its posteriors sharpened and shifted, class by class.

    .. math:: p'(c|x) \propto p(c|x)^{temperature} \exp(offset_c)

    A calibrated model has the offsets of ``calibrate``; for another class prior the logarithm
    of the prior ratio is added (Saerens and others, 2002); labels of the target add offsets too.
    """

    def __init__(self, estimator, temperature=1.0, offset=0.0):
        self.estimator = estimator
        self.temperature = temperature
        self.offset = offset
        self.classes_ = estimator.classes_

    def predict_proba(self, X):
        """Adjusted class probabilities."""
        logits = self.temperature * logarithms(self.estimator.predict_proba(X)) + self.offset
        return np.exp(log_softmax(logits, axis=1))

    def predict(self, X):
        """Most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
