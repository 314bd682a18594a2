"""The search for a protocol: selections are right, a planted protocol is found, nothing peeks."""

import numpy as np
import pandas as pd
import pytest
import yaml
from companion.evidence import printed as printed_values
from companion.evidence import protocol_search as searching
from companion.evidence import search as page
from companion.paths import BOOK, EXPERIMENTS, cross_case
from companion.runs.protocols import changed, load_protocol
from companion.runs.responses import (
    PENALTIES,
    BiasedTables,
    CostResponses,
    CrossResponses,
    _LeastSquares,
)
from sklearn.svm import SVC

from ddr.iwcv import stratified_folds
from ddr.kernels import gaussian_kernel
from ddr.paper.datasets import scale_to_unit_box
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.shifts import cross_dataset
from ddr.paper.svm import LinearSVMWithPosteriorsCV

CASES = [f"case {i}" for i in range(8)]


@pytest.fixture
def search():
    """A small search: two choices of two levels, three values of C."""
    offered = {"C": {"all": [0.1, 1.0, 10.0], "0.1 and 10": [0.1, 10.0], "1": [1.0]}}
    return {
        "columns": ["Unweighted"],
        "cases": CASES,
        "choice": CASES[::2],
        "validation": CASES[1::2],
        "choices": {
            "resize": {"sharp": {"clip": False}, "soft": {"clip": True}},
            "scaling": {"one": {"scaling": "global"}, "each": {"scaling": "draw"}},
        },
        "screened": offered,
        "selections": offered,
    }


@pytest.fixture
def responses(search):
    """Responses in which every variant and every C has accuracies of its own."""
    rng = np.random.default_rng(3)
    rows = []
    for variant in searching.variants(search):
        level = rng.uniform(0.5, 0.9, (len(CASES), 3))
        for place, case in enumerate(CASES):
            for draw in range(5):
                for k, C in enumerate((0.1, 1.0, 10.0)):
                    accuracy = level[place, k] + rng.normal(0, 0.02)
                    rows.append((variant, case, draw, C, accuracy, rng.random()))
    columns = ["variant", "case", "draw", "candidate", "accuracy", "risk"]
    return pd.DataFrame(rows, columns=columns).assign(stage="second")


def as_print(found, protocol):
    """The table that a protocol would print, without chance."""
    return found.set_index(searching.KEYS).loc[[protocol]].reset_index(drop=True)


def protocols_of(found):
    return list(found.groupby(searching.KEYS).groups)


def test_a_search_of_no_table_is_refused():
    with pytest.raises(ValueError, match="experiment must be one of synthetic, biased, cross, got"):
        searching.read_search("toy")


def test_a_selection_takes_the_least_risk(responses):
    chosen = searching.selected(responses, [0.1, 10.0])
    offered = responses[responses["candidate"] != 1.0]
    least = offered.loc[offered.groupby(["variant", "case", "draw"])["risk"].idxmin()]
    assert sorted(chosen.index) == sorted(least.index)


def test_of_equal_risks_the_smaller_c_is_taken(responses):
    chosen = searching.selected(responses.assign(risk=0.5), [10.0, 0.1])
    assert set(chosen["candidate"]) == {0.1}


def test_a_planted_protocol_is_found(search, responses):
    found = searching.outcomes(search, responses, "second")
    assert len(protocols_of(found)) == 12
    for protocol in protocols_of(found):
        best = searching.ranking(search, as_print(found, protocol), found).iloc[0]
        assert tuple(best[searching.KEYS]) == protocol
        assert best["score"] == 0


def test_the_calibration_finds_what_differs_and_not_what_does_not(search, responses):
    share = searching.calibration(search, searching.outcomes(search, responses, "second"))
    assert share["resize"] > 0.85
    assert share["scaling"] > 0.85
    alike = searching.outcomes(search, responses.assign(accuracy=0.7), "second")
    share = searching.calibration(search, alike)
    assert share["resize"] < 0.7
    assert share["protocol"] < 0.3


