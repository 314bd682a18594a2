"""The one paired gain, the one interval of a mean, the one selection of runs.

Runs with the same seed share their data, so the gain of a method over a rival is the mean of the
differences within runs. Gains and intervals are in points of accuracy. The paper speaks of a t-test
and does not say which: the paired one is the apt one, Welch's shows what means and sds alone would
allow, and Holm's correction says what stays when all cases of a table are tested at once.
"""

import numpy as np
import pandas as pd
from scipy import optimize, stats

from companion.evidence.printed import cases, compared_methods, ledger, printed_gains
from companion.evidence.tables import with_interval
from companion.runs.protocols import load_protocol

METHOD, RIVAL, NO_WEIGHTS = "DDR-uLSIF", "uLSIF", "Unweighted"
ALPHA = 0.05


def runs_of(results, experiment, protocol):
    """Select the runs of one experiment and protocol that have an accuracy."""
    chosen = results[(results["experiment"] == experiment) & (results["protocol"] == protocol)]
    return chosen.astype({"case": str, "accuracy": float}).dropna(subset="accuracy")


def accuracies(results, experiment, protocol):
    """Accuracies of a protocol: one row a case and seed, one column a method."""
    runs = runs_of(results, experiment, protocol)
    return runs.pivot(index=["case", "seed"], columns="method", values="accuracy")


def case_means(results, experiment, protocol):
    """Mean accuracies of a protocol: one row a case, one column a method."""
    return accuracies(results, experiment, protocol).groupby(level="case").mean()


def mean_interval(sample):
    """Mean of a sample and the ends of its 95 % interval by Student's t, along the last axis."""
    sample = np.asarray(sample, dtype=float)
    n = sample.shape[-1]
    mean = sample.mean(axis=-1) if n else np.nan
    if n < 2:
        return mean, np.nan * mean, np.nan * mean
    half = stats.t.ppf(0.975, n - 1) * sample.std(axis=-1, ddof=1) / np.sqrt(n)
    return mean, mean - half, mean + half


def welch_interval(mean_1, sd_1, n_1, mean_2, sd_2, n_2):
    """95 % interval of the difference of two means, from means, sds and sizes alone."""
    one, other = np.square(sd_1) / n_1, np.square(sd_2) / n_2
    spread = np.square(one) / (n_1 - 1) + np.square(other) / (n_2 - 1)
    degrees = np.maximum(np.square(one + other) / np.maximum(spread, 1e-300), 1)
    half = stats.t.ppf(0.975, degrees) * np.sqrt(one + other)
    return mean_1 - mean_2 - half, mean_1 - mean_2 + half


def shared_rows(experiment):
    """Share of a finite collection that the samples of two runs have in common, on average."""
    problem = load_protocol(experiment)["problem"]
    return problem.get("fraction", problem.get("test_fraction", 0.0))


def t_test(differences, shared=0.0):
    """Two-sided p-values of the paired t-test, along the last axis.

    Runs that draw from the same rows are not independent: with a share in common the variance of
    the mean is not s²/n but s² (1/n + share/(1 - share)), by Nadeau and Bengio. Runs without any
    chance give 1 without a difference, 0 with one.
    """
    differences = np.asarray(differences, dtype=float)
    n = differences.shape[-1]
    if n < 2:
        return np.full(differences.shape[:-1], np.nan)[()]
    mean = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) * np.sqrt(1 / n + shared / (1 - shared))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(np.abs(mean / error), n - 1)
    return np.where(error <= 1e-12, np.abs(mean) < 1e-12, p)[()]


def shrunken(estimates, errors):
    """Normal estimates shrunk towards their common mean, by how much they vary beyond chance.

    Returns mean and standard error, the spread of the truths (by Paule and Mandel), and the
    shrunken estimates with their standard errors.
    """
    estimates, errors = np.asarray(estimates, dtype=float), np.asarray(errors, dtype=float)

    def summary(between):
        weight = 1 / (np.maximum(errors, 1e-9) ** 2 + between)
        mean = weight @ estimates / weight.sum()
        return mean, weight, weight @ (estimates - mean) ** 2 - len(estimates) + 1

    most, between = len(estimates) * estimates.var() + 1e-12, 0.0
    if summary(0)[2] > 0:
        between = optimize.brentq(lambda between: summary(between)[2], 0, most)
    mean, weight, _ = summary(between)
    part = between * weight
    spread = np.sqrt(part * errors**2 + (1 - part) ** 2 / weight.sum())
    return mean, weight.sum() ** -0.5, np.sqrt(between), mean + part * (estimates - mean), spread


