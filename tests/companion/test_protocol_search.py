"""The search for a protocol: selections are right, a planted protocol is found, nothing peeks."""

import numpy as np
import pandas as pd
import pytest
import yaml
from companion.evidence import protocol_search as search_of
from companion.paths import BOOK
from companion.runs.responses import CrossResponses

CASES = [f"case {i}" for i in range(8)]


@pytest.fixture
def search():
    """A small search: two choices of two levels, three values of C."""
    return {
        "columns": ["Unweighted"],
        "cases": CASES,
        "choice": CASES[::2],
        "validation": CASES[1::2],
        "stages": {"final": {"draws": 5, "keep": 2}},
        "choices": {
            "resize": {"sharp": {"clip": False}, "soft": {"clip": True}},
            "scaling": {"one": {"scaling": "global"}, "each": {"scaling": "draw"}},
        },
        "grids": {"all": [0.1, 1.0, 10.0], "1": [1.0]},
        "fold_rules": ["shared", "new"],
    }


@pytest.fixture
def responses(search):
    """Responses in which every variant and every C has accuracies of its own."""
    rng = np.random.default_rng(3)
    rows = []
    for variant in search_of.variants(search):
        level = rng.uniform(0.5, 0.9, (len(CASES), 3))
        for place, case in enumerate(CASES):
            for draw in range(5):
                for k, C in enumerate((0.1, 1.0, 10.0)):
                    accuracy = level[place, k] + rng.normal(0, 0.02)
                    rows.append((variant, case, draw, "Unweighted", C, accuracy, *rng.random(2)))
    columns = ["variant", "case", "draw", "column", "candidate", "accuracy", "risk", "risk_new"]
    return pd.DataFrame(rows, columns=columns).assign(stage="final")


def as_print(found, protocol):
    """The table that a protocol would print, without chance."""
    chosen = found.set_index(search_of.KEYS).loc[[protocol]].reset_index(drop=True)
    return chosen.rename(columns={"column": "method"})


def test_a_selection_takes_the_least_risk_of_its_folds(responses):
    for folds, risk in (("shared", "risk"), ("new", "risk_new")):
        chosen = search_of.selected(responses, [0.1, 10.0], folds)
        offered = responses[responses["candidate"] != 1.0]
        least = offered.loc[offered.groupby(["variant", "case", "draw"])[risk].idxmin()]
        assert sorted(chosen.index) == sorted(least.index)


def test_of_equal_risks_the_smaller_c_is_taken(responses):
    chosen = search_of.selected(responses.assign(risk=0.5), [10.0, 0.1], "shared")
    assert set(chosen["candidate"]) == {0.1}


def test_a_planted_protocol_is_found(search, responses):
    found = search_of.outcomes(search, responses, "final")
    protocols = list(found.groupby(search_of.KEYS).groups)
    assert len(protocols) == 12  # one value of C needs no folds
    for protocol in protocols:
        best = search_of.ranking(search, as_print(found, protocol), responses, "final").iloc[0]
        assert tuple(best[search_of.KEYS]) == protocol
        assert best["choice"] == best["validation"] == 0


def test_the_calibration_finds_what_differs_and_not_what_does_not(search, responses):
    share = search_of.calibration(search, responses, "final", repeats=3)
    assert share["variant"] == 1
    alike = responses.assign(accuracy=0.7)
    assert search_of.calibration(search, alike, "final", repeats=3)["variant"] < 0.5


def test_the_score_counts_spreads_as_well_as_means(search, responses):
    found = search_of.outcomes(search, responses, "final")
    protocol = next(iter(found.groupby(search_of.KEYS).groups))
    printed = as_print(found, protocol)
    moved = printed.assign(sd=printed["sd"] + 0.03)
    of_it = found[(found[search_of.KEYS] == list(protocol)).all(axis=1)]
    assert search_of.score(of_it, printed, search["choice"]).item() == 0
    assert search_of.score(of_it, moved, search["choice"]).item() == pytest.approx(0.03)


def test_no_score_sees_the_columns_that_test_the_method(tmp_path):
    """With the uLSIF and DDR columns taken out of the ledger nothing changes for the search."""
    search = search_of.read_search("cross")
    seen = search_of.visible("cross", search)
    ledger = yaml.safe_load((BOOK / "paper_values.yml").read_text(encoding="utf-8"))
    for table in ledger["tables"].values():
        kept = [i for i, name in enumerate(table["columns"]) if "uLSIF" not in name]
        table["columns"] = [table["columns"][i] for i in kept]
        table["rows"] = {case: [cells[i] for i in kept] for case, cells in table["rows"].items()}
    path = tmp_path / "ledger.yml"
    path.write_text(yaml.safe_dump(ledger, allow_unicode=True, sort_keys=False), encoding="utf-8")
    pd.testing.assert_frame_equal(seen, search_of.visible("cross", search, path))


def test_validation_takes_no_part_in_the_choice(search, responses):
    found = search_of.outcomes(search, responses, "final")
    printed = as_print(found, next(iter(found.groupby(search_of.KEYS).groups)))
    spoilt = printed.assign(
        mean=np.where(printed["case"].isin(search["validation"]), 0.0, printed["mean"])
    )
    columns = [*search_of.KEYS, "choice"]
    pd.testing.assert_frame_equal(
        search_of.ranking(search, printed, responses, "final")[columns],
        search_of.ranking(search, spoilt, responses, "final")[columns],
    )


def test_an_exact_replication_scores_what_chance_allows(search):
    printed = pd.DataFrame({"case": CASES, "method": "Unweighted", "mean": 0.7, "sd": 0.04})
    few, many = (search_of.exact_replication(printed, CASES, n) for n in (4, 400))
    assert 0.02 < np.median(few) < 0.04
    assert np.median(many) < 0.005


def test_a_response_is_what_the_machine_gives():
    """Against scikit-learn's own machine and cross-validation on the same draw."""
    from sklearn.svm import SVC

    from ddr.shifts import cross_dataset

    search = search_of.read_search("cross")
    options = {"scaling": "draw", "clip": False, "max_samples": 150}
    [row] = [
        row
        for row in CrossResponses(options, search, "screen")("USPS to MNIST 5 vs 6", 0)
        if row["method"] == "C=1"
    ]
    root = np.random.SeedSequence(search["seed"], spawn_key=(5, 0))
    problem = cross_dataset((5, 6), "USPS to MNIST", random_state=root.spawn(1)[0], **options)
    machine = SVC(kernel="linear", C=1.0).fit(problem.X_train, problem.y_train)
    assert row["accuracy"] == pytest.approx(machine.score(problem.X_test, problem.y_test))
    assert 0 <= row["risk"] < 0.2
