"""Where the project's files are, and how experiments, protocols and cases are named.

The companion runs from a checkout, never from a wheel.
"""

from pathlib import Path

import yaml

# The loader in C is several times as fast, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]
#: Prose and evidence.
BOOK = ROOT / "book"
#: What is made and may be removed.
BUILD = ROOT / "_build"
#: Within a checkout: the reruns, and how long each notebook took.
RUNS, TIMES = "book/runs", "_build/notebook_times"

#: The tables of the paper that are run again, in its order.
EXPERIMENTS = ("synthetic", "biased", "cross")
#: The two protocols that are set beside the paper, the nearest to it first.
PROTOCOLS = ("matched", "tuned")


def read_yaml(path):
    """Read one of the book's YAML files."""
    return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_LOADER)


def short_case(case):
    """Shorten the name of a case for the axis of a figure."""
    return f"n = {case}" if case.isdigit() else case.replace(" to ", "→").replace(" vs ", "v")
