"""Figures of the theory and of the synthetic section.

Every function takes arrays and returns a :class:`matplotlib.figure.Figure`; none touches pyplot,
so nothing is shown twice and no backend is needed. Classes differ by marker and lines by dashes,
so that no figure needs its colours to be read.
"""

from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from companion.evidence.gains import mean_interval
from companion.figures.style import COLORS, new_figure

#: The window on the mixture's plane that all figures share.
WINDOW = (-2.0, 7.0, -2.5, 8.5)

_CLASS_STYLE: dict[Any, Any] = {1: ("o", COLORS["blue"]), 2: ("^", COLORS["orange"])}
# No level at zero: rounding would paint one half of the plane in another colour than the other.
_CHANGES = np.arange(-0.65, 0.66, 0.1)
_LINES = ("-", "--", ":", "-.")


def _grid(step=0.1, window=WINDOW):
    """Points of the window and the shape that makes images of their values."""
    left, right, bottom, top = window
    across = np.arange(left, right + step / 2, step)
    up = np.arange(bottom, top + step / 2, step)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    return across, up, points


def _boundary(axis, first_class_probability, color, line, step=0.1):
    """Draw where the first class has probability one half."""
    across, up, points = _grid(step)
    values = np.asarray(first_class_probability(points)).reshape(len(up), len(across))
    axis.contour(across, up, values, levels=[0.5], colors=[color], linestyles=[line], linewidths=2)


def _plane(axis, title):
    axis.set(xlim=WINDOW[:2], ylim=WINDOW[2:], aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    axis.set_title(title)
    axis.label_outer()


def _legend_below(figure, handles, columns=None):
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns or len(handles), frameon=False
    )


def shift_overview(mixture):
    """Training density, test density, and the change of the class posterior between them."""
    figure, axes = new_figure(8.4, 4.2, columns=3, sharey=True)
    across, up, points = _grid()
    shape = len(up), len(across)
    for axis, domain, name in zip(axes[0], ("train", "test"), ("training", "test"), strict=False):
        density = mixture.density(points, domain).reshape(shape)
        axis.contourf(across, up, density, levels=8, cmap="Greys")
        _plane(axis, f"{name} density")
    change = mixture.posterior(points, "test")[:, 0] - mixture.posterior(points, "train")[:, 0]
    image = axes[0, 2].contourf(across, up, change.reshape(shape), levels=_CHANGES, cmap="PuOr_r")
    _plane(axes[0, 2], "change of P(class 1 | x)")
    figure.colorbar(image, ax=axes[0, 2], shrink=0.7)
    for axis in axes[0]:
        _boundary(axis, lambda X: mixture.posterior(X, "train")[:, 0], COLORS["red"], "--")
        _boundary(axis, lambda X: mixture.posterior(X, "test")[:, 0], COLORS["black"], "-")
    _legend_below(
        figure,
        [
            Line2D([], [], color=COLORS["black"], lw=2, label="best boundary for test"),
            Line2D([], [], color=COLORS["red"], ls="--", lw=2, label="best boundary for training"),
        ],
    )
    return figure


def intervals(names, estimates, half_widths, reference, reference_name, quantity):
    """Estimates with their intervals beside a known value."""
    figure, axes = new_figure(6.5, 0.9 + 0.45 * len(names))
    axis = axes[0, 0]
    axis.axvline(reference, color=COLORS["black"], ls="--", label=reference_name)
    axis.errorbar(
        estimates, range(len(names)), xerr=half_widths, fmt="o", color=COLORS["blue"], capsize=5
    )
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.5, -0.5), xlabel=quantity)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, frameon=False)
    return figure


def convergence(sizes, errors, limits=(), quantity="relative squared error"):
    """Error against sample size on logarithmic axes, with the spread of the draws."""
    figure, axes = new_figure(7.0, 4.2)
    axis = axes[0, 0]
    markers = "os^Dv"
    for (name, values), color, line, marker in zip(
        errors.items(), COLORS.values(), _LINES, markers, strict=False
    ):
        values = np.asarray(values)
        axis.fill_between(sizes, values.min(axis=1), values.max(axis=1), color=color, alpha=0.15)
        axis.plot(sizes, np.median(values, axis=1), line, marker=marker, color=color, label=name)
    for name, value in limits:
        axis.axhline(value, color=COLORS["grey"], lw=1, ls=(0, (1, 3)))
        axis.annotate(
            name, (sizes[-1], value), xytext=(8, -3), textcoords="offset points", clip_on=False
        )
    axis.set(xscale="log", yscale="log", xlabel="training points = test points", ylabel=quantity)
    axis.set_xticks(sizes, [str(size) for size in sizes])
    axis.minorticks_off()
    # One wild draw at a small size would squeeze everything else into a line.
    axis.set_ylim(top=min(axis.get_ylim()[1], 3.0))
    _legend_below(figure, axis.get_legend_handles_labels()[0])
    return figure


