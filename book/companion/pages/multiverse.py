"""What the multiverse page includes: the gain of DDR under each open choice."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.printed import EXPERIMENTS, ours
from companion.evidence.universes import universe_gains as gains
from companion.figures.synthetic import COLORS, new_figure
from companion.pages.stored import table_name
from companion.pages.text import captioned, points, unbroken
from companion.runs.multiverse import read, universes
from companion.runs.results import published_results

__all__ = [
    "changes",
    "forest",
    "reading",
    "scope_text",
    "section_text",
    "size_sentence",
    "universe_table",
    "write",
]

METHOD, RIVAL, BASELINE = "DDR-uLSIF", "uLSIF", "baseline"


def write(folder, results=None):
    """Write the fragments and figures of the multiverse page."""
    results = published_results() if results is None else results
    paths = [Path(folder) / "multiverse_scope.md"]
    paths[0].write_text(scope_text(), encoding="utf-8")
    for experiment in EXPERIMENTS:
        paths.append(Path(folder) / f"multiverse_{experiment}.md")
        paths[-1].write_text(section_text(results, experiment), encoding="utf-8")
        found = gains(results, experiment)
        if not found.empty:
            paths.append(Path(folder) / f"multiverse_{experiment}.png")
            forest(found).savefig(paths[-1], dpi=200, metadata={"Software": None})
    return paths


def scope_text():
    """Say how many universes there are, and what all of them share."""
    content = read()
    counts = [f"{len(universes(e))} for {table_name(e)}" for e in EXPERIMENTS]
    limits = [
        f"for {table_name(e)} with at most {limit} samples a side"
        for e in EXPERIMENTS
        if (limit := content["problem"].get(e, {}).get("max_samples"))
    ]
    text = (
        f"Each table has its *universes*, the unchanged baseline included: {', '.join(counts)}. "
        f"All of a table start from the same random streams, {content['runs']} runs of each case, "
        "so that they can be compared run by run"
    )
    if limits:
        text += f"; {' and '.join(limits)}, so its baseline is not the published table"
    return text + ".\n"


def section_text(results, experiment):
    """Put reading, figure and table of one experiment together."""
    found = gains(results, experiment)
    missing = _missing_sentence(found, experiment)
    if found.empty:
        return missing + "\n"
    table = captioned(
        universe_table(found, changes(results, experiment)),
        f"Universes of {table_name(experiment)}: gain and change from the baseline, in points",
        f"multiverse-{experiment}",
        kind="worded",
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
    moved = changes(results, experiment)
    text = " ".join(
        filter(
            None, [reading(found, moved), size_sentence(results, experiment, found, moved), where]
        )
    )
    parts = [missing, text, figure, table]
    return "\n\n".join(part for part in parts if part) + "\n"


def _missing_sentence(found, experiment):
    wanted = universes(experiment)
    done = [
        name
        for name, protocol in wanted.items()
        if name in found.index and found.at[name, "runs"] >= protocol["runs"]
    ]
    if len(done) == len(wanted):
        return ""
    command = f"run `ddr-book multiverse {experiment} && ddr-book publish`."
    if found.empty:
        return f"Not computed yet: {command}"
    return f"Complete in {len(done)} of {len(wanted)} universes; for the rest, {command}"


def changes(results, experiment):
    """Compute how far the gain in each universe is from the baseline's, on the same runs."""
    base = _gain_by_run(results, experiment, BASELINE)
    rows = []
    for name in universes(experiment):
        both = pd.concat([_gain_by_run(results, experiment, name), base], axis=1).dropna()
        if name == BASELINE or both.empty:
            continue
        change = (both.iloc[:, 0] - both.iloc[:, 1]).groupby(level="case").mean()
        n, mean = len(change), change.mean()
        half = stats.t.ppf(0.975, n - 1) * change.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        rows.append((name, mean, mean - half, mean + half, n))
    columns = ["universe", "change", "low", "high", "cases"]
    return pd.DataFrame(rows, columns=columns).set_index("universe")


def _gain_by_run(results, experiment, universe):
    """Gains in points, by case and seed."""
    of_universe = results["protocol"] == f"universe:{universe}"
    runs = results[(results["experiment"] == experiment) & of_universe]
    wide = runs.pivot(index=["case", "seed"], columns="method", values="accuracy")
    wide = wide.reindex(columns=[METHOD, RIVAL]).astype(float)
    return 100 * (wide[METHOD] - wide[RIVAL])


