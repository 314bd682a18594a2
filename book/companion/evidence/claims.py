"""The paper's claims, each with a check that computes its verdict.

The claims, thresholds and expected verdicts are in ``book/claims.yml``; the checks in
``claim_checks`` (from stored runs) and ``claim_live`` (small computations).
"""

import re
from pathlib import Path

import pandas as pd
import yaml

from companion.evidence import claim_checks, claim_live
from companion.evidence.claim_checks import FAILS, HOLDS, IN_PART, Finding, NotTested
from companion.paths import BOOK

__all__ = [
    "ClaimError",
    "changed_verdicts",
    "check_claims",
    "claims",
    "evaluate_claims",
    "write_expected",
]

_NEEDED = {"id", "place", "claim", "check", "settings", "protocols"}
_ALLOWED = _NEEDED | {"expected"}
_VERDICTS = (HOLDS, IN_PART, FAILS, "not tested")


class ClaimError(AssertionError):
    """A verdict is not the one that the claims file expects."""


def claims(path=None):
    """Read the claims."""
    entries = yaml.safe_load(_path(path).read_text(encoding="utf-8"))
    for number, entry in enumerate(entries, start=1):
        keys = set(entry)
        if not _NEEDED <= keys <= _ALLOWED:
            odd = sorted((_NEEDED - keys) | (keys - _ALLOWED))
            raise ValueError(f"claim {number} must have the keys {sorted(_NEEDED)}: see {odd}")
        if entry["id"] != f"C{number}":
            raise ValueError(f"claim {number} must have the id C{number}, got {entry['id']!r}")
        _find_check(entry["check"])
        entry.setdefault("expected", {})
        for protocol, verdict in entry["expected"].items():
            _check_expected(entry, protocol, verdict)
    return entries


def _path(path):
    return Path(path or BOOK / "claims.yml")


def _check_expected(entry, protocol, verdict):
    if protocol not in entry["protocols"]:
        raise ValueError(
            f"expected of {entry['id']} must name its protocols {entry['protocols']}, "
            f"got {protocol!r}"
        )
    if _short(verdict) not in _VERDICTS:
        raise ValueError(
            f"expected of {entry['id']} must be one of {', '.join(_VERDICTS)}, got {verdict!r}"
        )


def _short(verdict):
    """Drop the reason of a "not tested": a reworded reason is no changed verdict."""
    return str(verdict).split(":")[0]


def _find_check(name):
    for module in (claim_checks, claim_live):
        if name in module.__all__:
            return getattr(module, name)
    raise ValueError(f"check must name a function of the claim checks, got {name!r}")


def evaluate_claims(results, path=None, live=True):
    """Compute the verdict on every claim under each of its protocols."""
    rows = []
    for entry in claims(path):
        for protocol in entry["protocols"]:
            finding = _evaluate(entry, protocol, results, live)
            expected = entry["expected"].get(protocol)
            rows.append((entry["id"], entry["place"], entry["claim"], protocol, *finding, expected))
    columns = ["id", "place", "claim", "protocol", "verdict", "evidence", "expected"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _evaluate(entry, protocol, results, live):
    if protocol == "live" and not live:
        return Finding("not tested: live computations are switched off", "")
    try:
        return _find_check(entry["check"])(results, protocol, **entry["settings"])
    except NotTested as reason:
        return Finding(f"not tested: {reason}", "")


def changed_verdicts(evaluation):
    """Say which verdicts are not the expected ones, one sentence each."""
    sentences = []
    for row in evaluation.itertuples():
        evidence = f" ({row.evidence})" if row.evidence else ""
        if row.expected is None:
            sentences.append(
                f"{row.id} under {row.protocol}: the claims file has no expected verdict, "
                f"measured {row.verdict!r}{evidence}"
            )
        elif _short(row.verdict) != _short(row.expected):
            sentences.append(
                f"{row.id} under {row.protocol}: expected {row.expected!r}, "
                f"measured {row.verdict!r}{evidence}"
            )
    return sentences


def check_claims(results, path=None, live=True):
    """Raise unless every verdict is the expected one."""
    evaluation = evaluate_claims(results, path, live)
    judged = evaluation if live else evaluation[evaluation["protocol"] != "live"]
    sentences = changed_verdicts(judged)
    if sentences:
        raise ClaimError("\n".join(sentences))
    return evaluation


def write_expected(evaluation, path=None):
    """Write the measured verdicts into the claims file as the expected ones.

    For the author of a new set of published runs: the change is then visible in the file's diff.
    """
    path = _path(path)
    text = path.read_text(encoding="utf-8")
    blocks = re.split(r"(?m)^(?=- id: )", text)
    changed = 0
    for position, block in enumerate(blocks[1:], start=1):
        claim = block.partition("\n")[0].removeprefix("- id: ").strip()
        rows = evaluation[evaluation["id"] == claim]
        if rows.empty:
            continue
        verdicts = ", ".join(f"{r.protocol}: {_short(r.verdict)}" for r in rows.itertuples())
        body = re.sub(r"(?m)^  expected:.*\n", "", block).rstrip("\n")
        new = f"{body}\n  expected: {{{verdicts}}}\n"
        new += "\n" if position < len(blocks) - 1 else ""
        changed += new != block
        blocks[position] = new
    path.write_text("".join(blocks), encoding="utf-8")
    return changed
