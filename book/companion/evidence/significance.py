"""The paper's rule for bold type, done again: t-tests at 5 %, paired, with Welch and Holm beside.

The paper speaks of a t-test and does not say which. Runs with the same seed share their data, so
the paired test is the apt one; Welch's shows what the printed numbers alone would allow; Holm's
correction says how many cases of a table stay significant when all of them are tested at once.
"""

import numpy as np
import pandas as pd
from scipy.special import stdtr

from companion.evidence.printed import ledger, ours

__all__ = ["count_line", "holm", "paired_and_welch", "significance", "typefaces"]

_TESTED = ["case", "rival", "n", "gain", "p_paired", "p_welch"]


def holm(p_values):
    r"""Adjust p-values by Holm's step-down method."""
    p_values = np.asarray(p_values, dtype=float)
    known = np.flatnonzero(~np.isnan(p_values))
    ascending = known[np.argsort(p_values[known], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    adjusted = np.full(p_values.shape, np.nan)
    adjusted[ascending] = np.minimum(1, np.maximum.accumulate(factors * p_values[ascending]))
    return adjusted


def paired_and_welch(first, second):
    """Test whether two paired samples differ in mean."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.shape != second.shape:
        raise ValueError(
            f"first and second must hold the same runs, got {first.size} and {second.size}"
        )
    n = len(first)
    if n < 2:
        return np.nan, np.nan
    difference = first - second
    gain = difference.mean()
    variances = first.var(ddof=1), second.var(ddof=1)
    pooled = sum(variances) / n
    # With equal n the Welch-Satterthwaite degrees of freedom need the variances alone.
    degrees = (n - 1) * sum(variances) ** 2 / max(sum(v**2 for v in variances), 1e-300)
    paired = _two_sided(gain, difference.std(ddof=1) / np.sqrt(n), n - 1)
    return paired, _two_sided(gain, np.sqrt(pooled), degrees)


def _two_sided(gain, standard_error, degrees):
    if standard_error < 1e-12:
        return 1.0 if abs(gain) < 1e-12 else 0.0
    return float(2 * stdtr(degrees, -abs(gain) / standard_error))


def significance(
    results, experiment, protocol="matched", method="DDR-uLSIF", rivals=None, alpha=0.05
):
    """Test one method against each rival, case by case."""
    runs = ours(results, experiment, protocol)
    rivals = _compared_methods(experiment, but=method) if rivals is None else list(rivals)
    wide = runs.pivot(index=["case", "seed"], columns="method", values="accuracy")
    parts = [
        _against(wide, method, rival, alpha)
        for rival in rivals
        if {method, rival} <= set(wide.columns)
    ]
    if not parts:
        return _add_decisions(pd.DataFrame(columns=_TESTED, dtype=float), alpha)
    return pd.concat(parts, ignore_index=True)


def _compared_methods(experiment, but=None):
    table = ledger()["tables"][experiment]
    return [m for m in table["columns"] if m not in (table["reference"], but)]


def _against(wide, method, rival, alpha):
    rows = []
    for case, pairs in wide[[method, rival]].dropna().groupby(level="case", sort=False):
        first, second = pairs[method].to_numpy(), pairs[rival].to_numpy()
        p_values = paired_and_welch(first, second)
        rows.append((case, rival, len(pairs), float(np.mean(first - second)), *p_values))
    return _add_decisions(pd.DataFrame(rows, columns=_TESTED), alpha)


def _add_decisions(table, alpha):
    table["p_holm"] = holm(table["p_paired"])
    for kind in ("paired", "welch", "holm"):
        clear = table[f"p_{kind}"] < alpha
        table[f"better_{kind}"] = (table["gain"] > 0) & clear
        table[f"worse_{kind}"] = (table["gain"] < 0) & clear
    return table


def count_line(tested):
    """Say in one line how often the method is significantly better or worse than each rival."""
    parts = [
        f"better than {rival} in {rows['better_paired'].sum()} of {len(rows)} cases (paired), "
        f"{rows['better_welch'].sum()} (Welch), {rows['better_holm'].sum()} (Holm), "
        f"significantly worse in {rows['worse_paired'].sum()} (paired)"
        for rival, rows in tested.groupby("rival", sort=False)
    ]
    return "; ".join(parts) if parts else "no case with both methods"


def typefaces(results, experiment, protocol="matched", alpha=0.05):
    """Set our own table in the paper's type: which cells the rule prints bold or italic."""
    runs = ours(results, experiment, protocol)
    methods = _compared_methods(experiment)
    ties = ledger()["tables"][experiment]["ties"]
    marks = {}
    for case, rows in runs.groupby("case", sort=False):
        wide = rows.pivot(index="seed", columns="method", values="accuracy").reindex(
            columns=methods
        )
        wide = wide.dropna()
        if len(wide) < 2:
            continue
        means = wide.mean()
        best = means.idxmax()
        tied = [
            m for m in methods if m != best and paired_and_welch(wide[best], wide[m])[0] >= alpha
        ]
        if tied and ties == "best italic":
            alike = [m for m in methods if f"{means[m]:.4f}" == f"{means[best]:.4f}"]
            marks.update({(case, m): "italic" for m in alike})
        else:
            marks.update({(case, m): "bold" for m in [best, *tied]})
    return marks
