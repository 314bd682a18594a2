"""The recipe of the bundled data; `make data`, each week, tries it on the real sources."""

import contextlib
import hashlib
import importlib.util
import io
import subprocess
import tarfile
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


# The recipes, on sources small enough to work out by hand.


def test_splice_recipe_codes_letters_and_drops_ambiguous_rows(rebuild):
    text = b"@relation splice\nA, G, C, T, N\nA, D, C, T, EI\nT, T, A, A, IE\n"
    made = rebuild.delve_splice(lambda member: text, "")
    assert made["X"].tolist() == [[1, 2, 3, 4], [4, 4, 1, 1]]
    assert made["y"].tolist() == [1, -1]


def test_australian_recipe_recodes_and_fills_missing_values(rebuild):
    # b, u, w, v, t, t, f, g are the letters of UCI's first row; the second has its values missing.
    rows = (
        "2,15,,,,,,,,,,,,,,\nA1,A2,A3,A4,A5,A6,A7,A8,A9,A10,A11,A12,A13,A14,A15,A16\n"
        "3,30.83,0.0,3,2,14,9,1.25,2,2,1,1,1,00202,0,1\n"
        "1,0,2.5,1,1,1,1,0.5,1,1,0,2,2,0,560,2\n"
    )
    made = rebuild.australian(lambda member: rows.encode(), "")
    assert made["X"][0].tolist() == [1, 30.83, 0, 2, 9, 4, 1.25, 1, 1, 1, 0, 2, 202, 1]
    assert made["X"][1].tolist() == [0, 31.57, 2.5, 2, 8, 4, 0.5, 0, 0, 0, 1, 3, 184, 561]
    assert made["y"].tolist() == [1, -1]


def source_archive(folder, marker):
    """Make a package whose setup.py leaves a trace when it is run."""
    text = (
        f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='traced')\n"
    )
    archive = folder / "traced-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in {
            "setup.py": text,
            "PKG-INFO": "Metadata-Version: 2.1\nName: traced\nVersion: 1.0\n",
        }.items():
            member = tarfile.TarInfo(f"traced-1.0/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content.encode()))
    return archive


@pytest.mark.hardening("damage", mends="Code of a download could run before its hash was known.")
def test_nothing_of_a_download_runs_before_its_hash_is_known(rebuild, monkeypatch, tmp_path):
    registry, marker = tmp_path / "registry", tmp_path / "was run"
    registry.mkdir()
    archive = source_archive(registry, marker)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(registry))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # by pip's logic: no isolation, no network
    pin = {"registry": "pip", "version": "1.0", "file": archive.name, "sha256": "0" * 64}
    for folder in ("doctored", "right"):
        (tmp_path / folder).mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        rebuild.fetch("traced", pin, tmp_path / "doctored")
    assert not marker.exists()
    assert not list((tmp_path / "doctored").glob("*.tar.gz"))
    # With the right hash pip does run it, so the trace above would have been left.
    pin["sha256"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    with contextlib.suppress(subprocess.CalledProcessError):  # its version is not that of its name
        rebuild.fetch("traced", pin, tmp_path / "right")
    assert marker.exists()
