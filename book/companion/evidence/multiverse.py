"""What the gain of DDR depends on: sentences, tables and figures of the open choices."""

import pandas as pd
from IPython.display import Markdown

from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.plots import specification_curve, universe_forest
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
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes


def scope():
    """Say how many universes there are."""
    runs = read()["runs"]
    counts = [f"{len(universes(e))} for {table_name(e)} ({runs[e]} runs)" for e in EXPERIMENTS]
    return Markdown(
        f"Each table has its *universes* beside the published table: {', '.join(counts)}."
    )


def reading(results, experiment):
    """Say what the universes of a table show together."""
    said = universes_reading(universe_gains(results, experiment), gain_changes(results, experiment))
    return Markdown(
        f"{said} {{numref}}`fig-multiverse-{experiment}` shows the gains, "
        f"{{numref}}`multiverse-{experiment}` all numbers."
    )


def forest(results, experiment):
    """Draw the gain in each universe of a table."""
    return universe_forest(universe_gains(results, experiment))


def table(results, experiment):
    """Tabulate the universes of one table."""
    found, moved = universe_gains(results, experiment), gain_changes(results, experiment)
    about = f"Universes of {table_name(experiment)}, largest gain first, in points"
    return Markdown(
        captioned(universe_table(found, moved), about, f"multiverse-{experiment}", "worded")
    )


def joint_reading(results, experiment):
    """Say what the specifications that change many choices at once show together."""
    gains = joint_gains(results, experiment)
    means, runs = gains.mean(axis=1), read()["joint"]["runs"][experiment]
    median, share, stouffer = curve_inference(gains).itertuples()
    return Markdown(
        f"{len(gains)} specifications drawn at random, each changing several choices at once; "
        f"{counted(runs, 'run', 'runs')} of each of {gains.shape[1]} cases. The gain is "
        f"positive in {int((means > 0).sum())} of them, from {points(means.min())} to "
        f"{points(means.max())} points; the median is {points(median.found)} "
        f"(p = {median.p:.3f}), the share of significant gains less that of significant losses "
        f"{share.found:+.0%} (p = {share.p:.3f}), Stouffer's z {stouffer.found:.1f} "
        f"(p = {stouffer.p:.3f}). The two-sided p-values come from turning the signs of all gains "
        "of a case together: a significant median below zero is a significant loss."
    )


def joint_curve(results, experiment):
    """Draw the joint specifications by their gain, above what each of them changes."""
    chosen = {name: p["about"] for name, p in specifications(experiment).items()}
    return specification_curve(joint_gains(results, experiment), chosen)


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
