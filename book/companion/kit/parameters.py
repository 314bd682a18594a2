"""The parameters of the published notebooks: find them, print their card, check a running one."""

import ast
from pathlib import Path
from textwrap import wrap

import nbformat
from tabulate import tabulate

from companion.browser.declared import check_values, parse_parameters
from companion.paths import ROOT

_CARD_COLUMN = 32  # characters; longer cells go on below


def validate_here(name, scope):
    """Check the parameters of a running notebook, which papermill alone does not do.

    Returns those that are not the published ones.
    """
    declared = read_parameters(find_notebook(name))
    given = {parameter.name: scope[parameter.name] for parameter in declared}
    values = check_values(declared, dict.fromkeys(_injected(scope)) | given)
    scope.update(values)
    return {p.name: values[p.name] for p in declared if values[p.name] != p.default}


def _injected(scope):
    """Names in the cell that papermill inserts; a misspelt one would otherwise go unnoticed."""
    cells = [source for source in scope.get("In", []) if source.startswith("# Parameters\n")]
    nodes = [node for source in cells for node in ast.walk(ast.parse(source))]
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def format_card(parameters):
    """Lay the declarations out as a plain-text table."""
    heads = ("name", "type", "default", "paper", "allowed", "meaning")
    rows = [
        (p.name, p.type_name, repr(p.default), p.paper or "-", p.allowed or "any", p.meaning)
        for p in parameters
    ]
    folded = [["\n".join(wrap(cell, _CARD_COLUMN)) for cell in row] for row in rows]
    return tabulate(folded, heads, tablefmt="plain", disable_numparse=True)


def find_notebook(name, root=ROOT):
    """Find a published notebook by its name."""
    wanted = Path(name).name.removesuffix(".ipynb")
    published = {path.stem: path for path in list_notebooks(root)}
    if wanted not in published:
        known = ", ".join(published) or "none yet"
        raise ValueError(f"notebook must be one of {known}; got {name!r}")
    return published[wanted]


def list_notebooks(root=ROOT):
    """List the published notebooks in reading order."""
    return sorted((Path(root) / "notebooks").glob("*.ipynb"))


def read_parameters(path):
    """Read what a notebook declares in the cell tagged ``parameters``."""
    return parse_parameters(declarations(path))


def declarations(path):
    """Find the source of the cell tagged ``parameters``."""
    notebook = nbformat.read(path, as_version=4)
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        name = Path(path).name
        raise ValueError(f"{name} must have one cell tagged parameters, got {len(tagged)}")
    return tagged[0].source
