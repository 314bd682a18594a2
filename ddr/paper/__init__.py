"""The paper's problems and learners: data, shifts, and the classifiers of its tables.

Names are imported on first use.

Examples
--------
>>> from ddr import paper
>>> paper.load("Ionosphere")
Dataset('Ionosphere', 351 x 34, 2 classes)
"""

from importlib import import_module

_NAMES = {
    "datasets": "load names digits_pair scale_to_unit_box",
    "mixture": "FixedCounts FourClusters",
    "shifts": "accuracy_gap biased_sampling cross_dataset mixture_shift ShiftedProblem",
    "choices": "algorithm_1",
    "comparison": "fit_three",
    "iwlspc": "IWLSPC IWLSPCCV",
    "svm": "LinearSVMWithPosteriors LinearSVMWithPosteriorsCV",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOME]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"ddr.paper.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ddr.paper' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
