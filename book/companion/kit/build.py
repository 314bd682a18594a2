"""Build the site into a fresh folder, and put it in place only when it is complete.

Nothing of an earlier build is reused: what an interrupted one left behind would silently spoil the
search index. Called by ``make html``.
"""

import io
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from jupyter_book.cli.main import build as jupyter_book

from companion.paths import ROOT

SITE = "_build/html"
_WITHOUT_A_WARNING = ("-n", "-W", "--keep-going", "--quiet")


def build_site(root=ROOT):
    """Build the book under `root` and return its folder; the old one stays if that fails."""
    site = Path(root) / SITE
    site.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=site.parent) as fresh:
        arguments = [str(root), "--path-output", fresh, *_WITHOUT_A_WARNING]
        with redirect_stdout(io.StringIO()):  # it praises the folder that is moved away below
            jupyter_book.main(arguments, standalone_mode=False)
        made = Path(fresh, "_build", "html")
        if not (made / "searchindex.js").exists():
            raise OSError(f"the build left no search index in {made}")
        if site.exists():
            os.rename(site, Path(fresh, "old"))
        os.rename(made, site)
    return site


def main():
    """Build this project's site; the exit code tells whether it is complete."""
    try:
        site = build_site()
    except (SystemExit, RuntimeError, OSError) as error:
        if isinstance(error, OSError):
            print(error, file=sys.stderr)  # Jupyter Book has told the others
        sys.exit(f"The site was not built; {SITE} is as it was.")
    print(f"The book is ready: open {os.path.relpath(site / 'index.html')}")


if __name__ == "__main__":
    main()