def boundary_information(positions, curves):
    """Mutual information and accuracy while a straight boundary moves through the test data."""
    figure, axes = new_figure(8.2, 3.4, columns=len(curves), sharey=True)
    for axis, (title, curve) in zip(axes[0], curves.items(), strict=True):
        density = curve["density"] / curve["density"].max()
        axis.fill_between(positions, density, color="#dddddd", label="test density (scaled)")
        axis.plot(positions, curve["information"], color=COLORS["blue"], lw=2, label="MI (nats)")
        axis.plot(positions, curve["accuracy"], "--", color=COLORS["red"], lw=2, label="accuracy")
        best = positions[np.argmax(curve["information"])]
        axis.axvline(best, color=COLORS["blue"], ls=":", label="largest MI")
        axis.set(xlabel="position of the boundary", ylim=(0, 1.05), title=title)
    axes[0, 0].set_ylabel("nats, or share correct")
    _legend_below(figure, axes[0, 0].get_legend_handles_labels()[0], columns=4)
    return figure


def _points(axis, X, y, weights, scale):
    """Training points whose area is proportional to their weight; no weight, a small cross."""
    for label, (marker, color) in _CLASS_STYLE.items():
        of_class = y == label
        size = scale * weights[of_class]
        axis.scatter(*X[of_class].T, s=size, marker=marker, c=color, alpha=0.55, lw=0)
        gone = of_class & (weights < 0.02)
        axis.scatter(*X[gone].T, s=9, marker="x", c=color, lw=0.7)


def _sample_legend():
    handles = [
        Line2D([], [], ls="", marker=marker, color=color, label=f"class {label}")
        for label, (marker, color) in _CLASS_STYLE.items()
    ]
    return [
        *handles,
        Line2D([], [], ls="", marker="x", color=COLORS["grey"], label="weight below 0.02"),
        Line2D([], [], color=COLORS["black"], lw=2, label="best boundary for test"),
        Line2D([], [], color=COLORS["red"], ls="--", lw=2, label="learned boundary"),
    ]


def _sample_panel(axis, X, y, weights, model, mixture, title, scale=22):
    _points(axis, X, y, weights / weights.mean(), scale)
    _boundary(axis, lambda Z: mixture.posterior(Z, "test")[:, 0], COLORS["black"], "-")
    _boundary(axis, lambda Z: model.predict_proba(Z)[:, 0], COLORS["red"], "--")
    _plane(axis, title)


def weighted_samples(X, y, panels, mixture):
    """The paper's Figure 1: training points by weight, with the true and the learned boundary."""
    figure, axes = new_figure(2.8 * len(panels), 4.4, columns=len(panels), sharey=True)
    for axis, (title, (weights, model)) in zip(axes[0], panels.items(), strict=True):
        _sample_panel(axis, X, y, weights, model, mixture, title)
    _legend_below(figure, _sample_legend(), columns=3)
    return figure


def iteration_frame(X, y, weights, model, mixture, information, t):
    """One iteration of Algorithm 1: weights and boundary, and mutual information so far."""
    figure, axes = new_figure(7.0, 4.2, columns=2, width_ratios=(1.25, 1))
    _sample_panel(axes[0, 0], X, y, weights, model, mixture, f"iteration {t}: weights")
    axis = axes[0, 1]
    axis.plot(range(len(information)), information, "-o", color=COLORS["blue"])
    axis.plot(t, information[t], "o", ms=13, mfc="none", mec=COLORS["red"], mew=2)
    axis.set(xlabel="iteration", ylabel="mutual information (nats)", title="all iterations")
    axis.set_xticks(range(len(information)))
    _legend_below(figure, _sample_legend(), columns=3)
    return figure


