"""The speed benchmark measures what it says, and its page follows from the stored rows."""

import subprocess
import sys

import numpy as np
import pytest
from companion.evidence import speed as page

from benchmarks import speed

SMALL = "two Gaussians, 2 columns, 300 rows"
OURS = [name for name in speed.METHODS if name.startswith("ddr")]


def test_true_ratio_has_mean_one_and_reweights_to_the_other_mean():
    data = speed.problem("two Gaussians, 3 columns, 200,000 rows", 0)
    assert data.X.shape == (200_000, 3)
    assert data.truth.mean() == pytest.approx(1, abs=0.02)
    reweighted = (data.truth[:, None] * data.X).mean(axis=0)
    np.testing.assert_allclose(reweighted, data.Z.mean(axis=0), atol=0.02)


def test_error_is_one_for_constant_weights_and_zero_for_the_truth():
    data = speed.problem(SMALL, 0)
    assert speed.error(data.truth.mean(), data) == pytest.approx(1)
    assert speed.error(data.truth, data) == 0


@pytest.mark.parametrize("name", [*OURS, "densratio uLSIF", "skada KLIEP"])
def test_methods_beat_no_weights(name):
    data = speed.problem(SMALL, 0)
    assert speed.error(speed.METHODS[name](data, 0), data) < 0.7


@pytest.mark.weekly
def test_a_method_that_fails_is_named_and_the_others_go_on():
    bad = (speed.ROOT, "no such method")
    found = speed.run(SMALL, 2, [(speed.ROOT, "ddr ULSIF"), bad])
    assert speed.row(found[bad], found[bad]) == {"failed": "KeyError: 'no such method'"}
    draws = found[speed.ROOT, "ddr ULSIF"]
    assert len(draws) == 2
    assert speed.ratio(draws, draws) == 1
    assert speed.ratio(draws, found[bad]) is None


@pytest.mark.weekly
def test_an_earlier_commit_is_measured_beside_the_present():
    command = [sys.executable, "benchmarks/speed.py", "--only", "KMM, two Gaussians, 2 "]
    command += ["--against"]
    done = subprocess.run([*command, "HEAD"], cwd=speed.ROOT, capture_output=True, text=True)
    assert "rows: ddr KMM: " in done.stdout, done.stderr
    wrong = subprocess.run([*command, "nowhere"], cwd=speed.ROOT, capture_output=True, text=True)
    assert "not a valid object name: nowhere" in wrong.stderr


def test_every_case_is_published_and_none_of_ours_failed():
    rows = page.stored()
    published = set(zip(rows["question"], rows["problem"], rows["method"], strict=True))
    assert published == {(q, n, m) for q, n, _, ms in speed.cases() for m in ms}
    assert rows[rows["method"].str.startswith("ddr")]["failed"].isna().all()


def test_the_answer_follows_the_rows():
    rows = page.stored()
    rows.loc[rows["method"] == "ddr KLIEP", "error"] = 9.0
    rows.loc[rows["method"] == "adapt ULSIF", "times"] = 3.0
    text = page.answer(rows).data
    assert "adapt ULSIF takes 3 times the processor time of `ddr ULSIF`" in text
    assert "skada KLIEP takes" in text
    assert "its error is smaller in 4 of 4 cases" in text
