"""Verdicts on values, orders and tables: by definition, on doctored runs, and in replications."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from companion.evidence import replication, tables, verdicts
from companion.evidence.printed import compared_methods, values
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
    ("arguments", "expected"),
    [
        ((0.30, -0.01, 0.61, 0.01), "agrees"),
        ((0.01, 0.005, 0.015, 0.01), "near"),
        ((-0.01, -0.015, -0.005, 0.01), "near"),
        ((0.011, 0.005, 0.015, 0.01), "differs"),
        ((0.001, np.nan, np.nan, 0.01), "near"),
        ((np.nan, np.nan, np.nan, 0.01), "not run"),
    ],
)
def test_value_marks(arguments, expected):
    assert verdicts.value_mark(*arguments) == expected


def test_spread_is_judged_by_an_f_test():
    # The 97.5 % point of F with 29 and 29 degrees of freedom is 2.1010.
    edge = np.sqrt(2.1010)
    assert verdicts.spread_mark(0.1 * edge * 0.999, 30, 0.1, 30) == "agrees"
    assert verdicts.spread_mark(0.1 * edge * 1.001, 30, 0.1, 30) == "larger"
    assert verdicts.spread_mark(0.1 / edge / 1.001, 30, 0.1, 30) == "smaller"
    assert verdicts.spread_mark(np.nan, 1, 0.1, 30) == "–"


def test_only_pairs_that_the_print_tells_apart_are_judged():
    pairs = {(case, *methods) for case, *methods, _ in verdicts.distinguished("cross")}
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


def test_equal_methods_leave_orders_open():
    runs = runs_like_the_paper("biased")
    plain = runs[runs["method"] == "uLSIF"]
    equal = pd.concat([plain.assign(method=m) for m in ("Unweighted", "uLSIF", "DDR-uLSIF")])
    assert set(verdicts.compare_orders(equal, "biased")["order"]) == {"open"}


def test_shifted_runs_keep_orders_and_lose_values():
    verdict = verdicts.judge(runs_like_the_paper("synthetic", shift=-0.2), "synthetic")
    assert set(verdict.values["value"]) == {"differs"}
    assert set(verdict.orders["order"]) == {"kept"}
    assert verdict.word == "does not reproduce"


def test_half_of_the_values_reproduce_in_part():
    runs = runs_like_the_paper("synthetic")
    moved = runs["method"].isin(["Unweighted", "uLSIF"])
    half = runs.assign(accuracy=runs["accuracy"] - 0.2 * moved)
    assert verdicts.judge(half, "synthetic").word == "reproduces in part"


def replicated(experiment, seed):
    """Runs of an exact replication, drawn otherwise than in the module under test."""
    rng = np.random.default_rng([7, seed])
    rows = [
        (experiment, "matched", cell.case, cell.method, run, accuracy)
        for cell in values(experiment).itertuples()
        for run, accuracy in enumerate(np.clip(rng.normal(cell.mean, cell.sd, cell.n), 0, 1))
    ]
    columns = ["experiment", "protocol", "case", "method", "seed", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("experiment", ["synthetic", "cross"])
def test_exact_replications_of_the_print_reproduce(experiment):
    found = [verdicts.judge(replicated(experiment, seed), experiment) for seed in range(3)]
    for verdict in found:
        # The expected share allows for luck in the print too, so the print itself does better.
        assert (verdict.orders["order"] == "kept").sum() >= verdict.expected["kept"] - 2
        assert (verdict.values["value"] == "agrees").sum() >= verdict.expected["agrees"] - 3
    assert {verdict.word for verdict in found} == {"reproduces"}


def test_expected_orders_by_brute_force():
    methods = compared_methods("biased")
    kept = total = 0
    for seed in range(6):
        tables = [
            replicated("biased", 2 * seed + k).set_index(["case", "method"])["accuracy"]
            for k in (0, 1)
        ]
        for case in values("biased")["case"].unique():
            for pair in combinations(methods, 2):
                old, new = ([t[case, m].to_numpy() for m in pair] for t in tables)
                if stats.ttest_ind(*old, equal_var=False).pvalue < 0.05:
                    again = stats.ttest_rel(*new)
                    same = again.statistic * (old[0].mean() - old[1].mean()) > 0
                    kept, total = kept + (again.pvalue < 0.05 and same), total + 1
    share = replication.expected_orders("biased", 30)["kept"]
    assert kept / total == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_value_agrees_in_nineteen_of_twenty_replications(experiment):
    chances = replication.expected_values(experiment, 30)
    assert len(chances) == len(values(experiment))
    assert np.mean([agrees for agrees, _ in chances.values()]) == pytest.approx(0.95, abs=0.01)
    shares = replication.expected_orders(experiment, 30)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["reversed"] < 0.01


def test_fewer_runs_keep_fewer_orders():
    few, many = (replication.expected_orders("biased", n)["kept"] for n in (5, 30))
    assert few < many


def test_one_run_missing_methods_and_missing_runs():
    runs = runs_like_the_paper("synthetic")
    one = verdicts.compare(runs[runs["seed"] == 0], "synthetic")
    assert one["low"].isna().all()
    assert (one["n"] == 1).all()
    assert not (one["value"] == "agrees").any()

    verdict = verdicts.judge(runs[runs["method"] != "uLSIF"], "synthetic")
    marks = verdict.values.set_index(["case", "method"])["value"]
    assert marks["100", "uLSIF"] == "not run"
    assert marks["100", "DDR-uLSIF"] == "agrees"
    assert (verdict.orders["order"] == "not run").sum() == 11
    assert "6 not run" in verdicts.summary(verdict)

    spoiled = runs.assign(accuracy=runs["accuracy"].where(runs["seed"] != 4))
    assert set(verdicts.compare(spoiled, "synthetic")["n"]) == {29}
    assert verdicts.judge(runs, "biased").word == "not run"


def test_numeric_cases_and_further_methods_are_welcome():
    runs = runs_like_the_paper("synthetic")
    runs["case"] = runs["case"].astype(int)
    extra = runs[runs["method"] == "uLSIF"].assign(method="KLIEP")
    compared = verdicts.compare(pd.concat([runs, extra]), "synthetic")
    assert len(compared) == 24
    assert (compared["value"] == "agrees").all()


def test_tables_print_every_value_with_its_marks():
    runs = runs_like_the_paper("synthetic")
    beside = tables.beside(runs, "synthetic")
    assert len(beside) == 24
    row = beside.set_index(["n_tr", "Method"]).loc[("100", "DDR-uLSIF")]
    assert row["Paper"] == row["Ours"] == "**0.9717 ± 0.0060**"
    assert (row["Value"], row["Sd"]) == ("agrees", "agrees (1.00)")
    text = tables.markdown(tables.wide(runs, "synthetic"))
    assert text.count("\n") == 2 + 6
    assert "**0.9737 ± 0.0046** (agrees)" in text
    page = tables.html(beside, caption="a < b")
    assert page.count("<tr>") == 25
    assert "<strong>0.9717 ± 0.0060</strong>" in page
    assert "a &lt; b" in page
    assert "**" not in page


def test_tables_show_one_run_and_missing_runs_plainly():
    runs = runs_like_the_paper("synthetic")
    one = runs[(runs["seed"] == 0) & (runs["case"] == "100")]
    beside = tables.beside(one, "synthetic").set_index(["n_tr", "Method"])
    assert beside.loc[("100", "uLSIF"), "95 % interval"] == "one run: no interval"
    assert "±" not in beside.loc[("100", "uLSIF"), "Ours"]
    assert beside.loc[("200", "uLSIF"), "Ours"] == "–"
    assert beside.loc[("200", "uLSIF"), "Value"] == "not run"


def test_points_have_a_true_minus_and_no_negative_zero():
    assert [tables.points(x) for x in (-1.005, 0.004, -0.004, np.nan)] == [
        "−1.00",
        "+0.00",
        "+0.00",
        "–",
    ]
    assert "\\|" in tables.markdown(pd.DataFrame({"a": ["x|y"]}))
