"""What the scoreboard page includes: each printed value and order beside ours, with its marks."""

import pandas as pd

from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, count_line, over_cases, runs_of
from companion.evidence.printed import cases, ledger, table_name, table_title
from companion.evidence.tables import beside, captioned, mean_sd, points, unbroken, with_interval
from companion.evidence.verdicts import ORDER_MARKS, RULE, VALUE_MARKS, summary
from companion.paths import EXPERIMENTS, PROTOCOLS


def files(evidence):
    """Give the marks, the rule and the sections of the scoreboard, one for each table."""
    return {
        "scoreboard_values.md": _marks_text(VALUE_MARKS),
        "scoreboard_orders.md": _marks_text(ORDER_MARKS),
        "scoreboard_rule.md": RULE,
    } | {f"scoreboard_{e}.md": section_text(evidence, e) for e in EXPERIMENTS}


def _marks_text(marks):
    return ";\n".join(f"- **{mark}**: {words}" for mark, words in marks.items()) + "."


def section_text(evidence, experiment):
    """Give each protocol of a table its section."""
    return "\n".join(
        f"### {table_title(experiment)}, {protocol} protocol\n\n"
        + protocol_text(evidence, experiment, protocol)
        for protocol in PROTOCOLS
    )


def protocol_text(evidence, experiment, protocol):
    """Set the runs of one protocol beside one printed table."""
    results, verdict = evidence.results, evidence.verdicts[experiment, protocol]
    lines = [
        f"- **{verdict.word.capitalize()}.** {verdict.values['n'].max()} runs of each case.",
        f"- {summary(verdict)}.",
        *(_gain_line(evidence, experiment, protocol, rival) for rival in (RIVAL, NO_WEIGHTS)),
        f"- Significant at 5 %: {METHOD} is {count_line(results, experiment, protocol)}.",
    ]
    key, name = f"{experiment}-{protocol}", table_name(experiment)
    compared = beside(results, experiment, protocol).rename(columns={"n_tr": "Samples"})
    further = further_methods(results, experiment, protocol)
    tables = [
        ("scoreboard", f"{table_title(experiment)} beside our runs", compared.map(unbroken)),
        ("orders", f"Orders that {name} tells apart", orders_table(verdict)),
        ("further", f"Further methods, not printed, in the setting of {name}", further),
    ]
    parts = [
        captioned(table, f"{about}, {protocol} protocol", f"{kind}-{key}", "numeric")
        for kind, about, table in tables
        if len(table)
    ]
    return "\n\n".join(["\n".join(lines), *parts]) + "\n"


def _gain_line(evidence, experiment, protocol, rival):
    found = over_cases(evidence.gains[experiment, protocol, rival])
    name = "no weights" if rival == NO_WEIGHTS else rival
    return (
        f"- Gain over {name}: {with_interval(found['mean'], found['low'], found['high'])} points; "
        f"{found['won']} cases won, {found['lost']} lost, significantly {found['better']} and "
        f"{found['worse']}."
    )


def orders_table(verdict):
    """Tabulate the judged pairs, those that were not kept first."""
    place = {"reversed": 0, "open": 1, "kept": 2}
    orders = verdict.orders.sort_values("order", key=lambda o: o.map(place), kind="stable")
    rows = [
        {
            "Case": row.case,
            "Above in print": row.better,
            "Below": row.worse,
            "Order": row.order,
            "Ours, points": points(row.gain),
            "p in print": f"{row.p_printed:.2g}",
            "p of ours": f"{row.p:.2g}",
        }
        for row in orders.itertuples()
    ]
    return pd.DataFrame(rows).map(unbroken)


def further_methods(results, experiment, protocol):
    """Tabulate the methods that were run and are not printed: KLIEP, KMM and their DDR forms."""
    runs = runs_of(results, experiment, protocol)
    further = runs[~runs["method"].isin(ledger()["tables"][experiment]["columns"])]
    if further.empty:
        return pd.DataFrame()
    cells = further.groupby(["case", "method"], sort=False)["accuracy"].agg(["mean", "std"])
    text = cells.apply(lambda cell: mean_sd(cell["mean"], cell["std"]), axis=1).unstack()
    table = text.reindex(cases(experiment))[further["method"].unique()].dropna(how="all")
    return table.fillna("–").map(unbroken).rename_axis("Case").reset_index()
