"""The recipe of the bundled data; each week `make data` tries it on the sources, to the byte."""

import importlib.util
import io
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "rebuild_data.py"


@pytest.fixture
def rebuild():
    spec = importlib.util.spec_from_file_location("rebuild_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_arrays_give_the_same_bytes_and_others_are_told_apart(rebuild):
    arrays = {"X": np.arange(6.0).reshape(2, 3), "y": np.array([1, -1])}
    built = rebuild.npz_bytes(arrays)
    np.savez(other := io.BytesIO(), **arrays)
    np.savez(wrong := io.BytesIO(), X=arrays["X"] + 1, y=arrays["y"])
    assert rebuild.compared(built, rebuild.npz_bytes(arrays)) == "identical"
    assert rebuild.compared(built, other.getvalue()) == "same values"
    assert rebuild.compared(built, wrong.getvalue()) == "different"


@pytest.mark.hardening("damage")
def test_an_archive_that_was_changed_is_refused(rebuild, tmp_path):
    (tmp_path / "x.tgz").write_bytes(b"something else")
    pin = {"registry": "npm", "version": "1", "file": "x.tgz", "sha256": "0" * 64}
    with pytest.raises(ValueError, match=r"x\.tgz must have the SHA-256 0000"):
        rebuild.fetch("x", pin, tmp_path)
