"""The paper's rule for bold type, done again: t-tests at 5 %, paired, with Welch and Holm beside.

The paper speaks of a t-test and does not say which. Runs with the same seed share their data, so
the paired test is the apt one; Welch's shows what the printed numbers alone would allow; Holm's
correction says how many cases of a table stay significant when all of them are tested at once.
"""

import numpy as np
import pandas as pd
from scipy.special import stdtr

from ddr.paper import ledger, ours

__all__ = ["count_line", "holm", "paired_and_welch", "significance", "typefaces"]

_TESTED = ["case", "rival", "n", "gain", "p_paired", "p_welch"]


def holm(p_values):
    r"""Adjust p-values by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values; NaN entries stay NaN and do not count in m.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values: significant at level a exactly when at most a.

    Notes
    -----
    In ascending order :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)})`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    known = np.flatnonzero(~np.isnan(p_values))
    ascending = known[np.argsort(p_values[known], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    adjusted = np.full(p_values.shape, np.nan)
    adjusted[ascending] = np.minimum(1, np.maximum.accumulate(factors * p_values[ascending]))
    return adjusted


def paired_and_welch(first, second):
    """Test whether two paired samples differ in mean.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Accuracies of the same runs.

    Returns
    -------
    tuple of float
        Two-sided p-values ``(paired, welch)``; NaN with fewer than two pairs.

    Notes
    -----
    The distribution function of t is called directly: SciPy's tests spend far longer
    on their checks, and a page asks for hundreds. When nothing varies the t statistic is 0/0 or
    x/0; then p is 1 (no difference at all) or 0 (the same difference in every run).

    Examples
    --------
    >>> paired, welch = paired_and_welch([0.8, 0.7, 0.9], [0.7, 0.6, 0.7])
    >>> round(paired, 3), round(welch, 3)
    (0.057, 0.134)
    """
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
    """Test one method against each rival, case by case.

    Parameters
    ----------
    results : pandas.DataFrame
        Tidy runs; runs with the same case and seed are paired.
    experiment : {"synthetic", "biased", "cross"}
        Which table.
    protocol : str, default="matched"
        Which protocol's runs.
    method : str, default="DDR-uLSIF"
        The method under test.
    rivals : sequence of str, optional
        The methods it is tested against; by default the other compared methods that the paper
        prints, without the reference column.
    alpha : float, default=0.05
        Level of each test.

    Returns
    -------
    pandas.DataFrame
        One row per case and rival: case, rival, n (pairs), gain (mean difference), p_paired,
        p_welch, p_holm, and for each of the three ``better_*``: gain > 0 and p < alpha, and
        ``worse_*``: gain < 0 and p < alpha.

    Notes
    -----
    All tests are two-sided. Holm's family is the set of cases of this table for one rival, with
    the paired p-values. A rival that was not run gives no rows.
    """
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
    """Say in one line how often the method is significantly better or worse than each rival.

    Parameters
    ----------
    tested : pandas.DataFrame
        From :func:`significance`.

    Returns
    -------
    str
        For example ``"better than uLSIF in 5 of 6 cases (paired), 5 (Welch), 4 (Holm),
        significantly worse in 1 (paired)"``.
    """
    parts = [
        f"better than {rival} in {rows['better_paired'].sum()} of {len(rows)} cases (paired), "
        f"{rows['better_welch'].sum()} (Welch), {rows['better_holm'].sum()} (Holm), "
        f"significantly worse in {rows['worse_paired'].sum()} (paired)"
        for rival, rows in tested.groupby("rival", sort=False)
    ]
    return "; ".join(parts) if parts else "no case with both methods"


def typefaces(results, experiment, protocol="matched", alpha=0.05):
    """Set our own table in the paper's type: which cells the rule prints bold or italic.

    Parameters
    ----------
    results : pandas.DataFrame
        Tidy runs.
    experiment : {"synthetic", "biased", "cross"}
        Which table.
    protocol : str, default="matched"
        Which protocol's runs.
    alpha : float, default=0.05
        Level of the paired t-test.

    Returns
    -------
    dict
        ``(case, method)`` to ``"bold"`` or ``"italic"``; cells without emphasis are absent.

    Notes
    -----
    The best mean of the compared methods (never the reference column) is bold when it is
    significantly above every rival. When it is not, the table's own caption decides (key
    ``ties`` of the ledger): every method that is not significantly below the best is bold, or
    the best alone is in italics. Two means that print alike both record the best average, so both
    are in italics; the paper has no such case. A case where a compared method is missing, or with
    a single run, has no emphasis.
    """
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
