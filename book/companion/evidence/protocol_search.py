"""Which protocols does the print not contradict? A search by rules that were fixed before looking.

``book/search/*.yml`` names the open choices: those that a response depends on (a *variant*) and
those that merely select from responses (a *grid*). Every combination is judged by the printed means
and standard deviations of the columns that need no estimated weights. A protocol belongs to the set
when, in most of many random halves of the cases, its distance from print is within chance on both
sides. Chance is the distance between as many runs as the print has and as many as ours, both drawn
from the protocol's own draws. The set may be empty.
"""

from functools import reduce
from io import StringIO
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.printed import ledger, values
from companion.paths import BOOK, read_yaml
from companion.runs.experiments import Run, load_case
from companion.runs.protocols import changed, load_protocol, merged
from companion.runs.published import FOLDER, listed_files, write_files
from companion.runs.reproduce import compute as compute_rows
from companion.runs.reproduce import counted, store_of, tasks_of
from companion.runs.responses import PENALTIES, BiasedTables, CostResponses, MemberRun
from companion.runs.slips import CandidateRun
from companion.runs.store import Store
from companion.runs.sweep import sweep

SEARCHES = ("synthetic", "biased", "biased-kernels", "cross")
_KEYS = ["variant", "grid"]
_RULE = ("width of the learner", "regularisation", "penalty added to", "loss", "of equal risks",
         "gap of a direction", "training set after the choice")  # fmt: skip
#: Which quantity of a table is the risk, by loss, by the classes that are scored, by ties.
_RISK = {("zero_one", "both", "prior"): 1, ("zero_one", "both", "first"): 3}
_RISK |= {("squared", "both", "prior"): 4, ("squared", "both", "first"): 4}
_RISK |= {("zero_one", "first", "prior"): 5, ("zero_one", "second", "prior"): 6}


class Candidates(NamedTuple):
    """Accuracies of protocols: axes protocol, cell, draw; a cell is a case and a column."""

    names: list
    cells: list
    draws: np.ndarray


# ------------------------------------------------------------------------------- what is searched


def read_search(name):
    """The rules of a search, with its cases."""
    if name not in SEARCHES:
        raise ValueError(f"the search must be one of {', '.join(SEARCHES)}, got {name!r}")
    rules = read_yaml(BOOK / "search" / f"{name}.yml")
    return {"name": name, "cases": load_protocol(rules["experiment"])["cases"]} | rules


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
    combined = _combinations(search["choices"])
    return {name: reduce(merged, chosen.values(), {}) for name, chosen in combined.items()}


def grids(search):
    """Every combination of the choices that merely select from responses."""
    return _combinations(search["selections"])


def visible(search):
    """The printed values that a search may look at."""
    printed = values(search["experiment"]).rename(columns={"method": "column"})
    return printed[printed["column"].isin(search["columns"])].reset_index(drop=True)


def compute(search, root, say, **options):
    """Compute what a search publishes, or take up what is there."""
    by_name = {"synthetic": _synthetic, "biased": _biased, "cross": _cross}
    candidates = by_name[search["experiment"]](search, root, say, **options)
    say(f"judging {len(candidates.names)} protocols")
    judged, trials = confidence_set(search, visible(search), candidates)
    if further := list(_with_weights(search, root, judged[judged["member"]])):
        say(f"running {counted(len(further), 'protocol')} with weights")
        sweep(further, **options)
    cells = {
        f"{name}|{'|'.join(cell)}": values[:, k].round(4)
        for name, values in zip(("mean", "sd"), moments(candidates.draws), strict=True)
        for k, cell in enumerate(candidates.cells)
    }
    judged = judged.assign(draws=candidates.draws.shape[2])
    judged = judged.round({"score": 5, "passed": 3}).astype({"member": int})
    return {"search": pd.concat([judged, pd.DataFrame(cells)], axis=1), "trials": trials}


def _candidates(rows):
    """Accuracies of protocols from rows with variant, grid, case, column and draw."""
    wide = rows.pivot(index=_KEYS, columns=["case", "column", "draw"], values="accuracy")
    cells = list(dict.fromkeys(column[:2] for column in wide.columns))
    draws = wide.to_numpy(dtype=float).reshape(len(wide), len(cells), -1)
    return Candidates(list(wide.index), cells, draws)