def test_the_score_counts_spreads_as_well_as_means(search, responses):
    found = searching.outcomes(search, responses, "second")
    protocol = protocols_of(found)[0]
    printed = as_print(found, protocol)
    of_it = found[(found[searching.KEYS] == list(protocol)).all(axis=1)]
    assert searching.score(of_it, printed, search["choice"]).item() == 0
    for column in ("mean", "sd"):
        moved = printed.assign(**{column: printed[column] + 0.03})
        assert searching.score(of_it, moved, search["choice"]).item() == pytest.approx(0.03)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_no_score_sees_the_columns_that_test_the_method(experiment, monkeypatch):
    """With the uLSIF and DDR columns taken out of the ledger nothing changes for the search."""
    search = searching.read_search(experiment)
    seen = searching.visible(experiment, search)
    assert {name[:6] for name in seen["column"]} <= {"Unweig", "Oracle"}
    ledger = yaml.safe_load((BOOK / "paper_values.yml").read_text(encoding="utf-8"))
    for table in ledger["tables"].values():
        kept = [i for i, name in enumerate(table["columns"]) if "uLSIF" not in name]
        table["columns"] = [table["columns"][i] for i in kept]
        table["rows"] = {case: [cells[i] for i in kept] for case, cells in table["rows"].items()}
    monkeypatch.setattr(printed_values, "ledger", lambda: ledger)
    assert not printed_values.values()["method"].str.contains("uLSIF").any()
    without = searching.visible(experiment, search)
    found = searching.published_outcomes(search)
    tables = [searching.ranking(search, printed, found) for printed in (seen, without)]
    pd.testing.assert_frame_equal(*tables)


def test_validation_takes_no_part_in_the_choice(search, responses):
    found = searching.outcomes(search, responses, "second")
    printed = as_print(found, protocols_of(found)[0])
    hidden = printed["case"].isin(search["validation"])
    spoilt = printed.assign(mean=np.where(hidden, 0.0, printed["mean"]))
    tables = [searching.ranking(search, p, found) for p in (printed, spoilt)]
    assert (tables[0]["validation"] != tables[1]["validation"]).all()
    pd.testing.assert_frame_equal(*(t.drop(columns="validation") for t in tables))


def test_an_exact_replication_scores_what_chance_allows():
    printed = pd.DataFrame({"case": CASES, "mean": 0.7, "sd": 0.04})
    few, many = (searching.exact_replication(printed, CASES, n) for n in (4, 400))
    assert 0.02 < np.median(few) < 0.04
    assert np.median(many) < 0.005


def test_a_response_is_what_the_machine_gives():
    """Against scikit-learn's own machine on the same draw."""
    search = searching.read_search("cross")
    options = {"scaling": "draw", "clip": False, "max_samples": 150}
    case = "USPS to MNIST 5 vs 6"
    rows = CrossResponses(options, search)(case, 0)
    root = np.random.SeedSequence(search["seed"], spawn_key=(search["cases"].index(case), 0))
    direction = cross_case(case).direction
    problem = cross_dataset((5, 6), direction, random_state=root.spawn(1)[0], **options)
    for row, C in zip(rows, search["Cs"], strict=True):
        machine = SVC(kernel="linear", C=C).fit(problem.X_train, problem.y_train)
        score = machine.score(problem.X_test, problem.y_test)
        assert row["accuracy"] == pytest.approx(score, abs=0.01)
        assert 0 <= row["risk"] < 0.2


def test_a_response_of_the_third_stage_is_what_the_machine_of_the_tables_gives():
    search = searching.read_search("cross") | {"costs": [0.1, 1.0, 10.0]}
    run = CostResponses({"scaling": "draw", "clip": False, "max_samples": 150}, search)
    case = "USPS to MNIST 5 vs 6"
    found = searching.as_responses(
        pd.DataFrame(run(case, 0)).assign(case=case, seed=0), "third", "one"
    )
    problem, fold_seed = run._draw(case, 0)
    folds = int(fold_seed.generate_state(1)[0])
    model = LinearSVMWithPosteriorsCV([0.1, 1.0, 10.0], random_state=folds)
    model.fit(problem.X_train, problem.y_train)
    shared = found[found["folds"] == "shared"]
    for by in ("posterior", "decision"):
        own = shared[shared["by"] == by]
        assert own["risk"].tolist() == pytest.approx(model.cv_scores_.tolist(), abs=0.01)
        score = model.set_params(predict_by=by).score(problem.X_test, problem.y_test)
        chosen = searching.selected(found, [0.1, 1.0, 10.0], "shared", by)
        assert chosen["candidate"].item() == model.best_C_
        assert chosen["accuracy"].item() == pytest.approx(score, abs=0.01)
    new = found[found["folds"] == "new"]
    assert new["risk"].tolist() != shared["risk"].tolist()


def test_a_search_is_taken_up_again(tmp_path, monkeypatch):
    search = searching.read_search("cross")
    small = {"resize": "nearest", "max_samples": 60}
    cases = search["cases"][:2]
    search |= {
        "cases": cases,
        "choice": cases,
        "choices": {"resize": {"small": small}, "scaling": {"one": {"scaling": "global"}}},
        "costs": [0.1, 1.0],
        "selections": search["selections"] | {"values of C": {"both": [0.1, 1.0]}},
        "stages": search["stages"] | {"third": {"draws": 2}},
    }
    monkeypatch.setattr(searching, "kept", lambda *_: ["small | one"])
    said = []
    first = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    screened = first["responses"].query("stage == 'screen'")
    assert len(screened) == 2 * len(search["Cs"])
    assert screened["candidate"].tolist() == search["Cs"] * 2
    assert screened[["accuracy", "risk"]].notna().all(axis=None)
    assert first["search"]["grid"].nunique() == len(searching.grids(search)) == 4
    assert (first["search"]["draws"] == 2).all()
    assert said[0] == "screen: 1 variant"
    for responses in (CrossResponses, CostResponses):  # nothing may be computed
        monkeypatch.setattr(responses, "__call__", None)
    again = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    for kind in first:
        pd.testing.assert_frame_equal(again[kind], first[kind])


