"""The page of the datasets: size and balance, provenance, digits, projections."""

import numpy as np
import pandas as pd
from IPython.display import Markdown
from sklearn.decomposition import PCA

from companion.evidence.plots import COLORS, new_figure
from companion.evidence.tables import captioned
from ddr.paper.datasets import check_files, load, manifest, names, scale_to_unit_box
from ddr.paper.digits import sixteen_by_sixteen

_LOOKS = {
    -1: {"color": COLORS["blue"], "marker": "o"},
    1: {"color": COLORS["red"], "marker": "^"},
}
# A legend above its panel, where no point can lie under it.
_ABOVE = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.98), "ncols": 2, "frameon": False}
_ROWS_OF_DIGITS = 6


def sizes_table():
    """Return the table of rows, features, classes and file sizes."""
    rows = []
    for check in check_files():
        table = load(check.name)
        n, columns = (f"{size:,}" for size in table.X.shape)
        rows.append((check.name, n, columns, _balance(table), f"{check.size / 1000:,.0f}"))
    heads = ["dataset", "rows", "features", "classes", "file, kB"]
    frame = pd.DataFrame(rows, columns=heads)
    return Markdown(captioned(frame, "Size and class balance of each set", "data-sizes"))


def _balance(table):
    counts = pd.Series(table.y).value_counts()
    if len(counts) == 2:
        shares = counts / len(table.y)
        return ", ".join(f"{table.labels[c]} {counts[c]} ({shares[c]:.0%})" for c in counts.index)
    return "digits 0 to 9: " + " ".join(map(str, counts.sort_index()))


def total_sentence():
    """Return the sentence on the size of all files."""
    checks = check_files()
    total = sum(check.size for check in checks) / 1e6
    return Markdown(f"The {len(checks)} files take {total:.1f} MB together.")


def provenance_table():
    """Return the table of sources and citations."""
    rows = []
    for name in names():
        table, entry = load(name), manifest()["datasets"][name]
        archive = manifest()["archives"][entry["archive"]]
        package = f"{entry['archive']} {archive['version']} ({archive['registry']})"
        rows.append((name, table.description, package, table.citation))
    frame = pd.DataFrame(rows, columns=["dataset", "what it is", "package, version", "citation"])
    return Markdown(captioned(frame, "Where each file comes from", "data-provenance", "worded"))


def licence_sentence():
    """Return the list of licences, those that are not established included."""
    licences = pd.Series({name: load(name).licence for name in names()})
    groups = licences.groupby(licences, sort=False).groups
    lines = (f"- **{', '.join(sets)}**: {licence}." for licence, sets in groups.items())
    return Markdown("\n".join(lines))


def usps_sentence():
    """Return what tells the bundled USPS from the sharper copies."""
    pixels = load("USPS").X
    black, distinct = (pixels >= 0.999).mean(), len(np.unique(pixels))
    return Markdown(
        f"Of the bundled pixels only {black:.2%} reach 0.999, and they take {distinct:,} different "
        "values even at half precision: strokes are smooth and do not saturate."
    )


def digits_sheet():
    """Draw the first digits of each kind: USPS, MNIST resized, MNIST cropped and resized."""
    figure, all_axes = new_figure(9, 2.2, columns=3)
    panels = (
        ("USPS, 16 × 16", "USPS", "bicubic"),
        ("MNIST, resized to 16 × 16", "MNIST", "bicubic"),
        ("MNIST, cropped to 20 × 20 first", "MNIST", "crop"),
    )
    for axes, (title, name, resize) in zip(all_axes, panels, strict=True):
        axes.imshow(_sheet(name, resize), cmap="gray_r", vmin=-1, vmax=1)
        axes.set_title(title, fontsize=10)
        axes.set_xticks(17 * np.arange(10) + 7.5, range(10))
        axes.set_yticks([])
        axes.tick_params(length=0)
    return figure


def _sheet(name, resize):
    """Lay the first digits out with one column per digit and a line between neighbours."""
    labels = load(name).y
    first = np.array([np.flatnonzero(labels == digit)[:_ROWS_OF_DIGITS] for digit in range(10)])
    images = sixteen_by_sixteen(name, resize)[first.ravel()].reshape(10, _ROWS_OF_DIGITS, 16, 16)
    sheet = np.full((17 * _ROWS_OF_DIGITS - 1, 17 * 10 - 1), -0.7)
    for digit, row in np.ndindex(10, _ROWS_OF_DIGITS):
        sheet[17 * row : 17 * row + 16, 17 * digit : 17 * digit + 16] = images[digit, row]
    return sheet


def projections():
    """Draw the six small sets, scaled to [-1, 1], on their first two principal components."""
    figure, all_axes = new_figure(9, 6.4, 2, 3)
    for axes, name in zip(all_axes, names()[:6], strict=True):
        table = load(name)
        pca = PCA(2, svd_solver="full")
        points = pca.fit_transform(scale_to_unit_box(table.X))
        for value, look in _LOOKS.items():
            shown, label = points[table.y == value].T, table.labels[value]
            axes.scatter(*shown, s=7, alpha=0.45, linewidths=0, label=label, **look)
        axes.set(xlabel="first component", ylabel="second component")
        axes.legend(fontsize=8, markerscale=2, handletextpad=0.1, **_ABOVE)
        share = pca.explained_variance_ratio_.sum()
        axes.set_title(f"{name}: {share:.0%} of the variance", fontsize=10, pad=18)
    return figure
