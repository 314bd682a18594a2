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

KEYS = ["stage", "variant", "grid", "folds"]
_RESPONSES = ["variant", "case", "draw", "column", "candidate"]


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


def candidates(search):
    """Selections from a response table: grids, and rules of folds where there is a choice."""
    grids, rules = search.get("grids", {"": [None]}), search.get("fold_rules", [""])
    return [
        (name, rule) for name in grids for rule in rules[: 1 if len(grids[name]) == 1 else None]
    ]


def selected(responses, grid=None, folds="shared"):
    """Accuracy of each draw when cross-validation chooses in a grid; the first of equal risks."""
    if grid is None:
        return responses.dropna(subset="accuracy")
    risk = {"shared": "risk", "new": "risk_new"}[folds]
    offered = responses[responses["candidate"].isin(grid)].dropna(subset=risk)
    offered = offered.sort_values([*_RESPONSES[:-1], risk, "candidate"], kind="stable")
    return offered.drop_duplicates(_RESPONSES[:-1])


def outcomes(search, responses, stage):
    """Mean and sd of every protocol: one row for each case and column."""
    responses = responses[responses["stage"] == stage]
    tables = []
    offered = set(responses["candidate"])
    for grid, folds in candidates(search):
        if not offered.issuperset(search.get("grids", {}).get(grid, offered)):
            continue  # a stage with fewer values of C cannot tell
        chosen = selected(responses, search.get("grids", {}).get(grid), folds or "shared")
        found = chosen.groupby(["variant", "case", "column"])["accuracy"]
        table = found.agg(mean="mean", sd="std", draws="count").reset_index()
        tables.append(table.assign(stage=stage, grid=grid, folds=folds))
    return pd.concat(tables, ignore_index=True)


def score(found, printed, cases):
    """Root mean square of the deviations of means, and of sds where there are two draws or more."""
    printed = printed[printed["case"].isin(cases)]
    both = found.merge(
        printed[["case", "method", "mean", "sd"]].rename(columns={"method": "column"}),
        on=["case", "column"],
        suffixes=("", "_printed"),
    )
    both["squares"] = (both["mean"] - both["mean_printed"]) ** 2
    both["squares"] += ((both["sd"] - both["sd_printed"]) ** 2).fillna(0)
    complete = both.groupby(KEYS)["squares"].agg(["mean", "count"])
    complete = complete[complete["count"] == len(cases) * printed["method"].nunique()]
    return np.sqrt(complete["mean"])


def visible(experiment, search, path=None):
    """The printed values that a search may look at."""
    printed = values(experiment, path)
    return printed[printed["method"].isin(search["columns"])].reset_index(drop=True)


def ranking(search, printed, responses, stage):
    """Every protocol of a stage with its score on the choice and on the validation, best first."""
    found = outcomes(search, responses, stage)
    table = score(found, printed, search["choice"]).rename("choice").to_frame()
    table["validation"] = score(found, printed, search["validation"])
    return table.sort_values("choice").reset_index()


def kept(search, printed, responses, stage):
    """The variants that go on to the next stage, best first."""
    rule, draws = (search["stages"][stage][key] for key in ("keep", "draws"))
    best = ranking(search, printed, responses, stage).drop_duplicates("variant")
    if rule != "not excluded by chance":
        return best["variant"].head(rule).tolist()
    limit = np.median(exact_replication(printed, search["choice"], draws))
    return best.loc[best["choice"] < limit, "variant"].tolist()


def compute(search, path, say, **options):
    """Compute the responses of every stage into a store, or take up those that are there."""
    printed, names, tables = visible(search["experiment"], search), variants(search), []
    going = list(names)
    for stage, rule in search["stages"].items():
        tasks = [
            Task(case, draw) for draw in range(rule["draws"]) for case in search[rule["cases"]]
        ]
        for number, name in enumerate(going, start=1):
            say(f"{stage}, {number} of {len(going)}: {name}")
            run = CrossResponses(names[name], search, stage)
            kind = "all C" if run.new_folds else "some C"  # the first two stages share their rows
            store = Store(path, search["experiment"], f"search:{kind}:{name}", run.parameters)
            rows = sweep(run, tasks, store, **options)
            tables.append(as_responses(rows, stage, name, search["columns"][0]))
        if "keep" in rule:
            going = kept(search, printed, pd.concat(tables, ignore_index=True), stage)
    return pd.concat(tables, ignore_index=True)


def as_responses(rows, stage, variant, column):
    """Rows of a store as responses: the candidate is the C in the name of the method."""
    return pd.DataFrame(
        {"stage": stage, "variant": variant, "case": rows["case"], "draw": rows["seed"]}
        | {"column": column, "candidate": rows["method"].str.removeprefix("C=").astype(float)}
        | {name: rows[name] for name in ("accuracy", "risk", "risk_new")}
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
    if "grids" in search:
        levels = levels.assign(**{"values of C": table["grid"], "folds": table["folds"]})
    rows = [
        {"choice": choice, "level": level, "score": float(scores.min())}
        for choice in levels
        for level, scores in table["choice"].groupby(levels[choice])
    ]
    return pd.DataFrame(rows).sort_values(["choice", "score"], ignore_index=True)


def calibration(search, responses, stage, runs=30, repeats=20, seed=0):
    """How often the search finds a protocol that is known.

    Each protocol in turn is taken for the truth: a table is drawn as its print would be, and the
    search is held on it.
    """
    rng = np.random.default_rng(seed)
    found = outcomes(search, responses, stage)
    found = found[found["case"].isin(search["choice"])]
    rows = []
    for truth, table in found.groupby(KEYS, sort=False):
        for _ in range(repeats):
            spread = table["sd"].fillna(0).to_numpy()
            drawn = rng.normal(table["mean"].to_numpy(), spread, (runs, len(table)))
            printed = pd.DataFrame(
                {"case": table["case"], "method": table["column"]}
                | {"mean": drawn.mean(axis=0), "sd": drawn.std(axis=0, ddof=1)}
            )
            best = score(found, printed, search["choice"]).idxmin()
            rows.append((best == truth, best[1] == truth[1]))
    return pd.DataFrame(rows, columns=["protocol", "variant"]).mean()
