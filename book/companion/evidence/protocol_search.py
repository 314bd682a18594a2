"""Which protocol reproduces the print? A search by rules that were fixed before looking.

``book/search/*.yml`` names the open choices: those that a response depends on (a *variant*) and
those that merely select from responses (a *grid*). Every combination is scored by the printed means
and standard deviations of the columns that need no estimated weights, on half of the cases; the
other half validates. The columns of uLSIF and DDR-uLSIF take no part, so that they test what was
chosen.
"""

from functools import reduce
from io import StringIO
from itertools import product

import numpy as np
import pandas as pd

from companion.evidence.printed import values
from companion.paths import BOOK, read_yaml
from companion.runs.experiments import Run, load_case
from companion.runs.protocols import changed, load_protocol, merged
from companion.runs.published import FOLDER, listed_files, write_files
from companion.runs.reproduce import compute as compute_rows
from companion.runs.reproduce import counted, store_of
from companion.runs.responses import PENALTIES, BiasedTables, CostResponses, CrossResponses
from companion.runs.store import Store
from companion.runs.sweep import sweep

KEYS = ["variant", "grid"]
CELL = ["case", "column"]
_RUN = ["variant", "case", "draw"]
_RISK = {("zero_one", "prior"): 1, ("zero_one", "first"): 3}


def read_search(experiment):
    """The rules of a search, with the cases of the choice and of the validation."""
    cases = load_protocol(experiment)["cases"]
    halves = {"cases": cases, "choice": cases[::2], "validation": cases[1::2]}
    return read_yaml(BOOK / "search" / f"{experiment}.yml") | halves


def _combinations(choices):
    """Every combination of levels, by its name in words: the option of each choice."""
    names = product(*choices.values())
    options = product(*(levels.values() for levels in choices.values()))
    return {
        " | ".join(name): dict(zip(choices, chosen, strict=True))
        for name, chosen in zip(names, options, strict=True)
    }


def variants(search):
    """Every combination of the choices that a response depends on, by its name in words."""
    return {
        name: reduce(merged, chosen.values(), {})
        for name, chosen in _combinations(search["choices"]).items()
    }


def grids(search, kind="selections"):
    """Every combination of the choices that merely select from responses."""
    return _combinations(search[kind])


def visible(experiment, search):
    """The printed values that a search may look at."""
    printed = values(experiment).rename(columns={"method": "column"})
    return printed[printed["column"].isin(search["columns"])].reset_index(drop=True)


# ------------------------------------------------------------------------------------- responses


def compute(search, root, say, **options):
    """Compute what a search publishes, or take up what is there."""
    by_name = {"synthetic": _synthetic, "biased": _biased, "cross": _cross}
    return by_name[search["experiment"]](search, root, say, **options)


def _cross(search, root, say, **options):
    """The responses of the first two stages, and mean and sd of every protocol of the third."""
    printed, tables = visible("cross", search), []
    going = list(options_of := variants(search))
    for stage, rule in search["stages"].items():
        last = stage == "third"
        cases = search["cases" if last else "choice"]
        tasks = [(case, draw) for draw in range(rule["draws"]) for case in cases]
        say(f"{stage}: {counted(len(going), 'variant')}")
        work = []
        for name in going:
            run = (CostResponses if last else CrossResponses)(options_of[name], search)
            called = f"search:{name}{', costs' if last else ''}"
            work.append((Store(root, run.parameters, experiment="cross", protocol=called), run))
        sweep([(*item, tasks) for item in work], **options)
        for name, (store, _) in zip(going, work, strict=True):
            tables.append(as_responses(store.rows(tasks), stage, name))
        responses = pd.concat(tables, ignore_index=True)
        going = [] if last else kept(search, printed, responses, stage)
    early = responses[responses["stage"] != "third"].drop(columns=["folds", "by"])
    return {"responses": early, "search": outcomes(search, responses, "third")}


def _synthetic(search, root, say, **options):
    """Mean and sd of every variant, which is a change of the matched protocol."""
    tasks = [(case, draw) for draw in range(search["draws"]) for case in search["cases"]]
    base = changed(load_protocol("synthetic"), methods=search["columns"], seed=search["seed"])
    say(counted(len(variants(search)), "variant"))
    work = []
    for name, change in variants(search).items():
        variant = changed(base, protocol=f"search:{name}", **change)
        work.append((store_of(variant, root), Run(variant), tasks))
    rows = compute_rows(work, **options).rename(columns={"method": "column"})
    variant = rows["protocol"].str.removeprefix("search:")
    return {"search": _summary(rows.assign(variant=variant, grid=""))}


