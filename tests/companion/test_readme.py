"""The README: its numbers are those of the published runs, and its example runs."""

import re
import shutil
import subprocess
import sys

import pytest
from companion.cli import main
from companion.kit import readme
from paper_runs import complete_runs, swapped


@pytest.fixture(scope="module")
def printed():
    return complete_runs(n=4)


@pytest.fixture
def copy(root, tmp_path):
    """A folder with the README alone."""
    shutil.copy(root / "README.md", tmp_path)
    return tmp_path


def test_the_numbers_are_current(root):
    """Fails when runs were published and `ddr-book readme` was not run after it."""
    assert not readme.stale(root)


def test_check_answers_by_exit_code(copy, printed, capsys, monkeypatch):
    for name in ("write", "stale"):
        original = getattr(readme, name)
        monkeypatch.setattr(readme, name, lambda f=original: f(copy, printed))
    assert main(["readme", "--check"]) == 1
    assert "not current" in capsys.readouterr().out
    assert main(["readme"]) == 0
    assert main(["readme", "--check"]) == 0


def test_a_moved_number_is_noticed(copy, printed):
    readme.write(copy, printed)
    assert not readme.stale(copy, printed)
    assert readme.stale(copy, swapped(printed))


def test_an_edited_number_is_noticed(copy, printed):
    readme.write(copy, printed)
    path = copy / "README.md"
    text = path.read_text(encoding="utf-8")
    assert "100 % in Table 4" in text
    path.write_text(text.replace("100 % in Table 4", "101 % in Table 4"), encoding="utf-8")
    assert readme.stale(copy, printed)


def test_writing_twice_changes_nothing(copy, printed):
    first = [path.read_bytes() for path in readme.write(copy, printed)]
    assert [path.read_bytes() for path in readme.write(copy, printed)] == first
    assert len(first[1]) < 100_000  # small enough to be committed with every change of the runs


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
