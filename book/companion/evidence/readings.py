"""Tables of the pages on biased sampling and on the digits, and sentences that read them.

The sentences are computed, so that they stay true when the stored runs change.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from companion.evidence.gains import (
    METHOD,
    NO_WEIGHTS,
    RIVAL,
    accuracies,
    mean_interval,
    over_cases,
    paired,
    runs_of,
)
from companion.evidence.tables import mean_sd, points, with_interval
from companion.paths import PROTOCOLS, cross_case
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results, published_runs

_COMPARED = (NO_WEIGHTS, RIVAL, METHOD)


def with_and_without(runs, experiment, protocol, name, cases):
    """A ratio beside DDR with that ratio, mean ± sd of both; and the paired comparison."""
    tested = paired(runs, experiment, protocol, f"DDR-{name}", name)
    chosen = runs_of(runs, experiment, protocol).groupby(["method", "case"])["accuracy"]
    summary = chosen.agg(["mean", "std"])
    table = pd.DataFrame({"Case": list(cases)})
    for method in (name, f"DDR-{name}"):
        table[method] = [mean_sd(*summary.loc[method, case]) for case in cases]
    return table, tested


def worded_counts(tested, method):
    """Say in how many cases a method is significantly better and worse, and by how much."""
    found = over_cases(tested)
    return (
        f"{method} is significantly better than {tested['rival'].iloc[0]} in {found['better']} of "
        f"{len(tested)} cases, worse in {found['worse']}; mean {points(found['mean'])} points."
    )


def mildest_case(runs, cases, method=METHOD):
    """The case in which a method's weights are nearest to constant, and what they do there."""
    runs = runs.assign(prior_change=(runs["prior_ratio"] - 1).abs())
    means = runs.groupby(["method", "case"])[["ess", "accuracy", "prior_change"]].mean()
    case = means.loc[method].loc[list(cases), "ess"].idxmax()
    ess, accuracy, prior = means.loc[method, case]
    change = accuracy - means.at[(NO_WEIGHTS, case), "accuracy"]
    text = (
        f"The mildest weights of {method} are those of {case}: the effective sample size is "
        f"{100 * ess:.1f} % of the training rows. The change from no weights is "
        f"{points(100 * change)} points; the prior ratio "
        f"differs from one by {100 * prior:.1f} % on average."
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


def open_run_reading(settings, case, run, scores):
    """Say whether a run that a page computed in the open is the published one."""
    methods = [NO_WEIGHTS, RIVAL, METHOD, "Oracle-imp"][: len(scores)]
    rows = published_runs(settings)
    rows = rows[(rows["case"] == case) & (rows["seed"] == run)].set_index("method")["accuracy"]
    if not set(methods) <= set(rows.index):
        return "No published run has these parameters."
    off = np.abs(rows[methods].to_numpy() - scores).max()
    same = "the same" if off < 1e-9 else f"at most {off:.4f} away"
    listed = ", ".join(f"{method} {rows[method]:.4f}" for method in methods)
    return f"Published, run {run} of {case}: {listed}. The accuracies above are {same}."


def gap_reading(results):
    """Say what is left of the gap of a chosen direction when training rows are drawn again."""
    gains = {name: paired(results, "biased", name, "Oracle-imp", NO_WEIGHTS)
             for name in ("same-draw", "matched")}  # fmt: skip
    taken, again = (mean_interval(table["gain"]) for table in gains.values())
    n = int(accuracies(results, "biased", "matched").shape[0])
    return (
        f"All {n} runs of all ten datasets: ideal weights gain {with_interval(*taken)} points on "
        f"the training set that won the choice, and {with_interval(*again)} when it is drawn again "
        f"along the same direction. So {100 * (1 - again[0] / taken[0]):.0f} % of the gap was luck "
        "of the draw."
    )


def direction_reading(compared):
    """Say for each direction between collections what DDR adds here and in the paper."""
    direction = compared["case"].map(lambda case: cross_case(case).direction)
    lines = []
    for name, rows in compared.groupby(direction, sort=False):
        means = 100 * rows.groupby("method")[["mean", "paper_mean"]].mean()
        added = means.loc[METHOD] - means.loc[RIVAL]
        off = means["mean"] - means["paper_mean"]
        columns = ", ".join(f"{method} {points(off[method])}" for method in _COMPARED)
        lines.append(
            f"{name}: DDR adds {points(added['mean'])} points to {RIVAL} here, "
            f"{points(added['paper_mean'])} in the paper. Ours minus the paper's mean: {columns}."
        )
    return lines


def larger_share(case, labels):
    """Share of the more frequent digit in the test collection of a cross-dataset task."""
    task = cross_case(case)
    found = labels[task.target]
    one, other = (int((found == digit).sum()) for digit in (task.first, task.second))
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


def by_protocol(experiment):
    """What DDR adds to uLSIF and to no weights under each protocol, from the published runs."""
    results, rows = published_results(), []
    for name in PROTOCOLS:
        protocol, wide = load_protocol(experiment, name), accuracies(results, experiment, name)
        wanted = protocol["runs"] * len(protocol["cases"])
        row = {"Settings": name, "Runs stored": f"{len(wide)} of {wanted}"}
        means = wide.groupby(level="case").mean().mean()
        row |= {method: f"{means[method]:.4f}" for method in _COMPARED}
        for rival, over in ((RIVAL, RIVAL), (NO_WEIGHTS, "no weights")):
            found = over_cases(paired(results, experiment, name, rival=rival))
            row[f"Gain over {over}"] = with_interval(*[found[k] for k in ("mean", "low", "high")])
            row[f"Better, worse than {over}"] = f"{found['better']}, {found['worse']}"
        rows.append(row)
    return pd.DataFrame(rows)