def _cross(search, root, say, **options):
    """What every grid selects from the responses of the variants that earlier stages left."""
    options_of, work = variants(search), []
    say(counted(len(search["going"]), "variant"))
    for name in search["going"]:
        run = CostResponses(options_of[name], search)
        names = {"experiment": "cross", "protocol": f"search:{name}, costs"}
        work.append((Store(root, run.parameters, **names), run, tasks_of(search, search["draws"])))
    sweep(work, **options)
    tables = []
    for name, (store, _, tasks) in zip(search["going"], work, strict=True):
        responses = store.rows(tasks).rename(columns={"seed": "draw"}).assign(variant=name)
        for grid, rule in grids(search).items():
            tables.append(selected(responses, *rule.values()).assign(grid=grid))
    return _candidates(pd.concat(tables).assign(column=search["columns"][0]))


def selected(responses, values, folds=None, by=None):
    """Response of each draw when cross-validation chooses in a grid; the first of equal risks."""
    run, offered = ["variant", "case", "draw"], responses[responses["candidate"].isin(values)]
    if folds:
        offered = offered[(offered["folds"] == folds) & (offered["by"] == by)]
    return offered.sort_values([*run, "risk", "candidate"]).drop_duplicates(run)


def _synthetic(search, root, say, **options):
    """The runs of every variant, which is a change of the matched protocol."""
    base = changed(load_protocol("synthetic"), methods=search["columns"], seed=search["seed"])
    say(counted(len(variants(search)), "variant"))
    work = []
    for name, change in variants(search).items():
        variant = changed(base, protocol=f"search:{name}", **change)
        work.append((store_of(variant, root), Run(variant), tasks_of(search, search["draws"])))
    rows = compute_rows(work, **options).rename(columns={"method": "column", "seed": "draw"})
    variant = rows["protocol"].str.removeprefix("search:")
    return _candidates(rows.assign(variant=variant, grid=""))


def _biased(search, root, say, **options):
    """Accuracies of every protocol, selected from response tables."""
    work, found = {}, {}  # variants that differ only in the selection share their tables
    for name, chosen in variants(search).items():
        run = BiasedTables(chosen, search)
        store = Store(root, run.parameters, experiment="biased", protocol="search:tables")
        work[name] = store, run, tasks_of(search, search["draws"])
    different = {store.folder: (store, *rest) for store, *rest in work.values()}
    say(counted(len(different), "kind") + " of tables")
    sweep(list(different.values()), **options)
    rules = {grid: rule for grid, rule in grids(search).items() if _makes_sense(rule)}
    for case, (name, chosen) in product(search["cases"], variants(search).items()):
        store = work[name][0]
        tables = np.stack([store.load(case, draw) for draw in range(search["draws"])])
        for grid, rule in rules.items():
            found[name, grid, case] = chosen_accuracies(search, case, chosen, tables, rule).T
    names = list(dict.fromkeys(key[:2] for key in found))
    cells = list(product(search["cases"], search["columns"]))
    draws = [np.concatenate([found[*name, case] for case in search["cases"]]) for name in names]
    return Candidates(names, cells, np.array(draws))


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


def members_of(search, table):
    """Protocol of each member and how its rows are called; what differs in this alone is one."""
    rule, offered, rules = search["ranked"], variants(search), grids(search)
    base = changed(load_protocol("cross", rule["protocol"]), runs=rule["runs"], ddr=None)
    for variant, grid in table[_KEYS].itertuples(index=False):
        values, folds, by = rules[grid].values()
        change = {"methods": ["Unweighted", "uLSIF"], "problem": offered[variant]}
        learner = {"Cs": values} | ({"folds": folds} if folds != "shared" else {})
        name = f"member:{variant} | {grid.rpartition(' | ')[0]}"
        yield changed(base, protocol=name, learner=learner, **change), by


