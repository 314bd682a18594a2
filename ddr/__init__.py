"""Discriminative density-ratio estimation, after Miao, Farahat and Kamel.

Names are imported on first use, so that ``import ddr`` stays quick.

Examples
--------
>>> import ddr
>>> sorted(name for name in ddr.__all__ if name.endswith("Classifier"))
['DDRClassifier']
"""

from importlib import import_module

from ddr._version import __version__

_HOME = {
    "DDRClassifier": "discriminative",
    "ddr_weights": "discriminative",
    "ULSIF": "ulsif",
    "KLIEP": "kliep",
    "KMM": "kmm",
    "KDERatio": "kde",
    "OverlapWarning": "ratio",
    "IWLSPC": "iwlspc",
    "IWLSPCCV": "iwlspc",
    "LinearSVMWithPosteriors": "svm",
    "LinearSVMWithPosteriorsCV": "svm",
    "IWSearchCV": "validation",
    "importance_weighted_score": "validation",
    "entropy": "information",
    "mutual_information": "information",
    "effective_sample_size": "information",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"ddr.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ddr' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
