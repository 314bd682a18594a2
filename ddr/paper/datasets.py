"""The eight real datasets of the paper, bundled, and the synthetic mixture.

Every file is checked against its SHA-256 when it is read. Where the files come from is written in
``ddr/paper/data/manifest.json``; ``make data`` makes them again from the sources.
"""

import hashlib
import io
import json
import re
from collections import namedtuple
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.utils import check_array

from ddr._checks import check_choice
from ddr.paper.mixture import FourClusters as FourClusters  # stands beside the real data

DATA_FOLDER = Path(__file__).parent / "data"

#: The ten rows of the paper's table on biased sampling; each is a valid name for :func:`load`.
BIASED_SAMPLING_CASES = (
    *("GermanCredit", "DelveSplice", "Ionosphere", "Australian", "BreastCancer", "Diabete"),
    *("USPS5v6", "USPS3v8", "MNIST5v6", "MNIST3v8"),
)
#: The ten pairs of digits of the paper's cross-dataset table.
CROSS_DATASET_PAIRS = tuple((digit, (digit + 1) % 10) for digit in range(10))

#: The two collections of digits.
COLLECTIONS = ("USPS", "MNIST")
_PAIR = re.compile(r"(USPS|MNIST)(\d)v(\d)")


class DataFileError(OSError):
    """A bundled data file is missing or damaged."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with labels; :func:`manifest` says where it came from.

    Attributes
    ----------
    X : array of shape (n, d)
        Features as in the source, unscaled; read-only, since it is shared between calls.
        ``float64``, except USPS (``float32``) and MNIST (``uint8``).
    y : int array of shape (n,)
        -1 and +1 for two classes, 0 to 9 for digits; read-only.
    feature_names : tuple of str, or None
        None where the source names no features.
    name : str
    labels : dict of int to str
        What each value of ``y`` means.
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple | None
    name: str
    labels: dict

    def __repr__(self):
        size, classes = " x ".join(map(str, self.X.shape)), len(self.labels)
        return f"Dataset({self.name!r}, {size}, {classes} classes)"


#: What :func:`check_files` finds: a status of "ok", "missing" or "damaged", and a size in bytes.
FileCheck = namedtuple("FileCheck", "name file status size")


@lru_cache(maxsize=1)
def manifest():
    """Provenance of the bundled files: ``archives``, and ``datasets`` by the paper's names.

    The entry of a dataset has its description, licence and citation.
    """
    return json.loads((DATA_FOLDER / "manifest.json").read_text(encoding="utf-8"))


def names():
    """Return the names of the eight datasets, as the paper writes them.

    Examples
    --------
    >>> names()[:3]
    ('GermanCredit', 'DelveSplice', 'Ionosphere')
    """
    return tuple(manifest()["datasets"])


def load(name):
    """Load a bundled dataset; a missing or damaged file raises :class:`DataFileError`.

    Parameters
    ----------
    name : str
        One of :func:`names`, or two digits of USPS or MNIST such as ``"USPS5v6"``: its rows have
        ``y`` -1 for the first digit and +1 for the second.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("Ionosphere")
    Dataset('Ionosphere', 351 x 34, 2 classes)
    >>> pair = load("USPS3v8")
    >>> pair.X.shape, pair.labels
    ((1532, 256), {-1: 'digit 3', 1: 'digit 8'})
    """
    pair = _PAIR.fullmatch(str(name))
    if not pair:
        return _load(check_choice(name, "name", (*names(), "two digits such as USPS5v6")))
    collection, (a, b) = pair[1], check_digits((int(pair[2]), int(pair[3])))
    digits = _load(collection)
    rows = (digits.y == a) | (digits.y == b)
    X, y = sealed(digits.X[rows]), sealed(np.where(digits.y[rows] == a, -1, 1))
    return replace(digits, X=X, y=y, name=name, labels={-1: f"digit {a}", 1: f"digit {b}"})


def check_digits(digits):
    """Return two different digits as a pair of ints."""
    if len(set(digits)) != 2 or not set(digits) <= set(range(10)):
        raise ValueError(f"digits must be two different digits from 0 to 9, got {digits!r}")
    return tuple(int(digit) for digit in digits)


def check_files():
    """Check every bundled file against the manifest."""
    checks = []
    for name, entry in manifest()["datasets"].items():
        content, status = _read(entry)
        checks.append(FileCheck(name, entry["file"], status, len(content)))
    return checks


def _read(entry):
    """Content of a bundled file, and whether it is "ok", "missing" or "damaged"."""
    path = DATA_FOLDER / entry["file"]
    if not path.is_file():
        return b"", "missing"
    content = path.read_bytes()
    whole = hashlib.sha256(content).hexdigest() == entry["sha256"]
    return content, "ok" if whole else "damaged"


@lru_cache
def _load(name):
    entry = manifest()["datasets"][name]
    content, status = _read(entry)
    if status != "ok":
        raise DataFileError(
            f"The data file {DATA_FOLDER / entry['file']} of {name} is {status}; restore it from "
            "git or by reinstalling the package."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        X, y = arrays["X"].astype(entry["dtype"], copy=False), arrays["y"].astype(int)
    features, labels = entry["feature_names"], {int(y): m for y, m in entry["labels"].items()}
    return Dataset(sealed(X), sealed(y), features and tuple(features), name, labels)


def sealed(array):
    """Make an array read-only, as it is shared between calls."""
    array.flags.writeable = False
    return array


def scale_to_unit_box(X):
    """Scale every column to [-1, 1] by its minimum and maximum; a constant one becomes 0.

    Parameters
    ----------
    X : array or DataFrame of shape (n, d)

    Examples
    --------
    >>> scale_to_unit_box([[1, 5], [3, 5], [2, 5]])
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 0.,  0.]])
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    low, high = X.min(axis=0), X.max(axis=0)
    constant = high == low
    width = np.where(constant, 1.0, high - low)
    return np.where(constant, 0.0, np.clip(2 * ((X - low) / width) - 1, -1, 1))