def _with_weights(search, root, members):
    """What is run with weights: candidates that the rules name, or the members of the set."""
    experiment, rules = search["experiment"], search.get("candidates", {"protocols": {}})
    for name, grid in rules["protocols"].items():
        rule = {"omega": search["choices"]["omega"]["drawn in each run"]} | grids(search)[grid]
        run = CandidateRun(search, rule, load_protocol(experiment)["ratios"]["uLSIF"])
        store = Store(root, run.parameters, experiment=experiment, protocol=f"slip:{name}")
        yield store, run, tasks_of(search, rules["runs"])
    found = members_of(search, members) if "ranked" in search else []
    for protocol in {protocol["protocol"]: protocol for protocol, _ in found}.values():
        yield store_of(protocol, root), MemberRun(protocol), tasks_of(protocol)


def work_again(root):
    """One run of each case of what the searches had run with weights."""
    for name in ("biased-kernels", "cross"):
        members = published(name).query("member == 1")
        for store, run, tasks in _with_weights(read_search(name), root, members):
            yield store, run, [task for task in tasks if task[1] == 0]


def _columns(penalty, n):
    """Places of the penalties in the tables, which have half decades."""
    wanted = np.log10(np.array(penalty) / n)[:, None]
    return np.abs(np.log10(PENALTIES) - wanted).argmin(axis=1)


# ------------------------------------------------------------------------------- how it is judged


def moments(draws):
    """Means and sds over the draws."""
    return draws.mean(axis=-1), draws.std(axis=-1, ddof=1)


def from_moments(names, cells, mean, sd, n):
    """Candidates whose draws were not kept: normal scores with just these means and sds."""
    scores = stats.norm.ppf((np.arange(n) + 0.5) / n)
    scores /= scores.std(ddof=1)
    return Candidates(names, cells, mean[..., None] + sd[..., None] * scores)


def groups(search):
    """Cases that never part: as the rules name them, or the two directions of a pair of digits."""
    related = search["related"]
    if related == "directions":
        cases, half = search["cases"], len(search["cases"]) // 2
        related = [list(pair) for pair in zip(cases[:half], cases[half:], strict=True)]
    together = {case for group in related for case in group}
    return related + [[case] for case in search["cases"] if case not in together]


