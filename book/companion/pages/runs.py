"""The run gallery: one row per rerun, beside the published run of its notebook."""

from pathlib import Path

import nbformat

from companion.notebook_kit.execute import ROOT, RUNS, list_notebooks
from companion.pages.text import numbered


def write(folder, root=ROOT):
    """Write the fragment of the gallery page."""
    path = Path(folder) / "runs.md"
    table = runs_table(root)
    if table.startswith("|"):
        table = numbered(table, "The published runs and the reruns", "runs") + "\n"
    path.write_text(table, encoding="utf-8")
    return [path]


def runs_table(root=ROOT):
    """Return the gallery's table as Markdown."""
    root = Path(root)
    rows = []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append(
            f"| {link} | published | as in its parameters cell | see {{doc}}`/book/status` |"
        )
        rows += [_row(path) for path in _reruns(root, notebook.stem)]
    if not rows:
        return "No notebook is published yet.\n"
    header = ["| page | run | parameters | time |", "|---|---|---|---|"]
    return "\n".join(header + rows) + "\n"


def _reruns(root, stem):
    for path in sorted((root / RUNS).glob("*.ipynb")):
        if nbformat.read(path, as_version=4).metadata["ddr"]["run"]["notebook"] == stem:
            yield path


def _row(path):
    run = nbformat.read(path, as_version=4).metadata["ddr"]["run"]
    given = ", ".join(f"`{name} = {value!r}`" for name, value in run["parameters"].items())
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return f"| {page} | {run['name']} | {given or 'as published'} | {run['seconds']:.1f} s |"