def universe_table(found, moved):
    """Tabulate the universes."""
    rows = [
        {
            "Universe": row.Index.replace("-", " "),
            "Question": row.question,
            "uLSIF": f"{row.uLSIF:.4f}",
            "DDR-uLSIF": f"{found.at[row.Index, METHOD]:.4f}",
            "Gain": _with_interval(row.gain, row.low, row.high),
            "Change": _change(moved, row.Index),
            "Cases won": unbroken(f"{row.cases_won} of {row.cases}"),
            "Runs": str(row.runs),
        }
        for row in found.itertuples()
    ]
    table = pd.DataFrame(rows)
    # What all universes share is said above the table.
    return table.drop(columns="Runs") if table["Runs"].nunique() == 1 else table


def _change(moved, name):
    return (
        _with_interval(*moved.loc[name, ["change", "low", "high"]]) if name in moved.index else "–"
    )


def _with_interval(value, low, high):
    if np.isnan(low):
        return points(value)
    # The one place where a narrow column may break.
    return f"{points(value)} {unbroken(f'({points(low)} to {points(high)})')}"


def reading(found, moved):
    """Say what the universes show together."""
    positive = int((found["gain"] > 0).sum())
    above = int((found["low"] > 0).sum())
    text = (
        f"The mean gain is positive in {positive} of {len(found)} universes, from "
        f"{points(found['gain'].min())} points ({_named(found['gain'].idxmin())}) to "
        f"{points(found['gain'].max())} ({_named(found['gain'].idxmax())}); in {above} of them "
        "its interval over the cases lies above zero."
    )
    if BASELINE not in found.index or moved.empty:
        return text + " The baseline itself is not computed yet."
    sign = np.sign(found["gain"].round(6))
    same = int((sign.drop(BASELINE) == sign[BASELINE]).sum())
    largest = moved["change"].abs().idxmax()
    clear = moved[(moved["low"] > 0) | (moved["high"] < 0)]
    return text + (
        f" The baseline gains {points(found.at[BASELINE, 'gain'])}; {same} of the "
        f"{len(found) - 1} changes keep its sign. The largest change is that of "
        f"{_named(largest)}: {points(moved.at[largest, 'change'])} points. "
        f"{_clear_sentence(clear)}"
    )


def size_sentence(results, experiment, found, moved):
    """Say what the baseline gains with all samples, where the multiverse uses a part of them."""
    content = read()
    runs = ours(results, experiment, "matched")
    runs = runs[runs["seed"] < content["runs"]]
    if experiment not in content["problem"] or BASELINE not in found.index or runs.empty:
        return ""
    means = runs.groupby(["method", "case"])["accuracy"].mean().unstack("method")
    whole = 100 * (means[METHOD] - means[RIVAL]).mean()
    text = f"With all samples the same runs of the matched protocol gain {points(whole)} on average"
    if abs(whole - found.at[BASELINE, "gain"]) > moved["change"].abs().max():
        text += ": the number of samples decides more here than any of these choices does"
    return text + "."


def _clear_sentence(clear):
    if clear.empty:
        return "No change has an interval that excludes zero."
    names = ", ".join(f"{_named(n)} ({points(c)})" for n, c in clear["change"].items())
    return f"Changes whose interval excludes zero: {names}."


def _named(universe):
    return f"*{universe.replace('-', ' ')}*"


def forest(found):
    """Draw the gain of each universe with its interval."""
    figure, axes = new_figure(6.2, 0.27 * len(found) + 0.9)
    axis = axes[0, 0]
    axis.axvline(0, color=COLORS["black"], lw=1)
    if BASELINE in found.index:
        axis.axvline(found.at[BASELINE, "gain"], color=COLORS["red"], ls="--", lw=1)
    for position, row in enumerate(found.itertuples()):
        own = row.Index == BASELINE
        axis.errorbar(
            row.gain,
            position,
            xerr=np.nan_to_num((row.high - row.low) / 2),
            fmt="D" if own else "o",
            color=COLORS["red"] if own else COLORS["blue"],
            capsize=3,
        )
    axis.set_yticks(range(len(found)), [name.replace("-", " ") for name in found.index])
    axis.set(ylim=(len(found) - 0.4, -0.6), xlabel="gain in points of accuracy")
    axis.grid(axis="y", lw=0.4, alpha=0.5)
    return figure


def _alt(found):
    low, high = points(found["gain"].min()), points(found["gain"].max())
    text = f"Forest plot of {len(found)} mean gains, from {low} to {high} points of accuracy"
    if BASELINE in found.index:
        text += f"; the baseline is at {points(found.at[BASELINE, 'gain'])}"
    return text + "."
