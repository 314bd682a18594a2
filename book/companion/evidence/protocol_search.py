"""Which protocols does the print not contradict? A search by rules that were fixed before looking.

``book/search/*.yml`` names the open choices: those that a response depends on (a *variant*) and
those that merely select from responses (a *grid*). Every combination is judged by the printed means
and standard deviations of the columns that need no estimated weights (``companion.evidence.
confidence``). The columns of uLSIF and DDR-uLSIF take no part: they rank what was not contradicted.
"""

from functools import reduce
from io import StringIO
from itertools import product

import numpy as np
import pandas as pd

from companion.evidence.confidence import (
    Candidates,
    confidence_set,
    from_moments,
    halves,
    limits,
    moments,
    passed,
)
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

SEARCHES = ("synthetic", "biased", "biased-kernels", "cross")
KEYS = ["variant", "grid"]
CELL = ["case", "column"]
_RUN = ["variant", "case", "draw"]
_RULE = ("width of the learner", "regularisation", "penalty added to", "loss", "of equal risks",
         "gap of a direction", "training set after the choice")  # fmt: skip
#: Which quantity of a table is the risk, by loss, by the classes that are scored, by ties.
_RISK = {("zero_one", "both", "prior"): 1, ("zero_one", "both", "first"): 3}
_RISK |= {("squared", "both", "prior"): 4, ("squared", "both", "first"): 4}
_RISK |= {("zero_one", "first", "prior"): 5, ("zero_one", "second", "prior"): 6}


def read_search(name):
    """The rules of a search, with its cases; stages of a search look at every second case."""
    if name not in SEARCHES:
        raise ValueError(f"the search must be one of {', '.join(SEARCHES)}, got {name!r}")
    rules = read_yaml(BOOK / "search" / f"{name}.yml")
    cases = load_protocol(rules["experiment"])["cases"]
    return {"name": name, "cases": cases, "choice": cases[::2]} | rules


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


def visible(search):
    """The printed values that a search may look at."""
    printed = values(search["experiment"]).rename(columns={"method": "column"})
    return printed[printed["column"].isin(search["columns"])].reset_index(drop=True)


# ------------------------------------------------------------------------------------- responses


def compute(search, root, say, **options):
    """Compute what a search publishes, or take up what is there."""
    by_name = {"synthetic": _synthetic, "biased": _biased, "cross": _cross}
    candidates, found = by_name[search["experiment"]](search, root, say, **options)
    say(f"judging {len(candidates.names)} protocols")
    judged, trials = confidence_set(search, visible(search), candidates)
    return found | {"search": _wide(candidates, judged), "trials": trials}


def _wide(candidates, judged):
    """One row a protocol: how it was judged, and mean and sd in every cell."""
    parts = zip(("mean", "sd"), moments(candidates.draws), strict=True)
    cells = {
        f"{name}|{'|'.join(cell)}": values[:, k].round(4)
        for name, values in parts
        for k, cell in enumerate(candidates.cells)
    }
    judged = judged.assign(draws=candidates.draws.shape[2])
    judged = judged.round({"score": 5, "passed": 3}).astype({"member": int})
    return pd.concat([judged, pd.DataFrame(cells)], axis=1)


def _candidates(rows):
    """Accuracies of protocols from rows with variant, grid, case, column and draw."""
    wide = rows.pivot(index=KEYS, columns=[*CELL, "draw"], values="accuracy")
    cells = list(dict.fromkeys(column[:2] for column in wide.columns))
    draws = wide.to_numpy(dtype=float).reshape(len(wide), len(cells), -1)
    return Candidates(list(wide.index), cells, draws)


def _cross(search, root, say, **options):
    """Three stages; the protocols of the third are judged, the responses before it are kept."""
    printed, tables = visible(search), []
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
    return _candidates(offered(search, responses, "third")), {"responses": early}


