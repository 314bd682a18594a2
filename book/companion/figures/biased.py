"""Figures of the section on biased sampling."""

import numpy as np
from scipy.special import expit

from companion.figures.style import COLORS, new_figure


def selection(pool, kept, train, test, strength):
    """How the training rows are chosen along omega, and what that does to their distribution."""
    figure, (left, right) = new_figure(8.0, 3.4, columns=2)
    far = max(np.abs(pool).max(), np.abs(test).max())
    line = np.linspace(-far, far, 200)
    left.plot(line, expit(strength * line), color=COLORS["black"], label="P(s = 1 | x)")
    # Spread by rank, the same in every build.
    for chosen, level, marker, color, name in (
        (kept, 1.06, "^", COLORS["blue"], "kept for training"),
        (~kept, -0.06, "x", COLORS["orange"], "left out"),
    ):
        aside = level + 0.03 * np.cos(2.4 * np.arange(chosen.sum()))
        left.plot(
            pool[chosen], aside, marker, ms=3, mew=0.7, alpha=0.6, color=color, ls="", label=name
        )
    left.set(ylabel="probability of selection", title="selection", ylim=(-0.15, 1.42))
    left.legend(loc="upper left", frameon=False, ncols=2)
    bins = np.linspace(-far, far, 25)
    right.hist(test, bins, density=True, color="#cccccc", label="test rows")
    outline = {"histtype": "step", "lw": 2, "color": COLORS["blue"]}
    right.hist(train, bins, density=True, label="training rows", **outline)
    right.set(ylabel="density", title="what is left")
    right.legend(loc="upper left", frameon=False)
    right.set_ylim(top=1.3 * right.get_ylim()[1])
    for axis in (left, right):
        axis.set_xlabel("position along ω (standard deviations)")
    return figure


def direction_gaps(gaps, chosen):
    """The gap of each candidate direction, with the one that is taken."""
    figure, (axis,) = new_figure(7.0, 2.9)
    order = np.argsort(gaps)
    points = 100 * np.asarray(gaps)[order]
    bars = axis.bar(range(len(points)), points, color="#bbbbbb")
    place = int(np.flatnonzero(order == chosen)[0])
    bars[place].set(facecolor=COLORS["blue"], hatch="//", edgecolor="white")
    axis.axhline(0, color=COLORS["black"], lw=1)
    axis.axhline(points.mean(), color=COLORS["red"], ls="--", label="mean of all directions")
    axis.annotate(
        "taken", (place, points[place]), xytext=(0, 3), textcoords="offset points", ha="center"
    )
    axis.margins(y=0.15)
    axis.set_xticks(range(len(points)), [str(number + 1) for number in order])
    axis.set(xlabel="number of the direction, sorted by gap", ylabel="gap in points")
    axis.legend(loc="upper left", frameon=False)
    return figure
