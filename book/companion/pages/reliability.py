"""The page on reliability: what the tests tried to break, and what held."""

import json

import pandas as pd

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


def files(evidence=None):
    """Give the counts, and the faults that once were there."""
    tests = pd.DataFrame(json.loads((BOOK / "reliability.json").read_text(encoding="utf-8"))).T
    counts = tests.groupby("kind")[["tried", "held"]].sum().loc[list(KINDS)]
    counts.insert(0, "what was tried", list(KINDS.values()))
    counts.loc["all"] = ["**all**", *counts[["tried", "held"]].sum()]
    mended = tests.dropna(subset=["mends"]).sort_index()
    faults = [f"- {t.mends} Noticed by `{t.Index}`." for t in mended.itertuples()]
    return {
        "reliability_counts.md": counts.to_markdown(index=False),
        "reliability_faults.md": "\n".join(faults),
    }
