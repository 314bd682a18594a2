"""The runs: pure, paired, blind to test labels, and equal to what is stored."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from companion.evidence.printed import values
from companion.runs.experiments import Run, draw, draw_problem, measure, methods_of, seeds_of
from companion.runs.multiverse import FEW, specifications, universes
from companion.runs.protocols import EXPERIMENTS, changed, load_protocol
from companion.runs.results import recompute, what_moved
from companion.runs.variants import MIXTURES, PooledULSIF, SampleVarianceNB
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from ddr.kernels import gaussian_kernel
from ddr.paper import datasets
from ddr.paper.shifts import biased_sampling
from ddr.ulsif import ULSIF, second_moment, soft_moment, ulsif_coefficients


def small(experiment, **changes):
    """A protocol on development seeds, cut down to what a test can pay for."""
    if experiment == "cross":
        changes.setdefault("problem", {"max_samples": 150})
    return changed(load_protocol(experiment), seed=1, **changes)


CASES = {"synthetic": "100", "biased": "Ionosphere", "cross": "MNIST to USPS 5 vs 6"}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_runs_are_pure_and_differ_by_seed(experiment):
    protocol, case = small(experiment, methods=["Unweighted", "DDR-uLSIF"]), CASES[experiment]
    first, again = (pd.DataFrame(Run(protocol)(case, 0)) for _ in range(2))
    columns = first.columns.drop("seconds")
    pd.testing.assert_frame_equal(first[columns], again[columns])
    rows = [draw(protocol, case, seed).problem.X_train.sum() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


def test_methods_share_the_draw_whatever_else_is_run():
    alone = Run(small("synthetic", methods=["uLSIF"]))("100", 3)
    together = Run(small("synthetic", methods=["Unweighted", "DDR-uLSIF", "uLSIF"]))("100", 3)
    assert alone[0]["accuracy"] == together[2]["accuracy"]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_test_labels_reach_only_the_scorer(experiment):
    protocol, case = small(experiment), CASES[experiment]
    drawn, seeds = draw(protocol, case, 5), seeds_of(protocol, case, 5)
    problem = drawn.problem
    flipped = replace(problem, y_test=sum(np.unique(problem.y_test)) - problem.y_test)
    for method in ("Unweighted", "uLSIF", "DDR-uLSIF"):
        row, blind = (
            measure(method, drawn._replace(problem=p), protocol["ddr"], seeds)
            for p in (problem, flipped)
        )
        # Two classes: with all labels swapped, the same predictions have the opposite accuracy.
        assert blind["accuracy"] == pytest.approx(1 - row["accuracy"])
        for column in ("mutual_information", "ess", "n_iter", "prior_ratio"):
            np.testing.assert_equal(blind[column], row[column])


def test_unweighted_and_oracle_are_what_they_say():
    protocol = small("synthetic")
    drawn, seeds = draw(protocol, "200", 9), seeds_of(protocol, "200", 9)
    problem = drawn.problem
    # An independent Gaussian naive Bayes, written out.
    log_posterior = []
    for c in np.unique(problem.y_train):
        rows = problem.X_train[problem.y_train == c]
        density = -0.5 * np.square((problem.X_test - rows.mean(0)) / rows.std(0)).sum(1)
        log_posterior.append(density - np.log(rows.std(0)).sum() + np.log(len(rows)))
    predicted = np.unique(problem.y_train)[np.argmax(log_posterior, axis=0)]
    accuracy = np.mean(predicted == problem.y_test)
    assert measure("Unweighted", drawn, {}, seeds)["accuracy"] == pytest.approx(accuracy, abs=1e-3)
    # Trained on the test distribution, the learner comes near the Bayes accuracy of .978.
    assert measure("Oracle-cvtest", drawn, {}, seeds)["accuracy"] == pytest.approx(0.978, abs=0.012)


def test_gap_is_the_difference_that_the_paper_maximises():
    protocol = changed(small("biased"), problem={"choose": "max_gap", "n_omegas": 4})
    seeds = seeds_of(protocol, "Ionosphere", 2)
    info = draw_problem(protocol, "Ionosphere", seeds).info
    assert len(info["gaps"]) == 4
    assert info["chosen"] == int(np.argmax(info["gaps"]))
    table = datasets.load("Ionosphere")
    options = {"direction": 3, "random_state": seeds.problem}
    one = biased_sampling(table.X, table.y, **options)
    learner = draw(protocol, "Ionosphere", 2).learner  # its centres and widths are those of X_test
    plain = clone(learner).fit(one.X_train, one.y_train)
    ideal = clone(learner).fit(one.X_train, one.y_train, sample_weight=one.importance)
    scores = [model.score(one.X_test, one.y_test) for model in (ideal, plain)]
    assert info["gaps"][3] == pytest.approx(scores[0] - scores[1])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_protocols_cover_every_printed_cell(experiment):
    printed = values().query("experiment == @experiment")
    for protocol in ("matched", "tuned"):
        content = load_protocol(experiment, protocol)
        ours = {(c, m) for c in content["cases"] for m in methods_of(content, c)}
        assert set(zip(printed["case"], printed["method"], strict=True)) <= ours
        assert content["runs"] == 30
        assert content["experiment"] == experiment
        assert content["protocol"] == protocol


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"ddr": {"priro": "hard"}}, "priro"),
        ({"problem": {"n_tets": 9}}, "n_tets"),
        ({"ratios": {"uLSIF": {"sigm": 1.0}}}, "sigm"),
        ({"learner": {"unbaised": True}}, "unbaised"),
    ],
)
def test_typing_mistakes_in_a_section_are_refused_by_what_it_sets_up(change, wrong):
    with pytest.raises((TypeError, ValueError), match=f"'{wrong}'"):
        Run(changed(load_protocol("synthetic"), **change))("100", 0)


def test_wrong_keys_and_unknown_names_are_refused():
    content = load_protocol("synthetic")
    with pytest.raises(ValueError, match=r"missing or unknown: colour, seed$"):
        changed(content, colour=1, seed=None)
    with pytest.raises(ValueError, match="protocol must be one of matched, tuned, got 'best'"):
        load_protocol("synthetic", "best")
    with pytest.raises(ValueError, match="experiment must be one of synthetic, biased, cross"):
        load_protocol("images")
    with pytest.raises(ValueError, match="learner name must be one of"):
        Run(small("synthetic", learner={"name": "oracle"}))("100", 0)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_universes_and_specifications_change_what_is_computed_on_the_same_streams(experiment):
    """None repeats the published protocol under another name."""
    base = changed(load_protocol(experiment), **FEW)
    assert len(universes(experiment)) >= 12
    for protocol in (universes(experiment) | specifications(experiment)).values():
        assert protocol["seed"] == base["seed"]
        assert set(protocol["cases"]) <= set(base["cases"])
        assert protocol["runs"] <= base["runs"]
        assert Run(protocol).parameters != Run(base).parameters, protocol["protocol"]


def test_fixed_counts_are_the_shares_of_the_table():
    mixture = MIXTURES["fixed"]
    for domain, shares in (("train", [45, 5, 5, 45]), ("test", [30, 30, 20, 20])):
        X, y = mixture.sample(100, domain, 0)
        assert np.bincount(y)[1:].tolist() == [shares[0] + shares[1], shares[2] + shares[3]]
        left = X[:, 0] < 2.5
        for label, expected in ((1, shares[0]), (2, shares[2])):
            assert abs(left[y == label].sum() - expected) < 12
    random = MIXTURES["train"].sample(100, "test", 0)[1]
    assert (random == MIXTURES["random"].sample(100, "test", 0)[1]).all()
    assert len({np.bincount(mixture.sample(101, "train", seed)[1])[1] for seed in range(5)}) == 1


def test_pooled_moments_are_those_of_all_training_rows():
    """Against the equations, written out."""
    rng = np.random.default_rng(0)
    X, X_test, weight = rng.normal(size=(40, 2)), rng.normal(size=(60, 2)), rng.random(60)
    rows = np.arange(7, 31)
    ratio = PooledULSIF(pool=X, sigma=1.0, lam=0.1, random_state=0)
    found = ratio.matcher(X[rows], X_test)(weight)
    centers = ULSIF(sigma=1.0, lam=0.1, random_state=0).fit(X, X_test).centers_
    K, K_test = (gaussian_kernel(Z, centers, 1.0) for Z in (X, X_test))
    alpha = ulsif_coefficients(second_moment(K), soft_moment(K_test, weight), 0.1)
    assert found == pytest.approx(np.maximum(K[rows] @ alpha, 0), abs=1e-10)


def test_a_penalty_on_sums_is_divided_by_the_rows():
    protocol = small("biased", learner={"sums": True})
    problem, learner, _ = draw(protocol, "Ionosphere", 0)
    assert learner.lams == pytest.approx(np.array([0.1, 1, 10]) / len(problem.X_train))
    _, _, ratios = draw(small("synthetic", ratios={"uLSIF": {"sums": True}}), "100", 0)
    assert max(ratios["uLSIF"].lam) == pytest.approx(0.1)


def test_an_unbiased_naive_bayes_divides_by_one_less():
    X, y = np.array([[0.0], [1.0], [5.0], [7.0], [9.0]]), [0, 0, 1, 1, 1]
    model = SampleVarianceNB(var_smoothing=0).fit(X, y)
    assert model.var_.ravel() == pytest.approx([0.5, 4.0])


@pytest.mark.filterwarnings("error")
def test_a_class_without_weight_is_no_warning_of_a_library():
    rows = Run(specifications("synthetic")["joint:13"])("100", 0)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        GaussianNB().fit([[0.0], [1.0]], [0, 1], [1.0, 0.0]).predict([[0.0]])
    assert all(0 <= row["accuracy"] <= 1 for row in rows)


# The notebooks compute a run of most cases again, `make verify` one of each.
@pytest.mark.parametrize("case", ["USPS to MNIST 0 vs 1", "MNIST to USPS 0 vs 1"])
def test_one_run_of_a_case_that_no_notebook_verifies_is_recomputed(case):
    assert what_moved(recompute(load_protocol("cross"), cases=[case])) == []


WRONG = {"prior": "hard", "matching": "hard"}
WRONG |= {"normalization": "literal", "components": "class_ratio"}


@pytest.mark.parametrize("wrong", WRONG)
def test_recomputation_notices_another_method_of_equal_accuracy(wrong, monkeypatch):
    content = load_protocol("synthetic")
    broken = Run(changed(content, ddr={wrong: WRONG[wrong]}, methods=["DDR-uLSIF"]))
    broken_run = type("Broken", (Run,), {"__call__": lambda _, *task: broken(*task)})
    monkeypatch.setattr("companion.runs.results.Run", broken_run)
    assert what_moved(recompute(content, cases=["100", "200"])) != []
