"""Verdicts on values, orders and tables: by definition, on doctored runs, and in replications."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import verdicts
from companion.evidence.printed import values
from companion.paths import EXPERIMENTS
from paper_runs import runs_like_the_paper, swapped
from scipy import stats


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_papers_own_numbers_agree_with_the_paper(experiment):
    verdict = verdicts.judge(runs_like_the_paper(experiment), experiment)
    compared = verdict.values
    np.testing.assert_allclose(compared["delta"], 0, atol=1e-12)
    np.testing.assert_allclose(compared["sd_ratio"], 1)
    assert set(compared["value"]) == set(compared["spread"]) == {"agrees"}
    assert (compared["n"] == 30).all()
    # Runs of two methods rise and fall together here, so whatever the print tells apart is clear.
    assert set(verdict.orders["order"]) == {"kept"}
    assert verdict.word == "reproduces"


@pytest.mark.parametrize(
    ("difference", "mark"),
    [
        ((0.30, -0.01, 0.61), "agrees"),
        ((0.01, 0.005, 0.015), "near"),
        ((-0.02, -0.025, -0.015), "near"),
        ((0.0201, 0.005, 0.03), "differs"),
        ((0.001, np.nan, np.nan), "near"),
        ((np.nan, np.nan, np.nan), "not run"),
    ],
)
def test_a_value_is_near_within_two_points_whatever_the_printed_sd(difference, mark):
    assert verdicts.value_marks(*difference) == mark


def test_spread_is_judged_by_an_f_test():
    # The 97.5 % point of F with 29 and 29 degrees of freedom is 2.1010.
    edge = np.sqrt(2.1010)
    assert verdicts.spread_marks(0.1 * edge * 0.999, 30, 0.1, 30) == "agrees"
    assert verdicts.spread_marks(0.1 * edge * 1.001, 30, 0.1, 30) == "larger"
    assert verdicts.spread_marks(0.1 / edge / 1.001, 30, 0.1, 30) == "smaller"
    assert verdicts.spread_marks(np.nan, 1, 0.1, 30) == "–"


def test_only_pairs_that_the_print_tells_apart_are_judged():
    found = verdicts.distinguished("cross")[["case", "better", "worse"]]
    pairs = set(found.itertuples(index=False, name=None))
    # .6025 ± .0820, .6041 ± .0807 and .6039 ± .0813 with 30 runs each are ties.
    assert not [pair for pair in pairs if pair[0] == "USPS to MNIST 6 vs 7"]
    assert ("MNIST to USPS 7 vs 8", "DDR-uLSIF", "uLSIF") in pairs
    assert [len(verdicts.distinguished(e)) for e in EXPERIMENTS] == [17, 15, 25]


def test_swapped_methods_reverse_their_orders_and_no_other():
    runs = swapped(runs_like_the_paper("synthetic"))
    orders = verdicts.compare_orders(runs, "synthetic").set_index(["better", "worse"])["order"]
    assert set(orders["DDR-uLSIF", "uLSIF"]) == {"reversed"}
    assert set(orders["DDR-uLSIF", "Unweighted"]) == {"kept"}
    assert verdicts.judge(runs, "synthetic").word != "reproduces"


def test_shifted_runs_keep_orders_and_the_effect_and_lose_values():
    verdict = verdicts.judge(runs_like_the_paper("synthetic", shift=-0.2), "synthetic")
    assert set(verdict.values["value"]) == {"differs"}
    assert set(verdict.orders["order"]) == {"kept"}
    assert verdict.effect.share == pytest.approx(1)
    assert verdict.word == "does not reproduce"


def with_gain(runs, experiment, share):
    """The same runs with so much of DDR's gain over uLSIF, case by case."""
    means = runs.groupby(["case", "method"])["accuracy"].mean().unstack()
    lost = (1 - share) * (means["DDR-uLSIF"] - means["uLSIF"])
    ddr = runs["method"] == "DDR-uLSIF"
    return runs.assign(accuracy=runs["accuracy"] - ddr * runs["case"].map(lost))


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_smaller_gain_changes_the_word_of_the_table(experiment):
    runs = runs_like_the_paper(experiment)
    words = [
        verdicts.judge(with_gain(runs, experiment, share), experiment).word
        for share in (1, 0.5, 0.1)
    ]
    assert words == list(verdicts.WORDS)


def test_the_share_of_a_gain_is_that_of_fiellers_theorem():
    rng = np.random.default_rng(5)
    printed = rng.normal(4, 3, 12)
    ours = 0.5 * printed + rng.normal(0, 1, 12)
    found = verdicts.effect_of(ours, printed)
    assert found.share == pytest.approx(ours.mean() / printed.mean())
    # At the ends of the interval the t-test of ours - share x printed is just significant.
    for end in (found.share_low, found.share_high):
        assert stats.ttest_1samp(ours - end * printed, 0).pvalue == pytest.approx(0.05)
    assert np.isnan(verdicts.effect_of(ours, printed - printed.mean()).share_low)


