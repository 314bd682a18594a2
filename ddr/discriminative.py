r"""Discriminative density-ratio estimation: the paper's Algorithm 1.

The weight of a training row is the ratio of the joint densities, class by class (paper, eq. 8):

.. math::
    w(x, c) = \beta(x | c)\,\gamma(c), \qquad \beta(x|c) = \frac{p_{ts}(x|c)}{p_{tr}(x|c)}, \quad
    \gamma(c) = \frac{p_{ts}(c)}{p_{tr}(c)}

The labels of the test rows are unknown, so a weighted classifier's posteriors stand in for them:
classifier and weights are learned in turn until the mutual information of the posteriors falls.
"""

import warnings
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr._checks import (
    check_choice,
    check_count,
    check_given,
    check_magnitude,
    check_positive,
    check_rows,
    check_weights,
)
from ddr._samples import Samples, check_target, label_codes, rows_for_ratio, takes_nan, whole
from ddr.information import effective_sample_size, mutual_information
from ddr.iwcv import check_labelled, fit_weighted, weight_parameter
from ddr.ratio import LOW_AGREEMENT, AgreementWarning, DensityRatio, OverlapWarning, warn_of_overlap
from ddr.ulsif import ULSIF

# Below this, an estimate of the ratio is what rounding left of zero.
_NOTHING = 1e-100
# Fewer rows of a sample tell nothing of a shift: Algorithm 1 is then run untested.
FEWEST_ROWS = 10


def prior_ratio(posteriors, train_prior, counting="soft"):
    r"""Ratio of the class priors, :math:`\gamma(c)` of eq. 8 (paper, Algorithm 1, step 6).

    Parameters
    ----------
    posteriors : ndarray of shape (n_test, m)
        Class probabilities of the test rows.
    train_prior : ndarray of shape (m,)
        Class frequencies in the training sample.
    counting : {"soft", "hard"}, default="soft"
        Estimate the test prior by the mean posterior, or by counting predicted classes.

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
    check_choice(counting, "counting", ("soft", "hard"))
    n, m = posteriors.shape
    if counting == "soft":
        prior = posteriors.mean(axis=0)
    else:
        prior = np.bincount(posteriors.argmax(axis=1), minlength=m) / n
    prior = np.maximum(prior, 0.5 / n)
    return prior / prior.sum() / train_prior


def joint_weights(class_ratio, prior_ratio, codes):
    r"""Ratio of the joint densities of training rows (paper, eqs. 5 to 8).

    .. math:: w(x, c) = \beta(x|c)\,\gamma(c)

    Parameters
    ----------
    class_ratio : ndarray of shape (n_train,)
        :math:`\beta(x|c)` of each row, c being its class.
    prior_ratio : ndarray of shape (m,)
        :math:`\gamma(c)` of each class.
    codes : ndarray of shape (n_train,), int
        Class of each row, 0 to m - 1.

    Examples
    --------
    >>> import numpy as np
    >>> joint_weights(np.array([1.0, 3.0]), np.array([0.5, 2.0]), np.array([1, 0]))
    array([2. , 1.5])
    """
    return class_ratio * prior_ratio[codes]


class ClassRatios:
    r"""Class-wise density ratios :math:`\beta(x|c)` of eq. 8 (Algorithm 1, step 5).

    Holds what does not change between iterations, so that an update costs little.
    """

    def __init__(self, ratio, X, codes, X_target, reselect, tell=None):
        self.ratio = ratio
        self.tell = tell
        self.n_train = len(X)
        self.vanished = set()  # classes whose estimate was nothing at all, once at least
        self.rows = [np.flatnonzero(codes == c) for c in range(codes.max() + 1)]
        # One row gives no density to compare: its ratio stays one, and the prior ratio acts alone.
        self.matchers = [
            ratio.matcher(X[rows], X_target, reselect) if len(rows) > 1 else None
            for rows in self.rows
        ]

    def __call__(self, posteriors):
        """Ratio of each training row within its class, given the test rows' posteriors."""
        beta = np.ones(self.n_train)
        for c, (rows, match) in enumerate(zip(self.rows, self.matchers, strict=True)):
            weight = posteriors[:, c]
            # With next to no test mass there is nothing to match.
            if match is not None and weight.sum() > 1e-6:
                estimate = self.ratio.check_finite(match(weight))
                if estimate.max() > _NOTHING:
                    beta[rows] = estimate
                else:
                    self.vanished.add(c)
            if self.tell is not None:
                self.tell(f"class {c + 1} of {len(self.rows)} matched")
        return beta


