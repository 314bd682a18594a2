"""The two samples on their way into ``fit``: whole, transformed alike, as learner and ratio need.

scikit-learn knows one sample. A ``Pipeline`` transforms X and hands a second sample on as it is;
cross-validation cuts whatever is as long as X into its folds. Neither says so, and the rows alone
do not show it, so both are recognised by who is calling.
"""

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import _num_samples

from ddr._checks import check_magnitude, check_range


@dataclass
class Samples:
    """What a fit learns from."""

    X: Any  # as the learner takes it: an array or a DataFrame
    y: np.ndarray
    codes: np.ndarray
    sample_weight: np.ndarray | None
    X_target: Any = None
    target_codes: np.ndarray | None = None  # -1 where the label is unknown


def _callers():
    """Frames of scikit-learn that led to this package, up to the first of anybody else."""
    frame = sys._getframe(1)
    for package in ("ddr", "sklearn"):
        while frame and frame.f_globals.get("__name__", "").split(".")[0] == package:
            if package == "sklearn":
                yield frame
            frame = frame.f_back


def whole(value, name, n_train, ndim):
    """Return what was given for the target, out of its tuple, unless it was cut into folds."""
    if isinstance(value, tuple) and len(value) == 1 and np.ndim(value[0]) == ndim:
        return value[0]
    # Whatever scikit-learn cuts along with X goes through this function of its own.
    cuts = "_check_method_params"
    cut = any(cuts in f.f_globals and cuts in f.f_code.co_names for f in _callers())
    if cut and np.ndim(value) and _num_samples(value) == n_train:
        raise ValueError(
            f"{name} must be a tuple of one, ({name},), within a cross-validation: an array as "
            "long as X may have been cut into folds by scikit-learn"
        )
    return value


def check_target(X_target, n_train):
    """Return the target sample if it has rows, is whole and went through the steps X did."""
    X_target = whole(X_target, "X_target", n_train, ndim=2)
    if np.ndim(X_target) == 1:
        raise ValueError(
            "X_target must hold the rows of a sample, in two dimensions, got one dimension of "
            f"length {len(X_target)}: weights are given by name, sample_weight=..."
        )
    for pipeline in (frame.f_locals.get("self") for frame in _callers()):
        if not isinstance(pipeline, Pipeline) or "X_target" in (pipeline.transform_input or ()):
            continue
        if any(step not in (None, "passthrough") for _, step in pipeline.steps[:-1]):
            raise ValueError(
                "X_target must go through the steps before the classifier as X does: put them "
                "into estimator, or let sklearn.set_config(enable_metadata_routing=True) and "
                "make the Pipeline with transform_input=['X_target']"
            )
    return X_target


def label_codes(y_target, classes, n_target):
    """Class code of each target row whose label is known, and -1 for the others."""
    labels = np.asarray(y_target, dtype=object)
    if labels.shape != (n_target,):
        raise ValueError(
            f"y_target must have one entry for each of the {n_target} rows of X_target, "
            f"got shape {labels.shape}"
        )
    code = {label: number for number, label in enumerate(classes.tolist())}
    unknown = [None] if -1 in code else [None, -1]
    codes = [-1 if x in unknown or x != x else code.get(x) for x in labels]
    if None in codes:
        raise ValueError(
            f"y_target must hold classes of y, or {' or '.join(map(str, unknown))} or NaN where "
            f"the label is unknown, got {labels[codes.index(None)]!r}"
        )
    return np.array(codes)


def takes_nan(learner):
    """Whether a learner, or a pipeline's first step, takes missing values."""
    while isinstance(learner, Pipeline):
        learner = learner.steps[0][1]
    return hasattr(learner, "__sklearn_tags__") and get_tags(learner).input_tags.allow_nan


def rows_for_ratio(data, transform, model):
    """Both samples as the ratio sees them: finite numbers, made by ``ratio_transform``."""
    rows = [data.X, data.X_target]
    if transform is None:
        while isinstance(model, Pipeline):  # as its steps leave them for the last one
            rows = [model[:-1].transform(X) for X in rows] if len(model) > 1 else rows
            model = model.steps[-1][1]
    elif not isinstance(transform, str) or transform != "passthrough":
        if isinstance(transform, (list, tuple, np.ndarray)):
            from sklearn.compose import make_column_transformer  # here, as few need it

            transform = make_column_transformer(("passthrough", list(transform)))
        if not hasattr(transform, "transform"):
            raise ValueError(
                "ratio_transform must be None, 'passthrough', a list of columns or a transformer, "
                f"got {transform!r}"
            )
        fitted = clone(transform).fit(data.X, data.y)
        rows = [fitted.transform(X) for X in rows]
    rows = [_numbers(X, name) for X, name in zip(rows, ("X", "X_target"), strict=True)]
    check_range(*rows)
    _warn_of_scale(*rows)
    return rows


def _numbers(X, name):
    try:
        X = check_array(X.toarray() if issparse(X) else X, dtype=np.float64, input_name=name)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"ratio_transform must make finite numbers of {name}, or name its columns that are: "
            f"{error}"
        ) from error
    return check_magnitude(X, name)


def _warn_of_scale(X, X_target):
    """Warn where the columns of X were standardised, and those of X_target, it seems, were not."""
    if len(X_target) < 2 or not np.allclose(X.mean(axis=0), 0, atol=1e-6):
        return
    varied = np.ptp(X, axis=0) > 0
    center, spread = np.abs(X_target.mean(axis=0))[varied], X_target.std(axis=0)[varied]
    off = (center > 10) | (spread > 10) | (spread < 0.1)
    squares = np.einsum("ij,ij->j", X, X)[varied] / len(X)
    if varied.any() and np.mean(off) >= 0.5 and np.allclose(squares, 1, atol=1e-6):
        warnings.warn(
            "X_target seems to be unscaled: the columns of X have mean 0 and deviation 1, most of "
            "X_target lie far off; transform both samples by what was fitted to X",
            UserWarning,
            stacklevel=5,
        )
