"""The look that all figures share."""

from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

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
