"""Checks of arguments that several modules share; each raises one sentence that names its argument.

The sentence reads ``NAME must be ..., got VALUE``, whichever estimator was called.
"""

import reprlib
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


def check_positive(value, name):
    """Return ``value`` as a float if it is a positive finite number."""
    value = _plain(value)
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def _plain(value):
    """A scalar of numpy's as the number that it holds, so that it is shown as such."""
    return value.item() if getattr(value, "ndim", 1) == 0 else value


def check_count(value, name, minimum=1):
    """Return ``value`` as an int of at least ``minimum``."""
    value = _plain(value)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return int(value)


def check_choice(value, name, choices):
    """Return ``value`` if it is one of ``choices``."""
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
    return value


def check_grid(value, name, default=None):
    """Candidates for a positive parameter: one number, several, or None for ``default``."""
    if value is None and default is not None:
        return np.asarray(default, dtype=float)
    candidates = [value] if np.ndim(value) == 0 else list(value)
    if not candidates:
        raise ValueError(f"{name} must be a positive number or a list of them, got an empty list")
    return np.array([check_positive(candidate, name) for candidate in candidates])


def check_given(X, name):
    """Refuse a sample of None by its name."""
    if X is None:
        raise ValueError(f"{name} must hold the rows of a sample, got None")


def check_rows(estimator, X, name, **options):
    """Return a second sample with the columns that an estimator knows from its first one."""
    check_given(X, name)
    validate_data(estimator, X, reset=False, skip_check_array=True, ensure_2d=False)  # the names
    options = {"dtype": np.float64} | options
    X = check_array(X, input_name=name, estimator=estimator, **options)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return X


def check_new_rows(estimator, X):
    """Return rows for a fitted estimator to judge, with the columns that it knows."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, reset=False, dtype=np.float64)


def check_some_weight(weight, name):
    """Return weights as floats if they are finite, non-negative and not all zero."""
    try:
        weight = np.asarray(weight, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {reprlib.repr(weight)}") from None
    bad = weight[~(np.isfinite(weight) & (weight >= 0))]
    if len(bad):
        raise ValueError(f"{name} must be finite and non-negative, got {bad[0]:g}")
    if not np.any(weight > 0):
        raise ValueError(f"{name} must have a positive entry, got only zeros")
    return weight


def check_weights(weight, n_rows, name="sample_weight"):
    """Return the weights of so many rows, one per row; ``None`` means ones."""
    if weight is None:
        return np.ones(n_rows)
    weight = check_some_weight(weight, name)
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one per row, got {weight.shape}")
    return weight


def check_fit_data(classifier, X, y, sample_weight):
    """Validate what a classifier is fitted to, and set its ``classes_`` and ``n_features_in_``."""
    X, y = validate_data(classifier, X, y, dtype=np.float64)
    check_classification_targets(y)
    weight = check_weights(sample_weight, len(y))
    classifier.classes_, y_index = np.unique(y, return_inverse=True)
    return X, y_index, weight
