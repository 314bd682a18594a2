"""Sphinx extension: leave out files of ``book/runs`` that are no rerun, and say so.

A truncated or foreign notebook there would otherwise fail the build of the whole book.
"""

import sys
from pathlib import Path

from companion.kit.rerun_page import read_reruns


def leave_out(app, config):
    """Exclude them before Sphinx looks for pages."""
    root = Path(app.srcdir)
    for path, sentence in read_reruns(root / "book" / "runs")[1].items():
        config.exclude_patterns.append(str(path.relative_to(root)))
        print(sentence, file=sys.stderr)


def setup(app):
    """Register with Sphinx, before the table of contents is read."""
    app.connect("config-inited", leave_out, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
