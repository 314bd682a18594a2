"""Which protocol reproduces the print? A search by rules that were fixed before looking.

``book/search/*.yml`` names the open choices. Every combination is scored by the printed means and
standard deviations of the columns that need no weights, on half of the cases; the other half
validates. The columns of uLSIF and DDR-uLSIF take no part, so that they test what was chosen.
"""

from io import StringIO
from itertools import product

import numpy as np
import pandas as pd
import yaml

from companion.evidence.printed import values
from companion.paths import BOOK
from companion.runs.protocols import load_protocol
from companion.runs.published import FOLDER, verified, write_files
from companion.runs.responses import CrossResponses
from companion.runs.store import Store, Task
from companion.runs.sweep import sweep

KEYS = ["variant", "grid"]
_RUN = ["variant", "case", "draw"]


def read_search(experiment, path=None):
    """The rules of a search, with the cases of the choice and of the validation."""
    path = path or BOOK / "search" / f"{experiment}.yml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["cases"] = load_protocol(experiment)["cases"]
    content["choice"], content["validation"] = content["cases"][::2], content["cases"][1::2]
    return content


def variants(search):
    """Every combination of the choices that a response depends on, by its name in words."""
    names = [list(levels) for levels in search["choices"].values()]
    options = [levels.values() for levels in search["choices"].values()]
    merged = ({k: v for level in chosen for k, v in level.items()} for chosen in product(*options))
    return dict(zip((" | ".join(chosen) for chosen in product(*names)), merged, strict=True))


def selected(responses, grid):
    """Response of each draw when cross-validation chooses in a grid; the first of equal risks."""
    offered = responses[responses["candidate"].isin(grid)]
    return offered.sort_values([*_RUN, "risk", "candidate"]).drop_duplicates(_RUN)


def outcomes(search, responses, stage):
    """Mean and sd of every protocol, a variant and a grid: one row for each case."""
    responses = responses[responses["stage"] == stage]
    tables = []
    for name, grid in search["grids"].items():
        found = selected(responses, grid).groupby(["variant", "case"])["accuracy"]
        table = found.agg(mean="mean", sd="std", draws="count").reset_index()
        tables.append(table.assign(grid=name))
    return pd.concat(tables, ignore_index=True)


def score(found, printed, cases):
    """Root mean square of the deviations of means, and of sds where there are two draws or more."""
    both = found[found["case"].isin(cases)].merge(
        printed[["case", "mean", "sd"]], on="case", suffixes=("", "_printed")
    )
    squares = (both["mean"] - both["mean_printed"]) ** 2
    squares += ((both["sd"] - both["sd_printed"]) ** 2).fillna(0)
    return np.sqrt(squares.groupby([both[key] for key in KEYS]).mean())


def visible(experiment, search, path=None):
    """The printed values that a search may look at."""
    printed = values(experiment, path)
    return printed[printed["method"].isin(search["columns"])].reset_index(drop=True)


def ranking(search, printed, responses, stage):
    """Every protocol of a stage with its score, best first."""
    found = score(outcomes(search, responses, stage), printed, search["choice"])
    return found.rename("score").sort_values(kind="stable").reset_index()


def kept(search, printed, responses):
    """The screened variants below the median of exact replications, best first."""
    best = ranking(search, printed, responses, "screen").drop_duplicates("variant")
    limit = np.median(exact_replication(printed, search["choice"], 1))
    return best.loc[best["score"] < limit, "variant"].tolist()


def compute(search, path, say, **options):
    """Compute the responses of both stages into a store, or take up those that are there."""
    printed, names, tables = visible(search["experiment"], search), variants(search), []
    going = list(names)
    for stage, rule in search["stages"].items():
        tasks = [Task(case, draw) for draw in range(rule["draws"]) for case in search["choice"]]
        for number, name in enumerate(going, start=1):
            say(f"{stage}, {number} of {len(going)}: {name}")
            run = CrossResponses(names[name], search)
            store = Store(path, search["experiment"], f"search:{name}", run.parameters)
            tables.append(as_responses(sweep(run, tasks, store, **options), stage, name))
        going = kept(search, printed, pd.concat(tables, ignore_index=True))
    return pd.concat(tables, ignore_index=True)


def as_responses(rows, stage, variant):
    """Rows of a store as responses: the candidate is the C in the name of the method."""
    return pd.DataFrame(
        {"stage": stage, "variant": variant, "case": rows["case"], "draw": rows["seed"]}
        | {"candidate": rows["method"].str.removeprefix("C=").astype(float)}
        | {name: rows[name] for name in ("accuracy", "risk")}
    )


def publish(search, responses):
    """Write all responses into the published results."""
    text = responses.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return write_files({f"{search['experiment']}-search.csv": text})


def published_responses(experiment):
    """Read the published responses of a search."""
    return pd.read_csv(StringIO(verified(FOLDER)[f"{experiment}-search.csv"].decode()))


def exact_replication(printed, cases, draws, repeats=2000, seed=0):
    """Scores that the very protocol of the print would get with so few draws, by simulation."""
    rng = np.random.default_rng(seed)
    printed = printed[printed["case"].isin(cases)]
    mean, sd = (printed[name].to_numpy()[:, None] for name in ("mean", "sd"))
    runs = rng.normal(mean, sd, (repeats, len(mean), draws))
    squares = (runs.mean(axis=2) - mean[:, 0]) ** 2
    if draws > 1:
        squares = squares + (runs.std(axis=2, ddof=1) - sd[:, 0]) ** 2
    return np.sqrt(squares.mean(axis=1))


def worth(table, search):
    """What each level of each choice can reach at best: the lowest score with that level."""
    levels = table["variant"].str.split(" | ", regex=False, expand=True)
    levels.columns = list(search["choices"])
    rows = [
        {"choice": choice, "level": level, "score": float(scores.min())}
        for choice in levels
        for level, scores in table["score"].groupby(levels[choice])
    ]
    return pd.DataFrame(rows).sort_values(["choice", "score"], ignore_index=True)


def calibration(search, responses, stage, runs=30, repeats=5, seed=0):
    """How often the search finds a protocol that is known.

    Each protocol in turn is taken for the truth: a table is drawn as its print would be, and the
    search is held on it.
    """
    rng = np.random.default_rng(seed)
    found = outcomes(search, responses, stage)
    rows = []
    for truth, table in found.groupby(KEYS, sort=False):
        for _ in range(repeats):
            drawn = rng.normal(table["mean"], table["sd"].fillna(0), (runs, len(table)))
            printed = pd.DataFrame({"case": table["case"].to_numpy()}).assign(
                mean=drawn.mean(axis=0), sd=drawn.std(axis=0, ddof=1)
            )
            best = score(found, printed, search["choice"]).idxmin()
            rows.append((best == truth, best[0] == truth[0]))
    return pd.DataFrame(rows, columns=["protocol", "variant"]).mean()
