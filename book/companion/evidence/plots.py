"""The look that all figures share, and pictures of gains with their intervals."""

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, paired
from companion.paths import short_case

#: Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLORS = {
    "blue": "#0072B2",
    "red": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "grey": "#666666",
    "black": "#000000",
}
_STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def legend_below(figure, handles, columns=None):
    """Put a legend below all axes, in one row if no number of columns is given."""
    style = {"loc": "outside lower center", "frameon": False}
    figure.legend(handles=handles, ncols=columns or len(handles), **style)


def new_figure(width, height, rows=1, columns=1, **options):
    """Make a figure in the book's style, with its axes row by row."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options).ravel()


def half_widths(rows):
    """Half the length of intervals, zero where there is none."""
    return np.nan_to_num(((rows["high"] - rows["low"]) / 2).to_numpy(dtype=float))


def rows_axis(axis, names, label="gain in points of accuracy"):
    """Prepare an axis with a named row for each gain."""
    axis.axvline(0, color=COLORS["black"], lw=1)
    axis.grid(axis="y", lw=0.4, alpha=0.5)
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6), xlabel=label)


def forest(runs, experiment, protocol, cases):
    """Draw the gain of DDR-uLSIF in each case with its interval, one panel a rival."""
    figure, axes = new_figure(8.0, 1.3 + 0.33 * len(cases), columns=2, sharey=True)
    for axis, rival in zip(axes, (RIVAL, NO_WEIGHTS), strict=True):
        gains = paired(runs, experiment, protocol, rival=rival)
        gains = gains[gains["case"].isin(cases)]
        height = [list(cases).index(case) for case in gains["case"]]
        rows_axis(axis, [short_case(case) for case in cases], "points of accuracy")
        axis.plot(gains["printed"], height, "s", ms=7, mfc="none", color=COLORS["grey"])
        style = {"fmt": "o", "color": COLORS["blue"], "capsize": 4}
        axis.errorbar(gains["gain"], height, xerr=half_widths(gains), **style)
        axis.set_title(f"{METHOD} − {rival}")
    handles = [
        Line2D([], [], marker="o", color=COLORS["blue"], label="ours, 95 % interval"),
        Line2D([], [], marker="s", ls="", mfc="none", color=COLORS["grey"], label="paper's means"),
    ]
    legend_below(figure, handles)
    return figure


def bars(panels, label="gain over no weights (points)"):
    """Draw means with their intervals as bars, one row a name, one panel a title."""
    names = list(next(iter(panels.values())))
    figure, axes = new_figure(8.2, 0.9 + 0.36 * len(names), columns=len(panels), sharey=True)
    for axis, (title, found) in zip(axes, panels.items(), strict=True):
        mean, low, high = np.array([found[name] for name in names], dtype=float).T
        rows_axis(axis, names, label)
        axis.barh(range(len(names)), mean, color=COLORS["blue"], height=0.6, alpha=0.75)
        half = np.vstack([mean - low, high - mean])  # not a number where there is no interval
        axis.errorbar(mean, range(len(names)), xerr=half, fmt="none", color="black", capsize=4)
        axis.set_title(title)
    return figure


def accuracies_by_case(tables):
    """Draw accuracies of several kinds beside each other, one row a case."""
    cases = list(next(iter(tables.values())).index)
    figure, (axis,) = new_figure(7.0, 1.2 + 0.25 * len(cases))
    rows_axis(axis, [short_case(case) for case in cases], "accuracy (%)")
    colors = (COLORS["grey"], COLORS["red"], COLORS["blue"], COLORS["green"])
    for (name, values), marker, color in zip(tables.items(), "sxoD", colors, strict=False):
        face = {"mfc": "none"} if marker == "s" else {}
        axis.plot(values, range(len(cases)), marker, color=color, label=name, **face)
    axis.set_xlim(left=min(values.min() for values in tables.values()) - 2)
    legend_below(figure, axis.get_legend_handles_labels()[0])
    return figure
