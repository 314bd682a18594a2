"""Turn an executed notebook into the page of a rerun: its own title, labels and links.

The code stays what it was. Only the prose changes, because a book cannot hold the same label twice
and because the copy lies in another folder than its source.
"""

import os
import re

import nbformat

_LABELS = (
    re.compile(r"^\(([\w:.-]+)\)=", re.MULTILINE),  # (label)= before a heading
    re.compile(r"^:(?:label|name):\s*([\w:.-]+)", re.MULTILINE),  # directive options
    re.compile(r"\$\$\s*\(([\w:.-]+)\)"),  # $$ .. $$ (label)
    re.compile(r"\\label\{([\w:.-]+)\}"),
)
_LINK = re.compile(r"(\]\()(?!\w+:|#|/)([^)#\s]+)")
_DOC = re.compile(r"(\{doc\}`(?:[^`<]*<)?)(?!/)([\w./-]+)(?=>?`)")
_GLUE = re.compile(r"(\{glue(?::\w+)?\}`)(?!/)([\w./-]+)(?=::)")  # a value of another page
_HOME, _AWAY = "notebooks", "book/runs"


def as_rerun(notebook, source_name, run_name, values, seconds):
    """Give an executed copy its own title, labels and links."""
    labels = find_labels(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = move_links(rename_labels(cell.source, labels, run_name))
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        for key in ("name", "caption"):
            if key in figure:
                figure[key] = rename_labels(figure[key], labels, run_name)
    _retitle(notebook, source_name, run_name, values)
    notebook.metadata["ddr"] = {
        "run": {
            "name": run_name,
            "notebook": source_name,
            "parameters": values,
            "seconds": round(seconds, 1),
        }
    }
    return notebook


def find_labels(notebook):
    """Collect the cross-reference labels that a notebook defines."""
    labels: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            labels.update(name for pattern in _LABELS for name in pattern.findall(cell.source))
        labels.update(filter(None, [cell.metadata.get("mystnb", {}).get("figure", {}).get("name")]))
    return labels


def rename_labels(text, labels, run_name):
    """Append the run's name to each label, where it is defined and where it is referred to."""
    for label in labels:
        whole = rf"(?<![\w:.-]){re.escape(label)}(?![\w:.-])"
        text = re.sub(whole, f"{label}-{run_name}", text)
    return text


def move_links(text):
    """Make links that are relative to ``notebooks/`` hold from ``book/runs/``."""

    def link(match):
        moved = os.path.relpath(os.path.join(_HOME, match[2]), _AWAY)
        return match[1] + moved.replace(os.sep, "/")

    def role(match):
        return match[1] + "/" + os.path.normpath(os.path.join(_HOME, match[2])).replace(os.sep, "/")

    return _GLUE.sub(role, _DOC.sub(role, _LINK.sub(link, text)))


def _retitle(notebook, source_name, run_name, values):
    title = next((c for c in notebook.cells if c.cell_type == "markdown"), None)
    if title is None or not re.search(r"^# ", title.source, re.MULTILINE):
        raise ValueError(f"{source_name} must begin with a Markdown cell that has a # title")
    title.source = re.sub(r"^(# .*)$", rf"\1 — run {run_name}", title.source, count=1, flags=re.M)
    changed = ", ".join(f"`{name} = {value!r}`" for name, value in values.items()) or "none"
    note = nbformat.v4.new_markdown_cell(
        f":::{{note}}\nA rerun of {{doc}}`/notebooks/{source_name}`, executed by "
        f"`ddr-book run`. Parameters given: {changed}. The reading between the cells was "
        "written for the published run; the numbers here are this run's own.\n:::",
        id="rerun-note",
    )
    notebook.cells.insert(notebook.cells.index(title) + 1, note)


def same_code(run, source):
    """Whether a rerun executed exactly the code of its source."""
    return _code(run) == _code(source)


def _code(notebook):
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
    ]
