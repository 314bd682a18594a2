"""Checks of arguments that several modules share; each raises one sentence that names its argument.

The sentence reads ``NAME must be ..., got VALUE``, whichever estimator was called.
"""

import reprlib
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

# The square of a larger number overflows when a few are added up.
LARGEST = 1e150


def check_positive(value, name):
    """Return ``value`` as a float if it is a positive finite number, or raise one clear sentence.

    Parameters
    ----------
    value : object
    name : str
        Of the argument, for the sentence.

    Returns
    -------
    float

    Examples
    --------
    >>> check_positive(2, "sigma")
    2.0
    >>> check_positive(-1.0, "sigma")
    Traceback (most recent call last):
        ...
    ValueError: sigma must be a positive number, got -1.0
    """
    value = _plain(value)
    valid = isinstance(value, Real) and not isinstance(value, bool)
    if not valid or not np.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def _plain(value):
    """A scalar of numpy's as the number that it holds, so that it is shown as such."""
    return value.item() if getattr(value, "ndim", 1) == 0 else value


def check_count(value, name, minimum=1):
    """Return ``value`` as an int of at least ``minimum``, or raise one clear sentence.

    Parameters
    ----------
    value : object
    name : str
        Of the argument, for the sentence.
    minimum : int, default=1

    Returns
    -------
    int

    Examples
    --------
    >>> check_count(5, "n_centers")
    5
    >>> check_count(0, "n_centers")
    Traceback (most recent call last):
        ...
    ValueError: n_centers must be a whole number of at least 1, got 0
    """
    value = _plain(value)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return int(value)


def check_choice(value, name, choices):
    """Return ``value`` if it is one of ``choices``, or raise one clear sentence.

    Parameters
    ----------
    value : object
    name : str
        Of the argument, for the sentence.
    choices : tuple

    Returns
    -------
    object

    Examples
    --------
    >>> check_choice("soft", "prior", ("soft", "hard"))
    'soft'
    >>> check_choice("both", "prior", ("soft", "hard"))
    Traceback (most recent call last):
        ...
    ValueError: prior must be one of 'soft', 'hard', got 'both'
    """
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
    return value


def check_grid(value, name, default=None):
    """Candidates for a positive parameter: one number, a list of numbers, or None for ``default``.

    Parameters
    ----------
    value : float, array-like of float or None
    name : str
        Of the argument, for the sentence.
    default : array-like of float, optional
        Without it, None is refused.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> check_grid(2.0, "sigma"), check_grid([1, 3], "sigma"), check_grid(None, "sigma", [0.5])
    (array([2.]), array([1., 3.]), array([0.5]))
    """
    if value is None and default is not None:
        return np.asarray(default, dtype=float)
    candidates = [value] if np.ndim(value) == 0 else list(value)
    if not candidates:
        raise ValueError(f"{name} must be a positive number or a list of them, got an empty list")
    return np.array([check_positive(candidate, name) for candidate in candidates])


def check_magnitude(X, name):
    """Return ``X`` if the squares of its entries are finite, or raise one clear sentence.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    name : str
        Of the argument, for the sentence.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> check_magnitude(np.array([[1e200]]), "X_test")
    Traceback (most recent call last):
        ...
    ValueError: X_test must hold numbers of magnitude at most 1e+150, got 1e+200: rescale the data
    """
    largest = max(X.max(initial=0.0), -X.min(initial=0.0))
    if largest > LARGEST:
        raise ValueError(
            f"{name} must hold numbers of magnitude at most {LARGEST:g}, got {largest:g}: "
            "rescale the data"
        )
    return X


def check_rows(estimator, X, name):
    """Return a second sample with the columns that an estimator knows from its first one.

    Parameters
    ----------
    estimator : estimator
        With ``n_features_in_``, and names of columns if its first sample had them.
    X : array-like of shape (n, d)
    name : str
        Of the argument, for the sentence.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> from ddr import ULSIF
    >>> ratio = ULSIF().fit([[0.0], [1.0], [2.0]], [[0.5], [1.5]])
    >>> check_rows(ratio, [[1, 2]], "X_test")
    Traceback (most recent call last):
        ...
    ValueError: X_test has 2 features, but ULSIF is expecting 1 features as input.
    """
    validate_data(estimator, X, reset=False, skip_check_array=True, ensure_2d=False)  # the names
    X = check_array(X, dtype=np.float64, input_name=name, estimator=estimator)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return check_magnitude(X, name)


def check_numbers(values, name):
    """Return ``values`` as an array of floats, or raise one clear sentence.

    Parameters
    ----------
    values : array-like
    name : str
        Of the argument, for the sentence.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> check_numbers(["heavy", "light"], "sample_weight")
    Traceback (most recent call last):
        ...
    ValueError: sample_weight must hold numbers, got ['heavy', 'light']
    """
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {reprlib.repr(values)}") from None


def check_centers(centers, n_columns):
    """Return given kernel centres as an array with the data's columns, or raise one clear sentence.

    Parameters
    ----------
    centers : array-like of shape (b, d)
    n_columns : int
        Of the data.

    Returns
    -------
    ndarray of shape (b, d)

    Examples
    --------
    >>> check_centers([[0, 1]], n_columns=2)
    array([[0., 1.]])
    >>> check_centers([[0, 1]], n_columns=3)
    Traceback (most recent call last):
        ...
    ValueError: centers must have 3 columns like the data, got 2
    """
    centers = check_array(centers, dtype=np.float64, input_name="centers")
    if centers.shape[1] != n_columns:
        raise ValueError(
            f"centers must have {n_columns} columns like the data, got {centers.shape[1]}"
        )
    return centers


def check_weights(sample_weight, n_rows):
    """Check importance weights, one per row; ``None`` means ones.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
    n_rows : int

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> check_weights([0, 2.5], 2)
    array([0. , 2.5])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weight = check_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one value per row, shape ({n_rows},), got {weight.shape}"
        )
    if not np.all(np.isfinite(weight)):
        raise ValueError("sample_weight must be finite, got NaN or infinity")
    if np.any(weight < 0):
        raise ValueError(f"sample_weight must not be negative, got {weight.min()}")
    if weight.max() > LARGEST:
        raise ValueError(f"sample_weight must be at most {LARGEST:g}, got {weight.max():g}")
    if not np.any(weight > 0):
        raise ValueError("sample_weight must have a positive sum, got only zeros")
    return weight


def check_fit_data(classifier, X, y, sample_weight):
    """Validate what a classifier is fitted to, and set its ``classes_`` and ``n_features_in_``.

    Parameters
    ----------
    classifier : estimator
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    X : ndarray of shape (n, d)
    y_index : ndarray of shape (n,), int
        Place of each label in ``classes_``.
    weight : ndarray of shape (n,)

    Examples
    --------
    >>> from ddr import IWLSPC
    >>> model = IWLSPC()
    >>> X, y_index, weight = check_fit_data(model, [[0.0], [1.0]], ["b", "a"], None)
    >>> y_index, model.classes_.tolist()
    (array([1, 0]), ['a', 'b'])
    """
    X, y = validate_data(classifier, X, y, dtype=np.float64)
    check_magnitude(X, "X")
    check_classification_targets(y)
    weight = check_weights(sample_weight, len(y))
    classifier.classes_, y_index = np.unique(y, return_inverse=True)
    return X, y_index, weight
