"""The status page: versions of what the book was built with, and the time of each notebook."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ddr import __version__
from ddr.notebook import ROOT, TIMES, list_notebooks

LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "clarabel",
    "pandas",
    "matplotlib",
    "papermill",
    "nbval",
    "jupyter-book",
    "sphinx",
)


def render(root=ROOT):
    """Write the status tables as Markdown.

    Parameters
    ----------
    root : Path
        The repository.

    Returns
    -------
    str
        Two tables: versions and notebook times.
    """
    return "\n\n".join([_versions(), _times(Path(root))]) + "\n"


def _versions():
    rows = [("ddr-companion", __version__), ("Python", platform.python_version())]
    rows += [(name, _installed(name)) for name in LIBRARIES]
    return "\n".join(["| package | version |", "|---|---|", *(f"| {n} | {v} |" for n, v in rows)])


def _installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _times(root):
    record = root / TIMES
    times = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    notebooks = [path.stem for path in list_notebooks(root)]
    if not notebooks:
        return "No notebook is published yet."
    rows = [
        f"| {{doc}}`/notebooks/{name}` | "
        + (f"{times[name]:.1f} s |" if name in times else "not executed in this build |")
        for name in notebooks
    ]
    return "\n".join(["| notebook | time to execute |", "|---|---|", *rows])
