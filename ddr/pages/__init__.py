"""Tables and figures of the book that are computed, so that no number in its prose is typed.

Each module named in :data:`PAGES` has either a function ``write(folder)``, which writes Markdown
fragments and figures and returns their paths, or, for a single fragment, a function ``render()``,
whose text goes to a file of the module's name.
"""

from importlib import import_module
from pathlib import Path

#: The modules that write something, in the order in which they run.
PAGES = ("ddr.pages.data", "ddr.pages.runs", "ddr.pages.status")


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
    return [path for page in PAGES for path in _write(import_module(page), folder)]


def _write(page, folder):
    if hasattr(page, "write"):
        return page.write(folder)
    path = folder / f"{page.__name__.rpartition('.')[2]}.md"
    path.write_text(page.render(), encoding="utf-8")
    return [path]
