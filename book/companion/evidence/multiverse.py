"""What the gain of DDR depends on: the paper's open choices, each changed alone, and many at once.

A change is that on the runs which a universe and the published table both have. Points where the
paper leaves a choice open, and what we did, stand in ``book/deviations.yml``.
"""

from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

from companion.evidence import gains
from companion.evidence.gains import ALPHA, METHOD, NO_WEIGHTS, RIVAL
from companion.evidence.plots import COLORS, estimates, new_figure
from companion.evidence.printed import table_name, table_title
from companion.evidence.tables import captioned, points, rubric, unbroken, with_interval
from companion.evidence.verdicts import compare
from companion.paths import BOOK, EXPERIMENTS, read_yaml
from companion.runs.multiverse import read, specifications, universes

BASELINE = "baseline"


def protocol_of(universe):
    """The protocol whose published runs are a universe: the baseline is the published table."""
    return "matched" if universe == BASELINE else f"universe:{universe}"


def _about(universe):
    return read()["unchanged"] if universe == BASELINE else read()["universes"][universe]


def universe_name(universe):
    """Name a universe in words."""
    return _about(universe)["name"]


# What the runs say


def universe_gains(results, experiment):
    """Mean gain of DDR-uLSIF in each universe that was run, largest first."""
    rows = {}
    for universe in (BASELINE, *universes(experiment)):
        protocol = protocol_of(universe)
        found = gains.over_cases(gains.paired(results, experiment, protocol))
        if found["cases"]:
            means = gains.case_means(results, experiment, protocol)[[NO_WEIGHTS, RIVAL, METHOD]]
            rows[universe] = {"gain": found.pop("mean"), **means.mean(), **found}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("universe")
    return table.sort_values("gain", ascending=False, kind="stable")


def universe_change(results, experiment, universe):
    """What a changed choice does to DDR-uLSIF's accuracy, case by case, on the same runs."""
    names = (universe, BASELINE)
    runs = {name: _by_run(results, experiment, protocol_of(name))["accuracy"] for name in names}
    return gains.paired_table(pd.DataFrame(runs).dropna() / 100, experiment, *names)


def _by_run(results, experiment, protocol):
    """Accuracy of DDR-uLSIF and its gain over uLSIF in each run, in points."""
    wide = gains.accuracies(results, experiment, protocol).reindex(columns=[METHOD, RIVAL])
    return 100 * pd.DataFrame({"accuracy": wide[METHOD], "gain": wide[METHOD] - wide[RIVAL]})


def gain_changes(results, experiment):
    """How far the gain in each universe is from the baseline's, over the cases; DDR's accuracy."""
    base, rows = _by_run(results, experiment, "matched"), {}
    for universe in universes(experiment):
        change = (_by_run(results, experiment, protocol_of(universe)) - base).dropna()
        if len(change):
            change = change.groupby(level="case").mean()
            gain, accuracy = change["gain"], change["accuracy"].mean()
            p = float(gains.t_test(gain))
            rows[universe] = *gains.mean_interval(gain), gain.sem(), accuracy, len(change), p
    columns = ["change", "low", "high", "error", "accuracy_change", "cases", "p"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("universe")
    return table.assign(p_holm=gains.holm(table["p"]))


def all_changes(results):
    """Every change of the gain in every table, with Holm's p over all, and shrunken."""
    tables = [gain_changes(results, e).reset_index().assign(experiment=e) for e in EXPERIMENTS]
    changes = pd.concat(tables, ignore_index=True).dropna(subset=["p"])
    shrunk = gains.shrunken(changes["change"], changes["error"])[3]
    changes = changes.assign(p_holm=gains.holm(changes["p"]), shrunk=shrunk)
    return changes.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


def joint_gains(results, experiment):
    """Mean gain in points of each joint specification, a row, in each of its cases, a column."""
    runs = {name: _by_run(results, experiment, name)["gain"] for name in specifications(experiment)}
    return pd.DataFrame({name: of.groupby(level="case").mean() for name, of in runs.items()}).T


def curve_inference(by_case):
    """Median gain, share of clear gains less losses, and Stouffer's z of a specification curve.

    Their two-sided p-values come from turning the signs of all gains of a case together, in every
    way: so the specifications may depend on one another as they do.
    """
    values, k = by_case.to_numpy(dtype=float), by_case.shape[1]
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
    """Draw the gain of each universe with its interval, largest first, beside the baseline's."""
    shown = found[["gain", "low", "high"]].set_axis(map(universe_name, found.index))
    known = {"no gain": 0, "the protocol unchanged": found.at[BASELINE, "gain"]}
    return estimates({"": shown.T}, "gain over uLSIF in points", known)


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
                "Gain over no weights": points(100 * (row[METHOD] - row[NO_WEIGHTS])),
                "Change": with_interval(*change),
                "p (Holm)": "–" if name == BASELINE else f"{p[0]} ({p[1]})",
                "Better, worse": unbroken(f"{row.better:.0f}, {row.worse:.0f} of {row.cases:.0f}"),
            }
        )
    about = f"Universes of {table_name(experiment)}, largest gain first, in points"
    return Markdown(captioned(pd.DataFrame(rows), about, f"multiverse-{experiment}", "worded"))


def largest_changes(results, count=10):
    """Tabulate the largest changes of the gain."""
    changes = all_changes(results)
    about = f"The largest of {len(changes)} changes of the gain: the largest of many is too large"
    return Markdown(captioned(_changes(changes.head(count)), about, "largest-changes", "worded"))


