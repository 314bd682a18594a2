"""Source and target on their way into ``fit``: two samples, or one with ``sample_domain``.

scikit-learn knows one sample. skada's convention makes two of it: X holds all rows, a positive
domain marks the source and a negative one the target. Whatever transforms X or cuts it into folds
then treats both alike.
"""

import reprlib

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length

# So many rows tell where the middle of the target lies.
_MOST_ROWS = 2000


def rows_of(X, index):
    """Some rows of an array, a DataFrame or a sparse matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    return (X.tocsr() if issparse(X) else np.asarray(X))[index]


def two_samples(X, y, X_target=None, sample_domain=None, sample_weight=None):
    """X, y, target rows and weights of a fit, from either way to give them.

    Without ``sample_domain`` they are what was given. With it, X, y and the weights keep the source
    rows, and the others are the target, whose entries of y nobody looks at; None if there are none.

    Examples
    --------
    >>> two_samples([[1.0], [2.0], [7.0]], ["a", "b", "?"], sample_domain=[1, 1, -2])
    (array([[1.],
           [2.]]), array(['a', 'b'], dtype='<U1'), array([[7.]]), None)
    """
    if sample_domain is None:
        return X, y, X_target, sample_weight
    if X_target is not None:
        raise ValueError("X_target must be None where sample_domain marks the target rows of X")
    domain = np.asarray(sample_domain)
    numbers = domain.ndim == 1 and domain.dtype.kind in "iuf"
    if not numbers or not np.all(np.abs(domain) > 0) or not np.any(domain > 0):
        raise ValueError(
            "sample_domain must hold a positive number for each source row and a negative one for "
            f"each target row, with a source row at least, got {reprlib.repr(sample_domain)}"
        )
    check_consistent_length(X, y, domain, sample_weight)
    source = domain > 0
    X_target = None if source.all() else rows_of(X, ~source)
    if sample_weight is not None:
        sample_weight = rows_of(sample_weight, source)
    y = y if y is None else rows_of(y, source)
    return rows_of(X, source), y, X_target, sample_weight


def check_alike(X, X_target):
    """Refuse a target that was, it seems, not transformed as X was.

    In most columns half of its rows lie farther outside X's range than that range is wide.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    some = X_target[:: -(-len(X_target) // _MOST_ROWS)]
    outside = np.median(np.maximum(low - some, some - high), axis=0)
    varied = high > low
    off = np.count_nonzero(outside[varied] > (high - low)[varied])
    if off > varied.sum() / 2:
        raise ValueError(
            f"X_target must be transformed as X was, but lies far out of its range in {off} of "
            f"{varied.sum()} columns: let one Pipeline transform both (sample_domain), or put the "
            "steps into estimator"
        )
