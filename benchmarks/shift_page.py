"""The page "Should I use it?": everything on it is computed from the stored natural shifts."""

from pathlib import Path

import numpy as np
import pandas as pd
from companion.evidence.tables import captioned, points
from companion.figures.style import COLORS, new_figure
from companion.pages import write_figure, write_fragments

from benchmarks.shift_methods import METHODS
from benchmarks.shift_rule import (
    LOSERS,
    NOTHING_SHIFTED,
    RULES,
    WORST,
    best,
    by_rule,
    choices,
    leave_one_kind_out,
    stored,
    summary,
)
from ddr.guard import CHOICES, RULE
from ddr.ratio import LOW_AGREEMENT

DEFAULT, GUARDED = "DDR, default", "guarded, kind left out"
_WANTED_MEAN = 0.5
_KINDS = ("none", "label", "covariate", "group", "site", "time", "conditional")
_DRAWN = {DEFAULT: ("red", "s"), "EM": ("orange", "^"), GUARDED: ("blue", "o")}


def write(folder, evidence=None):
    """Write the fragments and the figure of the page."""
    gains, losses, seen = stored()
    rules, left_out = leave_one_kind_out(by_rule(gains, seen))
    gains, losses = _with_guards(gains, losses, seen, rules, left_out)
    fragments = {
        "shifts_words.md": _words(gains, seen),
        "shifts_methods.md": _methods(gains, losses),
        "shifts_rule.md": _rule(seen),
        "shifts_left_out.md": _left_out(*stored()[::2]),
        "shifts_targets.md": _targets(left_out),
        "shifts_agreement.md": _agreement(gains["DDR, always run"], seen),
    }
    paths = write_fragments(folder, fragments)
    return [*paths, write_figure(_figure(gains), Path(folder) / "shifts.png")]


def _with_guards(gains, losses, seen, rules, left_out):
    """Add what is chosen by a test or by the rules to the methods that were run."""
    shifted = seen.auc_p <= 0.05
    kinds = gains.index.get_level_values("kind")
    chosen = pd.concat(
        [
            pd.Series(choices(rule, seen[kinds == kind]), gains.index[kinds == kind])
            for kind, rule in rules.items()
        ]
    ).loc[gains.index]
    extra = {
        "gains": {DEFAULT: gains["DDR"].where(shifted, 0.0), GUARDED: left_out},
        "losses": {
            DEFAULT: losses["DDR"].where(shifted, losses["no weights"]),
            GUARDED: pd.Series(
                np.select([chosen == c for c in METHODS], [losses[m] for m in METHODS.values()]),
                gains.index,
            ),
        },
    }
    names = {"DDR": "DDR, always run"}
    gains = gains.rename(columns=names).assign(**extra["gains"])
    return gains, losses.rename(columns=names).assign(**extra["losses"])


def _words(gains, seen):
    table, always = gains[GUARDED], gains["DDR, always run"]
    kinds = gains.index.get_level_values("kind")
    return (
        f"On {gains.index.get_level_values('task').nunique()} natural shifts, four learners and "
        f"{gains.index.get_level_values('seed').nunique()} draws, {len(gains):,} fits in all, DDR "
        f"run in any case changes the accuracy by {points(summary(always)['mean'])} points against "
        f"the same learner without weights, and loses more than 5 points in "
        f"{(always < -5).mean():.0%} of the fits. `GuardedDDRClassifier`, its limits fitted to "
        f"other kinds of shift, changes it by {points(summary(table)['mean'])} and loses more than "
        f"5 points in {(table < -5).mean():.1%}. **Without a reason to believe in a shift, do not "
        f"adapt; with one, use the guard.** Most of its gain is label shift "
        f"({points(table[kinds == 'label'].mean())}); on covariate shift nothing here helps much."
    )


def _methods(gains, losses):
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
    caption = "Gain over no weights in points of accuracy, by method and by kind of shift"
    return captioned(pd.DataFrame(rows), caption, "shifts-methods")


