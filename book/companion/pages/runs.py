"""The run gallery: one row per rerun, and its numbers beside those of the published run."""

import re
import sys
from pathlib import Path

import nbformat
import pandas as pd

from companion.evidence.tables import captioned, markdown, unbroken
from companion.kit.compare_runs import compare_runs, equal
from companion.kit.execute import ROOT, RUNS
from companion.kit.parameters import list_notebooks
from companion.kit.rerun_page import given_as_text, read_reruns


def files(evidence=None, root=ROOT):
    """Give the fragments of the gallery page; a file that is no rerun is named and left out."""
    reruns, refused = read_reruns(Path(root) / RUNS)
    for sentence in refused.values():
        print(sentence, file=sys.stderr)
    comparisons = "\n\n".join(comparison(path, run, root) for path, run in reruns.items())
    none = "No rerun lies in `book/runs/` yet."
    return {"runs.md": runs_table(reruns, root), "runs_compared.md": comparisons or none}


def runs_table(reruns, root=ROOT):
    """Return the gallery's table as Markdown."""
    rows = []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append((link, "published", "as in its parameters cell", "see {doc}`/book/status`"))
        rows += [_row(p, run) for p, run in reruns.items() if run["notebook"] == notebook.stem]
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return captioned(table, "The published runs and the reruns", "runs")


def _row(path, run):
    given = given_as_text(run["parameters"])
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return page, run["name"], given or "as published", f"{run['seconds']:.1f} s"


def comparison(path, run, root=ROOT):
    """Set a rerun beside the published run of its notebook, number by number."""
    source = Path(root) / "notebooks" / f"{run['notebook']}.ipynb"
    rerun = nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in rerun.cells if cell.cell_type == "markdown")
    heading = next(iter(re.findall(r"^# (.*)", prose, re.MULTILINE)), path.stem)
    title = f"## {heading}\n\n{{doc}}`This run </{RUNS}/{path.stem}>`: "
    if not source.exists():
        return f"{title}its notebook is not published."
    pairs, alone = compare_runs(nbformat.read(source, as_version=4), rerun)
    other = [pair for pair in pairs if not equal(pair)]
    text = (
        f"{title}{len(pairs)} numbers stand in both runs, {len(pairs) - len(other)} of them are "
        f"equal and {len(other)} differ; {alone} stand in one run only."
    )
    if not other:
        return text
    table = pd.DataFrame(other, columns=["What (numbers as #)", "published", "this run"])
    head = ":::{dropdown} The numbers that differ\n:class-body: ddr-compared\n"
    return f"{text}\n\n{head}\n{markdown(table.map(_as_text))}\n:::"


def _as_text(cell):
    """Show whatever a rerun holds as text: nothing of it may act as Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#$|~])", r"\\\1", unbroken(cell) if len(cell) < 12 else cell)
