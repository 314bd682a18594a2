"""Tables of the pages on biased sampling and on the digits, and sentences that read them.

The sentences are computed, so that they stay true when the stored runs change.
"""

import math

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from companion.evidence.printed import ours
from companion.evidence.significance import significance
from companion.evidence.universes import universe_gains as gains
from companion.pages.multiverse import changes, reading, size_sentence
from companion.pages.text import points
from companion.runs.multiverse import read, universes
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results

__all__ = [
    "by_protocol",
    "choice_reading",
    "complete_universes",
    "direction_reading",
    "gap_reading",
    "half_reading",
    "larger_share",
    "mean_by_case",
    "mildest_case",
    "posterior_spread",
    "protocol_reading",
    "t_tests",
    "with_and_without",
    "worded_counts",
]

_COMPARED = ("Unweighted", "uLSIF", "DDR-uLSIF")


def mean_by_case(runs, column, cases):
    """Means over the runs: one row a case, one column a method."""
    return runs.pivot_table(index="case", columns="method", values=column).loc[list(cases)]


def t_tests(runs, experiment, protocol, cases):
    """t-tests of DDR-uLSIF against the other compared methods, case by case."""
    cases = list(cases)
    tested = significance(runs, experiment, protocol)
    tested = tested.sort_values("case", key=lambda c: c.map(cases.index), kind="stable")
    table = pd.DataFrame({"Case": tested["case"], "Against": tested["rival"]})
    table["Gain in points"] = 100 * tested["gain"]
    for kind, title in (("paired", "p, paired"), ("holm", "p, Holm"), ("welch", "p, Welch")):
        table[title] = [f"{value:.2g}" for value in tested[f"p_{kind}"]]
    return table, tested


def with_and_without(runs, experiment, protocol, name, cases):
    """A ratio beside DDR with that ratio: mean ± sd of both, and p of the paired t-test."""
    tested = significance(runs, experiment, protocol, f"DDR-{name}", [name])
    chosen = ours(runs, experiment, protocol).groupby(["method", "case"])["accuracy"]
    summary = chosen.agg(["mean", "std"])
    table = pd.DataFrame({"Case": list(cases)})
    for method in (name, f"DDR-{name}"):
        pairs = summary.loc[method].loc[list(cases)].to_numpy()
        table[method] = [f"{mean:.4f} ± {sd:.4f}" for mean, sd in pairs]
    p = tested.set_index("case")["p_paired"]
    table[f"p, {name}"] = [f"{p[case]:.2g}" for case in cases]
    return table, tested


def worded_counts(tested, method):
    """Say in how many cases a method is significantly better and worse, and by how much."""
    if tested.empty:
        return f"{method} has no runs beside its rival."
    better, worse = tested["better_paired"].sum(), tested["worse_paired"].sum()
    return (
        f"{method} is significantly better than {tested['rival'].iloc[0]} in {better} of "
        f"{len(tested)} cases, worse in {worse}; mean {points(100 * tested['gain'].mean())} points."
    )


def mildest_case(runs, cases, method="DDR-uLSIF"):
    """The case in which a method's weights are nearest to constant, and what they do there."""
    sizes = mean_by_case(runs, "ess", cases)[method]
    case = sizes.idxmax()
    accuracy = mean_by_case(runs, "accuracy", [case]).loc[case]
    rows = runs[(runs["case"] == case) & (runs["method"] == method)]
    prior = (rows["prior_ratio"] - 1).abs().mean()
    text = (
        f"The mildest weights of {method} are those of {case}: the effective sample size is "
        f"{100 * sizes[case]:.1f} % of the training rows. The change from no weights is "
        f"{points(100 * (accuracy[method] - accuracy['Unweighted']))} points. The mutual "
        f"information of its predictions is {rows['mutual_information'].mean():.4f} nats, where "
        f"two certain and equally frequent classes have {math.log(2):.4f}; the iteration kept is "
        f"number {rows['n_iter'].mean():.1f} on average; the prior ratio differs from one by "
        f"{100 * prior:.1f} %."
    )
    return case, text


def posterior_spread(problem, learner, weights):
    """How weights move a learner's posteriors on the test rows of one run."""
    X, y, y_test = problem.X_train, problem.y_train, problem.y_test
    rows = []
    for name, weight in ({"none": None} | weights).items():
        model = clone(learner).fit(X, y, sample_weight=weight)
        second = model.predict_proba(problem.X_test)[:, 1]
        row = {"Weights": name}
        for level, title in ((0, "lowest"), (0.5, "median"), (1, "highest")):
            row[f"Posterior, {title}"] = float(np.quantile(second, level))
        called = model.predict(problem.X_test)
        row["Called second class"] = float(np.mean(called == model.classes_[1]))
        row["Accuracy"] = float(np.mean(called == y_test))
        row["Area under ROC"] = float(roc_auc_score(y_test == model.classes_[1], second))
        rows.append(row)
    return pd.DataFrame(rows)


def gap_reading(gaps):
    """Say what is left of the gap of a chosen direction when training rows are drawn again."""
    gaps = gaps.dropna(subset=["mean", "taken", "again"])
    if gaps.empty:
        return "No run of these datasets is both shown above and examined here."
    mean, taken, again = gaps[["mean", "taken", "again"]].mean()
    share = 100 * (1 - max(again, 0) / taken) if 0 < taken > again else 0
    gone = f": {share:.0f} % of the gap is gone" if share else ""
    return (
        f"Over these {len(gaps)} runs ideal weights gain {points(taken)} points along the "
        f"direction taken when it is chosen, and {points(again)} when the training set is drawn "
        f"again along it{gone}. The mean of all directions is {points(mean)}."
    )


