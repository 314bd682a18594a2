r"""Correct a classifier for class frequencies that differ in the target, p(x|y) being the same.

The target's prior is the one under which its rows are likeliest, found by expectation-maximisation
over posteriors that were calibrated first: without that, what a learner exaggerates is taken for a
shift.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import chi2
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ddr.validation import stratified_folds

_SMALLEST = 1e-9  # of a posterior: its logarithm must be finite


def em_prior(posteriors, train_prior, max_iter=1000, tol=1e-8):
    r"""Class prior of the target by expectation-maximisation.

    Parameters
    ----------
    posteriors : ndarray of shape (n_target, m)
        Calibrated class probabilities of the target rows under the training prior.
    train_prior : ndarray of shape (m,)
    max_iter : int, default=1000
    tol : float, default=1e-8
        Stop when no entry of the prior changes by more.

    Returns
    -------
    ndarray of shape (m,)
        A class is given at least half a row, as by :func:`ddr.discriminative.prior_ratio`.

    Notes
    -----
    Each step weighs the posteriors by the ratio of the priors, as the paper's eq. 8 weighs rows,
    and takes their mean:

    .. math:: \pi(c) \leftarrow \frac1n \sum_j
              \frac{p(c|x_j)\,\pi(c)/p_{tr}(c)}{\sum_k p(k|x_j)\,\pi(k)/p_{tr}(k)}

    References
    ----------
    M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to new
    a priori probabilities. Neural Computation 14, 21-41.

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


def prior_evidence(posteriors, train_prior, prior):
    """P-value of the likelihood-ratio test that the target's prior is that of training."""
    gain = np.log(np.maximum(posteriors @ (prior / train_prior), _SMALLEST)).sum()
    return float(chi2.sf(max(2.0 * gain, 0.0), len(prior) - 1))


class PriorCorrectedClassifier(ClassifierMixin, BaseEstimator):
    r"""Classifier whose calibrated posteriors are corrected for the target's class prior.

    Parameters
    ----------
    estimator : classifier
        Anything with ``predict_proba``. It is fitted without weights.
    cv : int, default=5
        Folds of the posteriors that one temperature and one offset a class are fitted to.
    random_state : int, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    estimator_ : classifier
    prior_ratio_ : ndarray of shape (m,)
        :math:`p_{ts}(c) / p_{tr}(c)`.
    evidence_ : float
        P-value of the test that nothing changed; small means that the prior did.
    classes_ : ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y, y_target = rng.random(400) < 0.5, rng.random(400) < 0.9
    >>> X, X_target = (rng.normal(size=(400, 1)) + 2 * labels[:, None] for labels in (y, y_target))
    >>> model = PriorCorrectedClassifier(GaussianNB(), random_state=0).fit(X, y, X_target)
    >>> model.prior_ratio_.round(1), model.evidence_ < 0.001
    (array([0.1, 2. ]), True)
    """

    def __init__(self, estimator, cv=5, random_state=None):
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X, y, X_target):
        """Fit and calibrate the estimator on labelled rows, then find the target's prior."""
        rng = check_random_state(self.random_state)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, y)
        folds = stratified_folds(codes, self.cv, rng)
        held_out = cross_val_predict(self.estimator, X, codes, cv=folds, method="predict_proba")
        self.temperature_, self.offset_ = _calibrate(_logarithms(held_out), codes)
        train_prior = np.bincount(codes) / len(codes)
        self.prior_ratio_ = np.ones(len(self.classes_))
        posteriors = self.predict_proba(X_target)
        prior = em_prior(posteriors, train_prior)
        self.evidence_ = prior_evidence(posteriors, train_prior, prior)
        self.prior_ratio_ = prior / train_prior
        return self

    def predict_proba(self, X):
        """Class probabilities under the target's prior."""
        check_is_fitted(self)
        logits = self.temperature_ * _logarithms(self.estimator_.predict_proba(X)) + self.offset_
        return np.exp(log_softmax(logits + np.log(self.prior_ratio_), axis=1))

    def predict(self, X):
        """Most probable class under the target's prior."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _logarithms(posteriors):
    return np.log(np.maximum(posteriors, _SMALLEST))


def _calibrate(logarithms, codes, ridge=1e-3):
    """Temperature and offsets that make held-out posteriors likeliest."""
    truth = np.eye(logarithms.shape[1])[codes]

    def loss(parameters):
        log_posterior = log_softmax(parameters[0] * logarithms + parameters[1:], axis=1)
        rest = (np.exp(log_posterior) - truth) / len(codes)
        away = parameters - start
        gradient = np.append(np.sum(rest * logarithms), rest.sum(axis=0)) + ridge * away
        return -np.sum(truth * log_posterior) / len(codes) + ridge / 2 * away @ away, gradient

    start = np.append(1.0, np.zeros(logarithms.shape[1]))
    bounds = [(1e-2, None)] + [(None, None)] * logarithms.shape[1]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[0], found[1:]
