"""What the paper leaves open about Algorithm 1: each choice a function that ``rounds`` is given.

:func:`algorithm_1` turns their names, as protocols and the multiverse write them, into functions.
"""

from itertools import islice

import numpy as np

from ddr._checks import check_choice, check_count
from ddr.algorithm import joint_weights, mean_one, prior_ratio, rounds, soft, until_drop
from ddr.ratio import ConstantRatio


def hard(posteriors):
    """Let each target row belong to its predicted class alone: the ablation of soft matching."""
    return np.eye(posteriors.shape[1])[posteriors.argmax(axis=1)]


def counted_prior_ratio(posteriors, train_prior):
    """Ratio of the class priors, the target's by counts of predicted classes."""
    return prior_ratio(hard(posteriors), train_prior)


def unscaled(beta, gamma, shares, codes):
    """Joint weights as they are, not brought to mean one."""
    return joint_weights(beta, gamma, codes)


def class_ratio_alone(weigh):
    """Weigh without the ratio of the priors."""
    return lambda beta, gamma, *rest: weigh(beta, np.ones_like(gamma), *rest)


def prior_ratio_alone(weigh):
    """Weigh without the class-wise ratio."""
    return lambda beta, gamma, *rest: weigh(np.ones_like(beta), gamma, *rest)


def as_printed(weigh):
    """Divide by all test rows, as eq. 14 is printed: the class-wise ratio shrinks by its share."""
    return lambda beta, gamma, shares, codes: weigh(
        beta * shares.mean(axis=0)[codes], gamma, shares, codes
    )


def of_class_mean_one(weigh):
    """Bring the ratio of each class to mean one: the priors alone say how much a class weighs."""
    return lambda beta, gamma, shares, codes: weigh(
        beta / (np.bincount(codes, weights=beta) / np.bincount(codes))[codes], gamma, shares, codes
    )


def fixed(states, max_iter=10):
    """Stop after ``max_iter`` reweightings and keep the last."""
    seen = list(islice(states, max_iter + 1))
    return seen, len(seen) - 1


def largest(states, max_iter=10, min_iter=1):
    """Run ``max_iter`` reweightings and keep the state of largest mutual information."""
    seen = list(islice(states, max_iter + 1))
    return seen, max(range(min_iter, len(seen)), key=lambda t: seen[t].information)


def settled(states, max_iter=10, tol=1e-3):
    """Stop, and keep the last, when the weights change by less than ``tol`` (relative norm)."""
    seen = []
    for state in islice(states, max_iter + 1):
        seen.append(state)
        if len(seen) > 1 and state.change_from(seen[-2]) < tol:
            break
    return seen, len(seen) - 1


#: What each choice is called; the first of each is how the paper is read where it is silent.
NAMES = {
    "normalization": {"posterior": None, "literal": as_printed},
    "prior": {"soft": prior_ratio, "hard": counted_prior_ratio},
    "matching": {"soft": soft, "hard": hard},
    "components": {
        "both": None,
        "class_ratio": class_ratio_alone,
        "prior_ratio": prior_ratio_alone,
    },
    "scale": {"total": None, "class": of_class_mean_one, "none": None},
    "stopping": {"drop": until_drop, "max": largest, "weights": settled, "fixed": fixed},
    "information_prior": {"target": None, "train": None},
    "min_iter": {1: 1, 0: 0},
}


def algorithm_1(X, y, X_target, learner, ratio, *, max_iter=10, reselect=False, **named):
    """Run Algorithm 1 under choices given by name; the states seen, and which of them to keep.

    Parameters
    ----------
    X, y, X_target, learner, ratio, reselect
        As of :func:`ddr.algorithm.rounds`.
    max_iter : int, default=10
    normalization : {"posterior", "literal"}
        Divide the soft moments by the sum of the posteriors, or by the number of test rows as
        eq. 14 is printed, which counts the test prior twice.
    prior, matching : {"soft", "hard"}
        Take the test prior from, and match rows by, posteriors or predicted classes.
    components : {"both", "class_ratio", "prior_ratio"}
        The factors of the weights.
    scale : {"total", "class", "none"}
        Bring the weights to mean one; the ratio of each class before, too; or leave them.
    stopping : {"drop", "max", "weights", "fixed"}
        At the first fall of mutual information; at its largest; when the weights settle; never
        before ``max_iter``.
    information_prior : {"target", "train"}
        The class prior of eq. 16: the mean posterior, or the training frequencies.
    min_iter : {1, 0}
        The earliest state that may be kept: 0 allows the unweighted model to win.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ddr import ULSIF
    >>> from ddr.paper.mixture import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(1000, "test", random_state=1)
    >>> ratio = ULSIF(random_state=0)
    >>> states, kept = algorithm_1(X, y, X_target, GaussianNB(), ratio, stopping="fixed")
    >>> kept, states[kept].weights.shape
    (10, (300,))
    """
    for name in named:
        check_choice(name, "a choice", NAMES)
    chosen = {name: named.get(name, next(iter(known))) for name, known in NAMES.items()}
    found = {name: known[check_choice(chosen[name], name, known)] for name, known in NAMES.items()}
    weigh = unscaled if chosen["scale"] == "none" else mean_one
    for name in ("components", "normalization", "scale"):
        weigh = weigh if found[name] is None else found[name](weigh)
    options = {"share": found["matching"], "prior": found["prior"], "weigh": weigh}
    ratio = ConstantRatio() if chosen["components"] == "prior_ratio" else ratio
    states = rounds(X, y, X_target, learner, ratio, reselect=reselect, **options)
    if chosen["information_prior"] == "train":
        train = np.unique(y, return_counts=True)[1] / len(y)
        states = (state._replace(information_prior=train) for state in states)
    earliest = {"min_iter": chosen["min_iter"]} if chosen["stopping"] in ("drop", "max") else {}
    return found["stopping"](states, check_count(max_iter, "max_iter"), **earliest)
