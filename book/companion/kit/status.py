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


def _record(name):
    """Read what `make reliability` or `make mutants` wrote last, a row a test or a module."""
    return pd.DataFrame(json.loads((BOOK / name).read_text(encoding="utf-8"))).T


def attempts_table():
    """Count the attempts of each kind, and those that held."""
    counts = _record("reliability.json").groupby("kind")[["tried", "held"]].sum().loc[list(KINDS)]
    counts.insert(0, "what was tried", list(KINDS.values()))
    counts.loc["all"] = ["**all**", *counts[["tried", "held"]].sum()]
    return Markdown(captioned(counts, "What was tried to break it", "reliability-counts"))


def faults_list():
    """List the faults that once were there, with the test that notices each."""
    mended = _record("reliability.json").dropna(subset=["mends"]).sort_index()
    faults = (f"- {t.mends} Noticed by `{t.Index}`." for t in mended.itertuples())
    return Markdown("\n".join(faults))


def changes_table():
    """Tabulate, by module, the changes tried, those noticed, and those that need no test."""
    table = _record("mutants.json")
    table["left"] = table["tried"] - table["noticed"] - table["explained"]
    counts = table[["changes", "tried", "noticed", "explained", "left"]].astype(int)
    counts.loc["**all**"] = counts.sum()
    counts.insert(0, "module", [f"`{name}`" if "/" in name else name for name in counts.index])
    counts.columns = ["module", "possible", "tried", "noticed", "need no test", "not noticed"]
    return Markdown(captioned(counts, "Small faults that tests notice", "reliability-changes"))


def changes_left():
    """Say which modules were edited since they were counted, and which were never."""
    tried = _record("mutants.json")["sha256"]
    found = {"Edited since then": [], "Not yet tried": []}
    for path in [*(ROOT / "ddr").rglob("*.py"), *(BOOK / "companion/evidence").rglob("*.py")]:
        name, now = path.relative_to(ROOT).as_posix(), hashlib.sha256(path.read_bytes())
        if path.name != "__init__.py" and tried.get(name) != now.hexdigest():
            found["Edited since then" if name in tried else "Not yet tried"].append(f"`{name}`")
    return Markdown(
        "\n\n".join(
            f":::{{dropdown}} {say}: {len(names)} modules\n{', '.join(sorted(names))}\n:::"
            for say, names in found.items()
            if names
        )
    )
