"""The results store: one CSV file of runs for each experiment, protocol and parameter set.

A *run* is one (case, seed) of an experiment; it gives one row per method. The store keeps

``biased-matched.csv``
    the rows. While a sweep goes on it is an append-only journal; when the sweep ends it is put
    into canonical order: by case, then seed, then method in the order in which the run gave them.
``biased-matched.json``
    what the rows are: experiment, protocol, columns, the full parameter set and its SHA-256.

Notes
-----
*Nothing half-written is believed.* The last cell of a row is the CRC-32 of the row, continued from
the CRC-32 of the side file's content, so a row that a kill tore, that the disk damaged or that was
moved here from other parameters does not pass. The column ``part`` (``2/4``: the second of four
rows) tells whether a run is complete. Rows that do not pass, and the rest of their runs, are named
in a log message and left out; the next sweep computes them again and leaves all others alone.

*One writer.* A lock file keeps a second sweep out. Readers need no lock: a file is only ever
appended to, or replaced as a whole.

*Same runs, same file.* Two files of the same runs are equal byte for byte except in their last two
columns: ``seconds`` is a measurement, and the CRC covers it. Numbers are written so that this can
hold between machines: ``accuracy`` with all its digits, ``seconds`` with 3 and every other real
number with 10 significant digits. An empty cell means not applicable.
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

from ddr import journal
from ddr.journal import Contents, Task

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
    """Identify a parameter set.

    Parameters
    ----------
    parameters : dict
        Everything that a run depends on besides its case and seed: strings, finite numbers,
        booleans, None, and lists and dicts of them.

    Returns
    -------
    str
        SHA-256, in hexadecimal, of the JSON text with sorted keys and without spaces. Equal means
        equal to the last digit; ``1`` and ``1.0`` differ.

    Examples
    --------
    >>> from ddr.store import parameters_hash
    >>> first = parameters_hash({"lam": 0.1, "sigma": 2.0})
    >>> first == parameters_hash({"sigma": 2.0, "lam": 0.1})
    True
    >>> first == parameters_hash({"sigma": 2.0, "lam": 0.10001})
    False
    """
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
    """Name of a store's files, without their endings.

    Parameters
    ----------
    experiment, protocol : str

    Returns
    -------
    str
        Not every file system bears a colon in a name, so it becomes a dot.

    Examples
    --------
    >>> file_stem("biased", "universe:hard-prior")
    'biased-universe.hard-prior'
    """
    return f"{experiment}-{protocol}".replace(":", ".")


def make_folder(folder, name="directory"):
    """Make a folder unless it is there, and refuse one in which nothing can be written.

    Parameters
    ----------
    folder : path-like
    name : str, default="directory"
        Of the argument, for the sentence.

    Returns
    -------
    Path

    Examples
    --------
    >>> make_folder(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: directory must be a folder, got '...store.py', which is a file
    """
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
    """Remove the files of some stores: all of them, or none if a sweep is writing to one.

    Parameters
    ----------
    stores : iterable of Store
        What is stored under their names goes, whatever its parameters.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder, "biased", "matched", {"lam": 1.0})
    ...     with store.writing():
    ...         store.append(Task("Splice", 0), [{"method": "uLSIF", "accuracy": 0.54}])
    ...     remove_stores([store])
    ...     len(store.rows())
    0
    """
    stores = list(stores)
    with ExitStack() as locks:
        for store in stores:
            locks.enter_context(store.locked())
        for store in stores:
            # Rows first: without their side file nobody would know whose they are.
            store.path.unlink(missing_ok=True)
            store.side_path.unlink(missing_ok=True)


class Store:
    """The stored runs of one experiment under one protocol and one parameter set.

    Parameters
    ----------
    directory : path
        Where the files live; made on the first write.
    experiment, protocol : str
        Made of letters, digits, dots, colons, underscores and hyphens; they name the files.
    parameters : dict
        The full parameter set, see `parameters_hash`. Rows of others are never returned.

    Attributes
    ----------
    path, side_path : Path
        The CSV file and its JSON side file.
    parameters_sha256 : str
        The hash of the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from ddr.store import Store, Task
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store(folder.name, "biased", "matched", {"lam": [0.1, 1, 10]})
    >>> with store.writing():
    ...     store.append(Task("Splice", 0), [{"method": "uLSIF", "accuracy": 0.54}])
    >>> store.rows()[["case", "seed", "method", "accuracy"]]
         case  seed method  accuracy
    0  Splice     0  uLSIF      0.54
    >>> Store(folder.name, "biased", "matched", {"lam": [1, 10]}).mismatch()
    'biased-matched.csv holds runs of other parameters (lam: [0.1, 1, 10] there, [1, 10] here)'
    >>> folder.cleanup()
    """

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
        """Compare the stored parameters with the asked ones.

        Returns
        -------
        str or None
            One sentence that names the differences; None when there are none or nothing is stored.
        """
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
        """Read the rows of all complete runs.

        Returns
        -------
        DataFrame
            In canonical order. Empty when nothing is stored, or when what is stored belongs to
            other parameters, which is logged.
        """
        contents = self._read(say=True)
        columns = contents.columns or journal.columns_of([])
        table = csv_reader(line.decode() for line in journal.in_order(contents.runs))
        cells = list(zip(*table, strict=True)) or [()] * len(columns)
        values = {c: journal.read_column(c, v) for c, v in zip(columns, cells, strict=True)}
        return pd.DataFrame(values).drop(columns=["part", "crc32"])

    def done(self):
        """Tell which tasks have a complete run in the store.

        Returns
        -------
        set of Task
        """
        return set(self._read().runs)

    @contextmanager
    def locked(self, wait=False):
        """Keep other writers out.

        Parameters
        ----------
        wait : bool, default=False
            Wait until another sweep on this store ends, instead of raising `StoreBusyError`.

        Yields
        ------
        Store
            The store itself.
        """
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
        """Hold the store for writing: repair it first, put it into canonical order at the end.

        Parameters
        ----------
        wait : bool, default=False
            Wait until another sweep on this store ends, instead of raising `StoreBusyError`.

        Yields
        ------
        Store
            The store itself.
        """
        with self.locked(wait):
            try:
                self._open()
                yield self
            finally:
                self._close()

    def append(self, task, rows):
        """Add one complete run, and have it on disk before returning.

        Parameters
        ----------
        task : Task
            Its case and seed.
        rows : list of dict
            One per method, each with its ``method``. ``experiment``, ``protocol``, ``case`` and
            ``seed`` are filled in. Every run of a store must give the same set of columns.
        """
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
