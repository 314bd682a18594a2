"""What was chosen where the paper leaves it open: every setting, and what each choice changes.

The points are in ``book/deviations.yml``. Where the multiverse varies a choice, its effect is
looked up in the stored runs: the gain of DDR-uLSIF over uLSIF with the other choice beside the gain
without it, on the same cases and seeds.
"""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence.claim_computations import soft_moment_errors
from companion.evidence.gains import ALPHA, count_line
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import table_title
from companion.evidence.tables import captioned, points, rubric, with_interval
from companion.evidence.universes import (
    clear_changes,
    gain_changes,
    universe_effect,
    universe_name,
)
from companion.evidence.verdicts import judge, summary
from companion.paths import BOOK, EXPERIMENTS, read_yaml

# What each choice changes


def deviations():
    """Read what the paper leaves open, D1, D2, ...: what we did, why, how it is measured."""
    return read_yaml(BOOK / "deviations.yml")


def effects(results):
    """Measure every choice that runs can: one row a changed choice and table."""
    rows, moved = [], {e: gain_changes(results, e) for e in EXPERIMENTS}
    for entry in deviations():
        for universe, experiments in entry["effect"].get("universes", {}).items():
            for experiment in experiments:
                found = universe_effect(results, experiment, universe)
                change = moved[experiment].loc[universe, ["change", "low", "high"]]
                about = {"id": entry["id"], "title": entry["title"], "universe": universe}
                rows.append(about | {"experiment": experiment, **found, **change})
    return pd.DataFrame(rows)


def effects_table(found):
    """Tabulate the measured choices, the largest change first; a click on a head sorts anew."""
    rows = [
        {
            "Open choice": f"{{ref}}`{row.title} <deviation-{row.id.lower()}>`",
            "Changed to": universe_name(row.universe),
            "Table": row.experiment,
            "Published gain": points(row.gain_published),
            "Change": with_interval(row.change, row.low, row.high),
            "DDR's accuracy": f"{row.accuracy_published:.2f}",
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
        clear = (part["low"] > 0) | (part["high"] < 0)
        place = np.arange(len(part))
        for kind, color in ((clear, "blue"), (~clear, "grey")):
            rows, height = part[kind], place[kind.to_numpy()]
            half = (rows["high"] - rows["low"]) / 2
            axis.errorbar(rows["change"], height, xerr=half, fmt="o", ms=4, color=COLORS[color])
        axis.axvline(0, color=COLORS["black"], lw=1)
        axis.set_yticks(place, [universe_name(name) for name in part["universe"]], size=8)
        axis.set_title(table_title(experiment), loc="left")
    axes[-1].set_xlabel("change of the gain over uLSIF, in points")
    return figure


def deviation_sections(results, claims):
    """Say of each deviation what the paper leaves open, what was done here, and why."""
    sections = []
    for entry in deviations():
        said = "".join(f"\n- **Measured:** {each}." for each in _sentences(results, claims, entry))
        sections.append(
            rubric(entry["title"], f"deviation-{entry['id'].lower()}")
            + f"- **The paper:** {entry['open']}\n"
            f"- **Here:** {entry['ours']}\n- **Why:** {entry['why']}{said}\n"
        )
    return Markdown("\n".join(sections))


def claims_quoted():
    """Name the claims whose evidence measures a deviation."""
    return [entry["effect"]["claim"] for entry in deviations() if "claim" in entry["effect"]]


def _sentences(results, claims, entry):
    """What measures a deviation that no universe of the multiverse varies."""
    [(kind, effect)] = entry["effect"].items()
    if kind == "not_measured":
        return [f"not measured: {effect}"]
    if kind == "claim":
        return claims.loc[claims["id"] == effect, "evidence"].tolist()
    return _COMPUTED[effect](results) if kind == "computed" else []


def t_test_counts(results):
    """Count significant cases under the matched protocol by paired, Welch's and Holm's rule."""
    return [f"{e}: DDR-uLSIF {count_line(results, e)}" for e in EXPERIMENTS]


def weighted_centers(results):
    """Measure what the weights of the centres change in the class-wise ratio."""
    found = soft_moment_errors()
    return [
        f"on the mixture, with the true posteriors as soft weights, the squared error of the "
        f"class-wise ratio over its variance is {found['weighted_centers']:.2f} when kernels carry "
        f"the posteriors of their centres, {found['own']:.2f} when they do not (mean of "
        f"{found['draws']} draws); the two estimates differ by {100 * found['change']:.1f} % (root "
        "mean square, relative to the latter)"
    ]


_COMPUTED = {"t_test_counts": t_test_counts, "weighted_centers": weighted_centers}


# Why the numbers differ


def differences(results, experiment):
    """Say for one table what agrees, how the spreads compare, and which choices decide."""
    verdict = judge(results, experiment)
    ratio = float(np.exp(np.nanmean(np.log(verdict.values["sd_ratio"].replace(0, np.nan)))))
    return Markdown(
        f"- **{verdict.word.capitalize()}** with the settings nearest to the paper: "
        f"{summary(verdict)}.\n"
        f"- **Spread.** Our standard deviations are {ratio:.2f} times the printed ones (geometric "
        "mean). Another spread is the sign of another protocol.\n"
        f"- **Choices.** {deciding_text(results, experiment)}"
    )


def deciding_text(results, experiment, most=5):
    """Name the choices that clearly change the gain, largest first, with Holm's count beside."""
    moved = gain_changes(results, experiment)
    clear = clear_changes(moved)
    if clear.empty:
        return f"Of {len(moved)} changed choices none moves the gain over uLSIF clearly."
    named = ", ".join(
        f"*{universe_name(universe)}* ({points(row.change)})"
        for universe, row in clear.head(most).iterrows()
    )
    return (
        f"Of {len(moved)} changed choices {len(clear)} move the gain over uLSIF clearly (interval "
        f"without zero), {int((clear['p_holm'] < ALPHA).sum())} of them after Holm's correction "
        f"for their number; the largest, in points: {named}."
    )
