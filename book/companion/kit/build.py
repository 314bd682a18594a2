"""Build the site into a fresh folder, and put it in place only when it is complete.

Nothing of an earlier build is reused: a full one takes half a minute, and what an interrupted one
left behind would silently spoil the search index. Called by ``make html``.
"""

import io
import os
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

from jupyter_book.cli.main import build as jupyter_book

from companion.kit.files import held
from companion.paths import EXPERIMENTS, ROOT
from companion.runs.multiverse import specifications, universes
from companion.runs.protocols import load_protocol, protocol_names
from companion.runs.results import complete

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
        made = fresh / "_build" / "html"
        if not (made / "searchindex.js").exists():
            raise OSError(f"the build left no search index in {made}")
        put_in_place(made, site)
        shutil.rmtree(fresh)
    return site


def put_in_place(made, site):
    """Put a folder in the place of another, by two renames."""
    aside = site.with_name(f".{site.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    if site.exists():
        os.rename(site, aside)
    os.rename(made, site)
    shutil.rmtree(aside, ignore_errors=True)


def check_complete():
    """Refuse to build from a part of the runs: every page counts on all of them."""
    for experiment in EXPERIMENTS:
        tables = {name: load_protocol(experiment, name) for name in protocol_names()[experiment]}
        many = universes(experiment) | specifications(experiment)
        for name, protocol in (tables | many).items():
            if not complete(protocol):
                of_table = f"reproduce {experiment} --protocol {name}"
                command = of_table if name in tables else f"multiverse {experiment}"
                raise OSError(
                    f"not all runs of {protocol['protocol']} ({experiment}) are published: "
                    f"run `ddr-book {command} && ddr-book publish`"
                )


def main():
    """Build this project's site; the exit code tells whether it is complete."""
    try:
        check_complete()
        site = build_site()
    except (SystemExit, RuntimeError, OSError) as error:
        if isinstance(error, OSError):
            print(error, file=sys.stderr)  # Jupyter Book has told the others
        sys.exit(f"The site was not built; {SITE} is as it was.")
    print(f"The book is ready: open {os.path.relpath(site / 'index.html')}")


if __name__ == "__main__":
    main()
