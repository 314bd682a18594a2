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

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.printed import ledger, values
from companion.paths import BOOK, read_yaml
from companion.runs.experiments import Run, load_case
from companion.runs.protocols import changed, load_protocol, merged
from companion.runs.published import FOLDER, listed_files, write_files
from companion.runs.reproduce import counted, store_of, tasks_of
from companion.runs.responses import PENALTIES, BiasedTables, CostResponses, MemberRun
from companion.runs.slips import CandidateRun
from companion.runs.store import Store
from companion.runs.sweep import sweep

SEARCHES = ("synthetic", "biased", "biased-kernels", "cross")
_KEYS = ["variant", "grid"]


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
    """Every combination of the choices that merely select from responses, where it makes sense."""
    combined = _combinations(search["selections"])
    return {name: rule for name, rule in combined.items() if _makes_sense(rule)}


def _makes_sense(rule):
    """Whether a combination is a protocol of its own: one width leaves no choice of a kernel."""
    single = sum(map(len, rule.get("width of the learner", {}).values())) == 1
    slip = rule.get("final kernel", "chosen") != "chosen"
    by_class = rule.get("scored on", "both") != "both"
    return not (single and slip) and not (by_class and rule["loss"] == "squared")


def cells_of(search):
    """What a protocol is judged by: every case in every column, in the order of all arrays."""
    return list(product(search["cases"], search["columns"]))


def visible(search):
    """The printed values that a search may look at."""
    printed = values(search["experiment"]).rename(columns={"method": "column"})
    return printed[printed["column"].isin(search["columns"])].reset_index(drop=True)


def compute(search, root, say, **options):
    """Compute what a search publishes, or take up what is there."""
    names, draws = _accuracies(search, root, say, **options)
    say(f"judging {len(names)} protocols")
    judged, trials = confidence_set(search, visible(search), names, draws)
    if further := list(_with_weights(search, root, judged[judged["member"]])):
        say(f"running {counted(len(further), 'protocol')} with weights")
        sweep(further, **options)
    judged = judged.round({"score": 5, "passed": 3}).astype({"member": int})
    judged["draws"] = search["draws"]
    for name, found in zip(("mean", "sd"), moments(draws), strict=True):
        judged[_columns_of(name, search)] = found.round(4)
    return {"search": judged, "trials": trials}


def _columns_of(moment, search):
    return [f"{moment}|{case}|{column}" for case, column in cells_of(search)]


def _accuracies(search, root, say, **options):
    """Names and accuracies of all protocols: what each grid takes from each variant's responses.

    Axes: protocol, cell, draw.
    """
    offered, rules, draws = variants(search), grids(search), range(search["draws"])
    found = {
        name: _responses(search, name, offered[name], root) for name in search.get("going", offered)
    }
    # Variants that differ only in the selection share their responses.
    tasks = tasks_of(search, len(draws))
    work = {store.folder: (store, run, tasks) for store, run in found.values()}
    say(f"responses of {counted(len(work), 'variant')}")
    sweep(list(work.values()), **options)
    take, taken = _TAKE[search["experiment"]], {}
    for (name, (store, _)), case in product(found.items(), search["cases"]):
        responses = np.stack([store.load(case, draw) for draw in draws])
        for grid, rule in rules.items():
            accuracies = take(search, case, offered[name], responses, rule)
            taken.setdefault((name, grid), []).append(np.transpose(accuracies))
    # In this order the published trials drew their truths.
    names = list(taken) if search["experiment"] == "biased" else sorted(taken)
    return names, np.array([np.concatenate(taken[name]) for name in names])


def _responses(search, name, options, root):
    """The responses of a variant: their store, and what computes them."""
    if search["experiment"] == "synthetic":  # each is a change of the matched protocol
        names = {"protocol": f"search:{name}", "methods": search["columns"]}
        variant = changed(load_protocol("synthetic"), seed=search["seed"], **names, **options)
        return store_of(variant, root), Run(variant)
    run = (BiasedTables if search["experiment"] == "biased" else CostResponses)(options, search)
    names = {"experiment": search["experiment"], "protocol": "search:responses"}
    return Store(root, run.parameters, **names), run


def _by_column(search, case, options, responses, rule):
    """Accuracies of the columns, a row a draw; nothing is left to select."""
    return [[row["accuracy"] for row in rows] for rows in responses]


def _by_cost(search, case, options, responses, rule):
    """Accuracies without weights, a row a draw, when cross-validation chooses C by a rule."""
    rows = pd.DataFrame(
        [{"draw": draw} | row for draw, rows in enumerate(responses) for row in rows]
    )
    return selected(rows.assign(variant="", case=case), *rule.values())[["accuracy"]]


