"""What the notebooks answer, say and tabulate is what independent computations find."""

import re

import numpy as np
import pandas as pd
import pytest
from companion.evidence.lessons import answers
from companion.evidence.multiverse import protocol_of
from companion.evidence.printed import printed_means
from companion.evidence.protocol_search import published
from companion.runs.protocols import changed, load_protocol
from companion.runs.results import published_results

from ddr.paper.mixture import FourClusters


def numbers(lines):
    return [float(n.replace("−", "-")) for n in re.findall(r"[+−]\d+\.\d+", " ".join(lines))]


def test_exact_risks_are_those_of_many_points():
    mixture = FourClusters()
    X, y = mixture.sample(400_000, "train", random_state=0)
    loss, risks = mixture.bayes_predict(X, "train") != y, answers.exact_risks(mixture)
    for name, weights in answers.true_weights(mixture, X, y).items():
        values = weights * loss
        assert abs(values.mean() - risks[name]) < 4 * values.std() / len(values) ** 0.5
    X, y = mixture.sample(400_000, "test", random_state=1)
    errors = np.mean(mixture.bayes_predict(X, "train") != y)
    assert risks["joint ratio"] == pytest.approx(errors, abs=0.0015)


def test_answers_follow_the_published_runs():
    results = published_results()
    by_case = results.groupby(["experiment", "protocol", "method", "case"])["accuracy"].mean()
    means = 100 * by_case.groupby(level=[0, 1, 2]).mean()

    def gain(experiment, protocol, rival):
        of = means[experiment, protocol]
        return of["DDR-uLSIF"] - of[rival]

    found = numbers(answers.where_the_gain_comes_from())
    expected = [gain("synthetic", "matched", "uLSIF"), gain("synthetic", "tuned", "uLSIF")]
    assert [found[0], found[-1]] == pytest.approx(expected, abs=0.006)
    found = numbers(answers.what_ddr_corrects())
    parts = ("prior-ratio-only", "class-ratio-only", "baseline")
    expected = [gain("biased", protocol_of(part), "Unweighted") for part in parts]
    assert found[:3] == pytest.approx(expected, abs=0.006)
    assert found[-1] == pytest.approx(gain("biased", "tuned", "Unweighted"), abs=0.006)
    # Ideal weights on the training set that won the choice, and on one drawn anew.
    of = means["biased"]["same-draw"], means["biased"]["matched"]
    taken, again = (each["Oracle-imp"] - each["Unweighted"] for each in of)
    text = answers.direction_readings(results)[0]
    assert numbers([text])[::3] == pytest.approx([taken, again], abs=0.006)
    assert f"So {100 * (1 - again / taken):.0f} % of the gap was luck" in text


def test_preprocessing_is_read_from_the_search():
    steps = answers.means_by_step()
    found = published("cross", "responses")
    chosen = (found["stage"] == "second") & found["candidate"].isin([0.1, 1.0])
    variant = answers.STEPS["unclipped, one range"]
    rows = found[chosen & (found["variant"] == variant)]
    best = rows.sort_values(["case", "draw", "risk", "candidate"]).drop_duplicates(["case", "draw"])
    expected = 100 * best.groupby("case")["accuracy"].mean()
    pd.testing.assert_series_equal(
        steps["unclipped, one range"].sort_index(), expected, check_names=False
    )
    off = (expected - 100 * printed_means("cross")["Unweighted"]).dropna().abs().mean()
    assert answers.print_miss(steps["unclipped, one range"]) == pytest.approx(off)
    assert f"unclipped, one range {off:.1f}" in answers.what_preprocessing_decides()[1]


def test_run_in_the_open_is_found_among_the_published_ones():
    settings = load_protocol("biased")
    rows = published_results().query("experiment == 'biased' and protocol == 'matched'")
    one = rows[(rows["case"] == "USPS5v6") & (rows["seed"] == 3)].set_index("method")["accuracy"]
    scores = one[["Unweighted", "uLSIF", "DDR-uLSIF", "Oracle-imp"]].tolist()
    assert "are the same" in answers.open_run_reading(settings, "USPS5v6", 3, scores)
    other = answers.open_run_reading(settings, "USPS5v6", 3, [scores[0] - 0.25, *scores[1:]])
    assert "at most 0.2500 away" in other
    other = answers.open_run_reading(changed(settings, seed=1), "USPS5v6", 3, scores)
    assert "No published run" in other
