r"""Importance-weighted cross-validation (IWCV), for any scikit-learn classifier.

Under covariate or joint shift, plain cross-validation estimates the risk on the *training*
distribution. Weighting each held-out loss by the ratio of test to training density makes the
estimate one of the *test* risk, without a single test label.

References
----------
.. [1] M. Sugiyama, M. Krauledat and K.-R. Müller (2007). Covariate shift adaptation by importance
   weighted cross validation. Journal of Machine Learning Research 8, 985-1005.
"""

import warnings
from numbers import Integral

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ParameterGrid, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ddr._checks import check_choice, check_count, check_given, check_weights
from ddr._domains import rows_of

LOSSES = ("zero_one", "log", "squared")
# Risks closer than this are the same number summed in another order.
_TIE = 1e-12


def stratified_folds(y, n_folds=5, random_state=None):
    """Stratified folds, at most as many as the rarest class has rows: each holds every class.

    Classes of a single row, which no number of folds could put on both sides, do not lower it.
    """
    counts = np.unique(y, return_counts=True)[1]
    if counts.max() < 2:
        raise ValueError(f"cv needs a class of two rows with weight, got n_samples={len(y)}")
    n_splits = min(check_count(n_folds, "cv", minimum=2), int(counts[counts > 1].min()))
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a rare class
        return list(splitter.split(np.empty((len(y), 0)), y))


def weighted_splits(cv, X, y, weight, random_state=None):
    """Train and test rows of each fold, without the rows of weight zero."""
    if isinstance(cv, Integral):
        kept = np.flatnonzero(weight > 0)
        folds = stratified_folds(y[kept], cv, random_state)
        return [(kept[train], kept[test]) for train, test in folds]
    rows, splits = np.arange(len(y)), check_cv(cv).split(X, y)
    splits = [tuple(rows[part][weight[part] > 0] for part in split) for split in splits]
    splits = [(train, test) for train, test in splits if len(test)]
    if not splits or not all(len(train) for train, _ in splits):
        raise ValueError("cv must leave rows of positive weight to train on and to hold out")
    return splits


def posterior_loss(y_index, posterior, loss):
    """Loss of each row's posterior probabilities, of shape (n, m) or (n, n_models, m)."""
    truth = np.eye(posterior.shape[-1])[y_index]
    truth = truth if posterior.ndim == 2 else truth[:, None]
    if loss == "zero_one":
        return (posterior.argmax(axis=-1) != truth.argmax(axis=-1)).astype(float)
    if loss == "squared":
        return np.square(posterior - truth).sum(axis=-1)
    return -np.log(np.maximum((posterior * truth).sum(axis=-1), np.finfo(float).eps))


def weighted_risk(losses, weight):
    r"""Reweighted risk of held-out rows (paper, eqs. 2 and 3), of one model or of each of several.

    .. math:: \hat R = \sum_i w_i\, \ell(x_i, y_i; \theta) \Big/ \sum_i w_i

    The paper divides by n: the same for weights of mean one.

    Parameters
    ----------
    losses : ndarray of shape (n,) or (n, n_models)
    weight : ndarray of shape (n,)
        Ratio of the joint densities (eq. 2) or of the marginal ones (eq. 3) of each row.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_risk(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    np.float64(0.25)
    """
    return weight @ losses / weight.sum()


def first_best(risk):
    """Index of the first of the lowest risks; differences by rounding count as ties."""
    return int(np.argmax(np.asarray(risk) <= np.min(risk) + _TIE))


def weight_parameter(estimator):
    """Name by which an estimator's ``fit`` takes weights, or None if it takes none."""
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_parameter(last)
        return None if inner is None else f"{step}__{inner}"
    takes = hasattr(estimator, "fit") and has_fit_parameter(estimator, "sample_weight")
    return "sample_weight" if takes else None


def fit_weighted(estimator, X, y, weight):
    """Fit a clone with weights, whether or not scikit-learn's metadata routing is enabled."""
    name = weight_parameter(estimator)
    if name is None:
        raise ValueError(f"estimator must take sample_weight in fit, got {estimator!r}")
    with config_context(enable_metadata_routing=False):
        return clone(estimator).fit(X, y, **{name: weight})


def _fit(estimator, X, y, weight, X_target):
    """Fit a clone, with the target if it is given, else with the weights if they are."""
    if np.all(y == y[0]):
        # Most classifiers refuse a single class; the only answer they could give is that class.
        return DummyClassifier(strategy="most_frequent").fit(X, y)
    if X_target is not None:
        return clone(estimator).fit(X, y, X_target=X_target)
    return clone(estimator).fit(X, y) if weight is None else fit_weighted(estimator, X, y, weight)


