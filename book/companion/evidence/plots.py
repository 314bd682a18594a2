"""The look that all figures share, and pictures of gains with their intervals."""

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, mean_interval, paired
from companion.evidence.printed import printed_gains, table_title
from companion.evidence.universes import BASELINE, gain_changes, universe_gains, universe_name
from companion.paths import EXPERIMENTS, PROTOCOLS, short_case

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


_STYLES = {
    "matched": {"fmt": "o", "color": COLORS["blue"], "label": "ours, matched"},
    "tuned": {"fmt": "s", "color": COLORS["red"], "label": "ours, tuned"},
}


def _half(rows):
    return np.nan_to_num(((rows["high"] - rows["low"]) / 2).to_numpy(dtype=float))


def _rows_axis(axis, names, label="gain in points of accuracy"):
    axis.axvline(0, color=COLORS["black"], lw=1)
    axis.grid(axis="y", lw=0.4, alpha=0.5)
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6), xlabel=label)


def forest(runs, experiment, protocol, cases, rivals=(RIVAL, NO_WEIGHTS), shorten=str):
    """Draw the gain of DDR-uLSIF in each case with its interval, one panel a rival."""
    figure, axes = new_figure(8.0, 1.3 + 0.33 * len(cases), columns=len(rivals), sharey=True)
    for axis, rival in zip(axes, rivals, strict=True):
        gains = paired(runs, experiment, protocol, rival=rival)
        gains = gains[gains["case"].isin(cases)]
        height = [list(cases).index(case) for case in gains["case"]]
        _rows_axis(axis, [shorten(case) for case in cases], "points of accuracy")
        axis.plot(gains["printed"], height, "s", ms=7, mfc="none", color=COLORS["grey"])
        style = {"fmt": "o", "color": COLORS["blue"], "capsize": 4}
        axis.errorbar(gains["gain"], height, xerr=_half(gains), **style)
        axis.set_title(f"{METHOD} − {rival}")
    handles = [
        Line2D([], [], marker="o", color=COLORS["blue"], label="ours, 95 % interval"),
        Line2D([], [], marker="s", ls="", mfc="none", color=COLORS["grey"], label="paper's means"),
    ]
    legend_below(figure, handles)
    return figure


def gains_of_all_cases(gains, columns=1):
    """Draw the gain over uLSIF in each case of all tables: printed, matched and tuned."""
    printed = {e: printed_gains(e, METHOD, RIVAL) for e in EXPERIMENTS}
    heights = [len(printed[e]) + 2 for e in EXPERIMENTS]
    figure, axes = _panels(columns, heights)
    for axis, experiment in zip(axes, EXPERIMENTS, strict=True):
        names = list(printed[experiment].index)
        _rows_axis(axis, [short_case(case) for case in names])
        hollow = {"mfc": "white", "mec": COLORS["grey"], "label": "paper", "zorder": 3}
        axis.plot(printed[experiment], range(len(names)), "D", **hollow)
        for shift, protocol in zip((-0.18, 0.18), PROTOCOLS, strict=True):
            rows = gains[experiment, protocol]
            height = [names.index(case) + shift for case in rows["case"]]
            style = {"ms": 4.5, "capsize": 2, **_STYLES[protocol]}
            axis.errorbar(rows["gain"], height, xerr=_half(rows), **style)
        axis.set_title(table_title(experiment), loc="left")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _panels(columns, heights):
    if columns == 1:
        return new_figure(5.6, 0.2 * sum(heights) + 1, rows=3, height_ratios=heights)
    figure, (first, long, second, unused) = new_figure(
        8.6, 0.2 * heights[-1] + 1, 2, 2, height_ratios=heights[:2]
    )
    # The long panel takes the whole height beside the two short ones.
    unused.remove()
    long.set_subplotspec(long.get_gridspec()[:, 1])
    return figure, [first, second, long]


