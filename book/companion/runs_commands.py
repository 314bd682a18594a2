"""The commands about runs: `reproduce`, `multiverse`, `verify`, `publish` and `search`."""

from pathlib import Path

import click

from companion.paths import BUILD, EXPERIMENTS

TABLES, COUNT = click.Choice(EXPERIMENTS), click.IntRange(min=1)


jobs_option = click.option("--jobs", type=COUNT, help="Processes (default: one per core).")
store_option = click.option(
    "--store",
    "root",
    type=click.Path(file_okay=False, path_type=Path),
    default=BUILD / "reproduction",
    help="The folder with the runs (default: _build/reproduction).",
)


@click.command()
@click.argument("experiments", nargs=-1, type=TABLES, default=EXPERIMENTS)
@click.option("--protocol", default="matched", help="matched (default), tuned or multiverse.")
@click.option("--runs", type=COUNT, help="Runs of each case (default: the protocol's).")
@jobs_option
@click.option("--scheduler", metavar="tcp://…", help="A Dask cluster.")
@store_option
def reproduce(experiments, protocol, **options):
    """Compute the paper's tables anew and compare them.

    By default all of them. The runs go to a store of their own. Interrupted, the command resumes
    when it is called again. At the end it prints the largest difference from the published runs
    and the verdicts beside the paper. The multiverse is the matched protocol under every open
    choice, as in book/multiverse.yml.
    """
    from companion.evidence.verdicts import judge, summary
    from companion.runs.reproduce import compute_and_tell, protocols_named
    from companion.runs.results import difference_from_published

    for experiment, protocols in [(e, protocols_named(e, protocol)) for e in experiments]:
        click.echo(f"{experiment}, {protocol}")
        rows = compute_and_tell(protocols, _indented, **options)
        for content in protocols:
            own = rows[rows["protocol"] == content["protocol"]]
            _indented(f"{content['protocol']}: {difference_from_published(content, own)}")
        if protocol != "multiverse":
            _indented(f"beside the paper: {summary(judge(rows, experiment, protocol))}")


def _indented(line):
    click.echo(f"  {line}")


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Everything published, not only the matched tables."
)
@jobs_option
def verify(everything, jobs):
    """Compute one run of every case again and compare it with the published one.

    By default of the matched tables. Interrupted, the command resumes when it is called again. Exit
    code 1 if something differs; what does is named.
    """
    from companion.evidence import protocol_search as searching
    from companion.runs.protocols import load_protocol
    from companion.runs.reproduce import known_protocols, names_of, work_of
    from companion.runs.results import what_differs

    def work_in(root):
        if everything:
            return [*work_of(known_protocols(), root, runs=1), *searching.work_again(root)]
        return work_of([load_protocol(e) for e in EXPERIMENTS], root, runs=1)

    agree = []
    for names, tasks, sentences in what_differs(work_in, jobs=jobs, progress=True):
        name = " ".join(names_of(names))
        if not sentences:
            click.echo(f"{name}: one run of each of {len(tasks)} cases agrees")
        for sentence in sentences:
            click.echo(f"ddr-book: {name}: {sentence}", err=True)
        agree.append(not sentences)
    click.echo(f"{sum(agree)} of {len(agree)} protocols agree")
    return 0 if all(agree) else 1


@click.command()
@store_option
@click.option("--into", type=Path, help="The folder (default: book/results).")
@click.option(
    "--remove",
    nargs=2,
    multiple=True,
    metavar="EXPERIMENT PROTOCOL",
    help="Only take these published runs out; may be given several times.",
)
def publish(root, into, remove):
    """Add the runs of a store to the published ones, as sorted CSV files."""
    from companion.runs.published import publish, take_out

    if not remove and not root.is_dir():
        raise ValueError(f"--store must be a folder with runs, got {str(root)!r}, which is none")
    for written in take_out(remove, into) if remove else publish(root, into):
        click.echo(written)


@click.command()
@click.argument("name")
@jobs_option
@store_option
def search(name, jobs, root):
    """Search for the protocols that a printed table does not contradict, by book/search.

    NAME is synthetic, biased, biased-kernels or cross. Interrupted, the command resumes when it is
    called again. At the end it publishes what it found of every protocol and prints the nearest.
    """
    from companion.evidence import protocol_search as searching

    rules = searching.read_search(name)
    found = searching.compute(rules, root, _indented, jobs=jobs, progress=True)
    for written in searching.publish(rules, found):
        click.echo(written)
    table = searching.published(name).sort_values(["passed", "score"], ascending=[False, True])
    click.echo(table.iloc[:10, :5].to_string(index=False))
