"""Each printed value, order and gain beside ours: the tables, sentences and figures."""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import gains
from companion.evidence import printed as paper
from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.plots import COLORS, gains_by_case, legend_below, new_figure
from companion.evidence.tables import captioned, mean_sd, points, tally, unbroken, with_interval
from companion.evidence.verdicts import WORDS, compare, effect_words, summary, worlds
from companion.paths import EXPERIMENTS, PROTOCOLS

# All tables at once. What is `judged` comes from `companion.evidence.verdicts.judge_all`.


def _row(experiment, protocol):
    name = paper.table_title(experiment).removeprefix("Paper's Table ")
    return {"Paper's table": name, "Protocol": protocol}


def verdicts_table(judged):
    """Count the values and orders of each table and protocol."""
    rows = []
    for key, verdict in judged.items():
        values_found = tally(verdict.values["value"], "agrees", "near", "differs")
        orders_found = tally(verdict.orders["order"], "kept", "open", "reversed")
        agree, kept = (f"{verdict.expected[mark]:.0f}" for mark in ("agrees", "kept"))
        row = _row(*key) | {"Verdict": verdict.word}
        row["Values: agree, near, differ (expected to agree)"] = f"{values_found} ({agree})"
        row["Orders: kept, open, reversed (expected to be kept)"] = f"{orders_found} ({kept})"
        rows.append(row)
    about = f"Verdicts on the {len(paper.values())} printed values, by table and protocol"
    return Markdown(captioned(pd.DataFrame(rows).map(unbroken), about, "headline"))


def effects_table(judged):
    """Tabulate the printed gain of DDR over uLSIF beside ours, as share and as difference."""
    rows = []
    for key, verdict in judged.items():
        found, row = verdict.effect, _row(*key)
        row |= {"Printed gain": points(found.printed), "Our gain": points(found.ours)}
        row["Share"] = effect_words(found).replace(" of the printed gain", "")
        row["Ours minus printed"] = with_interval(found.difference, found.low, found.high)
        rows.append(row)
    about = f"Mean gain of {METHOD} over {RIVAL} beside the printed one, in points"
    return Markdown(captioned(pd.DataFrame(rows), about, "effects", "worded"))


def worlds_figure(results):
    """Draw which word a table would get if the gain were as printed, halved, quartered or nil."""
    figure, axes = new_figure(7.6, 2.2, columns=3, sharey=True)
    for axis, experiment in zip(axes, EXPERIMENTS, strict=True):
        found, left = worlds(results, experiment), 0
        for word, color in zip(WORDS, ("green", "orange", "red"), strict=True):
            axis.barh(found.index, found[word], left=left, color=COLORS[color], label=word)
            left = left + found[word]
        axis.set(xlim=(0, 1), title=paper.table_title(experiment).removeprefix("Paper's "))
    axes[0].invert_yaxis()
    legend_below(figure, axes[0].get_legend_handles_labels()[0])
    return figure


def by_role(judged):
    """Count agreeing, near and differing values by what the choice had to do with the cell."""
    cells = pd.concat([verdict.values for verdict in judged.values()])
    counts = cells.groupby(["role", "protocol"])["value"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=["agrees", "near", "differs"], fill_value=0)
    order = ["never seen", "validated", "searched", "fitted"]
    return counts.reindex(pd.MultiIndex.from_product([order, PROTOCOLS], names=counts.index.names))


def roles_table(judged):
    """Tabulate the counts by role, matched and tuned as pairs."""
    shown = by_role(judged).reset_index().rename(columns=str.capitalize)
    about = "Printed means by their role in the choice of the matched protocols"
    return Markdown(captioned(shown, about, "roles"))


def unseen(judged):
    """Count the verdicts on the values that no choice looked at, by protocol."""
    return by_role(judged).loc[["validated", "never seen"]].groupby(level="protocol").sum()


def headline(judged):
    """Say how the values fare that no choice saw, matched and tuned as a pair."""
    counts = unseen(judged)
    parts = [
        f"{row.agrees} agree with {name} settings ({row.near} near, {row.differs} different)"
        for name, row in zip(PROTOCOLS, counts.loc[list(PROTOCOLS)].itertuples(), strict=True)
    ]
    return Markdown(
        f"Of {counts.iloc[0].sum()} printed means that no choice looked at, {'; '.join(parts)}."
    )


