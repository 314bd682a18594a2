"""Sphinx extension: give each of several names that a docstring lists in one line its own entry.

Numpydoc allows ``sigma_, lam_ : float``; napoleon would take the first names for a type.
"""

import re

_SEVERAL = re.compile(r"^(\s*)(\w+(?:, \w+)+) : (.*)$")


def split_names(app, what, name, obj, options, lines):
    """Rewrite one docstring in place, repeating what is said of the names together."""
    rest = list(lines)
    lines.clear()
    while rest:
        several = _SEVERAL.match(rest[0])
        if several is None:
            lines.append(rest.pop(0))
            continue
        rest.pop(0)
        indent, names, kind = several.groups()
        said = []
        while rest and rest[0].startswith(f"{indent}    "):
            said.append(rest.pop(0))
        for each in names.split(", "):
            lines += [f"{indent}{each} : {kind}", *said]


def setup(app):
    """Register with Sphinx, ahead of napoleon."""
    app.connect("autodoc-process-docstring", split_names, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
