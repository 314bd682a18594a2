"""Checks of arguments that several modules share; each raises one sentence that names its argument.

The sentence reads ``NAME must be ..., got VALUE``, whichever estimator was called.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data


def check_positive(value, name):
    """Return ``value`` as a float if it is a positive finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def check_count(value, name, minimum=1):
    """Return ``value`` as an int of at least ``minimum``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return int(value)


def check_choice(value, name, choices):
    """Return ``value`` if it is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_grid(value, name, default=None):
    """Candidates for a positive parameter: one number, several, or None for ``default``."""
    candidates = np.atleast_1d(default if value is None else value).tolist()
    if not candidates:
        raise ValueError(f"{name} must be a positive number or a list of them, got an empty list")
    return np.array([check_positive(candidate, name) for candidate in candidates])


def check_given(X, name):
    """Refuse a sample of None by its name."""
    if X is None:
        raise ValueError(f"{name} must hold the rows of a sample, got None")


def check_rows(estimator, X, name, **options):
    """Return a sample that an estimator is fitted to; the first sets its columns (``reset``)."""
    check_given(X, name)
    try:
        return validate_data(estimator, X, **{"dtype": np.float64, "reset": False} | options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} is no sample for this estimator: {error}") from None


def check_new_rows(estimator, X):
    """Return rows for a fitted estimator to judge, with the columns that it knows."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, reset=False, dtype=np.float64)


def check_weights(weight, n_rows, name="sample_weight"):
    """Return the weights of so many rows, finite, non-negative, not all zero; None means ones."""
    if weight is None:
        return np.ones(n_rows)
    weight = check_array(weight, dtype=np.float64, ensure_2d=False, input_name=name)
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one per row, got {weight.shape}")
    low, high = weight.min(), weight.max()
    if low < 0 or high == 0:
        raise ValueError(f"{name} must be non-negative and not all zero, got {low:g} to {high:g}")
    return weight