def _synthetic(search, root, say, **options):
    """The runs of every variant, which is a change of the matched protocol."""
    tasks = [(case, draw) for draw in range(search["draws"]) for case in search["cases"]]
    base = changed(load_protocol("synthetic"), methods=search["columns"], seed=search["seed"])
    say(counted(len(variants(search)), "variant"))
    work = []
    for name, change in variants(search).items():
        variant = changed(base, protocol=f"search:{name}", **change)
        work.append((store_of(variant, root), Run(variant), tasks))
    rows = compute_rows(work, **options).rename(columns={"method": "column", "seed": "draw"})
    variant = rows["protocol"].str.removeprefix("search:")
    return _candidates(rows.assign(variant=variant, grid="")), {}


def _biased(search, root, say, **options):
    """Accuracies of every protocol, selected from response tables."""
    tasks = {c: [(c, draw) for draw in range(search["draws"])] for c in search["cases"]}
    work, found = {}, {}  # variants that differ only in the selection share their tables
    for name, chosen in variants(search).items():
        run = BiasedTables(chosen, search)
        store = Store(root, run.parameters, experiment="biased", protocol="search:tables")
        work[name] = store, run, [task for draws in tasks.values() for task in draws]
    different = {store.folder: (store, *rest) for store, *rest in work.values()}
    say(counted(len(different), "kind") + " of tables")
    sweep(list(different.values()), **options)
    rules = {grid: rule for grid, rule in grids(search).items() if _makes_sense(rule)}
    for case, (name, chosen) in product(search["cases"], variants(search).items()):
        tables = np.stack([work[name][0].load(*task) for task in tasks[case]])
        for grid, rule in rules.items():
            found[name, grid, case] = chosen_accuracies(search, case, chosen, tables, rule).T
    names = list(dict.fromkeys(key[:2] for key in found))
    cells = list(product(search["cases"], search["columns"]))
    draws = [np.concatenate([found[*name, case] for case in search["cases"]]) for name in names]
    return Candidates(names, cells, np.array(draws)), {}


def _makes_sense(rule):
    """Whether a combination is a protocol of its own: one width leaves no choice of a kernel."""
    single = sum(map(len, rule["width of the learner"].values())) == 1
    slip = rule.get("final kernel", "chosen") != "chosen"
    by_class = rule.get("scored on", "both") != "both"
    return not (single and slip) and not (by_class and rule["loss"] == "squared")


def chosen_accuracies(search, case, options, tables, rule):
    """Accuracies without and with ideal weights, a row a draw, that a rule takes from tables."""
    width, penalty, sums, loss, ties, gap, drawn = (rule[name] for name in _RULE)
    unlikely = rule.get("where no class is likely", "prior")
    known = [(kind, value) for kind, values in search["widths"].items() for value in values]
    rows = [known.index((kind, value)) for kind, vs in width.items() for value in vs]
    n = (options.get("max_rows") or len(load_case(case).y) / 4) if sums else 1
    # Ideal weights as they are have a mean of about two, which weakens the penalty by as much.
    means = (1, 1 if options.get("scaled", True) else 2)
    offered = np.stack(
        [tables[:, :, :, w][..., _columns(penalty, n * mean), :] for w, mean in enumerate(means)],
        axis=3,
    )  # draw, direction, set, weights, width, penalty, quantity
    risk = offered[..., _RISK[loss, rule.get("scored on", "both"), unlikely]][..., rows, :]
    accuracy = offered[..., 0 if unlikely == "prior" else 2]
    final = rule.get("final kernel", "chosen")
    if final == "chosen":
        accuracy = accuracy[..., rows, :]
    else:  # a slip: the kernel of the final fit is not the one that was scored
        final = rows[-1] if final == "widest" else known.index(("relative", 1.0))
        accuracy = np.broadcast_to(accuracy[..., [final], :], risk.shape)
    risk, accuracy = (x.reshape(*x.shape[:4], -1) for x in (risk, accuracy))
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
    """Write what was found of all protocols, trials, and responses of early stages."""
    form = {"index": False, "float_format": "%.6g", "lineterminator": "\n"}
    return write_files({f"{search['name']}-{k}.csv": t.to_csv(**form) for k, t in found.items()})


