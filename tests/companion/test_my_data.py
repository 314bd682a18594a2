"""The page "Is my data shifted?", tried here: what it refuses, what it says, and its script."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from companion.browser import my_data
from companion.browser import my_data_page as page

RNG = np.random.default_rng(0)
LABELS = ["yes", "no"] * 30
TABLE = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "y": LABELS})
SOURCE, TARGET = TABLE.to_csv(index=False), TABLE[["a", "b"]].to_csv(index=False)


@pytest.mark.parametrize(
    ("source", "target", "label", "sentence"),
    [
        ("PK\3\4rest", TARGET, "y", "the source must be a CSV file of text"),
        ("", TARGET, "y", "the source cannot be read as CSV"),
        (SOURCE, "a,b\n1,2\n", "y", "the target must have 10 to 20,000 rows, got 1"),
        (SOURCE, TARGET, "z", "the label must be a column of the source, got 'z'"),
        (SOURCE, TARGET, "a", "the label must have 2 to 20 classes; a has 60"),
        (SOURCE, TARGET.replace("a,b", "c,d"), "y", "must have columns of the same names"),
        (SOURCE.replace("no", "yes", 27), TARGET, "y", "each class needs 5 rows; no of y has 3"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(source, target, label, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        my_data.study(source, target, label)
    assert "\n" not in str(refused.value)


def test_words_and_missing_values_are_used_and_it_says_how():
    old = TABLE.assign(city=["x", "y", None] * 20, name=[f"m{i}" for i in range(60)], one=1)
    new = old.drop(columns="y").assign(a=[np.nan] * 3 + [1.0] * 57, extra=range(60))
    X, X_target, notes = my_data.prepare(
        old.drop(columns="y").assign(name=[f"n{i}" for i in range(60)]), new
    )
    assert X.shape == X_target.shape == (60, 5)  # a, b and three words
    assert (X[:, 2:].sum(axis=1) == 1).all()
    assert X_target[0, 0] == old.a.median()
    said = " ".join(notes)
    for part in (
        "extra",
        "3 missing values of a became the source's median",
        "city holds words: a column of zeros and ones for each of missing, x, y",
        "name has 120 different words, more than 20: not used",
        "one is the same in every row",
    ):
        assert part in said


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_found(separator):
    table = TABLE.to_csv(index=False, sep=separator)
    assert page.columns(table, TARGET) == {"columns": ["y", "b", "a"], "rows": [60, 60]}


def test_labels_of_the_target_are_not_looked_at():
    with_labels = TABLE.assign(y=LABELS[::-1]).to_csv(index=False)
    seen = [page.report(SOURCE, target, "y")["report"] for target in (TARGET, with_labels)]
    assert seen[0] == seen[1]


def test_a_label_that_is_no_class_is_refused():
    with pytest.raises(ValueError, match="labels must be one of no, yes; got 'maybe'"):
        my_data.study(SOURCE, TARGET, "y", [[0, "maybe"]])


def test_the_script_repeats_what_the_page_said(tmp_path):
    example = page.example()
    given = example["source"], example["target"], example["label"]
    first = page.report(*given)
    told = [[row, example["truth"][row]] for row, _ in first["questions"]]
    decided = page.report(*given, told)
    assert len(told) == 20
    assert "20 labels" in decided["decision"]
    assert not {row for row, _ in decided["questions"]} & {row for row, _ in told}
    saved = page.downloads(*given, told)
    for name, text in (("source.csv", given[0]), ("target.csv", given[1]), *saved.items()):
        if name not in ("weights.csv", "predictions.csv"):
            (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "is_my_data_shifted.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "20 labels" in " ".join(done.stdout.split())
    for name in ("weights.csv", "predictions.csv"):
        here, there = (pd.read_csv(f) for f in (tmp_path / name, io.StringIO(saved[name])))
        pd.testing.assert_frame_equal(here, there, rtol=1e-9)
    weights = pd.read_csv(tmp_path / "weights.csv").weight
    assert len(weights) == len(given[0].splitlines()) - 1
    assert weights.std() > 0
