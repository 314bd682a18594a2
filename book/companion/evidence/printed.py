"""What the paper prints, as data, and the verdict on each printed value.

The printed numbers live in ``book/paper_values.yml`` and nowhere else. :func:`values` reads them,
:func:`compare` sets the runs of one experiment beside them, :func:`summary` counts the verdicts.
The t-tests behind bold type are in ``significance``, the tables that people read in
``tables``.
"""

import re
from copy import deepcopy
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from companion.paths import BOOK

__all__ = [
    "BOOK",
    "EXPERIMENTS",
    "VERDICTS",
    "compare",
    "compare_all",
    "delta_interval",
    "ledger",
    "ours",
    "summary",
    "values",
    "verdict",
]


EXPERIMENTS = ("synthetic", "biased", "cross")

#: The letters, best first, with the words that stand beside them in every table.
VERDICTS = {
    "R3": "value agrees",
    "R2": "within one printed sd, same order",
    "R1": "same order of methods",
    "R0": "the order differs too",
    "not judged": "the order needs a method that was not run",
    "not run": "no run stored",
}

#: The largest difference that R3 still allows: two points of accuracy.
VALUE_TOLERANCE = 0.02

_CELL = re.compile(r"(?P<mark>\*{0,2})(?P<mean>\d\.\d+) ± (?P<sd>\d\.\d+)(?P=mark)")
_TYPEFACE = {"": "plain", "*": "italic", "**": "bold"}


