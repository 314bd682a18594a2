"""What the multiverse page includes: the gain of DDR under each open choice."""

from pathlib import Path

import pandas as pd

from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.printed import table_name
from companion.evidence.tables import captioned, points, unbroken, with_interval
from companion.evidence.universes import (
    BASELINE,
    gain_changes,
    universe_gains,
    universe_name,
    universes_reading,
)
from companion.figures.gains import universe_forest
from companion.pages import write_figure, write_fragments
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import base_protocol, read, universes


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
    return [*write_fragments(folder, fragments), *figures]


def scope_text():
    """Say how many universes there are, and what all of them share."""
    content = read()
    counts = [f"{len(universes(e))} for {table_name(e)}" for e in EXPERIMENTS]
    limits = [
        f"for {table_name(e)} with at most {limit} samples a side and from the "
        f"{base_protocol(e)} protocol"
        for e in EXPERIMENTS
        if (limit := (content.get("problem") or {}).get(e, {}).get("max_samples"))
    ]
    text = (
        f"Each table has its *universes*, the unchanged baseline included: {', '.join(counts)}. "
        f"All of a table start from the same random streams, {content['runs']} runs of each case, "
        "so that they can be compared run by run"
    )
    if limits:
        text += f"; {' and '.join(limits)}, so its baseline is not the published table"
    return text + "."


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
                "Better, worse": unbroken(f"{row['better']}, {row['worse']} of {row['cases']}"),
                "Runs": str(row["runs"]),
            }
        )
    table = pd.DataFrame(rows)
    # What all universes share is said above the table.
    return table.drop(columns="Runs") if table["Runs"].nunique() == 1 else table


def _alt(found):
    low, high = points(found["gain"].min()), points(found["gain"].max())
    text = f"Forest plot of {len(found)} mean gains, from {low} to {high} points of accuracy"
    if BASELINE in found.index:
        text += f"; the baseline is at {points(found.at[BASELINE, 'gain'])}"
    return text + "."
