"""The run gallery: one row a rerun, and its table beside that of the published run."""

from itertools import cycle
from pathlib import Path

import nbformat
import pandas as pd
from bs4 import BeautifulSoup
from IPython.display import Markdown
from matplotlib.lines import Line2D

from companion.browser.numbers import take_apart
from companion.evidence.plots import COLORS, legend_below, new_figure
from companion.evidence.tables import captioned
from companion.kit.display import picture
from companion.kit.parameters import list_notebooks
from companion.kit.rerun_page import given_as_text, read_reruns
from companion.paths import ROOT, RUNS

_MARKS = {"o": "black", "s": "red", "^": "green", "D": "blue"}


def runs_table(root=ROOT):
    """Tabulate the published runs and the reruns of each notebook."""
    (reruns, _), rows = read_reruns(Path(root) / RUNS), []
    for notebook in list_notebooks(root):
        link = f"{{doc}}`/notebooks/{notebook.stem}`"
        rows.append((link, "published", "as in its parameters cell", "see {doc}`/book/status`"))
        for path, run in reruns.items():
            if run["notebook"] == notebook.stem:
                given = given_as_text(run["parameters"]) or "as published"
                link = f"{{doc}}`/{RUNS}/{path.stem}`"
                name = run["name"] + ", older than the results it shows" * run["older"]
                rows.append((link, name, given, f"{run['seconds']:.1f} s"))
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return Markdown(captioned(table, "The published runs and the reruns", "runs"))


def table_means(path):
    """Read the mean accuracies of an executed notebook's table, by case and method."""
    found = {}
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            page = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
            for table in page("table"):
                if table.caption and table.caption.get_text().startswith("Our Table"):
                    (_, *methods), *rows = [
                        [cell.get_text(" ", strip=True) for cell in row(["th", "td"])]
                        for row in table("tr")
                    ]
                    for case, *cells in rows:
                        for method, text in zip(methods, cells, strict=True):
                            # the mean stands before its standard deviation
                            if numbers := take_apart(text)[1]:
                                found[case, method] = float(numbers[0])
    return found


def means_beside_published(root=ROOT):
    """Pair the means of each rerun with the published ones, if its notebook has a table."""
    published, pairs = {path.stem: path for path in list_notebooks(root)}, {}
    for path, run in read_reruns(Path(root) / RUNS)[0].items():
        if run["notebook"] in published:
            new, old = table_means(path), table_means(published[run["notebook"]])
            pairs[path.stem] = {key: (old[key], new[key]) for key in new if key in old}
    return {name: means for name, means in pairs.items() if means}


def means_picture(root=ROOT):
    """Draw the table of each rerun beside the published one; nothing if no rerun has a table."""
    tables = means_beside_published(root)
    if not tables:
        return None
    lengths = [1 + len({case for case, _ in means}) for means in tables.values()]
    options = {"rows": len(tables), "gridspec_kw": {"height_ratios": lengths}}
    figure, axes = new_figure(8, 0.4 * sum(lengths) + 0.8, **options)
    handles = {}
    for axis, (name, means) in zip(axes, tables.items(), strict=True):
        cases, methods = (list(dict.fromkeys(part)) for part in zip(*means, strict=True))
        styles = dict(zip(methods, cycle(_MARKS.items()), strict=False))
        for (case, method), (old, new) in means.items():
            marker, color = styles[method]
            style = {"marker": marker, "color": COLORS[color], "ms": 5}
            height = cases.index(case) + 0.18 * (methods.index(method) - 1.5)
            axis.plot([old, new], [height, height], mfc="white", lw=1, **style)
            axis.plot(new, height, **style)
            handles[method] = Line2D([], [], label=method, ls="", **style)
        axis.set(yticks=range(len(cases)), yticklabels=cases, ylim=(len(cases) - 0.5, -0.5))
        axis.grid(axis="x", lw=0.4, alpha=0.5)
        axis.set(title=name, xlabel="mean accuracy (hollow: published)")
    legend_below(figure, list(handles.values()), columns=4)
    return picture(figure)
