"""The recipe of the bundled data; each week `make data` tries it on the sources, to the byte."""

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