def _changes(changes):
    """Changes of the gain in points, with Holm's p over all tables, and shrunken."""
    titles = changes["experiment"].map(table_title)
    shown = {
        "Paper's table": titles.str.removeprefix("Paper's Table "),
        "Changed to": changes["universe"].map(universe_name),
        "Change": list(map(with_interval, changes["change"], changes["low"], changes["high"])),
        "Shrunken": changes["shrunk"].map(points),
        "p": changes["p"].map("{:.3f}".format),
        "Holm's p": changes["p_holm"].map("{:.2f}".format),
        "Change of DDR's accuracy": changes["accuracy_change"].map(points),
    }
    return pd.DataFrame(shown)


def joint_reading(joint, experiment):
    """Say what the specifications that change many choices at once show together."""
    means, runs = joint.mean(axis=1), read()["joint"]["runs"][experiment]
    median, share, stouffer = curve_inference(joint).itertuples()
    return Markdown(
        f"{len(joint)} specifications drawn at random, each changing several choices at once; "
        f"{runs} run{'s' if runs > 1 else ''} of each of {joint.shape[1]} cases. The gain is "
        f"positive in {int((means > 0).sum())} of them, from {points(means.min())} to "
        f"{points(means.max())} points; the median is {points(median.found)} "
        f"(p = {median.p:.3f}), the share of significant gains less that of significant losses "
        f"{share.found:+.0%} (p = {share.p:.3f}), Stouffer's z {stouffer.found:.1f} "
        f"(p = {stouffer.p:.3f}). The two-sided p-values come from turning the signs of all gains "
        "of a case together: a significant median below zero is a significant loss."
    )


def joint_curve(joint, experiment):
    """Draw the joint specifications by their gain, above what each of them changes."""
    chosen = {name: p["about"] for name, p in specifications(experiment).items()}
    names = list(dict.fromkeys(name for changes in chosen.values() for name in changes))
    order = joint.mean(axis=1).sort_values().index
    figure, (top, below) = new_figure(
        7.6, 3 + 0.2 * len(names), 2, sharex=True, height_ratios=[2.4, 0.2 * len(names)]
    )
    _clear_and_not(top, "y", np.arange(len(order)), *gains.mean_interval(joint.loc[order]))
    top.axhline(0, color=COLORS["black"], lw=1)
    top.set(ylabel="gain in points")
    dots = [(x, names.index(n)) for x, spec in enumerate(order) for n in chosen[spec]]
    below.plot(*zip(*dots, strict=True), "s", ms=3, color=COLORS["black"])
    below.set_yticks(range(len(names)), [universe_name(name) for name in names])
    below.set(ylim=(len(names) - 0.4, -0.6), xlabel="specifications, by their gain")
    return figure


def _clear_and_not(axis, along, places, mean, low, high):
    """Draw estimates with intervals along one axis: blue where zero is excluded, else grey."""
    clear = (low > 0) | (high < 0)
    for part, color in ((clear, "blue"), (~clear, "grey")):
        ends = {f"{along}err": [(mean - low)[part], (high - mean)[part]]}
        at = (mean[part], places[part]) if along == "x" else (places[part], mean[part])
        axis.errorbar(*at, **ends, fmt="o", ms=3, lw=0.8, color=COLORS[color])


# The deviations


def deviations():
    """Read what the paper leaves open, D1, D2, ...: what we did, why, how it is measured."""
    return read_yaml(BOOK / "deviations.yml")


def deviation_changes(results):
    """Measure every open choice that runs can: one row a changed choice and table."""
    entries = [
        {"id": entry["id"], "title": entry["title"], "universe": universe, "experiment": name}
        for entry in deviations()
        for universe, experiments in entry["effect"].get("universes", {}).items()
        for name in experiments
    ]
    return all_changes(results).merge(pd.DataFrame(entries))


def deviations_table(found):
    """Tabulate the measured choices, the largest change first; a click on a head sorts anew."""
    links = "{ref}`" + found["title"] + " <deviation-" + found["id"].str.lower() + ">`"
    shown = pd.concat([links.rename("Open choice"), _changes(found)], axis=1)
    about = "What each open choice changes in the gain of DDR-uLSIF over uLSIF, in points"
    return Markdown(captioned(shown, about, "deviations-effects", "worded sortable"))


def deviations_figure(found):
    """Draw the change of the gain by each choice, one panel a table, largest first."""
    rows = [(found["experiment"] == experiment).sum() + 1.5 for experiment in EXPERIMENTS]
    size, panels = (7.2, 0.19 * sum(rows) + 0.6), {"sharex": True, "height_ratios": rows}
    figure, axes = new_figure(*size, rows=len(rows), **panels)
    for axis, experiment in zip(axes, EXPERIMENTS, strict=True):
        part = found[found["experiment"] == experiment].sort_values("change")
        _clear_and_not(axis, "x", np.arange(len(part)), part["change"], part["low"], part["high"])
        axis.axvline(0, color=COLORS["black"], lw=1)
        axis.set_yticks(range(len(part)), map(universe_name, part["universe"]), size=8)
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
    effect = entry["effect"]
    if "tests" in effect:
        return [f"{e}: {line}" for e in EXPERIMENTS for line in gains.over_rivals(results, e)]
    if "not_measured" in effect:
        return [f"not measured: {effect['not_measured']}"]
    return claims.loc[claims["id"] == effect.get("claim"), "evidence"].tolist()


def differences(results, experiment):
    """Say for one table how the spreads compare, and which choices decide."""
    ratios = compare(results, experiment)["sd_ratio"].replace(0, np.nan)
    return Markdown(
        f"- **Spread.** Our standard deviations are {np.exp(np.log(ratios).mean()):.2f} times the "
        "printed ones (geometric mean). Another spread is the sign of another protocol.\n"
        f"- **Choices.** {decided(gain_changes(results, experiment))}"
    )
