"""The guard's rule as a flow chart, and what labels gain."""

import numpy as np

from companion.evidence import shifts
from companion.evidence.plots import COLORS, new_figure
from ddr.guard import RULE


def rule_that_runs():
    """Figure of the rule that runs, with the share of natural fits that leave at each question."""
    seen = shifts.stored("scores")
    seen = seen[seen.kind.isin(shifts.NATURAL)]
    large = (seen.auc >= RULE.large) & ((seen.residual_auc - 0.5).abs() <= (seen.auc - 0.5) / 2)
    large &= seen.condition <= 4 * RULE.condition
    questions = (
        (f"Did the class prior change?\np < {RULE.prior_p:g}", seen.prior_p < RULE.prior_p),
        (
            f"Can this learner tell it?\ncondition ≤ {RULE.condition:g}",
            seen.condition <= RULE.condition,
        ),
        (
            f"Does it explain the shift?\nAUC within {RULE.residual:g} of 0.5",
            (seen.residual_auc - 0.5).abs() <= RULE.residual,
        ),
        (f"Few predictions change?\nat most {RULE.changed:.0%}", seen.em_changes <= RULE.changed),
    )
    figure, (axes,) = new_figure(7, 4.6)
    box = {"boxstyle": "round", "fc": "white", "ec": COLORS["blue"]}
    left, at_once = np.ones(len(seen), dtype=bool), 0.0
    for place, (question, yes) in enumerate(questions):
        y = -place
        axes.text(0, y, question, ha="center", va="center", bbox=box)
        gone = left & ~yes
        left &= yes
        if place == 0:  # a large shift, most of which is explained, is corrected at once
            at_once = (left & large).mean()
            left &= ~large
        axes.annotate("", (1.0, y), (0.42, y), arrowprops={"arrowstyle": "->"})
        axes.text(
            1.03,
            y,
            f"no: leave the model as it is, or label\n{gone.mean():.0%} of the fits",
            va="center",
        )
        axes.annotate("", (0, y - 0.75), (0, y - 0.25), arrowprops={"arrowstyle": "->"})
        axes.text(0.03, y - 0.5, "yes", va="center", fontsize=8)
    share = (
        f"{left.mean() + at_once:.0%} of the fits, {at_once:.0%} at once after the first question:"
    )
    share += f"\nan AUC of at least {RULE.large:g}, of which at most half is left"
    axes.text(
        0,
        -len(questions),
        f"Correct the class prior\n{share}",
        ha="center",
        va="center",
        bbox=box | {"fc": "#e6f0f7"},
    )
    axes.set(xlim=(-0.5, 2.1), ylim=(-len(questions) - 0.4, 0.4))
    axes.axis("off")
    return figure


def gain_by_labels():
    """Figure: gain against the number of labels, for every strategy."""
    drawn = {
        "offsets": ("black", "-"),
        "best": ("blue", "-"),
        "sure": ("green", "-"),
        "random": ("orange", "--"),
        "random, sure": ("purple", "--"),
        "model picker": ("red", ":"),
        "added asked 20": ("grey", "-"),
        "added random 20": ("grey", "--"),
    }
    figure, (axes,) = new_figure(7.5, 4.2)
    for strategy, (color, line) in drawn.items():
        found = [(b, shifts.reached(strategy, b)) for b in shifts.BUDGETS]
        found = [(b, gain[0]) for b, gain in found if gain[3]]
        axes.plot(
            *zip(*[(0, 0), *found], strict=True),
            line,
            marker="o",
            ms=4,
            color=COLORS[color],
            label=shifts.STRATEGIES[strategy].replace("**", "").replace(" (the default)", ""),
        )
    names = {"oracle": "best candidate in hindsight", "guard": "guard, no labels", "ddr": "DDR"}
    for column, name in names.items():
        height = shifts.reach(column, "natural")["mean"]
        axes.axhline(height, color="0.6", lw=1)
        axes.text(100, height + 0.08, name, ha="right", fontsize=8, color="0.35")
    axes.set(xlabel="labels", ylabel="gain over no weights, points", xlim=(0, 102))
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
