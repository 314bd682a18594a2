"""The run gallery: one row per rerun, beside the published run of its notebook."""

import sys
from pathlib import Path

import pandas as pd

from companion.evidence.tables import captioned
from companion.notebook_kit.execute import ROOT, RUNS, list_notebooks
from companion.notebook_kit.rerun_page import given_as_text, read_reruns
from companion.pages import write_fragments


def write(folder, evidence=None, root=ROOT):
    """Write the fragment of the gallery page."""
    return write_fragments(folder, {"runs.md": runs_table(root)})


def runs_table(root=ROOT):
    """Return the gallery's table as Markdown; a file that is no rerun is named and left out."""
    reruns, refused = read_reruns(Path(root) / RUNS)
    for sentence in refused.values():
        print(sentence, file=sys.stderr)
    rows = []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append((link, "published", "as in its parameters cell", "see {doc}`/book/status`"))
        rows += [_row(p, run) for p, run in reruns.items() if run["notebook"] == notebook.stem]
    if not rows:
        return "No notebook is published yet."
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return captioned(table, "The published runs and the reruns", "runs")


def _row(path, run):
    given = given_as_text(run["parameters"])
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return page, run["name"], given or "as published", f"{run['seconds']:.1f} s"
