"""The status page: versions of what the book was built with, and the time of each notebook."""

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from companion.notebook_kit.execute import ROOT, TIMES, list_notebooks
from companion.notebook_kit.files import read_record
from companion.pages.text import numbered
from ddr import __version__


def write(folder, root=ROOT):
    """Write the fragments of the status page."""
    root, paths = Path(root), []
    for name, text in (("versions", versions_table(root)), ("times", times_table(root))):
        paths.append(Path(folder) / f"status_{name}.md")
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def versions_table(root=ROOT):
    """Return the versions of Python and of each direct dependency as Markdown."""
    lines = (Path(root) / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = [match[0] for match in (re.match(r"[A-Za-z][\w.-]*", line) for line in lines) if match]
    rows = [("ddr-companion", __version__), ("Python", platform.python_version())]
    rows += [(name, _installed(name)) for name in names]
    table = ["| package | version |", "|---|---|", *(f"| {name} | {v} |" for name, v in rows)]
    return numbered("\n".join(table) + "\n", "Versions of this build", "status-versions") + "\n"


def _installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def times_table(root=ROOT):
    """Return how long each notebook took to execute, as Markdown."""
    times = read_record(Path(root) / TIMES)
    notebooks = [path.stem for path in list_notebooks(root)]
    if not notebooks:
        return "No notebook is published yet.\n"
    rows = []
    for name in notebooks:
        taken = f"{times[name]:.1f} s" if name in times else "not executed in this build"
        rows.append(f"| {{doc}}`/notebooks/{name}` | {taken} |")
    table = "\n".join(["| notebook | time to execute |", "|---|---|", *rows]) + "\n"
    return numbered(table, "Time to execute each notebook", "status-times") + "\n"
