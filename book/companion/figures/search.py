"""The picture of a protocol search: how near each variant comes, and what each choice is worth."""

from companion.figures.style import COLORS, new_figure


def ranking_figure(screened, going, chance, labels=12):
    """Draw every screened variant by its score; those that went on are filled."""
    best = screened.drop_duplicates("variant").reset_index(drop=True)
    figure, axes = new_figure(7.6, 0.9 + 0.24 * labels)
    axis = axes[0, 0]
    on = best["variant"].isin(going)
    axis.axvspan(*chance, color=COLORS["grey"], alpha=0.15, lw=0)
    axis.plot(best.loc[on, "score"], best.index[on], "o", color=COLORS["blue"], label="went on")
    style = {"mfc": "none", "color": COLORS["grey"], "label": "left out"}
    axis.plot(best.loc[~on, "score"], best.index[~on], "o", **style)
    axis.set(xlabel="root mean square deviation from the print", ylabel="rank of the variant")
    axis.set(xlim=(0, None), ylim=(len(best), -1))
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
    for axis, (choice, levels) in zip(axes[:, 0], choices, strict=True):
        axis.barh(levels["level"], levels["score"], color=COLORS["blue"], height=0.7)
        axis.invert_yaxis()
        axis.set_title(choice, loc="left")
    axes[-1, 0].set_xlabel("lowest deviation from the print with this level")
    return figure
