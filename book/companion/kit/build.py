"""Build the site into a fresh folder, and put it in place only when it is complete.

Nothing of an earlier build is reused: what an interrupted one left behind would silently spoil the
search index. Called by ``make html``.
"""

import io
import os
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

from jupyter_book.cli.main import build as jupyter_book

from companion.kit.files import held
from companion.paths import ROOT

SITE = "_build/html"
FRESH = "_build/new"
_WITHOUT_A_WARNING = ("-n", "-W", "--keep-going", "--quiet")


def build_site(root=ROOT):
    """Build the book under `root` and return its folder; the old one stays if that fails."""
    root = Path(root)
    site, fresh = root / SITE, root / FRESH
    busy = "Another build is under way; this one waits for it."
    with held(root / "_build" / "locks" / "site.lock", busy, wait=True):
        shutil.rmtree(fresh, ignore_errors=True)  # of an interrupted build
        arguments = [str(root), "--path-output", str(fresh), *_WITHOUT_A_WARNING]
        with redirect_stdout(io.StringIO()):  # it praises the folder that is moved away below
            jupyter_book.main(arguments, standalone_mode=False)
        made, aside = fresh / "_build" / "html", fresh / "old"
        if not (made / "searchindex.js").exists():
            raise OSError(f"the build left no search index in {made}")
        if site.exists():
            os.rename(site, aside)
        os.rename(made, site)
        shutil.rmtree(fresh)
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