def selected(responses, values, folds=None, by=None):
    """Response of each draw when cross-validation chooses in a grid; the first of equal risks."""
    run, offered = ["variant", "case", "draw"], responses[responses["candidate"].isin(values)]
    if folds:
        offered = offered[(offered["folds"] == folds) & (offered["by"] == by)]
    return offered.sort_values([*run, "risk", "candidate"]).drop_duplicates(run)


def chosen_accuracies(search, case, options, tables, rule):
    """Accuracies without and with ideal weights, a row a draw, that a rule takes from tables."""
    known = [(kind, value) for kind, values in search["widths"].items() for value in values]
    widths = rule["width of the learner"].items()
    rows = [known.index((kind, value)) for kind, values in widths for value in values]
    kernels, final = rows, rule.get("final kernel", "chosen")
    if final != "chosen":  # a slip: the kernel of the final fit is not the one that was scored
        kernels = [rows[-1] if final == "widest" else known.index(("relative", 1.0))] * len(rows)
    sums = rule["penalty added to"]
    n = (options.get("max_rows") or len(load_case(case).y) / 4) if sums else 1
    # Ideal weights as they are have a mean of about two, which weakens the penalty by as much.
    means = (1, 1 if options.get("scaled", True) else 2)
    penalties = [_columns(rule["regularisation"], n * mean) for mean in means]
    offered = np.stack([tables[:, :, :, w][..., p, :] for w, p in enumerate(penalties)], axis=3)
    # The quantities of a table: draw, direction, set, weights, width, penalty.
    right, wrong = (0, 1) if rule.get("where no class is likely", "prior") == "prior" else (2, 3)
    if rule["loss"] == "squared":
        wrong = 4
    wrong = {"both": wrong, "first": 5, "second": 6}[rule.get("scored on", "both")]
    accuracy, risk = offered[..., right][..., kernels, :], offered[..., wrong][..., rows, :]
    order = slice(None, None, -1 if rule["of equal risks"] == "last" else 1)
    accuracy, risk = (x.reshape(*x.shape[:4], -1)[..., order] for x in (accuracy, risk))
    least = (risk <= risk.min(axis=-1, keepdims=True) + 1e-6).argmax(axis=-1)
    accuracy = np.take_along_axis(accuracy, least[..., None], axis=-1)[..., 0]
    gaps = accuracy[:, :, 0, 1] - accuracy[:, :, 0, 0]
    if options.get("directions") == "once":
        gaps = np.broadcast_to(gaps.mean(axis=0), gaps.shape)
    if rule["gap of a direction"] == "absolute":
        gaps = np.abs(gaps)
    drawn = rule["training set after the choice"]
    return accuracy[np.arange(len(gaps)), gaps.argmax(axis=1), drawn].astype(float)


#: How a rule takes accuracies from responses, by experiment.
_TAKE = {"synthetic": _by_column, "biased": chosen_accuracies, "cross": _by_cost}


def members_of(search, table):
    """Protocol of each member and how its rows are called; what differs in this alone is one."""
    rule, offered, rules = search["ranked"], variants(search), grids(search)
    base = changed(load_protocol("cross", rule["protocol"]), runs=rule["runs"], ddr=None)
    base["methods"] = ["Unweighted", "uLSIF"]
    for variant, grid in table[_KEYS].itertuples(index=False):
        values, folds, by = rules[grid].values()
        learner = {"Cs": values, "folds": None if folds == "shared" else folds}
        name = f"member:{variant} | {grid.rpartition(' | ')[0]}"
        yield changed(base, protocol=name, learner=learner, problem=offered[variant]), by


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


def from_moments(mean, sd, n):
    """Stand in for draws that were not kept: normal scores with just these means and sds."""
    scores = stats.norm.ppf((np.arange(n) + 0.5) / n)
    return mean[..., None] + sd[..., None] * scores / scores.std(ddof=1)


def groups(search):
    """Cases that never part: as the rules name them, or the two directions of a pair of digits."""
    related = search["related"]
    if related == "directions":
        cases, half = search["cases"], len(search["cases"]) // 2
        related = [list(pair) for pair in zip(cases[:half], cases[half:], strict=True)]
    together = {case for group in related for case in group}
    return related + [[case] for case in search["cases"] if case not in together]


