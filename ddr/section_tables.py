"""Tables that the pages on biased sampling and on the digits have in common."""

import pandas as pd

from ddr.multiverse import gains, read, universes
from ddr.pages.multiverse import changes, reading
from ddr.paper import ours
from ddr.protocols import load_protocol
from ddr.published import published_results
from ddr.significance import significance

__all__ = ["by_protocol", "complete_universes", "mean_by_case", "t_tests", "with_and_without"]

_COMPARED = ("Unweighted", "uLSIF", "DDR-uLSIF")


def mean_by_case(runs, column, cases):
    """Means over the runs: one row a case, one column a method.

    Parameters
    ----------
    runs : pandas.DataFrame
        Tidy runs.
    column : str
        What is averaged, for example ``accuracy``.
    cases : sequence of str
        The rows, in order.

    Returns
    -------
    pandas.DataFrame
    """
    return runs.pivot_table(index="case", columns="method", values=column).loc[list(cases)]


def t_tests(runs, experiment, protocol, cases):
    """t-tests of DDR-uLSIF against the other compared methods, case by case.

    Parameters
    ----------
    runs : pandas.DataFrame
        Tidy runs.
    experiment : {"synthetic", "biased", "cross"}
    protocol : str
    cases : sequence of str
        In the order of the rows.

    Returns
    -------
    table : pandas.DataFrame
        Case, rival, gain in points, and p-values as text with two digits.
    tested : pandas.DataFrame
        As :func:`ddr.significance.significance` gives it, in the same order.
    """
    cases = list(cases)
    tested = significance(runs, experiment, protocol)
    tested = tested.sort_values("case", key=lambda c: c.map(cases.index), kind="stable")
    table = pd.DataFrame({"Case": tested["case"], "Against": tested["rival"]})
    table["Gain in points"] = 100 * tested["gain"]
    for kind, title in (("paired", "p, paired"), ("holm", "p, Holm"), ("welch", "p, Welch")):
        table[title] = [f"{value:.2g}" for value in tested[f"p_{kind}"]]
    return table, tested


def with_and_without(runs, experiment, protocol, name, cases):
    """A ratio beside DDR with that ratio: mean ± sd of both, and p of the paired t-test.

    Parameters
    ----------
    runs : pandas.DataFrame
        Tidy runs.
    experiment : {"synthetic", "biased", "cross"}
    protocol : str
    name : {"uLSIF", "KLIEP", "KMM"}
    cases : sequence of str

    Returns
    -------
    table : pandas.DataFrame
        Text, one row a case.
    tested : pandas.DataFrame
        As :func:`ddr.significance.significance` gives it.
    """
    tested = significance(runs, experiment, protocol, f"DDR-{name}", [name])
    chosen = ours(runs, experiment, protocol).groupby(["method", "case"])["accuracy"]
    summary = chosen.agg(["mean", "std"])
    table = pd.DataFrame({"Case": list(cases)})
    for method in (name, f"DDR-{name}"):
        pairs = summary.loc[method].loc[list(cases)].to_numpy()
        table[method] = [f"{mean:.4f} ± {sd:.4f}" for mean, sd in pairs]
    p = tested.set_index("case")["p_paired"]
    table[f"p, {name}"] = [f"{p[case]:.2g}" for case in cases]
    return table, tested


def by_protocol(experiment, results=None):
    """What DDR adds to plain uLSIF under each protocol, from the published runs.

    Parameters
    ----------
    experiment : {"synthetic", "biased", "cross"}
    results : pandas.DataFrame, optional
        Tidy runs; by default the published ones.

    Returns
    -------
    pandas.DataFrame
        Text, one row a protocol; means over the cases that have runs. A protocol without runs
        says so.
    """
    results = published_results() if results is None else results
    rows = []
    for name in ("matched", "tuned"):
        protocol, chosen = load_protocol(experiment, name), ours(results, experiment, name)
        count = len(chosen.drop_duplicates(["case", "seed"]))
        row = {"Settings": name}
        row["Runs stored"] = f"{count} of {protocol['runs'] * len(protocol['cases'])}"
        row |= dict.fromkeys((*_COMPARED, "Gain in points", "Significant"), "not computed yet")
        tested = significance(results, experiment, name, rivals=["uLSIF"])
        if len(tested):
            means = chosen.pivot_table(index="case", columns="method", values="accuracy").mean()
            row |= {method: f"{means[method]:.4f}" for method in _COMPARED}
            row["Gain in points"] = f"{100 * tested['gain'].mean():+.2f}".replace("-", "−")
            row["Significant"] = f"{tested['better_paired'].sum()} of {len(tested)}"
        rows.append(row)
    return pd.DataFrame(rows)


def complete_universes(experiment, results=None):
    """The universes of a table that are stored completely, and what they show together.

    Parameters
    ----------
    experiment : {"synthetic", "biased", "cross"}
    results : pandas.DataFrame, optional
        Tidy runs; by default the published ones.

    Returns
    -------
    found : pandas.DataFrame
        As :func:`ddr.multiverse.gains` gives it.
    text : str
        Says how many are stored, and what they show.
    """
    results = published_results() if results is None else results
    found = gains(results, experiment)
    cases = len(load_protocol(experiment)["cases"])
    found = found[(found["runs"] >= read()["runs"]) & (found["cases"] == cases)]
    text = f"{len(found)} of {len(universes(experiment))} universes are stored completely."
    if len(found):
        moved = changes(results, experiment)
        shown = reading(found, moved[moved.index.isin(found.index)])
        text += " " + shown.replace("*", "")
    return found, text
