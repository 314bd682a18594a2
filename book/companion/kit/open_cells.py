"""Which cells of a notebook the page's own Python can run, and which earlier ones each needs.

A cell runs there if neither it nor what it takes from others comes from what the page lacks. Cells
change no objects that others made, so the names that they give and take tell what needs what.
"""

import re
import symtable

import nbformat

# The page has neither the companion nor piqp, by which KLIEP and KMM are solved.
_ABSENT = re.compile(r"\b(companion|KLIEP|KMM)\b")


def open_cells(path):
    """Describe each cell that runs in the page, in order, as the page's script wants it."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    lost, names, found = set(), {}, []
    for at, cell in enumerate(cells):
        takes, gives = _names(cell.source)
        if _ABSENT.search(cell.source) or takes & lost:
            lost |= gives
        elif "parameters" not in cell.metadata.get("tags", []):
            lost -= gives
            about = {"at": at, "source": cell.source, "needs": _needs(takes, names)}
            found.append(about | {"published": _printed(cell), "tolerance": _tolerance(cell)})
            names[at] = takes, gives
    return found


def _names(source):
    """Names that a cell takes from others, and those that it gives a value."""
    top = symtable.symtable(source, "cell", "exec")
    scopes = [top]
    for scope in scopes:
        scopes += scope.get_children()
    used = {s.get_name() for t in scopes for s in t.get_symbols() if s.is_global()}
    gives = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    return used - gives, gives


def _needs(takes, names):
    """Positions of the earlier cells that give what is taken, by way of others too."""
    chosen = []
    for at, (their_takes, their_gives) in reversed(names.items()):
        if takes & their_gives:
            chosen.insert(0, at)
            takes = takes - their_gives | their_takes
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
