"""Discriminative density-ratio estimation as a scikit-learn classifier."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from time import perf_counter

import numpy as np

from ddr._adapting import AdaptingClassifier
from ddr._checks import check_count, check_given, check_weights
from ddr._domains import check_alike, known_posteriors, rows_for_ratio, two_samples
from ddr.algorithm import rounds, until_drop
from ddr.information import effective_sample_size
from ddr.ratio import LOW_AGREEMENT, AgreementWarning, OverlapWarning, doubt


def _told(states, max_iter):
    """Pass the states of a long fit on, with a line for each."""
    start = perf_counter()
    for t, state in enumerate(states):
        spent = perf_counter() - start
        left = f", at most {spent / t * (max_iter - t):.1f} s left" if t else ""
        print(f"[ddr] iteration {t} of at most {max_iter}: {spent:.1f} s{left}", flush=True)
        yield state


def _record(state, last):
    return {
        "mutual_information": state.information,
        "prior_ratio": state.gamma,
        "effective_sample_size": effective_sample_size(state.weights),
        "weight_change": np.nan if last is None else state.change_from(last),
    }


@dataclass(eq=False, repr=False)
class DDRClassifier(AdaptingClassifier):
    r"""Classifier that adapts to an unlabelled target sample by class-wise density ratios.

    It runs the paper's Algorithm 1, whether or not the samples differ;
    :class:`~ddr.guard.GuardedDDRClassifier` asks first.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier whose ``fit`` takes ``sample_weight`` and that has
        ``predict_proba``, or a ``Pipeline`` whose last step is one: that step gets the weights.
        None means ``GaussianNB()``.
    ratio : density-ratio estimator, default=None
        ``ULSIF``, ``KLIEP``, ``KMM``, ``KDERatio`` or ``ConstantRatio``. None means ``ULSIF()``.
    stopping : callable, default=until_drop
        ``stopping(states, max_iter=...)`` takes what it needs of the states of
        :func:`~ddr.algorithm.rounds` and returns them and the place of the one to keep.
        ``ddr.paper.choices`` has others.
    max_iter : int, default=10
        Largest number of reweightings.
    ratio_transform : None, "passthrough", list of columns or transformer, default=None
        What the ratio sees: the rows as the steps of a ``Pipeline`` given as ``estimator`` leave
        them for its last step; the rows as they are given; some of their columns; or what a
        transformer, fitted to the training rows, makes of them. It must be finite numbers, also
        where the learner takes categories and missing values.
    verbose : bool, default=False
        Print what is done on the way, and how long the rest takes at most.
    random_state : int, RandomState or None, default=None
        Seeds the ratio and the estimator where they have a ``random_state`` of None.

    Attributes
    ----------
    classes_ : ndarray of shape (m,)
    weights_ : ndarray of shape (n_train,)
        Weights of the training rows for the model that was kept.
    class_ratio_ : ndarray of shape (n_train,)
        :math:`\beta(x|y)` of each training row.
    prior_ratio_ : ndarray of shape (m,)
        :math:`\gamma(c)` of each class.
    estimator_ : classifier
        The model that was kept.
    initial_estimator_ : classifier
        The model of iteration 0, which learned from unweighted rows.
    n_iter_ : int
        The iteration that was kept; 0 is the unweighted model. Without a target 1, as
        scikit-learn asks of every estimator that has ``max_iter``.
    agreement_ : float
        Share of the target rows that the kept model gives the class that the unweighted one
        gives. Below 0.7 an :class:`~ddr.ratio.AgreementWarning` says so.
    history_ : list of dict
        For each iteration that was computed: ``mutual_information``, ``prior_ratio``,
        ``effective_sample_size`` and ``weight_change`` (relative norm; NaN at iteration 0).
    n_features_in_ : int

    See Also
    --------
    ddr_weights : the weights alone, for other learners.

    Notes
    -----
    The target comes as ``X_target``, or within X, marked by a negative ``sample_domain`` (as in
    skada). The second way is for pipelines and cross-validation, which treat X as one sample:
    steps before this classifier transform both samples alike, folds cut both. A search must know
    that, too: ``sklearn.set_config(enable_metadata_routing=True)``. ``fit(X, y)`` without a target
    means no shift: the plain estimator, with weights of one, and a warning that says so.

    An ``X_target`` far out of X's range in most columns is refused: it was, most likely, not
    transformed as X was.

    References
    ----------
    Y.-Q. Miao, A. K. Farahat and M. S. Kamel. Discriminative density-ratio estimation. Algorithm 1.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ddr.paper.datasets import FourClusters
    >>> problem = FourClusters()
    >>> X, y = problem.sample(300, "train", random_state=0)
    >>> X_target, y_target = problem.sample(1000, "test", random_state=1)
    >>> unadapted = GaussianNB().fit(X, y)
    >>> adapted = DDRClassifier(random_state=0).fit(X, y, X_target)
    >>> adapted.score(X_target, y_target) > unadapted.score(X_target, y_target)
    True
    """

    _: KW_ONLY
    stopping: Callable = until_drop
    max_iter: int = 10
    verbose: bool = False

    def fit(self, X, y, X_target=None, *, sample_weight=None, y_target=None, sample_domain=None):
        """Learn from labelled training rows for an unlabelled target sample.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        X_target : array-like of shape (n_test, d), default=None
            Unlabelled rows of the target distribution. None means no shift.
        sample_weight : array-like of shape (n,), default=None
            What each training row costs: the learner gets its product with ``weights_``. The
            ratio and the class frequencies count every row once.
        y_target : array-like of shape (n_test,), default=None
            Labels of the target rows, where some are known: the posterior of such a row is its
            label. NaN or None, and -1 where that is no class of y, mean unknown.
        sample_domain : array-like of shape (n,), default=None
            Instead of ``X_target``: positive for the training rows of X, negative for its target
            rows, whose entries of y and ``sample_weight`` are not looked at.
        """
        learner, ratio = self._parts()
        if not callable(self.stopping):
            raise TypeError(f"stopping must be a function like until_drop, got {self.stopping!r}")
        X, y, X_target, sample_weight = two_samples(X, y, X_target, sample_domain, sample_weight)
        X, y, X_target = self._check_samples(X, y, X_target)
        sample_weight = check_weights(sample_weight, len(y))
        plain = X_target is None
        if plain:
            message = "X_target was not given: this is the plain estimator, with weights of one"
            warnings.warn(message, stacklevel=2)
            X_target = X
        seen = []

        def view(model):
            seen[:] = rows_for_ratio(X, y, X_target, self.ratio_transform, model)
            if sample_domain is None:
                check_alike(*seen)
            return seen

        known = known_posteriors(y_target, self.classes_, X_target.shape[0])
        options = {"view": view, "known": known, "sample_weight": sample_weight}
        states = rounds(X, y, X_target, learner, ratio, **options)
        max_iter = check_count(self.max_iter, "max_iter")
        states = _told(states, max_iter) if self.verbose else states
        states, kept = ([next(states)], 0) if plain else self.stopping(states, max_iter=max_iter)
        self.weights_, self.estimator_ = states[kept].weights, states[kept].model
        self.class_ratio_, self.prior_ratio_ = states[kept].beta, states[kept].gamma
        self.n_iter_ = 1 if plain else kept
        said = [state.posteriors.argmax(axis=1) for state in (states[0], states[kept])]
        self.agreement_ = float(np.mean(said[0] == said[1]))
        self.initial_estimator_ = states[0].model
        self.history_ = list(map(_record, states, [None, *states]))
        self._warn(states, seen)
        return self

    def _warn(self, states, seen):
        """Tell the caller of ``fit`` why the weights, or the model, may not be trusted."""
        vanished = sorted({c for state in states for c in state.vanished})
        kind, message = OverlapWarning, doubt(*seen, self.weights_) if seen else None
        if vanished:
            message = (
                f"the ratio vanishes at every row of class {self.classes_[vanished[0]]} and "
                "counts as one there: training and test samples hardly overlap at this width"
            )
        elif message is None and self.agreement_ < LOW_AGREEMENT:
            kind, changed = AgreementWarning, 1 - self.agreement_
            message = (
                f"the adapted model contradicts the unadapted one on {changed:.0%} of the target "
                "rows, which more often harms than helps: see ddr.shift_report"
            )
        if message:
            warnings.warn(message, kind, stacklevel=3)


def ddr_weights(X, y, X_target, estimator=None, ratio=None, **options):
    """Weights of the training rows by Algorithm 1, for any learner of your own.

    Parameters
    ----------
    X : array-like of shape (n_train, d)
    y : array-like of shape (n_train,)
    X_target : array-like of shape (n_test, d)
    estimator : classifier, default=None
        Gives the posteriors in between; see :class:`DDRClassifier`.
    ratio : density-ratio estimator, default=None
    **options
        Further parameters of :class:`DDRClassifier`.

    Returns
    -------
    ndarray of shape (n_train,)
        Non-negative, of mean one.

    Examples
    --------
    >>> from ddr.paper.datasets import FourClusters
    >>> X, y = FourClusters().sample(200, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(500, "test", random_state=1)
    >>> weights = ddr_weights(X, y, X_target, random_state=0)
    >>> weights.shape, round(float(weights.mean()), 6)
    ((200,), 1.0)
    """
    check_given(X_target, "X_target")
    return DDRClassifier(estimator, ratio, **options).fit(X, y, X_target).weights_
