"""Validate the replication record against the profiles that it names, without a network.

The validator asks for the list of RO-Crate's terms by its address. It is given the list that the
package `rocrate` brings along: that of a newer version, which has all terms of this one, two of
them under another address.
"""

import importlib.util
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import requests_cache
import requests_mock
from rocrate_validator import services

TERMS = "https://w3id.org/ro/crate/1.1/context"
MOVED = {n: f"https://bioschemas.org/{n}" for n in ("ComputationalWorkflow", "FormalParameter")}
RECORD = Path(__file__).resolve().parents[1] / "_build" / "replication.zip"


def remember_terms(cache):
    """Put the terms into the validator's cache, as if they had been fetched."""
    [folder] = importlib.util.find_spec("rocrate").submodule_search_locations
    terms = json.loads((Path(folder) / "data" / "ro-crate.jsonld").read_text(encoding="utf-8"))
    terms["@context"] |= MOVED
    answers = requests_mock.Adapter()
    headers = {"Content-Type": "application/ld+json"}
    answers.register_uri("GET", TERMS, json=terms, headers=headers)
    session = requests_cache.CachedSession(cache)
    session.mount("https://", answers)
    session.get(TERMS)


def main():
    """Say which requirements are not met; fail where one is a must."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder) / "cache")
        remember_terms(cache)
        result = services.validate(
            services.ValidationSettings(
                rocrate_uri=path,
                profile_identifier="workflow-run-crate",
                requirement_severity="RECOMMENDED",
                offline=True,
                cache_path=cache,
            )
        )
    issues = Counter((issue.severity.name, issue.message) for issue in result.get_issues())
    for (severity, message), times in sorted(issues.items(), reverse=True):
        print(f"{severity.lower()}, {times} x: {message}")
    failed = [severity for severity, _ in issues if severity == "REQUIRED"]
    print(f"{path.name}: {'not valid' if failed else 'every requirement of the profiles is met'}")
    sys.exit(bool(failed))


main()
