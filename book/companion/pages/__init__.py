"""Tables and figures of the book that are computed, so that no number in its prose is typed.

Each module named in :data:`PAGES` has a function ``files(evidence)``, which gives Markdown
fragments, figures and archives by file name. What several pages need is gathered once.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from companion.evidence.claims import evaluate_claims
from companion.evidence.gains import NO_WEIGHTS, RIVAL, paired
from companion.evidence.verdicts import judge
from companion.paths import EXPERIMENTS, PROTOCOLS, ROOT
from companion.runs.multiverse import specifications, universes
from companion.runs.protocols import load_protocol, protocol_names
from companion.runs.results import complete, published_results
from companion.runs.store import StoreError

#: The modules that give files: each by itself, the slowest first.
PAGES = (
    "companion.pages.explorer",
    "companion.pages.guide",
    "companion.pages.multiverse",
    "companion.pages.data",
    "companion.pages.search",
    "companion.pages.landing",
    "companion.pages.deviations",
    "companion.pages.runs",
    "companion.pages.scoreboard",
    "companion.pages.differences",
    "companion.pages.headline",
    "benchmarks.page",
    "companion.pages.audit",
    "companion.pages.record",
    "companion.pages.claims",
    "companion.pages.reliability",
    "companion.pages.status",
)


class Evidence(NamedTuple):
    """What a build computes once and hands to every page."""

    results: pd.DataFrame
    claims: pd.DataFrame
    verdicts: dict
    gains: dict


def gather(results=None, live=True):
    """Judge tables and claims and compute the gains of DDR-uLSIF, by table, protocol and rival."""
    if results is None:
        check_complete()
        results = published_results()
    tables = [(e, p) for p in PROTOCOLS for e in EXPERIMENTS]
    return Evidence(
        results,
        evaluate_claims(results, live=live),
        {key: judge(results, *key) for key in tables},
        {(*key, r): paired(results, *key, rival=r) for key in tables for r in (RIVAL, NO_WEIGHTS)},
    )


def check_complete():
    """Refuse to build from a part of the runs: every page counts on all of them."""
    for experiment in EXPERIMENTS:
        tables = {name: load_protocol(experiment, name) for name in protocol_names()[experiment]}
        many = universes(experiment) | specifications(experiment)
        for name, protocol in (tables | many).items():
            if not complete(protocol):
                of_table = f"reproduce {experiment} --protocol {name}"
                command = of_table if name in tables else f"multiverse {experiment}"
                raise StoreError(
                    f"not all runs of {protocol['protocol']} ({experiment}) are published: "
                    f"run `ddr-book {command} && ddr-book publish`"
                )


def figure_text(name, alt, width, caption):
    """Print a numbered figure of the book, as :func:`companion.evidence.tables.captioned` does."""
    label = name.replace("_", "-")
    return (
        f"```{{figure}} _generated/{name}.png\n:name: fig-{label}\n:alt: {alt}\n"
        f":width: {width}px\n\n{caption}\n```"
    )


def page_module(name):
    """Import a module of :data:`PAGES`; the benchmarks lie beside the packages."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return import_module(name)


def write_all(folder):
    """Write everything that the book's pages include, on all cores."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    evidence = gather()
    written = Parallel(n_jobs=-1)(delayed(_write)(page, folder, evidence) for page in PAGES)
    return [path for paths in written for path in paths]


def _write(page, folder, evidence):
    return write_files(folder, page_module(page).files(evidence))


def write_files(folder, files):
    """Write texts, figures and bytes by file name; return the paths."""
    paths = [Path(folder) / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        if isinstance(content, Figure):
            # Without the version of matplotlib in it, an unchanged figure is an unchanged file.
            content.savefig(path, dpi=200, metadata={"Software": None})
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content.rstrip("\n") + "\n", encoding="utf-8")
    return paths