def choice_reading(both):
    """Say what DDR gains with the paper's choice of direction and without any."""
    if both[["uLSIF", "DDR-uLSIF"]].isna().any(axis=None):
        return "No run is there with both choices yet."
    gain = 100 * both.rsub(both["DDR-uLSIF"], axis=0)[["uLSIF", "Unweighted"]]
    chosen, random = gain.loc["largest gap"], gain.loc["random"]
    return (
        "With the paper's choice by test labels DDR-uLSIF gains "
        f"{points(chosen['uLSIF'])} points over uLSIF and {points(chosen['Unweighted'])} over no "
        f"weights; along a random direction {points(random['uLSIF'])} and "
        f"{points(random['Unweighted'])}. The choice changes the gain over uLSIF by "
        f"{points(chosen['uLSIF'] - random['uLSIF'])} points."
    )


def direction_reading(compared):
    """Say for each direction between collections what DDR adds here and in the paper."""
    direction = compared["case"].str.rsplit(" ", n=3).str[0]
    lines = []
    for name, rows in compared.groupby(direction, sort=False):
        means = 100 * rows.groupby("method")[["mean", "paper_mean"]].mean()
        added = means.loc["DDR-uLSIF"] - means.loc["uLSIF"]
        off = (means["mean"] - means["paper_mean"]).to_dict()
        columns = ", ".join(f"{method} {points(off[method])}" for method in _COMPARED)
        lines.append(
            f"{name}: DDR adds {points(added['mean'])} points to uLSIF here, "
            f"{points(added['paper_mean'])} in the paper. Ours minus the paper's mean: {columns}."
        )
    return lines


def larger_share(case, labels):
    """Share of the more frequent digit in the test collection of a cross-dataset task."""
    direction, first, _, second = case.rsplit(" ", 3)
    found = labels[direction.split(" to ")[1]]
    one, other = (int((found == int(digit)).sum()) for digit in (first, second))
    return max(one, other) / (one + other)


def half_reading(means, shares, near=0.05):
    """Count the mean accuracies that lie below or near one half."""
    flat = means.stack()
    below, close = flat[flat < 0.5], flat[(flat >= 0.5) & (flat < 0.5 + near)]
    named = ", ".join(f"{case}: {method} {value:.3f}" for (case, method), value in below.items())
    lower = means.lt(shares.loc[means.index], axis=0).sum().sum()
    return (
        f"Of {len(flat)} mean accuracies {len(below)} lie below one half"
        f"{f' ({named})' if named else ''} and {len(close)} within {100 * near:.0f} points above "
        f"it. {lower} are lower than always naming the more frequent digit would give."
    )


def by_protocol(experiment, results=None):
    """What DDR adds to plain uLSIF under each protocol, from the published runs."""
    results = published_results() if results is None else results
    rows = []
    for name in ("matched", "tuned"):
        protocol, chosen = load_protocol(experiment, name), ours(results, experiment, name)
        count = len(chosen.drop_duplicates(["case", "seed"]))
        row = {"Settings": name}
        row["Runs stored"] = f"{count} of {protocol['runs'] * len(protocol['cases'])}"
        row |= dict.fromkeys((*_COMPARED, "Gain in points", "Significant"), "not computed yet")
        tested = significance(results, experiment, name, rivals=["uLSIF"])
        if len(tested):
            means = chosen.pivot_table(index="case", columns="method", values="accuracy").mean()
            row |= {method: f"{means[method]:.4f}" for method in _COMPARED}
            row["Gain in points"] = f"{100 * tested['gain'].mean():+.2f}".replace("-", "−")
            row["Significant"] = f"{tested['better_paired'].sum()} of {len(tested)}"
        rows.append(row)
    return pd.DataFrame(rows)


def protocol_reading(experiment, results=None):
    """Say what both kinds of weights do to the mean accuracy under each protocol."""
    results = published_results() if results is None else results
    lines = []
    for name in ("matched", "tuned"):
        chosen = ours(results, experiment, name)
        table = chosen.pivot_table(index="case", columns="method", values="accuracy")
        if table.empty or not set(_COMPARED) <= set(table.columns):
            lines.append(f"{name.capitalize()} settings: not computed yet.")
            continue
        means = 100 * table[list(_COMPARED)].dropna().mean()
        plain, ddr = means[["uLSIF", "DDR-uLSIF"]] - means["Unweighted"]
        lines.append(
            f"{name.capitalize()} settings: against no weights uLSIF changes the mean accuracy of "
            f"{len(table)} cases by {points(plain)} points and DDR-uLSIF by {points(ddr)}: "
            f"{_verdict_of_weights(plain, ddr)}."
        )
    return lines


def _verdict_of_weights(plain, ddr):
    if plain > 0 and ddr > 0:
        return "both kinds of weights gain on average"
    if plain < 0 and ddr < 0:
        return "both kinds of weights lose accuracy on average"
    return "one kind of weights gains on average, the other does not"


def complete_universes(experiment, results=None):
    """The universes of a table that are stored completely, and what they show together."""
    results = published_results() if results is None else results
    found = gains(results, experiment)
    cases = len(load_protocol(experiment)["cases"])
    found = found[(found["runs"] >= read()["runs"]) & (found["cases"] == cases)]
    text = f"{len(found)} of {len(universes(experiment))} universes are stored completely."
    if len(found):
        moved = changes(results, experiment)
        moved = moved[moved.index.isin(found.index)]
        size = size_sentence(results, experiment, found, moved)
        text += " " + f"{reading(found, moved)} {size}".replace("*", "").strip()
    return found, text