def gains_figure(results):
    """Draw the gain over uLSIF in every case: printed, matched and tuned."""
    printed = {e: paper.printed_gains(e, METHOD, RIVAL) for e in EXPERIMENTS}
    heights = [len(cases) + 2 for cases in printed.values()]
    figure, (first, long, second, unused) = new_figure(
        8.6, 0.2 * heights[-1] + 1, 2, 2, height_ratios=heights[:2]
    )
    # The long panel takes the whole height beside the two short ones.
    unused.remove()
    long.set_subplotspec(long.get_gridspec()[:, 1])
    for axis, experiment in zip((first, second, long), EXPERIMENTS, strict=True):
        ours = {f"ours, {p}": gains.paired(results, experiment, p) for p in PROTOCOLS}
        gains_by_case(axis, list(printed[experiment].index), printed[experiment], ours)
        axis.set_title(paper.table_title(experiment), loc="left")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def gains_sentence(results):
    """Say how far our gains reach, and how many intervals contain the printed gain."""
    parts = []
    for protocol in PROTOCOLS:
        rows = pd.concat([gains.paired(results, e, protocol) for e in EXPERIMENTS])
        inside = rows["printed"].between(rows["low"], rows["high"]).sum()
        parts.append(
            f"With {protocol} settings our gains over {RIVAL} reach from "
            f"{points(rows['gain'].min())} to {points(rows['gain'].max())} points, and {inside} "
            f"of {len(rows)} intervals contain the printed gain."
        )
    return Markdown(" ".join(parts))


# One table


def section(results, judged, experiment, protocol):
    """Set the runs of one protocol beside one printed table."""
    verdict = judged[experiment, protocol]
    lines = [
        f"- **{verdict.word.capitalize()}.** {verdict.values['n'].max()} runs of each case.",
        f"- {summary(verdict)}.",
        *(f"- {line}." for line in gains.over_rivals(results, experiment, protocol)),
    ]
    key, under = f"{experiment}-{protocol}", f"{protocol} protocol"
    compared = beside(results, experiment, protocol).rename(columns={"n_tr": "Samples"})
    about = f"{paper.table_title(experiment)} beside our runs, {under}"
    values = captioned(compared.map(unbroken), about, f"scoreboard-{key}", "numeric")
    about = f"Pairs of methods that {paper.table_name(experiment)} ranks, {under}"
    orders = captioned(orders_table(verdict), about, f"orders-{key}", "numeric")
    return Markdown("\n\n".join(["\n".join(lines), values, orders]))


def beside(results, experiment, protocol="matched"):
    """Paper beside ours, one row per printed value."""
    marks = gains.typefaces(results, experiment, protocol)
    rows = [
        {
            paper.ledger()["tables"][experiment]["case_name"]: cell.case,
            "Method": cell.method,
            "Value": cell.value,
            "Paper": mean_sd(cell.paper_mean, cell.paper_sd, cell.paper_typeface),
            "Ours": mean_sd(cell.mean, cell.sd, marks.get((cell.case, cell.method), "plain")),
            "Δ": points(100 * cell.delta),
            "95 % interval": _interval(cell),
            "Sd": "–" if np.isnan(cell.sd_ratio) else f"{cell.spread} ({cell.sd_ratio:.2f})",
        }
        for cell in compare(results, experiment, protocol).itertuples()
    ]
    return pd.DataFrame(rows)


def _interval(cell):
    if np.isnan(cell.low):
        return "one run: no interval" if cell.n == 1 else "–"
    return f"{points(100 * cell.low)} to {points(100 * cell.high)}"


def wide(results, experiment, protocol="matched", judged=True):
    """Our table in the paper's layout, each value with its mark unless it is not to be judged."""
    table, cells = paper.ledger()["tables"][experiment], beside(results, experiment, protocol)
    if judged:
        cells["Ours"] += " (" + cells["Value"] + ")"
    ours = cells.pivot(index=table["case_name"], columns="Method", values="Ours")
    ours = ours.loc[paper.cases(experiment), table["columns"]]
    return ours.rename_axis(columns=None).reset_index()


def orders_table(verdict):
    """Tabulate the judged pairs, those that were not kept first."""
    place = {"reversed": 0, "open": 1, "kept": 2}
    orders = verdict.orders.sort_values("order", key=lambda o: o.map(place), kind="stable")
    orders["gain"] = orders["gain"].map(points)
    orders[["p_printed", "p"]] = orders[["p_printed", "p"]].map("{:.2g}".format)
    columns = ["case", "better", "worse", "order", "gain", "p_printed", "p"]
    heads = ["Case", "Above in print", "Below", "Order", "Ours, points", "p in print", "p of ours"]
    return orders[columns].set_axis(heads, axis=1).map(unbroken)
