"""Sphinx extension: leave out files of ``book/runs`` that are no rerun, as the gallery does.

A truncated or foreign notebook there would otherwise fail the build of the whole book.
"""

from pathlib import Path

from companion.kit.rerun_page import read_reruns


def leave_out(app, config):
    """Exclude them before Sphinx looks for pages."""
    root = Path(app.srcdir)
    config.exclude_patterns += [
        str(path.relative_to(root)) for path in read_reruns(root / "book" / "runs")[1]
    ]


def setup(app):
    """Register with Sphinx, before the table of contents is read."""
    app.connect("config-inited", leave_out, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
