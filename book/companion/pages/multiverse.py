"""What the multiverse page includes: the gain of DDR under each open choice."""

from pathlib import Path

import pandas as pd

from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.printed import table_name
from companion.evidence.tables import captioned, counted, points, unbroken, with_interval
from companion.evidence.universes import (
    BASELINE,
    curve_inference,
    gain_changes,
    joint_gains,
    universe_gains,
    universe_name,
    universes_reading,
)
from companion.figures.gains import specification_curve, universe_forest
from companion.pages import write_figure, write_fragments
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes


def write(folder, evidence):
    """Write the fragments and figures of the multiverse page."""
    fragments = {"multiverse_scope.md": scope_text()}
    figures = []
    for experiment in EXPERIMENTS:
        found = universe_gains(evidence.results, experiment)
        fragments[f"multiverse_{experiment}.md"] = section_text(evidence.results, experiment, found)
        if not found.empty:
            path = Path(folder) / f"multiverse_{experiment}.png"
            figures.append(write_figure(universe_forest(found), path))
        chosen = {name: p["about"] for name, p in specifications(experiment).items()}
        gains = joint_gains(evidence.results, experiment)
        if chosen:
            fragments[f"multiverse_{experiment}_joint.md"] = joint_text(experiment, gains)
        if len(gains):
            path = Path(folder) / f"multiverse_{experiment}_joint.png"
            figures.append(write_figure(specification_curve(gains, chosen), path))
    return [*write_fragments(folder, fragments), *figures]


def scope_text():
    """Say how many universes there are, and what all of them share."""
    content = read()
    runs, said = content["runs"], content.get("said", {})
    counts = [f"{len(universes(e))} for {table_name(e)} ({runs[e]} runs)" for e in EXPERIMENTS]
    return (
        f"Each table has its *universes*, the unchanged baseline included: {', '.join(counts)}. "
        "All of a table start from the same random streams, with as many runs of each case, "
        f"so that they can be compared run by run. {' '.join(' '.join(said.values()).split())}"
    )


def joint_text(experiment, gains):
    """Say what the specifications that change many choices at once show together."""
    wanted = specifications(experiment)
    if gains.empty:
        return (
            f"The {len(wanted)} joint specifications of {table_name(experiment)} are drawn, but "
            f"not computed yet: run `ddr-book multiverse {experiment} && ddr-book publish`."
        )
    found, means = curve_inference(gains), gains.mean(axis=1)
    values, runs = found["found"], read()["joint"]["runs"][experiment]
    command = f"`ddr-book multiverse {experiment} && ddr-book publish`"
    missing = "" if len(gains) == len(wanted) else f"The others are not computed yet ({command}). "
    return (
        f"{len(gains)} of {len(wanted)} specifications drawn at random, each changing several "
        f"choices at once; {counted(runs, 'run', 'runs')} of each of {gains.shape[1]} cases. "
        f"{missing}The gain is positive in {int((means > 0).sum())} of them, from "
        f"{points(means.min())} to {points(means.max())} points; the median is "
        f"{points(values['median gain'])} "
        f"(p = {found.at['median gain', 'p']:.3f}), significantly positive "
        f"{values['share significant']:.0%} (p = {found.at['share significant', 'p']:.3f}), "
        f"Stouffer's z {values['Stouffer' + chr(39) + 's z']:.1f} "
        f"(p = {found.at['Stouffer' + chr(39) + 's z', 'p']:.3f}). The p-values come from turning "
        f"the signs of all gains of a case together.\n\n"
        f"```{{figure}} _generated/multiverse_{experiment}_joint.png\n"
        f":name: fig-multiverse-{experiment}-joint\n"
        f":alt: Specification curve of {len(gains)} gains and the choices that each changes.\n"
        ":width: 680px\n\n"
        f"Joint specifications of {table_name(experiment)} by their mean gain of {METHOD} over "
        f"{RIVAL}, with 95 % intervals over the cases (blue: zero excluded). Below, what each "
        "changes.\n```"
    )


def section_text(results, experiment, found):
    """Put reading, figure and table of one experiment together."""
    missing = _missing_sentence(found, experiment)
    if found.empty:
        return missing
    moved = gain_changes(results, experiment)
    table = captioned(
        universe_table(found, moved),
        f"Universes of {table_name(experiment)}, largest gain first, in points",
        f"multiverse-{experiment}",
        "worded",
    )
    figure = (
        f"```{{figure}} _generated/multiverse_{experiment}.png\n"
        f":name: fig-multiverse-{experiment}\n"
        f":alt: {_alt(found)}\n"
        ":width: 620px\n\n"
        f"Mean gain of {METHOD} over {RIVAL} with its 95 % interval over the cases, by universe. "
        "The dashed line is the baseline.\n```"
    )
    where = (
        f"{{numref}}`fig-multiverse-{experiment}` shows the gains, "
        f"{{numref}}`multiverse-{experiment}` all numbers."
    )
    parts = [missing, f"{universes_reading(found, moved)} {where}", figure, table]
    return "\n\n".join(part for part in parts if part)


def _missing_sentence(found, experiment):
    wanted = universes(experiment)
    done = sum(
        name in found.index and found.at[name, "runs"] >= protocol["runs"]
        for name, protocol in wanted.items()
    )
    if done == len(wanted):
        return ""
    command = f"run `ddr-book multiverse {experiment} && ddr-book publish`."
    if found.empty:
        return f"Not computed yet: {command}"
    return f"Complete in {done} of {len(wanted)} universes; for the rest, {command}"


def universe_table(found, moved):
    """Tabulate the universes."""
    rows = []
    for name, row in found.iterrows():
        change = moved.loc[name, ["change", "low", "high"]] if name in moved.index else None
        rows.append(
            {
                "Universe": universe_name(name),
                "Question": row["question"],
                RIVAL: f"{row[RIVAL]:.4f}",
                METHOD: f"{row[METHOD]:.4f}",
                "Gain": with_interval(row["gain"], row["low"], row["high"]),
                "Gain over no weights": points(row["over_none"]),
                "Change": "–" if change is None else with_interval(*change),
                "p (Holm)": "–" if change is None else _p_values(moved.loc[name]),
                "Better, worse": unbroken(f"{row['better']}, {row['worse']} of {row['cases']}"),
                "Runs": str(row["runs"]),
            }
        )
    table = pd.DataFrame(rows)
    # What all universes share is said above the table.
    return table.drop(columns="Runs") if table["Runs"].nunique() == 1 else table


def _p_values(row):
    return "{} ({})".format(*("<0.001" if p < 0.0005 else f"{p:.3f}" for p in row[["p", "p_holm"]]))


def _alt(found):
    low, high = points(found["gain"].min()), points(found["gain"].max())
    text = f"Forest plot of {len(found)} mean gains, from {low} to {high} points of accuracy"
    if BASELINE in found.index:
        text += f"; the baseline is at {points(found.at[BASELINE, 'gain'])}"
    return text + "."
