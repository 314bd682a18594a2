"""The page "Should I use it?": everything on it is computed from the stored natural shifts."""

from functools import lru_cache

import numpy as np
import pandas as pd
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.tables import captioned, points

from benchmarks.shift_methods import METHODS
from benchmarks.shift_rule import (
    LOSERS,
    NOTHING_SHIFTED,
    RULES,
    WORST,
    by_rule,
    choices,
    compare,
    leave_one_kind_out,
    stored,
    summary,
)
from ddr.guard import CHOICES, RULE
from ddr.ratio import LOW_AGREEMENT

DEFAULT, ALWAYS_RUN, GUARDED = "DDR, default", "DDR, always run", "guarded, kind left out"
WANTED_MEAN = 0.5
#: Level of the test before which Algorithm 1 is not run, in the first of these columns.
_SIGNIFICANCE = 0.01
_KINDS = ("none", "label", "covariate", "group", "site", "time", "conditional")
_DRAWN = {DEFAULT: ("red", "s"), "EM": ("orange", "^"), GUARDED: ("blue", "o")}


def files(evidence=None):
    """Give the fragments and the figure of the page."""
    gains, losses, seen, table = _measured()
    return {
        "shifts_words.md": _words(gains),
        "shifts_methods.md": _methods(gains, losses),
        "shifts_rule.md": _rule(seen),
        "shifts_left_out.md": _left_out(table),
        "shifts_firmness.md": _firmness(table),
        "shifts_targets.md": _targets(gains[GUARDED]),
        "shifts_agreement.md": _agreement(gains[ALWAYS_RUN], seen),
        "shifts.png": _figure(gains),
    }


@lru_cache(maxsize=1)  # several pages ask for it, and the rules take a while to fit
def _measured():
    gains, losses, seen = stored()
    table = by_rule(gains, seen)
    return *_with_guards(gains, losses, seen, compare(table)[1]), seen, table


def _with_guards(gains, losses, seen, rules):
    """Add what a test or the rules choose to the methods that were run."""
    kinds = gains.index.get_level_values("kind")
    chosen = pd.Series("", gains.index)
    for kind, rule in rules.items():
        chosen[kinds == kind] = choices(rule, seen[kinds == kind])
    shifted = seen.auc_p <= _SIGNIFICANCE

    def add(table):
        default = table["DDR"].where(shifted, table["no weights"])
        guarded = np.select([chosen == c for c in METHODS], [table[m] for m in METHODS.values()])
        table = table.rename(columns={"DDR": ALWAYS_RUN})
        return table.assign(**{DEFAULT: default, GUARDED: guarded})

    return add(gains), add(losses)


def _words(gains):
    guard, always = gains[GUARDED], gains[ALWAYS_RUN]
    names, kinds = gains.index, gains.index.get_level_values("kind")
    return (
        f"On {names.get_level_values('task').nunique()} natural shifts, four learners and "
        f"{names.get_level_values('seed').nunique()} draws, {len(gains):,} fits in all, DDR run in "
        f"any case changes the accuracy by {points(summary(always)['mean'])} points against the "
        f"same learner without weights, and loses more than 5 points in {(always < -5).mean():.0%} "
        "of the fits. `GuardedDDRClassifier`, its limits fitted to other kinds of shift, changes "
        f"it by {points(summary(guard)['mean'])} and loses more than 5 points in "
        f"{(guard < -5).mean():.1%}. **If you have no reason to expect a shift, do not adapt; if "
        "you have, use the guard.** It gains where class frequencies changed "
        f"({points(guard[kinds == 'label'].mean())} on label shift), and little elsewhere "
        f"({points(guard[kinds != 'label'].mean())} on average)."
    )


def short():
    """The words, and the methods that matter most, for the README."""
    gains, losses, *_ = _measured()
    shown = ["no weights", GUARDED, "EM", "uLSIF", DEFAULT, ALWAYS_RUN]
    return _words(gains), _rows(gains[shown], losses[shown])


def advice():
    """Answer whether to use it, in at most 50 words, for the first page."""
    gains, *_ = _measured()
    tasks = gains.index.get_level_values("task").nunique()
    return (
        f"Not unguarded. On {tasks} natural shifts DDR changes the accuracy by "
        f"{points(gains[ALWAYS_RUN].mean())} points on average; the guarded classifier, fitted to "
        f"other kinds of shift, by {points(gains[GUARDED].mean())}. If you have no reason to "
        "expect a shift, do not adapt; if you have, use the guard."
    )


def _rows(gains, losses):
    rows = []
    by_kind = gains.groupby("kind").mean()
    for method in gains.drop(columns="no weights").mean().sort_values(ascending=False).index:
        gain = gains[method].dropna()
        found = summary(gain)
        more = (losses[method] - losses["no weights"]).mean()
        row = {
            "method": f"**{method}**" if method in (DEFAULT, GUARDED) else method,
            "mean": points(found["mean"]),
            "worst task": points(found["worst"]),
            "lose > 5, %": f"{100 * found['losers']:.1f}",
            "log-loss": points(more),
        }
        rows.append(row | {kind: points(by_kind.loc[kind, method]) for kind in _KINDS})
    return pd.DataFrame(rows)


