"""The one paired gain, its interval and its tests, against independent computations."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import gains, new_data
from companion.evidence.printed import cases
from companion.paths import EXPERIMENTS
from paper_runs import runs_like_the_paper, table_of
from scipy import stats


def test_interval_is_that_of_a_one_sample_t_test():
    sample = np.random.default_rng(0).normal(size=(3, 12))
    for row, mean, low, high in zip(sample, *gains.mean_interval(sample), strict=True):
        wanted = stats.ttest_1samp(row, 0).confidence_interval(0.95)
        np.testing.assert_allclose([mean, low, high], [row.mean(), wanted.low, wanted.high])
    assert np.isnan(gains.mean_interval(sample[0, :1])[1])
    assert np.isnan(gains.mean_interval([])[0])


@pytest.mark.parametrize("n", [2, 7, 30])
def test_two_sample_interval_is_welchs(n):
    sample = np.random.default_rng(3).normal(0.8, 0.05, n)
    moments = sample.mean(), sample.std(ddof=1), n
    low, high = gains.welch_interval(*moments, 0.77, 0.04, 30)
    np.testing.assert_allclose((low + high) / 2, sample.mean() - 0.77)
    # An interval contains 0 exactly when the test does not reject: its edge has p = .05.
    edge = stats.ttest_ind_from_stats(
        0.77 + (high - low) / 2, moments[1], n, 0.77, 0.04, 30, equal_var=False
    )
    np.testing.assert_allclose(edge.pvalue, 0.05, rtol=1e-9)


def test_holm_against_its_definition():
    p_values = np.random.default_rng(5).uniform(0, 0.1, 12)
    adjusted = gains.holm(p_values)
    for alpha in (0.01, 0.03, 0.05, 0.2):
        # The step-down procedure itself: reject while p_(i) <= alpha / (m - i + 1).
        rejected = set()
        for rank, index in enumerate(np.argsort(p_values)):
            if p_values[index] > alpha / (len(p_values) - rank):
                break
            rejected.add(index)
        assert rejected == set(np.flatnonzero(adjusted <= alpha))
    with_gap = gains.holm([0.01, np.nan, 0.04])
    np.testing.assert_allclose(with_gap, [0.02, np.nan, 0.04])


def test_the_corrected_t_test_widens_the_error_by_the_shared_rows():
    differences = np.random.default_rng(0).normal(0.02, 0.03, (2, 30))
    # Without shared rows it is the paired test; half of them shared: 1/n + 1 instead of 1/n.
    for shared, factor in ((0.0, 1.0), (0.5, np.sqrt(31))):
        found = gains.t_test(differences, shared)
        for row, p in zip(differences, found, strict=True):
            t = row.mean() / (row.std(ddof=1) / np.sqrt(30) * factor)
            assert p == pytest.approx(2 * stats.t.sf(abs(t), 29))
    assert np.isnan(gains.t_test(differences[:, :1], 0.5)).all()
    # Without any chance the difference decides.
    assert (gains.t_test([0.0] * 3), gains.t_test([0.1] * 3)) == (1, 0)
    assert [gains.shared_rows(e) for e in EXPERIMENTS] == [0.0, 0.5, 0.9]


def test_shrinkage_gives_back_the_spread_of_the_truths():
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.2, 2.0, 3000)
    truths = rng.normal(1.5, 0.8, 3000)
    estimates = truths + rng.normal(0, errors)
    mean, error, between, shrunk, spread = gains.shrunken(estimates, errors)
    assert mean == pytest.approx(1.5, abs=4 * error)
    assert between == pytest.approx(0.8, abs=0.1)
    assert np.mean((shrunk - truths) ** 2) < 0.6 * np.mean((estimates - truths) ** 2)
    assert np.mean(np.abs(shrunk - truths) < 1.96 * spread) == pytest.approx(0.95, abs=0.02)
    # Estimates that differ by no more than chance are all alike.
    alike = gains.shrunken([1.0, 1.1, 0.9], [1.0, 1.0, 1.0])
    assert (alike[2], alike[3].tolist()) == (0.0, pytest.approx([1.0] * 3))


def test_a_new_dataset_is_predicted_from_cases_not_from_runs():
    rng = np.random.default_rng(1)
    truths = rng.normal(1.0, 3.0, 20)
    rows = [
        ("cross", "matched", case, method, seed, 0.7 + gain / 100 + rng.normal(0, 0.001))
        for case, truth in zip(cases("cross"), truths, strict=True)
        for method, gain in (("Unweighted", 0.0), ("DDR-uLSIF", truth))
        for seed in range(10)
    ]
    found = new_data.expectation(table_of(rows), "matched")
    # Runs are nearly exact, so this is the interval of one further case among twenty.
    scale, t = np.std(truths, ddof=1) * np.sqrt(1 + 1 / 20), stats.t(18)
    new = found.gains.loc[new_data.NEW]
    assert new["high"] - new["mean"] == pytest.approx(t.ppf(0.975) * scale, rel=0.02)
    assert new["mean"] == pytest.approx(truths.mean(), abs=0.05)
    assert found.probability == pytest.approx(t.cdf(new["mean"] / scale), abs=0.01)
    assert found.gains["mean"].tolist()[:-1] == pytest.approx(truths, abs=0.15)


def test_significance_against_scipy():
    rng = np.random.default_rng(1)
    runs = runs_like_the_paper("biased")
    runs["accuracy"] = (runs["accuracy"] + rng.normal(0, 0.02, len(runs))).clip(0, 1)
    wide = runs.pivot(index="seed", columns=["case", "method"], values="accuracy")
    for rival in ("Unweighted", "uLSIF"):
        tested = gains.paired(runs, "biased", rival=rival)
        assert len(tested) == 10
        for row in tested.itertuples():
            first, second = wide[row.case]["DDR-uLSIF"], wide[row.case][rival]
            paired = stats.ttest_rel(first, second).pvalue
            np.testing.assert_allclose(row.p_paired, paired)
            np.testing.assert_allclose(row.gain, 100 * (first.mean() - second.mean()))
            assert row.better_paired == (row.gain > 0 and paired < 0.05)
        np.testing.assert_allclose(tested["p_holm"], gains.holm(tested["p_paired"]))


def test_pairs_are_matched_by_seed_not_by_position():
    runs = runs_like_the_paper("cross")
    shuffled = runs.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(gains.paired(runs, "cross"), gains.paired(shuffled, "cross"))
    # Seeds that only one of the two methods has are left out of the pairs.
    cut = runs[~((runs["method"] == "uLSIF") & (runs["seed"] < 10))]
    for rival, left in (("Unweighted", 30), ("uLSIF", 20)):
        assert set(gains.paired(cut, "cross", rival=rival)["n"]) == {left}


def test_bold_and_italic_by_the_papers_rule():
    rng, columns = np.random.default_rng(2), ["Unweighted", "uLSIF", "DDR-uLSIF", "Oracle-imp"]

    def marks(experiment, case, *accuracies):
        rows = [
            (experiment, "matched", case, method, seed, accuracy)
            for method, runs in zip(columns, accuracies, strict=False)
            for seed, accuracy in enumerate(runs)
        ]
        return gains.typefaces(table_of(rows), experiment)

    base = rng.uniform(0.7, 0.8, 30)
    near = base + rng.normal(0, 0.02, 30) - 0.001
    oracle, task = base + 0.2, "USPS to MNIST 0 vs 1"
    alike = base + rng.normal(0, 0.001, 30)
    best = {("Diabete", "DDR-uLSIF"): "bold"}
    assert marks("biased", "Diabete", base, alike, base + 0.1, oracle) == best
    tied = best | {("Diabete", "uLSIF"): "bold"}
    assert marks("biased", "Diabete", base - 0.1, near, base, oracle) == tied
    [((case, _), face)] = marks("cross", task, base - 0.1, near, base).items()
    assert (case, face) == (task, "italic")
    both = {(task, "DDR-uLSIF"): "italic", (task, "uLSIF"): "italic"}
    assert marks("cross", task, base - 0.1, base, base) == both  # neither is the best alone
