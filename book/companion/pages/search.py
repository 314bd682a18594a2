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
    first, *_, last = search["stages"]
    screened, final = (searching.ranking(search, printed, responses, s) for s in (first, last))
    going = searching.kept(search, printed, responses, first)
    draws = search["stages"][first]["draws"]
    chance = np.quantile(
        searching.exact_replication(printed, search["choice"], draws), [0.025, 0.975]
    )
    worth = searching.worth(screened, search)
    worth = worth[worth["choice"].isin(search["choices"])]
    figures = {
        "search_ranking.png": ranking_figure(screened, going, chance),
        "search_worth.png": worth_figure(worth),
    }
    texts = {
        "search_rules.md": rules_text(search, going),
        "search_final.md": final_text(search, printed, final),
        "search_calibration.md": calibration_text(search, responses, last),
        "search_test.md": test_text(evidence.results, search),
    }
    paths = [write_figure(figure, Path(folder) / name) for name, figure in figures.items()]
    return [*write_fragments(folder, texts), *paths]


def rules_text(search, going):
    """Say what was searched, and how."""
    names = searching.variants(search)
    counts = " × ".join(f"{len(levels)} ({choice})" for choice, levels in search["choices"].items())
    first, *_, last = search["stages"].values()
    return (
        f"{len(names)} variants of the preprocessing, {counts}, were screened on "
        f"{len(search['choice'])} cases with {first['draws']} draw each. {len(going)} of them are "
        f"not excluded by chance. The best {search['stages']['second']['keep']} after three draws "
        f"went into the final, on all {len(search['cases'])} cases with {last['draws']} draws and "
        f"{len(searching.candidates(search))} ways to choose C: "
        f"{len(searching.candidates(search)) * search['stages']['second']['keep']} protocols."
    )


def final_text(search, printed, final):
    """Tabulate the best protocols of the final beside what an exact replication would score."""
    draws = search["stages"]["final"]["draws"]
    chance = {
        half: np.quantile(searching.exact_replication(printed, search[half], draws), [0.5, 0.975])
        for half in ("choice", "validation")
    }
    rows = [
        {
            "Preprocessing": row.variant.replace(" | ", "; "),
            "Values of C": unbroken(row.grid),
            "Folds": row.folds,
            "Choice": f"{row.choice:.4f}",
            "Validation": f"{row.validation:.4f}",
        }
        for row in final.head(10).itertuples()
    ]
    rows.append(
        {"Preprocessing": "*an exact replication (median; 97.5 %)*", "Values of C": "", "Folds": ""}
        | {
            half.capitalize(): unbroken(f"{low:.4f}; {high:.4f}")
            for half, (low, high) in chance.items()
        }
    )
    best = final.iloc[0]
    passes = best["validation"] <= chance["validation"][1]
    verdict = (
        "It passes: the same protocol run again would deviate as much."
        if passes
        else "None of these is the protocol of the print: an exact replication would deviate less."
    )
    return (
        captioned(pd.DataFrame(rows), "The ten best protocols of the final", "search-final")
        + f"\n\nThe best on the choice deviates by {best['validation']:.4f} on the cases of the "
        f"validation, which it has not seen. {verdict}\n"
    )


def calibration_text(search, responses, stage):
    """Say how often the search finds a protocol that is known."""
    share = searching.calibration(search, responses, stage)
    return (
        "Each protocol of the final was taken for the truth in turn, a table drawn from it as if "
        f"printed, and the search held on it: it found the very protocol in "
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
