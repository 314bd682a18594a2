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


def tidy(gains, experiment="biased"):
    """Runs in which every protocol's DDR-uLSIF gains so many points over no weights."""
    rows = [
        (experiment, protocol, case, seed, method, 0.7 + 0.001 * seed + (method == "DDR-uLSIF") * g)
        for protocol, (one, other) in gains.items()
        for case, g in (("Diabete", one / 100), ("Ionosphere", other / 100))
        for seed in range(3)
        for method in ("Unweighted", "uLSIF", "DDR-uLSIF")
    ]
    columns = ["experiment", "protocol", "case", "seed", "method", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


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


def test_priors_alone_change_a_posterior_less_than_clusters_do():
    shifted = ((0.9, 0.1), (0.1, 0.9))
    priors = answers.posterior_change(FourClusters(test_mixing=shifted))
    assert 0 < priors < answers.posterior_change(FourClusters())
    same = FourClusters(test_mixing=shifted, test_priors=(0.5, 0.5))
    assert answers.posterior_change(same) == pytest.approx(0, abs=1e-12)


def test_parts_of_the_weight_are_read_from_their_universes():
    gains = {"baseline": (3.0, 5.0), "class-ratio-only": (1.0, 1.0), "prior-ratio-only": (2.0, 4.0)}
    found = answers.part_gains(tidy({protocol_of(k): v for k, v in gains.items()}), "biased")
    means = {name: float(gain[0]) for name, gain in found.items()}
    expected = {"plain ratio": 0, "class ratio alone": 1, "prior ratio alone": 3, "both: DDR": 4}
    assert means == pytest.approx(expected)
    assert found["both: DDR"][1] < 4 < found["both: DDR"][2]


def test_choices_are_compared_on_common_runs_only():
    chosen, random = tidy({"matched": (3.0, 5.0)}), tidy({"universe:omega-random": (1.0, 1.0)})
    random = random[random["case"] == "Diabete"]
    found = answers.choice_gains(pd.concat([chosen, random]))
    assert list(found) == ["over uLSIF", "over Unweighted"]
    assert [gain[0] for gain in found["over Unweighted"].values()] == pytest.approx([3.0, 1.0])


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
