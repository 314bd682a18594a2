"""The searches for a protocol: rules, ranking, validation and calibration of each."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import protocol_search as searching
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.tables import captioned, unbroken
from companion.evidence.verdicts import compare

PRINT_RUNS = 30


class Searched(NamedTuple):
    """What a page on one search shows parts of."""

    search: dict
    printed: pd.DataFrame
    found: pd.DataFrame
    table: pd.DataFrame
    chance: dict


def searched(experiment):
    """Rank the protocols of a search by their deviation from the print."""
    search = searching.read_search(experiment)
    printed = searching.visible(experiment, search)
    found = searching.published_outcomes(search)
    table = searching.ranking(search, printed, found)
    return Searched(search, printed, found, table, chances(search, printed, found))


def chances(search, printed, found):
    """Scores that exact replications would get on either half, with as many draws as ours."""
    draws = int(found["draws"].max())
    return {
        half: searching.exact_replication(printed, search[half], draws, PRINT_RUNS)
        for half in ("choice", "validation")
    }


def ranked(search, printed, found, table, chance):
    """What the picture of the ranking shows: scores, which are filled, the band of chance."""
    band = np.quantile(chance["choice"], [0.025, 0.975])
    if "stages" not in search:
        return (table, table["score"] <= band[1], band), ("within chance", "farther off")
    responses = searching.published("cross", "responses")
    screened = searching.outcomes(search, responses, "screen")
    best = searching.ranking(search, printed, screened).drop_duplicates("variant")
    going = searching.kept(search, printed, responses, "screen")
    band = np.quantile(searching.exact_replication(printed, search["choice"], 1), [0.025, 0.975])
    best = best.reset_index(drop=True)
    return (best, best["variant"].isin(going), band), ("went on", "left out")


def rules(done):
    """Say what was searched, and how."""
    search, found, table = done.search, done.found, done.table
    choices = search["choices"] | search["selections"]
    counts = ", ".join(f"{choice} ({len(levels)})" for choice, levels in choices.items())
    text = f"The choices, with the number of levels of each: {counts}. "
    if "stages" in search:
        shown, _ = ranked(*done)
        text += (
            f"{len(shown[0])} variants were screened on {len(search['choice'])} cases with one "
            f"draw each; the {int(shown[1].sum())} that score below the median of exact "
            f"replications went on, and of these the {found['variant'].nunique()} best after "
            f"{search['stages']['second']['draws']} draws. "
        )
    return Markdown(
        f"{text}{len(table)} protocols were compared to the end, {found['draws'].max()} draws of "
        f"each case; the columns looked at: {', '.join(search['columns'])}."
    )


def best(done):
    """Tabulate the best protocols beside what an exact replication would score."""
    search, table, chance = done.search, done.table, done.chance
    old = matched_before(search, table)
    shown = pd.concat([table.head(8), old[old.index >= 8]])
    rows = [
        {
            "Rank": f"{row.Index + 1:,}",
            "Protocol": f"{row.variant} | {row.grid}".strip(" |").replace(" | ", "; "),
            "Choice": f"{row.score:.4f}",
            "Validation": "–" if np.isnan(row.validation) else f"{row.validation:.4f}",
        }
        for row in shown.itertuples()
    ]
    limits = {half: np.quantile(scores, [0.5, 0.975]) for half, scores in chance.items()}
    cells = {half.title(): unbroken("; ".join(f"{x:.4f}" for x in limits[half])) for half in limits}
    rows.append({"Rank": "", "Protocol": "*an exact replication (median; 97.5 %)*"} | cells)
    title = "The best protocols of the search, and the matched one as it stood before"
    title = title if search.get("matched") else "The best protocols of the search"
    name = f"search-{search['experiment']}-best"
    text = f"{verdict(table, limits, old)} {search.get('because', '')}"
    return Markdown(f"{captioned(pd.DataFrame(rows), title, name, 'worded')}\n\n{text}\n")


def matched_before(search, table):
    """The row of the matched protocol as it stood before the search, if the search names it."""
    names = (table["variant"] + " | " + table["grid"]).str.removesuffix(" | ")
    return table[names == search.get("matched")]


def verdict(table, limits, old):
    """Say whether chance explains what the best protocol still misses, and what follows."""
    best = table.iloc[0]
    half = "choice" if np.isnan(best["validation"]) else "validation"
    missed = best["score"] if half == "choice" else best["validation"]
    text = f"On the cases of the {half} the best deviates by {missed:.4f}; "
    if missed <= limits[half][1]:
        text += "chance alone would deviate as much, and nothing here speaks against it."
    else:
        text += "an exact replication would deviate less, so by the rule **none of these** is it."
        near = [limits["choice"][1], limits["validation"][1]]
        within = (table[["score", "validation"]] <= near).all(axis=1)
        text += f" Seen afterwards, {within.sum()} of {len(table)} are within chance on both."
    if len(old):
        text += " " + (
            "It comes nearer than the old matched protocol on both halves and takes its place."
            if nearer(table, old)
            else "It does not come nearer than the matched protocol on both halves; that one stays."
        )
    return text


def nearer(table, old):
    """Whether the best protocol beats an old one on the cases of the choice and the others."""
    halves = ["score", "validation"]
    return bool((table.iloc[0][halves] < old.iloc[0][halves]).all())


def calibration(done):
    """Say how often the search finds a protocol that is known."""
    share = searching.calibration(done.search, done.found)
    parts = ", ".join(f"{choice} {part:.0%}" for choice, part in share.drop("protocol").items())
    return Markdown(
        "Protocols of the search were taken for the truth in turn, a table drawn from each as if "
        f"printed, and the search held on it. It found the level of each choice in: {parts} of the "
        f"tables; all levels at once in {share['protocol']:.0%}."
    )


def left_out(results, done):
    """Compare the published tables with the print, column by column."""
    search = done.search
    experiment = search["experiment"]
    rows = [
        {"Protocol": name, "Column": method} | _nearness(cells, search)
        for protocol, name in search["compare"].items()
        for method, cells in compare(results, experiment, protocol).groupby("method", sort=False)
        if cells["delta"].notna().all()
    ]
    about = (
        "Mean absolute deviation of the published runs from the print; the columns of uLSIF and "
        "DDR-uLSIF took no part in the choice"
    )
    return Markdown(captioned(pd.DataFrame(rows), about, f"search-{experiment}-test"))


def _nearness(cells, search):
    off = cells.set_index("case")["delta"].abs()
    within = (cells["delta"].abs() <= cells["paper_sd"]).sum()
    return {
        "Choice": f"{off[search['choice']].mean():.4f}",
        "Validation": f"{off[search['validation']].mean():.4f}",
        "Correlation": f"{np.corrcoef(cells['mean'], cells['paper_mean'])[0, 1]:.2f}",
        "Within one sd": unbroken(f"{within} of {len(cells)}"),
    }


def pair(done, one="USPS5v6", other="USPS3v8"):
    """Say how near any protocol comes to two printed cells that stand in each other's way."""
    printed, found = done.printed, done.found
    plain = found[found["column"] == "Unweighted"]
    wide = plain.pivot(index=searching.KEYS, columns="case", values="mean")
    target = printed[printed["column"] == "Unweighted"].set_index("case")
    missed = (wide[[one, other]] - target.loc[[one, other], "mean"]).abs().max(axis=1)
    best = wide.loc[missed.idxmin()]
    near = wide[(wide[one] - target.at[one, "mean"]).abs() <= target.at[one, "sd"]]
    sds = found.merge(printed[[*searching.CELL, "sd"]], on=searching.CELL)
    ratio = np.log(sds["sd_x"].clip(lower=1e-4) / sds["sd_y"]).abs()
    ratio = ratio.groupby([sds[key] for key in searching.KEYS]).mean()
    return Markdown(
        (
            f"The print has {one} at {target.at[one, 'mean']:.3f} beside {other} at "
            f"{target.at[other, 'mean']:.3f} without weights. The protocol that comes nearest to "
            f"both has {best[one]:.3f} and {best[other]:.3f} ({'; '.join(missed.idxmin())}). Of "
            f"the {len(near)} protocols within one printed sd of {one}, the lowest {other} is "
            f"{near[other].min():.3f}. "
            f"Spreads: the mean absolute log ratio of sds is {ratio.min():.2f} at best, "
            f"{ratio.median():.2f} in the middle."
        ).replace(" | ", "; ")
    )


def ranking_figure(done, height=3.8):
    """Draw every protocol by its score, the filled ones apart, with the band of chance."""
    (table, filled, chance), names = ranked(*done)
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


def worth_figure(done):
    """Draw the best score that each level of each choice reaches, one panel a choice."""
    worth = searching.worth(done.table, done.search)
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
