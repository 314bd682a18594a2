"""The command line on data and pages: what it prints, what it refuses, and its exit codes."""

import contextlib
import hashlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from functools import partial

import numpy as np
import pytest
from companion import cli, rebuild
from scipy.io import savemat

from ddr.paper.datasets import DATA_FOLDER, manifest


@pytest.fixture
def small_copy(tmp_path):
    """A copy of the data folder in which two files are wrong."""
    folder = tmp_path / "data"
    shutil.copytree(DATA_FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    content = bytearray((folder / "australian.npz").read_bytes())
    content[100] ^= 1
    (folder / "australian.npz").write_bytes(content)
    (folder / "diabete.npz").unlink()
    return folder


def test_verify_passes_on_the_bundled_files(capsys):
    assert cli.main(["data", "verify"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 8
    assert err == ""


@pytest.mark.hardening("damage")
def test_verify_names_the_bad_files_and_how_to_restore_them(small_copy, capsys):
    assert cli.main(["data", "verify", "--folder", str(small_copy)]) == 1
    out, err = capsys.readouterr()
    states = {line.split()[1]: line.split()[0] for line in out.splitlines()}
    assert {name for name, state in states.items() if state != "ok"} == {"Australian", "Diabete"}
    assert states["Australian"] == "damaged"
    assert states["Diabete"] == "missing"
    assert "(australian.npz, diabete.npz)" in err
    assert "ddr-book data rebuild --restore" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing command"),
        (["dta"], "No such command 'dta'"),
        (["data"], "Missing command"),
        (["data", "verify", "--fodler", "x"], "No such option"),
        (["reproduce", "--runs", "many"], "'many' is not a valid integer"),
        (["run", "02_synthetic"], "Missing option '--name'"),
    ],
)
@pytest.mark.hardening("mistake")
def test_wrong_arguments_are_refused_in_one_line(arguments, said, capsys):
    assert cli.main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("ddr-book: ")
    assert said in err
    assert "--help" in err
    assert err.count("\n") == 1


def test_help_needs_no_heavy_library():
    code = "import sys; from companion.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "reproduce" in done.stdout
    assert not {"numpy", "pandas", "matplotlib", "joblib"} & set(done.stdout.split())


def test_a_reader_that_leaves_early_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "companion.cli", "--help"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def _fake_registry(monkeypatch, folder, dataset):
    """Let ``rebuild`` see one dataset, whose 'archive' is a file with known content."""
    entry = dict(manifest()["datasets"][dataset])
    pin = dict(manifest()["archives"][entry["archive"]])
    (folder / pin["file"]).write_bytes(b"archive")
    pin["sha256"] = hashlib.sha256(b"archive").hexdigest()
    facts = {"archives": {entry["archive"]: pin}, "datasets": {dataset: entry}}
    monkeypatch.setattr(rebuild, "manifest", lambda: facts)
    with np.load(DATA_FOLDER / entry["file"], allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored}
    monkeypatch.setitem(rebuild.RECIPES, dataset, lambda read, member: arrays)
    return arrays


def test_rebuild_restores_a_missing_file_with_the_same_bytes(
    monkeypatch, tmp_path, small_copy, capsys
):
    _fake_registry(monkeypatch, tmp_path, "Diabete")
    [before] = rebuild.rebuild(small_copy, tmp_path, restore=True)
    assert before.verdict == "missing"
    command = ["data", "rebuild", "--downloads", str(tmp_path), "--folder", str(small_copy)]
    assert cli.main(command) == 0
    assert re.search(r"Diabete\s+diabete\.npz\s+identical", capsys.readouterr().out)
    assert (small_copy / "diabete.npz").read_bytes() == (DATA_FOLDER / "diabete.npz").read_bytes()


def test_rebuild_tells_other_bytes_from_other_values(monkeypatch, tmp_path, small_copy):
    arrays = _fake_registry(monkeypatch, tmp_path, "Australian")
    np.savez(small_copy / "australian.npz", **arrays)
    [row] = rebuild.rebuild(small_copy, tmp_path)
    assert row.verdict == "same values"
    np.savez(small_copy / "australian.npz", X=arrays["X"] + 1, y=arrays["y"])
    [row] = rebuild.rebuild(small_copy, tmp_path)
    assert row.verdict == "different"


@pytest.mark.hardening("damage")
def test_rebuild_refuses_an_archive_that_was_changed(monkeypatch, tmp_path, capsys):
    _fake_registry(monkeypatch, tmp_path, "Diabete")
    [pin] = rebuild.manifest()["archives"].values()
    (tmp_path / pin["file"]).write_bytes(b"something else")
    assert cli.main(["data", "rebuild", "--downloads", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert f"{pin['file']} has SHA-256" in err
    assert "Traceback" not in err


def test_rebuild_never_writes_bytes_that_the_manifest_does_not_know(
    monkeypatch, tmp_path, small_copy
):
    arrays = _fake_registry(monkeypatch, tmp_path, "Diabete")
    arrays["X"] = arrays["X"] + 1
    with pytest.raises(rebuild.RebuildError, match="nothing was written"):
        rebuild.rebuild(small_copy, tmp_path, restore=True)
    assert not (small_copy / "diabete.npz").exists()


@pytest.mark.parametrize(
    ("done", "said"),
    [
        ((1, "warning\nERROR: no such version\n"), "x 1 could not be fetched: ERROR: no such"),
        ((0, ""), r"x 1 did not arrive as x\.tgz"),
        (FileNotFoundError("npm"), "npm is needed to fetch x"),
    ],
)
def test_a_failed_download_is_told_in_one_sentence(monkeypatch, tmp_path, done, said):
    def run(command, **_):
        if isinstance(done, Exception):
            raise done
        return subprocess.CompletedProcess(command, done[0], "", done[1])

    monkeypatch.setattr(rebuild.subprocess, "run", run)
    pin = {"registry": "npm", "version": "1", "file": "x.tgz", "sha256": ""}
    with pytest.raises(rebuild.RebuildError, match=said):
        rebuild.fetch("x", pin, tmp_path)


# The recipes, on sources small enough to work out by hand; the real ones need the network.


def test_splice_recipe_codes_letters_and_drops_ambiguous_rows():
    text = b"@relation splice\nA, G, C, T, N\nA, D, C, T, EI\nT, T, A, A, IE\n"
    made = rebuild.delve_splice(lambda member: text, "")
    assert made["X"].tolist() == [[1, 2, 3, 4], [4, 4, 1, 1]]
    assert made["y"].tolist() == [1, -1]


def test_recipes_of_numbers_read_their_classes():
    keel = rebuild.RECIPES["Diabete"](lambda member: b"@data\n1.5,2, positive\n3,4,no\n", "")
    assert keel["X"].tolist() == [[1.5, 2], [3, 4]]
    assert keel["y"].tolist() == [1, -1]
    german = rebuild.RECIPES["GermanCredit"](lambda member: b" 3 7 1 \n 4 9 2 \n", "")
    assert german["y"].tolist() == [1, -1], "one is good credit"
    radar = rebuild.RECIPES["Ionosphere"](lambda member: b"1,0,0.5,g\n1,0,-0.5,b\n", "")
    assert radar["X"].tolist() == [[1, 0, 0.5], [1, 0, -0.5]]
    assert radar["y"].tolist() == [1, -1]


def test_australian_recipe_recodes_and_fills_missing_values():
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


def test_usps_recipe_stacks_both_parts_and_reads_one_hot_labels():
    patterns, labels = np.zeros((256, 3)), -np.ones((10, 3), dtype=np.int16)
    patterns[5], labels[[4, 0, 9], [0, 1, 2]] = [0.5, -0.25, 1], 1
    parts = {"train_patterns": patterns[:, :2], "test_patterns": patterns[:, 2:]}
    parts |= {"train_labels": labels[:, :2], "test_labels": labels[:, 2:]}
    stored = io.BytesIO()
    savemat(stored, parts)
    made = rebuild.usps(lambda member: stored.getvalue(), "")
    assert made["X"].dtype == np.float16
    assert made["X"][:, 5].tolist() == [0.5, -0.25, 1]
    assert made["y"].tolist() == [4, 0, 9]


def test_mnist_recipe_skips_the_headers_and_stops_at_20000(tmp_path):
    images = np.arange(20_001 * 784, dtype=np.int64).astype(np.uint8)
    labels = (np.arange(20_001) % 10).astype(np.uint8)
    files = {"train-images-idx3": bytes(16) + images.tobytes()}
    files["train-labels-idx1"] = bytes(8) + labels.tobytes()
    archive = tmp_path / "digits.tgz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    made = rebuild.mnist(partial(rebuild.read_member, archive), "train-images-idx3")
    assert made["X"].shape == (20_000, 784)
    assert np.array_equal(made["X"].ravel(), images[: 20_000 * 784])
    assert np.array_equal(made["y"], labels[:20_000])


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
def test_nothing_of_a_download_runs_before_its_hash_is_known(monkeypatch, tmp_path):
    registry, marker = tmp_path / "registry", tmp_path / "was run"
    registry.mkdir()
    archive = source_archive(registry, marker)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(registry))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # by pip's logic: no isolation, no network
    pin = {"registry": "pip", "version": "1.0", "file": archive.name, "sha256": "0" * 64}
    for folder in ("doctored", "right"):
        (tmp_path / folder).mkdir()
    with pytest.raises(rebuild.RebuildError, match=r"has not the SHA-256 0000.*nothing of it was"):
        rebuild.fetch("traced", pin, tmp_path / "doctored")
    assert not marker.exists()
    assert not list((tmp_path / "doctored").iterdir())
    # With the right hash pip does run it, so the trace above would have been left.
    pin["sha256"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    with contextlib.suppress(rebuild.RebuildError):  # its version is not that of its name
        rebuild.fetch("traced", pin, tmp_path / "right")
    assert marker.exists()


def test_interruption_and_mistakes_are_told_plainly(monkeypatch, capsys):
    def interrupt():
        os.kill(os.getpid(), signal.SIGTERM)  # as Ctrl-C
        time.sleep(10)

    def refuse():
        raise PermissionError(13, "Permission denied", "book")

    monkeypatch.setattr("companion.kit.readme.write", interrupt)
    assert cli.main(["readme"]) == 130
    monkeypatch.setattr("companion.kit.readme.write", refuse)
    assert cli.main(["readme"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "ddr-book: interrupted",
        "ddr-book: [Errno 13] Permission denied: 'book'",
    ]


def test_a_fault_of_the_program_is_not_hidden(monkeypatch):
    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr("companion.kit.readme.write", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["readme"])
