"""The look that all figures share, and pictures of gains with their intervals."""

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, paired
from companion.paths import BOOK, read_yaml, short_case

#: Colours by name, and matplotlib's settings.
COLORS, _STYLE = read_yaml(BOOK / "figures.yml").values()


def legend_below(figure, handles, columns=None):
    """Put a legend below all axes, in one row if no number of columns is given."""
    style = {"loc": "outside lower center", "frameon": False}
    figure.legend(handles=handles, ncols=columns or len(handles), **style)


def new_figure(width, height, rows=1, columns=1, **options):
    """Make a figure in the book's style, with its axes row by row."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options).ravel()


def rows_axis(axis, names, label):
    """Prepare an axis with a named row for each estimate."""
    axis.grid(axis="y", lw=0.4, alpha=0.5)
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6), xlabel=label)


def estimates(panels, label, known=None):
    """Draw estimates with their intervals beside known values, one row a name, a panel a title."""
    names, known = list(next(iter(panels.values()))), known or {"no gain": 0}
    figure, axes = new_figure(8.2, 1.2 + 0.27 * len(names), columns=len(panels), sharey=True)
    for axis, (title, found) in zip(axes, panels.items(), strict=True):
        mean, low, high = np.array([found[name] for name in names], dtype=float).T
        rows_axis(axis, names, label)
        half = np.vstack([mean - low, high - mean])  # not a number where there is no interval
        style = {"fmt": "o", "color": COLORS["blue"], "capsize": 3}
        axis.errorbar(mean, range(len(names)), xerr=half, **style)
        for (name, value), line in zip(known.items(), ("-", "--"), strict=False):
            axis.axvline(value, color=COLORS["black"], ls=line, lw=1, label=name)
        axis.set_title(title)
    legend_below(figure, axes[0].get_legend_handles_labels()[0])
    return figure


def gains_by_case(axis, cases, printed, ours):
    """Draw gains in named cases, one row a case: the printed ones hollow, ours with intervals."""
    rows_axis(axis, [short_case(case) for case in cases], "gain in points of accuracy")
    axis.axvline(0, color=COLORS["black"], lw=1)
    hollow = {"mfc": "white", "mec": COLORS["grey"], "label": "paper", "zorder": 3}
    if printed.notna().any():
        axis.plot(printed.reindex(cases), range(len(cases)), "D", **hollow)
    for k, (name, rows) in enumerate(ours.items()):
        rows, aside = rows[rows["case"].isin(cases)], 0.36 * (k - (len(ours) - 1) / 2)
        height = [cases.index(case) + aside for case in rows["case"]]
        style = {"fmt": "os"[k], "color": COLORS[("blue", "red")[k]], "ms": 4.5, "capsize": 2}
        half = ((rows["high"] - rows["low"]) / 2).fillna(0)  # one run has no interval
        axis.errorbar(rows["gain"], height, xerr=half, label=name, **style)


def forest(runs, experiment, protocol, cases, pairs=((METHOD, RIVAL), (METHOD, NO_WEIGHTS))):
    """Draw gains in each case with their intervals, one panel a method and its rival."""
    figure, axes = new_figure(8.0, 1.3 + 0.33 * len(cases), columns=len(pairs), sharey=True)
    for axis, (method, rival) in zip(axes, pairs, strict=True):
        gains = paired(runs, experiment, protocol, method, rival)
        printed = gains.set_index("case")["printed"]
        gains_by_case(axis, list(cases), printed, {"ours, 95 % interval": gains})
        axis.set_title(f"{method} − {rival}")
    legend_below(figure, axes[0].get_legend_handles_labels()[0])
    return figure
