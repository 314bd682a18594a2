"""What the claims page includes: the verdict on each claim, with its evidence."""

import pandas as pd

from companion.evidence.claim_checks import VERDICTS
from companion.evidence.tables import captioned, unbroken

_KINDS = {"paper": "The paper's claims", "ours": "Questions of ours"}


def files(evidence):
    """Give the fragments of the claims page."""
    details = {f"claims_{by}.md": details_text(evidence.claims, by) for by in _KINDS}
    return {"claims_overview.md": overview_text(evidence.claims)} | details


def overview_text(evaluation):
    """Count the verdicts and tabulate them, the paper's claims apart from our questions."""
    parts = []
    for by, title in _KINDS.items():
        found = evaluation[evaluation["by"] == by]
        counts = [
            f"- {protocol}: {verdict_counts(verdicts)}"
            for protocol, verdicts in found.groupby("protocol", sort=False)["verdict"]
        ]
        rows = [
            {"Claim": f"{{ref}}`{name} <claim-{claim.lower()}>`", "Place": place}
            | dict(zip(of_claim["protocol"], of_claim["verdict"].map(unbroken), strict=True))
            for (claim, name, place), of_claim in found.groupby(["id", "name", "place"], sort=False)
        ]
        table = pd.DataFrame(rows).fillna("–")
        caption = f"{title} and their verdicts"
        table = captioned(table, caption, f"claims-{by}", "worded")
        parts.append("\n".join([f"{title}:", "", *counts, "", table, ""]))
    return "\n".join(parts)


def verdict_counts(verdicts):
    """Say how often each verdict was given."""
    counts = verdicts.value_counts()
    return ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts)


def details_text(evaluation, by):
    """Give each claim its section: our wording, place, verdicts with evidence."""
    sections = []
    for claim, rows in evaluation[evaluation["by"] == by].groupby("id", sort=False):
        verdicts = "\n".join(verdict_line(row) for row in rows.itertuples())
        first = rows.iloc[0]
        sections.append(
            f"(claim-{claim.lower()})=\n### {first['name']}\n\n{first['claim']} "
            f"*{first['place']}.*\n\n{verdicts}\n"
        )
    return "\n".join(sections)


def verdict_line(row):
    """Say what was found, claimed and expected, and by what evidence."""
    numbers = [
        f"{what} {value}"
        for what, value in (
            ("found", row.found),
            ("claimed", row.claimed),
            ("expected of an exact replication", row.replication),
        )
        if value != "–"
    ]
    shown = f" {', '.join(numbers)}." if numbers else ""
    return f"- **{row.verdict}** ({row.protocol}):{shown} {_sentence(row.evidence or row.reason)}"


def _sentence(text):
    # A capital where a sentence begins with a word, not where it begins with a name or a symbol.
    first = text[:1].upper() if text[1:2].islower() else text[:1]
    return f"{first}{text[1:]}."
