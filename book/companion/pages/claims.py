"""What the claims page includes: the verdict on each claim, with its evidence."""

from pathlib import Path

import pandas as pd

from companion.evidence.claims import claims, evaluate_claims
from companion.pages.text import captioned, counted
from companion.runs.results import published_results

__all__ = ["details_text", "overview_text", "write"]

_PROTOCOLS = ("matched", "tuned", "live")
#: What several claims do where one does what the verdict says.
_PLURAL = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not hold"}


def write(folder, results=None):
    """Write the fragments of the claims page."""
    evaluation = evaluate_claims(published_results() if results is None else results)
    paths = [Path(folder) / "claims_overview.md", Path(folder) / "claims_details.md"]
    paths[0].write_text(overview_text(evaluation), encoding="utf-8")
    paths[1].write_text(details_text(evaluation), encoding="utf-8")
    return paths


def overview_text(evaluation):
    """Count the verdicts and tabulate them."""
    short = evaluation.assign(verdict=evaluation["verdict"].str.split(":").str[0])
    lines = []
    for protocol in _PROTOCOLS:
        counts = short.loc[short["protocol"] == protocol, "verdict"].value_counts(sort=False)
        parts = ", ".join(counted(n, v, _PLURAL.get(v, v)) for v, n in counts.items())
        lines.append(f"- {protocol}: {parts}")
    wide = short.pivot(index="id", columns="protocol", values="verdict")
    rows = [
        {"Claim": f"[{c['id']}](#{c['id'].lower()})", "Place": c["place"]}
        | {p: _cell(wide, c["id"], p) for p in _PROTOCOLS}
        for c in claims()
    ]
    table = captioned(pd.DataFrame(rows), "Each claim and its verdicts", "claims-overview")
    return "\n".join(lines) + f"\n\n{table}\n"


def _cell(wide, claim, protocol):
    verdict = wide[protocol].get(claim) if protocol in wide else None
    return verdict if isinstance(verdict, str) else "–"


def details_text(evaluation):
    """Give each claim its section: our wording, place, verdicts with evidence."""
    sections = []
    for claim, rows in evaluation.groupby("id", sort=False):
        verdicts = "\n".join(_verdict_line(row) for row in rows.itertuples())
        first = rows.iloc[0]
        sections.append(f"### {claim}\n\n{first['claim']} *{first['place']}.*\n\n{verdicts}\n")
    return "\n".join(sections)


def _verdict_line(row):
    verdict, _, reason = row.verdict.partition(": ")
    return f"- **{verdict}** ({row.protocol}): {row.evidence or reason}."
