"""The paper's claims and our own questions, each with a check that computes its verdict.

They are in ``book/claims.yml``; the checks in ``claim_checks`` (from stored runs) and
``claim_computations`` (small computations).
"""

import re
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

# Imported for its checks, which it registers.
from companion.evidence import claim_computations  # noqa: F401
from companion.evidence.claim_checks import (
    CHECKS,
    FAILS,
    HOLDS,
    IN_PART,
    UNDECIDED,
    Finding,
    NotTested,
)
from companion.paths import BOOK, read_yaml
from companion.runs.results import published_results

#: The verdicts, best first.
VERDICTS = (HOLDS, IN_PART, UNDECIDED, FAILS, "not tested")
_NEEDED = {"id", "name", "by", "place", "claim", "check", "settings", "protocols"}
_ALLOWED = _NEEDED | {"expected"}


class ClaimError(AssertionError):
    """A verdict is not the one that the claims file expects."""


def claims(path=None):
    """Read the claims."""
    entries = read_yaml(_path(path))
    for number, entry in enumerate(entries, start=1):
        keys = set(entry)
        if not _NEEDED <= keys <= _ALLOWED:
            odd = sorted((_NEEDED - keys) | (keys - _ALLOWED))
            raise ValueError(f"claim {number} must have the keys {sorted(_NEEDED)}: see {odd}")
        entry.setdefault("expected", {})
        _check_entry(entry, number)
    return entries


def _path(path):
    return Path(path or BOOK / "claims.yml")


def _check_entry(entry, number):
    if entry["id"] != f"C{number}":
        raise ValueError(f"claim {number} must have the id C{number}, got {entry['id']!r}")
    if entry["by"] not in ("paper", "ours"):
        raise ValueError(f"by of {entry['id']} must be paper or ours, got {entry['by']!r}")
    if entry["check"] not in CHECKS:
        raise ValueError(
            f"check of {entry['id']} must be one of {', '.join(CHECKS)}, got {entry['check']!r}"
        )
    for protocol, verdict in entry["expected"].items():
        if protocol not in entry["protocols"]:
            raise ValueError(
                f"expected of {entry['id']} must name its protocols {entry['protocols']}, "
                f"got {protocol!r}"
            )
        if verdict not in VERDICTS:
            raise ValueError(
                f"expected of {entry['id']} must be one of {', '.join(VERDICTS)}, got {verdict!r}"
            )


def evaluate_claims(results, path=None, live=True, ids=None):
    """Compute the verdict on every claim, or on some, under each of its protocols."""
    asked = [
        (entry, protocol)
        for entry in claims(path)
        if ids is None or entry["id"] in ids
        for protocol in entry["protocols"]
    ]
    computed = [entry for entry, protocol in asked if live and protocol == "live"]
    workers = Parallel(n_jobs=-1 if len(computed) > 1 else 1)
    found = workers(delayed(_evaluate)(entry, "live", None) for entry in computed)
    found = dict(zip([entry["id"] for entry in computed], found, strict=True))
    off = Finding("not tested", "–", "–", "–", ""), "live computations are switched off"
    rows = []
    for entry, protocol in asked:
        if protocol == "live":
            finding, reason = found.get(entry["id"], off)
        else:
            finding, reason = _evaluate(entry, protocol, results)
        about = {k: entry[k] for k in ("id", "name", "by", "place", "claim")}
        row = about | {"protocol": protocol, **finding._asdict(), "reason": reason}
        # What an exact replication would find is called `replication` in the table.
        row["replication"] = row.pop("expected")
        rows.append(row | {"expected": entry["expected"].get(protocol)})
    return pd.DataFrame(rows, dtype=object)


def _evaluate(entry, protocol, results):
    nothing = Finding("not tested", "–", "–", "–", "")
    try:
        return CHECKS[entry["check"]](results, protocol, **entry["settings"]), ""
    except NotTested as reason:
        return nothing, str(reason)


def changed_verdicts(evaluation):
    """Say which verdicts are not the expected ones, one sentence each."""
    sentences = []
    for row in evaluation.itertuples():
        measured = f"measured {row.verdict!r} ({row.evidence or row.reason})"
        start = f"{row.id}, {row.name}, under {row.protocol}"
        if row.expected is None:
            sentences.append(f"{start}: the claims file has no expected verdict, {measured}")
        elif row.verdict != row.expected:
            sentences.append(f"{start}: expected {row.expected!r}, {measured}")
    return sentences


def check_claims(results, path=None, live=True):
    """Raise unless every verdict is the expected one."""
    evaluation = evaluate_claims(results, path, live)
    judged = evaluation if live else evaluation[evaluation["protocol"] != "live"]
    sentences = changed_verdicts(judged)
    if sentences:
        raise ClaimError("\n".join(sentences))
    return evaluation


def update_expected(path=None):
    """Write the verdicts on the published runs into the claims file; return how many changed."""
    return write_expected(evaluate_claims(published_results(), path), path)


def write_expected(evaluation, path=None):
    """Write measured verdicts into the claims file as the expected ones.

    For the author of a new set of published runs: the change is then visible in the file's diff.
    """
    path = _path(path)
    blocks = re.split(r"(?m)^(?=- id: )", path.read_text(encoding="utf-8"))
    changed = 0
    for position, block in enumerate(blocks[1:], start=1):
        claim = block.partition("\n")[0].removeprefix("- id: ").strip()
        rows = evaluation[evaluation["id"] == claim]
        if rows.empty:
            continue
        verdicts = ", ".join(f"{r.protocol}: {r.verdict}" for r in rows.itertuples())
        body = re.sub(r"(?m)^  expected:.*\n", "", block).rstrip("\n")
        new = f"{body}\n  expected: {{{verdicts}}}\n"
        new += "\n" if position < len(blocks) - 1 else ""
        changed += new != block
        blocks[position] = new
    path.write_text("".join(blocks), encoding="utf-8")
    return changed
