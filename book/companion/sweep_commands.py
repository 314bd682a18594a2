"""``ddr-book reproduce`` and ``multiverse``; kept light, since every ``--help`` imports it."""

import argparse
import sys


def add_sweep_commands(groups):
    """Add ``reproduce`` and ``multiverse`` to the command line."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "experiments",
        nargs="*",
        metavar="experiment",
        help="synthetic, biased, cross; all by default",
    )
    shared.add_argument("--runs", type=int, help="runs of each case (default: the protocol's)")
    shared.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    shared.add_argument("--scheduler", metavar="tcp://…", help="compute on this Dask cluster")
    shared.add_argument(
        "--into",
        default="_build/reproduction",
        metavar="FOLDER",
        help="the store (default: %(default)s; book/results is the published one)",
    )
    shared.add_argument(
        "--fresh",
        action="store_true",
        help="first remove what is stored there of what is asked; by default it is taken up again",
    )

    reproduce = groups.add_parser(
        "reproduce",
        parents=[shared],
        help="compute the paper's tables anew and compare them",
        description="Compute the paper's tables anew, in a store of their own, and print the "
        "largest differences from the published runs and from the paper. Interrupted, it resumes.",
    )
    reproduce.add_argument("--protocol", default="matched", help="matched (default) or tuned")
    reproduce.set_defaults(run=_reproduce)

    multiverse = groups.add_parser(
        "multiverse",
        parents=[shared],
        help="compute the matched tables anew under every open choice",
        description="Compute every universe of book/multiverse.yml, in a store of its own, and "
        "print the gain of DDR-uLSIF over uLSIF beside the published one. Interrupted, it resumes.",
    )
    multiverse.set_defaults(run=_multiverse)


def _reproduce(arguments):
    from companion.runs.reproduce import reproduce

    def task(experiments, folder, **options):
        reproduce(experiments, arguments.protocol, folder, **options)

    return _run("reproduce", task, arguments)


def _multiverse(arguments):
    from companion.runs.multiverse import reproduce_multiverse

    return _run("multiverse", reproduce_multiverse, arguments)


def _run(name, task, arguments):
    """Check what both commands share, run the task, and tell how it ended by the exit code."""
    from companion.runs.protocols import EXPERIMENTS
    from companion.runs.store import ParameterMismatchError, StoreError
    from companion.runs.sweep import SchedulerError, SweepError, SweepInterrupted

    unknown = [e for e in arguments.experiments if e not in EXPERIMENTS]
    if unknown:
        raise ValueError(
            f"experiment must be one of {', '.join(EXPERIMENTS)}, got {', '.join(unknown)}"
        )
    _check_options(arguments)
    go_on = "; leave out --fresh, or it begins again" if arguments.fresh else ""
    try:
        task(
            arguments.experiments or EXPERIMENTS,
            arguments.into,
            runs=arguments.runs,
            jobs=arguments.jobs,
            scheduler=arguments.scheduler,
            progress=True,
            fresh=arguments.fresh,
        )
    except ParameterMismatchError as error:
        complaint = f"{error}" if _published(arguments) else f"{error}, or remove them by --fresh"
    except (SchedulerError, StoreError) as error:
        complaint = str(error)
    except SweepError as error:
        complaint = f"{error}{go_on}"
    except SweepInterrupted as interruption:
        print(f"\nddr-book {name}: {interruption}{go_on}", file=sys.stderr)
        return 130
    else:
        return 0
    print(f"ddr-book {name}: {complaint}", file=sys.stderr)
    return 1


def _check_options(arguments):
    """Refuse wrong options before anything is said, made or removed."""
    from companion.runs.store import make_folder
    from companion.runs.sweep import check_jobs, check_scheduler

    if arguments.runs is not None and arguments.runs < 1:
        raise ValueError(f"--runs must be at least 1, got {arguments.runs}")
    check_jobs(arguments.jobs, "--jobs")
    if arguments.scheduler is not None:
        check_scheduler(arguments.scheduler, "--scheduler")
    make_folder(arguments.into, "--into")
    if arguments.fresh and _published(arguments):
        raise ValueError(
            f"--fresh must not be given with --into {arguments.into}: "
            "it would remove the published runs"
        )


def _published(arguments):
    from companion.runs.reproduce import is_published

    return is_published(arguments.into)
