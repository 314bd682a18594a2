"""The results store: what is read is what was written, and nothing else."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from companion.runs.store import (
    ParameterMismatchError,
    Store,
    StoreBusyError,
    StoreError,
    Task,
    make_folder,
    remove_stores,
)

PARAMETERS = {"lam": [0.1, 1, 10], "kernel": {"rule": "median", "factor": 1.0}}
N_RUNS = 6


def rows_of(i):
    return [
        {"method": "uLSIF", "accuracy": 1 / (i + 3), "n_iter": 3, "seconds": 0.123456},
        {"method": "DDR, full", "accuracy": 2 / (i + 3), "n_iter": 5, "ess": 100 / 3},
    ]


TASKS = [Task(case, seed) for case in ("n=200", "n=1000") for seed in range(3)]


def fill(store, order=range(N_RUNS)):
    with store.writing():
        for i in order:
            store.append(TASKS[i], rows_of(i))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results", "biased", "matched", PARAMETERS)


@pytest.fixture
def full(store):
    fill(store)
    return store


def stored_runs(store):
    """Give the lines of each run that the store believes."""
    return store._read(say=True).runs


def test_reads_back_what_was_written(full):
    frame = full.rows()
    assert list(frame["method"]) == ["uLSIF", "DDR, full"] * N_RUNS
    assert list(frame["case"]) == ["n=200"] * 6 + ["n=1000"] * 6, "cases as people order them"
    assert list(frame["seed"]) == [0, 0, 1, 1, 2, 2] * 2
    expected = [k / (i + 3) for i in range(N_RUNS) for k in (1, 2)]
    assert list(frame["accuracy"]) == expected, "accuracy keeps every digit"
    assert frame["n_iter"].dtype.kind == "i"
    assert frame["ess"][1] == 33.33333333, "10 significant digits"
    assert frame["seconds"][0] == 0.123, "3 significant digits"
    assert math.isnan(frame["ess"][0])
    assert math.isnan(frame["seconds"][1])
    assert full.done() == set(TASKS)


def test_empty_store_has_the_usual_columns_and_makes_no_file(store):
    assert list(store.rows().columns[:5]) == ["experiment", "protocol", "case", "seed", "method"]
    assert len(store.rows()) == 0
    with store.writing():
        pass
    assert not store.path.exists()


def test_file_does_not_depend_on_the_order_of_arrival(full, tmp_path):
    other = Store(tmp_path / "other", "biased", "matched", PARAMETERS)
    fill(other, [5, 1])
    fill(other, [3, 0, 2, 4])
    assert other.path.read_bytes() == full.path.read_bytes()
    assert other.side_path.read_bytes() == full.side_path.read_bytes()


def test_nothing_is_written_when_nothing_is_missing(full):
    before = full.path.stat().st_mtime_ns, full.side_path.stat().st_mtime_ns
    with full.writing():
        pass
    assert (full.path.stat().st_mtime_ns, full.side_path.stat().st_mtime_ns) == before


def test_side_file_tells_the_parameters(full):
    side = json.loads(full.side_path.read_text())
    assert side["parameters"] == PARAMETERS
    assert side["parameters_sha256"] == full.parameters_sha256


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lam": [0.1, 1, 11]}, "lam: [0.1, 1, 10] there, [0.1, 1, 11] here"),
        ({"lam": [0.1, 1, 10.0]}, "lam: [0.1, 1, 10] there, [0.1, 1, 10.0] here"),
        ({"stop": "first"}, 'stop: absent there, "first" here'),
    ],
)
def test_other_parameters_are_refused_in_one_sentence(full, caplog, changed, said):
    before = full.path.read_bytes()
    other = Store(full.path.parent, "biased", "matched", {**PARAMETERS, **changed})
    assert len(other.rows()) == 0
    assert said in caplog.text
    with pytest.raises(ParameterMismatchError) as caught, other.writing():
        pass
    assert said in str(caught.value)
    assert full.path.read_bytes() == before


def test_renamed_files_are_not_taken_for_another_experiment(full):
    other = Store(full.path.parent, "cross", "matched", PARAMETERS)
    full.path.rename(other.path)
    full.side_path.rename(other.side_path)
    assert 'experiment: "biased" there, "cross" here' in other.mismatch()
    assert len(other.rows()) == 0


def test_every_torn_file_keeps_its_whole_runs_and_is_repaired(full):
    whole, runs = full.path.read_bytes(), stored_runs(full)
    side = full.side_path.read_bytes()
    lengths = []
    for cut in range(len(whole)):
        full.path.write_bytes(whole[:cut])
        found = stored_runs(full)
        assert found.items() <= runs.items()
        lengths.append(len(found))
        if cut % 97 == 0:
            missing = [i for i, task in enumerate(TASKS) if task not in found]
            fill(full, reversed(missing))
            assert full.path.read_bytes() == whole
            assert full.side_path.read_bytes() == side
    # runs only ever get more as the file grows: none is dropped that was whole
    assert lengths == sorted(lengths)
    assert set(lengths) == set(range(N_RUNS + 1))


def test_a_flipped_bit_in_any_byte_is_noticed_and_costs_at_most_two_runs(full, caplog):
    whole, runs = full.path.read_bytes(), stored_runs(full)
    bits = np.random.default_rng(0).integers(8, size=len(whole))
    for position, bit in enumerate(bits.tolist()):
        caplog.clear()
        damaged = bytearray(whole)
        damaged[position] ^= 1 << bit
        full.path.write_bytes(damaged)
        found = stored_runs(full)
        assert found.items() <= runs.items(), "a damaged row was believed"
        # a lost line end joins two lines, so two runs; within the header or at the end, none
        assert len(found) >= N_RUNS - 2
        if len(found) < N_RUNS:
            line = whole[:position].count(b"\n") + 1
            assert f"computes them again: {line}" in caplog.text


def test_damaged_rows_are_computed_again_and_nothing_else(full, caplog):
    whole = full.path.read_bytes()
    lines = whole.split(b"\n")
    lines[4] = lines[4].replace(b"0.5", b"0.9")
    lines.insert(8, b"\x00\xff garbage, of all kinds")
    full.path.write_bytes(b"\n".join(lines))
    assert full.done() == set(TASKS) - {TASKS[1]}
    with full.writing():
        assert "lines are damaged and left out, a sweep computes them again: 5, 9" in caplog.text
        assert "runs are incomplete and left out, a sweep computes them again: n=200 seed 1" in (
            caplog.text
        )
        full.append(TASKS[1], rows_of(1))
    assert full.path.read_bytes() == whole


def test_lines_that_stand_twice_count_once(full):
    whole, runs = full.path.read_bytes(), stored_runs(full)
    full.path.write_bytes(whole + whole)
    assert stored_runs(full) == runs
    with full.writing():
        pass
    assert full.path.read_bytes() == whole


def test_two_versions_of_a_run_are_both_left_out(full, tmp_path, caplog):
    other = Store(tmp_path / "other", "biased", "matched", PARAMETERS)
    with other.writing():
        other.append(TASKS[2], rows_of(7))
    full.path.write_bytes(full.path.read_bytes() + other.path.read_bytes())
    assert full.done() == set(TASKS) - {TASKS[2]}
    full.rows()
    assert "runs are incomplete and left out, a sweep computes them again: n=200 seed 2" in (
        caplog.text
    )


def test_windows_line_ends_are_no_damage(full):
    runs = stored_runs(full)
    full.path.write_bytes(full.path.read_bytes().replace(b"\n", b"\r\n"))
    assert stored_runs(full) == runs


@pytest.mark.parametrize("damage", ["missing", "flipped", "garbage"])
def test_side_file_is_restored_from_the_rows(full, caplog, damage):
    side, runs = full.side_path.read_bytes(), stored_runs(full)
    if damage == "missing":
        full.side_path.unlink()
    else:
        spoiled = side.replace(b"median", b"mediaN") if damage == "flipped" else b"\xff{"
        full.side_path.write_bytes(spoiled)
    assert stored_runs(full) == runs
    assert "biased-matched.json is missing or damaged" in caplog.text
    with full.writing():
        pass
    assert full.side_path.read_bytes() == side


def test_rows_of_unknown_origin_are_left_alone(full):
    before = full.path.read_bytes()
    full.side_path.unlink()
    other = Store(full.path.parent, "biased", "matched", {"lam": 7})
    with pytest.raises(StoreError, match="restore that file, or remove both"), other.writing():
        pass
    assert full.path.read_bytes() == before


def test_second_writer_is_refused_and_a_reader_is_not(full):
    other = Store(full.path.parent, "biased", "matched", PARAMETERS)
    with full.writing():
        with pytest.raises(
            StoreBusyError, match=r"another sweep is writing to biased-matched\.csv"
        ):
            other.writing().__enter__()
        assert other.done() == set(TASKS)
    with other.writing():
        pass


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "a run must give a list of dicts, got None"),
        ([], "one row for each of its methods, got []"),
        ([{"accuracy": 0.5}], "one row for each of its methods, got [None]"),
        ([{"method": "a"}, {"method": "a"}], "one row for each of its methods, got ['a', 'a']"),
        ([{"method": "a", "accuracy": "high"}], "accuracy must be a number, got 'high'"),
        ([{"method": "a", "ess": [1, 2]}], "ess must be a number, got [1, 2]"),
        ([{"method": "a\nb"}], "method must be a text of one line, got 'a\\nb'"),
        ([{"method": "a", "case": "b"}], "case must be 'n=200' in this run, got 'b'"),
        ([{"method": "a", "omega": 1}], "the same columns, but these differ: omega"),
        ([{"method": "a", "a,b": 1}], "letters, digits and underscores, got 'a,b'"),
    ],
)
def test_bad_rows_are_refused_and_leave_nothing(full, rows, said):
    before = full.path.read_bytes()
    with full.writing(), pytest.raises((TypeError, ValueError)) as caught:
        full.append(Task("n=200", 9), rows)
    assert said in str(caught.value)
    assert full.path.read_bytes() == before


def test_numpy_scalars_text_and_large_seeds(store):
    seed = 2**63 + 5
    row = {"method": "a", "accuracy": np.float64(0.1), "chosen": "wide", "ok": np.bool_(True)}
    with store.writing():
        store.append(Task("é, 1", seed), [{**row, "n_iter": np.int32(4), "ess": np.inf}])
    read = store.rows().iloc[0]
    assert (read["case"], read["seed"], read["accuracy"]) == ("é, 1", seed, 0.1)
    assert (read["chosen"], read["ok"], read["n_iter"], read["ess"]) == ("wide", 1, 4, np.inf)


def test_bad_arguments_are_named(tmp_path, store):
    with pytest.raises(ValueError, match=r"protocol must be made of letters.*got 'a/b'"):
        Store(tmp_path, "biased", "a/b", {})
    with pytest.raises(TypeError, match="parameters must be a dict, got list"):
        Store(tmp_path, "biased", "matched", [])
    for value in (np.arange(2), float("nan")):
        with pytest.raises(TypeError, match="parameters must hold only"):
            Store(tmp_path, "biased", "matched", {"lam": value})
    with pytest.raises(StoreError, match=r"inside `with store\.writing"):
        store.append(TASKS[0], rows_of(0))


def test_folders_that_cannot_hold_a_store_are_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below"):
        store = Store(folder, "biased", "matched", PARAMETERS)
        with pytest.raises(ValueError, match=r"directory must be a folder, got .*which is a file"):
            store.writing().__enter__()
    assert make_folder(tmp_path / "a" / "b", "--into").is_dir()
    if Path("/proc/self").is_dir():
        with pytest.raises(ValueError, match="--into must be a folder that can be written, got"):
            make_folder("/proc/folder", "--into")


def test_removing_stores_takes_all_of_them_or_none(full, tmp_path):
    others = [Store(full.path.parent, "biased", name, PARAMETERS) for name in ("tuned", "mine")]
    for store in others:
        fill(store, [0])
    stored = [full, *others]
    with others[1].writing(), pytest.raises(StoreBusyError, match=r"biased-mine\.csv"):
        remove_stores(stored)
    assert all(store.done() for store in stored)
    # What is stored under other parameters goes too: the name decides.
    remove_stores([Store(full.path.parent, "biased", "matched", {"lam": 7}), others[0]])
    assert [len(store.done()) for store in stored] == [0, 0, 1]
    assert {path.suffix for path in full.path.parent.glob("biased-matched*")} <= {".lock"}
    fill(full, [1])
    assert full.done() == {TASKS[1]}


def test_importing_the_package_loads_none_of_this():
    code = "import sys, ddr; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "ddr" in loaded
    assert not loaded & {
        "pandas",
        "joblib",
        "tqdm",
        "filelock",
        "distributed",
        "companion.runs.store",
    }