@dataclass
class _State:
    """One iteration: the weights, the model they gave, and what it says of the test rows."""

    weights: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    model: BaseEstimator
    posteriors: np.ndarray | None  # None without a target


class _Progress:
    """A line for each step of a long fit; the first iteration, which chooses widths, is slower."""

    def __init__(self, steps, max_iter, verbose):
        self.first, self.all = steps + 1, steps * max_iter + 1
        self.verbose, self.times = verbose, [perf_counter()]

    def __call__(self, what):
        self.times.append(perf_counter())
        done, spent = len(self.times) - 1, self.times[-1] - self.times[0]
        if done <= self.first:
            left = spent / done * (self.first - done)
            end = f"about {left:.1f} s left of the first iteration"
        else:
            pace = (self.times[-1] - self.times[self.first]) / (done - self.first)
            end = f"at most {pace * (self.all - done):.1f} s left"
        if self.verbose:
            print(f"[ddr] {what}: {spent:.1f} s, {end}", flush=True)


def _estimator_has(method):
    """Whether the fitted learner, or the one to be fitted, has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator or GaussianNB()), method)


class DDRClassifier(ClassifierMixin, BaseEstimator):
    r"""Classifier that adapts to an unlabelled target sample by class-wise density ratios.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier whose ``fit`` takes ``sample_weight`` and that has
        ``predict_proba``, or a ``Pipeline`` whose last step is one: that step gets the weights.
        None means ``GaussianNB()``.
    ratio : density-ratio estimator, default=None
        ``ULSIF``, ``KLIEP``, ``KMM`` or ``KDERatio``. None means ``ULSIF()``.
    normalization : {"posterior", "literal"}, default="posterior"
        Divide the soft moments by the sum of the posteriors, or by the number of test rows as
        printed in eq. 14, which counts the test prior twice (also where ``scale="class"`` has
        brought each class's ratio to mean one before). Only :math:`\beta` is rescaled: the
        ratio's width and regularisation are chosen by the normalised score either way.
    prior : {"soft", "hard"}, default="soft"
        Estimate the test prior by mean posteriors or by counts of predicted classes.
    matching : {"soft", "hard"}, default="soft"
        Give each test row to every class by its posterior, or to the predicted class alone. The
        latter is the ablation of the paper's soft matching.
    components : {"both", "class_ratio", "prior_ratio"}, default="both"
        Use :math:`\beta\gamma`, :math:`\beta` alone or :math:`\gamma` alone.
    scale : {"total", "class", "none"}, default="total"
        Bring the weights to mean one over all rows; or each class's ratio to mean one within its
        class, so that the prior ratio alone decides how much a class weighs; or leave them.
    stopping : {"drop", "max", "weights", "fixed"}, default="drop"
        Stop at the first fall of mutual information and keep the model before it; run ``max_iter``
        iterations and keep the one of largest mutual information; stop when the weights change by
        less than ``tol`` (relative norm); or keep the last of ``max_iter`` iterations.
    information_prior : {"target", "train"}, default="target"
        The class prior in the mutual information (eq. 16 leaves it open): the mean posterior of
        the target rows, or the class frequencies of the training rows.
    min_iter : {0, 1}, default=1
        The earliest iteration that may be kept: 0 allows the unweighted model to win.
    max_iter : int, default=10
        Largest number of reweightings.
    tol : float, default=1e-3
        For ``stopping="weights"``.
    reselect : bool, default=False
        Whether the ratio's width and regularisation are chosen in each iteration, or only in the
        first. The latter is much cheaper, and makes mutual informations comparable.
    significance : float or None, default=0.01
        Where a classifier cannot tell source from target at this level, nothing is taken to have
        shifted: the weights stay one, and ``n_iter_`` is 0. None runs Algorithm 1 in any case, as
        the paper does.
    keep_posteriors : bool, default=False
        Store the target's posteriors of every iteration in ``history_``.
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
        ``effective_sample_size``, ``weight_change`` (relative norm; NaN at iteration 0) and, on
        request, ``posteriors``.
    n_features_in_ : int

    See Also
    --------
    ddr_weights : the weights alone, for other learners.

    Notes
    -----
    ``fit(X, y)`` without a target means no shift: the plain estimator, with weights of one, and a
    warning that says so. The target's labels are never needed.

    DataFrames reach the learner as they are given. In a ``Pipeline`` the steps before this
    classifier must transform the target too: ``sklearn.set_config(enable_metadata_routing=True)``
    and ``make_pipeline(..., transform_input=["X_target"])`` see to it; anything else is refused.

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

    # A pipeline hands on the target without being asked to.
    __metadata_request__fit = {"X_target": True, "y_target": True}  # noqa: RUF012

    def __init__(
        self,
        estimator=None,
        ratio=None,
        *,
        normalization="posterior",
        prior="soft",
        matching="soft",
        components="both",
        scale="total",
        stopping="drop",
        information_prior="target",
        min_iter=1,
        max_iter=10,
        tol=1e-3,
        reselect=False,
        significance=0.01,
        keep_posteriors=False,
        ratio_transform=None,
        verbose=False,
        random_state=None,
    ):
        self.estimator = estimator
        self.ratio = ratio
        self.normalization = normalization
        self.prior = prior
        self.matching = matching
        self.components = components
        self.scale = scale
        self.stopping = stopping
        self.information_prior = information_prior
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.tol = tol
        self.reselect = reselect
        self.significance = significance
        self.keep_posteriors = keep_posteriors
        self.ratio_transform = ratio_transform
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y, X_target=None, *, sample_weight=None, y_target=None):
        """Learn from labelled training rows for an unlabelled target sample.

        Parameters
        ----------
        X : array-like of shape (n_train, d)
        y : array-like of shape (n_train,)
        X_target : array-like of shape (n_test, d), default=None
            Unlabelled rows of the target distribution. None means no shift. Within a
            cross-validation, give a tuple of one, ``(X_target,)``: scikit-learn cuts an array that
            is as long as X into folds, which is refused here.
        sample_weight : array-like of shape (n_train,), default=None
            What each training row costs: the learner gets its product with ``weights_``. The
            ratio and the class frequencies count every row once.
        y_target : array-like of shape (n_test,), default=None
            Labels of the target rows, where some are known: the posterior of such a row is its
            label. NaN or None, and -1 where that is no class of y, mean unknown.
        """
        check_given(X, "X")
        self._check_parameters()
        learner, ratio = self._parts()
        data = self._check_training(learner, X, y, sample_weight)
        if X_target is not None:
            self._check_target(data, X_target, y_target)
        matches = 0 if self.components == "prior_ratio" else len(self.classes_)
        tell = _Progress(matches + 1, self.max_iter, self.verbose)
        ones = np.ones(len(data.y))
        state = self._learn(learner, data, ones, ones, np.ones(len(self.classes_)))
        self.initial_estimator_ = state.model
        tell("unweighted model learned")
        if X_target is None:
            warnings.warn(
                "X_target was not given: this is the plain estimator, with weights of one",
                UserWarning,
                stacklevel=2,
            )
            self._keep(state, 1, [])
            return self
        rows = rows_for_ratio(data, self.ratio_transform, state.model)
        if not self._shifted(*rows):
            self._keep(state, 0, [self._record(state)])
            return self
        vanished = self._adapt(state, learner, ratio, data, rows, tell)
        self._warn(rows, vanished)
        return self

    def _warn(self, rows, vanished):
        """Tell the caller of ``fit`` why the weights, or the model, may not be trusted."""
        if vanished:
            warnings.warn(
                f"the ratio vanishes at every row of class {self.classes_[min(vanished)]} and "
                "counts as one there: training and test samples hardly overlap at this width",
                OverlapWarning,
                stacklevel=3,
            )
        elif warn_of_overlap(*rows, self.weights_, stacklevel=3):
            return
        elif self.agreement_ < LOW_AGREEMENT:
            warnings.warn(
                f"the adapted model contradicts the unadapted one on {1 - self.agreement_:.0%} of "
                "the target rows, which more often harms than helps: see ddr.shift_report",
                AgreementWarning,
                stacklevel=3,
            )

    def _check_training(self, learner, X, y, sample_weight):
        """Check the training sample, and note its classes."""
        self._table = hasattr(X, "columns")  # DataFrames go to the learner as they are
        self._finite = "allow-nan" if takes_nan(learner) else True
        if self._table:
            validate_data(self, X, skip_check_array=True)
            y, _ = check_labelled(self, X, y, None)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=self._finite)
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y must have at least 2 classes to tell apart, "
                f"got one class, {self.classes_.tolist()[0]!r}"
            )
        self._train_prior = np.bincount(codes) / len(codes)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, len(y))
        return Samples(X, y, codes, sample_weight)

    def _check_target(self, data, X_target, y_target):
        """Add the target sample to the data."""
        X_target = check_target(X_target, len(data.y))
        if self._table:
            validate_data(self, X_target, reset=False, skip_check_array=True)
        else:
            check_magnitude(data.X, "X")
            X_target = check_rows(self, X_target, "X_target", ensure_all_finite=self._finite)
        data.X_target = X_target
        if y_target is not None:
            y_target = whole(y_target, "y_target", len(data.y), ndim=1)
            data.target_codes = label_codes(y_target, self.classes_, len(X_target))

    def _shifted(self, X, X_target):
        """Whether the two samples differ, as far as a classifier can tell."""
        if self.significance is None or min(len(X), len(X_target)) < FEWEST_ROWS:
            return True
        from ddr.guard.apart import tell_apart  # here, so that importing DDRClassifier stays quick

        return tell_apart(X, X_target)[1] <= self.significance

    def _check_parameters(self):
        check_choice(self.normalization, "normalization", ("posterior", "literal"))
        check_choice(self.prior, "prior", ("soft", "hard"))
        check_choice(self.matching, "matching", ("soft", "hard"))
        check_choice(self.information_prior, "information_prior", ("target", "train"))
        check_choice(self.components, "components", ("both", "class_ratio", "prior_ratio"))
        check_choice(self.scale, "scale", ("total", "class", "none"))
        check_choice(self.stopping, "stopping", ("drop", "max", "weights", "fixed"))
        check_choice(self.min_iter, "min_iter", (0, 1))
        check_count(self.max_iter, "max_iter")
        check_positive(self.tol, "tol")
        if self.significance is not None and check_positive(self.significance, "significance") > 1:
            raise ValueError(f"significance must be at most 1, got {self.significance!r}")

    def _parts(self):
        """Clones of learner and ratio, seeded."""
        rng = check_random_state(self.random_state)
        learner = GaussianNB() if self.estimator is None else self.estimator
        ratio = ULSIF() if self.ratio is None else self.ratio
        if isinstance(learner, type) or not hasattr(learner, "fit"):
            raise TypeError(f"estimator must be a classifier like GaussianNB(), got {learner!r}")
        if not hasattr(learner, "predict_proba"):
            raise TypeError(f"estimator must have predict_proba, got {learner!r}")
        if weight_parameter(learner) is None:
            raise TypeError(f"estimator must accept sample_weight in fit, got {learner!r}")
        if not isinstance(ratio, DensityRatio):
            raise TypeError(
                f"ratio must be a density-ratio estimator of ddr like ULSIF(), got {ratio!r}"
            )
        learner, ratio = clone(learner), clone(ratio)
        for part in (learner, ratio):
            seeds = {
                name: rng.randint(2**31 - 1)
                for name, value in sorted(part.get_params().items())
                if value is None and (name == "random_state" or name.endswith("__random_state"))
            }
            part.set_params(**seeds)
        return learner, ratio

    def _learn(self, learner, data, weights, beta, gamma):
        """Steps 3 and 4 of Algorithm 1: a model of the weighted rows, and its posteriors."""
        cost = weights if data.sample_weight is None else weights * data.sample_weight
        model = fit_weighted(learner, data.X, data.y, cost)
        if data.X_target is None:
            return _State(weights, beta, gamma, model, None)
        posteriors = model.predict_proba(data.X_target)
        if not np.all(np.isfinite(posteriors)):
            raise ValueError(
                f"estimator must give finite posteriors, got NaN from {learner!r}: "
                "check the scale of X and for columns that do not vary"
            )
        if data.target_codes is not None:
            known = data.target_codes >= 0
            posteriors[known] = np.eye(len(self.classes_))[data.target_codes[known]]
        return _State(weights, beta, gamma, model, posteriors)

    def _weights(self, beta, gamma, shares, codes):
        """Step 7 of Algorithm 1, with the options of this class."""
        if self.scale == "class":
            means = np.bincount(codes, weights=beta) / np.bincount(codes)
            beta = beta / means[codes]
        if self.normalization == "literal":
            # Eq. 14 divides by all test rows: the class-wise ratio shrinks by the class's share.
            beta = beta * shares.mean(axis=0)[codes]
        weights = {
            "both": joint_weights(beta, gamma, codes),
            "class_ratio": beta,
            "prior_ratio": gamma[codes],
        }[self.components]
        return weights if self.scale == "none" else weights / weights.mean()

    def _adapt(self, state, learner, ratio, data, rows, tell):
        """Algorithm 1; returns the classes whose ratio vanished on the way."""
        class_ratios = None
        if self.components != "prior_ratio":
            class_ratios = ClassRatios(ratio, rows[0], data.codes, rows[1], self.reselect, tell)
        states, history = [state], [self._record(state)]
        while not self._finished(history):
            shares = state.posteriors
            if self.matching == "hard":
                shares = np.eye(shares.shape[1])[shares.argmax(axis=1)]
            gamma = prior_ratio(state.posteriors, self._train_prior, self.prior)
            beta = np.ones(len(data.y)) if class_ratios is None else class_ratios(shares)
            weights = self._weights(beta, gamma, shares, data.codes)
            last, state = state, self._learn(learner, data, weights, beta, gamma)
            tell(f"iteration {len(states)} of at most {self.max_iter} learned")
            states.append(state)
            history.append(self._record(state, last))
        kept = self._best(history)
        self._keep(states[kept], kept, history)
        said = [state.posteriors.argmax(axis=1) for state in (states[0], states[kept])]
        self.agreement_ = float(np.mean(said[0] == said[1]))
        return set() if class_ratios is None else class_ratios.vanished

    def _finished(self, history):
        t = len(history) - 1
        if t >= self.max_iter:
            return True
        if self.stopping == "drop" and t > self.min_iter:
            return history[t]["mutual_information"] < history[t - 1]["mutual_information"]
        return self.stopping == "weights" and history[t]["weight_change"] < self.tol

    def _best(self, history):
        if self.stopping in ("weights", "fixed"):
            return len(history) - 1
        information = np.array([record["mutual_information"] for record in history])
        information[: self.min_iter] = -np.inf
        # Stopped at the first fall, the largest value is the one before it.
        return int(np.argmax(information))

    def _record(self, state, last=None):
        prior = None if self.information_prior == "target" else self._train_prior
        change = np.nan
        if last is not None:
            change = np.linalg.norm(state.weights - last.weights) / np.linalg.norm(last.weights)
        record = {
            "mutual_information": mutual_information(state.posteriors, prior),
            "prior_ratio": state.gamma,
            "effective_sample_size": effective_sample_size(state.weights),
            "weight_change": float(change),
        }
        if self.keep_posteriors:
            record["posteriors"] = state.posteriors
        return record

    def _keep(self, state, n_iter, history):
        self.weights_, self.estimator_ = state.weights, state.model
        self.class_ratio_, self.prior_ratio_ = state.beta, state.gamma
        self.n_iter_, self.history_, self.agreement_ = n_iter, history, 1.0

    def _ask(self, method, X):
        """What the learner says of new rows."""
        check_is_fitted(self)
        options = {"dtype": np.float64, "ensure_all_finite": self._finite}
        if self._table and hasattr(X, "columns"):
            options = {"skip_check_array": True}
        return getattr(self.estimator_, method)(validate_data(self, X, reset=False, **options))

    def predict(self, X):
        """Predicted class of each row."""
        return self._ask("predict", X)

    def predict_proba(self, X):
        """Class probabilities of each row, shape (n, m)."""
        return self._ask("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X):
        """Logarithms of the class probabilities, where the learner has them."""
        return self._ask("predict_log_proba", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X):
        """Decision values, where the learner has them."""
        return self._ask("decision_function", X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags


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
        Non-negative, of mean one (unless ``scale="none"``).

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