def published(name, kind="search"):
    """Read what a search has published: its protocols, its trials, or early responses."""
    return pd.read_csv(
        StringIO(listed_files(FOLDER)[f"{name}-{kind}.csv"].decode()), keep_default_na=False
    )


def cells_of(table, column, value="mean"):
    """Means or sds of one column of every protocol: a row a protocol, a column a case."""
    wide = table.set_index(KEYS).filter(regex=rf"^{value}\|.*\|{column}$")
    return wide.rename(columns=lambda name: name.split("|")[1])


# --------------------------------------------------------------------------------------- scoring


def selected(responses, values, folds=None, by=None):
    """Response of each draw when cross-validation chooses in a grid; the first of equal risks."""
    offered = responses[responses["candidate"].isin(values)]
    if folds:
        offered = offered[(offered["folds"] == folds) & (offered["by"] == by)]
    return offered.sort_values([*_RUN, "risk", "candidate"]).drop_duplicates(_RUN)


def offered(search, responses, stage):
    """What every protocol of a stage selects from responses: one row a case and draw."""
    responses = responses[responses["stage"] == stage].assign(column=search["columns"][0])
    rules = grids(search, "selections" if stage == "third" else "screened")
    chosen = [selected(responses, *r.values()).assign(grid=name) for name, r in rules.items()]
    return pd.concat(chosen, ignore_index=True)


def outcomes(search, responses, stage):
    """Mean and sd of every protocol of a stage, from responses: one row for each cell."""
    return _summary(offered(search, responses, stage))


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


def kept(search, printed, responses, stage):
    """The variants that go on: first those below the median of exact replications, then three."""
    found = score(outcomes(search, responses, stage), printed, search["choice"])
    best = found.sort_values(kind="stable").rename("score").reset_index()
    if stage == "screen":
        best = best[best["score"] < np.median(one_draw(printed, search["choice"]))]
    names = best.drop_duplicates("variant")["variant"].tolist()
    return names if stage == "screen" else names[:3]


def one_draw(printed, cases, repeats=2000, seed=0):
    """Scores that the very protocol of the print would get with a single draw, by simulation."""
    sd = printed.loc[printed["case"].isin(cases), "sd"].to_numpy()
    off = np.random.default_rng(seed).normal(0.0, 1.0, (repeats, 1, len(sd))) * sd
    return np.sqrt(np.mean(off[:, 0] ** 2, axis=1))


def set_of(search, wide):
    """Take a table of ours for print: the protocols that it would not contradict."""
    table, columns = published(search["name"]), search["columns"]
    cells = list(product(search["cases"], columns))
    ours = [
        table[[f"{kind}|{case}|{column}" for case, column in cells]].to_numpy(dtype=float)
        for kind in ("mean", "sd")
    ]
    candidates = from_moments(list(table.index), cells, *ours, int(table["draws"].max()))
    runs = wide[columns].stack().unstack("seed").loc[cells].to_numpy(dtype=float)
    sides = halves(search, cells)
    most = limits(candidates, search, sides, (runs.shape[1], candidates.draws.shape[2]))
    share = passed(ours, moments(runs), most, sides)
    return table[KEYS].assign(passed=share, member=share >= search["set"]["share"])


def levels(table, search):
    """The level of every choice of each protocol."""
    names = table["variant"] + (" | " + table["grid"]).where(table["grid"] != "", "")
    choices = [*search["choices"], *search["selections"]]
    return names.str.split(" | ", regex=False, expand=True).set_axis(choices, axis=1)


def shared(table, search):
    """Levels of the members by choice, most frequent first: what they share, what is open."""
    members = levels(table[table["member"] == 1], search)
    return {choice: names.value_counts().to_dict() for choice, names in members.items()}
