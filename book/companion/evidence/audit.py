"""What the printed numbers say about themselves: arithmetic on the ledger, without any run of ours.

A difference between a count here and a sentence in the paper may come from digits that the tables
do not print, or from a paired test, which needs the single runs.
"""

from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

from companion.evidence.gains import ALPHA
from companion.evidence.printed import cases, ledger, printed_means, printed_pairs
from companion.evidence.tables import captioned


def needed_correlation(mean_1, sd_1, mean_2, sd_2, n):
    """Smallest correlation between paired runs that makes a printed difference significant."""
    critical = stats.t.ppf(1 - ALPHA / 2, n - 1)
    allowed_variance = n * (mean_1 - mean_2) ** 2 / critical**2
    return (sd_1**2 + sd_2**2 - allowed_variance) / (2 * sd_1 * sd_2)


def bold_tests():
    """Welch's test of every cell that is alone in bold in its row against each rival of the row."""
    pairs = printed_pairs()
    alone = (pairs["typeface"] == "bold") & (pairs["typeface_rival"] != "bold")
    pairs = pairs[alone].reset_index(drop=True)
    moments = (pairs[name] for name in ("mean", "sd", "mean_rival", "sd_rival", "n"))
    return pairs.assign(reached=pairs["p"] < ALPHA, needed=needed_correlation(*moments))


def bold():
    """Say how many bold cells a Welch test confirms, and list the pairs that it does not."""
    tests = bold_tests()
    reached = tests.groupby(["experiment", "case"])["reached"].all()
    missed = tests[~tests["reached"]]
    beyond = missed.loc[missed["needed"] > 1, "case"].unique()
    shown = {
        "Paper's table": missed["experiment"].map(lambda e: ledger()["tables"][e]["number"]),
        "Case": missed["case"],
        "Rival": missed["method_rival"],
        "Gain (points)": (100 * (missed["mean"] - missed["mean_rival"])).map("{:.2f}".format),
        "p (Welch)": missed["p"].map("{:.2f}".format),
        "Correlation a paired test needs": missed["needed"]
        .map("{:.2f}".format)
        .where(missed["needed"] <= 1, "none suffices"),
    }
    sentence = (
        f"{len(reached)} rows have a single method in bold. From the printed means and standard "
        f"deviations, with 30 runs each and Welch's test at 5 %, {reached.sum()} of them are "
        f"significant against both rivals and {(~reached).sum()} miss 5 % against at least one. "
        "A paired test could differ: the last column of {numref}`audit-bold` says how strongly the "
        "runs of the two methods must be correlated for it to reach 5 %. "
        f"For {' and '.join(beyond)} no pairing of 30 runs reaches it."
    )
    caption = "Pairs of a bold method and a rival that Welch's test does not tell apart"
    return Markdown(f"{sentence}\n\n{captioned(pd.DataFrame(shown), caption, 'audit-bold')}")


def improvements(experiment, scenario, rival, measure):
    """Printed improvements of DDR-uLSIF over a rival, in points or in percent of the rival."""
    means = printed_means(experiment).loc[cases(experiment, scenario)]
    base = means[["Unweighted", "uLSIF"]].max(axis=1) if rival == "best rival" else means[rival]
    scale = 1 if measure == "points" else base
    # Printed digits are exact decimals: rounding removes the binary noise before any threshold.
    return (100 * (means["DDR-uLSIF"] - base) / scale).round(6)


def readings():
    """Count the improvements behind the sentences that count them, read in every plausible way."""
    rows = []
    for sentence in ledger()["sentences"]:
        experiment, scenario, stated, low, high, rivals = sentence.values()
        asked = f"from {low:g} % to {high:g} %" if np.isfinite(high) else f"above {low:g} %"
        ways = product(rivals, ("points", "relative percent"), ("as printed", "whole percent"))
        for rival, measure, digits in ways:
            percent = improvements(experiment, scenario, rival, measure)
            if digits == "whole percent":
                percent = np.floor(percent + 0.5)
            enough = percent >= low if np.isfinite(high) else percent > low
            reach, within = enough.sum(), (enough & (percent <= high)).sum()
            as_stated = "yes" if reach == stated else "no"
            about = scenario or "ten datasets", f"{stated} {asked}", rival, measure, digits
            rows.append((*about, reach, within, as_stated))
    columns = ["Cases", "Stated", "Gain over", "Read as", "Digits"]
    columns += ["Reach the lower bound", "Lie in the range", "Lower bound as stated"]
    return pd.DataFrame(rows, columns=columns)


def sentences_table():
    """Tabulate the counts behind the three sentences on improvements."""
    caption = "How many printed gains reach a stated bound, by reading of the sentence"
    return Markdown(captioned(readings(), caption, "audit-counts"))
