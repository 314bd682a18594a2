"""Differences between methods, run by run: their table, and the picture with intervals.

Runs with the same number share their data, so the difference of two methods is taken within each
run; the paper prints means only, so its difference has no such interval.
"""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import stats

from companion.evidence.printed import ours, values
from companion.figures.synthetic import COLORS, new_figure

__all__ = ["forest", "mean_interval", "paired_gains"]


def mean_interval(runs, level=0.95):
    """Half of the interval of a mean by Student's t."""
    runs = np.asarray(runs, dtype=float)
    n = len(runs)
    if n < 2:
        return float("nan")
    return float(stats.t.ppf((1 + level) / 2, n - 1) * runs.std(ddof=1) / np.sqrt(n))


def paired_gains(runs, experiment, protocol, rivals, method="DDR-uLSIF", cases=None):
    """Mean difference of a method from its rivals in each case, in points of accuracy."""
    wide = ours(runs, experiment, protocol).pivot(
        index=["case", "seed"], columns="method", values="accuracy"
    )
    paper = values(experiment).pivot(index="case", columns="method", values="mean")
    rows = []
    for rival in rivals:
        difference = 100 * (wide[method] - wide[rival]).dropna()
        printed = 100 * (paper[method] - paper[rival])
        for case in cases if cases is not None else values(experiment)["case"].unique():
            if case in difference.index.get_level_values("case"):
                pairs = difference.loc[case]
                row = rival, case, len(pairs), pairs.mean(), mean_interval(pairs)
                rows.append((*row, printed.get(case, float("nan"))))
    return pd.DataFrame(rows, columns=["rival", "case", "n", "gain", "half", "printed"])


def forest(gains, method="DDR-uLSIF"):
    """Draw the gains of :func:`paired_gains` with their intervals, one panel a rival."""
    cases, rivals = list(gains["case"].unique()), list(gains["rival"].unique())
    figure, axes = new_figure(8.0, 1.3 + 0.33 * len(cases), columns=len(rivals), sharey=True)
    for axis, rival in zip(axes[0], rivals, strict=True):
        rows = gains[gains["rival"] == rival]
        height = [cases.index(case) for case in rows["case"]]
        axis.axvline(0, color=COLORS["black"], lw=1)
        axis.grid(axis="y", lw=0.4, alpha=0.5)
        axis.plot(rows["printed"], height, "s", ms=7, mfc="none", color=COLORS["grey"])
        half = np.nan_to_num(rows["half"])
        axis.errorbar(rows["gain"], height, xerr=half, fmt="o", color=COLORS["blue"], capsize=4)
        axis.set(title=f"{method} − {rival}", xlabel="points of accuracy")
    axes[0, 0].set_yticks(range(len(cases)), cases)
    axes[0, 0].set_ylim(len(cases) - 0.5, -0.5)
    handles = [
        Line2D([], [], marker="o", color=COLORS["blue"], label="ours, 95 % interval"),
        Line2D([], [], marker="s", ls="", mfc="none", color=COLORS["grey"], label="paper's means"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return figure
