"""The short answers of the notebooks say what independent computations find."""

import re

import numpy as np
import pandas as pd
import pytest
from companion.evidence import answers
from companion.evidence.multiverse import protocol_of
from companion.evidence.printed import printed_means
from companion.evidence.protocol_search import published
from companion.runs.results import published_results

from ddr.paper.mixture import FourClusters


def numbers(lines):
    return [float(n.replace("−", "-")) for n in re.findall(r"[+−]\d+\.\d+", " ".join(lines))]


def test_exact_risks_are_those_of_many_points():
    mixture = FourClusters()
    X, y = mixture.sample(400_000, "train", random_state=0)
    loss = mixture.bayes_predict(X, "train") != y
    weights = {
        "no weights": np.ones(len(y)),
        "plain ratio": mixture.marginal_ratio(X),
        "joint ratio": mixture.joint_ratio(X, y),
    }
    risks = answers.exact_risks(mixture)
    for name, w in weights.items():
        values = w * loss
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