def _methods(gains, losses):
    caption = "Gain over no weights in points of accuracy, by method and by kind of shift"
    return captioned(_rows(gains, losses), caption, "shifts-methods")


def _rule(seen):
    share = pd.Series(choices(RULE, seen)).value_counts(normalize=True)
    used = {c: f"{words} ({share.get(c, 0):.0%} of the fits)" for c, words in CHOICES.items()}
    few = f", if that changes at most {1 - RULE.ratio_agreement:.0%} of the predictions"
    few = few if RULE.ratio_agreement > 0 else ""
    steps = [
        "Cross-validate a classifier of source against target. If its AUC is at least "
        f"{RULE.auc:g}, use {used['none']}.",
        "Estimate the target's class prior by EM. If it differs (p below "
        f"{RULE.prior_evidence:g}) and the AUC, with the source's rows weighted by it, falls below "
        f"{RULE.residual_auc:g}, use {used['em']}.",
        f"If DDR leaves {RULE.agreement:.0%} of the predictions as they are, use {used['ddr']}.",
        f"Else use {used['prior_ratio']}{few}.",
    ]
    if np.isfinite(RULE.agreement):
        return "\n".join(f"1. {step}" for step in steps)
    del steps[2]
    return "\n".join(f"1. {step}" for step in steps) + (
        "\n\nAll of Algorithm 1 is never chosen: whatever the limit on its agreement with the "
        "unadapted model, it gained less than its prior ratio alone."
    )


def _left_out(table):
    rows = []
    for name, fixed in RULES.items():
        rule, _, gain = compare(table, **fixed)
        found, fitted = summary(gain), summary(table[rule])
        kinds = gain.groupby("kind").mean()
        row = {"rule": name, "fitted": points(fitted["mean"]), "left out": points(found["mean"])}
        row |= {"worst task": points(found["worst"]), "lose > 5, %": f"{100 * found['losers']:.1f}"}
        rows.append(row | {kind: points(kinds[kind]) for kind in _KINDS})
    caption = "Gain of each rule on kinds of shift that it was not fitted to"
    return captioned(pd.DataFrame(rows), caption, "shifts-left-out")


def _firmness(table):
    """Between what limits the result lies when two of the draws are left out as well."""
    seeds = table.index.get_level_values("seed")
    some = [summary(leave_one_kind_out(table[seeds // 2 != pair])[1]) for pair in set(seeds // 2)]
    worst, losers = ([found[name] for found in some] for name in ("worst", "losers"))
    return (
        "How firm is that? With two of the draws left out as well, the worst task lies between "
        f"{points(min(worst))} and {points(max(worst))}, and {min(losers):.1%} to "
        f"{max(losers):.1%} of the fits lose more than 5 points: the last digits are luck."
    )


def _targets(gain):
    found = summary(gain)
    rows = [
        {"guarded": what, "wanted": f"at least {points(wanted)}", "found": points(found[name]),
         "verdict": "met" if found[name] >= wanted else "missed"}
        for what, name, wanted in (
            ("mean gain", "mean", WANTED_MEAN),
            ("worst task", "worst", WORST),
            ("gain where nothing shifted", "none", NOTHING_SHIFTED),
        )
    ]  # fmt: skip
    share = {"guarded": "fits that lose more than 5", "wanted": f"at most {LOSERS:.1%}"}
    share |= {"found": f"{found['losers']:.1%}"}
    rows.append(share | {"verdict": "met" if found["losers"] <= LOSERS else "missed"})
    caption = "What the guard was to reach on kinds left out, in points, and what it reaches"
    return captioned(pd.DataFrame(rows), caption, "shifts-targets")


def _agreement(gain, seen):
    low, high = gain[seen.agreement < LOW_AGREEMENT], gain[seen.agreement >= 0.95]
    return (
        "Of the fits of DDR that agree with the unadapted model on less than "
        f"{LOW_AGREEMENT:.0%} of the target ({len(low) / len(gain):.0%} of all), "
        f"{(low < -5).mean():.0%} lose more than 5 points: there `DDRClassifier` warns. Of those "
        f"that agree on 95% or more, {(high < -5).mean():.1%} do."
    )


def _figure(gains):
    tasks = gains[list(_DRAWN)].groupby(["kind", "task"]).mean()
    tasks = tasks.loc[[key for kind in _KINDS for key in tasks.index if key[0] == kind]]
    figure, (axes,) = new_figure(8, 8)
    for method, (color, marker) in _DRAWN.items():
        style = {"color": COLORS[color], "alpha": 0.85, "s": 24}
        axes.scatter(tasks[method], range(len(tasks)), marker=marker, label=method, **style)
    axes.axvline(0, color="0.5", lw=1)
    axes.set_yticks(range(len(tasks)), [task for _, task in tasks.index], fontsize=7.5)
    axes.invert_yaxis()
    axes.set_xlabel("gain over no weights, points of accuracy, mean of learners and draws")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=len(_DRAWN))
    return figure
