r"""Correct a classifier for class frequencies that differ in the target, p(x|y) being the same."""

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import chi2
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import check_random_state

from ddr.iwcv import stratified_folds

_SMALLEST = 1e-9  # of a posterior: its logarithm must be finite


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


class PriorCorrectedClassifier(ClassifierMixin, BaseEstimator):
    """Classifier whose calibrated posteriors are corrected for the target's class prior.

    One temperature and one offset a class, fitted to held-out posteriors, calibrate them: without
    that, what a learner exaggerates is taken for a shift. ``prior_ratio_`` is target over source,
    ``evidence_`` the p-value of the likelihood-ratio test that the prior is unchanged.
    """

    def __init__(self, estimator, cv=5, random_state=None):
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X, y, X_target):
        """Fit and calibrate the estimator on labelled rows, then find the target's prior."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, y)
        folds = stratified_folds(codes, self.cv, check_random_state(self.random_state))
        with warnings.catch_warnings():  # a class of one row is missing where it is held out
            warnings.filterwarnings("ignore", "Number of classes in training fold")
            held_out = cross_val_predict(self.estimator, X, codes, cv=folds, method="predict_proba")
        self.temperature_, self.offset_ = _calibrate(_logarithms(held_out), codes)
        train_prior = np.bincount(codes) / len(codes)
        self.prior_ratio_ = np.ones(len(self.classes_))
        posteriors = self.predict_proba(X_target)
        self.prior_ratio_ = em_prior(posteriors, train_prior) / train_prior
        gain = np.log(np.maximum(posteriors @ self.prior_ratio_, _SMALLEST)).sum()
        self.evidence_ = float(chi2.sf(max(2.0 * gain, 0.0), len(self.classes_) - 1))
        return self

    def predict_proba(self, X):
        """Class probabilities under the target's prior."""
        logits = self.temperature_ * _logarithms(self.estimator_.predict_proba(X)) + self.offset_
        return np.exp(log_softmax(logits + np.log(self.prior_ratio_), axis=1))

    def predict(self, X):
        """Most probable class under the target's prior."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _logarithms(posteriors):
    return np.log(np.maximum(posteriors, _SMALLEST))


def _calibrate(logarithms, codes, ridge=1e-3):
    """Temperature and offsets that make held-out posteriors likeliest."""
    n, m = logarithms.shape
    truth, start = np.eye(m)[codes], np.append(1.0, np.zeros(m))

    def loss(parameters):
        log_posterior = log_softmax(parameters[0] * logarithms + parameters[1:], axis=1)
        rest, away = (np.exp(log_posterior) - truth) / n, parameters - start
        gradient = np.append(np.sum(rest * logarithms), rest.sum(axis=0)) + ridge * away
        return -np.sum(truth * log_posterior) / n + ridge / 2 * away @ away, gradient

    bounds = [(1e-2, None)] + [(None, None)] * m
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[0], found[1:]
