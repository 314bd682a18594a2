"""The status page: versions of what the book was built with, and the time of each notebook."""

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

from companion.evidence.tables import captioned
from companion.kit.execute import ROOT, TIMES
from companion.kit.files import read_record
from companion.kit.parameters import list_notebooks
from ddr import __version__


def files(evidence=None, root=ROOT):
    """Give the fragments of the status page."""
    return {"status_versions.md": versions_table(root), "status_times.md": times_table(root)}


def versions_table(root=ROOT):
    """Return the versions of Python and of each direct dependency as Markdown."""
    lines = (Path(root) / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = [match[0] for match in (re.match(r"[A-Za-z][\w.-]*", line) for line in lines) if match]
    rows = [("ddr-companion", __version__), ("Python", platform.python_version())]
    rows += [(name, _installed(name)) for name in names]
    table = pd.DataFrame(rows, columns=["package", "version"])
    return captioned(table, "Versions of this build", "status-versions")


def _installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def times_table(root=ROOT):
    """Return how long each notebook took to execute, as Markdown."""
    times = read_record(Path(root) / TIMES)
    notebooks = [path.stem for path in list_notebooks(root)]
    taken = [f"{times[n]:.1f} s" if n in times else "not executed in this build" for n in notebooks]
    links = [f"{{doc}}`/notebooks/{name}`" for name in notebooks]
    table = pd.DataFrame({"notebook": links, "time to execute": taken})
    return captioned(table, "Time to execute each notebook", "status-times")
