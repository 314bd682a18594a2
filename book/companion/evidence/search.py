"""The searches for a protocol: what the print does not contradict, what is shared, what is open."""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import protocol_search as searching
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, accuracies, runs_of
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import printed_means, table_title, values
from companion.evidence.tables import captioned, points, tally, unbroken
from companion.evidence.verdicts import compare, compare_columns
from companion.paths import EXPERIMENTS
from companion.runs.experiments import load_case
from companion.runs.results import published_results

#: The search that speaks for each table.
_LAST = {"synthetic": "synthetic", "biased": "biased-kernels", "cross": "cross"}


def levels(table, search):
    """The level of every choice of each protocol."""
    names = table["variant"] + (" | " + table["grid"]).where(table["grid"] != "", "")
    choices = [*search["choices"], *search["selections"]]
    return names.str.split(" | ", regex=False, expand=True).set_axis(choices, axis=1)


def shared(table, search):
    """Levels of the members by choice, most frequent first: what they share, what is open."""
    members = levels(table[table["member"] == 1], search)
    return {choice: names.value_counts().to_dict() for choice, names in members.items()}


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
    for choice, found in shared(table, search).items():
        names = ", ".join(f"*{level}*" for level in found)
        (same if len(found) == 1 else open_).append(f"{choice}: {names}")
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
    found = levels(table, search)
    left = [] if "going" in search else [
        f"{choice}, *{level}*"
        for choice, levels in choices.items()
        for level in levels
        if level not in set(found[choice])
    ]  # fmt: skip
    missing = f" Planned and not run: {'; '.join(left)}." if left else ""
    return Markdown(
        f"{len(table):,} protocols, {table['draws'].max()} draws of each case; the columns looked "
        f"at: {', '.join(search['columns'])}. The choices, with the number of levels of each: "
        f"{counts}.{missing}"
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
        names = (table["variant"] + " | " + table["grid"]).str.removesuffix(" | ")
        there = "among them" if table["member"][names == truth].any() else "not among them"
        found = f"{int(table['member'].sum())} protocols, the true one {there}"
        outside = " (whose protocol is not in the search)" if truth == "none" else ""
        said.append(
            f"*{protocol}*{outside}: {found if table['member'].any() else 'the set is empty'}"
        )
    return Markdown(f"*Our own published tables, searched like the paper's*: {'; '.join(said)}.")


def best(name, rows=10):
    """Tabulate the protocols that pass in most halves, then those that come nearest."""
    table = searching.published(name)
    order = table.sort_values(["passed", "score"], ascending=[False, True], kind="stable")
    shown = [
        {
            "Protocol": f"{row.variant} | {row.grid}".strip(" |").replace(" | ", "; "),
            "Misses by": f"{row.score:.4f}",
            "Within chance in": f"{row.passed:.0%} of the halves",
            "In the set": "yes" if row.member else "no",
        }
        for row in order.head(max(rows, int(table["member"].sum()))).itertuples()
    ]
    about = "Protocols by how often both halves miss the printed numbers by chance alone"
    return Markdown(captioned(pd.DataFrame(shown), about, f"search-{name}-best", "worded"))


def figure(name):
    """Draw every protocol by its distance from print, members filled, beside permuted prints."""
    table, found = (searching.published(name, kind) for kind in ("search", "trials"))
    table = table.sort_values("score")
    figure, (axis,) = new_figure(7.6, 3.4)
    rank, member = np.arange(1, len(table) + 1), table["member"] == 1
    looks = {"color": COLORS["blue"]}, {"mfc": "none", "mec": COLORS["grey"]}
    for part, label, look in zip(
        (member, ~member), ("in the set", "not in it"), looks, strict=True
    ):
        axis.plot(table["score"][part], rank[part], "o", ms=4, label=label, **look)
    chance = np.quantile(found.loc[found["trial"] == "permuted", "best"], [0.05, 0.95])
    axis.axvspan(*chance, color=COLORS["red"], alpha=0.15, lw=0, label="nearest, rows shuffled")
    axis.set(xlabel="root mean square distance from the paper", ylabel="rank", yscale="log")
    axis.invert_yaxis()
    axis.legend(loc="upper right", frameon=False)
    return figure


# Table 3: what cannot be, and what a slip could do


def nearest_pair(one="USPS5v6", other="USPS3v8"):
    """Say how near correct cross-validation comes to two printed cells that exclude each other."""
    wide = pd.concat([_correct(name)[[one, other]] for name in ("biased", "biased-kernels")])
    target = printed_means("biased")[NO_WEIGHTS][[one, other]]
    missed = (wide - target).abs().max(axis=1).to_numpy()
    nearest = wide.iloc[missed.argmin()]
    return Markdown(
        f"The paper has {one} at {target[one]:.3f} beside {other} at {target[other]:.3f} without "
        f"weights. Of {len(wide):,} protocols in which cross-validation scores the very kernel of "
        f"the final fit, on both classes, and omega is drawn in each run, none has both: the "
        f"nearest has {nearest[one]:.3f} and {nearest[other]:.3f}, "
        f"{100 * missed.min():.0f} points off in one of the two."
    )


def _correct(name):
    """Means without weights of the protocols of a search that contain no slip."""
    table = searching.published(name)
    level = levels(table, searching.read_search(name))
    wanted = ~level.iloc[:, 0].isin(["one for all runs", "one direction for all runs"])
    for choice, right in (("final kernel", "of cross-validation"), ("scored on", "both classes")):
        wanted &= level.get(choice, right) == right
    return searching.cells_of(table[wanted], NO_WEIGHTS)


def mixtures_figure():
    """Draw the printed sds beside those of a mixture of runs that work and runs that collapse.

    A collapsed run has the share of the larger class, one that works what tuned settings reach;
    the printed mean then says how many collapsed, and with it how far the runs would spread.
    """
    tuned = accuracies(published_results(), "biased", "tuned").groupby(level="case").mean()
    printed = values("biased")
    collapsed = {case: _larger_class(case) for case in tuned.index}
    printed["expected"] = [
        two_point_sd(c.mean, collapsed[c.case], tuned.at[c.case, c.method])
        for c in printed.itertuples()
    ]
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


def _larger_class(case):
    counts = np.unique(load_case(case).y, return_counts=True)[1]
    return counts.max() / counts.sum()


def two_point_sd(mean, collapsed, works):
    """The sd of runs that either collapse or work, whose mean is known."""
    share = np.clip((works - mean) / (works - collapsed), 0, 1) if works > collapsed else 0.0
    return float(np.sqrt(share * (1 - share)) * abs(works - collapsed))


def _slip_protocols(results):
    return sorted(name for name in results["protocol"].unique() if name.startswith("slip:"))


def _column(results, protocol, column):
    """Compare one column of Table 3 with print; a choice within DDR has a column of its own."""
    runs, method = runs_of(results, "biased", protocol), column.partition(":")[0]
    cells = compare(runs[runs["method"] == column].assign(method=method), "biased", protocol)
    return cells[cells["method"] == method].set_index("case")


def _miss(cells):
    return float(np.sqrt(np.mean(cells["delta"] ** 2)))


def slips(results=None):
    """Tabulate what a slip could do: candidates of the second search beside the print."""
    results = published_results() if results is None else results
    rows, digits = [], ["MNIST5v6", "MNIST3v8"]
    for protocol in ("matched", *_slip_protocols(results)):
        methods = runs_of(results, "biased", protocol)["method"].unique()
        for method in methods:
            cells = _column(results, protocol, method)
            if cells.empty or cells["mean"].isna().any():
                continue  # not in print
            pairs = (cells["mean"], cells["paper_mean"]), (cells["sd"], cells["paper_sd"])
            correlations = [f"{np.corrcoef(*pair)[0, 1]:.2f}" for pair in pairs]
            rows.append(
                {
                    "Protocol": protocol.removeprefix("slip:"),
                    "Column": method,
                    "Runs": cells["n"].max(),
                    "Means off by": f"{_miss(cells):.3f}",
                    "Correlation of means": correlations[0],
                    "of sds": correlations[1],
                    "MNIST, ours minus printed": unbroken(
                        " and ".join(points(100 * cells.at[case, "delta"]) for case in digits)
                    ),
                }
            )
    about = "Table 3's columns under the candidates, beside the matched protocol"
    return Markdown(captioned(pd.DataFrame(rows), about, "search-slips", "worded"))


def lead(results=None):
    """Judge the slip by the rule that was fixed before, on MNIST's DDR column.

    The uLSIF column ranks the candidates with a slip; DDR's inner choices are made on the rows that
    the rules name, and MNIST's rows judge.
    """
    results = published_results() if results is None else results
    search = searching.read_search("biased-kernels")
    missed = {name: _miss(_column(results, name, RIVAL)) for name in _slip_protocols(results)}
    protocol = min(missed, key=missed.get)
    columns = runs_of(results, "biased", protocol)["method"].unique()
    inner = {c: _column(results, protocol, c) for c in columns if c.startswith(f"{METHOD}:")}
    column = min(inner, key=lambda c: _miss(inner[c].loc[search["ddr_choice"]]))
    mnist = inner[column].loc[["MNIST5v6", "MNIST3v8"]]
    survives = mnist["value"].isin(["agrees", "near"]).all()
    said = " and ".join(
        f"{points(100 * row.delta)} points on {row.Index} ({row.value})"
        for row in mnist.itertuples()
    )
    return Markdown(
        f"Of {len(missed)} candidates with a slip, *{protocol.removeprefix('slip:')}* comes "
        f"nearest to the uLSIF column (it misses the means by {missed[protocol]:.3f}). DDR's "
        f"choices on five datasets are *{column.partition(': ')[2]}*; with them MNIST's DDR is off "
        f"by {said}. By the rule the lead **{'survives' if survives else 'falls'}** "
        f"({mnist['n'].max()} runs of the planned {search['candidates']['runs']})."
    )


# Table 4: the columns that took no part


def left_out(results=None):
    """Tabulate how near published protocols of Table 4 come in the columns that took no part."""
    results = published_results() if results is None else results
    rows = []
    for protocol in ("matched", "four-costs"):
        table = compare(results, "cross", protocol)
        joint = compare_columns(table)
        for method, cells in table.groupby("method", sort=False):
            off = np.hypot(cells["delta"], cells["sd"] - cells["paper_sd"])
            rows.append(
                {
                    "Protocol": protocol,
                    "Column": method,
                    "Runs": cells["n"].max(),
                    "Agree, near, differ": tally(cells["value"], "agrees", "near", "differs"),
                    "Misses by": f"{np.sqrt(np.mean(off**2)):.4f}",
                    "Bias, points": points(joint.at[method, "bias"]),
                    "Joint test": f"p = {joint.at[method, 'p']:.2g}",
                }
            )
    about = "Table 4 under the published protocol and under one of the set, chosen by Unweighted"
    return Markdown(captioned(pd.DataFrame(rows), about, "search-left-out", "worded"))


def stopping_choice(results=None):
    """Choose on half of Table 4's DDR column whether the unweighted start may win; judge on it.

    The start wins where mutual information did not rise, which published rows tell.
    """
    results, rows = published_results() if results is None else results, []
    pairs, printed = searching.read_search("cross")["ddr_choice"], printed_means("cross")[METHOD]
    for protocol in ("matched", "four-costs", "tuned"):
        runs = runs_of(results, "cross", protocol).set_index(["case", "seed", "method"])
        wide = runs[["accuracy", "mutual_information"]].unstack("method")
        gain, information = wide["accuracy"], wide["mutual_information"]
        plain, rose = gain[METHOD], information[METHOD] > information[NO_WEIGHTS]
        kept = plain.where(rose, gain[NO_WEIGHTS])
        for label, column in (("first drop", plain), ("first drop, the start may win", kept)):
            off = (column.groupby("case").mean() - printed) ** 2
            chosen = off.index.str.endswith(tuple(pairs))
            over = 100 * (column - gain[RIVAL]).groupby("case").mean().mean()
            rows.append(
                {
                    "Protocol": protocol,
                    "DDR stops at": label,
                    "On the half of the choice": f"{np.sqrt(off[chosen].mean()):.4f}",
                    "On the other half": f"{np.sqrt(off[~chosen].mean()):.4f}",
                    "Gain over uLSIF": points(over),
                }
            )
    about = "Table 4's DDR column by DDR's stopping: root mean square miss of the printed means"
    return Markdown(captioned(pd.DataFrame(rows), about, "search-stopping", "worded"))
