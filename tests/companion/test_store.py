"""The store of a sweep: what is read is what was written, and nothing is overwritten."""

import math
import sqlite3

import numpy as np
import pytest
from companion.runs.store import (
    ParameterMismatchError,
    Store,
    StoreBusyError,
    StoreError,
    Task,
    protocols_in,
    remove_runs,
)

PARAMETERS = {"lam": [0.1, 1, 10], "kernel": {"rule": "median", "factor": 1.0}}
TASKS = [Task(case, seed) for case in ("n=200", "n=1000") for seed in range(3)]


def rows_of(i):
    return [
        {"method": "uLSIF", "accuracy": 1 / (i + 3), "n_iter": 3, "seconds": 0.123456},
        {"method": "DDR, full", "accuracy": 2 / (i + 3), "n_iter": 5, "ess": 100 / 3},
    ]


def fill(store, order=range(6)):
    with store.writing():
        for i in order:
            store.append(TASKS[i], rows_of(i))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "build" / "runs.sqlite", "biased", "matched", PARAMETERS)


@pytest.fixture
def full(store):
    fill(store, [5, 1, 3, 0, 2, 4])
    return store


def test_reads_back_what_was_written_in_order(full):
    frame = full.rows()
    assert list(frame["method"]) == ["uLSIF", "DDR, full"] * 6, "as the run gave them"
    assert list(frame["case"]) == ["n=200"] * 6 + ["n=1000"] * 6, "cases as people order them"
    assert list(frame["seed"]) == [0, 0, 1, 1, 2, 2] * 2
    expected = [k / (i + 3) for i in range(6) for k in (1, 2)]
    assert list(frame["accuracy"]) == expected, "accuracy keeps every digit"
    assert frame["ess"][1] == 33.33333333, "10 significant digits"
    assert frame["seconds"][0] == 0.123
    assert math.isnan(frame["ess"][0])
    assert full.done() == set(TASKS)


def test_a_store_that_is_not_there_is_empty_and_is_not_made_by_reading(store):
    assert store.rows().empty
    assert store.done() == set()
    assert not store.path.exists()


def test_protocols_share_the_file_and_not_the_runs(full):
    other = Store(full.path, "biased", "tuned", {"lam": 7})
    fill(other, [0])
    assert len(full.done()) == 6
    assert other.done() == {TASKS[0]}
    assert protocols_in(full.path) == {
        ("biased", "matched"): PARAMETERS,
        ("biased", "tuned"): {"lam": 7},
    }
    remove_runs(full.path, [("biased", "matched")])
    assert full.done() == set()
    assert other.done() == {TASKS[0]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lam": [0.1, 1, 11]}, "lam: [0.1, 1, 10] there, [0.1, 1, 11] here"),
        ({"lam": [0.1, 1, 10.0]}, "lam: [0.1, 1, 10] there, [0.1, 1, 10.0] here"),
        ({"stop": "first"}, 'stop: absent there, "first" here'),
    ],
)
@pytest.mark.hardening("mistake")
def test_other_parameters_are_refused_in_one_sentence(full, changed, said):
    other = Store(full.path, "biased", "matched", {**PARAMETERS, **changed})
    assert other.rows().empty
    with pytest.raises(ParameterMismatchError) as caught, other.writing():
        pass
    assert said in str(caught.value)
    assert full.done() == set(TASKS)
    remove_runs(other.path, [("biased", "matched")])
    fill(other, [0])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"case,seed\nn=200,1\n",
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + bytes(4000) + data[4100:],
        lambda data: data[:4096] + b"\xff" * 4096 + data[8192:],
    ],
    ids=["text", "truncated", "zeros", "garbage"],
)
@pytest.mark.hardening("damage", mends="A sweep could overwrite a store that it could not read.")
def test_a_damaged_file_is_set_aside_and_named(full, spoil, caplog):
    spoiled = spoil(full.path.read_bytes())
    for number, name in enumerate(("runs.sqlite.damaged", "runs.sqlite.damaged-1")):
        full.path.write_bytes(spoiled)
        fill(full, [number])
        assert (full.path.parent / name).read_bytes() == spoiled
        assert f"runs.sqlite cannot be read as a store of runs; it is kept as {name}" in caplog.text
        assert full.done() == {TASKS[number]}


@pytest.mark.hardening("damage")
def test_what_cannot_be_read_is_named_by_a_reader(full):
    full.path.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"runs\.sqlite cannot be read as a store of runs: file"):
        full.rows()


@pytest.mark.hardening("damage")
def test_the_database_of_another_program_is_set_aside(store):
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as foreign:
        foreign.execute("CREATE TABLE runs (distance REAL)")
    foreign.close()
    before = store.path.read_bytes()
    fill(store)
    assert store.path.with_name("runs.sqlite.damaged").read_bytes() == before


@pytest.mark.hardening("two at once")
def test_second_writer_is_refused_and_a_reader_is_not(full):
    other = Store(full.path, "biased", "tuned", PARAMETERS)
    with full.writing():
        with pytest.raises(StoreBusyError, match=r"another sweep is writing to runs\.sqlite"):
            other.writing().__enter__()
        assert Store(full.path, "biased", "matched", PARAMETERS).done() == set(TASKS)
    with other.writing():
        pass


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "a run must give a list of dicts, got None"),
        ([], "one row for each of its methods, got []"),
        ([{"method": "a"}, {"method": "a"}], "one row for each of its methods, got ['a', 'a']"),
        ([{"method": "a", "accuracy": "high"}], "accuracy must be a number, got 'high'"),
        ([{"method": "a"}, {"method": "b", "ess": [1, 2]}], "ess must be a number, got [1, 2]"),
        ([{"method": "a", "omega": 1}], "a row may have method, accuracy"),
    ],
)
@pytest.mark.hardening("mistake")
def test_bad_rows_are_refused_and_leave_nothing(full, rows, said):
    with full.writing(), pytest.raises((TypeError, ValueError)) as caught:
        full.append(Task("n=200", 9), rows)
    assert said in str(caught.value)
    assert full.done() == set(TASKS)


@pytest.mark.hardening("mistake")
def test_bad_arguments_are_named(tmp_path, store):
    for value in (np.arange(2), float("nan")):
        with pytest.raises(TypeError, match="parameters must hold only"):
            Store(tmp_path, "biased", "matched", {"lam": value})
    with pytest.raises(StoreError, match=r"inside `with store\.writing"):
        store.append(TASKS[0], rows_of(0))
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match="cannot be written"),
        Store(tmp_path / "file" / "runs.sqlite", "biased", "matched", {}).writing(),
    ):
        pass
