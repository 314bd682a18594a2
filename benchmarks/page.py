"""The benchmark page: what ``make bench`` measured, and whether each target is met.

Everything is computed from ``benchmarks/results.json``, which ``python -m benchmarks`` writes; it
prints the same tables.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.tables import captioned
from companion.paths import ROOT

from benchmarks.summary import (
    CLIPS,
    discriminative_rows,
    measured,
    method_rows,
    quick_methods,
    scaling_curves,
    short,
    targets,
)

RESULTS = ROOT / "benchmarks" / "results.json"
_NOT_MEASURED = [{"not measured": "`make bench` writes this part"}]
#: Of the tables by name; they stay, and so do references to them, when nothing was measured.
_CAPTIONS = {
    "methods": "Time and error of each method",
    "floor": "Our search beside the bare arithmetic",
    "discriminative": "A whole DDR fit beside one uLSIF fit",
    "scaling": "Time and memory by number of rows",
    "searches": "The experiments' cross-validation with work shared and not shared",
    "imports": "Time of import statements",
    "clipping": "Error by where negative values are removed, mean ± standard deviation",
    "clipping_summary": "On how many problems each way to clip is better",
    "machine": "The machine and the versions",
    "completeness": "What of the plan was measured",
    "targets": "The targets and what was measured",
}
_WITH_WORDS = ("methods", "searches", "clipping_summary", "machine", "completeness", "targets")


def files(evidence=None, path=RESULTS):
    """Give the fragments and figures of the benchmark page."""
    path = Path(path)
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    found = {}
    for name, table in TABLES.items():
        rows = [] if results is None else table(results)
        kind = None if name in _WITH_WORDS else "numeric"
        frame = pd.DataFrame(rows or _NOT_MEASURED)
        text = captioned(frame, _CAPTIONS[name], _label(name), kind)
        found[f"benchmarks_{name}.md"] = text
    if results is not None:
        found["benchmarks_time.png"] = time_figure(results)
        found["benchmarks_clipping.png"] = clipping_figure(results)
    return found


def as_text(results):
    """Return all tables for a terminal."""
    parts = []
    for name, table in TABLES.items():
        rows = [[str(cell) for cell in row.values()] for row in table(results)]
        heads = list(next(iter(table(results)), {}))
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        head = "  ".join(c.ljust(w) for c, w in zip(heads, widths, strict=True))
        parts.append("\n".join([f"== {name}", head.rstrip(), *(line.rstrip() for line in lines)]))
    return "\n\n".join(parts)


def _label(name):
    return f"benchmarks-{name.replace('_', '-')}"


# ---------------------------------------------------------------------------------------- tables


def methods_table(results):
    """Return time, error and memory of every method."""
    rows = []
    for row in method_rows(results):
        grown = row["grown_megabytes"]
        rows.append(
            {
                "d": row["d"],
                "rows": f"{row['n']:,}",
                "method": row["method"],
                "search": row["search"],
                "CPU s": short(row["seconds"]),
                "error": "none" if np.isnan(row["error"]) else f"{row['error']:.3f}",
                "samples": row["samples"],
                "× ratio clipped": f"{row['times_ratio']:.1f}",
                "× coefficients clipped": f"{row['times_coefficients']:.1f}",
                "memory, MB": "–" if grown is None else f"{grown:,.0f}",
            }
        )
    return rows


def floor_table(results):
    """Return our times beside the bare arithmetic."""
    rows = []
    for (d, n), entry in sorted(quick_methods(results).items()):
        seconds = entry["seconds"]
        direct = seconds["floor"] + seconds["clipping"]
        rows.append(
            {
                "d": d,
                "rows": f"{n:,}",
                "bare search, s": f"{seconds['floor']:.3f}",
                "ratio clipped, s": f"{seconds['ddr-ratio']:.3f}",
                "over bare": f"{seconds['ddr-ratio'] / seconds['floor']:.2f}",
                "bare search and clipping, s": f"{direct:.3f}",
                "coefficients clipped, s": f"{seconds['ddr-coefficients']:.3f}",
                "over both": f"{seconds['ddr-coefficients'] / direct:.2f}",
            }
        )
    return rows


def discriminative_table(results):
    """Return the cost of a whole DDR fit beside one ULSIF fit."""
    return [
        {
            "d": row["d"],
            "rows": f"{row['n']:,}",
            "grid, stopping": row["case"],
            "iterations": row["iterations"],
            "ULSIF, s": f"{row['ulsif']:.3f}",
            "DDR, s": f"{row['without_learner']:.3f}",
            "with learner, s": f"{row['whole']:.3f}",
            "DDR over ULSIF": f"{row['times']:.2f}",
        }
        for row in discriminative_rows(results)
    ]


def scaling_table(results):
    """Return time and peak memory by number of rows."""
    return [
        {
            "clipped": CLIPS[clip],
            "rows of each sample": f"{n:,}",
            "CPU s": f"{entry['seconds']:.2f}",
            "μs a row": f"{entry['seconds'] / n * 1e6:.1f}",
            "peak memory, MB": f"{entry['peak_bytes'] / 1e6:,.0f}",
            "of it the two samples, MB": f"{2 * 50 * 8 * n / 1e6:,.0f}",
            "error": f"{entry['error']:.3f}",
        }
        for clip, curve in scaling_curves(results).items()
        for n, entry in curve.items()
    ]


def imports_table(results):
    """Return the median time of import statements."""
    return [
        {
            "statement": f"`{statement}`",
            "CPU s": f"{seconds:.3f}",
            "over scikit-learn": f"{seconds / entry['seconds']['import sklearn.linear_model']:.2f}",
        }
        for _, entry in measured(results, "imports")
        for statement, seconds in entry["seconds"].items()
    ]


def searches_table(results):
    """Return the time of the experiments' searches, sharing work and not sharing it."""
    return [
        {
            "search": name,
            "training rows": f"{row['rows']:,}",
            "fits": row["candidates"] * row["folds"],
            "one by one, s": short(row["apart"]),
            "shared, s": short(row["together"]),
            "times faster": f"{row['apart'] / row['together']:.1f}",
            "largest difference of risks": f"{row['largest_difference_of_risks']:.1g}",
        }
        for _, entry in measured(results, "shared_searches")
        for name, row in entry["searches"].items()
    ]


