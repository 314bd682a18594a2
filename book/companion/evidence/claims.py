"""The paper's claims and our own questions, each with a check that computes its verdict.

They are in ``book/claims.yml``; the checks in ``claim_checks`` (from stored runs) and
``claim_computations`` (small computations).
"""

import pandas as pd
from IPython.display import Markdown
from joblib import Parallel, delayed

# Imported for its checks, which it registers.
from companion.evidence import claim_computations  # noqa: F401
from companion.evidence.claim_checks import CHECKS, VERDICTS, Finding, NotTested
from companion.evidence.tables import captioned, rubric
from companion.paths import BOOK, read_yaml

FILE = BOOK / "claims.yml"


def claims():
    """Read the claims."""
    return read_yaml(FILE)


def evaluate_claims(results, live=True, ids=None):
    """Judge every claim, or some; those that need a computation and no runs only if `live`."""
    asked = [
        (entry, protocol)
        for entry in claims()
        if ids is None or entry["id"] in ids
        for protocol in entry["protocols"]
        if live or protocol != "live"
    ]
    computed = [entry for entry, protocol in asked if protocol == "live"]
    workers = Parallel(n_jobs=-1 if len(computed) > 1 else 1)
    found = iter(workers(delayed(_evaluate)(entry, "live") for entry in computed))
    rows = []
    for entry, protocol in asked:
        finding = next(found) if protocol == "live" else _evaluate(entry, protocol, results)
        about = {key: entry[key] for key in ("id", "name", "by", "place", "claim")}
        row = about | {"protocol": protocol, **finding._asdict()}
        rows.append(row | {"expected": entry.get("expected", {}).get(protocol)})
    return pd.DataFrame(rows, dtype=object)


def _evaluate(entry, protocol, results=None):
    try:
        return CHECKS[entry["check"]](results, protocol, **entry["settings"])
    except NotTested as reason:
        return Finding("not tested", "–", reason=str(reason))


# The page


_KINDS = {"paper": "The paper's claims", "ours": "Questions of ours"}


def overview(evaluation, by):
    """Set what the paper says (or we ask) beside what was found, and how sure that is."""
    rows = []
    for (claim, name), found in evaluation[evaluation["by"] == by].groupby(
        ["id", "name"], sort=False
    ):
        row = {"Claim": f"{{ref}}`{name} <claim-{claim.lower()}>`"}
        rows.append(row | {f.protocol: _brief(f) for f in found.itertuples()})
    columns = ["Claim", *evaluation.loc[evaluation["by"] == by, "protocol"].unique()]
    table = pd.DataFrame(rows)[columns].fillna("–")
    counts = "; ".join(
        f"{protocol}: {verdict_counts(verdicts)}"
        for protocol, verdicts in evaluation[evaluation["by"] == by].groupby(
            "protocol", sort=False
        )["verdict"]
    )
    caption = f"{_KINDS[by]} and their verdicts"
    return Markdown(f"{counts}.\n\n{captioned(table, caption, f'claims-{by}', 'worded')}")


def _brief(row):
    claimed = "" if row.claimed == "–" else f" (claimed {row.claimed})"
    return f"**{row.verdict}**" + ("" if row.found == "–" else f": {row.found}{claimed}")


def verdict_counts(verdicts):
    """Say how often each verdict was given."""
    counts = verdicts.value_counts()
    return ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts)


def details(evaluation, by):
    """Give each claim its section: what the paper says, what we find, how sure that is."""
    sections = []
    for claim, rows in evaluation[evaluation["by"] == by].groupby("id", sort=False):
        first = rows.iloc[0]
        asked = "The paper says" if by == "paper" else "We ask"
        found = "\n".join(_finding(row) for row in rows.itertuples())
        sections.append(
            rubric(first["name"], f"claim-{claim.lower()}")
            + f"- **{asked}** ({first['place']}): {first['claim']}\n{found}\n"
        )
    return Markdown("\n".join(sections))


def _finding(row):
    numbers = [
        f"{what} {value}"
        for what, value in (
            ("found", row.found),
            ("claimed", row.claimed),
            ("an exact replication would find", row.replication),
        )
        if value != "–"
    ]
    shown = f" {', '.join(numbers)}." if numbers else ""
    return (
        f"- **We find** ({row.protocol}): *{row.verdict}*.{shown} "
        f"{_sentence(row.evidence or row.reason)}"
    )


def _sentence(text):
    # A capital where a sentence begins with a word, not where it begins with a name or a symbol.
    first = text[:1].upper() if text[1:2].islower() else text[:1]
    return f"{first}{text[1:]}."
