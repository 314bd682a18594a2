"""The README: its numbers are those of the published runs, and its example runs."""

import re
import shutil
import subprocess
import sys

import pytest
from companion.cli import main
from companion.kit import readme
from companion.runs.results import published_results
from paper_runs import swapped


def test_the_numbers_are_current(root):
    """Fails when runs were published and `ddr-book readme` was not run after it."""
    assert not readme.stale(root)


def test_a_moved_number_is_noticed(root):
    assert readme.stale(root, swapped(published_results()))


@pytest.fixture
def copy(root, tmp_path, monkeypatch):
    """A folder with the README alone, and short texts to be put into it."""
    shutil.copy(root / "README.md", tmp_path)
    monkeypatch.setattr(readme, "block", lambda results: "a gain of 1.2 points")
    monkeypatch.setattr(readme, "shifts_block", lambda: "no shift")
    for name in ("write", "stale"):
        original = getattr(readme, name)
        monkeypatch.setattr(readme, name, lambda f=original: f(tmp_path))
    return tmp_path / "README.md"


def test_it_is_written_once_and_an_edited_number_is_noticed(copy, capsys):
    assert main(["readme", "--check"]) == 1
    assert "not current" in capsys.readouterr().out
    assert main(["readme"]) == 0
    first = [path.read_bytes() for path in readme.write()]
    assert main(["readme", "--check"]) == 0
    assert [path.read_bytes() for path in readme.write()] == first
    assert len(first[1]) < 100_000  # small enough to be committed with every change of the runs
    text = copy.read_text(encoding="utf-8")
    copy.write_text(text.replace("gain of 1.2", "gain of 1.3"), encoding="utf-8")
    assert main(["readme", "--check"]) == 1


def test_the_example_is_short_and_runs(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in example.splitlines() if line]) <= 15
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    plain, guarded = map(float, re.findall(r"accuracy (0\.\d{3}) with", done.stdout))
    assert guarded >= plain


def test_files_that_it_names_exist(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\((book/[^)]+)\)", text)) | {"book/results", "LICENSE"}
    assert [name for name in named if not (root / name).exists()] == []
