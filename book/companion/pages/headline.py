"""The counts and gains of all tables at once: above the scoreboard, and what the README says."""

import pandas as pd

from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, over_cases
from companion.evidence.printed import printed_gains, table_title, values
from companion.evidence.tables import captioned, points, unbroken, with_interval
from companion.figures.gains import gains_of_all_cases
from companion.pages import figure_text
from companion.pages.claims import verdict_counts
from companion.paths import EXPERIMENTS, PROTOCOLS


def files(evidence):
    """Give the two tables, each narrow enough for a page, and the picture of every case."""
    table = headline_table(evidence)
    gained = table.filter(regex="Paper's table|Protocol|Gain|Better")
    judged = table.drop(columns=gained.columns[2:])
    values_about = f"Verdicts on the {len(values())} printed values, by table and protocol"
    gains_about = f"Mean gain of {METHOD} in points, by table and protocol"
    figure = figure_text(
        "headline_gains",
        figure_alt(evidence),
        560,
        f"Gain of {METHOD} over {RIVAL} in each case: the paper's beside ours, with the 95 % "
        "interval over the runs. The paper prints no paired differences, so its gains carry no "
        "interval.",
    )
    return {
        "headline_values.md": captioned(judged, values_about, "headline"),
        "headline_means.md": captioned(gained, gains_about, "headline-gains"),
        "headline_cases.md": figure,
        "headline_gains.png": gains_of_all_cases(evidence.gains),
        "headline_claims.md": f"{claims_sentence(evidence)} {{doc}}`claims` has each claim with "
        "its evidence.",
    }


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


def claims_sentence(evidence):
    """Count the verdicts on the paper's claims and on our questions."""
    parts = []
    for by, name in (("paper", "claims of the paper"), ("ours", "questions of ours")):
        found = evidence.claims[evidence.claims["by"] == by]
        shown = "; ".join(
            f"{'in small computations' if p == 'live' else f'by {p} runs'} {verdict_counts(words)}"
            for p, words in found.groupby("protocol", sort=False)["verdict"]
        )
        parts.append(f"Verdicts on {found['id'].nunique()} {name}: {shown}.")
    return " ".join(parts)


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
