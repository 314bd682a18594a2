"""What the benchmark measured, read from its file: rows, curves, and whether each target is met."""

import numpy as np

PEERS = ("densratio", "adapt")
#: How many times faster than both peers, by sample size and by where negative values are clipped.
WANTED_SPEED = {
    5000: {"ratio": 120, "coefficients": 40},
    20000: {"ratio": 400, "coefficients": 150},
}
WANTED_FLOOR, WANTED_DDR, WANTED_IMPORT = 1.5, 2.0, 1.5
WANTED_EXPONENT, WANTED_BYTES = 1.1, 1.5e9
#: Two dimensions at two sample sizes are planned; a DDR fit has two grids and two stopping rules,
#: and the scaling curves have five points for each place of clipping.
N_DIMENSIONS, N_CELLS = 2, 4
CLIPS = {"ratio": "the ratio", "coefficients": "coefficients"}


def measured(results, function):
    """Arguments and measurement of every task of one kind that did not fail."""
    return [
        (entry["arguments"], entry)
        for entry in results["measurements"].values()
        if entry.get("function") == function and "failed" not in entry
    ]


def slow_methods(results):
    """Measurements of the slow methods, by name, dimension and number of rows."""
    return {(a["name"], a["d"], a["n"]): entry for a, entry in measured(results, "slow_method")}


def quick_methods(results):
    """Measurements of ours and the other quick methods, by dimension and number of rows."""
    return {(a["d"], a["n"]): entry for a, entry in measured(results, "quick_methods")}


def method_rows(results):
    """Return one row for each method, dimension and sample size, with numbers as numbers."""
    rows = []
    for (d, n), entry in sorted(quick_methods(results).items()):
        for name, errors in entry["errors"].items():
            seconds = entry["seconds"]
            rows.append(_row(results, name, d, n, seconds[name], errors, seconds, None))
        for (name, *where), slow in slow_methods(results).items():
            if where == [d, n]:
                rows.append(
                    _row(results, name, d, n, slow["seconds"], slow["errors"], slow["ours"], slow)
                )
    return rows


def _row(results, name, d, n, seconds, errors, ours, slow):
    return {
        "method": results["methods"][name]["label"],
        "search": results["methods"][name]["search"],
        "d": d,
        "n": n,
        "seconds": seconds,
        "error": float(np.mean(errors)),
        "samples": len(errors),
        "times_ratio": seconds / ours["ddr-ratio"],
        "times_coefficients": seconds / ours["ddr-coefficients"],
        "grown_megabytes": None if slow is None else slow["grown_bytes"] / 1e6,
    }


def scaling_curves(results):
    """Our measurements by number of rows, for each place of clipping."""
    curves = {}
    for arguments, entry in measured(results, "many_rows"):
        curves.setdefault(arguments["clip"], {})[arguments["n"]] = entry
    return {clip: dict(sorted(curve.items())) for clip, curve in curves.items()}


def exponent(curve):
    """Exponent of the power law that fits time by number of rows."""
    seconds = [entry["seconds"] for entry in curve.values()]
    return float(np.polyfit(np.log(list(curve)), np.log(seconds), 1)[0])


def discriminative_rows(results):
    """One row for each whole DDR fit; ``times`` is its cost in ULSIF fits."""
    return [
        {"d": a["d"], "n": a["n"], "case": case, "times": row["without_learner"] / row["ulsif"]}
        | row
        for a, entry in measured(results, "discriminative")
        for case, row in entry["cases"].items()
    ]


def targets(results):
    """Return each target of the project beside what was measured, with a verdict."""
    checks = [*_speed_checks(results), *_error_checks(results), *_other_checks(results)]
    rows = []
    for text, wanted, values, good, planned in checks:
        values = [float(value) for value in values]
        verdict = "not measured"
        if values:
            verdict = "met" if all(good(value) for value in values) else "missed"
        if verdict == "met" and len(values) < planned:
            verdict = f"open: met in {len(values)} of {planned} planned cases"
        row = {"target": text, "wanted": wanted, "measured": _range(values)}
        rows.append(row | {"cases": len(values), "verdict": verdict})
    return rows


def _range(values):
    if not values:
        return "–"
    low, high = short(min(values)), short(max(values))
    return low if low == high else f"{low} to {high}"


def short(value):
    """Format a number for a table."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _speed_checks(results):
    for n, wanted in WANTED_SPEED.items():
        for clip, times in wanted.items():
            values = [
                entry["seconds"] / entry["ours"][f"ddr-{clip}"]
                for (name, _, size), entry in slow_methods(results).items()
                if name in PEERS and size == n
            ]
            text = f"times faster than densratio and adapt, n = {n:,}, {CLIPS[clip]} clipped"
            good = lambda value, times=times: value >= times  # noqa: E731
            yield text, f"at least {times}", values, good, len(PEERS) * N_DIMENSIONS


def _error_checks(results):
    for clip in CLIPS:
        values = []
        for (d, n), entry in quick_methods(results).items():
            slow = slow_methods(results)
            peers = [slow[name, d, n] for name in PEERS if (name, d, n) in slow]
            if peers:
                best = min(np.mean(peer["errors"]) for peer in peers)
                values.append(np.mean(entry["errors"][f"ddr-{clip}"]) / best)
        text = f"error over that of the better of the two, {CLIPS[clip]} clipped"
        yield text, "at most 1", values, lambda value: value <= 1, N_CELLS


def _other_checks(results):
    quick = [entry["seconds"] for entry in quick_methods(results).values()]
    floors = [seconds["ddr-ratio"] / seconds["floor"] for seconds in quick]
    yield _at_most(
        "time over the bare arithmetic, the ratio clipped", WANTED_FLOOR, floors, N_CELLS
    )
    whole = [row["times"] for row in discriminative_rows(results)]
    yield _at_most(
        "whole DDR fit over one ULSIF fit, learner excluded", WANTED_DDR, whole, 4 * N_CELLS
    )
    curves = scaling_curves(results)
    slopes = [exponent(curve) for curve in curves.values() if len(curve) > 2]
    yield _at_most("exponent of time in the number of rows", WANTED_EXPONENT, slopes, len(CLIPS))
    peaks = [row["peak_bytes"] / 1e9 for curve in curves.values() for row in curve.values()]
    yield _at_most(
        "peak memory in GB up to the largest sample", WANTED_BYTES / 1e9, peaks, 5 * len(CLIPS)
    )
    for statement in ("import ddr", "from ddr import DDRClassifier"):
        values = [
            entry["seconds"][statement] / entry["seconds"]["import sklearn.linear_model"]
            for _, entry in measured(results, "imports")
        ]
        text = f"`{statement}` over `import sklearn.linear_model`"
        yield _at_most(text, WANTED_IMPORT, values)


def _at_most(text, limit, values, planned=1):
    return text, f"at most {limit:g}", values, lambda value: value <= limit, planned
