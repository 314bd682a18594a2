"""The pictures of the first page: the shift, the gains in print and here, what decides them."""

import numpy as np
from matplotlib.lines import Line2D

from companion.figures.style import COLORS, new_figure
from companion.figures.synthetic import boundary, class_handles, class_points

_LINES = {
    "no weights": (COLORS["black"], ":"),
    "plain ratio": (COLORS["red"], "--"),
    "DDR": (COLORS["green"], "-"),
}
_WINDOW = (-1.8, 6.8, -2.2, 10.2)  # with room for the legend
_MARKS = {
    "print": {"marker": "D", "mfc": "white", "color": COLORS["grey"]},
    "matched": {"marker": "o", "color": COLORS["blue"]},
    "tuned": {"marker": "s", "color": COLORS["red"]},
}
IN_WORDS = {"print": "in print", "matched": "settings nearest to print", "tuned": "tuned settings"}


def shifted_sample(X, y, models, title, scores=None):
    """Draw a sample in class colours, with the boundary of each model and its score."""
    figure, (axis,) = new_figure(4.9, 3.4)
    class_points(axis, X, y, np.ones(len(y)), 11)
    handles = [] if scores else class_handles()
    for name, (color, line) in _LINES.items():
        boundary(axis, lambda Z, m=models[name]: m.predict_proba(Z)[:, 0], color, line, _WINDOW)
        if scores:
            label = f"{name}: {100 * scores[name]:.1f} % right"
            handles.append(Line2D([], [], color=color, ls=line, lw=2, label=label))
    axis.set(xlim=_WINDOW[:2], ylim=_WINDOW[2:], xticks=[], yticks=[], title=title)
    axis.legend(handles=handles, loc="upper right", framealpha=0.9)
    return figure


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
