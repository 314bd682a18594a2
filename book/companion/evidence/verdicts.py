"""The verdict on each printed value, on each printed order of methods, and on a whole table.

Value and order are judged apart, and beside each count stands what an exact replication would be
expected to reach. The word for a table follows from a rule that :data:`RULE` states.
"""

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.gains import ALPHA, accuracies, runs_of, t_tests, welch_interval
from companion.evidence.printed import cases, compared_methods, ledger, values
from companion.evidence.replication import expected_orders, expected_values

#: The marks with the words that explain them.
VALUE_MARKS = {
    "agrees": "zero lies in the 95 % interval of the difference from the printed mean",
    "near": "outside that interval, but at most one printed standard deviation away",
    "differs": "further away",
    "not run": "no run is stored",
}
ORDER_MARKS = {
    "kept": "ours tell the two methods apart the same way",
    "open": "ours cannot tell them apart",
    "reversed": "ours tell them apart the other way",
    "not run": "one of the two was not run",
}
#: Least shares of what an exact replication reaches, for two words; most orders reversed.
WHOLLY, PARTLY, FEW_REVERSED = 0.9, 0.5, 0.05
RULE = (
    f"A table *reproduces* when the values that agree or are near are at least {WHOLLY:.0%} of "
    "those that an exact replication is expected to bring, and at most "
    f"{FEW_REVERSED:.0%} of the judged orders are reversed; it *reproduces in part* when they are "
    f"at least {PARTLY:.0%}, and so are the orders kept; otherwise it *does not reproduce*."
)


class TableVerdict(NamedTuple):
    """Marks of one table under one protocol, what an exact replication would reach, the word."""

    values: pd.DataFrame
    orders: pd.DataFrame
    expected: dict
    word: str


def value_mark(delta, low, high, paper_sd):
    """Judge one value."""
    if np.isnan(delta):
        return "not run"
    if low <= 0 <= high:
        return "agrees"
    return "near" if abs(delta) <= paper_sd else "differs"


def spread_mark(sd, n, paper_sd, paper_n):
    """Compare two sds by an F-test."""
    if n < 2 or not np.isfinite(sd):
        return "–"
    below = stats.f.cdf((sd / paper_sd) ** 2, n - 1, paper_n - 1)
    if 2 * min(below, 1 - below) >= ALPHA:
        return "agrees"
    return "smaller" if sd < paper_sd else "larger"


def compare(results, experiment, protocol="matched"):
    """Set our runs beside the printed table: one row a value, with its marks."""
    grouped = runs_of(results, experiment, protocol).groupby(["case", "method"])["accuracy"]
    measured = grouped.agg(mean="mean", sd="std", n="count").to_dict("index")
    rows = []
    for cell in values(experiment).itertuples():
        ours = measured.get((cell.case, cell.method), {"mean": np.nan, "sd": np.nan, "n": 0})
        low = high = np.nan
        if ours["n"] >= 2:
            low, high = welch_interval(*ours.values(), cell.mean, cell.sd, cell.n)
        delta = ours["mean"] - cell.mean
        rows.append(
            {"experiment": experiment, "protocol": protocol, "case": cell.case}
            | {"method": cell.method, "paper_mean": cell.mean, "paper_sd": cell.sd}
            | {"paper_typeface": cell.typeface, **ours, "delta": delta, "low": low, "high": high}
            | {"value": value_mark(delta, low, high, cell.sd)}
            | {"sd_ratio": ours["sd"] / cell.sd}
            | {"spread": spread_mark(ours["sd"], ours["n"], cell.sd, cell.n)}
        )
    return pd.DataFrame(rows)


def compare_orders(results, experiment, protocol="matched"):
    """Judge each pair of compared methods that the printed numbers themselves tell apart."""
    wide = accuracies(results, experiment, protocol).reindex(columns=compared_methods(experiment))
    rows = []
    for case, first, second, p_printed in distinguished(experiment):
        row = {"case": case, "better": first, "worse": second, "p_printed": p_printed}
        run = wide.index.get_level_values("case") == case
        pairs = 100 * wide.loc[run, [first, second]].dropna().to_numpy().T
        gain = float(np.mean(pairs[0] - pairs[1])) if pairs.size else np.nan
        p = t_tests(*pairs)[0]
        rows.append(row | {"gain": gain, "p": float(p), "order": _order_mark(gain, p)})
    return pd.DataFrame(rows)


def _order_mark(gain, p):
    if np.isnan(gain):
        return "not run"
    # One run has no test: it cannot tell.
    if not p < ALPHA:
        return "open"
    return "kept" if gain > 0 else "reversed"


def distinguished(experiment):
    """Pairs of a row whose printed means, sds and n differ by Welch's test, the better first."""
    printed = values(experiment).set_index(["case", "method"])[["mean", "sd", "n"]]
    rows = []
    for case in cases(experiment):
        for pair in combinations(compared_methods(experiment), 2):
            pair = sorted(pair, key=lambda m, c=case: -printed.at[(c, m), "mean"])
            numbers = [x for m in pair for x in printed.loc[case, m]]
            p = stats.ttest_ind_from_stats(*numbers, equal_var=False).pvalue
            if p < ALPHA:
                rows.append((case, *pair, float(p)))
    return rows


def judge(results, experiment, protocol="matched"):
    """Judge a table under a protocol: values, orders, expected counts and the word."""
    table, orders = (f(results, experiment, protocol) for f in (compare, compare_orders))
    run = table[table["value"] != "not run"]
    judged = orders[orders["order"] != "not run"]
    n = int(np.clip(table["n"].max(), 2, ledger()["runs"]))
    chances = expected_values(experiment, n)
    keys = zip(run["case"], run["method"], strict=True)
    agrees, near = np.sum([chances[key] for key in keys] or [(0, 0)], axis=0)
    shares = expected_orders(experiment, n)
    expected = {"agrees": float(agrees), "near": float(near)}
    expected |= {mark: float(share * len(judged)) for mark, share in shares.items()}
    return TableVerdict(table, orders, expected, _word(run, judged, expected))


def _word(run, judged, expected):
    if run.empty:
        return "not run"
    close = run["value"].isin(["agrees", "near"]).sum()
    reach = close / (expected["agrees"] + expected["near"])
    turned, kept = ((judged["order"] == mark).sum() for mark in ("reversed", "kept"))
    in_part = reach >= PARTLY and kept >= PARTLY * expected["kept"]
    if reach >= WHOLLY and turned <= FEW_REVERSED * len(judged):
        return "reproduces"
    return "reproduces in part" if in_part else "does not reproduce"


def summary(verdict):
    """Count the marks in one line, beside what an exact replication would reach."""
    found, turned = Counter(verdict.values["value"]), Counter(verdict.orders["order"])
    spread, expected = Counter(verdict.values["spread"]), verdict.expected
    return (
        f"{len(verdict.values)} values: {found['agrees']} agree ({expected['agrees']:.0f} expected "
        f"of an exact replication), {found['near']} near, {found['differs']} differ"
        f"{_not_run(found)}; {len(verdict.orders)} orders that the print tells apart: "
        f"{turned['kept']} kept ({expected['kept']:.0f} expected), {turned['open']} open, "
        f"{turned['reversed']} reversed{_not_run(turned)}; "
        f"sds: {spread['agrees']} agree, {spread['smaller']} smaller, {spread['larger']} larger"
    )


def _not_run(counts):
    return f", {counts['not run']} not run" if "not run" in counts else ""