def _risk(model, X, y, weight, classes, loss):
    """Weighted risk of a model on held-out rows."""
    if loss == "zero_one":
        return weighted_risk(model.predict(X) != y, weight)
    # A class that the fold's training rows lack keeps probability zero.
    posterior = np.zeros((len(y), len(classes)))
    posterior[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return weighted_risk(posterior_loss(np.searchsorted(classes, y), posterior, loss), weight)


def check_labels(X, y, learner):
    """Labels of X as an array, for a classifier; X stays what it is (pandas, sparse, text)."""
    if learner is not None and is_regressor(learner):
        raise ValueError(f"estimator must be a classifier, got {learner!r}")
    check_given(X, "X")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    check_classification_targets(y)
    return y


class IWSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Choose hyper-parameters of any classifier by importance-weighted cross-validation.

    Like scikit-learn's ``GridSearchCV``, but held-out losses are weighted by ``sample_weight``,
    as the fits are; ``GridSearchCV`` weights the fits only.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned for each fold. A ``Pipeline`` passes the weights to its last step (as
        ``<last step>__sample_weight``); the steps before it are fitted without weights.
    param_grid : dict or list of dict
        Values to try for each parameter, as for ``GridSearchCV``; ``{}`` scores ``estimator``.
    cv : int, splitter or iterable, default=5
        Number of stratified folds (fewer when a class is rare, see ``stratified_folds``), an
        object with scikit-learn's ``split``, or an iterable of (train, test) index arrays. All
        candidates see the same folds.
    loss : {"zero_one", "log", "squared"}, default="zero_one"
        ``"squared"`` is the Brier score; it and ``"log"`` need ``predict_proba``.
    random_state : int, RandomState or None
        Shuffles the rows when ``cv`` is a number.

    Attributes
    ----------
    best_params_ : dict
        Of equally good candidates, the first in the order of ``ParameterGrid`` (parameter names
        sorted, values as given, the last name varying fastest): list strongly regularising values
        first.
    best_score_ : float
        Weighted risk of ``best_params_``, :math:`\sum_i w_i \ell_i / \sum_i w_i` over all held-out
        rows: lower is better.
    best_index_ : int
    best_estimator_ : classifier
        Fitted on all rows of positive weight.
    cv_results_ : dict
        ``params``, ``risk`` and ``split<k>_risk`` of each candidate; ready for a pandas table.
    classes_ : ndarray of shape (m,)
    n_features_in_ : int
        Where X tells it.

    Notes
    -----
    The risk estimates that of the paper's eq. (2) with the ratio of joint densities as weights, or
    of eq. (3) with the ratio of marginal ones. Rows of weight zero are left out of everything. A
    fold whose training rows hold one class only is scored as if that class were predicted always.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=60) > 0
    >>> search = IWSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, loss="log", random_state=0)
    >>> search.fit(X, y, sample_weight=np.exp(X[:, 1])).best_params_
    {'C': 1.0}
    """

    __metadata_request__fit = {"X_target": True}  # noqa: RUF012

    def __init__(self, estimator, param_grid, cv=5, loss="zero_one", *, random_state=None):
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.loss = loss
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, X_target=None):
        """Score every candidate, then fit the best on all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
            Importance of each row, in any scale; ``None`` is plain cross-validation.
        X_target : array-like of shape (n_test, d), default=None
            For an estimator that adapts itself, like ``DDRClassifier``: every fit sees all of it,
            and the weights act on the scores only.
        """
        check_choice(self.loss, "loss", LOSSES)
        y = check_labels(X, y, self.estimator)
        weight = check_weights(sample_weight, len(y))
        validate_data(self, X, skip_check_array=True)  # notes the columns and their names
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(f"param_grid must hold a candidate, got {self.param_grid!r}")
        splits = weighted_splits(self.cv, X, y, weight, self.random_state)
        # Estimators among the values are cloned, so that candidates share nothing.
        models = [clone(self.estimator).set_params(**clone(p, safe=False)) for p in candidates]
        classes = np.unique(y)

        def fit(model, rows):
            fit_weight = None if sample_weight is None else weight[rows]
            return _fit(model, rows_of(X, rows), y[rows], fit_weight, X_target)

        def fold_risk(model, train, test):
            held_out = rows_of(X, test), y[test], weight[test]
            return _risk(fit(model, train), *held_out, classes, self.loss)

        folds = np.array([[fold_risk(model, *split) for split in splits] for model in models])
        risk = np.average(folds, axis=1, weights=[weight[test].sum() for _, test in splits])
        self.cv_results_ = {"params": candidates, "risk": risk}
        self.cv_results_ |= {f"split{k}_risk": column for k, column in enumerate(folds.T)}
        self.best_index_ = first_best(risk)
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(risk[self.best_index_])
        self.best_estimator_ = fit(models[self.best_index_], weight > 0)
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict(self, X):
        """Predict labels with the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X):
        """Posterior probabilities by the best estimator, where it has them."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