def _biased(search, root, say, **options):
    """Mean and sd of every protocol, selected from response tables."""
    tasks = {c: [(c, draw) for draw in range(search["draws"])] for c in search["cases"]}
    work, found = {}, []  # variants that differ only in the selection share their tables
    for name, chosen in variants(search).items():
        run = BiasedTables(chosen, search)
        store = Store(root, run.parameters, experiment="biased", protocol="search:tables")
        work[name] = store, run, [task for draws in tasks.values() for task in draws]
    different = {store.folder: (store, *rest) for store, *rest in work.values()}
    say(counted(len(different), "kind") + " of tables")
    sweep(list(different.values()), **options)
    for case, (name, chosen) in product(search["cases"], variants(search).items()):
        tables = np.stack([work[name][0].load(*task) for task in tasks[case]])
        for grid, rule in grids(search).items():
            accuracies = chosen_accuracies(search, case, chosen, tables, rule)
            for column, runs in zip(search["columns"], accuracies.T, strict=True):
                found.append((name, grid, case, column, runs.mean(), runs.std(ddof=1), len(runs)))
    return {"search": pd.DataFrame(found, columns=[*KEYS, *CELL, "mean", "sd", "draws"])}


def chosen_accuracies(search, case, options, tables, rule):
    """Accuracies without and with ideal weights, a row a draw, that a rule takes from tables."""
    width, penalty, sums, loss, ties, unlikely, gap, drawn = rule.values()
    known = [(kind, value) for kind, values in search["widths"].items() for value in values]
    rows = [known.index((kind, value)) for kind, values in width.items() for value in values]
    n = (options.get("max_rows") or len(load_case(case).y) / 4) if sums else 1
    # Ideal weights as they are have a mean of about two, which weakens the penalty by as much.
    means = (1, 1 if options.get("scaled", True) else 2)
    offered = [
        tables[:, :, :, weighted][..., rows, :, :][..., _columns(penalty, n * mean), :]
        for weighted, mean in enumerate(means)
    ]
    offered = np.stack(offered, axis=3).reshape(*tables.shape[:4], -1, tables.shape[-1])
    risk = offered[..., _RISK.get((loss, unlikely), 4)]
    accuracy = offered[..., 0 if unlikely == "prior" else 2]
    least = risk <= risk.min(axis=-1, keepdims=True) + 1e-6
    if ties == "last":
        least, accuracy = least[..., ::-1], accuracy[..., ::-1]
    accuracy = np.take_along_axis(accuracy, least.argmax(-1)[..., None], axis=-1)[..., 0]
    gaps = accuracy[:, :, 0, 1] - accuracy[:, :, 0, 0]
    if options.get("directions") == "once":
        gaps = np.broadcast_to(gaps.mean(axis=0), gaps.shape)
    omega = (np.abs(gaps) if gap == "absolute" else gaps).argmax(axis=1)
    return accuracy[np.arange(len(omega)), omega, drawn].astype(float)


def _columns(penalty, n):
    """Places of the penalties in the tables, which have half decades."""
    wanted = np.log10(np.array(penalty) / n)[:, None]
    return np.abs(np.log10(PENALTIES) - wanted).argmin(axis=1)


def as_responses(rows, stage, variant):
    """Rows of a store as responses: the name of the method tells C, folds and what is gone by."""
    parts = rows["method"].str.removeprefix("C=").str.split(" ", expand=True)
    parts = parts.reindex(columns=range(3))
    return pd.DataFrame(
        {"stage": stage, "variant": variant, "case": rows["case"], "draw": rows["seed"]}
        | {"candidate": parts[0].astype(float), "folds": parts[1], "by": parts[2]}
        | {name: rows[name] for name in ("accuracy", "risk")}
    )


def publish(search, found):
    """Write mean and sd of all protocols, and responses of early stages, into the results."""
    found = dict(found)
    table = found["search"].pivot(index=[*KEYS, "draws"], columns=CELL, values=["mean", "sd"])
    table.columns = ["|".join(name) for name in table.columns]
    found["search"] = table.round(4).reset_index()
    form = {"index": False, "float_format": "%.6g", "lineterminator": "\n"}
    texts = {f"{search['experiment']}-{kind}.csv": t.to_csv(**form) for kind, t in found.items()}
    return write_files(texts)


def published(experiment, kind="search"):
    """Read what a search has published: its outcomes, or the responses of its early stages."""
    name = f"{experiment}-{kind}.csv"
    return pd.read_csv(StringIO(listed_files(FOLDER)[name].decode()), keep_default_na=False)


def published_outcomes(search):
    """Mean and sd of every protocol that was searched to the end, from the published results."""
    table = published(search["experiment"]).set_index([*KEYS, "draws"])
    names = [name.split("|") for name in table.columns]
    table.columns = pd.MultiIndex.from_tuples(names, names=["value", *CELL])
    return table.stack(CELL, future_stack=True).reset_index()


# --------------------------------------------------------------------------------------- scoring


def selected(responses, values, folds=None, by=None):
    """Response of each draw when cross-validation chooses in a grid; the first of equal risks."""
    offered = responses[responses["candidate"].isin(values)]
    if folds:
        offered = offered[(offered["folds"] == folds) & (offered["by"] == by)]
    return offered.sort_values([*_RUN, "risk", "candidate"]).drop_duplicates(_RUN)


