"""Which protocol reproduces the print? A search by rules that were fixed before looking.

``book/search/*.yml`` names the open choices. Every combination is scored by the printed means and
standard deviations of the columns that need no weights, on half of the cases; the other half
validates. The columns of uLSIF and DDR-uLSIF take no part, so that they test what was chosen.
"""

from itertools import product

import numpy as np
import pandas as pd
import yaml

from companion.evidence.printed import values
from companion.paths import BOOK
from companion.runs.protocols import load_protocol

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
    for grid, folds in candidates(search):
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


def kept(search, printed, responses):
    """The variants that go from the screening into the final: those with the best selections."""
    best = ranking(search, printed, responses, "screen").drop_duplicates("variant")
    return best["variant"].head(search["screen"]["keep"]).tolist()


def exact_replication(search, printed, cases, draws, repeats=2000, seed=0):
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
