"""The searches for a protocol: what the print does not contradict, what is shared, what is open."""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import protocol_search as searching
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, accuracies, case_means, runs_of
from companion.evidence.multiverse import BASELINE, protocol_of, universe_name
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import ledger, printed_means, table_title, values
from companion.evidence.tables import captioned, points, tally
from companion.evidence.verdicts import compare, compare_columns
from companion.paths import EXPERIMENTS
from companion.runs.experiments import load_case
from companion.runs.multiverse import read
from companion.runs.published import published_parameters, published_results

#: The search that speaks for each table.
_LAST = {"synthetic": "synthetic", "biased": "biased-kernels", "cross": "cross"}


def levels(table, search):
    """The level of every choice of each protocol."""
    names = searching.names_of(table).str.split(" | ", regex=False, expand=True)
    return names.set_axis([*search["choices"], *search["selections"]], axis=1)


def answers():
    """Say for each table how many protocols the print does not contradict, and what they share."""
    return Markdown("\n".join(f"- {_answer(_LAST[experiment])}" for experiment in EXPERIMENTS))


def _answer(name):
    search, table = searching.read_search(name), searching.published(name)
    title, count = table_title(search["experiment"]), int(table["member"].sum())
    if not count:
        trials = searching.published(name, "trials").query("trial == 'permuted'")["best"]
        best = table["score"].min()
        return (
            f"**{title}: none** of {len(table):,} protocols fits. The nearest misses the means "
            f"and standard deviations by {100 * best:.1f} points (root mean square). With the rows "
            f"dealt to wrong datasets one comes as near in {(trials <= best).sum()} of "
            f"{len(trials)} trials."
        )
    same, open_ = [], []
    for choice, found in levels(table[table["member"] == 1], search).items():
        names = found.value_counts().index  # the most frequent first
        text = f"{choice}: {', '.join(f'*{name}*' for name in names)}"
        (same if len(names) == 1 else open_).append(text)
    return (
        f"**{title}: {count} of {len(table):,}** protocols fit. "
        f"They share {'; '.join(same) or 'no choice'}. They leave open {'; '.join(open_)}."
    )


def members(name):
    """Say how many protocols of a search the print does not contradict."""
    found = searching.published(name)
    return Markdown(f"{int(found['member'].sum()) or 'none'} of {len(found):,}")


def rules(name):
    """Say what was searched, and how."""
    search, table = searching.read_search(name), searching.published(name)
    choices = search["choices"] | search["selections"]
    counts = ", ".join(f"{choice} ({len(levels)})" for choice, levels in choices.items())
    return Markdown(
        f"{len(table):,} protocols, {table['draws'].max()} draws of each case; the columns looked "
        f"at: {', '.join(search['columns'])}. The choices, with the number of levels of each: "
        f"{counts}."
    )


def trials(name):
    """Say how the rule fares where the truth is known, and in prints that never were."""
    search, found = searching.read_search(name), searching.published(name, "trials")
    planted, permuted = (found[found["trial"] == t] for t in ("planted", "permuted"))
    own = "normal draws with its mean and sd", "draws that the search on it did not use"
    return Markdown(
        f"*Where the truth is known*: {len(planted)} protocols stood for the paper's in turn, with "
        f"numbers from {own['moments' not in search]}. The set held the truth in "
        f"{planted['found'].mean():.0%} and had {planted['size'].mean():.0f} members on average. "
        "*Where there is no truth*: with the printed rows dealt to other cases, "
        f"{(permuted['size'] == 0).mean():.0%} of {len(permuted)} sets were empty. "
        f"({search['set']['halves']} random halves, limits at {search['set']['level']:.0%}.)"
    )


def own_tables(name):
    """Say whether the set of our own published tables, taken for print, has their protocol."""
    search, results, said = searching.read_search(name), published_results(), []
    for protocol, truth in search["own"].items():
        table = searching.set_of(search, accuracies(results, search["experiment"], protocol))
        names = set(searching.names_of(table[table["member"]]))
        there = "among them" if truth in names else "not among them"
        outside = " (whose protocol is not in the search)" if truth == "none" else ""
        found = f"{len(names)} protocols, the true one {there}" if names else "the set is empty"
        said.append(f"*{protocol}*{outside}: {found}")
    return Markdown(f"*Our own published tables, searched like the paper's*: {'; '.join(said)}.")


def best(name, rows=10):
    """Tabulate the protocols that pass in most halves, then those that come nearest."""
    table = searching.published(name)
    order = table.sort_values(["passed", "score"], ascending=[False, True], kind="stable")
    first = order.head(max(rows, table["member"].sum()))
    shown = {
        "Protocol": searching.names_of(first).str.replace(" | ", "; "),
        "Misses by": first["score"].map("{:.4f}".format),
        "Within chance in": first["passed"].map("{:.0%} of the halves".format),
        "In the set": first["member"].map({1: "yes", 0: "no"}),
    }
    about = "Protocols by how often both halves miss the printed numbers by chance alone"
    return Markdown(captioned(pd.DataFrame(shown), about, f"search-{name}-best", "worded"))