def outcomes(search, responses, stage):
    """Mean and sd of every protocol of a stage, from responses: one row for each cell."""
    responses = responses[responses["stage"] == stage].assign(column=search["columns"][0])
    rules = grids(search, "selections" if stage == "third" else "screened")
    offers = {name: selected(responses, *rule.values()) for name, rule in rules.items()}
    return pd.concat(
        [_summary(chosen.assign(grid=name)) for name, chosen in offers.items()], ignore_index=True
    )


def _summary(runs):
    """Mean and sd of the accuracies of each protocol in each cell."""
    found = runs.groupby([*KEYS, *CELL], sort=False)["accuracy"]
    return found.agg(mean="mean", sd="std", draws="count").reset_index()


def score(found, printed, cases):
    """Root mean square of the deviations of means, and of sds where there are two draws or more."""
    both = found[found["case"].isin(cases)].merge(
        printed[[*CELL, "mean", "sd"]], on=CELL, suffixes=("", "_printed")
    )
    squares = (both["mean"] - both["mean_printed"]) ** 2
    squares += ((both["sd"] - both["sd_printed"]) ** 2).fillna(0)
    return np.sqrt(squares.groupby([both[key] for key in KEYS]).mean())


def ranking(search, printed, found):
    """Every protocol with its score on the cases of the choice, best first."""
    table = score(found, printed, search["choice"]).rename("score").to_frame()
    table["validation"] = score(found, printed, search["validation"])
    return table.sort_values("score", kind="stable").reset_index()


def kept(search, printed, responses, stage):
    """The variants that go on: first those below the median of exact replications, then three."""
    best = ranking(search, printed, outcomes(search, responses, stage))
    if stage == "screen":
        limit = np.median(exact_replication(printed, search["choice"], 1))
        best = best[best["score"] < limit]
    names = best.drop_duplicates("variant")["variant"].tolist()
    return names if stage == "screen" else names[:3]


def _chance(sd, runs, rng):
    """By how much the mean and the sd of some runs miss the truth."""
    drawn = rng.normal(0.0, 1.0, (runs, *sd.shape)) * sd
    return drawn.mean(axis=0), drawn.std(axis=0, ddof=1) - sd if runs > 1 else 0.0


def exact_replication(printed, cases, draws, print_runs=None, repeats=2000, seed=0):
    """Scores that the very protocol of the print would get with so few draws, by simulation.

    The print itself comes from so many runs; without them it is taken for the truth.
    """
    rng = np.random.default_rng(seed)
    sd = np.tile(printed.loc[printed["case"].isin(cases), "sd"].to_numpy(), (repeats, 1))
    off = _chance(sd, draws, rng)
    if print_runs:
        off = [a - b for a, b in zip(off, _chance(sd, print_runs, rng), strict=True)]
    return np.sqrt(np.mean(np.square(off[0]) + np.square(off[1]), axis=1))


def levels(table, search):
    """The level of every choice of each protocol."""
    names = (table["variant"] + " | " + table["grid"]).str.split(" | ", regex=False, expand=True)
    choices = [*search["choices"], *search["selections"]]
    return names.iloc[:, : len(choices)].set_axis(choices, axis=1)


def worth(table, search):
    """What each level of each choice can reach at best: the lowest score with that level."""
    rows = [
        {"choice": choice, "level": level, "score": float(scores.min())}
        for choice, names in levels(table, search).items()
        for level, scores in table["score"].groupby(names)
    ]
    return pd.DataFrame(rows).sort_values(["choice", "score"], ignore_index=True)


def calibration(search, found, truths=300, runs=30, seed=0):
    """How often the search finds the levels of a protocol that is known, choice by choice.

    Protocols at random are taken for the truth: a table is drawn as its print would be, and the
    search is held on it, by means and sds that are no more certain than ours.
    """
    rng = np.random.default_rng(seed)
    found = found[found["case"].isin(search["choice"])]
    wide = found.pivot(index=KEYS, columns=CELL, values=["mean", "sd"]).fillna(0)
    mean, sd = wide["mean"].to_numpy(), wide["sd"].to_numpy()
    names, hits = levels(wide.index.to_frame(index=False), search), []
    for truth in rng.integers(len(mean), size=truths):
        off = [_chance(sd[truth], n, rng) for n in (runs, int(found["draws"].max()))]
        misses = mean - mean[truth] - off[0][0] - off[1][0], sd - sd[truth] - off[0][1] - off[1][1]
        best = (misses[0] ** 2 + misses[1] ** 2).sum(axis=1).argmin()
        hits.append(names.iloc[best] == names.iloc[truth])
    hits = pd.DataFrame(hits)
    return hits.assign(protocol=hits.all(axis=1)).mean()
