"""The eight real datasets of the paper, bundled, and the synthetic mixture.

Every file is checked against its SHA-256 when it is read. Where the files come from is written in
``ddr/paper/data/manifest.json``; ``ddr-book data rebuild`` makes them again from the sources.
"""

import hashlib
import io
import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.utils import check_array

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
_PAIR = re.compile(r"(usps|mnist)\s*(\d)\s*vs?\s*(\d)", re.IGNORECASE)


class DataFileError(OSError):
    """A bundled data file is missing or damaged."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with labels and where it came from.

    Attributes
    ----------
    X : array of shape (n, d)
        Features as in the source, unscaled; read-only, since it is shared between calls.
        ``float64``, except USPS (``float32``) and MNIST (``uint8``).
    y : int array of shape (n,)
        -1 and +1 for two classes, 0 to 9 for digits; read-only.
    feature_names : tuple of str, or None
        None where the source names no features.
    name, description, source, licence, citation : str
    labels : dict of int to str
        What each value of ``y`` means.
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple | None
    name: str
    description: str
    source: str
    licence: str
    citation: str
    labels: dict

    def __repr__(self):
        rows, columns = self.X.shape
        return f"Dataset({self.name!r}, {rows} x {columns}, {len(self.labels)} classes)"


@dataclass(frozen=True)
class FileCheck:
    """What :func:`check_files` found: a status of "ok", "missing" or "damaged", and bytes."""

    name: str
    file: str
    status: str
    size: int


@lru_cache(maxsize=1)
def manifest():
    """Provenance of the bundled files: ``archives``, and ``datasets`` by the paper's names."""
    return json.loads((DATA_FOLDER / "manifest.json").read_text(encoding="utf-8"))


def names():
    """Return the names of the eight datasets, as the paper writes them.

    Examples
    --------
    >>> names()[:3]
    ('GermanCredit', 'DelveSplice', 'Ionosphere')
    """
    return tuple(manifest()["datasets"])


def load(name, folder=None):
    """Load a bundled dataset; a missing or damaged file raises :class:`DataFileError`.

    Parameters
    ----------
    name : str
        One of :func:`names`, in any case, or two digits of USPS or MNIST such as ``"USPS5v6"``
        (see :func:`digits_pair`).
    folder : path, optional
        Where the files are; the package's own data folder if absent.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("ionosphere")
    Dataset('Ionosphere', 351 x 34, 2 classes)
    >>> load("USPS3v8").X.shape
    (1532, 256)
    """
    if pair := _PAIR.fullmatch(str(name).strip()):
        return digits_pair(pair[1], int(pair[2]), int(pair[3]), folder=folder)
    return _load(_proper_name(name), Path(folder or DATA_FOLDER))


def digits_pair(name, a, b, folder=None):
    """Load two digits of USPS or MNIST as a two-class problem.

    Parameters
    ----------
    name : {"USPS", "MNIST"}
    a, b : int
        Two different digits; ``y`` is -1 for ``a`` and +1 for ``b``.
    folder : path, optional
        As in :func:`load`.

    Returns
    -------
    Dataset
        The rows of the two digits, in the order of the file.

    Examples
    --------
    >>> pair = digits_pair("MNIST", 5, 6)
    >>> pair.name, pair.X.shape, pair.labels
    ('MNIST5v6', (3746, 784), {-1: 'digit 5', 1: 'digit 6'})
    """
    proper = _proper_name(name)
    if proper not in COLLECTIONS:
        raise ValueError(f"name must be 'USPS' or 'MNIST', got {name!r}")
    if a == b or a not in range(10) or b not in range(10):
        raise ValueError(f"a and b must be two different digits from 0 to 9, got {a!r} and {b!r}")
    digits = _load(proper, Path(folder or DATA_FOLDER))
    rows = (digits.y == a) | (digits.y == b)
    return replace(
        digits,
        X=_sealed(digits.X[rows]),
        y=_sealed(np.where(digits.y[rows] == a, -1, 1)),
        name=f"{proper}{a}v{b}",
        description=f"Digits {a} and {b} of {proper}. {digits.description}",
        labels={-1: f"digit {a}", 1: f"digit {b}"},
    )


def check_files(folder=None):
    """Check every bundled file, or those in another folder, against the manifest."""
    checks = []
    for name, entry in manifest()["datasets"].items():
        content, status = _read(entry, Path(folder or DATA_FOLDER))
        checks.append(FileCheck(name, entry["file"], status, len(content)))
    return checks


def _read(entry, folder):
    """Content of a bundled file, and whether it is "ok", "missing" or "damaged"."""
    path = folder / entry["file"]
    if not path.is_file():
        return b"", "missing"
    content = path.read_bytes()
    whole = hashlib.sha256(content).hexdigest() == entry["sha256"]
    return content, "ok" if whole else "damaged"


def _proper_name(name):
    by_lower = {known.lower(): known for known in names()}
    if not isinstance(name, str) or name.strip().lower() not in by_lower:
        raise ValueError(
            f"name must be one of {', '.join(names())}, or two digits such as USPS5v6, got {name!r}"
        )
    return by_lower[name.strip().lower()]


@lru_cache(maxsize=16)
def _load(name, folder):
    entry = manifest()["datasets"][name]
    content, status = _read(entry, folder)
    if status != "ok":
        raise DataFileError(
            f"The data file {folder / entry['file']} of {name} is {status}; restore it by "
            "`ddr-book data rebuild --restore` or by reinstalling the package."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        X, y = arrays["X"].astype(entry["dtype"], copy=False), arrays["y"].astype(int)
    features = entry["feature_names"]
    archive = manifest()["archives"][entry["archive"]]
    origin = f"{entry['archive']} {archive['version']} ({archive['registry']})"
    return Dataset(
        X=_sealed(X),
        y=_sealed(y),
        feature_names=None if features is None else tuple(features),
        name=name,
        source=f"{origin}, {entry['member']}",
        **{key: entry[key] for key in ("description", "licence", "citation")},
        labels={int(value): meaning for value, meaning in entry["labels"].items()},
    )


def _sealed(array):
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
    scaled = np.clip(2 * ((X - low) / width) - 1, -1, 1)
    scaled[:, constant] = 0.0
    return scaled
