"""Sentences of the pages on biased sampling and on the digits follow the numbers."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence.readings import (
    gap_reading,
    mildest_case,
    open_run_reading,
    posterior_spread,
)
from companion.runs.protocols import changed, load_protocol
from companion.runs.results import published_results
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ddr.paper.shifts import mixture_shift

COMPARED = ("Unweighted", "uLSIF", "DDR-uLSIF")


def tidy(means, experiment="biased", protocol="matched", **columns):
    rows = [
        (case, seed, method, mean + 0.001 * seed)
        for case, by_method in means.items()
        for method, mean in zip(COMPARED, by_method, strict=True)
        for seed in range(3)
    ]
    table = pd.DataFrame(rows, columns=["case", "seed", "method", "accuracy"])
    return table.assign(experiment=experiment, protocol=protocol, **columns)


def test_mildest_weights_are_those_of_the_largest_sample_size():
    runs = tidy({"Diabete": (0.7, 0.7, 0.8), "Ionosphere": (0.7, 0.7, 0.6)}, prior_ratio=0.9)
    runs["ess"] = np.where(runs["case"] == "Ionosphere", 0.99, 0.5)
    case, text = mildest_case(runs, ["Diabete", "Ionosphere"])
    assert case == "Ionosphere"
    for part in ("99.0 %", "−10.00 points", "one by 10.0 %"):
        assert part in text


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


def test_posteriors_are_those_of_the_weighted_learner():
    problem = mixture_shift(80, 200, random_state=0)
    weights = np.where(problem.y_train == problem.y_train.max(), 3.0, 1.0)
    found = posterior_spread(problem, LogisticRegression(), {"lopsided": weights})
    assert found["Weights"].tolist() == ["none", "lopsided"]
    model = LogisticRegression().fit(problem.X_train, problem.y_train, sample_weight=weights)
    second = model.predict_proba(problem.X_test)[:, 1]
    row = found.iloc[1]
    assert row["Posterior, highest"] == pytest.approx(second.max())
    assert row["Called second class"] == pytest.approx(np.mean(second > 0.5))
    assert row["Accuracy"] == pytest.approx(model.score(problem.X_test, problem.y_test))
    auc = roc_auc_score(problem.y_test == problem.y_test.max(), second)
    assert row["Area under ROC"] == pytest.approx(auc)
