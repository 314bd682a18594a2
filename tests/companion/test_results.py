"""The door to stored runs: what is altered is named, what is stored is shown, the rest computed."""

import re

import pandas as pd
import pytest
from companion.evidence.protocol_search import work_again
from companion.paths import EXPERIMENTS
from companion.runs import results as door
from companion.runs.experiments import Run, draw, methods_of
from companion.runs.protocols import changed, load_protocol
from companion.runs.published import (
    FOLDER,
    listed_files,
    published_parameters,
    published_results,
    write_published,
)
from companion.runs.published import publish as publish_store
from companion.runs.reproduce import compute, known_protocols, names_of, store_of, tasks_of
from companion.runs.results import (
    difference_from_published,
    mismatch,
    published_runs,
    recomputed,
    stored_or_computed,
    with_cases,
)
from companion.runs.store import COLUMNS, StoreError

METHODS = ["Unweighted", "uLSIF", "DDR-uLSIF"]


@pytest.fixture(scope="module")
def protocol():
    return changed(load_protocol("synthetic"), methods=METHODS, problem={"n_test": 200})


def fill(path, protocol, runs, cases=("100",)):
    tasks = [(case, seed) for case in cases for seed in range(runs)]
    compute([(store_of(protocol, path), Run(protocol), tasks)])


