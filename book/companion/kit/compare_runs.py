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
from companion.kit.execute import ROOT, RUNS
from companion.kit.parameters import list_notebooks
from companion.kit.rerun_page import given_as_text, read_reruns


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
        rows += [_row(p, run) for p, run in reruns.items() if run["notebook"] == notebook.stem]
    table = pd.DataFrame(rows, columns=["page", "run", "parameters", "time"])
    return Markdown(captioned(table, "The published runs and the reruns", "runs"))


def _row(path, run):
    given = given_as_text(run["parameters"])
    page = f"{{doc}}`/{RUNS}/{path.stem}`"
    return page, run["name"], given or "as published", f"{run['seconds']:.1f} s"


def comparisons(root=ROOT):
    """Set every rerun beside the published run of its notebook."""
    reruns, _ = read_reruns(Path(root) / RUNS)
    texts = [comparison(path, run, root) for path, run in reruns.items()]
    return Markdown("\n\n".join(texts) or "No rerun lies in `book/runs/` yet.")


_MARKS = (("o", "black"), ("s", "red"), ("^", "green"), ("D", "blue"))


def means_picture(root=ROOT):
    """Draw the table of each rerun beside the published one; nothing if no rerun has a table."""
    reruns, _ = read_reruns(Path(root) / RUNS)
    tables = {path.stem: table_means(path, _published(run, root)) for path, run in reruns.items()}
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


def table_means(path, source):
    """The mean accuracies, published and of the rerun, by case and method."""
    found = {}
    for pair in compare_runs(source, nbformat.read(path, as_version=4))[0] if source else ():
        table, *cell = pair.what.split(" › ")
        if table.startswith("Our Table"):  # the mean stands before its standard deviation
            found.setdefault(tuple(cell), (value_of(pair.published), value_of(pair.rerun)))
    return found


def _published(run, root):
    source = Path(root) / "notebooks" / f"{run['notebook']}.ipynb"
    return nbformat.read(source, as_version=4) if source.exists() else None


def comparison(path, run, root=ROOT):
    """Set a rerun beside the published run of its notebook, number by number."""
    source, rerun = _published(run, root), nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in rerun.cells if cell.cell_type == "markdown")
    heading = next(iter(re.findall(r"^# (.*)", prose, re.MULTILINE)), path.stem)
    title = rubric(heading, f"run-{path.stem}") + f"{{doc}}`This run </{RUNS}/{path.stem}>`: "
    if source is None:
        return f"{title}its notebook is not published."
    pairs, alone = compare_runs(source, rerun)
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
