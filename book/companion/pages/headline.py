"""The counts and gains of all tables at once: above the scoreboard, and what the README says."""

import pandas as pd

from companion.evidence.claims import VERDICTS
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, over_cases
from companion.evidence.printed import printed_gains, table_title, values
from companion.evidence.tables import captioned, points, unbroken, with_interval
from companion.figures.gains import gains_of_all_cases
from companion.paths import EXPERIMENTS, PROTOCOLS

FIGURE = "headline_gains.png"


def files(evidence):
    """Give the fragment and the figure."""
    return {"headline.md": headline_text(evidence), FIGURE: gains_figure(evidence)}


def headline_text(evidence):
    """Put the two tables, their legend and the picture of every case together."""
    table = headline_table(evidence)
    gained = table.filter(regex="^(Paper's table|Protocol|Gain|Better)")
    judged = table.filter(regex="^(Paper's table|Protocol|Verdict|Values|Orders)")
    values_table = captioned(
        judged, f"Verdicts on the {len(values())} printed values, by table and protocol", "headline"
    )
    gains_table = captioned(
        gained, f"Mean gain of {METHOD} in points, by table and protocol", "headline-gains"
    )
    return f"""{values_table}

{gains_table}

{legend()}

```{{figure}} _generated/{FIGURE}
:name: fig-headline-gains
:alt: {figure_alt(evidence)}
:width: 560px

Gain of {METHOD} over {RIVAL} in each case: the paper's beside ours, with the 95 % interval over
the runs. The paper prints no paired differences, so its gains carry no interval.
```

{claims_sentence(evidence)} {{doc}}`claims` has each claim with its evidence.
"""


def headline_table(evidence):
    """Count values, orders and gains for each table and protocol."""
    rows = []
    for (experiment, protocol), verdict in evidence.verdicts.items():
        name = table_title(experiment).removeprefix("Paper's Table ")
        row = {"Paper's table": name, "Protocol": protocol, "Verdict": verdict.word}
        row["Values: agree, near, differ (expected)"] = _counts(
            verdict.values["value"], ("agrees", "near", "differs"), verdict.expected["agrees"]
        )
        row["Orders: kept, open, reversed (expected)"] = _counts(
            verdict.orders["order"], ("kept", "open", "reversed"), verdict.expected["kept"]
        )
        row["Gain over uLSIF in print"] = points(printed_gains(experiment, METHOD, RIVAL).mean())
        for rival, title in ((RIVAL, "uLSIF"), (NO_WEIGHTS, "no weights")):
            found = over_cases(evidence.gains[experiment, protocol, rival])
            row[f"Gain over {title}"] = with_interval(found["mean"], found["low"], found["high"])
            counts = f"{found['better']}, {found['worse']} of {found['cases']}"
            row[f"Better, worse than {title}"] = counts
        rows.append({name: unbroken(cell) for name, cell in row.items()})
    return pd.DataFrame(rows)


def _counts(found, marks, expected):
    return f"{', '.join(str((found == mark).sum()) for mark in marks)} ({expected:.0f})"


def legend():
    """Explain the columns of the headline table."""
    return (
        "In brackets stands how many values would agree, and orders be kept, in an exact "
        "replication. Orders are those of two methods that the printed numbers themselves tell "
        "apart. Gains are in points of accuracy, means over the cases with 95 % intervals; "
        "*better* and *worse* count the cases that a paired t-test at 5 % confirms."
    )


def claims_sentence(evidence):
    """Count the verdicts on the paper's claims and on our questions."""
    parts = []
    for by, name in (("paper", "claims of the paper"), ("ours", "questions of ours")):
        found = evidence.claims[evidence.claims["by"] == by]
        shown = []
        for protocol, verdicts in found.groupby("protocol", sort=False)["verdict"]:
            counts = verdicts.value_counts()
            words = ", ".join(f"{v} {counts[v]}" for v in VERDICTS if v in counts)
            runs = "in small computations" if protocol == "live" else f"by {protocol} runs"
            shown.append(f"{runs} {words}")
        parts.append(f"Verdicts on {found['id'].nunique()} {name}: {'; '.join(shown)}.")
    return " ".join(parts)


def gains_figure(evidence, columns=1):
    """Draw the gain over uLSIF in each case: printed, matched and tuned."""
    gains = {key[:2]: table for key, table in evidence.gains.items() if key[2] == RIVAL}
    return gains_of_all_cases(gains, columns)


def figure_alt(evidence):
    """Describe the figure for those who do not see it."""
    cases = sum(len(printed_gains(e, METHOD, RIVAL)) for e in EXPERIMENTS)
    sentences = [
        f"Dot plot of the gain of {METHOD} over {RIVAL} in {cases} cases, a panel for each table."
    ]
    for protocol in PROTOCOLS:
        gains = pd.concat([evidence.gains[e, protocol, RIVAL] for e in EXPERIMENTS])
        inside = gains["printed"].between(gains["low"], gains["high"]).sum()
        sentences.append(
            f"With {protocol} settings our gains range from {points(gains['gain'].min())} to "
            f"{points(gains['gain'].max())} points, and {inside} of {len(gains)} intervals "
            "contain the printed gain."
        )
    return " ".join(sentences)
