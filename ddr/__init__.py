"""Discriminative density-ratio estimation, after Miao, Farahat and Kamel.

Names are imported on first use, so that ``import ddr`` stays quick.

Examples
--------
>>> import ddr
>>> sorted(name for name in ddr.__all__ if name.endswith("Classifier"))
['DDRClassifier', 'GuardedDDRClassifier']
"""

from importlib import import_module

from ddr._version import __version__

_NAMES = {
    "classifier": "DDRClassifier ddr_weights",
    "guard": "GuardedDDRClassifier shift_report",
    "ulsif": "ULSIF",
    "kliep": "KLIEP",
    "kmm": "KMM",
    "kde": "KDERatio",
    "algorithm": "rounds until_drop",
    "ratio": "ConstantRatio OverlapWarning AgreementWarning",
    "iwcv": "IWSearchCV",
    "information": "entropy mutual_information effective_sample_size",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"ddr.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ddr' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