def iteration_curves(history, true_prior_ratio, kept):
    """What each iteration of Algorithm 1 did to information, sample size and prior ratio."""
    figure, axes = new_figure(8.4, 3.2, columns=3)
    steps = range(len(history))
    for axis, key, title in zip(
        axes[0], ("mutual_information", "effective_sample_size"), _CURVE_TITLES, strict=False
    ):
        axis.plot(steps, [record[key] for record in history], "-o", color=COLORS["blue"])
        axis.set_title(title)
    for c, (marker, color) in _CLASS_STYLE.items():
        gamma = [record["prior_ratio"][c - 1] for record in history]
        axes[0, 2].plot(steps, gamma, "-", marker=marker, color=color, label=f"class {c}")
        axes[0, 2].axhline(true_prior_ratio[c - 1], color=color, ls=":")
    axes[0, 2].set_title("prior ratio (dotted: true)")
    axes[0, 2].legend(loc="center right", frameon=False)
    for axis in axes[0]:
        axis.axvline(kept, color=COLORS["red"], ls="--", zorder=0)
        axis.set_xlabel("iteration")
        axis.set_xticks(steps)
    return figure


_CURVE_TITLES = ("mutual information (nats)", "effective sample size")


def ratio_surfaces(columns, highest=6.0, step=0.1):
    """True ratios above estimated ones, in the same colours."""
    figure, axes = new_figure(
        2.7 * len(columns), 6.4, rows=2, columns=len(columns), sharex=True, sharey=True
    )
    across, up, points = _grid(step)
    levels = np.linspace(0, highest, 13)
    for position, (title, (true, estimated, sample)) in enumerate(columns.items()):
        for axis, ratio, kind in zip(
            axes[:, position], (true, estimated), ("true", "estimated"), strict=True
        ):
            values = np.asarray(ratio(points)).reshape(len(up), len(across))
            image = axis.contourf(across, up, values, levels=levels, cmap="viridis", extend="max")
            axis.plot(*np.asarray(sample).T, ".", ms=2, color="white", alpha=0.7)
            _plane(axis, f"{title}: {kind}")
    figure.colorbar(image, ax=axes, shrink=0.6, label="ratio")
    return figure


def accuracy_by_size(comparison):
    """Printed and measured accuracy against the number of training samples, one panel a method."""
    rows = comparison.dropna(subset=["mean"])
    if rows.empty:
        return _sentence("no case that the paper prints was run")
    methods = rows["method"].unique()
    figure, axes = new_figure(
        8.2, 2.7 * -(-len(methods) // 2), -(-len(methods) // 2), 2, sharex=True, sharey=True
    )
    for axis, method in zip(axes.flat, methods, strict=False):
        cells = rows[rows["method"] == method]
        x = cells["case"].astype(int)
        for column, shift, count, style in (
            ("paper_", 0.985, 30, {"fmt": "s--", "color": COLORS["grey"], "label": "paper"}),
            ("", 1.015, cells["n"], {"fmt": "o-", "color": COLORS["blue"], "label": "ours"}),
        ):
            half = 1.96 * cells[f"{column}sd"] / np.sqrt(count)
            axis.errorbar(x * shift, cells[f"{column}mean"], yerr=half, capsize=3, **style)
        axis.set(xscale="log", title=method)
        axis.set_xticks(x, x.astype(str))
        axis.minorticks_off()
    for axis in axes.flat[len(methods) :]:
        axis.set_visible(False)
    figure.supxlabel("training samples", fontsize=9.5)
    figure.supylabel("accuracy", fontsize=9.5)
    axes[0, 0].legend(loc="lower right", frameon=False)
    return figure


def _sentence(text):
    """A figure that says why it is empty: a rerun may ask for cases of its own only."""
    figure, axes = new_figure(6.0, 1.0)
    axes[0, 0].axis("off")
    axes[0, 0].text(0.5, 0.5, text, ha="center", va="center")
    return figure


def gains(differences, unit="gain in points of accuracy"):
    """Differences run by run, with their mean and its 95 % interval."""
    figure, axes = new_figure(8.2, 3.4, columns=len(differences), sharey=True)
    for axis, (title, cases) in zip(axes[0], differences.items(), strict=True):
        axis.axhline(0, color=COLORS["black"], lw=1)
        for position, runs in enumerate(cases.values()):
            runs = np.asarray(runs, dtype=float)
            # Spread sideways by rank, the same in every build: random jitter would not be.
            aside = position + np.linspace(-0.22, 0.22, len(runs)) if len(runs) > 1 else [position]
            axis.plot(aside, np.sort(runs), ".", color=COLORS["blue"], alpha=0.35, mew=0)
            mean, low, _ = mean_interval(runs)
            half = np.nan_to_num(mean - low)
            axis.errorbar(position, mean, yerr=half, fmt="D", color=COLORS["red"], capsize=5)
        axis.set_xticks(range(len(cases)), list(cases))
        axis.set(title=title, xlabel="training samples")
    axes[0, 0].set_ylabel(unit)
    return figure
