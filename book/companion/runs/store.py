"""The results store: one CSV file of runs for each experiment, protocol and parameter set.

A *run* is one (case, seed) of an experiment; it gives one row per method. The store keeps

``biased-matched.csv``
    the rows. While a sweep goes on it is an append-only journal; when the sweep ends it is put
    into canonical order: by case, then seed, then method in the order in which the run gave them.
``biased-matched.json``
    what the rows are: experiment, protocol, columns, the full parameter set and its SHA-256.
"""

import hashlib
import json
import logging
import os
import re
import tempfile
import zlib
from contextlib import ExitStack, contextmanager
from csv import reader as csv_reader
from pathlib import Path

import pandas as pd
from filelock import FileLock, Timeout

from companion.runs import journal
from companion.runs.journal import Contents, Task

__all__ = [
    "ParameterMismatchError",
    "Store",
    "StoreBusyError",
    "StoreError",
    "Task",
    "file_stem",
    "make_folder",
    "parameters_hash",
    "remove_stores",
]

_log = logging.getLogger(__name__)


class StoreError(Exception):
    """The store cannot be used as asked; the message says why in one sentence."""


class ParameterMismatchError(StoreError):
    """The store holds runs of other parameters."""


class StoreBusyError(StoreError):
    """Another sweep is writing to the store."""


def parameters_hash(parameters):
    """Identify a parameter set."""
    if not isinstance(parameters, dict):
        raise TypeError(f"parameters must be a dict, got {type(parameters).__name__}")
    try:
        return hashlib.sha256(_canonical_json(parameters)).hexdigest()
    except (TypeError, ValueError) as error:
        raise TypeError(
            "parameters must hold only strings, finite numbers, booleans, None, "
            f"lists and dicts, but: {error}"
        ) from None


def _canonical_json(value):
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def file_stem(experiment, protocol):
    """Name of a store's files, without their endings."""
    return f"{experiment}-{protocol}".replace(":", ".")


def make_folder(folder, name="directory"):
    """Make a folder unless it is there, and refuse one in which nothing can be written."""
    folder = Path(folder)
    try:
        for path in (folder, *folder.parents):
            if path.is_file():
                raise ValueError(f"{name} must be a folder, got {str(path)!r}, which is a file")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"{name} must be a folder that can be written, got {str(folder)!r}: {error.strerror}"
        ) from None
    return folder


def remove_stores(stores):
    """Remove the files of some stores: all of them, or none if a sweep is writing to one."""
    stores = list(stores)
    with ExitStack() as locks:
        for store in stores:
            locks.enter_context(store.locked())
        for store in stores:
            # Rows first: without their side file nobody would know whose they are.
            store.path.unlink(missing_ok=True)
            store.side_path.unlink(missing_ok=True)