@pytest.fixture(scope="module")
def computed(tmp_path_factory, protocol):
    """A store with two runs of one case."""
    path = tmp_path_factory.mktemp("store")
    fill(path, protocol, 2)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of results, and another place for runs that a page computes."""
    monkeypatch.setattr("companion.runs.published.FOLDER", tmp_path / "results")
    monkeypatch.setattr(door, "BUILD", tmp_path / "build")
    return tmp_path / "results"


@pytest.fixture
def published(folder, computed):
    """A folder in which these runs are published."""
    publish_store(computed)
    return folder


def test_every_protocol_of_the_book_is_published_completely():
    protocols = known_protocols()
    further = {names_of(s.names): (s, run, tasks) for s, run, tasks in work_again("unused")}
    assert {*map(names_of, protocols), *further} == set(published_parameters())
    for store, run, tasks in further.values():
        assert mismatch(store.names, run) == ""
        rows = published_runs(store.names, run).query("seed == 0")
        assert set(tasks) == set(zip(rows["case"], rows["seed"], strict=True))
    for content in protocols:
        assert mismatch(content) == "", names_of(content)
        rows = published_runs(content)
        assert set(zip(rows["case"], rows["seed"], rows["method"], strict=True)) >= {
            (case, seed, method)
            for case, seed in tasks_of(content)
            for method in methods_of(content, case)
        }, names_of(content)


def test_published_files_are_canonical(tmp_path):
    """Fails when a file was edited, or written by something else than `publish`."""
    write_published(published_results(), published_parameters(), tmp_path)
    written, published = listed_files(tmp_path), listed_files(FOLDER)
    assert written == {name: published[name] for name in written}
    searches = {f"{experiment}-search.csv" for experiment in (*EXPERIMENTS, "biased-kernels")}
    trials = {f"{name}-trials.csv" for name in ("synthetic", "biased-kernels", "cross")}
    assert set(published) - set(written) == {*searches, *trials, "cross-responses.csv"}


def test_publishing_keeps_every_value(published, computed, protocol):
    """Diagnostics are rounded, accuracies have every digit."""
    shown, stored = published_runs(protocol), store_of(protocol, computed).rows()
    stored = stored.reindex(columns=COLUMNS).round({"seconds": 3})
    pd.testing.assert_frame_equal(shown, stored, rtol=1e-9)
    assert shown["accuracy"].tolist() == stored["accuracy"].tolist()
    before = listed_files(published)
    publish_store(computed)
    assert listed_files(published) == before, "publishing twice changes nothing"


def test_runs_of_other_parameters_are_refused(published, protocol, tmp_path):
    fill(tmp_path / "other", changed(protocol, seed=5), 1, ["200"])
    before = listed_files(published)
    with pytest.raises(StoreError, match=r"with other parameters \(seed: .* by --remove"):
        publish_store(tmp_path / "other")
    assert listed_files(published) == before


def alter(path):
    data = bytearray(path.read_bytes())
    data[-30] ^= 1
    path.write_bytes(data)


SAID = "is not as SHA256SUMS of results lists it"
TABLES = "synthetic-tables.csv"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda f: alter(f / TABLES), f"{TABLES} {SAID}"),
        (lambda f: (f / TABLES).unlink(), f"{TABLES} {SAID}"),
        (lambda f: (f / TABLES).rename(f / "a.csv"), f"a.csv, {TABLES} {SAID}"),
        (lambda f: (f / "SHA256SUMS").unlink(), f"parameters.json, {TABLES} {SAID}"),
        (lambda f: (f / "SHA256SUMS").write_bytes(b"\xff\xfe"), SAID),
        (lambda f: (f / "more.csv").write_text("a,b\n"), f"more.csv {SAID}"),
        (lambda f: (f / "folder").mkdir(), "folder cannot be read: Is a directory"),
    ],
)
@pytest.mark.hardening(
    "damage", mends="A file of results could vanish, and 1,680 rows with it, without a word."
)
def test_what_is_not_as_published_is_named(published, computed, harm, said):
    published_results()
    harm(published)
    with pytest.raises(StoreError, match=said) as caught:
        published_results()
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match=said):
        publish_store(computed)  # which would write a new list


def test_a_caller_may_change_what_it_got(published):
    mine = published_results()
    mine["accuracy"] = 0.0
    assert (published_results()["accuracy"] > 0.5).all()


def test_runs_are_completed_on_request_by_the_missing_ones_alone(protocol, published):
    before = listed_files(published)
    some = stored_or_computed(protocol, 3, ["200", "100"])
    counts = "2 from the store and 0 computed for this page"
    assert str(some) == f"NOT COMPLETE: 2 of 6 runs, {counts}"
    shown = stored_or_computed(protocol, 3, ["200", "100"], compute_missing=True)
    assert str(shown).startswith("complete: 6 of 6 runs, 2 from the store and 4 computed")
    keys = list(dict.fromkeys(zip(shown.rows["case"], shown.rows["seed"], strict=True)))
    assert keys == [(case, seed) for case in ("200", "100") for seed in range(3)]
    found = shown.rows.query("case == '200' and seed == 1")["accuracy"].tolist()
    assert found == [row["accuracy"] for row in Run(protocol)("200", 1)]
    other = stored_or_computed(protocol, 1, ["200"])  # of which nothing is stored
    assert (other.stored, other.computed) == (0, 1)
    assert listed_files(published) == before


def test_new_cases_leave_the_seeds_of_the_old_ones(protocol):
    wider = with_cases(protocol, ["1000", "150"])
    assert wider["cases"] == [*protocol["cases"], "150"]
    first, second = (draw(p, "100", 0).problem.X_train[0, 0] for p in (wider, protocol))
    assert first == second


def test_recomputed_runs_agree_with_the_published(protocol, published):
    text = recomputed(protocol, 2, ["100"])
    assert text.startswith("6 of 6 accuracies computed again agree within 0;")
    assert text.endswith("agree within 5 % in 6 of 6")


@pytest.mark.parametrize(
    ("runs", "case", "changes"), [(0, "100", {}), (1, "200", {}), (1, "100", {"seed": 5})]
)
def test_nothing_recomputed_is_said(protocol, published, runs, case, changes):
    text = recomputed(changed(protocol, **changes), runs, [case])
    assert text == "no stored run was computed again"


@pytest.mark.parametrize(("off", "sign"), [(-0.1, r"\+"), (0.1, "-")])
def test_runs_that_lie_are_found_out(protocol, published, off, sign):
    rows = published_results()
    rows.loc[1, "accuracy"] += off
    write_published(rows, published_parameters(), published)
    new = pd.DataFrame(Run(protocol)("100", 0)).assign(case="100", seed=0)
    said = rf"largest difference of 3 accuracies is {sign}0.1000 \(100, uLSIF, run 0\)"
    assert re.search(said, difference_from_published(protocol, new))
    expected = rf"1 of 3 accuracies differ .* than 0.02; .* {sign}0.1000 \(100, uLSIF, run 0\)"
    with pytest.raises(AssertionError, match=expected):
        recomputed(protocol, 1, ["100"], tolerance=0.02)


def test_weights_that_differ_behind_equal_accuracies_are_counted(monkeypatch):
    row = {"case": "100", "seed": 0, "method": "uLSIF", "stored": 0.9, "computed": 0.9}
    both = pd.DataFrame([row | {"difference": 0.0, "diagnostics": d} for d in (0.0, 0.5)])
    monkeypatch.setattr(door, "recompute", lambda *_: both)
    text = recomputed(load_protocol("synthetic"), 1, ["100"])
    assert text.startswith("2 of 2 accuracies")
    assert text.endswith("agree within 5 % in 1 of 2")
    assert door.what_moved(both) == ["1 of 2 rows have other weights than stored (100)"]