def _clipping(results):
    """Errors of both ways to clip, one entry for each problem of the paper's data."""
    rows = []
    for _, entry in measured(results, "paper_data"):
        for n, kinds in entry["mixture"].items():
            rows += [(f"mixture, n = {n}, {kind}", errors) for kind, errors in kinds.items()]
        rows += list(entry["biased sampling"].items())
    return rows


def clipping_table(results):
    """Return the error against the known ratio, clipping the ratio or the coefficients."""
    rows = []
    for problem, errors in _clipping(results):
        ratio, coefficients = np.array(errors["ratio"]), np.array(errors["coefficients"])
        rows.append(
            {
                "problem": problem,
                "ratio clipped": _mean_and_deviation(ratio),
                "coefficients clipped": _mean_and_deviation(coefficients),
                "ratio clipped better in": f"{np.sum(ratio < coefficients)} of {len(ratio)}",
            }
        )
    return rows


def clipping_summary(results):
    """Return in how many problems each way to clip has the smaller error, and name the losses."""
    rows = []
    for name, average in (("mean", np.mean), ("median", np.median)):
        errors = {
            problem: {clip: float(average(values[clip])) for clip in CLIPS}
            for problem, values in _clipping(results)
        }
        worse = [p for p, error in errors.items() if error["ratio"] >= error["coefficients"]]
        named = [
            f"{p} ({errors[p]['ratio']:.2f} against {errors[p]['coefficients']:.2f})" for p in worse
        ]
        row = {"error over the seeds": name, "problems": len(errors)}
        row["ratio clipped is better in"] = len(errors) - len(worse)
        rows.append(row | {"and not better in": "; ".join(named) or "none"})
    return rows


