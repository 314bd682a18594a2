"""The search for a protocol: selections are right, a planted protocol is found, nothing peeks."""

import numpy as np
import pandas as pd
import pytest
import yaml
from companion.evidence import protocol_search as searching
from companion.paths import BOOK, cross_task
from companion.runs.responses import CrossResponses
from sklearn.svm import SVC

from ddr.shifts import cross_dataset

CASES = [f"case {i}" for i in range(8)]


@pytest.fixture
def search():
    """A small search: two choices of two levels, three values of C."""
    return {
        "columns": ["Unweighted"],
        "cases": CASES,
        "choice": CASES[::2],
        "validation": CASES[1::2],
        "choices": {
            "resize": {"sharp": {"clip": False}, "soft": {"clip": True}},
            "scaling": {"one": {"scaling": "global"}, "each": {"scaling": "draw"}},
        },
        "grids": {"all": [0.1, 1.0, 10.0], "0.1 and 10": [0.1, 10.0], "1": [1.0]},
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
        best = searching.ranking(search, as_print(found, protocol), responses, "second").iloc[0]
        assert tuple(best[searching.KEYS]) == protocol
        assert best["score"] == 0


def test_the_calibration_finds_what_differs_and_not_what_does_not(search, responses):
    assert searching.calibration(search, responses, "second")["variant"] == 1
    alike = responses.assign(accuracy=0.7)
    assert searching.calibration(search, alike, "second")["variant"] < 0.5


def test_the_score_counts_spreads_as_well_as_means(search, responses):
    found = searching.outcomes(search, responses, "second")
    protocol = protocols_of(found)[0]
    printed = as_print(found, protocol)
    of_it = found[(found[searching.KEYS] == list(protocol)).all(axis=1)]
    assert searching.score(of_it, printed, search["choice"]).item() == 0
    for column in ("mean", "sd"):
        moved = printed.assign(**{column: printed[column] + 0.03})
        assert searching.score(of_it, moved, search["choice"]).item() == pytest.approx(0.03)


def test_no_score_sees_the_columns_that_test_the_method(tmp_path):
    """With the uLSIF and DDR columns taken out of the ledger nothing changes for the search."""
    search = searching.read_search("cross")
    seen = searching.visible("cross", search)
    assert set(seen["method"]) == {"Unweighted"}
    ledger = yaml.safe_load((BOOK / "paper_values.yml").read_text(encoding="utf-8"))
    for table in ledger["tables"].values():
        kept = [i for i, name in enumerate(table["columns"]) if "uLSIF" not in name]
        table["columns"] = [table["columns"][i] for i in kept]
        table["rows"] = {case: [cells[i] for i in kept] for case, cells in table["rows"].items()}
    path = tmp_path / "ledger.yml"
    text = yaml.safe_dump(ledger, allow_unicode=True, sort_keys=False)
    path.write_text(text, encoding="utf-8")
    pd.testing.assert_frame_equal(seen, searching.visible("cross", search, path))


def test_validation_takes_no_part_in_the_choice(search, responses):
    found = searching.outcomes(search, responses, "second")
    printed = as_print(found, protocols_of(found)[0])
    hidden = printed["case"].isin(search["validation"])
    spoilt = printed.assign(mean=np.where(hidden, 0.0, printed["mean"]))
    tables = [searching.ranking(search, p, responses, "second") for p in (printed, spoilt)]
    pd.testing.assert_frame_equal(*tables)


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
    direction = cross_task(case).direction
    problem = cross_dataset((5, 6), direction, random_state=root.spawn(1)[0], **options)
    for row, C in zip(rows, search["Cs"], strict=True):
        machine = SVC(kernel="linear", C=C).fit(problem.X_train, problem.y_train)
        score = machine.score(problem.X_test, problem.y_test)
        assert row["accuracy"] == pytest.approx(score, abs=0.01)
        assert 0 <= row["risk"] < 0.2


def test_a_search_is_taken_up_again(tmp_path, monkeypatch):
    search = searching.read_search("cross")
    small = {"resize": "nearest", "max_samples": 60}
    search |= {
        "choice": search["cases"][:2],
        "choices": {"resize": {"small": small}, "scaling": {"one": {"scaling": "global"}}},
    }
    said = []
    first = searching.compute(search, tmp_path / "runs.sqlite", said.append, jobs=1)
    screened = first[first["stage"] == "screen"]
    assert len(screened) == 2 * len(search["Cs"])
    assert screened["candidate"].tolist() == search["Cs"] * 2
    assert screened[["accuracy", "risk"]].notna().all(axis=None)
    assert said[0] == "screen, 1 of 1: small | one"
    monkeypatch.setattr(CrossResponses, "__call__", None)  # nothing may be computed
    again = searching.compute(search, tmp_path / "runs.sqlite", said.append, jobs=1)
    pd.testing.assert_frame_equal(again, first)


def test_a_published_response_is_computed_again():
    search = searching.read_search("cross")
    responses = searching.published_responses("cross")
    variant, case = responses["variant"].iloc[0], "USPS to MNIST 0 vs 1"
    stored = responses.query("stage == 'screen' and variant == @variant and case == @case")
    again = CrossResponses(searching.variants(search)[variant], search)(case, 0)
    for column in ("accuracy", "risk"):
        assert [row[column] for row in again] == pytest.approx(stored[column].tolist(), abs=5e-3)


def test_the_matched_protocol_is_the_one_that_the_search_found():
    from companion.runs.protocols import load_protocol

    search = searching.read_search("cross")
    printed = searching.visible("cross", search)
    table = searching.ranking(search, printed, searching.published_responses("cross"), "second")
    best, matched = table.iloc[0], load_protocol("cross")
    options = searching.variants(search)[best["variant"]]
    assert matched["problem"] | options == matched["problem"]
    assert matched["learner"]["Cs"] == search["grids"][best["grid"]]
