"""What the scoreboard page includes: each printed value beside ours, with its verdict."""

from pathlib import Path

import pandas as pd

from companion.evidence.printed import EXPERIMENTS, compare, ledger, ours, summary
from companion.evidence.significance import count_line, significance
from companion.evidence.tables import beside, mean_sd
from companion.pages.stored import PROTOCOLS, missing_sentence, stored_runs, table_name, table_title
from companion.pages.text import captioned, unbroken
from companion.runs.results import published_results

__all__ = ["further_methods", "protocol_text", "section_text", "write"]


def write(folder, results=None):
    """Write the fragments of the scoreboard, one for each table of the paper."""
    results = published_results() if results is None else results
    paths = []
    for experiment in EXPERIMENTS:
        paths.append(Path(folder) / f"scoreboard_{experiment}.md")
        paths[-1].write_text(section_text(results, experiment), encoding="utf-8")
    return paths


def section_text(results, experiment):
    """Give each protocol of a table its section."""
    return "\n".join(
        f"### {table_title(experiment)}, {protocol} protocol\n\n"
        + protocol_text(results, experiment, protocol)
        for protocol in PROTOCOLS
    )


def protocol_text(results, experiment, protocol):
    """Set the runs of one protocol beside one printed table."""
    missing = missing_sentence(results, experiment, protocol)
    if not stored_runs(results, experiment, protocol)[0]:
        return missing + "\n"
    compared = compare(results, experiment, protocol)
    tested = significance(results, experiment, protocol)
    parts = [
        missing,
        f"- {_runs(compared)}; {summary(compared)}.\n"
        f"- Significant at 5 %: DDR-uLSIF is {count_line(tested)}.",
        captioned(
            _compact(beside(results, experiment, protocol)),
            f"{table_title(experiment)} beside our runs, {protocol} protocol",
            f"scoreboard-{experiment}-{protocol}",
        ),
    ]
    further = further_methods(results, experiment, protocol)
    if not further.empty:
        parts.append("Methods that the paper does not print, on the same draws:")
        parts.append(
            captioned(
                further.map(unbroken),
                f"Further methods in the setting of {table_name(experiment)}, {protocol} protocol",
                f"further-{experiment}-{protocol}",
            )
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _runs(compared):
    fewest, most = compared["n"].min(), compared["n"].max()
    return f"{most} runs of each case" if fewest == most else f"{fewest} to {most} runs of a case"


def _compact(table):
    """Fit the table on a page: letters, whose words the page explains, and unbroken numbers."""
    # The verdict stands early, where a phone shows it without scrolling.
    table.insert(2, "Verdict", table.pop("Verdict").str.split(":").str[0])
    if table["Runs"].nunique() == 1:
        table = table.drop(columns="Runs")
    table = table.rename(columns={"n_tr": "Samples", "95 % interval of Δ": "95 % interval"})
    return table.map(unbroken)


def further_methods(results, experiment, protocol):
    """Tabulate the methods that were run and are not printed: KLIEP, KMM and their DDR forms."""
    runs = ours(results, experiment, protocol)
    further = runs[~runs["method"].isin(ledger()["tables"][experiment]["columns"])]
    if further.empty:
        return pd.DataFrame()
    cells = further.groupby(["case", "method"], sort=False)["accuracy"].agg(["mean", "std"])
    text = cells.apply(lambda cell: mean_sd(cell["mean"], cell["std"]), axis=1).unstack()
    order = [str(c) for c in ledger()["tables"][experiment]["rows"] if str(c) in text.index]
    methods = [m for m in further["method"].unique() if m in text]
    return text.loc[order, methods].fillna("–").rename_axis("Case").reset_index()
