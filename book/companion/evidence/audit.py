"""What the printed numbers say about themselves: arithmetic on the ledger, without any run of ours.

Each function answers one question from the printed means, standard deviations and typefaces, with
n = 30 as the captions state. Where a statement can be read in two ways, both counts are given. A
difference between a count here and a sentence in the paper may come from digits that the tables
do not print, or from a paired test, which needs the single runs.
"""

from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

from companion.evidence.printed import cases, ledger, printed_means, values
from companion.evidence.tables import captioned

#: The three sentences that count improvements: the stated number of cases and range in percent.
SENTENCES = (
    ("biased", "", 4, 10.0, np.inf, "Section 5.2"),
    ("cross", "USPS to MNIST", 7, 2.0, 7.0, "Section 5.3"),
    ("cross", "MNIST to USPS", 8, 2.0, 15.0, "Section 5.3"),
)


def sole_winners():
    """List the bold cells that are alone in bold in their row."""
    printed = values()
    bold = printed[printed["typeface"] == "bold"]
    return bold[~bold.duplicated(["experiment", "case"], keep=False)].reset_index(drop=True)


def needed_correlation(mean_1, sd_1, mean_2, sd_2, n=30, alpha=0.05):
    """Smallest correlation between paired runs that makes a printed difference significant."""
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    allowed_variance = n * (mean_1 - mean_2) ** 2 / critical**2
    return (sd_1**2 + sd_2**2 - allowed_variance) / (2 * sd_1 * sd_2)


def bold_tests(alpha=0.05):
    """Welch's test of every sole bold winner against each rival of its row."""
    printed = values()
    rivals = printed[~printed["reference"]]
    pairs = sole_winners().merge(rivals, on=["experiment", "case"], suffixes=("", "_rival"))
    pairs = pairs[pairs["method"] != pairs["method_rival"]].reset_index(drop=True)
    columns = ["mean", "sd", "n", "mean_rival", "sd_rival", "n_rival"]
    mean_1, sd_1, n, mean_2, sd_2, n_2 = pairs[columns].to_numpy().T
    p = stats.ttest_ind_from_stats(mean_1, sd_1, n, mean_2, sd_2, n_2, equal_var=False).pvalue
    return pairs[["experiment", "case"]].assign(
        winner=pairs["method"],
        rival=pairs["method_rival"],
        gain=mean_1 - mean_2,
        p_welch=p,
        reached=(p < alpha) & (mean_1 > mean_2),
        needed_correlation=needed_correlation(mean_1, sd_1, mean_2, sd_2, n, alpha),
    )


def improvements(experiment, scenario="", rival="uLSIF"):
    """Printed improvements of DDR-uLSIF over a rival, or over the best of both."""
    means = printed_means(experiment).loc[cases(experiment, scenario)]
    base = means[["Unweighted", "uLSIF"]].max(axis=1) if rival == "best rival" else means[rival]
    # Printed digits are exact decimals: rounding removes the binary noise before any threshold.
    points = (100 * (means["DDR-uLSIF"] - base)).round(6)
    relative = (100 * (means["DDR-uLSIF"] / base - 1)).round(6)
    return pd.DataFrame({"points": points, "relative": relative}).rename_axis("case").reset_index()


def improvement_counts():
    """Count the improvements behind three sentences of the paper, read in every plausible way."""
    readings = product(
        SENTENCES, ("uLSIF", "Unweighted", "best rival"), ("points", "relative"), (False, True)
    )
    rows = []
    for (experiment, scenario, stated, low, high, place), rival, measure, whole in readings:
        percent = improvements(experiment, scenario, rival)[measure]
        if whole:
            percent = np.floor(percent + 0.5)
        enough = percent > low if np.isinf(high) else percent >= low
        counts = int(enough.sum()), int((enough & (percent <= high)).sum())
        rounding = "whole percent" if whole else "as printed"
        name = scenario or "ten datasets"
        row = (place, name, stated, low, high, rival, measure, rounding, *counts)
        rows.append((*row, counts[0] == stated))
    columns = ["place", "scenario", "stated", "low", "high", "rival", "measure", "rounding"]
    return pd.DataFrame(rows, columns=[*columns, "count_at_least", "count_in_range", "agrees"])


# The page


def bold():
    """Say how many bold cells a Welch test confirms, and list the pairs that it does not."""
    tests = bold_tests()
    reached = tests.groupby(["experiment", "case"])["reached"].all()
    missed = tests[~tests["reached"]]
    beyond = missed.loc[missed["needed_correlation"] > 1, "case"].unique()
    numbers = {name: table["number"] for name, table in ledger()["tables"].items()}
    table = pd.DataFrame(
        {
            "Paper's table": missed["experiment"].map(numbers),
            "Case": missed["case"],
            "Rival": missed["rival"],
            "Gain (points)": (100 * missed["gain"]).map("{:.2f}".format),
            "p (Welch)": missed["p_welch"].map("{:.2f}".format),
            "Correlation a paired test needs": [
                "none suffices" if r > 1 else f"{r:.2f}" for r in missed["needed_correlation"]
            ],
        }
    )
    sentence = (
        f"{len(reached)} rows have a single method in bold. From the printed means and standard "
        f"deviations, with 30 runs each and Welch's test at 5 %, {reached.sum()} of them are "
        f"significant against both rivals and {(~reached).sum()} miss 5 % against at least one. "
        "A paired test could differ: the last column of {numref}`audit-bold` says how strongly the "
        "runs of the two methods must be correlated for it to reach 5 %. "
        f"For {' and '.join(beyond)} no pairing of 30 runs reaches it."
    )
    caption = "Pairs of a bold method and a rival that Welch's test does not tell apart"
    return Markdown(f"{sentence}\n\n{captioned(table, caption, 'audit-bold')}")


def sentences_table():
    """Tabulate the counts behind the three sentences on improvements."""
    found = improvement_counts()
    # In Section 5.3 the paper names the rival; in Section 5.2 it leaves it open.
    found = found[(found["place"] == "Section 5.2") | (found["rival"] == "uLSIF")]
    table = pd.DataFrame(
        {
            "Cases": found["scenario"],
            "Stated": [_stated(row) for row in found.itertuples()],
            "Gain over": found["rival"],
            "Read as": found["measure"].map({"points": "points", "relative": "relative percent"}),
            "Digits": found["rounding"],
            "Reach the lower bound": found["count_at_least"],
            "Lie in the range": found["count_in_range"],
            "Lower bound as stated": found["agrees"].map({True: "yes", False: "no"}),
        }
    )
    caption = "How many printed gains reach a stated bound, by reading of the sentence"
    return Markdown(captioned(table, caption, "audit-counts"))


def _stated(row):
    if row.high == float("inf"):
        return f"{row.stated} above {row.low:g} %"
    return f"{row.stated} from {row.low:g} % to {row.high:g} %"
