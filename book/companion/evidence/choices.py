"""What was chosen where the paper leaves it open, and what each choice changes.

The points are in ``book/deviations.yml``. Where the multiverse varies a choice, its effect is
looked up in the stored runs.
"""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence.gains import METHOD, RIVAL, accuracies, count_line
from companion.evidence.multiverse import decided, gain_changes, universe_name
from companion.evidence.plots import COLORS, half_widths, new_figure
from companion.evidence.printed import table_title
from companion.evidence.tables import captioned, points, rubric, with_interval
from companion.evidence.verdicts import judge, summary
from companion.paths import BOOK, EXPERIMENTS, read_yaml


def deviations():
    """Read what the paper leaves open, D1, D2, ...: what we did, why, how it is measured."""
    return read_yaml(BOOK / "deviations.yml")


def effects(results):
    """Measure every choice that runs can: one row a changed choice and table."""
    tables = []
    for experiment in EXPERIMENTS:
        means = 100 * accuracies(results, experiment, "matched").groupby(level="case").mean().mean()
        moved = gain_changes(results, experiment).reset_index().assign(
            experiment=experiment, gain=means[METHOD] - means[RIVAL], accuracy=means[METHOD]
        )  # fmt: skip
        tables.append(moved.set_index(["universe", "experiment"]))
    asked = [
        (entry["id"], entry["title"], universe, experiment)
        for entry in deviations()
        for universe, experiments in entry["effect"].get("universes", {}).items()
        for experiment in experiments
    ]
    rows = pd.DataFrame(asked, columns=["id", "title", "universe", "experiment"])
    return rows.join(pd.concat(tables), on=["universe", "experiment"])


def effects_table(found):
    """Tabulate the measured choices, the largest change first; a click on a head sorts anew."""
    rows = [
        {
            "Open choice": f"{{ref}}`{row.title} <deviation-{row.id.lower()}>`",
            "Changed to": universe_name(row.universe),
            "Table": row.experiment,
            "Published gain": points(row.gain),
            "Change": with_interval(row.change, row.low, row.high),
            "DDR's accuracy": f"{row.accuracy:.2f}",
            "Change of it": points(row.accuracy_change),
        }
        for row in found.sort_values("change", key=abs, ascending=False).itertuples()
    ]
    about = "What each open choice changes in the gain of DDR-uLSIF over uLSIF, in points"
    return Markdown(captioned(pd.DataFrame(rows), about, "deviations-effects", "worded sortable"))


def effects_figure(found):
    """Draw the change of the gain by each choice, one panel a table, largest first."""
    parts = {e: part.sort_values("change") for e, part in found.groupby("experiment", sort=False)}
    heights = [len(part) + 1.5 for part in parts.values()]
    figure, axes = new_figure(
        7.2, 0.19 * sum(heights) + 0.6, rows=len(parts), sharex=True, height_ratios=heights
    )
    for axis, (experiment, part) in zip(axes, parts.items(), strict=True):
        clear, place = (part["low"] > 0) | (part["high"] < 0), np.arange(len(part))
        for kind, color in ((clear, "blue"), (~clear, "grey")):
            axis.errorbar(part["change"][kind], place[kind], xerr=half_widths(part[kind]),
                          fmt="o", ms=4, color=COLORS[color])  # fmt: skip
        axis.axvline(0, color=COLORS["black"], lw=1)
        axis.set_yticks(place, [universe_name(name) for name in part["universe"]], size=8)
        axis.set_title(table_title(experiment), loc="left")
    axes[-1].set_xlabel("change of the gain over uLSIF, in points")
    return figure


def deviation_sections(results, claims):
    """Say of each deviation what the paper leaves open, what was done here, and why."""
    sections = []
    for entry in deviations():
        said = "".join(f"\n- **Measured:** {each}." for each in _measured(results, claims, entry))
        sections.append(
            rubric(entry["title"], f"deviation-{entry['id'].lower()}")
            + f"- **The paper:** {entry['open']}\n"
            f"- **Here:** {entry['ours']}\n- **Why:** {entry['why']}{said}\n"
        )
    return Markdown("\n".join(sections))


def claims_quoted():
    """Name the claims whose evidence measures a deviation."""
    return [entry["effect"]["claim"] for entry in deviations() if "claim" in entry["effect"]]


def _measured(results, claims, entry):
    """What measures a deviation that no universe of the multiverse varies."""
    [(kind, effect)] = entry["effect"].items()
    if kind == "not_measured":
        return [f"not measured: {effect}"]
    if kind == "claim":
        return claims.loc[claims["id"] == effect, "evidence"].tolist()
    if kind == "tests":
        return [f"{e}: DDR-uLSIF {count_line(results, e)}" for e in EXPERIMENTS]
    return []


def differences(results, experiment):
    """Say for one table what agrees, how the spreads compare, and which choices decide."""
    verdict = judge(results, experiment)
    ratio = float(np.exp(np.nanmean(np.log(verdict.values["sd_ratio"].replace(0, np.nan)))))
    return Markdown(
        f"- **{verdict.word.capitalize()}** with the settings nearest to the paper: "
        f"{summary(verdict)}.\n"
        f"- **Spread.** Our standard deviations are {ratio:.2f} times the printed ones (geometric "
        "mean). Another spread is the sign of another protocol.\n"
        f"- **Choices.** {decided(gain_changes(results, experiment))}"
    )
