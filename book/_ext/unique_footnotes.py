"""Sphinx extension: let many docstrings on one page each have their own references ``[1]``.

A reference that the docstring's text cites becomes a footnote whose label names the object; one
that it does not cite becomes an item of a list, because Sphinx warns of uncited footnotes.
"""

import re

_USE = re.compile(r"\[(\d+)\]_")
_DEFINITION = re.compile(r"^(\s*)\.\. \[(\d+)\] ")


def label_references(app, what, name, obj, options, lines):
    """Rewrite the references of one docstring in place."""
    key = re.sub(r"\W+", "-", name)
    cited = set(_USE.findall("\n".join(lines)))

    def definition(match):
        indent, number = match.groups()
        return f"{indent}.. [#{key}-{number}] " if number in cited else f"{indent}*  "

    for position, line in enumerate(lines):
        line = _DEFINITION.sub(definition, line)
        lines[position] = _USE.sub(rf"[#{key}-\1]_", line)


def setup(app):
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", label_references)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
