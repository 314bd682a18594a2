"""The run gallery: one row per rerun, beside the published run of its notebook."""

import sys
from pathlib import Path

from companion.notebook_kit.execute import ROOT, RUNS, list_notebooks
from companion.notebook_kit.rerun_page import given_as_text, read_reruns
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
    """Return the gallery's table as Markdown; a file that is no rerun is named and left out."""
    reruns, refused = read_reruns(Path(root) / RUNS)
    for sentence in refused.values():
        print(sentence, file=sys.stderr)
    rows = []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append(
            f"| {link} | published | as in its parameters cell | see {{doc}}`/book/status` |"
        )
        rows += [_row(p, run) for p, run in reruns.items() if run["notebook"] == notebook.stem]
    if not rows:
        return "No notebook is published yet.\n"
    header = ["| page | run | parameters | time |", "|---|---|---|---|"]
    return "\n".join(header + rows) + "\n"


def _row(path, run):
    given = given_as_text(run["parameters"]).replace("|", "\\|")  # or it would end the cell
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return f"| {page} | {run['name']} | {given or 'as published'} | {run['seconds']:.1f} s |"
