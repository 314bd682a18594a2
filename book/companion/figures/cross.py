"""Figures of the cross-dataset section: digits, their means, a projection, and the machines."""

import numpy as np

from companion.figures.style import COLORS, new_figure
from ddr.paper.datasets import load
from ddr.paper.digits import digit_images


def _strip(images, side):
    """Images side by side, as one picture with blank columns between them."""
    blank = np.full((side, side // 8), np.nan)
    parts = []
    for image in images:
        parts += [np.asarray(image, dtype=float).reshape(side, side), blank]
    return np.hstack(parts[:-1])


def digit_rows(rows, notes=None, signed=()):
    """Rows of square digits, each row with its name, each digit perhaps with a note below it."""
    notes = notes or {}
    height = sum(1.02 if name in notes else 0.76 for name in rows)
    figure, axes = new_figure(8.0, height, rows=len(rows))
    for axis, (name, images) in zip(axes, rows.items(), strict=True):
        colors, far = ("PuOr", 1.5) if name in signed else ("gray_r", 1.0)
        side = round(np.sqrt(np.shape(images)[1]))
        axis.imshow(_strip(images, side), cmap=colors, vmin=-far, vmax=far)
        axis.set_ylabel(name, rotation=0, ha="right", va="center")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
        for place, note in enumerate(notes.get(name, ())):
            middle = place * (side + side // 8) + side / 2
            axis.text(middle, 17 * side / 16, note, ha="center", va="top", size=8)
    return figure


def preprocessed_digits():
    """The first example of every digit after each step of the preprocessing."""
    raw = load("MNIST").X / 127.5 - 1, load("MNIST").y
    ways = {
        "MNIST, 28 × 28": raw,
        "resized, clipped": digit_images("MNIST", scaling="global"),
        "resized, unclipped": digit_images("MNIST", scaling="global", clip=False),
        "each pixel's range": digit_images("MNIST", scaling="feature", clip=False),
        "USPS, one range": digit_images("USPS", scaling="global"),
        "USPS, each pixel's": digit_images("USPS", scaling="feature"),
    }
    rows = {}
    for name, (images, labels) in ways.items():
        rows[name] = images[[np.flatnonzero(labels == digit)[0] for digit in range(10)]]
    return rows


def weight_rows(X, weights, count=10):
    """The training digits that each method raises most and silences most."""
    rows, notes = {}, {}
    for name, weight in weights.items():
        order = np.argsort(weight, kind="stable")
        for kind, ends in (("highest", order[::-1][:count]), ("lowest", order[:count])):
            rows[f"{name}, {kind}"] = X[ends]
            notes[f"{name}, {kind}"] = [f"{value:.2f}" for value in weight[ends]]
    return rows, notes


def bound_shares(shares):
    """Share of training rows whose weight can act, against C."""
    figure, (axis,) = new_figure(7.0, 3.8)
    for case, color, marker, line in zip(
        shares.columns, COLORS.values(), "os^DvPX", ["-", "--", ":", "-."] * 2, strict=False
    ):
        axis.plot(shares.index, 100 * shares[case], line, marker=marker, color=color, label=case)
    axis.set(xscale="log", xlabel="C", ylabel="rows at their bound (%)")
    axis.set_ylim(bottom=-0.5)
    axis.legend(frameon=False)
    return figure
