"""Each printed value and order beside ours: the tables, sentences and figure of the scoreboard."""

import pandas as pd
from IPython.display import Markdown

from companion.evidence.claims import evaluate_claims, verdict_counts
from companion.evidence.gains import (
    METHOD,
    NO_WEIGHTS,
    RIVAL,
    count_line,
    over_cases,
    paired,
)
from companion.evidence.plots import gains_of_all_cases
from companion.evidence.printed import table_name, table_title, values
from companion.evidence.tables import beside, captioned, points, unbroken, with_interval
from companion.evidence.verdicts import judge, summary
from companion.paths import EXPERIMENTS, PROTOCOLS

_RIVALS = {RIVAL: "uLSIF", NO_WEIGHTS: "no weights"}


def marks(words):
    """List marks with the words that explain them."""
    return Markdown("\n".join(f"- **{mark}**: {meaning};" for mark, meaning in words.items()))


# All tables at once


def verdicts_table(results):
    """Count the values and orders of each table and protocol."""
    rows = []
    for verdict, row in _tables(results):
        values_found = _counts(verdict.values["value"], ("agrees", "near", "differs"))
        orders_found = _counts(verdict.orders["order"], ("kept", "open", "reversed"))
        row["Verdict"] = verdict.word
        row["Values: agree, near, differ (expected to agree)"] = (
            f"{values_found} ({verdict.expected['agrees']:.0f})"
        )
        row["Orders: kept, open, reversed (expected to be kept)"] = (
            f"{orders_found} ({verdict.expected['kept']:.0f})"
        )
        rows.append(row)
    about = f"Verdicts on the {len(values())} printed values, by table and protocol"
    return Markdown(captioned(pd.DataFrame(rows).map(unbroken), about, "headline"))


def _tables(results):
    for protocol in PROTOCOLS:
        for experiment in EXPERIMENTS:
            name = table_title(experiment).removeprefix("Paper's Table ")
            row = {"Paper's table": name, "Protocol": protocol}
            yield judge(results, experiment, protocol), row


def _counts(found, names):
    return ", ".join(str((found == name).sum()) for name in names)


def all_gains(results):
    """Give the gains over uLSIF of every table and protocol."""
    return {(e, p): paired(results, e, p, rival=RIVAL) for p in PROTOCOLS for e in EXPERIMENTS}


def gains_figure(results, columns=1):
    """Draw the gain over uLSIF in every case: printed, matched and tuned."""
    return gains_of_all_cases(all_gains(results), columns)


def gains_sentence(results):
    """Say how far our gains reach, and how many intervals contain the printed gain."""
    gains, parts = all_gains(results), []
    for protocol in PROTOCOLS:
        rows = pd.concat([gains[e, protocol] for e in EXPERIMENTS])
        inside = rows["printed"].between(rows["low"], rows["high"]).sum()
        parts.append(
            f"With {protocol} settings our gains over {RIVAL} reach from "
            f"{points(rows['gain'].min())} to {points(rows['gain'].max())} points, and {inside} "
            f"of {len(rows)} intervals contain the printed gain."
        )
    return Markdown(" ".join(parts))


def claims_sentence(results):
    """Count the verdicts on the paper's claims and on our questions, as far as runs decide."""
    found, parts = evaluate_claims(results, live=False), []
    for by, name in (("paper", "claims of the paper"), ("ours", "questions of ours")):
        of_kind = found[found["by"] == by]
        shown = "; ".join(
            f"{protocol} runs {verdict_counts(words)}"
            for protocol, words in of_kind.groupby("protocol", sort=False)["verdict"]
        )
        parts.append(f"Verdicts on {of_kind['id'].nunique()} {name} that runs can test: {shown}.")
    return Markdown(" ".join(parts))


# One table


def section(results, experiment, protocol):
    """Set the runs of one protocol beside one printed table."""
    verdict = judge(results, experiment, protocol)
    lines = [
        f"- **{verdict.word.capitalize()}.** {verdict.values['n'].max()} runs of each case.",
        f"- {summary(verdict)}.",
        *(_gain_line(results, experiment, protocol, rival) for rival in _RIVALS),
        f"- Significant at 5 %: {METHOD} is {count_line(results, experiment, protocol)}.",
    ]
    key, name = f"{experiment}-{protocol}", table_name(experiment)
    compared = beside(results, experiment, protocol).rename(columns={"n_tr": "Samples"})
    tables = [
        ("scoreboard", f"{table_title(experiment)} beside our runs", compared.map(unbroken)),
        ("orders", f"Pairs of methods that {name} ranks", orders_table(verdict)),
    ]
    parts = [
        captioned(table, f"{about}, {protocol} protocol", f"{kind}-{key}", "numeric")
        for kind, about, table in tables
        if len(table)
    ]
    return Markdown("\n\n".join(["\n".join(lines), *parts]))


def _gain_line(results, experiment, protocol, rival):
    found = over_cases(paired(results, experiment, protocol, rival=rival))
    return (
        f"- Gain over {_RIVALS[rival]}: "
        f"{with_interval(found['mean'], found['low'], found['high'])} points; "
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
