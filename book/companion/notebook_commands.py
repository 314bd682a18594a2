"""The commands that execute notebooks: ``params``, ``run`` and ``execute``."""

import argparse
import sys
from pathlib import Path

from companion.paths import ROOT


def add_notebook_commands(groups):
    """Add ``params``, ``run`` and ``execute``."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this)")
    params = groups.add_parser("params", parents=[common], help="what a notebook lets you change")
    params.add_argument("notebook", help="for example 02_synthetic")
    params.set_defaults(run=_print_card)

    rerun = groups.add_parser(
        "run", parents=[common], help="run a notebook with other parameters, as a new page"
    )
    rerun.add_argument("notebook", help="for example 02_synthetic")
    rerun.add_argument("--name", required=True, help="what to call this run, for example quick")
    rerun.add_argument(
        "-p",
        "--parameter",
        dest="given",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="a parameter and its value; see `ddr-book params`",
    )
    rerun.add_argument("--force", action="store_true", help="replace an earlier run of that name")
    rerun.set_defaults(run=_rerun)

    execute = groups.add_parser(
        "execute", parents=[common], help="execute the published notebooks in place"
    )
    execute.add_argument("notebooks", nargs="*", help="only these (default: all)")
    execute.set_defaults(run=_execute)


def _print_card(arguments):
    from companion.notebook_kit.execute import find_notebook, read_parameters
    from companion.notebook_kit.parameters import format_card

    print(format_card(read_parameters(find_notebook(arguments.notebook, arguments.root))))
    return 0


def _rerun(arguments):
    from companion.notebook_kit.execute import rerun

    names = [name for name, _ in arguments.given]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"parameter {name!r} was given twice")
    given, root = dict(arguments.given), arguments.root
    return _reporting(
        lambda: rerun(arguments.notebook, given, arguments.name, root, force=arguments.force),
        lambda path: f"{path.relative_to(root)} is written; `make html` makes it a page.",
    )


def _execute(arguments):
    from companion.notebook_kit.execute import execute, find_notebook, list_notebooks

    root = arguments.root
    chosen = [find_notebook(name, root) for name in arguments.notebooks] or list_notebooks(root)
    for path in chosen:
        code = _reporting(
            lambda path=path: execute(path, root),
            lambda changed, path=path: (
                f"{path.relative_to(root)}: {'changed' if changed else 'unchanged'}"
            ),
        )
        if code:
            return code
    return 0


def _reporting(work, sentence):
    """Do the work and say what came of it; a cell that raises is told by its cell and error."""
    from papermill.exceptions import PapermillExecutionError

    from companion.notebook_kit.execute import FAILED

    try:
        print(sentence(work()))
    except PapermillExecutionError as error:
        print(
            f"ddr-book: cell {error.exec_count} raised {error.ename}: {error.evalue}\n"
            f"Nothing was replaced; the failed copy is in {FAILED}.",
            file=sys.stderr,
        )
        return 1
    return 0
