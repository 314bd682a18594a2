"""What the page on the search for a protocol includes: rules, ranking, validation, calibration."""

from pathlib import Path

import numpy as np
import pandas as pd

from companion.evidence import protocol_search as searching
from companion.evidence.tables import captioned, unbroken
from companion.evidence.verdicts import compare
from companion.figures.search import ranking_figure, worth_figure
from companion.pages import write_figure, write_fragments

EXPERIMENT = "cross"
OLD = "clipped"


def write(folder, evidence):
    """Write the fragments and figures of the page."""
    search = searching.read_search(EXPERIMENT)
    printed = searching.visible(EXPERIMENT, search)
    responses = searching.published_responses(EXPERIMENT)
    screened, second = (
        searching.ranking(search, printed, responses, stage) for stage in search["stages"]
    )
    going = searching.kept(search, printed, responses)
    chance = np.quantile(searching.exact_replication(printed, search["choice"], 1), [0.025, 0.975])
    figures = {
        "search_ranking.png": ranking_figure(screened, going, chance),
        "search_worth.png": worth_figure(searching.worth(second, search)),
    }
    texts = {
        "search_rules.md": rules_text(search, going),
        "search_second.md": second_text(search, printed, second),
        "search_calibration.md": calibration_text(search, responses),
        "search_test.md": test_text(evidence.results, search),
    }
    paths = [write_figure(figure, Path(folder) / name) for name, figure in figures.items()]
    return [*write_fragments(folder, texts), *paths]


def rules_text(search, going):
    """Say what was searched, and how."""
    counts = " × ".join(f"{len(levels)} ({choice})" for choice, levels in search["choices"].items())
    draws, grids = search["stages"]["second"]["draws"], len(search["grids"])
    return (
        f"{len(searching.variants(search))} variants of the preprocessing, {counts}, were screened "
        f"on {len(search['choice'])} cases with one draw each. {len(going)} of them score below "
        f"the median of exact replications; these were run with {draws} draws. With "
        f"{grids} ways to choose C each, {len(going) * grids} protocols were compared."
    )


def second_text(search, printed, second):
    """Tabulate the best protocols beside what an exact replication would score."""
    draws = search["stages"]["second"]["draws"]
    rows = [
        {
            "Preprocessing": row.variant.replace(" | ", "; "),
            "Values of C": unbroken(row.grid),
            "Deviation": f"{row.score:.4f}",
        }
        for row in second.head(10).itertuples()
    ]
    low, high = np.quantile(
        searching.exact_replication(printed, search["choice"], draws), [0.5, 0.975]
    )
    chance = unbroken(f"{low:.4f}; {high:.4f}")
    name = "*an exact replication (median; 97.5 %)*"
    rows.append({"Preprocessing": name, "Values of C": "", "Deviation": chance})
    verdict = (
        "So chance alone would deviate as much, and nothing here speaks against it."
        if second["score"].iloc[0] <= high
        else "So **none of these** is the protocol of the print: it would deviate less."
    )
    return (
        captioned(pd.DataFrame(rows), "The ten best protocols of the second stage", "search-second")
        + f"\n\nThe best deviates by {second['score'].iloc[0]:.4f}. {verdict}\n"
    )


def calibration_text(search, responses):
    """Say how often the search finds a protocol that is known."""
    share = searching.calibration(search, responses, "second")
    return (
        "Each protocol of the second stage was taken for the truth in turn, a table drawn from it "
        "as if printed, and the search held on it: it found the very protocol in "
        f"{share['protocol']:.0%} of the tables, and its preprocessing in {share['variant']:.0%}."
    )


def test_text(results, search):
    """Compare the published table with the print, column by column, old protocol and new."""
    rows = [
        {"Protocol": name, "Column": method} | _nearness(cells, search)
        for protocol, name in (("matched", "found by the search"), (OLD, "before the search"))
        for method, cells in compare(results, EXPERIMENT, protocol).groupby("method", sort=False)
    ]
    return captioned(
        pd.DataFrame(rows),
        "Mean absolute deviation from the print; the columns of uLSIF and DDR-uLSIF took no part "
        "in the choice",
        "search-test",
    )


def _nearness(cells, search):
    off = cells.set_index("case")["delta"].abs()
    within = (cells["delta"].abs() <= cells["paper_sd"]).sum()
    return {
        "Choice": f"{off[search['choice']].mean():.3f}",
        "Validation": f"{off[search['validation']].mean():.3f}",
        "Correlation": f"{np.corrcoef(cells['mean'], cells['paper_mean'])[0, 1]:.2f}",
        "Within one sd": unbroken(f"{within} of {len(cells)}"),
    }
