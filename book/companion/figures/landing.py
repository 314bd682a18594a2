"""The pictures of the first page: the gains in print and here, and what decides them."""

import numpy as np

from companion.figures.style import COLORS, new_figure

_MARKS = {
    "print": {"marker": "D", "mfc": "white", "color": COLORS["grey"]},
    "matched": {"marker": "o", "color": COLORS["blue"]},
    "tuned": {"marker": "s", "color": COLORS["red"]},
}
IN_WORDS = {"print": "in print", "matched": "settings nearest to print", "tuned": "tuned settings"}


def mean_gains(rows, rivals):
    """Draw the mean gain of each table over each rival: in print, nearest to it, tuned."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    figure, axes = new_figure(5.2, 3.0, columns=len(rivals), sharey=True)
    for axis, (rival, title) in zip(axes, rivals.items(), strict=True):
        axis.axvline(0, color=COLORS["black"], lw=1)
        for row in [row for row in rows if row["rival"] == rival]:
            height = names.index(row["table"]) + 0.25 * (list(_MARKS).index(row["kind"]) - 1)
            half = np.nan_to_num(row["mean"] - row["low"])
            label = IN_WORDS[row["kind"]] if height < 0.3 else None
            style = _MARKS[row["kind"]] | {"ls": "", "capsize": 3, "label": label}
            axis.errorbar(row["mean"], height, xerr=half or None, **style)
        axis.set_yticks(range(len(names)), names)
        axis.set(ylim=(len(names) - 0.5, -0.5), title=title)
        axis.grid(axis="x", lw=0.4, alpha=0.5)
    figure.supxlabel("mean gain of DDR in points of accuracy", fontsize=9.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def choice_bars(names, choices):
    """Draw what each choice adds to the gain, or takes from it, with its interval."""
    figure, (axis,) = new_figure(5.2, 3.0)
    changes = choices["change"]
    colors = [COLORS["red" if change < 0 else "green"] for change in changes]
    ends = [changes - choices["low"], choices["high"] - changes]
    axis.barh(range(len(names)), changes, xerr=ends, color=colors, height=0.55, capsize=3)
    axis.axvline(0, color=COLORS["black"], lw=1)
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6), xlabel="change of the gain in points")
    return figure
