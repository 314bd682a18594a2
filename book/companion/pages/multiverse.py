"""What the multiverse page includes: the gain of DDR under each open choice."""

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
from companion.pages import figure_text
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes


def files(evidence):
    """Give the fragments and figures of the multiverse page."""
    found = {"multiverse_scope.md": scope_text()}
    for experiment in EXPERIMENTS:
        gains = universe_gains(evidence.results, experiment)
        joint = joint_gains(evidence.results, experiment)
        chosen = {name: p["about"] for name, p in specifications(experiment).items()}
        found |= {
            f"multiverse_{experiment}.md": section_text(evidence.results, experiment, gains),
            f"multiverse_{experiment}.png": universe_forest(gains),
            f"multiverse_{experiment}_joint.md": joint_text(experiment, joint),
            f"multiverse_{experiment}_joint.png": specification_curve(joint, chosen),
        }
    return found


def scope_text():
    """Say how many universes there are."""
    runs = read()["runs"]
    counts = [f"{len(universes(e))} for {table_name(e)} ({runs[e]} runs)" for e in EXPERIMENTS]
    return f"Each table has its *universes*, the unchanged baseline included: {', '.join(counts)}."


def joint_text(experiment, gains):
    """Say what the specifications that change many choices at once show together."""
    means, runs = gains.mean(axis=1), read()["joint"]["runs"][experiment]
    median, share, stouffer = curve_inference(gains).itertuples()
    figure = figure_text(
        f"multiverse_{experiment}_joint",
        f"Specification curve of {len(gains)} gains and the choices that each changes.",
        680,
        f"Joint specifications of {table_name(experiment)} by their mean gain of {METHOD} over "
        f"{RIVAL}, with 95 % intervals over the cases (blue: zero excluded). Below, what each "
        "changes.",
    )
    return (
        f"{len(gains)} specifications drawn at random, each changing several choices at once; "
        f"{counted(runs, 'run', 'runs')} of each of {gains.shape[1]} cases. The gain is "
        f"positive in {int((means > 0).sum())} of them, from {points(means.min())} to "
        f"{points(means.max())} points; the median is {points(median.found)} "
        f"(p = {median.p:.3f}), significantly positive {share.found:.0%} (p = {share.p:.3f}), "
        f"Stouffer's z {stouffer.found:.1f} (p = {stouffer.p:.3f}). The p-values come from turning "
        f"the signs of all gains of a case together.\n\n{figure}"
    )


def section_text(results, experiment, found):
    """Put reading, figure and table of one experiment together."""
    moved = gain_changes(results, experiment)
    table = captioned(
        universe_table(found, moved),
        f"Universes of {table_name(experiment)}, largest gain first, in points",
        f"multiverse-{experiment}",
        "worded",
    )
    figure = figure_text(
        f"multiverse_{experiment}",
        f"Forest plot of {len(found)} mean gains, from {points(found['gain'].min())} to "
        f"{points(found['gain'].max())} points of accuracy; the baseline is at "
        f"{points(found.at[BASELINE, 'gain'])}.",
        620,
        f"Mean gain of {METHOD} over {RIVAL} with its 95 % interval over the cases, by universe. "
        "The dashed line is the baseline.",
    )
    where = (
        f"{{numref}}`fig-multiverse-{experiment}` shows the gains, "
        f"{{numref}}`multiverse-{experiment}` all numbers."
    )
    return "\n\n".join([f"{universes_reading(found, moved)} {where}", figure, table])


def universe_table(found, moved):
    """Tabulate the universes; the baseline changes nothing."""
    rows = []
    for name, row in found.iterrows():
        change = moved.reindex(found.index).loc[name]
        rows.append(
            {
                "Universe": universe_name(name),
                "Question": row["question"],
                RIVAL: f"{row[RIVAL]:.4f}",
                METHOD: f"{row[METHOD]:.4f}",
                "Gain": with_interval(row["gain"], row["low"], row["high"]),
                "Gain over no weights": points(row["over_none"]),
                "Change": with_interval(*change[["change", "low", "high"]]),
                "p (Holm)": "–" if name == BASELINE else _p_values(change),
                "Better, worse": unbroken(f"{row['better']}, {row['worse']} of {row['cases']}"),
            }
        )
    return pd.DataFrame(rows)


def _p_values(row):
    return "{} ({})".format(*("<0.001" if p < 0.0005 else f"{p:.3f}" for p in row[["p", "p_holm"]]))
