"""The file format of the results store: signed lines, and bytes that survive a kill.

A line is a CSV row whose last cell is the CRC-32 of what stands before it, started from a number
that the store derives from its parameters. So a line proves that it is whole and where it belongs.
"""

import csv
import io
import math
import numbers
import os
import re
import zlib
from typing import NamedTuple

import numpy as np

KEYS = ("experiment", "protocol", "case", "seed", "method", "part")
DIAGNOSTICS = ("accuracy", "n_iter", "mutual_information", "prior_ratio", "ess")
NOT_COMPARED = ("seconds", "crc32")
NUMERIC = {"seed", *DIAGNOSTICS, "seconds"}


class Task(NamedTuple):
    """What names a run within one experiment, protocol and parameter set."""

    case: str
    seed: int

    def __str__(self):
        return f"{self.case} seed {self.seed}"


class Contents(NamedTuple):
    """What a file holds: the lines of each complete run, and what had to be left out."""

    columns: list[str] | None
    runs: dict[Task, list[bytes]]
    damaged_lines: list[str]
    incomplete_runs: list[str]


def columns_of(rows):
    """List the columns of a run in canonical order."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(f"a run must give a list of dicts, got {rows!r:.80}")
    known = {*KEYS, *DIAGNOSTICS, *NOT_COMPARED}
    further = sorted({column for row in rows for column in row} - known)
    for column in further:
        if not re.fullmatch(r"\w+", column):
            raise ValueError(
                f"columns must be named by letters, digits and underscores, got {column!r}"
            )
    return [*KEYS, *DIAGNOSTICS, *further, *NOT_COMPARED]


def header(columns):
    """Write the first line of a file."""
    return ",".join(columns).encode()


def run_lines(rows, fixed, columns, start):
    """Write the signed lines of one run."""
    methods = [row.get("method") for row in rows]
    if not methods or len(set(methods)) < len(rows) or not all(isinstance(m, str) for m in methods):
        raise ValueError(f"a run must give one row for each of its methods, got {methods}")
    lines = []
    for i, row in enumerate(rows, start=1):
        for key, value in fixed.items():
            if row.get(key, value) != value:
                raise ValueError(f"{key} must be {value!r} in this run, got {row[key]!r}")
        filled = {**row, **fixed, "part": f"{i}/{len(rows)}"}
        text = io.StringIO()
        cells = [_cell(column, filled.get(column)) for column in columns[:-1]]
        csv.writer(text, lineterminator="").writerow(cells)
        lines.append(_signed(text.getvalue().encode(), start))
    return lines


def _cell(column, value):
    if isinstance(value, str) and column not in NUMERIC:
        if "\n" in value or "\r" in value:
            raise ValueError(f"{column} must be a text of one line, got {value!r}")
        return value
    if value is None:
        return ""
    if isinstance(value, (numbers.Integral, np.bool_)):
        return str(int(value))
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{column} must be a number, got {value!r}")
    if math.isnan(value):
        return ""
    # repr is the shortest text that reads back as the same number
    if column == "accuracy":
        return repr(float(value))
    return repr(float(f"{value:.{3 if column == 'seconds' else 10}g}"))


def _signed(line, start):
    return line + b",%08x" % zlib.crc32(line, start)


def sort_out(lines, columns, start):
    """Tell complete runs from damaged lines and incomplete runs."""
    damaged: list[str] = []
    found: dict[Task, dict[bytes, str]] = {}
    for number, line in enumerate(lines, start=1):
        if line in (header(columns), b""):
            continue
        if line != _signed(line.rpartition(b",")[0], start):
            damaged.append(f"{number} (torn)" if number == len(lines) else str(number))
            continue
        row = dict(zip(columns, next(csv.reader([line.decode()])), strict=True))
        parts = found.setdefault(Task(row["case"], int(row["seed"])), {})
        parts[line] = row["part"]
    runs = {task: _in_order(parts) for task, parts in found.items()}
    incomplete = sorted(str(task) for task, ordered in runs.items() if not ordered)
    complete = {task: ordered for task, ordered in runs.items() if ordered}
    return Contents(columns, complete, damaged, incomplete)


def _in_order(parts):
    """Order the lines of a run by their parts 1/n ... n/n; nothing if these are not its parts."""
    ordered = sorted(parts, key=lambda line: int(parts[line].partition("/")[0]))
    wanted = [f"{i}/{len(parts)}" for i in range(1, len(parts) + 1)]
    return ordered if [parts[line] for line in ordered] == wanted else []


def in_order(runs):
    """List the lines of all runs in canonical order."""

    def natural(task):
        pieces = re.split(r"(\d+)", task.case)
        return [int(p) if p.isdecimal() else p for p in pieces], task.case, task.seed

    return [line for task in sorted(runs, key=natural) for line in runs[task]]


def read_column(name, cells):
    """Read a column back."""
    if name in KEYS and name != "seed":
        return list(cells)
    for kind in (int, lambda cell: float(cell or "nan")):
        try:
            return [kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)


def write(descriptor, data):
    """Write all bytes and have them on disk before returning."""
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)


def replace(path, data):
    """Write a whole file so that, whenever the machine stops, the old or the new one is there."""
    temporary = path.with_name(path.name + ".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        write(descriptor, data)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)
    if hasattr(os, "O_DIRECTORY"):  # Windows has none, and cannot flush a folder
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
