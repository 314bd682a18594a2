"""Shifts that nobody tuned for: what adapting gains, without labels and with a few.

Read from ``benchmarks/natural_scores.csv`` and ``natural_labels.csv``. The limits of the guard's
rule are fitted here, by this rule, which was written before any rule was judged:

* Tables of the vault take no part. Tasks count alike, whatever their number of fits.
* Wanted of natural shifts, and of made ones in which more than class frequencies changed: a mean
  gain of at least -0.1, no task below -3, at most 1 % of the fits below -5. Wanted where nothing
  shifted: a mean of at least -0.1, and no fit below -5.
* Of the rules that miss least of this, in points in all, the one is taken whose mean gain where
  only class frequencies changed, plus that on natural shifts, is largest; of equals the strictest.
* It is judged on each table by the rule that the other tables give, and once on the vault.
"""

import itertools
from functools import cache

import numpy as np
import pandas as pd

from companion.paths import ROOT
from ddr.guard import Rule

BENCH = ROOT / "benchmarks"
NATURAL = ("time", "site", "group", "collection")
ONLY_PRIOR = ("label", "strong label", "vanished class")
MIXED = ("covariate", "cluster", "conditional")
GRID = {
    "prior_p": (0.001, 0.01, 0.05),
    "condition": (2.0, 4.0, 8.0, 16.0, np.inf),
    "residual": (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.5),
    "changed": (0.1, 0.2, 0.3, 0.5, 1.0),
}
#: What is wanted: least mean, least worst task, largest share of fits that lose more than five.
MEAN, WORST, LOSERS = -0.1, -3.0, 0.01


@cache
def stored(name):
    """One of the two tables of the benchmark."""
    return pd.read_csv(BENCH / f"natural_{name}.csv")


def adapts(rule, seen):
    """Where ``Rule.choose`` corrects the prior, for a whole table; a test holds the two together."""
    return (
        (seen.prior_p < rule.prior_p)
        & (seen.condition <= rule.condition)
        & ((seen.residual_auc - 0.5).abs() <= rule.residual)
        & (seen.em_changes <= rule.changed)
    )


def guarded(rule, scores):
    """Gain of the guard without labels in each fit."""
    return scores.em.where(adapts(rule, scores), 0.0)


def summary(gain, tasks):
    """Mean over tasks, worst task, share of fits that lose more than five points, worst fit."""
    means = gain.groupby(tasks).mean()
    return {
        "mean": means.mean(),
        "worst": means.min(),
        "losers": (gain < -5).mean(),
        "worst fit": gain.min(),
    }


def missed(found, nothing=False):
    """By how much what is wanted is missed, in points."""
    short = [MEAN - found["mean"]]
    if nothing:
        short.append(-5 - found["worst fit"])
    else:
        short += [WORST - found["worst"], 100 * (found["losers"] - LOSERS)]
    return float(np.maximum(short, 0).sum())


def merit(rule, scores):
    """What a rule misses, and what it gains, with the opposite sign: less is better."""
    gain, short, won = guarded(rule, scores), 0.0, 0.0
    for kinds in (NATURAL, MIXED, ("nothing",), ONLY_PRIOR):
        part = scores.kind.isin(kinds)
        if not part.any():
            continue
        found = summary(gain[part], scores.task[part])
        won += found["mean"] if kinds in (NATURAL, ONLY_PRIOR) else 0.0
        if kinds != ONLY_PRIOR:
            short += missed(found, nothing=kinds == ("nothing",))
    return round(short, 6), -round(won, 6)


def fit(scores):
    """The rule that the tables outside the vault give."""
    scores = scores[~scores.vault]
    rules = [Rule(*limits) for limits in itertools.product(*GRID.values())]
    return min(rules, key=lambda rule: merit(rule, scores))


def left_out(scores):
    """Gain of each fit by the rule that was fitted without its table; of the vault, by all."""
    gain = guarded(fit(scores), scores)
    for table in scores.table[~scores.vault].unique():
        mine = scores.table == table
        gain[mine] = guarded(fit(scores[~mine]), scores[mine])
    return gain