def halves(search):
    """Random halves of the cells, related cases together: two rows of zeros and ones for each."""
    rule, families = search["set"], groups(search)
    rng, found = np.random.default_rng(rule["seed"]), []
    for _ in range(rule["halves"]):
        order = rng.permutation(len(families))[: len(families) // 2]
        chosen = {case for place in order for case in families[place]}
        one = np.array([case in chosen for case, _ in cells_of(search)], dtype=float)
        found += [one, 1 - one]
    return np.array(found)


def distance(ours, printed, sides):
    """Root mean square of the misses of means and sds, for each side of each half."""
    squares = sum((a - b) ** 2 for a, b in zip(ours, printed, strict=True))
    return np.sqrt(squares @ sides.T / sides.sum(axis=1))


def limits(draws, rule, sides, runs):
    """How far chance takes each protocol from its own print: a row a protocol, a column a side."""
    rng = np.random.default_rng(rule["seed"] + 1)  # the same chance for every protocol
    picks = [rng.integers(draws.shape[2], size=(rule["resamples"], n)) for n in runs]
    twice = ([[m.T for m in moments(own[:, pick])] for pick in picks] for own in draws)
    return np.array([np.quantile(distance(*two, sides), rule["level"], axis=0) for two in twice])


def passed(ours, printed, most, sides):
    """Share of the halves in which each protocol is within chance of a print on both sides."""
    within = distance(ours, printed, sides) <= most
    return within.reshape(len(most), -1, 2).all(axis=2).mean(axis=1)


def confidence_set(search, printed, names, draws):
    """Judge every protocol: its distance over all cells, and in how many halves it passes."""
    rule, sides, everything = search["set"], halves(search), np.ones((1, draws.shape[1]))
    most = limits(draws, rule, sides, (ledger()["runs"], draws.shape[2]))
    ours, target = moments(draws), printed.set_index(["case", "column"]).loc[cells_of(search)]
    target = target["mean"].to_numpy(), target["sd"].to_numpy()
    table = pd.DataFrame(names, columns=_KEYS).assign(
        score=distance(ours, target, everything)[:, 0], passed=passed(ours, target, most, sides)
    )
    rows = []
    for truth, *trial in _planted(search, draws, sides):
        share = passed(*trial, sides) >= rule["share"]
        rows.append(("planted", share[truth], share.sum(), 0))
    for dealt in _permuted(search):
        false = [moment[dealt] for moment in target]
        size = (passed(ours, false, most, sides) >= rule["share"]).sum()
        rows.append(("permuted", False, size, distance(ours, false, everything).min()))
    trials = pd.DataFrame(rows, columns=["trial", "found", "size", "best"])
    return table.assign(member=table["passed"] >= rule["share"]), trials


def _planted(search, draws, sides):
    """Take protocols at random for the truth, with a print from draws that the search never saw."""
    rule, n, printed = search["set"], draws.shape[2], ledger()["runs"]
    rng, half = np.random.default_rng(rule["seed"] + 2), n // 2
    if not search.get("moments"):
        most = limits(draws, rule, sides, (half, half))
    for truth in rng.integers(len(draws), size=search["planted"]):
        if search.get("moments"):  # no draw was kept: new ones for print and search
            fresh, ours = (_normal_draws(draws, k, rng) for k in (printed, n))
            most = limits(ours, rule, sides, (printed, n))
        else:
            order = rng.permutation(n)
            fresh, ours = draws[..., order[:half]], draws[..., order[half:]]
        yield truth, moments(ours), moments(fresh[truth]), most


def _normal_draws(draws, n, rng):
    mean, sd = (moment[..., None] for moment in moments(draws))
    return mean + sd * rng.standard_normal((*mean.shape[:2], n))


def _permuted(search):
    """Deal the printed rows to other cases: what would be found in a print that never was."""
    rng, cells = np.random.default_rng(search["set"]["seed"] + 3), cells_of(search)
    digits = [case for case in search["cases"] if case[-2:-1] == "v"]  # dealt among themselves
    others = [case for case in search["cases"] if case not in digits]
    for _ in range(search["permuted"]):
        dealt = dict(
            zip(others + digits, [*rng.permutation(others), *rng.permutation(digits)], strict=True)
        )
        yield [cells.index((dealt[case], column)) for case, column in cells]


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


def set_of(search, wide):
    """Take a table of ours for print: the protocols that it would not contradict."""
    table = published(search["name"])
    mean, sd = (table[_columns_of(kind, search)].to_numpy(dtype=float) for kind in ("mean", "sd"))
    draws = from_moments(mean, sd, int(table["draws"].max()))
    runs = wide[search["columns"]].rename_axis(columns="column").stack()
    printed = runs.groupby(level=["case", "column"]).agg(mean="mean", sd="std").reset_index()
    search = search | {"planted": 0, "permuted": 0}
    return confidence_set(search, printed, table[_KEYS].to_numpy(), draws)[0]