def _mean_and_deviation(values):
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"


def completeness_table(results):
    """Return how much of the plan was measured, and what is missing or failed."""
    stored = results["measurements"]
    failed = [f"{key} ({entry['failed']})" for key, entry in stored.items() if "failed" in entry]
    missing = [key for key in results.get("planned", stored) if key not in stored]
    return [
        {
            "planned": len(results.get("planned", stored)),
            "measured": len(stored) - len(failed),
            "failed": "; ".join(failed) or "none",
            "not measured": "; ".join(missing) or "none",
        }
    ]


def machine_table(results):
    """Return the facts on the machine that decide a timing."""
    machine = results["machine"]
    facts = [(name, machine[name]) for name in ("processor", "cores", "system", "python", "blas")]
    facts.append(("step of the CPU clock", f"{machine['clock_step_seconds'] * 1e6:.1f} μs"))
    facts += [(name, version or "not installed") for name, version in machine["packages"].items()]
    return [{"what": name, "value": value} for name, value in facts]


#: The fragments, in the order in which they are printed.
TABLES = {
    "methods": methods_table,
    "floor": floor_table,
    "discriminative": discriminative_table,
    "scaling": scaling_table,
    "searches": searches_table,
    "imports": imports_table,
    "clipping": clipping_table,
    "clipping_summary": clipping_summary,
    "machine": machine_table,
    "completeness": completeness_table,
    "targets": targets,
}

# --------------------------------------------------------------------------------------- figures

_COLOURS = tuple(COLORS.values())
_MARKERS = "os^Dvx"


def time_figure(results):
    """Draw time by number of rows for every method at d = 50."""
    lines = {
        f"ddr ULSIF, {CLIPS[clip]} clipped": {n: e["seconds"] for n, e in curve.items()}
        for clip, curve in scaling_curves(results).items()
    }
    for row in method_rows(results):
        if row["d"] == 50 and not row["method"].startswith("ddr ULSIF"):
            lines.setdefault(row["method"], {})[row["n"]] = row["seconds"]
    figure, (axes,) = new_figure(8, 5)
    for i, (label, line) in enumerate(lines.items()):
        style = {"marker": _MARKERS[i % len(_MARKERS)], "color": _COLOURS[i % len(_COLOURS)]}
        dashed = "-" if label.startswith("ddr") else "--"
        axes.loglog(list(line), list(line.values()), dashed, label=label, **style)
    axes.set_xlabel("rows of each sample (d = 50)")
    axes.set_ylabel("CPU seconds")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def clipping_figure(results):
    """Draw the error on the paper's data by where negative values are clipped."""
    rows = _clipping(results)
    figure, (axes,) = new_figure(8, 0.32 * len(rows) + 1.4)
    for i, clip in enumerate(CLIPS):
        low, median, high = np.transpose(
            [np.quantile(errors[clip], (0, 0.5, 1)) for _, errors in rows]
        )
        height = np.arange(len(rows)) + 0.18 * (2 * i - 1)
        style = {"color": _COLOURS[i], "fmt": _MARKERS[i], "markersize": 4, "capsize": 2}
        bars = (median - low, high - median)
        axes.errorbar(median, height, xerr=bars, label=f"{CLIPS[clip]} clipped", **style)
    axes.set_xscale("log")  # errors are positive, and those of single seeds are very large
    axes.set_yticks(range(len(rows)), [problem for problem, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="0.5", linewidth=0.8)
    axes.set_xlabel("squared error over the variance of the true ratio (1: as good as no weights)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(fontsize=8, loc="outside upper center", ncols=len(CLIPS))
    return figure
