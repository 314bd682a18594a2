"""The open cells of the lessons stand on `ddr` alone, and compute what is published."""

import nbformat
import pytest
from companion.kit.parameters import list_notebooks
from companion.runs.experiments import Run
from companion.runs.multiverse import altered
from companion.runs.protocols import EXPERIMENTS, load_protocol

LESSONS = [path for path in list_notebooks() if path.stem != "01_theory"]
FOLDED = {"hide-input", "hide-cell", "parameters"}


def code_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def is_open(cell):
    return not FOLDED & set(cell.metadata.get("tags", []))


def lines(cells):
    return sum(len([line for line in cell.source.splitlines() if line.strip()]) for cell in cells)


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_two_thirds_of_the_story_are_open(path):
    cells = code_cells(path)
    # The story is what is neither a parameter nor the solution of an exercise.
    aside = {"parameters", "hide-cell"}
    story = [cell for cell in cells if not aside & set(cell.metadata.get("tags", []))]
    assert lines(filter(is_open, story)) >= 2 / 3 * lines(story)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_open_cells_use_the_package_alone(path):
    assert not [
        cell.source for cell in filter(is_open, code_cells(path)) if "companion" in cell.source
    ]


def test_a_universe_is_a_protocol_and_an_unknown_name_is_refused():
    for experiment in EXPERIMENTS:
        same, published = altered(experiment, "matched", {}), load_protocol(experiment)
        assert Run(same).parameters == Run(published).parameters
    assert altered("biased", "hard-prior", {})["ddr"]["prior"] == "hard"
    with pytest.raises(ValueError, match=r"one of matched, .*; got 'nonsense'"):
        altered("biased", "nonsense", {})
