r"""Algorithm 1: the weights and the classifier are learned from one another.

The weight of a training row is the ratio of the joint densities, class by class (paper, eq. 8):

.. math::
    w(x, c) = \beta(x | c)\,\gamma(c), \qquad \beta(x|c) = \frac{p_{ts}(x|c)}{p_{tr}(x|c)}, \quad
    \gamma(c) = \frac{p_{ts}(c)}{p_{tr}(c)}

The target rows have no labels, so a weighted classifier's posteriors stand in for them, until the
mutual information of the posteriors falls.
"""

from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ddr.information import mutual_information
from ddr.iwcv import fit_weighted

# Below this, an estimate of the ratio is what rounding left of zero.
_NOTHING = 1e-100


class State(NamedTuple):
    r"""One round: the weights, their two factors, the model that they gave, its posteriors.

    ``vanished`` numbers the classes whose ratio was zero at every row and counts as one.
    """

    weights: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    model: Any
    posteriors: np.ndarray
    vanished: tuple = ()
    information_prior: np.ndarray | None = None

    @property
    def information(self):
        """Mutual information of target rows and predicted classes (paper, eq. 16)."""
        return mutual_information(self.posteriors, self.information_prior)

    def change_from(self, last):
        """Relative norm of the change of the weights since an earlier state."""
        return float(np.linalg.norm(self.weights - last.weights) / np.linalg.norm(last.weights))


def prior_ratio(posteriors, train_prior):
    r"""Ratio of the class priors, :math:`\gamma(c)` of eq. 8, the target's by mean posteriors.

    Parameters
    ----------
    posteriors : ndarray of shape (n_test, m)
        Class probabilities of the test rows.
    train_prior : ndarray of shape (m,)
        Class frequencies in the training sample.

    Returns
    -------
    ndarray of shape (m,)
        Positive: a class is given at least half a test row, so that a class which vanishes from
        the predictions keeps a small weight and can come back.

    Examples
    --------
    >>> import numpy as np
    >>> posteriors = np.array([[0.9, 0.1], [0.7, 0.3], [0.9, 0.1], [0.7, 0.3]])
    >>> prior_ratio(posteriors, np.array([0.5, 0.5])).round(2)
    array([1.6, 0.4])
    """
    prior = np.maximum(posteriors.mean(axis=0), 0.5 / len(posteriors))
    return prior / prior.sum() / train_prior


def joint_weights(beta, gamma, codes):
    r"""Ratio of the joint densities of training rows, :math:`\beta(x|c)\,\gamma(c)` (eqs. 5 to 8).

    Parameters
    ----------
    beta : ndarray of shape (n_train,)
        :math:`\beta(x|c)` of each row, c being its class.
    gamma : ndarray of shape (m,)
    codes : ndarray of shape (n_train,), int
        Class of each row, 0 to m - 1.

    Examples
    --------
    >>> import numpy as np
    >>> joint_weights(np.array([1.0, 3.0]), np.array([0.5, 2.0]), np.array([1, 0]))
    array([2. , 1.5])
    """
    return beta * gamma[codes]


def mean_one(beta, gamma, shares, codes):
    """Joint weights, brought to mean one."""
    weights = joint_weights(beta, gamma, codes)
    return weights / weights.mean()


def soft(posteriors):
    """Let each target row belong to every class by its posterior (paper, eq. 9)."""
    return posteriors


def rounds(
    X,
    y,
    X_target,
    learner,
    ratio,
    *,
    share=soft,
    prior=prior_ratio,
    weigh=mean_one,
    reselect=False,
    view=None,
    known=None,
    sample_weight=None,
):
    r"""Yield the states of Algorithm 1, weights by eq. 8, without end, the unweighted one first.

    Parameters
    ----------
    X, y, X_target : training rows, their labels, and target rows, as ``learner`` takes them
    learner : classifier
        Fitted with ``sample_weight``, asked for ``predict_proba``; cloned for each round.
    ratio : density-ratio estimator
    share : callable
        ``share(posteriors)``: how much of each target row belongs to each class.
    prior : callable
        ``prior(posteriors, train_prior)``: the ratio of the class priors.
    weigh : callable
        ``weigh(beta, gamma, shares, codes)``: the weights of the training rows.
    reselect : bool, default=False
        Whether the ratio's width and regularisation are chosen in each round or in the first only.
    view : callable, default=None
        ``view(model)`` gives training and target rows as the ratio sees them; None: as they are.
    known : ndarray of shape (n_target, m), default=None
        Posteriors to take instead of the learner's, NaN where it decides.
    sample_weight : ndarray of shape (n_train,), default=None
        What each training row costs the learner, times its weight.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ddr import ULSIF
    >>> from ddr.paper.mixture import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(1000, "test", random_state=1)
    >>> states, kept = until_drop(rounds(X, y, X_target, GaussianNB(), ULSIF(random_state=0)))
    >>> states[kept].information > states[0].information
    True
    """
    classes, codes = np.unique(y, return_inverse=True)
    n, m = len(codes), len(classes)
    train_prior, own = np.bincount(codes) / n, [codes == c for c in range(m)]
    weights, beta, gamma, vanished, matches = np.ones(n), np.ones(n), np.ones(m), (), None
    while True:
        cost = weights if sample_weight is None else weights * sample_weight
        model = fit_weighted(learner, X, y, cost)  # step 3
        posteriors = model.predict_proba(X_target)  # step 4
        if known is not None:
            posteriors = np.where(np.isnan(known), posteriors, known)
        if not np.all(np.isfinite(posteriors)):
            raise ValueError("estimator must give finite posteriors, got NaN: check the scale of X")
        yield State(weights, beta, gamma, model, posteriors, vanished)

        if matches is None:
            Z, Z_target = (X, X_target) if view is None else view(model)
            # One row gives no density to compare: its ratio stays one.
            matches = [
                ratio.matcher(Z[rows], Z_target, reselect) if rows.sum() > 1 else None
                for rows in own
            ]
        shares, beta, vanished = share(posteriors), np.ones(n), ()
        for c, (rows, match) in enumerate(zip(own, matches, strict=True)):  # step 5
            if match is not None and shares[:, c].sum() > 1e-6:  # else there is nothing to match
                estimate = match(shares[:, c])
                if estimate.max() > _NOTHING:
                    beta[rows] = estimate
                else:
                    vanished += (c,)
        gamma = prior(posteriors, train_prior)  # step 6
        weights = weigh(beta, gamma, shares, codes)  # step 7


def until_drop(states, max_iter=10, min_iter=1):
    """The states up to the first fall of mutual information, and the place of the one before it.

    Parameters
    ----------
    states : iterable of State
    max_iter : int, default=10
        Largest number of reweightings.
    min_iter : int, default=1
        The state to keep is not earlier.

    Examples
    --------
    >>> import numpy as np
    >>> guesses = [np.array([[p, 1 - p], [1 - p, p]]) for p in (0.6, 0.9, 0.7, 0.99)]
    >>> states, kept = until_drop(State(None, None, None, None, guess) for guess in guesses)
    >>> len(states), kept
    (3, 1)
    """
    seen, values = [], []
    for state in islice(states, max_iter + 1):
        seen.append(state)
        values.append(state.information)
        if len(seen) > min_iter + 1 and values[-1] < values[-2]:
            break
    return seen, max(range(min_iter, len(seen)), key=values.__getitem__)
