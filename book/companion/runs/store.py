"""The store of everything that is computed run by run: a folder with one small file a run.

A *run* is what one call gives: rows of named values, or a table of numbers. Runs that are named
and computed alike share a folder, called by the hash of their names and parameters; ``about.json``
says which these are. A file is written beside its place and then moved there, so a kill loses the
run under way and nothing else, and two sweeps at once may compute a run twice but damage nothing.
What is worth keeping goes from here to `book/results` by `companion.runs.published.publish`.
"""

import gzip
import hashlib
import json
import logging
import os
import re
import zlib
from io import BytesIO
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pandas as pd

VALUES = ("accuracy", "n_iter", "mutual_information", "prior_ratio", "ess", "seconds")
COLUMNS = ("experiment", "protocol", "case", "seed", "method", *VALUES)
_NUMPY = b"\x93NUMPY"
_log = logging.getLogger(__name__)


class StoreError(Exception):
    """Stored or published runs cannot be used as asked; the message says why in one sentence."""

    exit_code = 1  # of the command


def canonical_json(parameters):
    """Write a parameter set in the one way in which its SHA-256 is taken."""
    form = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    return json.dumps(parameters, allow_nan=False, **form)


def parameters_hash(parameters):
    """Identify a parameter set."""
    return hashlib.sha256(canonical_json(parameters).encode()).hexdigest()


def differences(there, here):
    """Say which parameters differ between two sets; nothing if none does."""
    texts = [{name: canonical_json(value) for name, value in p.items()} for p in (there, here)]
    pairs = [(name, *(t.get(name, "absent") for t in texts)) for name in sorted({*there, *here})]
    return "; ".join(f"{name}: {a} there, {b} here" for name, a, b in pairs if a != b)


def natural_order(case):
    """Order cases as people do: 200 before 1000."""
    return [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", case)]


def replace_file(path, data):
    """Write beside the place, then move there: a kill leaves the old file or the new one."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(data)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def packed(result):
    """Give the bytes of a run's result; gzip's checksum will notice any damage."""
    if isinstance(result, np.ndarray):
        np.save(buffer := BytesIO(), result, allow_pickle=False)
        return gzip.compress(buffer.getvalue(), compresslevel=1)
    if not result or not isinstance(result, list) or not all(isinstance(r, dict) for r in result):
        raise TypeError(f"a run must give an array or a list of dicts, got {result!r:.80}")
    return gzip.compress(json.dumps(result, default=np.generic.item).encode())


def _unpacked(data):
    data = gzip.decompress(data)
    return np.load(BytesIO(data)) if data.startswith(_NUMPY) else json.loads(data)


class Store:
    """The runs of one parameter set, in a folder of many; the names are columns of the rows."""

    def __init__(self, root, parameters, **names):
        self.names, self.parameters = names, json.loads(canonical_json(parameters))
        self._about = {"names": names, "parameters": self.parameters}
        self.root = Path(root)
        self.folder = self.root / parameters_hash(self._about)[:16]

    def _path(self, case, seed):
        return self.folder / f"{quote(case, safe=' ')}-{seed}.gz"

    def prepare(self):
        """Make the folder, and say in it what it holds."""
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / "about.json", canonical_json(self._about).encode())

    def done(self):
        """Tell which (case, seed) have a file, as people order them."""
        found = [path.stem.rpartition("-") for path in self.folder.glob("[!.]*.gz")]
        tasks = [(unquote(case), int(seed)) for case, _, seed in found]
        return sorted(tasks, key=lambda task: (natural_order(task[0]), task[1]))

    def save(self, case, seed, data):
        """Keep the packed result of a run."""
        replace_file(self._path(case, seed), data)

    def load(self, case, seed):
        """Give the result of a run; None where there is none, or none that can be read."""
        path = self._path(case, seed)
        try:
            return _unpacked(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, zlib.error):
            _log.warning("%s in %s is damaged: it is computed again", path.name, path.parent)
            return None

    def rows(self, tasks=None):
        """Read the rows of all runs, or of those that are asked for, into one table."""
        wanted = None if tasks is None else set(tasks)
        rows = [
            {**self.names, "case": case, "seed": seed, **row}
            for case, seed in self.done()
            if wanted is None or (case, seed) in wanted
            for row in self.load(case, seed) or []
        ]
        return pd.DataFrame(rows)


def stores_in(root):
    """Open every store of a folder; one whose description is damaged waits for its next sweep."""
    for path in sorted(Path(root).glob("*/about.json")):
        try:
            about = json.loads(path.read_bytes())
            store = Store(root, about["parameters"], **about["names"])
        except (OSError, ValueError, KeyError, TypeError):
            store = None
        if store is None or store.folder != path.parent:
            _log.warning("%s is damaged: its runs are left out", path)
        else:
            yield store
