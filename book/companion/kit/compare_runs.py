"""The run gallery: one row a rerun, and its numbers beside those of the published run."""

import re
from pathlib import Path
from typing import NamedTuple

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


class Pair(NamedTuple):
    """One number that both runs print: what it is, and the two values as printed."""

    what: str
    published: str
    rerun: str


def compare_runs(published, rerun):
    """Pair the numbers of two executed notebooks; also count those that only one of them has."""
    pairs, alone = [], 0
    for ours, theirs in zip(_code(published), _code(rerun), strict=False):
        first, second = _numbers(ours), _numbers(theirs)
        for what in [key for key in first if key in second]:
            both = zip(first[what], second[what], strict=False)
            pairs += [Pair(what, old, new) for old, new in both]
        alone += sum(len((first | second)[what]) for what in first.keys() ^ second.keys())
    return pairs, alone


def equal(pair):
    """Whether both runs print the same value."""
    return value_of(pair.published) == value_of(pair.rerun)


def _code(notebook):
    injected = "injected-parameters"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if injected not in cell.metadata.get("tags", [])]


def _numbers(cell):
    """The numbers of a cell's outputs, by the words that stand with them."""
    found = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            for line in output.text.splitlines():
                words, numbers = take_apart(line)
                found.setdefault(words.strip(), []).extend(numbers)
        page = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
        for table in page("table"):
            _add_table(table, found)
    return {words: numbers for words, numbers in found.items() if numbers}


def _add_table(table, found):
    caption = table.caption.get_text(" ", strip=True).split(":")[0] if table.caption else "table"
    rows = [[cell.get_text(" ", strip=True) for cell in row(["th", "td"])] for row in table("tr")]
    heads = rows[0] if rows else []
    for row in rows[1:]:
        for head, text in zip(heads[1:], row[1:], strict=False):
            # Two methods of one case are two rows: the words of the second cell tell them apart.
            label = row[0] if take_apart(row[1])[1] else f"{row[0]}, {row[1]}"
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


_MARKS = (("o", "black"), ("s", "red"), ("^", "green"), ("D", "blue"))


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
        handles |= _draw_means(axis, means)
        axis.set(title=name, xlabel="mean accuracy")
    for label, fill in (("published", "white"), ("this run", COLORS["grey"])):
        style = {"marker": "o", "ls": "", "color": COLORS["grey"], "mfc": fill}
        handles[label] = Line2D([], [], label=label, **style)
    legend_below(figure, list(handles.values()), columns=4)
    return picture(figure)


def _draw_means(axis, means):
    cases, methods = (list(dict.fromkeys(part)) for part in zip(*means, strict=True))
    handles = {}
    for (case, method), (old, new) in means.items():
        place = methods.index(method) % len(_MARKS)
        marker, color = _MARKS[place]
        style = {"marker": marker, "color": COLORS[color], "ms": 5}
        height = cases.index(case) + 0.18 * (place - 1.5)
        axis.plot([old, new], [height, height], mfc="white", lw=1, **style)
        axis.plot(new, height, **style)
        handles[method] = Line2D([], [], label=method, ls="", **style)
    axis.set(yticks=range(len(cases)), yticklabels=cases, ylim=(len(cases) - 0.5, -0.5))
    axis.grid(axis="x", lw=0.4, alpha=0.5)
    return handles


def table_means(published, rerun):
    """The mean accuracies, published and of the rerun, by case and method."""
    found = {}
    for pair in compare_runs(published, rerun)[0]:
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
