"""Which cells of a notebook the page's own Python can run, and what each of them needs.

A statement runs there if all that it reads comes from the packages that the page has; what the
companion fetches, draws or judges stays behind, and so does whatever is made of it.
"""

import ast
import sys

import nbformat

_PRESENT = {"ddr", "numpy", "scipy", "sklearn", "pandas", "matplotlib", "joblib"}
_WITHOUT_SOLVER = {"KLIEP", "KMM"}  # they need piqp, which the page lacks
_MAKES = (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_OPAQUE = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


def open_cells(path):
    """Describe each cell that runs in the page, in order, as the page's script wants it."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    parts = _open_parts([cell.source for cell in cells])
    whole = [
        bool(part) and len(part) == len(ast.parse(cell.source).body)
        for cell, part in zip(cells, parts, strict=True)
    ]
    tags = [cell.metadata.get("tags", []) for cell in cells]
    _drop_idle(parts, whole)
    found = [
        {
            "at": at,
            "source": cell.source if whole[at] else "\n".join(map(ast.unparse, parts[at])),
            "open": whole[at],
            "needs": _needs(parts, at),
            "published": _printed(cell),
            "tolerance": _tolerance(cell),
        }
        for at, cell in enumerate(cells)
        if parts[at] and "parameters" not in tags[at]
    ]
    declared = [at for at in range(len(cells)) if "parameters" in tags[at]]
    for cell in found:
        cell["needs"] = [at for at in cell["needs"] if at not in declared]
    return found


def _open_parts(sources):
    lost, parts = set(), []
    for source in sources:
        part = []
        for statement in ast.parse(source).body:
            if _absent(statement) or _reads(statement) & lost:
                lost |= _changes(statement)
            else:
                lost -= _changes(statement)
                part.append(statement)
        parts.append(part)
    return parts


def _drop_idle(parts, whole):
    """Keep of a cell that runs in part what a whole one needs, and calls such as ``a.f()``."""
    wanted = set()
    for at in reversed(range(len(parts))):
        kept = []
        for statement in reversed(parts[at]):
            if whole[at] or _changes(statement) & wanted or isinstance(statement, ast.Expr):
                kept.insert(0, statement)
                wanted |= _reads(statement)
        parts[at] = kept


def _absent(statement):
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            lacks = _WITHOUT_SOLVER & {alias.name for alias in node.names}
            names.append("piqp" if lacks else node.module or "")
    known = _PRESENT | sys.stdlib_module_names
    return any(name.partition(".")[0] not in known for name in names)


def _reads(statement):
    """Names that a statement takes from outside: not its loop variables, arguments and locals."""
    own = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            own |= set().union(*map(_binds, node.body))
        elif isinstance(node, (ast.For, ast.comprehension)):
            own |= _binds(node.target)
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and _is_load(n)} - own


def _is_load(node):
    return isinstance(node.ctx, ast.Load)


def _binds(statement):
    """Names that a statement gives a value."""
    bound = set()
    for node in _outside_functions(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        elif isinstance(node, ast.Name) and not _is_load(node):
            bound.add(node.id)
    return bound


def _changes(statement):
    """Names that a statement binds, or whose object it may change: ``a[0] =``, ``a.f()``."""
    changed = _binds(statement)
    for node in _outside_functions(statement):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not _is_load(node):
            changed.add(_base(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed |= {_base(node.value.func)} - {getattr(node.value.func, "id", "")}
    return changed


def _outside_functions(statement):
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _OPAQUE):
            waiting += ast.iter_child_nodes(node)


def _base(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def _wants(part):
    """Names that a cell takes from earlier cells."""
    wanted, bound = set(), set()
    for statement in part:
        wanted |= _reads(statement) - bound
        bound |= _binds(statement)
    return wanted


def _needs(parts, at):
    """Positions of the earlier cells that this one takes something from, by way of others too."""
    wanted, chosen = _wants(parts[at]), []
    for earlier in reversed(range(at)):
        if any(_changes(statement) & wanted for statement in parts[earlier]):
            chosen.insert(0, earlier)
            made = [_binds(each) for each in parts[earlier] if isinstance(each, _MAKES)]
            wanted = wanted.difference(*made) | _wants(parts[earlier])
    return chosen


def _printed(cell):
    streams = [output.text for output in cell.outputs if output.output_type == "stream"]
    values = [
        output.data["text/plain"]
        for output in cell.outputs
        if output.output_type == "execute_result" and set(output.data) == {"text/plain"}
    ]
    return "".join(streams + values)


def _tolerance(cell):
    given = cell.metadata.get("ddr", {}).get("tolerance", {})
    return {key: given[key] for key in ("abs", "rel") if key in given}
