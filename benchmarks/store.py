"""Results on disk: written after every measurement, so that an interrupted run is not lost."""

import hashlib
import json
import os

from benchmarks.environment import ROOT
from benchmarks.methods import METHODS

#: The files that a measurement runs; when one of them changes, the measurement is outdated.
RATIOS = ("_checks", "kernels", "ratio", "ulsif", "kliep", "information")
SOURCES = {
    "imports": ("__init__", "algorithm", "classifier", *RATIOS),
    "discriminative": ("algorithm", "classifier", *RATIOS),
    "paper_data": ("mixture", "shifts", *RATIOS),
    "shared_searches": ("iwlspc", "svm", "validation", *RATIOS),
}


def source_hash(function):
    """Hash of the files of ddr that a function of benchmarks.worker runs."""
    digest = hashlib.sha256()
    for name in SOURCES.get(function, RATIOS):
        digest.update((ROOT / "ddr" / f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


def empty(quick):
    return {"mode": "quick" if quick else "full", "measurements": {}}


def read(path, quick):
    """Results of an earlier run, or none if there is no whole file."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        return results if "measurements" in results else empty(quick)
    except (OSError, ValueError):
        return empty(quick)


def write(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    results["methods"] = {
        name: {"label": method.label, "search": method.search} for name, method in METHODS.items()
    }
    partial = path.with_suffix(".tmp")
    partial.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, path)


def is_done(results, task):
    """Whether a task is already there, with the same arguments and the same source of ours."""
    old = results["measurements"].get(task.key)
    if old is None or "failed" in old or old["arguments"] != task.arguments:
        return False
    return not task.ours or old["source"] == source_hash(task.function)