def test_a_published_response_is_computed_again():
    search = searching.read_search("cross")
    responses = searching.published("cross", "responses")
    variant, case = responses["variant"].iloc[0], "USPS to MNIST 0 vs 1"
    stored = responses.query("stage == 'screen' and variant == @variant and case == @case")
    again = CrossResponses(searching.variants(search)[variant], search)(case, 0)
    for column in ("accuracy", "risk"):
        assert [row[column] for row in again] == pytest.approx(stored[column].tolist(), abs=5e-3)


def test_the_third_stage_has_the_three_best_variants_of_the_second():
    search = searching.read_search("cross")
    printed = searching.visible("cross", search)
    responses = searching.published("cross", "responses")
    found = searching.published_outcomes(search)
    assert set(found["variant"]) == set(searching.kept(search, printed, responses, "second"))
    assert (found["draws"] == search["stages"]["third"]["draws"]).all()


def test_the_matched_protocol_is_the_one_that_the_third_stage_found():
    search = searching.read_search("cross")
    printed = searching.visible("cross", search)
    best = searching.ranking(search, printed, searching.published_outcomes(search)).iloc[0]
    rule = searching.grids(search)[best["grid"]]
    assert rule["folds of the cross-validation"] == "shared"
    assert rule["called by"] == "decision"
    matched = load_protocol("cross")
    assert matched["learner"]["Cs"] == rule["values of C"]
    options = searching.variants(search)[best["variant"]]
    assert matched["problem"] | options == matched["problem"]


# Biased sampling: response tables


@pytest.fixture
def biased():
    """The rules of the biased search, with two directions only."""
    return searching.read_search("biased") | {"omegas": 2}


def rule_of(search, **levels):
    """The first level of every selection, some of them changed."""
    chosen = {choice: next(iter(options)) for choice, options in search["selections"].items()}
    chosen |= levels
    return {choice: search["selections"][choice][level] for choice, level in chosen.items()}


def test_a_table_is_what_the_learner_gives(biased):
    """Against the package's learner on the same rows, widths and penalties."""
    from companion.runs.experiments import load_case

    rng = np.random.default_rng(0)
    table = load_case("BreastCancer")
    X, y = scale_to_unit_box(table.X), np.unique(table.y, return_inverse=True)[1]
    rows, test = np.split(rng.permutation(len(y)), [250])
    weight = rng.uniform(0.5, 2.0, len(rows))
    centers, folds = X[test[:60]], stratified_folds(y[rows], 5, 0)
    fit = _LeastSquares(gaussian_kernel(X[rows], centers, 1.5), y[rows], weight)
    found = fit.responses(gaussian_kernel(X[test], centers, 1.5), y[test], folds)
    for loss, column in (("zero_one", 1), ("squared", 4)):
        model = IWLSPCCV(sigmas=[1.5], lams=PENALTIES[6:], centers=centers, cv=folds, loss=loss)
        model.fit(X[rows], y[rows], weight)
        assert found[6:, column] == pytest.approx(model.cv_scores_[0], abs=1e-8)
        chosen = list(PENALTIES).index(model.best_lam_)
        assert found[chosen, 0] == pytest.approx(model.score(X[test], y[test]), abs=1e-12)


def test_tables_of_a_search_are_taken_up_again(biased, tmp_path, monkeypatch):
    choices = {"strength": {"4": {"strength": 4.0, "max_rows": 60}}}
    choices |= {"ideal": {"as they are": {"scaled": False}, "mean 1": {}}}  # share their tables
    search = biased | {"cases": ["Ionosphere"], "choices": choices, "draws": 2}
    arguments = search, tmp_path / "runs", print
    first = searching.compute(*arguments)["search"]
    assert len(list(tmp_path.glob("runs/*/*.gz"))) == 2
    assert len(first) == 2 * len(searching.grids(search)) * len(search["columns"])
    assert first["mean"].between(0, 1).all()
    monkeypatch.setattr(BiasedTables, "__call__", None)  # nothing may be computed
    pd.testing.assert_frame_equal(searching.compute(*arguments)["search"], first)


