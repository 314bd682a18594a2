"""Turn an executed notebook into the page of a rerun: its own title and labels.

The code stays what it was, and so do the words. They speak of the published run, so their
references lead to its page; what a book cannot hold twice gets a name of its own.
"""

import re
from itertools import count
from pathlib import Path

import nbformat

from companion.runs.published import shown_results

# (label)= before a heading, and the options of directives
_LABEL = re.compile(r"^(\([\w:.-]+(?=\)=)|:(?:label|name):\s*[\w:.-]+)", re.MULTILINE)
_EQUATION = re.compile(r"\$\$\n((?:(?!\$\$).)*?)\n\$\$ \([\w:.-]+\)", re.DOTALL)
_FACTS = ("name", "notebook", "parameters", "seconds")


def as_rerun(notebook, source_name, run_name, values, seconds):
    """Give an executed copy its own title and labels."""
    numbers = count(1)

    def numbered(equation):  # in its place, because the book would go on counting in the copy
        tag = f"{equation[1]} \\tag{{{next(numbers)}}}"
        return f"\\begin{{equation*}}\n{tag}\n\\end{{equation*}}"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            # Two dashes: no label has them, so no label and run can join to another pair's name.
            cell.source = _LABEL.sub(rf"\1--{run_name}", _EQUATION.sub(numbered, cell.source))
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "name" in figure:
            figure["name"] += f"--{run_name}"
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                output["name"] = "stdout"  # a warning must not fail the build of the book
    title = notebook.cells[0]
    title.source = re.sub(r"^(# .*)$", rf"\1 — run {run_name}", title.source, count=1, flags=re.M)
    text = (
        f":::{{note}}\nA rerun of {{doc}}`/notebooks/{source_name}`. Parameters given: "
        f"{given_as_text(values) or 'none'}. The answer below and the sentences speak of the "
        "published runs; the numbers after the parameters are this run's own.\n:::"
    )
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(text, id="rerun-note"))
    facts = zip(_FACTS, (run_name, source_name, values, round(seconds, 1)), strict=True)
    notebook.metadata["ddr"] = {"run": dict(facts) | {"results": shown_results()}}
    return notebook


def given_as_text(values):
    """Write parameters as Markdown code, which shows whatever characters they hold."""
    return ", ".join(_code_span(f"{name} = {value!r}") for name, value in values.items())


def _code_span(text):
    ticks = re.findall("`+", text)
    fence, space = ("`" + max(ticks, key=len), " ") if ticks else ("`", "")
    return f"{fence}{space}{text}{space}{fence}"


def read_reruns(folder):
    """Read what is known of each rerun in a folder, and a sentence on other notebooks there."""
    reruns, refused = {}, {}
    for path in sorted(Path(folder).glob("*.ipynb")):
        try:
            facts = nbformat.read(path, as_version=4).metadata["ddr"]["run"]
            reruns[path] = {name: facts[name] for name in _FACTS}
            reruns[path]["older"] = facts.get("results") != shown_results()
        except (OSError, TypeError, ValueError, LookupError, AttributeError):
            refused[path] = f"{path.name} was not written by `ddr-book run`, so it is left out"
    return reruns, refused
