"""The command ``python -m ddr reproduce``; kept light, since every ``--help`` imports it."""

import sys


def add_reproduce_command(groups):
    """Add ``reproduce`` to the command line.

    Parameters
    ----------
    groups : the object that ``ArgumentParser.add_subparsers`` returns
    """
    parser = groups.add_parser(
        "reproduce",
        help="compute the paper's tables anew and compare them",
        description="Compute the paper's tables anew, in a store of their own, and print the "
        "largest differences from the published runs and from the paper. Interrupted, it resumes.",
    )
    parser.add_argument(
        "experiments",
        nargs="*",
        metavar="experiment",
        help="synthetic, biased, cross; all by default",
    )
    parser.add_argument("--protocol", default="matched", help="matched (default) or tuned")
    parser.add_argument("--runs", type=int, help="runs of each case (default: the protocol's)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    parser.add_argument("--scheduler", metavar="tcp://…", help="compute on this Dask cluster")
    parser.add_argument(
        "--into",
        default="_build/reproduction",
        metavar="FOLDER",
        help="the store (default: %(default)s; book/results is the published one)",
    )
    parser.set_defaults(run=_reproduce_command)


def _reproduce_command(arguments):
    from ddr.protocols import EXPERIMENTS
    from ddr.reproduce import reproduce
    from ddr.store import StoreError
    from ddr.sweep import SweepError, SweepInterrupted

    unknown = [e for e in arguments.experiments if e not in EXPERIMENTS]
    if unknown:
        raise ValueError(
            f"experiment must be one of {', '.join(EXPERIMENTS)}, got {', '.join(unknown)}"
        )
    if arguments.runs is not None and arguments.runs < 1:
        raise ValueError(f"--runs must be at least 1, got {arguments.runs}")
    try:
        reproduce(
            arguments.experiments or EXPERIMENTS,
            arguments.protocol,
            arguments.into,
            runs=arguments.runs,
            jobs=arguments.jobs,
            scheduler=arguments.scheduler,
            progress=True,
        )
    except (SweepError, StoreError) as error:
        print(f"python -m ddr reproduce: {error}", file=sys.stderr)
        return 1
    except SweepInterrupted as interruption:
        print(f"\npython -m ddr reproduce: {interruption}", file=sys.stderr)
        return 130
    return 0