def figure(name):
    """Draw every protocol by its distance from print, members filled, beside permuted prints."""
    table, found = (searching.published(name, kind) for kind in ("search", "trials"))
    table = table.sort_values("score")
    figure, (axis,) = new_figure(7.6, 3.4)
    rank, member = np.arange(1, len(table) + 1), table["member"] == 1
    for part, label, fill, edge in (
        (member, "in the set", COLORS["blue"], COLORS["blue"]),
        (~member, "not in it", "none", COLORS["grey"]),
    ):
        axis.plot(table["score"][part], rank[part], "o", ms=4, label=label, mfc=fill, mec=edge)
    chance = np.quantile(found.loc[found["trial"] == "permuted", "best"], [0.05, 0.95])
    axis.axvspan(*chance, color=COLORS["red"], alpha=0.15, lw=0, label="nearest, rows shuffled")
    axis.set(xlabel="root mean square distance from the paper", ylabel="rank", yscale="log")
    axis.invert_yaxis()
    axis.legend(loc="upper right", frameon=False)
    return figure


# Table 3: what cannot be, and what a slip could do


def nearest_pair(one="USPS5v6", other="USPS3v8"):
    """Say how near correct cross-validation comes to two printed cells that exclude each other."""
    target, said = printed_means("biased")[NO_WEIGHTS][[one, other]], []
    for once in (False, True):
        wide = pd.concat([_correct(n, once)[[one, other]] for n in ("biased", _LAST["biased"])])
        missed = (wide - target).abs().max(axis=1).to_numpy()
        near = wide.iloc[missed.argmin()]
        said.append(
            f"of {len(wide):,} the nearest has {near[one]:.3f} and {near[other]:.3f}, "
            f"{100 * missed.min():.0f} points off in one of the two"
        )
    every = 100 * searching.published(_LAST["biased"]).groupby("variant")["score"].min()
    return Markdown(
        f"The paper has {one} at {target[one]:.3f} beside {other} at {target[other]:.3f} without "
        f"weights. Take the protocols in which cross-validation scores the very kernel of the "
        f"final fit, on both classes. With omega drawn in each run none has both: {said[0]}. With "
        f"one omega for all runs of a dataset, that of the largest mean gap among ten of ours, "
        f"{said[1]}. Over all cells, slips included, the nearest protocol misses by "
        f"{every['drawn in each run']:.1f} points with omega drawn in each run and by "
        f"{every['one for all runs']:.1f} with one for all."
    )


def _correct(name, once):
    """Means without weights of the protocols that contain no slip, with one omega or with many."""
    table = searching.published(name)
    level = levels(table, searching.read_search(name))
    wanted = level.iloc[:, 0].isin(["one for all runs", "one direction for all runs"]) == once
    for choice, right in (("final kernel", "of cross-validation"), ("scored on", "both classes")):
        wanted &= level.get(choice, right) == right
    wide = table[wanted].filter(regex=rf"^mean\|.*\|{NO_WEIGHTS}$")
    return wide.rename(columns=lambda name: name.split("|")[1])


def mixtures_figure():
    """Draw the printed sds beside those of a mixture of runs that work and runs that collapse.

    A collapsed run has the share of the larger class, one that works what tuned settings reach;
    the printed mean then says how many collapsed, and with it how far the runs would spread.
    """
    tuned, printed = case_means(published_results(), "biased", "tuned"), values("biased")
    works = np.array([tuned.at[cell.case, cell.method] for cell in printed.itertuples()])
    labels = {case: pd.Series(load_case(case).y) for case in tuned.index}
    collapsed = {case: y.value_counts(normalize=True).max() for case, y in labels.items()}
    apart = works - printed["case"].map(collapsed)
    share = ((works - printed["mean"]) / apart).clip(0, 1).where(apart > 0, 0)  # that collapsed
    printed["expected"] = np.sqrt(share * (1 - share)) * apart.abs()
    figure, (axis,) = new_figure(6.2, 4.2)
    columns = printed.groupby("method", sort=False)
    for (method, cells), color in zip(columns, COLORS.values(), strict=False):
        axis.plot(cells["expected"], cells["sd"], "o", color=color, label=method)
    for cell in printed[printed["sd"] > 0.1].itertuples():
        style = {"fontsize": 7, "xytext": (3, 3), "textcoords": "offset points"}
        axis.annotate(cell.case, (cell.expected, cell.sd), **style)
    axis.axline((0, 0), slope=1, color=COLORS["grey"], lw=1)
    axis.set(xlabel="sd of a mixture of the two, with the printed mean", ylabel="printed sd")
    axis.legend(frameon=False)
    return figure


