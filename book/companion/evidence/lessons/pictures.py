"""Figures of the notebooks: the mixture, the selection of rows, the digits.

Every function takes arrays and returns a :class:`matplotlib.figure.Figure`; none touches pyplot,
so nothing is shown twice and no backend is needed. Classes differ by marker and lines by dashes,
so that no figure needs its colours to be read.
"""

import numpy as np
from matplotlib.lines import Line2D
from scipy.special import expit

from companion.evidence.plots import COLORS, legend_below, new_figure
from ddr.paper.datasets import load, scale_to_unit_box
from ddr.paper.digits import sixteen_by_sixteen

#: The window on the mixture's plane that all figures share.
WINDOW = (-2.0, 7.0, -2.5, 8.5)

_CLASS_STYLE = {1: ("o", COLORS["blue"]), 2: ("^", COLORS["orange"])}
# No level at zero: rounding would paint one half of the plane in another colour than the other.
_CHANGES = np.arange(-4.25, 4.26, 0.5)
_METHOD_STYLE = {
    "Unweighted": {"ls": "-", "marker": "^", "color": COLORS["grey"]},
    "uLSIF": {"ls": "--", "marker": "s", "color": COLORS["orange"]},
    "DDR-uLSIF": {"ls": ":", "marker": "D", "color": COLORS["blue"]},
}


def _grid():
    """Places across and up the window, and the points of their grid."""
    left, right, bottom, top = WINDOW
    across, up = np.arange(left, right + 0.05, 0.1), np.arange(bottom, top + 0.05, 0.1)
    return across, up, np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


def boundary(axis, first_class_probability, color, ls):
    """Draw where the first class has probability one half."""
    across, up, points = _grid()
    values = np.asarray(first_class_probability(points)).reshape(len(up), len(across))
    axis.contour(across, up, values, levels=[0.5], colors=[color], linestyles=[ls], linewidths=2)


