"""Shared by the tests of notebooks and pages."""

from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture
def make_notebook():
    """Build a notebook from cells: a str is Markdown, a pair is code and its keywords."""

    def build(*cells):
        notebook = nbformat.v4.new_notebook()
        notebook.metadata["kernelspec"] = {"display_name": "Python 3", "name": "python3"}
        for cell in cells:
            if isinstance(cell, str):
                notebook.cells.append(nbformat.v4.new_markdown_cell(cell))
            else:
                source, options = cell
                notebook.cells.append(nbformat.v4.new_code_cell(source, **options))
        return notebook

    return build