def test_selections_take_what_their_words_say(biased):
    """A made-up table in which each quantity tells its own tale."""
    tables = np.zeros((1, 2, 2, 2, 12, len(PENALTIES), 5))
    lam = {value: list(PENALTIES.round(12)).index(value) for value in (0.1, 1.0, 10.0)}
    risk = tables[..., 1]
    risk[:] = 1
    risk[..., 3, lam[0.1]] = risk[..., 3, lam[10.0]] = 0.2  # equal risks at the median width
    tables[..., 4] = 1
    tables[..., 3, lam[1.0], 4] = 0  # the squared loss prefers the penalty between
    for place, value in enumerate((0.1, 1.0, 10.0)):
        tables[..., 3, lam[value], 0] = 0.5 + 0.1 * place
    tables[0, 1, 0, 1, ..., 0] -= 0.3  # ideal weights harm most in the second direction
    tables[:, :, 1, ..., 0] += 0.01  # the set drawn again

    def taken(**levels):
        rule = rule_of(biased, **levels)
        return searching.chosen_accuracies(biased, "Diabete", {}, tables, rule)[0].round(4).tolist()

    assert taken() == [0.71, 0.71]
    assert taken(**{"of equal risks": "the least smooth"}) == [0.51, 0.51]
    assert taken(loss="squared") == [0.61, 0.61]
    assert taken(**{"training set after the choice": "the one that chose"}) == [0.7, 0.7]
    levels = {
        "training set after the choice": "the one that chose",
        "gap of a direction": "absolute",
    }
    assert taken(**levels) == [0.7, 0.4]
    assert taken(**{"where no class is likely": "first class"}) == [0.0, 0.0]


def test_ideal_weights_as_they_are_weaken_the_penalty_of_the_ideal_fit_alone(biased):
    tables = np.zeros((1, 2, 2, 2, 12, len(PENALTIES), 5))
    tables[..., 0] = np.arange(len(PENALTIES)) / 100  # the accuracy tells the penalty's place
    rule = rule_of(biased, regularisation="1 alone")
    scaled, raw = (
        searching.chosen_accuracies(biased, "Diabete", options, tables, rule)[0]
        for options in ({}, {"scaled": False})
    )
    place = list(PENALTIES.round(12)).index(1.0) / 100
    assert scaled == pytest.approx([place, place], abs=1e-6)
    assert raw == pytest.approx([place, place - 0.01], abs=1e-6)


def test_one_direction_for_all_runs_has_the_largest_mean_gap(biased):
    tables = np.zeros((2, 2, 2, 2, 12, len(PENALTIES), 5))
    tables[0, 0, :, 1, ..., 0] = 0.3  # the first run alone would take the first direction
    tables[0, 1, :, 1, ..., 0] = 0.2
    tables[1, 1, :, 1, ..., 0] = 0.4
    rule = rule_of(biased)
    for options, expected in (({}, [0.3, 0.4]), ({"directions": "once"}, [0.2, 0.4])):
        found = searching.chosen_accuracies(biased, "Diabete", options, tables, rule)
        assert found[:, 1] == pytest.approx(expected, abs=1e-6)


def test_one_direction_for_all_runs_is_the_same_in_every_draw(biased, monkeypatch):
    from companion.runs import responses

    seen = []

    def noted(X, omega, strength):
        seen.append(omega)
        return np.full(len(X), 0.5)

    monkeypatch.setattr(responses, "selection_probability", noted)
    tables = BiasedTables({"strength": 4.0, "directions": "once", "max_rows": 60}, biased)
    for draw in (0, 1):
        tables("Ionosphere", draw)
    assert np.array_equal(seen[:2], seen[2:])
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_protocol_planted_in_the_published_search_is_found(experiment):
    search = searching.read_search(experiment)
    found = searching.published_outcomes(search)
    protocols = found.groupby(searching.KEYS, sort=False).ngroup()
    for place in (0, protocols.max() // 2, protocols.max()):
        planted = found[protocols == place]
        best = searching.ranking(search, planted, found).iloc[0]
        assert best["score"] == 0
        assert planted["variant"].iloc[0] in best["variant"]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_matched_protocol_gives_way_only_to_one_that_is_nearer_on_both_halves(experiment):
    done = page.searched(experiment)
    old = page.matched_before(done.search, done.table)
    assert len(old) == 1
    text = page.best(done).data
    assert ("takes its place" in text) == page.nearer(done.table, old)
    doctored = done.table.assign(validation=[9.0, *done.table["validation"][1:]])
    text = page.best(done._replace(table=doctored)).data
    assert "**none of these**" in text
    assert "that one stays" in text


def test_what_was_taken_from_the_synthetic_search_is_the_matched_protocol():
    search, matched = searching.read_search("synthetic"), load_protocol("synthetic")
    taken = changed(matched, **searching.variants(search)[search["taken"]])
    assert taken["problem"] == matched["problem"]
    assert taken["learner"] == matched["learner"] | {"unbiased": False}
