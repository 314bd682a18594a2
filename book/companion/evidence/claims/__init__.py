"""The paper's claims and our own questions, each with a check that computes its verdict.

They are in ``book/claims.yml``; the checks in ``checks`` (from stored runs) and
``computations`` (small computations).
"""

import pandas as pd
from IPython.display import Markdown

from companion.evidence.claims import checks, computations
from companion.evidence.claims.checks import VERDICTS, Finding, NotTested
from companion.evidence.tables import captioned, rubric
from companion.paths import BOOK, read_yaml

_KINDS = {"paper": "The paper's claims", "ours": "Questions of ours"}


def claims():
    """Read the claims."""
    return read_yaml(BOOK / "claims.yml")


def evaluate_claims(results, live=True, ids=None):
    """Judge every claim, or some; those that need a computation and no runs only if `live`."""
    rows = []
    for entry in claims():
        about = {key: entry[key] for key in ("id", "name", "by", "place", "claim")}
        for protocol, expected in entry["expected"].items():
            if (live or protocol != "live") and (ids is None or entry["id"] in ids):
                found = _evaluate(entry, protocol, results)._asdict()
                rows.append(about | {"protocol": protocol, **found, "expected": expected})
    return pd.DataFrame(rows, dtype=object)


def _evaluate(entry, protocol, results):
    check = (vars(checks) | vars(computations))[entry["check"]]
    try:
        return check(results, protocol, **entry["settings"])
    except NotTested as reason:
        return Finding("not tested", "–", evidence=str(reason))


def overview(judged, by, name):
    """Set what the paper says (or we ask) beside what was found, and how sure that is."""
    judged, rows = judged[judged["by"] == by], []
    for (claim, title), found in judged.groupby(["id", "name"], sort=False):
        row = {"Claim": f"{{ref}}`{title} <claim-{claim.lower()}>`"}
        rows.append(row | {f.protocol: _brief(f) for f in found.itertuples()})
    table = pd.DataFrame(rows)[["Claim", *judged["protocol"].unique()]].fillna("–")
    counts = "; ".join(
        f"{protocol}: {_counts(verdicts)}"
        for protocol, verdicts in judged.groupby("protocol", sort=False)["verdict"]
    )
    caption = f"{_KINDS[by]} and their verdicts"
    return Markdown(f"{counts}.\n\n{captioned(table, caption, name, 'worded')}")


def _brief(row):
    claimed = "" if row.claimed == "–" else f" (claimed {row.claimed})"
    return f"**{row.verdict}**" + ("" if row.found == "–" else f": {row.found}{claimed}")


def _counts(verdicts):
    counts = verdicts.value_counts()
    return ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts)


def details(judged, by):
    """Give each claim its section: what the paper says, what we find, how sure that is."""
    sections, asked = [], {"paper": "The paper says", "ours": "We ask"}[by]
    for claim, rows in judged[judged["by"] == by].groupby("id", sort=False):
        first, head = rows.iloc[0], rubric(rows["name"].iloc[0], f"claim-{claim.lower()}")
        said = f"- **{asked}** ({first['place']}): {first['claim']}\n"
        sections.append(head + said + "".join(_finding(row) + "\n" for row in rows.itertuples()))
    return Markdown("\n".join(sections))


def _finding(row):
    numbers = {
        "found": row.found,
        "claimed": row.claimed,
        "an exact replication would find": row.replication,
    }
    shown = ", ".join(f"{what} {value}" for what, value in numbers.items() if value != "–")
    text = row.evidence
    # A capital where a sentence begins with a word, not where it begins with a name or a symbol.
    first = text[:1].upper() if text[1:2].islower() else text[:1]
    return (
        f"- **We find** ({row.protocol}): *{row.verdict}*.{f' {shown}.' if shown else ''} "
        f"{first}{text[1:]}."
    )