def universe_forest(found):
    """Draw the gain of each universe with its interval, largest first, the baseline marked."""
    figure, (axis,) = new_figure(6.6, 0.27 * len(found) + 0.9)
    _rows_axis(axis, [universe_name(name) for name in found.index])
    axis.axvline(found.at[BASELINE, "gain"], color=COLORS["red"], ls="--", lw=1)
    half = _half(found)
    for position, name in enumerate(found.index):
        own = name == BASELINE
        style = {"fmt": "D" if own else "o", "color": COLORS["red" if own else "blue"]}
        gain = found.at[name, "gain"]
        axis.errorbar(gain, position, xerr=half[position], capsize=3, **style)
    return figure


def largest_changes(experiment, results, count=6):
    """Draw the universes that change the gain most, beside the baseline."""
    found = universe_gains(results, experiment)
    names = gain_changes(results, experiment)["change"].abs().nlargest(count).index
    return universe_forest(found[found.index.isin([BASELINE, *names])])


def bars(panels, label="gain over no weights (points)"):
    """Draw means with their intervals as bars, one row a name, one panel a title."""
    names = list(next(iter(panels.values())))
    figure, axes = new_figure(8.2, 0.9 + 0.36 * len(names), columns=len(panels), sharey=True)
    for axis, (title, found) in zip(axes, panels.items(), strict=True):
        mean, low, high = np.array([found[name] for name in names], dtype=float).T
        _rows_axis(axis, names, label)
        axis.barh(range(len(names)), mean, color=COLORS["blue"], height=0.6, alpha=0.75)
        half = np.vstack([mean - low, high - mean])  # not a number where there is no interval
        axis.errorbar(mean, range(len(names)), xerr=half, fmt="none", color="black", capsize=4)
        axis.set_title(title)
    return figure


def accuracies_by_case(tables, shorten=short_case):
    """Draw accuracies of several kinds beside each other, one row a case."""
    cases = list(next(iter(tables.values())).index)
    figure, (axis,) = new_figure(7.0, 1.2 + 0.25 * len(cases))
    _rows_axis(axis, [shorten(case) for case in cases], "accuracy (%)")
    colors = (COLORS["grey"], COLORS["red"], COLORS["blue"], COLORS["green"])
    for (name, values), marker, color in zip(tables.items(), "sxoD", colors, strict=False):
        face = {"mfc": "none"} if marker == "s" else {}
        axis.plot(values, range(len(cases)), marker, color=color, label=name, **face)
    axis.set_xlim(left=min(values.min() for values in tables.values()) - 2)
    legend_below(figure, axis.get_legend_handles_labels()[0])
    return figure


def specification_curve(gains, chosen):
    """Draw joint specifications by their gain, with intervals, above what each of them changes."""
    names = list(dict.fromkeys(name for changes in chosen.values() for name in changes))
    order = gains.mean(axis=1).sort_values().index
    mean, low, high = mean_interval(gains.loc[order])
    figure, (top, below) = new_figure(
        7.6, 3 + 0.2 * len(names), 2, sharex=True, height_ratios=[2.4, 0.2 * len(names)]
    )
    clear = (low > 0) | (high < 0)
    for part, color in ((clear, "blue"), (~clear, "grey")):
        x, half = np.flatnonzero(part), (high - mean)[part]
        top.errorbar(x, mean[part], yerr=half, fmt="o", ms=3, lw=0.8, color=COLORS[color])
    top.axhline(0, color=COLORS["black"], lw=1)
    top.set(ylabel="gain in points")
    dots = [(x, names.index(n)) for x, spec in enumerate(order) for n in chosen[spec]]
    below.plot(*zip(*dots, strict=True), "s", ms=3, color=COLORS["black"])
    below.set_yticks(range(len(names)), [universe_name(name) for name in names])
    below.set(ylim=(len(names) - 0.4, -0.6), xlabel="specifications, by their gain")
    return figure
