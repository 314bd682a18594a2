"""What the book was built with, how long its notebooks took, and what tests tried to break."""

import hashlib
import json
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from companion.evidence.tables import captioned
from companion.kit.parameters import list_notebooks
from companion.paths import BOOK, ROOT, TIMES

#: What a person reads for each kind of attempt.
KINDS = {
    "mistake": "Wrong values, names and arguments: refused in one sentence",
    "extreme numbers": "Numbers at the edge of what a computer can hold",
    "damage": "Files that are removed, swapped, truncated, changed or cannot be written",
    "kill": "Ctrl-C, terminations and kills, at several moments",
    "two at once": "Two processes or threads that want the same thing",
    "hostile text": "Reruns with quotes, script tags, backticks and warnings in them",
}


def times_table(root=ROOT):
    """Return how long each notebook took to execute."""
    rows = []
    for path in list_notebooks(root):
        taken = Path(root) / TIMES / f"{path.stem}.txt"
        seconds = taken.read_text() if taken.exists() else "not executed in this build"
        rows.append((f"{{doc}}`/notebooks/{path.stem}`", seconds))
    table = pd.DataFrame(rows, columns=["notebook", "time to execute"])
    return Markdown(captioned(table, "Time to execute each notebook", "status-times"))


def record(name):
    """Read what `make reliability` or `make mutants` wrote last, a row a test or a module."""
    return pd.DataFrame(json.loads((BOOK / name).read_text(encoding="utf-8"))).T


def attempts_table():
    """Count the attempts of each kind, and those that held."""
    counts = record("reliability.json").groupby("kind")[["tried", "held"]].sum().loc[list(KINDS)]
    counts.insert(0, "what was tried", list(KINDS.values()))
    counts.loc["all"] = ["**all**", *counts[["tried", "held"]].sum()]
    return Markdown(captioned(counts, "What was tried to break it", "reliability-counts"))


def changes_table():
    """Tabulate, by module, the changes tried, those noticed, and those that need no test."""
    table = record("mutants.json")
    table["left"] = table["tried"] - table["noticed"] - table["explained"]
    counts = table[["changes", "tried", "noticed", "explained", "left"]].astype(int)
    counts.loc["**all**"] = counts.sum()
    counts.insert(0, "module", [f"`{name}`" if "/" in name else name for name in counts.index])
    paths = {name: ROOT / name for name in table.index if (ROOT / name).exists()}
    now = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    edited = table["sha256"] != pd.Series(now).reindex(table.index)
    counts["edited"] = edited.map({True: "yes", False: ""}).reindex(counts.index, fill_value="")
    counts.columns = ["module", "possible", "tried", "noticed", "need no test", "not noticed",
                      "edited since"]  # fmt: skip
    return Markdown(captioned(counts, "Small faults that tests notice", "reliability-changes"))
