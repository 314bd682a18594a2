"""The run gallery: one row a rerun, and its numbers beside those of the published run."""

import re
from itertools import cycle, repeat
from pathlib import Path

import nbformat
import pandas as pd
from bs4 import BeautifulSoup
from IPython.display import Markdown
from matplotlib.lines import Line2D

from companion.browser.numbers import take_apart, value_of
from companion.evidence.plots import COLORS, legend_below, new_figure
from companion.evidence.tables import captioned, markdown, rubric, unbroken
from companion.kit.display import picture
from companion.kit.parameters import list_notebooks
from companion.kit.rerun_page import given_as_text, read_reruns
from companion.paths import ROOT, RUNS


def compare_runs(published, rerun):
    """Pair the numbers of two executed notebooks; also count those that only one of them has."""
    pairs, alone = [], 0
    for cells in zip(_code(published), _code(rerun), strict=False):
        old, new = map(_numbers, cells)
        for what in [key for key in old if key in new]:
            pairs += zip(repeat(what), old[what], new[what], strict=False)
        alone += sum(len((old | new)[what]) for what in old.keys() ^ new.keys())
    return pd.DataFrame(pairs, columns=["what", "published", "rerun"]), alone


def _code(notebook):
    injected = "injected-parameters"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if injected not in cell.metadata.get("tags", [])]


def _numbers(cell):
    """The numbers of a cell's outputs, by the words that stand with them."""
    found = {}
    for output in cell.outputs:
        for line in output.get("text", "").splitlines():
            words, numbers = take_apart(line)
            found.setdefault(words.strip(), []).extend(numbers)
        page = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
        for table in page("table"):
            _add_table(table, found)
    return {words: numbers for words, numbers in found.items() if numbers}


def _add_table(table, found):
    caption = table.caption.get_text(" ", strip=True).split(":")[0] if table.caption else "table"
    rows = [[cell.get_text(" ", strip=True) for cell in row(["th", "td"])] for row in table("tr")]
    for row in rows[1:]:
        # Two methods of one case are two rows: the words of the second cell tell them apart.
        label = row[0] if take_apart(row[1])[1] else f"{row[0]}, {row[1]}"
        for head, text in zip(rows[0][1:], row[1:], strict=False):
            found.setdefault(f"{caption} › {label} › {head}", []).extend(take_apart(text)[1])


# The page


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
                rows.append((link, run["name"], given, f"{run['seconds']:.1f} s"))
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return Markdown(captioned(table, "The published runs and the reruns", "runs"))


def _beside_published(root):
    """Read every rerun whose notebook is published: its name, the published run, its own."""
    published, (reruns, _) = list_notebooks(root), read_reruns(Path(root) / RUNS)
    sources = {path.stem: nbformat.read(path, as_version=4) for path in published}
    return [
        (path.stem, sources[run["notebook"]], nbformat.read(path, as_version=4))
        for path, run in reruns.items()
        if run["notebook"] in sources
    ]


def comparisons(root=ROOT):
    """Set every rerun beside the published run of its notebook."""
    texts = [comparison(*runs) for runs in _beside_published(root)]
    return Markdown("\n\n".join(texts) or "No rerun lies in `book/runs/` yet.")


_MARKS = {"o": "black", "s": "red", "^": "green", "D": "blue"}


def means_picture(root=ROOT):
    """Draw the table of each rerun beside the published one; nothing if no rerun has a table."""
    tables = {name: table_means(*runs) for name, *runs in _beside_published(root)}
    tables = {name: means for name, means in tables.items() if means}
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


def table_means(published, rerun):
    """The mean accuracies, published and of the rerun, by case and method."""
    found = {}
    for pair in compare_runs(published, rerun)[0].itertuples():
        table, *cell = pair.what.split(" › ")
        if table.startswith("Our Table"):  # the mean stands before its standard deviation
            found.setdefault(tuple(cell), (value_of(pair.published), value_of(pair.rerun)))
    return found


def comparison(name, published, rerun):
    """Set a rerun beside the published run of its notebook, number by number."""
    prose = "\n".join(cell.source for cell in rerun.cells if cell.cell_type == "markdown")
    heading = next(iter(re.findall(r"^# (.*)", prose, re.MULTILINE)), name)
    title = rubric(heading, f"run-{name}") + f"{{doc}}`This run </{RUNS}/{name}>`: "
    pairs, alone = compare_runs(published, rerun)
    other = pairs[pairs["published"].map(value_of) != pairs["rerun"].map(value_of)]
    text = (
        f"{title}{len(pairs)} numbers stand in both runs, {len(pairs) - len(other)} of them are "
        f"equal and {len(other)} differ; {alone} stand in one run only."
    )
    if other.empty:
        return text
    other = other.map(_as_text).set_axis(["What (numbers as #)", "published", "this run"], axis=1)
    head = ":::{dropdown} The numbers that differ\n:class-body: ddr-compared\n"
    return f"{text}\n\n{head}\n{markdown(other)}\n:::"


def _as_text(cell):
    """Show whatever a rerun holds as text: nothing of it may act as Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#$|~])", r"\\\1", unbroken(cell) if len(cell) < 12 else cell)