class Store:
    """The stored runs of one experiment under one protocol and one parameter set."""

    def __init__(self, directory, experiment, protocol, parameters):
        for argument, name in (("experiment", experiment), ("protocol", protocol)):
            if not isinstance(name, str) or not re.fullmatch(r"[\w.:-]+", name):
                raise ValueError(
                    f"{argument} must be made of letters, digits, dots, colons, underscores and "
                    f"hyphens, got {name!r}"
                )
        self.experiment = experiment
        self.protocol = protocol
        self.parameters_sha256 = parameters_hash(parameters)
        self.parameters = json.loads(_canonical_json(parameters))
        stem = file_stem(experiment, protocol)
        self.path = Path(directory) / f"{stem}.csv"
        self.side_path = self.path.with_name(f"{stem}.json")
        self._writing = False
        self._columns = None
        self._descriptor = None

    def mismatch(self):
        """Compare the stored parameters with the asked ones."""
        side = self._read_side()
        if side is None:
            return None
        there, here = (
            {**content.pop("parameters"), **content}
            for content in (side, self._content(side["columns"]))
        )
        if _canonical_json(there) == _canonical_json(here):
            return None
        shown = [
            (name, _shown(there, name), _shown(here, name)) for name in sorted({*there, *here})
        ]
        differences = "; ".join(f"{name}: {a} there, {b} here" for name, a, b in shown if a != b)
        return f"{self.path.name} holds runs of other parameters ({differences})"

    def rows(self):
        """Read the rows of all complete runs."""
        contents = self._read(say=True)
        columns = contents.columns or journal.columns_of([])
        table = csv_reader(line.decode() for line in journal.in_order(contents.runs))
        cells = list(zip(*table, strict=True)) or [()] * len(columns)
        values = {c: journal.read_column(c, v) for c, v in zip(columns, cells, strict=True)}
        return pd.DataFrame(values).drop(columns=["part", "crc32"])

    def done(self):
        """Tell which tasks have a complete run in the store."""
        return set(self._read().runs)

    @contextmanager
    def locked(self, wait=False):
        """Keep other writers out."""
        make_folder(self.path.parent)
        try:
            lock = FileLock(f"{self.path}.lock").acquire(timeout=-1 if wait else 0)
        except Timeout:
            raise StoreBusyError(
                f"another sweep is writing to {self.path.name}: let it end, or ask to wait for it"
            ) from None
        with lock:
            yield self

    @contextmanager
    def writing(self, wait=False):
        """Hold the store for writing: repair it first, put it into canonical order at the end."""
        with self.locked(wait):
            try:
                self._open()
                yield self
            finally:
                self._close()

    def append(self, task, rows):
        """Add one complete run, and have it on disk before returning."""
        if not self._writing:
            raise StoreError("append must be called inside `with store.writing():`")
        columns = journal.columns_of(rows)
        if self._columns not in (None, columns):
            odd = ", ".join(sorted({*columns} ^ {*self._columns}))
            raise ValueError(f"every run must give the same columns, but these differ: {odd}")
        fixed = {"experiment": self.experiment, "protocol": self.protocol, **task._asdict()}
        lines = journal.run_lines(rows, fixed, columns, self._check(columns))
        if self._columns is None:
            self._columns = columns
            self._write_side()
            self._compact()
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        journal.write(self._descriptor, b"".join(line + b"\n" for line in lines))

    def _open(self):
        mismatch = self.mismatch()
        if mismatch:
            raise ParameterMismatchError(f"{mismatch}; store these under another protocol name")
        side, contents = self._read_side(), self._read(say=True)
        if side is None and contents.damaged_lines and not contents.runs:
            raise StoreError(
                f"no row of {self.path.name} passes its check and {self.side_path.name} cannot be "
                "read, so whose rows they are is unknown: restore that file, or remove both"
            )
        self._writing = True
        self._columns = contents.columns if side or contents.runs else None
        if self._columns:
            if side is None:
                self._write_side()
            self._compact()

    def _close(self):
        self._writing = False
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._compact()

    def _compact(self):
        lines = [journal.header(self._columns), *journal.in_order(self._read().runs)]
        data = b"\n".join(lines) + b"\n"
        if not self.path.exists() or self.path.read_bytes() != data:
            journal.replace(self.path, data)

    def _content(self, columns):
        return {
            "experiment": self.experiment,
            "protocol": self.protocol,
            "columns": columns,
            "parameters": self.parameters,
        }

    def _check(self, columns):
        return zlib.crc32(_canonical_json(self._content(columns)))

    def _write_side(self):
        checks = {
            "parameters_sha256": self.parameters_sha256,
            "crc32": f"{self._check(self._columns):08x}",
        }
        side = {**self._content(self._columns), **checks}
        data = json.dumps(side, indent=2, ensure_ascii=False).encode() + b"\n"
        journal.replace(self.side_path, data)

    def _read_side(self):
        """Read the side file's content; None when there is none that passes its check."""
        try:
            side = json.loads(self.side_path.read_bytes())
            content = {key: side[key] for key in self._content(None)}
            passes = side["crc32"] == f"{zlib.crc32(_canonical_json(content)):08x}"
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content if passes else None

    def _read(self, say=False):
        mismatch, side = self.mismatch(), self._read_side()
        if mismatch:
            _log.warning("%s: none of them is used", mismatch)
            return Contents(None, {}, [], [])
        if not self.path.exists():
            return Contents(side and side["columns"], {}, [], [])
        lines = [line.rstrip(b"\r") for line in self.path.read_bytes().split(b"\n")]
        columns = side["columns"] if side else lines[0].decode(errors="replace").split(",")
        contents = journal.sort_out(lines, columns, self._check(columns))
        if say:
            self._say_problems(side, contents)
        return contents

    def _say_problems(self, side, contents):
        if side is None:
            _log.warning("%s is missing or damaged; a sweep restores it", self.side_path.name)
        for what, names in (
            ("lines are damaged", contents.damaged_lines),
            ("runs are incomplete", contents.incomplete_runs),
        ):
            if names:
                _log.warning(
                    "%s: these %s and left out, a sweep computes them again: %s%s",
                    self.path.name,
                    what,
                    ", ".join(names[:20]),
                    f" and {len(names) - 20} more" if len(names) > 20 else "",
                )


def _shown(parameters, name):
    return json.dumps(parameters[name], ensure_ascii=False) if name in parameters else "absent"
