"""The README: its numbers are those of the published runs, and what it names is there."""

import re

from companion.kit import readme
from companion.runs.results import published_results


def test_the_numbers_are_current(root):
    """Fails when runs were published and `ddr-book readme` was not run after it."""
    text = (root / "README.md").read_text(encoding="utf-8")
    assert readme.updated(text, published_results()) == text


def test_what_stands_between_the_markers_is_written_anew(root, tmp_path, monkeypatch):
    text = (root / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(readme, "block", lambda results: "a gain of 1.2 points")
    monkeypatch.setattr(readme, "shifts_block", lambda: "no shift")
    written, picture = readme.write(tmp_path)
    expected = [
        f"{readme.START}\n\n{text}\n\n{readme.END}" for text in ("a gain of 1.2 points", "no shift")
    ]
    assert readme.BLOCK.findall(written.read_text(encoding="utf-8")) == expected
    assert len(picture.read_bytes()) < 100_000, "committed with every change of the runs"


def test_files_that_it_names_exist(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\((book/[^)]+)\)", text)) | {"book/results", "LICENSE"}
    assert [name for name in named if not (root / name).exists()] == []