def ledger(path=None):
    """Read the ledger of printed values as it stands in the file."""
    path = Path(path or BOOK / "paper_values.yml")
    if not path.is_file():
        raise FileNotFoundError(
            f"path must be a ledger of printed values, got {path}: there is no such file; "
            "the ledger belongs to the repository, not to an installed wheel"
        )
    # A page asks for the ledger hundreds of times; the time stamp makes an edit visible at once.
    return deepcopy(_read_ledger(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=8)
def _read_ledger(path, _changed):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def parse_cell(text):
    """Split one printed cell into mean, sd and typeface."""
    match = _CELL.fullmatch(text)
    if match is None:
        raise ValueError(f"text must look like '**0.9717 ± 0.0060**', got {text!r}")
    return float(match["mean"]), float(match["sd"]), _TYPEFACE[match["mark"]]


def values(experiment=None, path=None):
    """Return the printed values as a tidy table, one row per cell."""
    content = ledger(path)
    rows = []
    for name, table in content["tables"].items():
        for case, cells in table["rows"].items():
            if len(cells) != len(table["columns"]):
                raise ValueError(
                    f"row {case!r} of {name!r} must have {len(table['columns'])} cells, "
                    f"got {len(cells)}"
                )
            for method, cell in zip(table["columns"], cells, strict=True):
                rows.append((name, table, str(case), method, *parse_cell(cell)))
    printed = pd.DataFrame(
        {
            "experiment": [r[0] for r in rows],
            "table": [r[1]["number"] for r in rows],
            "label": [r[1]["label"] for r in rows],
            "place": [r[1]["place"] for r in rows],
            "case": [r[2] for r in rows],
            "method": [r[3] for r in rows],
            "mean": [r[4] for r in rows],
            "sd": [r[5] for r in rows],
            "n": content["runs"],
            "typeface": [r[6] for r in rows],
            "reference": [r[3] == r[1]["reference"] for r in rows],
        }
    )
    if experiment is None:
        return printed
    _check_experiment(experiment, printed["experiment"].unique())
    return printed[printed["experiment"] == experiment].reset_index(drop=True)


def _check_experiment(experiment, allowed=EXPERIMENTS):
    if experiment not in allowed:
        raise ValueError(f"experiment must be one of {', '.join(allowed)}, got {experiment!r}")


def ours(results, experiment, protocol):
    """Select the runs of one experiment and protocol that have an accuracy."""
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results must be a DataFrame, got {type(results).__name__}")
    needed = {"experiment", "protocol", "case", "method", "seed", "accuracy"}
    missing = sorted(needed - set(results.columns))
    if missing:
        raise ValueError(f"results must have the columns {sorted(needed)}, missing {missing}")
    _check_experiment(experiment)
    run = results[results["experiment"] == experiment]
    _check_protocol(protocol, run["protocol"])
    chosen = run[run["protocol"] == protocol]
    chosen = chosen.assign(case=chosen["case"].astype(str)).dropna(subset=["accuracy"])
    keys = ["case", "method", "seed"]
    if chosen.duplicated(keys).any():
        first = chosen.loc[chosen.duplicated(keys), keys].iloc[0].to_dict()
        raise ValueError(f"results must hold each run once, got {first} of {experiment!r} twice")
    _check_accuracies(chosen)
    return chosen


def _check_protocol(protocol, run):
    """Refuse a name that no run has, unless it is one that may have no runs yet."""
    present = sorted(map(str, run.unique()))
    known = protocol in ("matched", "tuned") or str(protocol).startswith("universe:")
    if present and not known and protocol not in present:
        universes = ", ..." if any(name.startswith("universe:") for name in present) else ""
        names = [name for name in present if not name.startswith("universe:")]
        raise ValueError(
            f"protocol must be one that was run ({', '.join(names)}{universes}), got {protocol!r}"
        )


def _check_accuracies(chosen):
    accuracies = pd.to_numeric(chosen["accuracy"], errors="coerce")
    wrong = chosen[~accuracies.between(0, 1)]
    if len(wrong):
        case, method, seed, accuracy = wrong[["case", "method", "seed", "accuracy"]].iloc[0]
        raise ValueError(
            f"results must hold accuracies from 0 to 1, got {accuracy} "
            f"({case}, {method}, run {seed})"
        )


def delta_interval(mean_ours, sd_ours, n_ours, mean_paper, sd_paper, n_paper=30, level=0.95):
    r"""Interval of the difference of two means when only mean, sd and n are known."""
    if n_ours < 2 or not np.isfinite(sd_ours):
        return np.nan, np.nan
    delta = mean_ours - mean_paper
    part_ours, part_paper = sd_ours**2 / n_ours, sd_paper**2 / n_paper
    if part_ours + part_paper == 0:
        return delta, delta
    degrees = (part_ours + part_paper) ** 2 / (
        part_ours**2 / (n_ours - 1) + part_paper**2 / (n_paper - 1)
    )
    half = float(stats.t.ppf((1 + level) / 2, degrees) * np.sqrt(part_ours + part_paper))
    return delta - half, delta + half


def same_order(printed, measured):
    """Say whether measured means stand in the printed order."""
    if any(np.isnan(measured.get(method, np.nan)) for method in printed):
        return None
    for first, second in combinations(printed, 2):
        gap = printed[first] - printed[second]
        if gap != 0 and (measured[first] - measured[second]) * gap <= 0:
            return False
    return True


def verdict(delta, low, high, paper_sd, order):
    """Judge one value."""
    if np.isnan(delta):
        return "not run"
    if low <= 0 <= high and abs(delta) <= VALUE_TOLERANCE:
        return "R3"
    if order is None:
        return "not judged"
    if not order:
        return "R0"
    return "R2" if abs(delta) <= paper_sd else "R1"


def _judge_row(printed, measured):
    """Add delta, interval, order and verdict to the cells of one case."""
    paper_means = dict(zip(printed["method"], printed["mean"], strict=True))
    our_means = {m: measured["mean"].get(m, np.nan) for m in paper_means}
    rivals = printed.loc[~printed["reference"], "method"]
    rows = []
    for cell in printed.itertuples():
        judged = list(paper_means) if cell.reference else list(rivals)
        order = same_order({m: paper_means[m] for m in judged}, our_means)
        mean, sd = our_means[cell.method], measured["sd"].get(cell.method, np.nan)
        n = int(measured["n"].get(cell.method, 0))
        low, high = delta_interval(mean, sd, n, cell.mean, cell.sd, cell.n)
        delta = mean - cell.mean
        rows.append(
            {
                "case": cell.case,
                "method": cell.method,
                "paper_mean": cell.mean,
                "paper_sd": cell.sd,
                "paper_typeface": cell.typeface,
                "mean": mean,
                "sd": sd,
                "n": n,
                "delta": delta,
                "low": low,
                "high": high,
                "same_order": order,
                "verdict": verdict(delta, low, high, cell.sd, order),
            }
        )
    return rows


def compare(results, experiment, protocol="matched", path=None):
    """Set our runs of one experiment beside the printed table."""
    printed = values(experiment, path)
    runs = ours(results, experiment, protocol)
    grouped = runs.groupby(["case", "method"])["accuracy"]
    measured = grouped.agg(mean="mean", sd="std", n="count")
    empty = measured.iloc[:0].droplevel("case")
    present = set(measured.index.get_level_values("case"))
    rows = []
    for case, cells in printed.groupby("case", sort=False):
        rows += _judge_row(cells, measured.loc[case] if case in present else empty)
    table = pd.DataFrame(rows)
    table.insert(0, "protocol", protocol)
    table.insert(0, "experiment", experiment)
    table["note"] = [_note(n, printed["n"].iloc[0]) for n in table["n"]]
    return table


def _note(n, expected):
    if n in (0, expected):
        return ""
    if n == 1:
        return "one run: no interval"
    return f"{n} runs, the paper has {expected}"


def compare_all(results, protocol="matched", path=None):
    """Compare all three tables, one below the other."""
    parts = [compare(results, experiment, protocol, path) for experiment in EXPERIMENTS]
    return pd.concat(parts, ignore_index=True)


def summary(comparison):
    """Count the verdicts in one line."""
    counts = comparison["verdict"].value_counts()
    shown = [f"{counts.get(v, 0)} {v}" for v in VERDICTS if v.startswith("R") or v in counts]
    return f"{len(comparison)} values: {', '.join(shown)}"
