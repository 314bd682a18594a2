"""Tables and figures of the book that are computed, so that no number in its prose is typed.

Each module named in :data:`PAGES` has a function ``write(folder)``, which writes Markdown
fragments and figures and returns their paths.
"""

from importlib import import_module
from pathlib import Path

#: The modules that write something, in the order in which they run.
PAGES = (
    "companion.pages.data",
    "companion.pages.audit",
    "companion.pages.claims",
    "companion.pages.deviations",
    "companion.pages.landing",
    "companion.pages.scoreboard",
    "companion.pages.protocols",
    "companion.pages.multiverse",
    "companion.pages.benchmarks",
    "companion.pages.runs",
    "companion.pages.status",
)


def write_all(folder):
    """Write everything that the book's pages include."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [path for page in PAGES for path in import_module(page).write(folder)]
