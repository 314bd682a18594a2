"""The stored runs of every experiment and protocol as one tidy table."""

import json
from pathlib import Path

import pandas as pd

from ddr.paper import BOOK
from ddr.store import Store, file_stem

__all__ = ["published_results"]

_COLUMNS = ["experiment", "protocol", "case", "method", "seed", "accuracy"]


def published_results(folder=None):
    """Read all stores of a folder.

    Parameters
    ----------
    folder : path-like, optional
        By default ``book/results``.

    Returns
    -------
    pandas.DataFrame
        One row per run and method, all experiments and protocols below each other; without any
        store an empty table with the columns that every comparison needs.

    Notes
    -----
    Each store is read with the parameters that its own side file names, so rows that fail their
    checksum are left out exactly as in a sweep.
    """
    folder = Path(folder or BOOK / "results")
    tables = []
    for side in sorted(folder.glob("*.json")):
        content = json.loads(side.read_text(encoding="utf-8"))
        names = (content["experiment"], content["protocol"])
        if side.stem == file_stem(*names):
            tables.append(Store(folder, *names, content["parameters"]).rows())
    tables = [table for table in tables if not table.empty]
    if not tables:
        return pd.DataFrame(columns=_COLUMNS)
    return pd.concat(tables, ignore_index=True)