def holm(p_values):
    """Adjust p-values by Holm's step-down method."""
    p_values = pd.Series(np.asarray(p_values, dtype=float))
    ascending = p_values.dropna().sort_values(kind="stable")
    adjusted = (ascending * np.arange(len(ascending), 0, -1)).cummax().clip(upper=1)
    return adjusted.reindex(p_values.index).to_numpy()


def paired(results, experiment, protocol="matched", method=METHOD, rival=RIVAL):
    """Gain of a method over a rival, one row a case: interval, p-values, what is significant."""
    wide = accuracies(results, experiment, protocol).reindex(columns=[method, rival]).dropna()
    return paired_table(wide, experiment, method, rival)


def paired_table(wide, experiment, method, rival):
    """Compute :func:`paired` from accuracies by case and seed."""
    in_print, shared = printed_gains(experiment, method, rival), shared_rows(experiment)
    found = {case: rows.to_numpy().T for case, rows in wide.groupby(level="case", sort=False)}
    order, rows = cases(experiment), []
    for case in [case for case in order if case in found] + sorted(found.keys() - {*order}):
        first, second = found[case]
        # Rounding removes binary noise, so that the last shown digit is the same everywhere.
        gain, *ends = (round(float(x), 9) for x in mean_interval(100 * (first - second)))
        welch = stats.ttest_ind(first, second, equal_var=False).pvalue if len(first) > 1 else np.nan
        tests = t_test(first - second), welch, t_test(first - second, shared)
        rows.append((case, rival, len(first), gain, *ends, in_print.get(case, np.nan), *tests))
    kinds = ("paired", "welch", "corrected", "holm")
    columns = ["case", "rival", "n", "gain", "low", "high", "printed"]
    table = pd.DataFrame(rows, columns=columns + [f"p_{kind}" for kind in kinds[:3]])
    table["p_holm"] = holm(table["p_paired"])
    for kind in kinds:
        clear = table[f"p_{kind}"] < ALPHA
        table[f"better_{kind}"] = (table["gain"] > 0) & clear
        table[f"worse_{kind}"] = (table["gain"] < 0) & clear
    return table


def over_cases(gains):
    """Mean gain over the cases with its interval, and how many are won and lost."""
    mean, low, high = map(float, mean_interval(gains["gain"]))
    flags = {"won": gains["gain"] > 0, "lost": gains["gain"] < 0}
    flags |= {"better": gains["better_paired"], "worse": gains["worse_paired"]}
    found = {"mean": mean, "low": low, "high": high, "interval": with_interval(mean, low, high)}
    return found | {"cases": len(gains)} | {name: int(flag.sum()) for name, flag in flags.items()}


def over_rivals(results, experiment, protocol="matched"):
    """Say what DDR-uLSIF gains over each rival, and in how many cases it is better or worse."""
    for rival in [method for method in compared_methods(experiment) if method != METHOD]:
        rows = paired(results, experiment, protocol, rival=rival)
        found, clear = over_cases(rows), rows.filter(regex="^(better|worse)_").sum()
        yield (
            f"Gain over {'no weights' if rival == NO_WEIGHTS else rival}: "
            f"{found['interval']} points; {found['won']} of {len(rows)} cases won, "
            f"{found['lost']} lost. Significantly better in "
            f"{clear['better_paired']} (paired), {clear['better_welch']} (Welch), "
            f"{clear['better_holm']} (Holm), {clear['better_corrected']} (corrected for rows that "
            f"runs share), worse in {clear['worse_paired']} (paired)"
        )


def typefaces(results, experiment, protocol="matched"):
    """Set our own table in the paper's type: which cells its rule prints bold or italic."""
    methods = compared_methods(experiment)
    wide = accuracies(results, experiment, protocol).reindex(columns=methods).dropna()
    ties = ledger()["tables"][experiment]["ties"]
    marks = {}
    for case, runs in wide.groupby(level="case", sort=False):
        if len(runs) < 2:
            continue
        means = runs.mean()
        best = means.idxmax()
        tied = [m for m in methods if m != best and t_test(runs[best] - runs[m]) >= ALPHA]
        face, marked = "bold", [best, *tied]
        if tied and ties == "best italic":
            face = "italic"
            marked = [m for m in methods if f"{means[m]:.4f}" == f"{means[best]:.4f}"]
        marks |= {(case, method): face for method in marked}
    return marks
