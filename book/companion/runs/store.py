"""The store of a sweep: one SQLite file, one transaction a run.

A *run* is one (case, seed) of an experiment under a protocol; it gives one row for each method.
A kill loses nothing but the run under way. What is worth keeping goes from here to `book/results`
by `companion.runs.published.publish`.
"""

import hashlib
import json
import logging
import math
import numbers
import re
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

VALUES = ("accuracy", "n_iter", "mutual_information", "prior_ratio", "ess", "seconds")
#: What the responses of a search have besides: the risk in cross-validation.
RISKS = ("risk",)
COLUMNS = ("experiment", "protocol", "case", "seed", "method", *VALUES)
_NUMBERS = (*VALUES, *RISKS)
_QUOTED = ", ".join(f'"{column}"' for column in (*COLUMNS, *RISKS))  # case is a word of SQL
_SCHEMA = f"""
BEGIN;
CREATE TABLE IF NOT EXISTS protocols (
    experiment TEXT, protocol TEXT, sha256 TEXT NOT NULL, parameters TEXT NOT NULL,
    PRIMARY KEY (experiment, protocol));
CREATE TABLE IF NOT EXISTS runs (
    experiment TEXT, protocol TEXT, sha256 TEXT, "case" TEXT, seed INTEGER, method TEXT,
    position INTEGER NOT NULL, {", ".join(f"{value} REAL" for value in _NUMBERS)},
    PRIMARY KEY (experiment, protocol, sha256, "case", seed, method));
COMMIT;
"""
_BUSY_SECONDS = 30
_ENDINGS = [".damaged", *(f".damaged-{i}" for i in range(1, 1000))]
_log = logging.getLogger(__name__)


class StoreError(Exception):
    """The store cannot be used as asked; the message says why in one sentence."""

    exit_code = 1  # of the command


class ParameterMismatchError(StoreError):
    """The store holds runs of other parameters."""


class StoreBusyError(StoreError):
    """Another sweep is writing to the store."""


class Task(NamedTuple):
    """What names a run within one experiment and protocol."""

    case: str
    seed: int

    def __str__(self):
        return f"{self.case} seed {self.seed}"


def canonical_json(parameters):
    """Write a parameter set in the one way in which its SHA-256 is taken."""
    form = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    try:
        return json.dumps(parameters, allow_nan=False, **form)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "parameters must hold only strings, finite numbers, booleans, None, "
            f"lists and dicts, but: {error}"
        ) from None


def parameters_hash(parameters):
    """Identify a parameter set."""
    return hashlib.sha256(canonical_json(parameters).encode()).hexdigest()


def differences(there, here):
    """Say which parameters differ between two sets; nothing if none does."""
    form = {"sort_keys": True, "ensure_ascii": False}
    texts = [{name: json.dumps(p[name], **form) for name in p} for p in (there, here)]
    pairs = [(name, *(t.get(name, "absent") for t in texts)) for name in sorted({*there, *here})]
    return "; ".join(f"{name}: {a} there, {b} here" for name, a, b in pairs if a != b)