# The columns that took no part in a search, and DDR's inner choices


def _candidates(experiment):
    """The protocols that a search had run with weights and with DDR."""
    names = sorted(name for e, name in published_parameters() if e == experiment)
    return [name for name in names if name.startswith("slip:") or name == "four-costs"]


def column_of(results, experiment, protocol, column):
    """Compare a column with print; in `uLSIF: posterior` and the like the first word names it."""
    runs, method = runs_of(results, experiment, protocol), column.partition(":")[0]
    cells = compare(runs[runs["method"] == column].assign(method=method), experiment, protocol)
    return cells[cells["method"] == method].set_index("case")


def _rms(off):
    return float(np.sqrt(np.mean(np.square(off))))


def distance(cells):
    """Root mean square miss of the means and sds of a column."""
    return _rms(np.hypot(cells["delta"], cells["sd"] - cells["paper_sd"]))


def _beside(cells):
    joint = compare_columns(cells).iloc[0]
    return {
        "Runs": cells["n"].max(),
        "Misses by": f"{distance(cells):.4f}",
        "Agree, near, differ": tally(cells["value"], "agrees", "near", "differs"),
        "Bias, points": points(joint["bias"]),
        "Joint test": f"p = {joint['p']:.2g}",
        "Correlation of means": f"{cells['mean'].corr(cells['paper_mean']):.2f}",
    }


def columns(results, experiment):
    """Tabulate how the published protocol and the candidates lie beside print, by column."""
    rows = [
        {"Protocol": protocol.removeprefix("slip:"), "Column": column} | _beside(cells)
        for protocol in ("matched", *_candidates(experiment))
        for column in printed_means(experiment)
        if (cells := column_of(results, experiment, protocol, column))["n"].all()
    ]
    about = f"{table_title(experiment)} under the published protocol and under the candidates"
    return Markdown(captioned(pd.DataFrame(rows), about, f"search-{experiment}-columns", "worded"))


def ranked(results):
    """Members of Table 4's set, nearest to the uLSIF column first.

    Of each: what sets it apart, its cells, its distance, and how far chance alone takes 30 runs of
    its own from our number of them (95 %).
    """
    search, rows = searching.read_search("cross"), []
    found = searching.published("cross").query("member == 1")
    names = levels(found, search).loc[:, lambda names: names.nunique() > 1]
    members = zip(names.to_numpy(), searching.members_of(search, found), strict=True)
    for apart, (protocol, by) in members:
        column = f"{RIVAL}: {by}"
        cells = column_of(results, "cross", protocol["protocol"], column)
        draws = accuracies(results, "cross", protocol["protocol"])[column].unstack("seed")
        draws, sizes = draws.loc[cells.index].to_numpy()[None], (ledger()["runs"], draws.shape[1])
        most = searching.limits(draws, search["set"], np.ones((1, len(cells))), sizes).item()
        rows.append(("; ".join(apart), cells, distance(cells), most))
    return sorted(rows, key=lambda row: row[2])


def ranking(results):
    """Tabulate the members of Table 4's set by the uLSIF column."""
    rows = [
        dict(zip(("Scaling", "Values of C; folds; called by"), name.split("; ", 1), strict=True))
        | _beside(cells)
        | {"Chance, up to": f"{most:.4f}"}
        for name, cells, _, most in ranked(results)
    ]
    about = "Members of Table 4's set by the uLSIF column, which took no part in the search"
    return Markdown(captioned(pd.DataFrame(rows), about, "search-ranking", "worded"))


def nearest_member(results):
    """Say which member comes nearest to the uLSIF column, and how many are within chance."""
    found = ranked(results)
    (name, cells, nearest, _), within = found[0], sum(miss <= most for *_, miss, most in found)
    matched = distance(column_of(results, "cross", "matched", RIVAL))
    return Markdown(
        f"By the column of uLSIF, which took no part, *{name}* comes nearest of "
        f"{len(found)} members: it misses the printed means and standard deviations by "
        f"{100 * nearest:.1f} points (root mean square, {cells['n'].max()} runs), the last by "
        f"{100 * found[-1][2]:.1f}, the published protocol by {100 * matched:.1f}. "
        f"{within or 'None'} of the members {'is' if within == 1 else 'are'} within chance."
    )


