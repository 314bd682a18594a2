"""Fit the limits of ddr.guard to the stored shifts, and judge them on kinds that they never saw.

    python -m benchmarks.shift_rule

prints the fitted limits, which ``ddr.guard.RULE`` holds, and the gain of every rule on each kind of
shift when it was fitted to the other kinds. Labels of a target decide which limits are fitted, and
nothing else: a choice is made from the features alone.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd

from benchmarks import shift_store as store
from benchmarks.shift_methods import METHODS
from ddr.guard import Rule

KEY = ["task", "kind", "learner", "seed"]
NEVER, ALWAYS = float("inf"), 0.0
GRID = {
    "auc": (0.65, 0.7, 0.75, 0.8, 0.85, NEVER),
    "residual_auc": (ALWAYS, 0.5, 0.52, 0.54, 0.56, 0.58),
    "prior_evidence": (0.05, 0.01),
    "ratio_agreement": (NEVER, 0.95, 0.9, 0.85, 0.8, ALWAYS),
    "agreement": (NEVER, 0.99, 0.97, 0.95),
}
#: What a rule should reach: worst task, share of fits that lose more than 5, loss without a shift.
WORST, LOSERS, NOTHING_SHIFTED = -3.0, 0.01, -0.1


def stored(scores=store.SCORES, features=store.FEATURES):
    """Gains in points over no weights, log-losses and features, one row a fit."""
    scores = pd.DataFrame(store.read(scores))
    accuracy, log_loss = (
        scores.pivot(index=KEY, columns="method", values=value)
        for value in ("accuracy", "log_loss")
    )
    gains = 100 * accuracy.sub(accuracy["no weights"], axis=0)
    return gains, log_loss, pd.DataFrame(store.read(features)).set_index(KEY).loc[gains.index]


def choices(rule, seen):
    """``Rule.choose`` for a whole table at once; a test holds the two together."""
    em = (seen.prior_evidence < rule.prior_evidence) & (seen.residual_auc < rule.residual_auc)
    conditions = [
        seen.auc >= rule.auc,
        em,
        (seen.agreement >= rule.agreement) & (seen.agreement == 1),
        seen.agreement >= rule.agreement,
        seen.ratio_agreement >= rule.ratio_agreement,
    ]
    return np.select(conditions, ["none", "em", "none", "ddr", "prior_ratio"], "none")


def guarded(rule, gains, seen):
    """Gain of the guarded classifier in each fit, where gains holds a column a method."""
    chosen = choices(rule, seen)
    return np.select([chosen == c for c in METHODS], [gains[m] for m in METHODS.values()])


def summary(gain):
    """Mean over tasks, worst task, share of fits that lose over 5 points, gain where none shifted.

    ``gain`` is a series, or a frame with a column for each rule.
    """
    tasks = gain.groupby("task").mean()
    nothing = gain[gain.index.get_level_values("kind") == "none"]
    none = nothing.mean() if len(nothing) else 0.0 * gain.mean()
    return {
        "mean": tasks.mean(),
        "worst": tasks.min(),
        "losers": (gain < -5).mean(),
        "none": none,
    }


def missed(found):
    """By how much the wanted limits are missed, in points, in all."""
    short = [WORST - found["worst"], 100 * (found["losers"] - LOSERS)]
    return sum(np.maximum(0.0, each) for each in [*short, NOTHING_SHIFTED - found["none"]])


def by_rule(gains, seen):
    """Gain of every rule of the grid in each fit: a column a rule."""
    plain = {name: gains[name].to_numpy() for name in METHODS.values()}
    features = SimpleNamespace(**{name: seen[name].to_numpy() for name in GRID})
    rules = [Rule(*limits) for limits in itertools.product(*GRID.values())]
    columns = [guarded(rule, plain, features) for rule in rules]
    return pd.DataFrame(np.column_stack(columns), gains.index, pd.Index(rules, tupleize_cols=False))


def compare(table, each_kind=True, **fixed):
    """The rule fitted to all, those fitted without each kind, and the gains of these.

    ``fixed`` limits what is compared to the rules that have these limits.
    """
    rules = [r for r in table if all(getattr(r, name) == value for name, value in fixed.items())]
    return best(table[rules], each_kind), *leave_one_kind_out(table[rules], each_kind)


def _merits(table, each_kind):
    """What each rule misses, and its task means, by kind; or as if all were of one kind."""
    groups = table.groupby("kind") if each_kind else [("all", table)]
    short = pd.DataFrame({kind: missed(summary(part)) for kind, part in groups}).T
    return short, table.groupby(["kind", "task"]).mean()


def _best(short, tasks):
    order = pd.DataFrame({"missed": short.sum(), "loss": -tasks.mean()}).round(6)
    return order.sort_values(["missed", "loss"], kind="stable").index[0]


def best(table, each_kind=True):
    """Of the rules that miss least of what is wanted, the one with the largest mean gain.

    What is wanted is asked of each kind of shift by itself, since the next shift is of one kind.
    """
    return _best(*_merits(table, each_kind))


def leave_one_kind_out(table, each_kind=True):
    """Each kind's rule, fitted without that kind, and the gain of every fit by its kind's rule."""
    kinds = table.index.get_level_values("kind")
    if each_kind:
        short, tasks = _merits(table, each_kind)
        rules = {k: _best(short.drop(k), tasks.drop(k, level="kind")) for k in sorted(set(kinds))}
    else:
        rules = {k: best(table[kinds != k], each_kind) for k in sorted(set(kinds))}
    parts = [table.loc[kinds == kind, rule] for kind, rule in rules.items()]
    return rules, pd.concat(parts).loc[table.index]


#: Rules to be compared: all limits fitted; parts of it; Algorithm 1 at one significance level.
RULES = {
    "all limits fitted": {},
    "the same, to all kinds together": {"each_kind": False},
    "without EM": {"residual_auc": ALWAYS},
    "EM or nothing": {"ratio_agreement": NEVER, "agreement": NEVER},
    "DDR or nothing, by AUC and agreement": {"residual_auc": ALWAYS, "ratio_agreement": NEVER},
}


def main():
    gains, _, seen = stored()
    table = by_rule(gains, seen)
    for name, fixed in RULES.items():
        rule, rules, gain = compare(table, **fixed)
        print(f"{name}, fitted to all {len(gains)} fits: {rule}")
        print("  on kinds left out:", {k: round(float(v), 4) for k, v in summary(gain).items()})
        for kind, rule in rules.items():
            part = summary(gain[gain.index.get_level_values("kind") == kind])
            print(
                f"  {kind:<12}{part['mean']:+.2f}, worst {part['worst']:+.2f}, {part['losers']:.1%}"
            )
            print(f"    {rule}")


if __name__ == "__main__":
    main()
