"""What the gain of DDR depends on: each open choice changed alone, and many at once.

A change is that on the runs which a universe and the published table both have.
"""

from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

from companion.evidence.gains import (
    ALPHA,
    METHOD,
    NO_WEIGHTS,
    RIVAL,
    accuracies,
    holm,
    mean_interval,
    over_cases,
    paired,
    paired_table,
    shrunken,
    t_tests,
)
from companion.evidence.plots import COLORS, half_widths, new_figure, rows_axis
from companion.evidence.printed import table_name, table_title
from companion.evidence.tables import captioned, counted, points, unbroken, with_interval
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes

BASELINE = "baseline"


def protocol_of(universe):
    """The protocol whose published runs are a universe: the baseline is the published table."""
    return "matched" if universe == BASELINE else f"universe:{universe}"


def _about(universe):
    return read()["unchanged"] if universe == BASELINE else read()["universes"].get(universe, {})


def universe_name(universe):
    """Name a universe in words."""
    return _about(universe).get("name", universe.replace("-", " "))


# What the runs say


def universe_gains(results, experiment):
    """Mean gain of DDR-uLSIF in each universe that was run, largest first."""
    rows = {}
    for universe in (BASELINE, *universes(experiment)):
        protocol = protocol_of(universe)
        wide = accuracies(results, experiment, protocol)
        if wide.empty:
            continue
        found, plain = (
            over_cases(paired(results, experiment, protocol, rival=r)) for r in (RIVAL, NO_WEIGHTS)
        )
        means = wide.groupby(level="case").mean().mean()
        rows[universe] = means[[RIVAL, METHOD]].to_dict() | found | {"over_none": plain["mean"]}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("universe")
    table = table.rename(columns={"mean": "gain"})
    return table.sort_values("gain", ascending=False, kind="stable")


def universe_change(results, experiment, universe):
    """What a changed choice does to DDR-uLSIF's accuracy, case by case, on the same runs."""
    both = {
        kind: accuracies(results, experiment, protocol_of(name)).reindex(columns=[METHOD])[METHOD]
        for kind, name in (("changed", universe), ("base", BASELINE))
    }
    return paired_table(pd.DataFrame(both).dropna(), experiment, "changed", "base")


def _by_run(results, experiment, protocol):
    """Accuracy of DDR-uLSIF and its gain over uLSIF in each run, in points."""
    wide = accuracies(results, experiment, protocol).reindex(columns=[METHOD, RIVAL])
    return 100 * pd.DataFrame({"accuracy": wide[METHOD], "gain": wide[METHOD] - wide[RIVAL]})


