"""The command line, `ddr-book`.

Exit codes: 0 for success, 1 where a check found a difference or a run failed, 2 for a mistake of
the caller, 130 after an interrupt. What went wrong is told in one sentence. Heavy imports stay
inside the commands, so that `--help` is quick.
"""

import os
import signal
import sys
from pathlib import Path

import click

from companion.paths import ROOT
from companion.runs_commands import publish, reproduce, search, verify
from ddr._version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, prog_name="ddr")
def cli():
    """Make the book: notebooks, pages, runs and data."""


for command in (reproduce, search, verify, publish):
    cli.add_command(command)


def main(arguments=None):
    """Run one command and give its exit code."""
    arguments = sys.argv[1:] if arguments is None else [str(argument) for argument in arguments]
    # A polite kill ends a command as Ctrl-C does: with what is done stored, and a sentence.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with cli.make_context("ddr-book", arguments) as context:
            code = cli.invoke(context) or 0
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as end:  # of --help and --version
        return end.exit_code
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from complaining when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as interruption:
        said, code = str(interruption) or "interrupted", 130
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "ddr-book"
        said, code = f"{error.format_message().rstrip('.')}; see {path} --help", 2
    except (ValueError, TypeError, OSError) as error:
        said, code = error, 2
    except Exception as error:
        if not hasattr(error, "exit_code"):  # a fault of the program, which is not hidden
            raise
        said, code = error, error.exit_code
    click.echo(f"ddr-book: {said}", err=True)
    return code


# Notebooks


root_option = click.option(
    "--root", type=Path, default=ROOT, help="The checkout (default: the one of this program)."
)


@cli.command()
@click.argument("notebook")
@root_option
def params(notebook, root):
    """Print what a NOTEBOOK, for example 02_synthetic, lets you change."""
    from companion.kit.parameters import find_notebook, format_card, read_parameters

    click.echo(format_card(read_parameters(find_notebook(notebook, root))))


@cli.command()
@click.argument("notebook")
@click.option("--name", required=True, help="What to call this run, for example quick.")
@click.option(
    "-p",
    "--parameter",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="A parameter and its value; `ddr-book params` lists them.",
)
@click.option("--force", is_flag=True, help="Replace an earlier run of that name.")
@root_option
def run(notebook, name, given, force, root):
    """Run a NOTEBOOK with other parameters, as a new page of the book."""
    from companion.kit.execute import rerun

    if len(dict(given)) < len(given):
        raise ValueError("a parameter was given twice")
    path = rerun(notebook, dict(given), name, root, force=force)
    click.echo(f"{path.relative_to(root)} is written; `make html` makes it a page.")


@cli.command()
@click.argument("notebooks", nargs=-1)
@root_option
def execute(notebooks, root):
    """Execute the published NOTEBOOKS in place: all of them, or those that are named."""
    from companion.kit.execute import execute
    from companion.kit.parameters import find_notebook, list_notebooks

    for path in [find_notebook(name, root) for name in notebooks] or list_notebooks(root):
        changed = "changed" if execute(path, root) else "unchanged"
        click.echo(f"{path.relative_to(root)}: {changed}")


# Pages


@cli.command()
def readme():
    """Write the README's numbers and picture from the published runs."""
    from companion.kit.readme import write

    for path in write():
        click.echo(path)


# Data


@cli.command()
def data():
    """Check every bundled data file against its SHA-256; exit code 1 if one is not as it should."""
    from ddr.paper.datasets import check_files

    checks = check_files()
    for check in checks:
        click.echo(f"{check.status:8} {check.name:13} {check.file}")
    return int(any(check.status != "ok" for check in checks))


if __name__ == "__main__":
    sys.exit(main())
