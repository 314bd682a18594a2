"""The guard's rule as a flow chart, and what labels gain."""

from functools import partial

import numpy as np

from companion.evidence import shifts
from companion.evidence.plots import COLORS, new_figure
from ddr.guard import RULE


def rule_that_runs():
    """Figure of the rule that runs, with the share of natural fits that leave at each question."""
    seen = shifts.group("natural")
    questions = (
        f"Did the class prior change?\np < {RULE.prior_p:g}",
        f"Can this learner tell it?\ncondition ≤ {RULE.condition:g}",
        f"Does it explain the shift?\ncorrected, AUC within {RULE.residual:g} of 0.5",
    )
    answers = zip(questions, shifts.answers(RULE, seen), strict=True)
    figure, (axes,) = new_figure(7, 3.4)
    box = {"boxstyle": "round", "fc": "white", "ec": COLORS["blue"]}
    words = {"ha": "center", "va": "center"}
    left, share = np.ones(len(seen), dtype=bool), partial(np.average, weights=seen.weight)
    for y, (question, yes) in enumerate(answers):
        gone, left = left & ~yes, left & yes
        axes.text(0, -y, question, bbox=box, **words)
        axes.annotate("", (1.0, -y), (0.58, -y), arrowprops={"arrowstyle": "->"})
        away = f"no: leave the model, or label\n{share(gone):.0%} of the fits"
        axes.text(1.03, -y, away, va="center")
        axes.annotate("", (0, -y - 0.75), (0, -y - 0.25), arrowprops={"arrowstyle": "->"})
        axes.text(0.03, -y - 0.5, "yes", va="center", fontsize=8)
    answer = f"Correct the class prior\n{share(left):.0%} of the fits"
    axes.text(0, -len(questions), answer, bbox=box | {"fc": "#e6f0f7"}, **words)
    note = (
        f"Where the AUC is at least {RULE.large:g} and correcting the prior leaves at most half\n"
        f"of it, a condition up to {4 * RULE.condition:g} will do, and the third answer is yes."
    )
    axes.text(0.55, -len(questions), note, va="center", fontsize=8)
    axes.set(xlim=(-0.6, 2.1), ylim=(-len(questions) - 0.4, 0.4))
    axes.axis("off")
    return figure


def gain_by_labels():
    """Figure: gain against the number of labels, for every strategy."""
    figure, (axes,) = new_figure(7.5, 3.4)
    for strategy, (color, line) in shifts.LINES.items():
        found = {b: shifts.reached(strategy, b) for b in shifts.BUDGETS}
        found = {0: 0.0} | {b: gain for b, (gain, *_, n) in found.items() if n}
        name = shifts.STRATEGIES[strategy].replace("**", "").replace(" (the default)", "")
        axes.plot(
            *zip(*found.items(), strict=True), line, marker="o", ms=4, c=COLORS[color], label=name
        )
    names = {"oracle": "best candidate in hindsight", "guard": "guard, no labels", "ddr": "DDR"}
    for column, name in names.items():
        height = shifts.reach(column, "natural")["mean"]
        axes.axhline(height, color="0.6", lw=1)
        axes.text(42, height + 0.08, name, ha="center", fontsize=8, color="0.35")
    axes.set(xlabel="labels", ylabel="gain over no weights, points", xlim=(0, 102))
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
