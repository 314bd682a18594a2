"""Sphinx extension: let many docstrings on one page each have their own reference ``[1]``."""

import re

_USE = re.compile(r"\[(\d+)\]_")
_DEFINITION = re.compile(r"^(\s*\.\. )\[(\d+)\]")


def label_footnotes(app, what, name, obj, options, lines):
    """Turn ``[1]`` into an automatically numbered footnote whose label names the object."""
    key = re.sub(r"\W+", "-", name)
    for number, line in enumerate(lines):
        line = _DEFINITION.sub(rf"\1[#{key}-\2]", line)
        lines[number] = _USE.sub(rf"[#{key}-\1]_", line)


def setup(app):
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", label_footnotes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
