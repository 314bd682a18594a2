"""Tables and figures of the book that are computed, so that no number in its prose is typed.

Each module named in :data:`PAGES` has a function ``write(folder)``, which writes Markdown
fragments and figures and returns their paths.
"""

from importlib import import_module
from pathlib import Path

#: The modules that write something, in the order in which they run.
PAGES = (
    "ddr.pages.data",
    "ddr.pages.audit",
    "ddr.pages.claims",
    "ddr.pages.deviations",
    "ddr.pages.landing",
    "ddr.pages.scoreboard",
    "ddr.pages.protocols",
    "ddr.pages.multiverse",
    "ddr.pages.benchmarks",
    "ddr.pages.runs",
    "ddr.pages.status",
    "ddr.pages.api",
)


def write_all(folder):
    """Write everything that the book's pages include.

    Parameters
    ----------
    folder : path
        Made if absent.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [path for page in PAGES for path in import_module(page).write(folder)]
