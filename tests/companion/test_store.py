"""The store: what is read is what was written, and damage costs one run."""

import math

import numpy as np
import pytest
from companion.runs.store import Store, packed, stores_in

PARAMETERS = {"lam": [0.1, 1, 10], "kernel": {"rule": "median", "factor": 1.0}}
TASKS = [(case, seed) for case in ("n=200", "a/b n=1000") for seed in range(3)]


def rows_of(i):
    return [
        {"method": "uLSIF", "accuracy": 1 / (i + 3), "n_iter": 3, "sure": np.bool_(i > 2)},
        {"method": "DDR, full", "accuracy": np.float32(0.5), "ess": math.nan, "said": None},
    ]


def fill(store, order=range(6)):
    store.prepare()
    for i in order:
        store.save(*TASKS[i], packed(rows_of(i)))
    return store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs", PARAMETERS, experiment="biased", protocol="matched")


def test_rows_of_any_named_values_are_read_in_order(store):
    frame = fill(store, [5, 1, 3, 0, 2, 4]).rows()
    assert list(frame.columns[:5]) == ["experiment", "protocol", "case", "seed", "method"]
    assert set(frame["protocol"]) == {"matched"}
    assert list(frame["case"]) == ["a/b n=1000"] * 6 + ["n=200"] * 6
    assert list(frame["method"]) == ["uLSIF", "DDR, full"] * 6, "as the run gave them"
    assert list(frame["accuracy"][::2]) == [1 / (i + 3) for i in (3, 4, 5, 0, 1, 2)]
    assert list(frame["sure"][::2]) == [True] * 3 + [False] * 3
    assert frame["ess"].isna().all()
    assert set(store.done()) == set(TASKS)
    two = store.rows([TASKS[0], TASKS[1], ("n=200", 7)])
    assert list(two["seed"]) == [0, 0, 1, 1]


def test_tables_of_numbers_are_kept_to_the_bit(store):
    table = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    store.prepare()
    store.save("n=200", 0, packed(table))
    again = store.load("n=200", 0)
    assert again.dtype == table.dtype
    assert again.tobytes() == table.tobytes()


def test_stores_share_the_folder_and_not_the_runs(store):
    fill(store)
    names = {"experiment": "biased", "protocol": "matched"}
    others = [
        fill(Store(store.root, {"lam": 7}, **names), [0]),
        fill(Store(store.root, {"lam": 7.0}, **names), [1]),
        fill(Store(store.root, PARAMETERS, task="medians"), [2]),
    ]
    assert [other.done() for other in others] == [[TASKS[0]], [TASKS[1]], [TASKS[2]]]
    assert len(store.done()) == 6
    found = {(*s.names.values(), str(s.parameters.get("lam"))) for s in stores_in(store.root)}
    assert found == {("biased", "matched", lam) for lam in ("[0.1, 1, 10]", "7", "7.0")} | {
        ("medians", "[0.1, 1, 10]")
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"accuracy,seed\n1,2\n",
        lambda data: data[: len(data) // 2],
        lambda data: data[:20] + bytes([data[20] ^ 4]) + data[21:],
        lambda data: data[:-8] + bytes(4) + data[-4:],
    ],
    ids=["empty", "text", "truncated", "one bit", "checksum"],
)
@pytest.mark.hardening("damage", mends="A sweep could overwrite a store that it could not read.")
def test_a_damaged_run_is_named_and_no_other_is_lost(store, spoil, caplog):
    fill(store)
    path = store.folder / "n=200-1.gz".replace("=", "%3D")
    path.write_bytes(spoil(path.read_bytes()))
    assert store.load("n=200", 1) is None
    assert f"{path.name} in {store.folder} is damaged: it is computed again" in caplog.text
    assert len(store.rows()) == 10


@pytest.mark.hardening("damage")
def test_a_damaged_description_is_named_and_mended_by_the_next_sweep(store, caplog):
    fill(store)
    about = store.folder / "about.json"
    for text in ("", "[1]", about.read_text().replace("0.1", "0.2")):
        about.write_text(text)
        assert list(stores_in(store.root)) == []
        assert f"{about} is damaged" in caplog.text
        caplog.clear()
    store.prepare()
    assert [s.done() for s in stores_in(store.root)] == [store.done()]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "an array or a list of dicts, got None"),
        ([], "an array or a list of dicts, got []"),
        ([1], "an array or a list of dicts, got [1]"),
        ([{"ess": {1, 2}}], "doesn't apply to a 'set' object"),
    ],
)
@pytest.mark.hardening("mistake")
def test_results_that_cannot_be_kept_are_refused(result, said):
    with pytest.raises(TypeError) as caught:
        packed(result)
    assert said in str(caught.value)
