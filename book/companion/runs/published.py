"""The published runs: `book/results`, a few sorted CSV files and the list of their SHA-256.

One file an experiment and kind: `biased-tables.csv` has the protocols of the paper's tables,
`biased-universes.csv` those named `universe:…`, `biased-joint.csv` those named `joint:…`.
`parameters.json` says what was computed, `SHA256SUMS` notices whatever is altered, removed, added
or swapped. What a search found lies there too; it is in the list, but no runs.
"""

import hashlib
import json
import os
import re
from io import BytesIO
from pathlib import Path

import pandas as pd

from companion.paths import BOOK
from companion.runs.store import (
    COLUMNS,
    VALUES,
    ParameterMismatchError,
    Store,
    StoreError,
    canonical_json,
    differences,
    natural_order,
    parameters_hash,
    protocols_in,
)

FOLDER = BOOK / "results"
SUMS, PARAMETERS = "SHA256SUMS", "parameters.json"
_HEADER = (",".join(COLUMNS[1:]) + "\n").encode()
_read_before = {}


def file_name(experiment, protocol):
    """Name the file in which the runs of a protocol are published."""
    kind = protocol.partition(":")[0] if ":" in protocol else "tables"
    return f"{experiment}-{'universes' if kind == 'universe' else kind}.csv"


def published_results(folder=None):
    """Read all published runs as one tidy table, if every file is what the list of SHA-256 says."""
    return _read(folder)[0].copy()


def published_parameters(folder=None):
    """Read the parameters of every published (experiment, protocol)."""
    return _read(folder)[1]


def _read(folder):
    """Read a folder, or take what was read of it before if no file has changed since."""
    folder = Path(folder or FOLDER).resolve()
    state = [(p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in _files(folder)]
    if _read_before.get(folder, (None,))[0] != state:
        contents = verified(folder)
        runs = {name: data for name, data in contents.items() if data.startswith(_HEADER)}
        tables = [_table(*file) for file in runs.items()] or [_table("-", _HEADER)]
        results = pd.concat(tables, ignore_index=True)
        keyed = json.loads(contents.get(PARAMETERS, b"{}"))
        parameters = {tuple(key.split("/")): entry["parameters"] for key, entry in keyed.items()}
        _read_before[folder] = state, results, parameters
    return _read_before[folder][1:]


def _files(folder):
    """List what is published; what an editor or a system leaves hidden there is not."""
    return sorted(folder.glob("[!.]*"))


def verified(folder):
    """Read every file of a folder; one that is not as listed is refused by its name."""
    names = [path.name for path in _files(folder)]
    if not names:
        return {}
    if SUMS not in names:
        raise StoreError(f"{SUMS} is missing in {folder.name}: restore it from git")
    lines = _bytes(folder / SUMS).decode(errors="replace").splitlines()
    if not all(re.fullmatch(r"[0-9a-f]{64}  [\w.-]+", line) for line in lines):
        raise StoreError(f"{SUMS} of {folder.name} is damaged: restore it from git")
    listed = {line[66:]: line[:64] for line in lines}
    for name in sorted({*listed, *names} - {SUMS}):
        if name not in listed:
            raise StoreError(f"{name} is not listed in {SUMS} of {folder.name}: remove it")
        if name not in names:
            raise StoreError(f"{name} is listed in {SUMS} but missing: restore it from git")
    contents = {name: _bytes(folder / name) for name in sorted(listed)}
    for name, data in contents.items():
        if hashlib.sha256(data).hexdigest() != listed[name]:
            raise StoreError(f"{name} is not what {SUMS} says, it was altered: restore it from git")
    return contents


def _bytes(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path.name} cannot be read: {error.strerror}") from None


def _table(name, data):
    """Read the runs of a file; its numbers by Python's float, which gives just what was written."""
    numbers = dict.fromkeys(VALUES, lambda cell: float(cell or "nan"))
    texts = dict.fromkeys(("protocol", "case", "method"), str)
    table = pd.read_csv(BytesIO(data), dtype=texts, converters=numbers, keep_default_na=False)
    table.insert(0, "experiment", name.rpartition("-")[0])
    return table.astype({"seed": "int64"} | dict.fromkeys(VALUES, float))


def publish(path, folder=None, replace=False):
    """Add the runs of a store to the published ones, or put them in place of outdated ones."""
    old, parameters = published_results(folder), dict(published_parameters(folder))
    tables = []
    for (experiment, protocol), new in protocols_in(path).items():
        if protocol.startswith("search:"):
            continue  # a search publishes what it found, not its runs
        differ = differences(parameters.get((experiment, protocol), new), new)
        if differ and not replace:
            raise ParameterMismatchError(
                f"published are runs of {experiment} {protocol} with other parameters ({differ}); "
                "take these out by --replace, or use another protocol name"
            )
        if differ:
            old = old[(old["experiment"] != experiment) | (old["protocol"] != protocol)]
        parameters[experiment, protocol] = new
        tables.append(Store(path, experiment, protocol, new).rows())
    return write_published(pd.concat([old, *tables], ignore_index=True), parameters, folder)


def write_published(rows, parameters, folder):
    """Write runs and their parameters into a folder; of a run that stands twice, the later one."""
    rows = rows.drop_duplicates(["experiment", "protocol", "case", "seed", "method"], keep="last")
    files = [file_name(*key) for key in zip(rows["experiment"], rows["protocol"], strict=True)]
    texts = {name: _csv(part) for name, part in rows.groupby(pd.Index(files))}
    return write_files({**texts, PARAMETERS: _parameters_text(parameters)}, folder)


def write_files(texts, folder=None):
    """Write files by their names into a folder, together with the list of all SHA-256."""
    folder = Path(folder or FOLDER)
    contents = {**verified(folder), **{name: text.encode() for name, text in texts.items()}}
    lines = [f"{hashlib.sha256(contents[n]).hexdigest()}  {n}\n" for n in sorted(contents)]
    new = {**{name: contents[name] for name in texts}, SUMS: "".join(lines).encode()}
    folder.mkdir(parents=True, exist_ok=True)
    # All are written beside their places before the first is moved, so that a kill hardly ever
    # leaves some old and some new; if it does, the list notices.
    for name, data in new.items():
        (folder / f".{name}.part").write_bytes(data)
    for name in new:
        os.replace(folder / f".{name}.part", folder / name)
    return [folder / name for name in new]


def _csv(rows):
    """Write rows by protocol, case and seed; a run's methods keep the order of the protocol."""

    def place(row):
        return row.protocol, natural_order(row.case), row.seed

    rows = pd.DataFrame(sorted(rows.itertuples(index=False), key=place))
    return rows.drop(columns="experiment").to_csv(index=False, lineterminator="\n")


def _parameters_text(parameters):
    """Write one line a protocol, so that a difference shows which one changed."""
    lines = [
        f'"{"/".join(key)}": {{"sha256": "{parameters_hash(entry)}", '
        f'"parameters": {canonical_json(entry)}}}'
        for key, entry in sorted(parameters.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
