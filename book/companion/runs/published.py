"""The published runs: `book/results`, a few sorted CSV files and the list of their SHA-256.

One file an experiment and kind: `biased-tables.csv` has the protocols of the paper's tables,
`biased-universes.csv` those named `universe:…`, `biased-joint.csv` those named `joint:…`.
`parameters.json` says what was computed, `SHA256SUMS` notices whatever is altered, removed, added
or swapped. What a search found lies there too; it is in the list, but no runs.
"""

import hashlib
import json
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import pandas as pd

from companion.paths import BOOK
from companion.runs.store import (
    COLUMNS,
    VALUES,
    StoreError,
    canonical_json,
    differences,
    natural_order,
    parameters_hash,
    replace_file,
    stores_in,
)

FOLDER = BOOK / "results"
SUMS, PARAMETERS = "SHA256SUMS", "parameters.json"
_HEADER = (",".join(COLUMNS[1:]) + "\n").encode()


def file_name(experiment, protocol):
    """Name the file in which the runs of a protocol are published."""
    kind = protocol.partition(":")[0] if ":" in protocol else "tables"
    return f"{experiment}-{'universes' if kind == 'universe' else kind}.csv"


def published_results(folder=None):
    """Read all published runs as one tidy table, if every file is what the list of SHA-256 says."""
    return _read(folder)[0].copy()


def published_parameters(folder=None):
    """Read the parameters of every published (experiment, protocol)."""
    return dict(_read(folder)[1])


def _read(folder):
    folder = Path(folder or FOLDER).resolve()
    state = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in _files(folder))
    return _read_once(folder, state)


@lru_cache(maxsize=2)  # pages ask for it hundreds of times
def _read_once(folder, _state):
    contents = listed_files(folder)
    tables = [_table(name, data) for name, data in contents.items() if data.startswith(_HEADER)]
    results = pd.concat(tables or [_table("-", _HEADER)], ignore_index=True)
    keyed = json.loads(contents.get(PARAMETERS, b"{}"))
    return results, {tuple(key.split("/", 1)): entry["parameters"] for key, entry in keyed.items()}


def _files(folder):
    """List what is published; what an editor or a system leaves hidden there is not."""
    return sorted(folder.glob("[!.]*"))


def listed_files(folder):
    """Read every file of a folder; one that is not as listed is refused by its name."""
    try:
        contents = {path.name: path.read_bytes() for path in _files(folder)}
    except OSError as error:
        raise StoreError(f"{Path(error.filename).name} cannot be read: {error.strerror}") from None
    if not contents:
        return {}
    listed = contents.pop(SUMS, b"").decode(errors="replace")
    if different := set(listed.splitlines()) ^ set(_sums(contents).splitlines()):
        names = ", ".join(sorted({line[66:] for line in different}))
        raise StoreError(
            f"{names or 'a line'} is not as {SUMS} of {folder.name} lists it: altered, missing or "
            "added; restore it from git"
        )
    return contents


def _sums(contents):
    return "".join(f"{hashlib.sha256(contents[n]).hexdigest()}  {n}\n" for n in sorted(contents))


def shown_results():
    """Tell by a hash what is published of the runs that notebooks show."""
    lines = (FOLDER / SUMS).read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.endswith(("-tables.csv", "-universes.csv"))]
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:12]


def _table(name, data):
    """Read the runs of a file; its numbers by Python's float, which gives just what was written."""
    numbers = dict.fromkeys(VALUES, lambda cell: float(cell or "nan"))
    texts = dict.fromkeys(("protocol", "case", "method"), str)
    table = pd.read_csv(BytesIO(data), dtype=texts, converters=numbers, keep_default_na=False)
    table.insert(0, "experiment", name.rpartition("-")[0])
    return table.astype({"seed": "int64"} | dict.fromkeys(VALUES, float))


def publish(root, folder=None):
    """Add the runs of a store to the published ones."""
    rows, parameters, new = published_results(folder), published_parameters(folder), {}
    tables = []
    for store in stores_in(root):
        name = tuple(store.names.get(key, "search:") for key in ("experiment", "protocol"))
        if name[1].startswith("search:"):
            continue  # a search publishes what it found, not its runs
        here = {key: value for key, value in store.parameters.items() if key != "cases"}
        there = new.get(name) or parameters.get(name, here)
        if differ := differences(there, here):
            raise StoreError(
                f"there are runs of {' '.join(name)} with other parameters ({differ}): take "
                "published ones out by --remove, or stored ones by removing their folder"
            )
        new[name] = here
        tables.append(store.rows().reindex(columns=COLUMNS))
    rows = pd.concat([rows, *tables], ignore_index=True)
    return write_published(rows, parameters | new, folder)


def without(rows, experiment, protocol):
    """Leave out the rows of a protocol."""
    return rows[(rows["experiment"] != experiment) | (rows["protocol"] != protocol)]


def take_out(names, folder=None):
    """Take the runs of every (experiment, protocol) that is named out of the published ones."""
    rows, parameters = published_results(folder), published_parameters(folder)
    for name in names:
        if parameters.pop(name, None) is None:
            raise ValueError(f"nothing is published of {' '.join(name)}")
        rows = without(rows, *name)
    return write_published(rows, parameters, folder)


def write_published(rows, parameters, folder=None):
    """Write all runs and their parameters; of a run that stands twice, the later one."""
    rows = rows.drop_duplicates(["experiment", "protocol", "case", "seed", "method"], keep="last")
    files = [file_name(*key) for key in zip(rows["experiment"], rows["protocol"], strict=True)]
    texts = {name: _csv(part) for name, part in rows.groupby(pd.Index(files, dtype=str))}
    before = listed_files(Path(folder or FOLDER)).items()
    gone = {name: None for name, data in before if data.startswith(_HEADER) and name not in texts}
    return write_files({**gone, **texts, PARAMETERS: _parameters_text(parameters)}, folder)


def write_files(texts, folder=None):
    """Write files by their names, or remove those without a text, and list all SHA-256."""
    folder = Path(folder or FOLDER)
    new = {name: text.encode() for name, text in texts.items() if text is not None}
    kept = {name: data for name, data in listed_files(folder).items() if name not in texts}
    new[SUMS] = _sums(kept | new).encode()
    folder.mkdir(parents=True, exist_ok=True)
    # A kill between two of them leaves some old and some new, which the list notices.
    for name, data in new.items():
        replace_file(folder / name, data)
    for name in texts.keys() - new.keys():
        (folder / name).unlink()
    return [folder / name for name in new]


def _csv(rows):
    """Write rows by protocol, case and seed; a run's methods keep the order of the protocol."""

    def place(row):
        return row.protocol, natural_order(row.case), row.seed

    rows = pd.DataFrame(sorted(rows.itertuples(index=False), key=place))
    # Nobody reads diagnostics to the last digit, nor seconds beyond the third.
    rounded = {name: rows[name].map("{:.10g}".format).astype(float) for name in VALUES[1:-1]}
    rows = rows.assign(**rounded, seconds=rows["seconds"].map(lambda s: round(float(s), 3)))
    return rows.drop(columns="experiment").to_csv(index=False, lineterminator="\n")


def _parameters_text(parameters):
    """Write one line a protocol, so that a difference shows which one changed."""
    lines = [
        f'"{"/".join(key)}": {{"sha256": "{parameters_hash(entry)}", '
        f'"parameters": {canonical_json(entry)}}}'
        for key, entry in sorted(parameters.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
