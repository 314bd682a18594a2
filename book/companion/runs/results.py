"""The stored runs of every experiment and protocol as one tidy table."""

import json
from pathlib import Path

import pandas as pd

from companion.paths import BOOK
from companion.runs.store import Store, file_stem

__all__ = ["published_results"]

_COLUMNS = ["experiment", "protocol", "case", "method", "seed", "accuracy"]


def published_results(folder=None):
    """Read all stores of a folder."""
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
