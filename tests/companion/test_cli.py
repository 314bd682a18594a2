"""The command line: what it prints, what it refuses, and its exit codes."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from companion import cli

from ddr.paper import datasets
from ddr.paper.datasets import DATA_FOLDER


@pytest.mark.hardening("damage")
def test_files_that_are_not_as_they_should_be_are_named(tmp_path, monkeypatch, capsys):
    assert cli.main(["data"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok"] * 8
    shutil.copytree(DATA_FOLDER, tmp_path / "data")
    monkeypatch.setattr(datasets, "DATA_FOLDER", tmp_path / "data")
    content = bytearray((tmp_path / "data" / "australian.npz").read_bytes())
    content[100] ^= 1
    (tmp_path / "data" / "australian.npz").write_bytes(content)
    (tmp_path / "data" / "diabete.npz").unlink()
    assert cli.main(["data"]) == 1
    states = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [state for state in states if state[0] != "ok"] == [
        ["damaged", "Australian", "australian.npz"],
        ["missing", "Diabete", "diabete.npz"],
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing command"),
        (["dta"], "No such command 'dta'"),
        (["data", "--fodler", "x"], "No such option"),
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
    monkeypatch.setattr("companion.kit.readme.write", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["readme"])
