"""What the audit page includes: arithmetic on the printed numbers, as tables and sentences."""

import pandas as pd

from companion.evidence import printed_audit as audit
from companion.evidence.printed import ledger
from companion.evidence.tables import captioned


def files(evidence=None):
    """Give the fragments of the audit page."""
    return {
        "audit_bold.md": bold_text(),
        "audit_counts.md": counts_text(),
        "audit_orders.md": orders_text(),
        "audit_plain.md": plain_text(),
    }


def bold_text():
    """Say how many bold cells a Welch test confirms, and list the pairs that it does not."""
    tests = audit.bold_tests()
    reached = tests.groupby(["experiment", "case"])["reached"].all()
    missed = tests[~tests["reached"]]
    beyond = missed.loc[missed["needed_correlation"] > 1, "case"].unique()
    numbers = {name: table["number"] for name, table in ledger()["tables"].items()}
    table = pd.DataFrame(
        {
            "Paper's table": missed["experiment"].map(numbers),
            "Case": missed["case"],
            "Rival": missed["rival"],
            "Gain (points)": (100 * missed["gain"]).map("{:.2f}".format),
            "p (Welch)": missed["p_welch"].map("{:.2f}".format),
            "Correlation a paired test needs": [
                "none suffices" if r > 1 else f"{r:.2f}" for r in missed["needed_correlation"]
            ],
        }
    )
    sentence = (
        f"{len(reached)} rows have a single method in bold. From the printed means and standard "
        f"deviations, with 30 runs each and Welch's test at 5 %, {reached.sum()} of them are "
        f"significant against both rivals and {(~reached).sum()} miss 5 % against at least one. "
        "A paired test could differ: the last column of {numref}`audit-bold` says how strongly the "
        "runs of the two methods must be correlated for it to reach 5 %. "
        f"For {' and '.join(beyond)} no pairing of 30 runs reaches it."
    )
    caption = "Pairs of a bold method and a rival that Welch's test does not tell apart"
    return f"{sentence}\n\n{captioned(table, caption, 'audit-bold')}\n"


def counts_text():
    """Tabulate the counts behind the three sentences on improvements."""
    found = audit.improvement_counts()
    # In Section 5.3 the paper names the rival; in Section 5.2 it leaves it open.
    found = found[(found["place"] == "Section 5.2") | (found["rival"] == "uLSIF")]
    table = pd.DataFrame(
        {
            "Cases": found["scenario"],
            "Stated": [_stated(row) for row in found.itertuples()],
            "Gain over": found["rival"],
            "Read as": found["measure"].map({"points": "points", "relative": "relative percent"}),
            "Digits": found["rounding"],
            "Reach the lower bound": found["count_at_least"],
            "Lie in the range": found["count_in_range"],
            "Lower bound as stated": found["agrees"].map({True: "yes", False: "no"}),
        }
    )
    caption = "How many printed gains reach a stated bound, by reading of the sentence"
    return captioned(table, caption, "audit-counts") + "\n"


def _stated(row):
    if row.high == float("inf"):
        return f"{row.stated} above {row.low:g} %"
    return f"{row.stated} from {row.low:g} % to {row.high:g} %"


def orders_text():
    """Tabulate how often one printed column is above another."""
    found = audit.counts()
    cells = found["count"].astype(str) + " of " + found["cases"].astype(str)
    wide = found.assign(cell=cells).pivot(index="question", columns="experiment", values="cell")
    titles = {name: f"Paper's Table {t['number']}" for name, t in ledger()["tables"].items()}
    table = wide.loc[found["question"].unique(), [*titles]].fillna("–").rename(columns=titles)
    table = table.rename_axis("In the printed tables").reset_index()
    caption = "How often one printed column is above another"
    return captioned(table, caption, "audit-orders", "numeric") + "\n"


def plain_text():
    """Say what the typefaces and the spread of the printed numbers show besides."""
    plain = audit.best_without_emphasis()
    rows = "; ".join(
        f"{row.case} ({row.method}, ahead by {100 * row.margin:.2f} points)"
        for row in plain.itertuples()
    )
    spread = audit.sampling_spread()
    return (
        f"- In {len(plain)} rows the best average carries no emphasis: {rows}.\n"
        f"- Synthetic table: drawing 2000 test points anew in each run makes any accuracy vary. "
        f"The printed standard deviations are {spread['ratio'].min():.2f} to "
        f"{spread['ratio'].max():.2f} times that sampling spread, and "
        f"{spread['plausible'].sum()} of {len(spread)} lie where 30 such runs would put them or "
        "above.\n"
    )
