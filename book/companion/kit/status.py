"""What the book was built with, how long its notebooks took, and what tests tried to break."""

import json
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from companion.evidence.tables import captioned
from companion.kit.execute import ROOT, TIMES
from companion.kit.files import read_record
from companion.kit.parameters import list_notebooks
from companion.paths import BOOK

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
    """Return how long each notebook took to execute,."""
    times = read_record(Path(root) / TIMES)
    notebooks = [path.stem for path in list_notebooks(root)]
    taken = [f"{times[n]:.1f} s" if n in times else "not executed in this build" for n in notebooks]
    links = [f"{{doc}}`/notebooks/{name}`" for name in notebooks]
    table = pd.DataFrame({"notebook": links, "time to execute": taken})
    return Markdown(captioned(table, "Time to execute each notebook", "status-times"))


def attempts():
    """Read what the last `make reliability` tried to break, a row a test."""
    record = json.loads((BOOK / "reliability.json").read_text(encoding="utf-8"))
    return pd.DataFrame(record).T


def attempts_table():
    """Count the attempts of each kind, and those that held."""
    counts = attempts().groupby("kind")[["tried", "held"]].sum().loc[list(KINDS)]
    counts.insert(0, "what was tried", list(KINDS.values()))
    counts.loc["all"] = ["**all**", *counts[["tried", "held"]].sum()]
    return Markdown(captioned(counts, "What was tried to break it", "reliability-counts"))


def faults_list():
    """List the faults that once were there, with the test that notices each."""
    mended = attempts().dropna(subset=["mends"]).sort_index()
    faults = (f"- {t.mends} Noticed by `{t.Index}`." for t in mended.itertuples())
    return Markdown("\n".join(faults))