def gain_changes(results, experiment):
    """How far the gain in each universe is from the baseline's, over the cases; DDR's accuracy."""
    base, rows = _by_run(results, experiment, "matched"), {}
    for universe in universes(experiment):
        change = (_by_run(results, experiment, protocol_of(universe)) - base).dropna()
        if len(change):
            change = change.groupby(level="case").mean()
            p, _ = t_tests(change["gain"], np.zeros(len(change)))
            interval = mean_interval(change["gain"])
            rows[universe] = (*interval, change["accuracy"].mean(), len(change), float(p))
    columns = ["change", "low", "high", "accuracy_change", "cases", "p"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("universe")
    return table.assign(p_holm=holm(table["p"]))


def all_changes(results):
    """Every change of the gain in every table, with Holm's p over all, and shrunken."""
    tables = [gain_changes(results, e).reset_index().assign(experiment=e) for e in EXPERIMENTS]
    changes = pd.concat(tables, ignore_index=True).dropna(subset=["p"])
    half = (changes["high"] - changes["low"]) / 2
    error = half / stats.t.ppf(0.975, changes["cases"] - 1)
    changes = changes.assign(
        p_holm=holm(changes["p"]), shrunk=shrunken(changes["change"], error)[3]
    )
    return changes.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


def joint_gains(results, experiment):
    """Mean gain in points of each joint specification, a row, in each of its cases, a column."""
    gains = {
        name: _by_run(results, experiment, name)["gain"].groupby(level="case").mean()
        for name in specifications(experiment)
    }
    return pd.DataFrame(gains).T


def curve_inference(gains):
    """Median gain, share of clear gains less losses, and Stouffer's z of a specification curve.

    Their two-sided p-values come from turning the signs of all gains of a case together, in every
    way: so the specifications may depend on one another as they do.
    """
    values, k = gains.to_numpy(dtype=float), gains.shape[1]
    flips = np.array(list(product((1.0, -1.0), repeat=k)))  # the first turns nothing
    means = flips @ values.T / k
    spread = np.sqrt(np.maximum(np.square(values).mean(axis=1) - means**2, 1e-24) / (k - 1))
    p = stats.t.sf(means / spread, k - 1)
    found = {
        "median gain": np.median(means, axis=1),
        "share significant": (p < ALPHA / 2).mean(axis=1) - (p > 1 - ALPHA / 2).mean(axis=1),
        "Stouffer's z": stats.norm.isf(p.clip(1e-15, 1 - 1e-15)).sum(axis=1) / np.sqrt(len(values)),
    }
    rows = {name: (s[0], (abs(s) >= abs(s[0]) - 1e-12).mean()) for name, s in found.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["found", "p"])


# What the pages say


def alone(results, experiment):
    """Gains of a table's universes, and how far they are from the baseline's."""
    return universe_gains(results, experiment), gain_changes(results, experiment)


def scope(results):
    """Say how many universes there are, and of how many runs."""
    said = []
    found = results[results["protocol"].str.startswith("universe:")]
    for experiment in EXPERIMENTS:
        rows = found[found["experiment"] == experiment].groupby("protocol")
        runs = rows["seed"].nunique().value_counts()
        counts = " and ".join(f"{number} of {n} runs" for n, number in runs.items())
        said.append(f"{table_name(experiment)}: {counts}")
    return Markdown(f"Each table has its *universes* beside the published one; {'; '.join(said)}.")


def reading(found, moved, experiment):
    """Say what the universes of a table show together."""
    gain, largest, smallest = found["gain"], found["gain"].idxmax(), found["gain"].idxmin()
    same = (np.sign(gain.round(6)) == np.sign(gain[BASELINE].round(6))).sum() - 1
    return Markdown(
        f"The mean gain is positive in {(gain > 0).sum()} of {len(found)} universes, from "
        f"{points(gain.min())} points (*{universe_name(smallest)}*) to {points(gain.max())} "
        f"(*{universe_name(largest)}*); in {(found['low'] > 0).sum()} of them its interval over "
        f"the cases lies above zero. The baseline gains {points(gain[BASELINE])}; {same} of the "
        f"{len(found) - 1} changes keep its sign. {decided(moved)} "
        f"{{numref}}`fig-multiverse-{experiment}` shows the gains, "
        f"{{numref}}`multiverse-{experiment}` all numbers."
    )


def decided(moved, most=5):
    """Name the choices that clearly change the gain, largest first, with Holm's count beside."""
    clear = moved[(moved["low"] > 0) | (moved["high"] < 0)]
    if clear.empty:
        return f"Of {len(moved)} changed choices none moves the gain over uLSIF clearly."
    largest = clear.sort_values("change", key=abs, ascending=False, kind="stable").head(most)
    named = (f"*{universe_name(u)}* ({points(row.change)})" for u, row in largest.iterrows())
    return (
        f"Of {len(moved)} changed choices {len(clear)} move the gain over uLSIF clearly (interval "
        f"without zero), {int((clear['p_holm'] < ALPHA).sum())} of them after Holm's correction "
        f"for their number; the largest, in points: {', '.join(named)}."
    )


def forest(found):
    """Draw the gain of each universe with its interval, largest first, the baseline marked."""
    figure, (axis,) = new_figure(6.6, 0.27 * len(found) + 0.9)
    rows_axis(axis, [universe_name(name) for name in found.index])
    axis.axvline(found.at[BASELINE, "gain"], color=COLORS["red"], ls="--", lw=1)
    half = half_widths(found)
    for position, name in enumerate(found.index):
        own = name == BASELINE
        style = {"fmt": "D" if own else "o", "color": COLORS["red" if own else "blue"]}
        gain = found.at[name, "gain"]
        axis.errorbar(gain, position, xerr=half[position], capsize=3, **style)
    return figure


def largest_forest(results, experiment, count=6):
    """Draw the universes that change the gain most, beside the baseline."""
    found = universe_gains(results, experiment)
    names = gain_changes(results, experiment)["change"].abs().nlargest(count).index
    return forest(found[found.index.isin([BASELINE, *names])])


def table(found, moved, experiment):
    """Tabulate the universes of one table; the baseline changes nothing."""
    rows = []
    for name, row in found.join(moved, rsuffix="_moved").iterrows():
        p = ["<0.001" if p < 0.0005 else f"{p:.3f}" for p in (row["p"], row["p_holm"])]
        change = row[["change", "low_moved", "high_moved"]]
        rows.append(
            {
                "Universe": universe_name(name),
                "Question": _about(name)["question"],
                RIVAL: f"{row[RIVAL]:.4f}",
                METHOD: f"{row[METHOD]:.4f}",
                "Gain": with_interval(row["gain"], row["low"], row["high"]),
                "Gain over no weights": points(row["over_none"]),
                "Change": with_interval(*change),
                "p (Holm)": "–" if name == BASELINE else f"{p[0]} ({p[1]})",
                "Better, worse": unbroken(f"{row.better:.0f}, {row.worse:.0f} of {row.cases:.0f}"),
            }
        )
    about = f"Universes of {table_name(experiment)}, largest gain first, in points"
    return Markdown(captioned(pd.DataFrame(rows), about, f"multiverse-{experiment}", "worded"))


def largest_changes(results, count=10):
    """Tabulate the largest changes of the gain, with Holm's p over all of them and shrunken."""
    changes = all_changes(results)
    rows = [
        {
            "Paper's table": table_title(row.experiment).removeprefix("Paper's Table "),
            "Choice": universe_name(row.universe),
            "Change": with_interval(row.change, row.low, row.high),
            "Shrunken": points(row.shrunk),
            "p": f"{row.p:.3f}",
            f"Holm's p ({len(changes)} changes)": f"{row.p_holm:.2f}",
        }
        for row in changes.head(count).itertuples()
    ]
    about = "The largest changes of the gain: the largest of many is too large"
    return Markdown(captioned(pd.DataFrame(rows), about, "largest-changes", "worded"))


def joint_reading(gains, experiment):
    """Say what the specifications that change many choices at once show together."""
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


def joint_curve(gains, experiment):
    """Draw the joint specifications by their gain, above what each of them changes."""
    chosen = {name: p["about"] for name, p in specifications(experiment).items()}
    names = list(dict.fromkeys(name for changes in chosen.values() for name in changes))
    order = gains.mean(axis=1).sort_values().index
    mean, low, high = mean_interval(gains.loc[order])
    figure, (top, below) = new_figure(
        7.6, 3 + 0.2 * len(names), 2, sharex=True, height_ratios=[2.4, 0.2 * len(names)]
    )
    clear = (low > 0) | (high < 0)
    for part, color in ((clear, "blue"), (~clear, "grey")):
        x, half = np.flatnonzero(part), (high - mean)[part]
        top.errorbar(x, mean[part], yerr=half, fmt="o", ms=3, lw=0.8, color=COLORS[color])
    top.axhline(0, color=COLORS["black"], lw=1)
    top.set(ylabel="gain in points")
    dots = [(x, names.index(n)) for x, spec in enumerate(order) for n in chosen[spec]]
    below.plot(*zip(*dots, strict=True), "s", ms=3, color=COLORS["black"])
    below.set_yticks(range(len(names)), [universe_name(name) for name in names])
    below.set(ylim=(len(names) - 0.4, -0.6), xlabel="specifications, by their gain")
    return figure
