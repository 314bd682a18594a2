"""The picture of a protocol search: how near each variant comes, and what each choice is worth."""

from companion.figures.style import COLORS, new_figure


def ranking_figure(table, filled, chance, names, height=3.8):
    """Draw every protocol by its score, the filled ones apart, with the band of chance."""
    figure, (axis,) = new_figure(7.6, height)
    size = 6 if len(table) < 200 else 2
    axis.axvspan(*chance, color=COLORS["grey"], alpha=0.15, lw=0)
    looks = {"color": COLORS["blue"]}, {"mfc": "none", "mec": COLORS["grey"]}
    for part, name, look in zip((filled, ~filled), names, looks, strict=True):
        scores = table.loc[part, "score"]
        axis.plot(scores, scores.index + 1, "o", ms=size, label=name, **look)
    axis.set(xlabel="root mean square deviation from the print", ylabel="rank")
    axis.set(xlim=(0, None), ylim=(len(table) + 1, 0))
    axis.legend(loc="upper right", frameon=False)
    return figure


def worth_figure(worth):
    """Draw the best score that each level of each choice reaches, one panel a choice."""
    choices = list(worth.groupby("choice", sort=False))
    heights = [len(levels) for _, levels in choices]
    figure, axes = new_figure(
        7.6,
        0.5 + 0.27 * sum(heights) + 0.45 * len(heights),
        rows=len(choices),
        sharex=True,
        height_ratios=heights,
    )
    for axis, (choice, levels) in zip(axes, choices, strict=True):
        axis.barh(levels["level"], levels["score"], color=COLORS["blue"], height=0.7)
        axis.invert_yaxis()
        axis.set_title(choice, loc="left")
    axes[-1].set_xlabel("lowest deviation from the print with this level")
    return figure