def natural_order(case):
    """Order cases as people do: 200 before 1000."""
    return [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", case)]


class Store:
    """The runs of one experiment under one protocol and parameter set, in a file of many."""

    def __init__(self, path, experiment, protocol, parameters):
        self.path = Path(path)
        self.parameters = json.loads(canonical_json(parameters))
        self._key = (experiment, protocol, parameters_hash(parameters))
        self._connection = None

    def rows(self):
        """Read the rows of all runs."""
        rows = sorted(self._runs(_QUOTED), key=lambda row: natural_order(row[2]))
        table = pd.DataFrame(rows, columns=[*COLUMNS, *RISKS])
        table = table.astype(dict.fromkeys(_NUMBERS, float))
        return table if table[list(RISKS)].notna().any(axis=None) else table[list(COLUMNS)]

    def done(self):
        """Tell which tasks have a run in the store."""
        return {Task(*row) for row in self._runs('"case", seed')}

    def _runs(self, columns):
        query = (
            f"SELECT {columns} FROM runs WHERE (experiment, protocol, sha256) = (?, ?, ?) "
            'ORDER BY "case", seed, position'
        )
        return _read(self.path, query, self._key)

    @contextmanager
    def writing(self, wait=False):
        """Keep other writers out, and open the file for `append`."""
        with _locked(self.path, wait), closing(_open_or_set_aside(self.path)) as connection:
            there = protocols_in(self.path).get(self._key[:2], self.parameters)
            different = differences(there, self.parameters)
            if different:
                raise ParameterMismatchError(
                    f"{self.path.name} holds runs of {' '.join(self._key[:2])} with other "
                    f"parameters ({different}); use another protocol name or store"
                )
            self._connection = connection
            try:
                yield self
            finally:
                self._connection = None

    def append(self, task, rows):
        """Store the rows of one run: all of them or none."""
        if self._connection is None:
            raise StoreError("append must be called inside `with store.writing()`")
        table = checked(rows)
        key = (*self._key, *task)
        marks = ", ".join("?" * (len(COLUMNS) + len(RISKS) + 2))
        about = (*self._key, canonical_json(self.parameters))
        try:
            with self._connection:
                self._connection.execute("INSERT OR IGNORE INTO protocols VALUES (?,?,?,?)", about)
                self._connection.executemany(
                    f"INSERT INTO runs VALUES ({marks})",
                    [(*key, method, i, *values) for i, (method, *values) in enumerate(table)],
                )
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be written: {error}") from None


def _read(path, query, values=()):
    if not path.exists():
        return []
    try:
        with closing(_connect(path)) as connection:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                return []  # its maker was killed before anything was in it
            return connection.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read as a store of runs: {error}") from None


def protocols_in(path):
    """Read the parameters of every (experiment, protocol) of which a file holds runs."""
    found = _read(path, "SELECT experiment, protocol, parameters FROM protocols ORDER BY 1, 2")
    return {(experiment, protocol): json.loads(text) for experiment, protocol, text in found}


def set_aside_if_damaged(path):
    """Rename a file that cannot be read as a store, before anybody asks what it holds."""
    with _locked(path):
        _open_or_set_aside(path).close()


def remove_runs(path, names):
    """Forget the runs of every (experiment, protocol) that is named, under any parameters."""
    with _locked(path), closing(_open_or_set_aside(path)) as connection, connection:
        for table in ("runs", "protocols"):
            query = f"DELETE FROM {table} WHERE (experiment, protocol) = (?, ?)"
            connection.executemany(query, names)


def checked(rows):
    """Give the rows of a run as they are stored, or say what is wrong with them."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(f"a run must give a list of dicts, got {rows!r:.80}")
    methods = [row.get("method") for row in rows]
    if not methods or len(set(methods)) < len(rows) or not all(isinstance(m, str) for m in methods):
        raise ValueError(f"a run must give one row for each of its methods, got {methods}")
    further = {column for row in rows for column in row} - {"method", *_NUMBERS}
    if further:
        known = ", ".join(("method", *VALUES))
        raise ValueError(f"a row may have {known}, got {', '.join(sorted(further))}")
    return [[row["method"], *(_number(name, row.get(name)) for name in _NUMBERS)] for row in rows]


def _number(column, value):
    """Round what nobody reads to the last digit; None stands for a value that is not there."""
    if value is None or (isinstance(value, numbers.Real) and math.isnan(value)):
        return None
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise TypeError(f"{column} must be a number, got {value!r}")
    if column == "accuracy":
        return float(value)
    return round(float(value), 3) if column == "seconds" else float(f"{value:.10g}")


@contextmanager
def _locked(path, wait=False):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{path}.lock").acquire(timeout=-1 if wait else 0)
    except Timeout:
        raise StoreBusyError(
            f"another sweep is writing to {path.name}: let it end, or choose another store"
        ) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None
    with lock:
        yield


def _connect(path):
    return sqlite3.connect(path, timeout=_BUSY_SECONDS)


def _open_or_set_aside(path):
    """Open a store for writing; what cannot be one is renamed, named and never overwritten."""
    if path.exists() and not _is_store(path):
        ending = next(e for e in _ENDINGS if not path.with_name(path.name + e).exists())
        # A journal left behind would be played into the new file.
        for part in ("", "-journal", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + part).rename(f"{path}{ending}{part}")
        _log.warning(
            "%s cannot be read as a store of runs; it is kept as %s", path.name, path.name + ending
        )
    try:
        connection = _connect(path)
        connection.executescript(_SCHEMA)
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be written: {error}") from None
    return connection


def _is_store(path):
    """Tell whether a file is one of ours and whole; an empty one, as a kill may leave, is."""
    try:
        with closing(_connect(path)) as connection:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                connection.execute(f"SELECT sha256, position, {_QUOTED} FROM runs LIMIT 0")
                connection.execute("SELECT sha256, parameters FROM protocols LIMIT 0")
            return connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
            raise StoreError(f"{path} cannot be opened: {error}") from None
        return False
