"""Source and target on their way into ``fit``: two samples, or one with ``sample_domain``.

scikit-learn knows one sample. skada's convention makes two of it: X holds all rows, a positive
domain marks the source and a negative one the target. Whatever transforms X or cuts it into folds
then treats both alike.
"""

import reprlib

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, check_array, check_consistent_length, get_tags


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
    if domain.ndim != 1 or domain.dtype.kind not in "if" or not np.any(domain > 0) or 0 in domain:
        raise ValueError(
            "sample_domain must hold a positive number for each source row and a negative one for "
            f"each target row, with a source row at least, got {reprlib.repr(sample_domain)}"
        )
    check_consistent_length(X, y, domain, sample_weight)
    source = domain > 0
    X_target = None if source.all() else rows_of(X, ~source)
    X, y, weight = (None if Z is None else rows_of(Z, source) for Z in (X, y, sample_weight))
    return X, y, X_target, weight


def check_alike(X, X_target):
    """Refuse a target that was, it seems, not transformed as X was.

    In most columns half of its rows lie farther outside X's range than that range is wide.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    outside = np.median(np.maximum(low - X_target, X_target - high), axis=0)
    varied = high > low
    off = np.count_nonzero(outside[varied] > (high - low)[varied])
    if off > varied.sum() / 2:
        raise ValueError(
            f"X_target must be transformed as X was, but lies far out of its range in {off} of "
            f"{varied.sum()} columns: let one Pipeline transform both (sample_domain), or put the "
            "steps into estimator"
        )


def known_posteriors(y_target, classes, n_target):
    """Zeros and ones for the target rows whose label is known, NaN for the others."""
    if y_target is None:
        return None
    labels = np.asarray(y_target, dtype=object)
    if labels.shape != (n_target,):
        raise ValueError(f"y_target must have shape ({n_target},), one a row, got {labels.shape}")
    known = (labels[:, None] == classes).astype(float)
    unknown = ~known.any(axis=1)
    for label in labels[unknown]:
        if label is not None and label == label and label != -1:
            raise ValueError(f"y_target must hold classes of y, or None, NaN or -1, got {label!r}")
    known[unknown] = np.nan
    return known


def first_step(learner):
    """What kinds of input a learner, or a pipeline's first step, takes: scikit-learn's tags."""
    while isinstance(learner, Pipeline):
        learner = learner.steps[0][1]
    return get_tags(learner).input_tags if hasattr(learner, "__sklearn_tags__") else InputTags()


def rows_for_ratio(X, y, X_target, transform, model):
    """Both samples as the ratio sees them: finite numbers, made by ``ratio_transform``."""
    rows = [X, X_target]
    if transform is None:
        while isinstance(model, Pipeline):  # as its steps leave them for the last one
            rows = [model[:-1].transform(Z) for Z in rows] if len(model) > 1 else rows
            model = model.steps[-1][1]
    elif not isinstance(transform, str) or transform != "passthrough":
        if isinstance(transform, list):
            from sklearn.compose import make_column_transformer  # here, as few need it

            transform = make_column_transformer(("passthrough", transform))
        fitted = clone(transform).fit(X, y)
        rows = [fitted.transform(Z) for Z in rows]
    try:
        return [check_array(Z.toarray() if issparse(Z) else Z, dtype=np.float64) for Z in rows]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"ratio_transform must make finite numbers of X, or name its columns that are: {error}"
        ) from error