def halves(search, cells):
    """Random halves of the cells, related cases together: two rows of zeros and ones for each."""
    rule, families = search["set"], groups(search)
    rng, found = np.random.default_rng(rule["seed"]), []
    for _ in range(rule["halves"]):
        order = rng.permutation(len(families))[: len(families) // 2]
        chosen = {case for place in order for case in families[place]}
        one = np.array([case in chosen for case, _ in cells], dtype=float)
        found += [one, 1 - one]
    return np.array(found)


def distance(ours, printed, sides):
    """Root mean square of the misses of means and sds, for each side of each half."""
    squares = sum((a - b) ** 2 for a, b in zip(ours, printed, strict=True))
    return np.sqrt(squares @ sides.T / sides.sum(axis=1))


def limits(candidates, search, sides, runs):
    """How far chance takes each protocol from its own print: a row a protocol, a column a side."""
    rule, found = search["set"], []
    for draws in candidates.draws:
        rng = np.random.default_rng(rule["seed"] + 1)  # the same chance for every protocol
        twice = []
        for n in runs:
            again = draws[:, rng.integers(draws.shape[1], size=(rule["resamples"], n))]
            twice.append([moment.T for moment in moments(again)])
        found.append(np.quantile(distance(*twice, sides), rule["level"], axis=0))
    return np.array(found)


def passed(ours, printed, most, sides):
    """Share of the halves in which each protocol is within chance of a print on both sides."""
    within = distance(ours, printed, sides) <= most
    return within.reshape(len(most), -1, 2).all(axis=2).mean(axis=1)


def confidence_set(search, printed, candidates):
    """Judge every protocol: its distance over all cells, and in how many halves it passes."""
    sides, n = halves(search, candidates.cells), candidates.draws.shape[2]
    most = limits(candidates, search, sides, (ledger()["runs"], n))
    cells = printed.set_index(["case", "column"]).loc[candidates.cells]
    target, ours = (cells["mean"].to_numpy(), cells["sd"].to_numpy()), moments(candidates.draws)
    table = pd.DataFrame(candidates.names, columns=_KEYS).assign(
        score=distance(ours, target, np.ones((1, len(cells))))[:, 0],
        passed=passed(ours, target, most, sides),
    )
    rows = _planted(search, candidates, sides) + _permuted(search, candidates, sides, most, target)
    trials = pd.DataFrame(rows, columns=["trial", "found", "size", "best"])
    return table.assign(member=table["passed"] >= search["set"]["share"]), trials


def _planted(search, candidates, sides):
    """Take protocols at random for the truth, with a print from draws that the search never saw."""
    rule, rng = search["set"], np.random.default_rng(search["set"]["seed"] + 2)
    n, rows = candidates.draws.shape[2], []
    split = None if search.get("moments") else limits(candidates, search, sides, (n // 2, n // 2))
    for truth in rng.integers(len(candidates.names), size=search["planted"]):
        if split is None:  # no draw was kept: new ones for print and search
            fresh = [_normal_draws(candidates, k, rng) for k in (ledger()["runs"], n)]
            most = limits(fresh[1], search, sides, (ledger()["runs"], n))
            draws = [c.draws for c in fresh]
        else:
            order, most = rng.permutation(n), split
            draws = [candidates.draws[..., o] for o in (order[: n // 2], order[n // 2 :])]
        share = passed(moments(draws[1]), moments(draws[0][truth]), most, sides)
        rows.append(("planted", share[truth] >= rule["share"], (share >= rule["share"]).sum(), 0))
    return rows


def _normal_draws(candidates, n, rng):
    mean, sd = (moment[..., None] for moment in moments(candidates.draws))
    return candidates._replace(draws=mean + sd * rng.standard_normal((*mean.shape[:2], n)))


def _permuted(search, candidates, sides, most, target):
    """Deal the printed rows to other cases: what would be found in a print that never was."""
    rng, rows = np.random.default_rng(search["set"]["seed"] + 3), []
    ours, cells = moments(candidates.draws), candidates.cells
    digits = [case for case in search["cases"] if case[-2:-1] == "v"]  # dealt among themselves
    others = [case for case in search["cases"] if case not in digits]
    for _ in range(search["permuted"]):
        dealt = {}
        for family in (others, digits):
            dealt |= dict(zip(family, rng.permutation(family), strict=True)) if family else {}
        places = [cells.index((dealt[case], column)) for case, column in cells]
        printed = [moment[places] for moment in target]
        share = passed(ours, printed, most, sides)
        best = distance(ours, printed, np.ones((1, len(cells)))).min()
        rows.append(("permuted", False, (share >= search["set"]["share"]).sum(), best))
    return rows


# ---------------------------------------------------------------------------- what was published


def publish(search, found):
    """Write what was found of all protocols, and the trials."""
    form = {"index": False, "float_format": "%.6g", "lineterminator": "\n"}
    return write_files({f"{search['name']}-{k}.csv": t.to_csv(**form) for k, t in found.items()})


def published(name, kind="search"):
    """Read what a search has published: its protocols, its trials, or responses before the last."""
    text = listed_files(FOLDER)[f"{name}-{kind}.csv"].decode()
    return pd.read_csv(StringIO(text), keep_default_na=False)


def names_of(table):
    """Name protocols in words: their variant and their grid."""
    return (table["variant"] + " | " + table["grid"]).str.removesuffix(" | ")


def cells_of(table, column):
    """Means of one column of every protocol: a row a protocol, a column a case."""
    wide = table.set_index(_KEYS).filter(regex=rf"^mean\|.*\|{column}$")
    return wide.rename(columns=lambda name: name.split("|")[1])


def set_of(search, wide):
    """Take a table of ours for print: the protocols that it would not contradict."""
    table, cells = published(search["name"]), list(product(search["cases"], search["columns"]))
    mean, sd = (
        table[[f"{kind}|{case}|{column}" for case, column in cells]].to_numpy(dtype=float)
        for kind in ("mean", "sd")
    )
    names = list(table[_KEYS].itertuples(index=False, name=None))
    candidates = from_moments(names, cells, mean, sd, int(table["draws"].max()))
    runs = wide[search["columns"]].rename_axis(columns="column").stack()
    printed = runs.groupby(level=["case", "column"]).agg(mean="mean", sd="std").reset_index()
    return confidence_set(search | {"planted": 0, "permuted": 0}, printed, candidates)[0]
