"""The paper's claims and our own questions, each with a check that computes its verdict.

They are in ``book/claims.yml``; the checks in ``claim_checks`` (from stored runs) and
``claim_computations`` (small computations).
"""

import re

import pandas as pd
from joblib import Parallel, delayed

# Imported for its checks, which it registers.
from companion.evidence import claim_computations  # noqa: F401
from companion.evidence.claim_checks import CHECKS, Finding, NotTested
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


def write_expected(evaluation):
    """Write measured verdicts into the claims file as the expected ones; count what changed."""
    text, changed = FILE.read_text(encoding="utf-8"), 0
    for claim, rows in evaluation.groupby("id", sort=False):
        verdicts = ", ".join(f"{r.protocol}: {r.verdict}" for r in rows.itertuples())
        # The lines of an entry are indented; what is expected is the last of them.
        entry = rf"(?m)^(- id: {claim}\n(?:  .*\n)+?)(?:  expected:.*\n)?(?!  )"
        new = re.sub(entry, rf"\1  expected: {{{verdicts}}}\n", text)
        changed += new != text
        text = new
    FILE.write_text(text, encoding="utf-8")
    return changed