def test_words_in_other_worlds_follow_the_gain():
    worlds = verdicts.worlds(runs_like_the_paper("cross"), "cross")
    np.testing.assert_allclose(worlds.sum(axis=1), 1)
    assert worlds.at["as printed", "reproduces"] > 0.9
    assert worlds.at["halved", "reproduces"] < 0.1
    assert worlds.at["nil", "does not reproduce"] > 0.9


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ({}, 0),
        ({"agrees": 18}, 0),
        ({"agrees": 17}, 1),  # of 20 expected, as near ones are expected, too
        ({"agrees": 17, "near": 1}, 0),
        ({"agrees": 10}, 1),
        ({"agrees": 9}, 2),
        ({"agrees": 17, "kept": 5}, 1),
        ({"agrees": 17, "kept": 4}, 2),
        ({"reversed": 1}, 0),
        ({"reversed": 2}, 1),
        ({"share": 0.75}, 0),
        ({"share": 0.74}, 1),
        ({"share": 0.25}, 1),
        ({"share": 0.24}, 2),
        ({"share": 0.5, "kept": 0}, 1),
        ({"share": -1.0}, 2),
    ],
)
def test_the_word_of_a_table_at_each_of_its_limits(found, word):
    expected = {"agrees": 12, "near": 8, "kept": 10}
    counts = {"agrees": 20, "near": 0, "kept": 10, "reversed": 0, "share": 1.0} | found
    assert verdicts._words(counts, expected, 20) == verdicts.WORDS[word]


def test_expected_counts_are_those_of_welchs_test_on_other_draws():
    expected = verdicts.judge(runs_like_the_paper("cross"), "cross").expected
    rng, agrees, near = np.random.default_rng(11), 0.0, 0.0
    for cell in values("cross").itertuples():
        truth = cell.mean + cell.sd / np.sqrt(30) * rng.standard_normal((1000, 1))
        ours = truth + cell.sd * rng.standard_normal((1000, 30))
        ours = ours.mean(axis=1), ours.std(axis=1, ddof=1), 30
        p = stats.ttest_ind_from_stats(*ours, cell.mean, cell.sd, 30, equal_var=False).pvalue
        agrees += np.mean(p >= 0.05)
        near += np.mean((p < 0.05) & (np.abs(ours[0] - cell.mean) <= 0.02))
    assert expected["agrees"] == pytest.approx(agrees, abs=0.6)
    assert expected["near"] == pytest.approx(near, abs=0.3)
    assert near > 0.5  # or the line above would say nothing


def test_a_column_is_tested_as_a_whole():
    # Every mean one standard error too high: no single value differs, the column does.
    runs = runs_like_the_paper("cross")
    sds = values("cross").set_index(["case", "method"])["sd"]
    keys = list(zip(runs["case"], runs["method"], strict=True))
    off = 1.8 * sds.loc[keys].to_numpy() * np.sqrt(2 / 30) * (runs["method"] == "uLSIF")
    verdict = verdicts.judge(runs.assign(accuracy=runs["accuracy"] + off), "cross")
    assert set(verdict.values["value"]) == {"agrees"}
    np.testing.assert_allclose(verdict.columns["chi2"], [0, 64.8, 0], atol=1e-9)
    assert verdict.columns.at["uLSIF", "p"] == pytest.approx(stats.chi2.sf(64.8, 20))


def test_each_cell_has_one_role():
    roles = verdicts.roles()
    cells = values()[["experiment", "case", "method"]]
    assert not roles.duplicated(["experiment", "case", "method"]).any()
    assert len(cells.merge(roles)) == len(cells) == len(roles)
    assert set(roles["role"]) == {"fitted", "searched", "validated", "never seen"}


def test_methods_of_a_replication_vary_together_as_ours_do():
    runs, rng = runs_like_the_paper("biased", n=30), np.random.default_rng(1)
    shared = rng.normal(0, 0.1, (10, 30))[pd.factorize(runs["case"])[0], runs["seed"]]
    alike = verdicts.correlations(
        runs.assign(accuracy=runs["accuracy"] + shared), "biased", "matched"
    )
    drawn, names = verdicts.simulated("biased", alike, 30), ["Unweighted", "uLSIF", "DDR-uLSIF"]
    for case, first, second in (("Diabete", 0, 1), ("USPS5v6", 0, 2)):
        pairs = zip(drawn[case, names[first]], drawn[case, names[second]], strict=True)
        found = np.mean([np.corrcoef(*pair)[0, 1] for pair in pairs])
        assert found == pytest.approx(alike[case][first, second], abs=0.03)
    # Independent methods leave more orders open.
    apart = {case: np.eye(len(matrix)) for case, matrix in alike.items()}
    kept = [verdicts.replicated("biased", a, 30)["kept"].mean() for a in (apart, alike)]
    assert kept[0] < kept[1]


def test_one_run_missing_methods_and_missing_runs():
    runs = runs_like_the_paper("synthetic")
    one = verdicts.compare(runs[runs["seed"] == 0], "synthetic")
    assert one["low"].isna().all()
    assert not (one["value"] == "agrees").any()

    verdict = verdicts.judge(runs[runs["method"] != "uLSIF"], "synthetic")
    assert verdict.values.groupby("method")["value"].agg(set)["uLSIF"] == {"not run"}
    assert (verdict.orders["order"] == "not run").sum() == 11
    assert "6 not run" in verdicts.summary(verdict)

    spoiled = runs.assign(accuracy=runs["accuracy"].where(runs["seed"] != 4))
    assert set(verdicts.compare(spoiled, "synthetic")["n"]) == {29}
    assert verdicts.judge(runs, "biased").word == "not run"
