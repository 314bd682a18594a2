"""Sentences of the pages on biased sampling and on the digits follow the numbers."""

from companion.evidence.readings import (
    gap_reading,
    open_run_reading,
)
from companion.runs.protocols import changed, load_protocol
from companion.runs.results import published_results


def test_gap_of_the_choice_is_compared_with_that_of_a_new_draw():
    results = published_results()
    means = []
    for protocol in ("same-draw", "matched"):
        rows = results[(results["experiment"] == "biased") & (results["protocol"] == protocol)]
        wide = rows.pivot(index=["case", "seed"], columns="method", values="accuracy")
        means.append(100 * (wide["Oracle-imp"] - wide["Unweighted"]).mean())
    text = gap_reading(results)
    assert text.startswith("All 300 runs of all ten datasets")
    assert f"{means[0]:+.2f}" in text
    assert f"and {means[1]:+.2f}" in text
    assert f"So {100 * (1 - means[1] / means[0]):.0f} % of the gap was luck" in text


def test_run_in_the_open_is_found_among_the_published_ones():
    settings = load_protocol("biased")
    rows = published_results().query("experiment == 'biased' and protocol == 'matched'")
    one = rows[(rows["case"] == "USPS5v6") & (rows["seed"] == 3)].set_index("method")["accuracy"]
    scores = one[["Unweighted", "uLSIF", "DDR-uLSIF", "Oracle-imp"]].tolist()
    assert "are the same" in open_run_reading(settings, "USPS5v6", 3, scores)
    assert "at most 0.2500 away" in open_run_reading(
        settings, "USPS5v6", 3, [scores[0] - 0.25, *scores[1:]]
    )
    other = changed(settings, seed=1)
    assert "No published run" in open_run_reading(other, "USPS5v6", 3, scores)