def _rule(seen):
    share = pd.Series(choices(RULE, seen)).value_counts(normalize=True)
    used = {name: f" ({share.get(name, 0):.0%} of the fits)" for name in CHOICES}
    third = f"3. Else use {CHOICES['prior_ratio']}{used['prior_ratio']}"
    if RULE.ratio_agreement > 0:
        third += (
            f", if it leaves at least {RULE.ratio_agreement:.0%} of the predictions as they are"
        )
    if np.isfinite(RULE.agreement):
        third = (
            f"3. If DDR leaves {RULE.agreement:.0%} of the predictions, use it{used['ddr']}.\n"
            + (third.replace("3.", "4.", 1))
        )
    never = "" if np.isfinite(RULE.agreement) else (
        "\n\nAll of Algorithm 1 is never chosen: no limit on its agreement with the unadapted model "
        "gained more than its prior ratio alone."
    )  # fmt: skip
    return (
        f"1. Cross-validate a classifier of source against target. If its AUC is at least "
        f"{RULE.auc:g}, use no weights{used['none']}.\n"
        f"2. Estimate the target's class prior by EM. If it differs (p below "
        f"{RULE.prior_evidence:g}) and the AUC, with the source's rows weighted by it, falls below "
        f"{RULE.residual_auc:g}, use {CHOICES['em']}{used['em']}.\n{third}.{never}"
    )


def _left_out(gains, seen):
    rows = []
    for name, fixed in RULES.items():
        table = by_rule(gains, seen, **fixed)
        _, gain = leave_one_kind_out(table)
        found, fitted = summary(gain), summary(table[best(table)])
        kinds = gain.groupby("kind").mean()
        row = {"rule": name, "fitted": points(fitted["mean"]), "left out": points(found["mean"])}
        row |= {"worst task": points(found["worst"]), "lose > 5, %": f"{100 * found['losers']:.1f}"}
        rows.append(row | {kind: points(kinds[kind]) for kind in _KINDS})
    caption = "Gain of each rule on kinds of shift that it was not fitted to"
    return captioned(pd.DataFrame(rows), caption, "shifts-left-out")


def _targets(gain):
    found = summary(gain)
    rows = [
        ("mean gain, points", f"at least {points(_WANTED_MEAN)}", found["mean"], _WANTED_MEAN),
        ("worst task", f"at least {points(WORST)}", found["worst"], WORST),
        (
            "where nothing shifted",
            f"at least {points(NOTHING_SHIFTED)}",
            found["none"],
            NOTHING_SHIFTED,
        ),
    ]
    rows = [(what, wanted, points(value), value >= limit) for what, wanted, value, limit in rows]
    met = found["losers"] <= LOSERS
    rows.append(
        ("fits that lose more than 5", f"at most {LOSERS:.0%}", f"{found['losers']:.1%}", met)
    )
    frame = pd.DataFrame(rows, columns=["guarded, kind left out", "wanted", "found", "verdict"])
    frame["verdict"] = frame["verdict"].map({True: "met", False: "missed"})
    return captioned(frame, "What the guard was to reach, and what it reaches", "shifts-targets")


def _agreement(gain, seen):
    low, high = gain[seen.agreement < LOW_AGREEMENT], gain[seen.agreement >= 0.95]
    return (
        f"Of the fits of DDR that agree with the unadapted model on less than {LOW_AGREEMENT:.0%} of "
        f"the target ({len(low) / len(gain):.0%} of all), {(low < -5).mean():.0%} lose more than 5 "
        f"points: there `DDRClassifier` warns. Of those that agree on 95% or more, "
        f"{(high < -5).mean():.1%} do."
    )


def _figure(gains):
    tasks = gains[list(_DRAWN)].groupby(["kind", "task"]).mean()
    tasks = tasks.loc[[key for kind in _KINDS for key in tasks.index if key[0] == kind]]
    figure, ((axes,),) = new_figure(8, 8)
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
