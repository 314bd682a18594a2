"""The run gallery: one row per rerun, beside the published run of its notebook."""

from pathlib import Path

import nbformat
import pandas as pd

from companion.evidence.tables import captioned
from companion.notebook_kit.execute import ROOT, RUNS, list_notebooks
from companion.pages import write_fragments


def write(folder, evidence=None, root=ROOT):
    """Write the fragment of the gallery page."""
    return write_fragments(folder, {"runs.md": runs_table(root)})


def runs_table(root=ROOT):
    """Return the gallery's table as Markdown."""
    root, rows = Path(root), []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append((link, "published", "as in its parameters cell", "see {doc}`/book/status`"))
        rows += [_row(path) for path in _reruns(root, notebook.stem)]
    if not rows:
        return "No notebook is published yet."
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return captioned(table, "The published runs and the reruns", "runs")


def _reruns(root, stem):
    for path in sorted((root / RUNS).glob("*.ipynb")):
        if nbformat.read(path, as_version=4).metadata["ddr"]["run"]["notebook"] == stem:
            yield path


def _row(path):
    run = nbformat.read(path, as_version=4).metadata["ddr"]["run"]
    given = ", ".join(f"`{name} = {value!r}`" for name, value in run["parameters"].items())
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return page, run["name"], given or "as published", f"{run['seconds']:.1f} s"