def _plane(axis, title):
    axis.set(xlim=WINDOW[:2], ylim=WINDOW[2:], aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    axis.set_title(title)
    axis.label_outer()


_SOLID, _DASHED = {"color": COLORS["black"], "ls": "-"}, {"color": COLORS["red"], "ls": "--"}
_BEST = [
    Line2D([], [], **_SOLID, lw=2, label="best boundary for test"),
    Line2D([], [], **_DASHED, lw=2, label="best boundary for training"),
]


def _best_boundaries(axis, mixture):
    boundary(axis, lambda Z: mixture.posterior(Z, "train")[:, 0], **_DASHED)
    boundary(axis, lambda Z: mixture.posterior(Z, "test")[:, 0], **_SOLID)


def class_shift(mixture, n=500, seed=0):
    """Points of both populations in the colours of their classes, with both best boundaries."""
    figure, axes = new_figure(6.4, 4.6, columns=2, sharey=True)
    for axis, domain, name in zip(axes, ("train", "test"), ("training", "test"), strict=True):
        X, y = mixture.sample(n, domain, random_state=seed)
        class_points(axis, X, y, np.ones(n), 14)
        _best_boundaries(axis, mixture)
        _plane(axis, f"{name} points")
    legend_below(figure, [*class_handles(), *_BEST], columns=2)
    return figure


def weight_difference(mixture, least=1e-4):
    """Joint weight minus plain ratio, a panel a class, wherever its training points can be."""
    figure, axes = new_figure(7.4, 4.4, columns=2, sharey=True)
    across, up, points = _grid()
    plain = mixture.marginal_ratio(points)
    for axis, c in zip(axes, (1, 2), strict=True):
        difference = mixture.joint_ratio(points, c) - plain
        difference[mixture.class_density(points, c, "train") < least] = np.nan
        values = difference.reshape(len(up), len(across))
        style = {"levels": _CHANGES, "cmap": "PuOr_r", "extend": "both"}
        image = axis.contourf(across, up, values, **style)
        _best_boundaries(axis, mixture)
        _plane(axis, f"a training point of class {c}")
    figure.colorbar(image, ax=axes, shrink=0.7, label="joint weight − plain ratio")
    legend_below(figure, _BEST)
    return figure


def accuracy_curves(places, panels, quantity, best=None, printed=None):
    """Accuracy against a quantity, a panel a title: means of runs, their range, printed means."""
    figure, axes = new_figure(8.2, 3.6, columns=len(panels), sharey=True)
    limit = {"color": COLORS["black"], "lw": 1, "ls": "--", "label": "best possible rule"}
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        for name, values in lines.items():
            runs = 100 * np.asarray(values).reshape(len(places), -1)
            style = _METHOD_STYLE[name]
            _with_range(axis, places, runs, np.mean, label=name, **style)
            if printed is not None:
                hollow = {"mfc": "none", "mec": style["color"], "ms": 9}
                axis.plot(places, 100 * printed[name], style["marker"], **hollow)
        if best is not None:
            axis.axhline(100 * best, **limit)
        axis.set(xscale="log", xlabel=quantity, title=title)
        _name_ticks(axis, places)
    axes[0].set_ylabel("accuracy (%)")
    handles = axes[0].get_legend_handles_labels()[0]
    if printed is not None:
        handles.append(Line2D([], [], ls="", marker="o", mfc="none", color="grey", label="paper"))
    legend_below(figure, handles)
    return figure


def convergence(sizes, errors, limit):
    """Error against sample size on logarithmic axes, with the spread of the draws and a limit."""
    figure, (axis,) = new_figure(7.0, 4.2)
    styles = _SOLID | {"color": COLORS["blue"], "marker": "o"}, _DASHED | {"marker": "s"}
    for (name, values), style in zip(errors.items(), styles, strict=True):
        _with_range(axis, sizes, np.asarray(values), np.median, label=name, **style)
    axis.axhline(limit, color=COLORS["grey"], lw=1, ls=(0, (1, 3)), label="(1 − prior)²")
    axis.set(xscale="log", yscale="log", xlabel="training points = test points")
    axis.set_ylabel("relative squared error")
    _name_ticks(axis, sizes)
    # One wild draw at a small size would squeeze everything else into a line.
    axis.set_ylim(top=min(axis.get_ylim()[1], 3.0))
    legend_below(figure, axis.get_legend_handles_labels()[0])
    return figure


def _with_range(axis, places, values, middle, **style):
    """Draw the middle of each row of values as a line, and their range as a band."""
    low, high = values.min(axis=1), values.max(axis=1)
    axis.fill_between(places, low, high, color=style["color"], alpha=0.15)
    axis.plot(places, middle(values, axis=1), **style)


def _name_ticks(axis, values):
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.minorticks_off()


def boundary_information(positions, curves, coordinates):
    """Mutual information and accuracy while a straight boundary moves through the test data."""
    figure, axes = new_figure(8.2, 3.4, columns=len(curves), sharey=True)
    panels = zip(axes, curves.items(), coordinates, strict=True)
    grey = {"color": "#dddddd", "label": "test density (scaled)"}
    for axis, (title, (information, accuracy)), along in panels:
        density = np.exp(-((along[:, None] - positions) ** 2) / 0.3).sum(axis=0)
        axis.fill_between(positions, density / density.max(), **grey)
        axis.plot(positions, information, color=COLORS["blue"], lw=2, label="MI (nats)")
        axis.plot(positions, accuracy, "--", color=COLORS["red"], lw=2, label="accuracy")
        best = positions[np.argmax(information)]
        axis.axvline(best, color=COLORS["blue"], ls=":", label="largest MI")
        axis.set(xlabel="position of the boundary", ylim=(0, 1.05), title=title)
    axes[0].set_ylabel("nats, or share correct")
    legend_below(figure, axes[0].get_legend_handles_labels()[0], columns=4)
    return figure


def class_points(axis, X, y, weights, scale):
    """Training points whose area is proportional to their weight; no weight, a small cross."""
    for label, (marker, color) in _CLASS_STYLE.items():
        of_class = y == label
        size = scale * weights[of_class]
        axis.scatter(*X[of_class].T, s=size, marker=marker, c=color, alpha=0.55, lw=0)
        gone = of_class & (weights < 0.02)
        axis.scatter(*X[gone].T, s=9, marker="x", c=color, lw=0.7)


def class_handles():
    """What a legend shows for each class."""
    return [
        Line2D([], [], ls="", marker=marker, color=color, label=f"class {label}")
        for label, (marker, color) in _CLASS_STYLE.items()
    ]


def weighted_samples(X, y, panels, mixture):
    """The paper's Figure 1: training points by weight, with the true and the learned boundary."""
    figure, axes = new_figure(2.8 * len(panels), 4.4, columns=len(panels), sharey=True)
    for axis, (title, (weights, model)) in zip(axes, panels.items(), strict=True):
        class_points(axis, X, y, weights / weights.mean(), 22)
        boundary(axis, lambda Z: mixture.posterior(Z, "test")[:, 0], **_SOLID)
        boundary(axis, lambda Z, of=model: of.predict_proba(Z)[:, 0], **_DASHED)
        _plane(axis, title)
    handles = [
        *class_handles(),
        Line2D([], [], ls="", marker="x", color=COLORS["grey"], label="weight below 0.02"),
        _BEST[0],
        Line2D([], [], **_DASHED, lw=2, label="learned boundary"),
    ]
    legend_below(figure, handles, columns=3)
    return figure


# Biased sampling


def selection(train, test, strength):
    """What choosing training rows along omega does to their distribution."""
    figure, (axis,) = new_figure(7.0, 3.4)
    far = max(np.abs(train).max(), np.abs(test).max())
    line, bins = np.linspace(-far, far, 200), np.linspace(-far, far, 25)
    outline = {"histtype": "step", "lw": 2, "color": COLORS["blue"]}
    axis.hist(test, bins, density=True, color="#cccccc", label="density of the test rows")
    axis.hist(train, bins, density=True, label="density of the training rows", **outline)
    axis.plot(line, expit(strength * line), "--", color="black", label="P(s = 1 | x)")
    axis.set(xlabel="position along ω (standard deviations)", ylabel="probability, density")
    legend_below(figure, axis.get_legend_handles_labels()[0])
    return figure


# The digits


def digit_rows(rows, notes=None, signed=()):
    """Rows of square digits, each row with its name, each digit perhaps with a note below it."""
    notes = notes or {}
    height = sum(1.02 if name in notes else 0.76 for name in rows)
    figure, axes = new_figure(8.0, height, rows=len(rows))
    for axis, (name, images) in zip(axes, rows.items(), strict=True):
        colors, far = ("PuOr", 1.5) if name in signed else ("gray_r", 1.0)
        side = round(np.sqrt(np.shape(images)[1]))
        squares, gap = np.reshape(images, (-1, side, side)).astype(float), side // 8
        apart = np.pad(squares, ((0, 0), (0, 0), (0, gap)), constant_values=np.nan)
        axis.imshow(np.hstack(apart)[:, :-gap], cmap=colors, vmin=-far, vmax=far)
        axis.set_ylabel(name, rotation=0, ha="right", va="center")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
        for place, note in enumerate(notes.get(name, ())):
            middle = place * (side + gap) + side / 2
            axis.text(middle, 17 * side / 16, note, ha="center", va="top", size=8)
    return figure


def preprocessed_digits():
    """The first example of every digit after each step of the preprocessing."""
    free, usps = sixteen_by_sixteen("MNIST", clip=False), sixteen_by_sixteen("USPS")
    ways = {
        "MNIST, 28 × 28": load("MNIST").X / 127.5 - 1,
        "resized, clipped": sixteen_by_sixteen("MNIST"),
        "resized, unclipped": free,
        "each pixel's range": scale_to_unit_box(free),
        "USPS, one range": usps,
        "USPS, each pixel's": scale_to_unit_box(usps),
    }
    first = {name: np.unique(load(name).y, return_index=True)[1] for name in ("MNIST", "USPS")}
    return {
        name: images[first["USPS" if name.startswith("USPS") else "MNIST"]]
        for name, images in ways.items()
    }


def weight_rows(X, weights, count=10):
    """The training digits that each method raises most and silences most."""
    rows, notes = {}, {}
    for name, weight in weights.items():
        order = np.argsort(weight, kind="stable")
        for kind, ends in (("highest", order[::-1][:count]), ("lowest", order[:count])):
            rows[f"{name}, {kind}"] = X[ends]
            notes[f"{name}, {kind}"] = [f"{value:.2f}" for value in weight[ends]]
    return rows, notes
