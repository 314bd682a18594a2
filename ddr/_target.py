"""The target sample on its way into ``fit``: whole, and transformed as the training rows are.

scikit-learn knows one sample. A ``Pipeline`` transforms X and hands a second sample on as it is;
cross-validation cuts whatever is as long as X into its folds. Neither says so, and the rows alone
do not show it, so both are recognised by who is calling.
"""

import sys
import warnings

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples


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


def warn_of_scale(X, X_target, stacklevel=2):
    """Warn where the columns of X were standardised, and those of X_target, it seems, were not."""
    if len(X_target) < 2 or np.abs(X.mean(axis=0)).max() > 1e-6:
        return
    spread = np.sqrt(np.einsum("ij,ij->j", X, X) / len(X))
    varied = spread > 0
    if not varied.any() or np.abs(spread[varied] - 1).max() > 1e-6:
        return
    center, spread = np.abs(X_target.mean(axis=0))[varied], X_target.std(axis=0)[varied]
    if np.mean((center > 10) | (spread > 10) | (spread < 0.1)) >= 0.5:
        warnings.warn(
            "X_target seems to be unscaled: the columns of X have mean 0 and deviation 1, most of "
            "X_target lie far off; transform both samples by what was fitted to X",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


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
    known = np.array([not (label in unknown or label != label) for label in labels], dtype=bool)
    strange = [label for label in labels[known] if label not in code]
    if strange:
        raise ValueError(
            f"y_target must hold classes of y, or {' or '.join(map(str, unknown))} or NaN where "
            f"the label is unknown, got {strange[0]!r}"
        )
    codes = np.full(n_target, -1)
    codes[known] = [code[label] for label in labels[known]]
    return codes
