"""The ledger against the TeX, the comparison and the t-tests against independent computations."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from companion.evidence import printed as paper
from companion.evidence import significance, tables
from paper_runs import runs_like_the_paper
from scipy import stats

PAPER_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "paper"


@pytest.fixture(scope="module")
def tex():
    sources = sorted(PAPER_FOLDER.glob("*.tex")) if PAPER_FOLDER.is_dir() else []
    if not sources:
        pytest.skip("the paper's TeX is not part of this repository: the ledger is not compared")
    return sources[0].read_text(encoding="utf-8")


def tex_rows(tex, label):
    """Return {row name: [(mean, sd, typeface), ...]} of one table in the source."""
    body = tex.split(rf"\label{{{label}}}")[1].split(r"\end{table*}")[0]
    rows = {}
    for line in body.split(r"\tabularnewline"):
        first, *cells = line.split("&")
        found = [re.search(r"(\d\.\d{4})\\textpm\{\}(\d\.\d{4})", cell) for cell in cells]
        if not found or not all(found):
            continue
        name = re.search(r"\\textbf\{\\small\{(.+?)\}\}", first)[1]
        rows[name] = [
            (float(m[1]), float(m[2]), _typeface(cell))
            for m, cell in zip(found, cells, strict=True)
        ]
    return rows


def _typeface(cell):
    if r"\textbf" in cell:
        return "bold"
    return "italic" if r"\textit" in cell else "plain"


def tex_values(tex):
    printed = {}
    for name, table in paper.ledger()["tables"].items():
        columns = table["columns"]
        for row, cells in tex_rows(tex, table["label"]).items():
            if name == "cross":
                scenarios = {"USPS to MNIST ": cells[:3], "MNIST to USPS ": cells[3:]}
            else:
                scenarios = {"": cells}
            for prefix, part in scenarios.items():
                for method, cell in zip(columns, part, strict=True):
                    printed[name, prefix + row, method] = cell
    return printed


def test_every_printed_value_and_typeface_is_in_the_ledger(tex):
    ours = {
        (v.experiment, v.case, v.method): (v.mean, v.sd, v.typeface)
        for v in paper.values().itertuples()
    }
    theirs = tex_values(tex)
    assert len(theirs) == 124
    assert ours == theirs


def test_table_numbers_follow_the_source(tex):
    labels = re.findall(r"\\begin\{table\*\}.*?\\label\{(.+?)\}", tex, flags=re.DOTALL)
    for table in paper.ledger()["tables"].values():
        assert labels.index(table["label"]) + 1 == table["number"]


def test_no_table_of_mean_and_sd_is_left_out(tex):
    assert len(re.findall(r"\\textpm", tex)) == len(paper.values()) == 124


def test_ledger_shape_and_marks():
    printed = paper.values()
    assert printed.groupby("experiment").size().to_dict() == {
        "synthetic": 24,
        "biased": 40,
        "cross": 60,
    }
    assert not printed.duplicated(["experiment", "case", "method"]).any()
    assert printed["mean"].between(0, 1).all()
    assert (printed["sd"] > 0).all()
    assert set(printed.loc[printed["reference"], "method"]) == {"Oracle-cvtest", "Oracle-imp"}
    assert (printed.loc[printed["reference"], "typeface"] == "plain").all()
    # 6 + 9 + 15 sole winners and the three tied cells of Diabete.
    assert (printed["typeface"] == "bold").sum() == 33
    assert (printed["typeface"] == "italic").sum() == 3


def test_bad_ledger_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be a ledger"):
        paper.values(path=tmp_path / "none.yml")
    with pytest.raises(ValueError, match="text must look like"):
        paper.parse_cell("0.97 +- 0.1")
    with pytest.raises(ValueError, match="experiment must be one of synthetic, biased, cross"):
        paper.values("toy")


@pytest.mark.parametrize("experiment", paper.EXPERIMENTS)
def test_the_papers_own_numbers_agree_with_the_paper(experiment):
    compared = paper.compare(runs_like_the_paper(experiment), experiment)
    np.testing.assert_allclose(compared["delta"], 0, atol=1e-12)
    np.testing.assert_allclose(compared["sd"], compared["paper_sd"])
    assert (compared["verdict"] == "R3").all()
    assert (compared["n"] == 30).all()
    assert paper.summary(compared) == (
        f"{len(compared)} values: {len(compared)} R3, 0 R2, 0 R1, 0 R0"
    )


@pytest.mark.parametrize("n", [2, 7, 30])
def test_interval_is_welchs(n):
    rng = np.random.default_rng(3)
    sample = rng.normal(0.8, 0.05, n)
    low, high = paper.delta_interval(sample.mean(), sample.std(ddof=1), n, 0.77, 0.04)
    test = stats.ttest_ind_from_stats(
        sample.mean(), sample.std(ddof=1), n, 0.77, 0.04, 30, equal_var=False
    )
    # An interval contains 0 exactly when the test does not reject: its edge has p = .05.
    np.testing.assert_allclose((low + high) / 2, sample.mean() - 0.77)
    edge = stats.ttest_ind_from_stats(
        0.77 + (high - low) / 2, sample.std(ddof=1), n, 0.77, 0.04, 30, equal_var=False
    )
    np.testing.assert_allclose(edge.pvalue, 0.05, rtol=1e-9)
    assert (low <= 0 <= high) == (test.pvalue >= 0.05)


def test_interval_of_two_normal_samples_worked_by_hand():
    # Equal sd .06 and n = 30: nu = 58, t = 2.001717, se = .06 * sqrt(2 / 30) = .0154919.
    low, high = paper.delta_interval(0.7, 0.06, 30, 0.7, 0.06)
    np.testing.assert_allclose([low, high], [-0.0310105, 0.0310105], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((0.02, -0.001, 0.041, 0.01, False), "R3"),
        ((0.0201, -0.001, 0.041, 0.03, True), "R2"),
        ((0.01, 0.005, 0.015, 0.01, True), "R2"),
        ((0.011, 0.005, 0.015, 0.01, True), "R1"),
        ((0.001, 0.0005, 0.0015, 0.01, False), "R0"),
        ((0.001, np.nan, np.nan, 0.01, True), "R2"),
        ((0.05, 0.04, 0.06, 0.01, None), "not judged"),
        ((np.nan, np.nan, np.nan, 0.01, None), "not run"),
    ],
)
def test_verdict_definitions(arguments, expected):
    assert paper.verdict(*arguments) == expected


def test_order_is_strict_and_accepts_only_printed_ties():
    printed = {"Unweighted": 0.6025, "uLSIF": 0.6041, "DDR-uLSIF": 0.6539}
    assert paper.same_order(printed, {"Unweighted": 0.6, "uLSIF": 0.7, "DDR-uLSIF": 0.8})
    # Printed 0.16 points apart, and the other way round in ours.
    assert not paper.same_order(printed, {"Unweighted": 0.7, "uLSIF": 0.6, "DDR-uLSIF": 0.8})
    assert not paper.same_order(printed, {"Unweighted": 0.7, "uLSIF": 0.7, "DDR-uLSIF": 0.7})
    assert paper.same_order(printed, {"Unweighted": 0.7, "uLSIF": 0.6}) is None
    tied = printed | {"uLSIF": 0.6025}
    assert paper.same_order(tied, {"Unweighted": 0.7, "uLSIF": 0.6, "DDR-uLSIF": 0.8})
    assert paper.same_order(tied, {"Unweighted": 0.6, "uLSIF": 0.7, "DDR-uLSIF": 0.8})


def test_fewer_runs_one_run_missing_methods_and_nan():
    runs = runs_like_the_paper("synthetic")
    one = runs[runs["seed"] == 0]
    compared = paper.compare(one, "synthetic")
    assert compared["low"].isna().all()
    assert (compared["note"] == "one run: no interval").all()
    assert not (compared["verdict"] == "R3").any()

    no_ulsif = paper.compare(runs[runs["method"] != "uLSIF"], "synthetic")
    verdicts = no_ulsif.set_index(["case", "method"])["verdict"]
    assert verdicts["100", "uLSIF"] == "not run"
    assert verdicts["100", "DDR-uLSIF"] == "R3"
    far = runs.assign(accuracy=runs["accuracy"] - 0.3)
    judged = paper.compare(far[far["method"] != "uLSIF"], "synthetic")
    assert set(judged["verdict"]) == {"not run", "not judged"}

    spoiled = runs.assign(accuracy=runs["accuracy"].where(runs["seed"] != 4))
    compared = paper.compare(spoiled, "synthetic")
    assert (compared["n"] == 29).all()
    assert (compared["note"] == "29 runs, the paper has 30").all()
    assert compared["delta"].notna().all()

    nothing = paper.compare(runs, "biased")
    assert paper.summary(nothing) == "40 values: 0 R3, 0 R2, 0 R1, 0 R0, 40 not run"


def test_shifted_runs_keep_the_order_and_lose_the_value():
    compared = paper.compare(runs_like_the_paper("synthetic", shift=-0.2), "synthetic")
    assert set(compared["verdict"]) == {"R1"}
    swapped = runs_like_the_paper("synthetic", shift=-0.2)
    names = {"uLSIF": "DDR-uLSIF", "DDR-uLSIF": "uLSIF"}
    swapped["method"] = swapped["method"].replace(names)
    assert set(paper.compare(swapped, "synthetic")["verdict"]) == {"R0"}


def test_numeric_cases_and_further_methods_are_welcome():
    runs = runs_like_the_paper("synthetic")
    runs["case"] = runs["case"].astype(int)
    extra = runs[runs["method"] == "uLSIF"].assign(method="KLIEP")
    compared = paper.compare(pd.concat([runs, extra]), "synthetic")
    assert len(compared) == 24
    assert (compared["verdict"] == "R3").all()


def test_repeated_runs_and_missing_columns_are_refused():
    runs = runs_like_the_paper("cross", n=3)
    with pytest.raises(ValueError, match="results must hold each run once"):
        paper.compare(pd.concat([runs, runs]), "cross")
    with pytest.raises(ValueError, match=r"missing \['seed'\]"):
        paper.compare(runs.drop(columns="seed"), "cross")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (1.2, r"accuracies from 0 to 1, got 1\.2 \(0 vs 9 x, uLSIF, run 2\)"),
        (-0.1, r"accuracies from 0 to 1, got -0\.1"),
        (np.inf, "accuracies from 0 to 1, got inf"),
        ("high", "accuracies from 0 to 1, got high"),
    ],
)
def test_impossible_accuracies_are_refused(wrong, said):
    runs = runs_like_the_paper("cross", n=3)
    extra = runs.iloc[[-1]].assign(case="0 vs 9 x", method="uLSIF", accuracy=wrong)
    with pytest.raises(ValueError, match=said):
        paper.compare(pd.concat([runs, extra]), "cross")


def test_only_names_that_cannot_be_protocols_are_refused():
    runs = runs_like_the_paper("cross", n=3)
    runs = pd.concat([runs, runs.assign(protocol="mine"), runs.assign(protocol="universe:a")])
    said = r"^protocol must be one that was run \(matched, mine, \.\.\.\), got 'macthed'$"
    with pytest.raises(ValueError, match=said):
        paper.compare(runs, "cross", "macthed")
    assert (paper.compare(runs, "cross", "mine")["n"] == 3).all()
    # What may have no runs yet is not run: known protocols, and whatever is asked of no runs.
    for results, experiment, protocol in (
        (runs, "cross", "tuned"),
        (runs, "cross", "universe:b"),
        (runs, "biased", "mine"),
        (runs.iloc[:0], "cross", "mine"),
    ):
        assert set(paper.compare(results, experiment, protocol)["verdict"]) == {"not run"}


@pytest.mark.parametrize("results", [None, [], {"accuracy": [1.0]}, "results.csv"])
def test_results_must_be_a_table(results):
    said = f"results must be a DataFrame, got {type(results).__name__}"
    with pytest.raises(TypeError, match=said):
        paper.compare(results, "cross")


def test_compare_all_covers_the_124_values():
    runs = pd.concat([runs_like_the_paper(e) for e in paper.EXPERIMENTS])
    assert paper.summary(paper.compare_all(runs)) == "124 values: 124 R3, 0 R2, 0 R1, 0 R0"


def test_holm_against_its_definition():
    p_values = np.random.default_rng(5).uniform(0, 0.1, 12)
    adjusted = significance.holm(p_values)
    for alpha in (0.01, 0.03, 0.05, 0.2):
        # The step-down procedure itself: reject while p_(i) <= alpha / (m - i + 1).
        rejected = set()
        for rank, index in enumerate(np.argsort(p_values)):
            if p_values[index] > alpha / (len(p_values) - rank):
                break
            rejected.add(index)
        assert rejected == set(np.flatnonzero(adjusted <= alpha))
    with_gap = significance.holm([0.01, np.nan, 0.04])
    np.testing.assert_allclose(with_gap, [0.02, np.nan, 0.04])


def test_significance_against_scipy():
    rng = np.random.default_rng(1)
    runs = runs_like_the_paper("biased")
    runs["accuracy"] = (runs["accuracy"] + rng.normal(0, 0.02, len(runs))).clip(0, 1)
    tested = significance.significance(runs, "biased").set_index(["case", "rival"])
    assert len(tested) == 20
    for (case, rival), row in tested.iterrows():
        first, second = (
            runs[(runs["case"] == case) & (runs["method"] == m)].sort_values("seed")["accuracy"]
            for m in ("DDR-uLSIF", rival)
        )
        np.testing.assert_allclose(row["p_paired"], stats.ttest_rel(first, second).pvalue)
        welch = stats.ttest_ind(first, second, equal_var=False).pvalue
        np.testing.assert_allclose(row["p_welch"], welch)
        np.testing.assert_allclose(row["gain"], first.mean() - second.mean())
        assert row["better_paired"] == (row["gain"] > 0 and row["p_paired"] < 0.05)
    for _, rows in tested.groupby("rival"):
        np.testing.assert_allclose(rows["p_holm"], significance.holm(rows["p_paired"]))
    assert (tested["p_holm"] >= tested["p_paired"]).all()


def test_pairs_are_matched_by_seed_not_by_position():
    runs = runs_like_the_paper("cross")
    shuffled = runs.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        significance.significance(runs, "cross").sort_values(["rival", "case"], ignore_index=True),
        significance.significance(shuffled, "cross").sort_values(
            ["rival", "case"], ignore_index=True
        ),
    )
    # Seeds that only one of the two methods has are left out of the pairs.
    cut = runs[~((runs["method"] == "uLSIF") & (runs["seed"] < 10))]
    tested = significance.significance(cut, "cross")
    assert tested.groupby("rival")["n"].unique().map(list).to_dict() == {
        "Unweighted": [30],
        "uLSIF": [20],
    }


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([0.7, 0.8, 0.9], [0.7, 0.8, 0.9], (1.0, 1.0)),
        ([0.6, 0.6, 0.6], [0.5, 0.5, 0.5], (0.0, 0.0)),
        ([0.6], [0.5], (np.nan, np.nan)),
    ],
)
def test_degenerate_tests(first, second, expected):
    np.testing.assert_array_equal(significance.paired_and_welch(first, second), expected)


def test_significance_without_the_method_is_empty():
    runs = runs_like_the_paper("cross")
    tested = significance.significance(runs[runs["method"] != "DDR-uLSIF"], "cross")
    assert tested.empty
    assert significance.count_line(tested) == "no case with both methods"
    assert {"case", "rival", "p_holm", "better_holm"} <= set(tested.columns)


def _three_methods(experiment, case, columns):
    seeds = range(len(columns["uLSIF"]))
    return pd.DataFrame(
        [
            (experiment, "matched", case, method, seed, accuracy[seed])
            for method, accuracy in columns.items()
            for seed in seeds
        ],
        columns=["experiment", "protocol", "case", "method", "seed", "accuracy"],
    )


def test_bold_and_italic_by_the_papers_rule():
    rng = np.random.default_rng(2)
    base = rng.uniform(0.7, 0.8, 30)
    clear = {"Unweighted": base, "uLSIF": base + rng.normal(0, 0.001, 30), "DDR-uLSIF": base + 0.1}
    tied = {
        "Unweighted": base - 0.1,
        "uLSIF": base + rng.normal(0, 0.02, 30) - 0.001,
        "DDR-uLSIF": base,
    }
    oracle = {"Oracle-imp": base + 0.2}
    marks = significance.typefaces(_three_methods("biased", "Diabete", clear | oracle), "biased")
    assert marks == {("Diabete", "DDR-uLSIF"): "bold"}
    marks = significance.typefaces(_three_methods("biased", "Diabete", tied | oracle), "biased")
    assert marks == {("Diabete", "DDR-uLSIF"): "bold", ("Diabete", "uLSIF"): "bold"}
    case = "USPS to MNIST 0 vs 1"
    (cell,) = significance.typefaces(_three_methods("cross", case, tied), "cross").items()
    assert cell[0][0] == case
    assert cell[0][1] in ("DDR-uLSIF", "uLSIF")
    assert cell[1] == "italic"
    equal = tied | {"uLSIF": tied["DDR-uLSIF"]}  # neither is the best alone
    marks = significance.typefaces(_three_methods("cross", case, equal), "cross")
    assert marks == {(case, "DDR-uLSIF"): "italic", (case, "uLSIF"): "italic"}


def test_count_line_says_where_the_method_is_worse():
    rng = np.random.default_rng(4)
    base, noise = rng.uniform(0.7, 0.8, 30), rng.normal(0, 0.001, 30)
    better = {"uLSIF": base, "DDR-uLSIF": base + 0.1 + noise}
    worse = {"uLSIF": base, "DDR-uLSIF": base - 0.1 + noise}
    runs = [_three_methods("biased", c, m) for c, m in (("Diabete", better), ("USPS5v6", worse))]
    tested = significance.significance(pd.concat(runs), "biased", rivals=["uLSIF"])
    assert significance.count_line(tested) == (
        "better than uLSIF in 1 of 2 cases (paired), 1 (Welch), 1 (Holm), "
        "significantly worse in 1 (paired)"
    )


def test_tables_say_verdicts_in_words_and_print_every_value():
    runs = runs_like_the_paper("synthetic")
    beside = tables.beside(runs, "synthetic")
    assert len(beside) == 24
    row = beside.set_index(["n_tr", "Method"]).loc[("100", "DDR-uLSIF")]
    assert row["Paper"] == "**0.9717 ± 0.0060**"
    assert row["Ours"] == "**0.9717 ± 0.0060**"
    assert row["Verdict"] == "R3: value agrees"
    text = tables.markdown(tables.wide(runs, "synthetic"))
    assert text.count("\n") == 2 + 6
    assert "| 1000 |" in text
    assert "**0.9737 ± 0.0046** (R3)" in text
    page = tables.html(beside, caption="a < b")
    assert page.count("<tr>") == 25
    assert "<strong>0.9717 ± 0.0060</strong>" in page
    assert "a &lt; b" in page
    assert "**" not in page


def test_tables_show_one_run_and_missing_runs_plainly():
    runs = runs_like_the_paper("synthetic")
    one = runs[(runs["seed"] == 0) & (runs["case"] == "100")]
    beside = tables.beside(one, "synthetic").set_index(["n_tr", "Method"])
    assert beside.loc[("100", "uLSIF"), "95 % interval of Δ"] == "one run: no interval"
    assert "±" not in beside.loc[("100", "uLSIF"), "Ours"]
    assert beside.loc[("200", "uLSIF"), "Ours"] == "–"
    assert beside.loc[("200", "uLSIF"), "Verdict"] == "not run: no run stored"