def _inner_runs(results, name):
    """Accuracies of DDR and uLSIF for every protocol and inner choice, the plain choice first."""
    if name == "biased-kernels":
        for protocol in _candidates("biased"):
            wide = accuracies(results, "biased", protocol)
            for column in wide.filter(regex=f"^{METHOD}: "):
                found = wide[[column, RIVAL]].set_axis([METHOD, RIVAL], axis=1)
                yield protocol, column.partition(": ")[2], found
        return
    for universe in (BASELINE, *searching.read_search(name)["inner"]):
        wide = accuracies(results, "cross", protocol_of(universe))
        runs = wide.index.get_level_values("seed") < read()["runs"]["cross"]
        yield "matched", universe_name(universe), wide[runs]
    for protocol in ("four-costs", "tuned"):
        runs = runs_of(results, "cross", protocol).set_index(["case", "seed", "method"])
        plain, information = (runs[of].unstack() for of in ("accuracy", "mutual_information"))
        rose = information[METHOD] > information[NO_WEIGHTS]
        kept = plain.assign(**{METHOD: plain[METHOD].where(rose, plain[NO_WEIGHTS])})
        yield protocol, "first drop", plain
        yield protocol, "first drop, the start if it did not rise", kept


def inner(results, name):
    """How far DDR's column is from the printed means under its inner choices, on either half."""
    search, rows = searching.read_search(name), []
    printed = printed_means(search["experiment"])[METHOD]
    for protocol, choice, runs in _inner_runs(results, name):
        means = runs.groupby(level="case").mean()
        off, gain = means[METHOD] - printed, 100 * (means[METHOD] - means[RIVAL]).mean()
        half = off.index.str.endswith(tuple(search["ddr_choice"]))
        misses = _rms(off[half]), _rms(off[~half])
        rows.append((protocol, choice, len(runs) // len(means), *misses, gain))
    columns = ["protocol", "choice", "runs", "chosen_on", "judged_on", "gain"]
    table = pd.DataFrame(rows, columns=columns)
    best = table.groupby("protocol")["chosen_on"].transform("idxmin")
    return table.assign(chosen=best == table.index)


def inner_choices(results, name):
    """Tabulate DDR's inner choices, the one that is chosen on one half in bold."""
    found = inner(results, name)
    bold = "**" + found["choice"] + "**"
    shown = {
        "Protocol": found["protocol"].str.removeprefix("slip:"),
        "DDR's choice": bold.where(found["chosen"], found["choice"]),
        "Runs": found["runs"],
        "On the half of the choice": found["chosen_on"].map("{:.4f}".format),
        "On the other half": found["judged_on"].map("{:.4f}".format),
        "Gain over uLSIF": found["gain"].map(points),
    }
    about = "DDR's inner choices: root mean square miss of the printed means of its column"
    return Markdown(captioned(pd.DataFrame(shown), about, f"search-{name}-inner", "worded"))


def inner_reading(results, name):
    """Say for which protocols the choice of one half brings the other nearer to print, too."""
    table = inner(results, name).set_index("protocol")
    chosen, plain = table[table["chosen"]], table[~table.index.duplicated()]
    other = chosen["choice"] != plain["choice"]
    nearer = other & (chosen["judged_on"] < plain["judged_on"])
    names = ", ".join(f"*{name.removeprefix('slip:')}*" for name in nearer.index[nearer])
    return Markdown(
        f"For {other.sum()} of {len(other)} protocols one half chooses otherwise than its first "
        f"row. On the other half that is nearer to the paper for {names or 'none'}."
    )


def lead(results):
    """Judge the slip by the rule that was fixed before, on MNIST's DDR column.

    The uLSIF column ranks the candidates whose final kernel is a slip; DDR's inner choices are made
    on the rows that the rules name, and MNIST's rows judge.
    """
    missed, published = {}, published_parameters()
    for name in _candidates("biased"):
        if published["biased", name]["rule"]["final kernel"] != "chosen":
            missed[name] = _rms(column_of(results, "biased", name, RIVAL)["delta"])
    protocol = min(missed, key=missed.get)
    choices = inner(results, "biased-kernels").query("protocol == @protocol and chosen")
    choice = choices["choice"].item()
    mnist = column_of(results, "biased", protocol, f"{METHOD}: {choice}")
    mnist = mnist.loc[["MNIST5v6", "MNIST3v8"]]
    survives = mnist["value"].isin(["agrees", "near"]).all()
    said = " and ".join(
        f"{points(100 * row.delta)} points on {row.Index} ({row.value})"
        for row in mnist.itertuples()
    )
    return Markdown(
        f"Of {len(missed)} candidates whose final kernel is not the one that was scored, "
        f"*{protocol.removeprefix('slip:')}* comes nearest to the uLSIF column (it misses the "
        f"means by {missed[protocol]:.3f}). DDR's choices on five datasets are *{choice}*; with "
        f"them MNIST's DDR is off by {said} in {mnist['n'].max()} runs. By the rule the lead "
        f"**{'survives' if survives else 'falls'}**."
    )
