"""The open cells of the lessons stand on `ddr` alone, and each parameter reaches the method."""

import nbformat
import pytest
from companion.kit.parameters import list_notebooks, read_parameters
from companion.runs.experiments import Run
from companion.runs.multiverse import altered
from companion.runs.protocols import load_protocol

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


CHANGES = {
    "synthetic": {
        "seed": 1,
        "n_test": 100,
        "width": 1.0,
        "lams": [0.5],
        "clip": "ratio",
        "components": "prior_ratio",
        "stopping": "fixed",
        "max_iter": 2,
    },
    "biased": {
        "seed": 1,
        "strength": 2.0,
        "n_omegas": 1,
        "width": 0.3,
        "lams": [0.5],
        "clip": "ratio",
        "components": "prior_ratio",
        "stopping": "fixed",
        "max_iter": 2,
    },
    "cross": {
        "seed": 1,
        "fraction": 0.2,
        "resize": "nearest",
        "Cs": [0.001],
        "widths": [0.2],
        "lams": [0.5],
        "clip": "ratio",
        "components": "prior_ratio",
        "max_iter": 1,
        "stopping": "fixed",
    },
}


@pytest.mark.parametrize(
    ("experiment", "name"), [(e, name) for e, changes in CHANGES.items() for name in changes]
)
def test_each_changed_parameter_is_another_protocol(experiment, name):
    published = Run(load_protocol(experiment)).parameters
    assert (
        Run(altered(experiment, "matched", {name: CHANGES[experiment][name]})).parameters
        != published
    )
    assert Run(altered(experiment, "matched", {})).parameters == published


def test_parameters_that_reach_the_method_are_declared():
    declared = {path.stem: {p.name for p in read_parameters(path)} for path in LESSONS}
    for (stem, names), changes in zip(declared.items(), CHANGES.values(), strict=True):
        assert set(changes) <= names, stem


def test_a_universe_is_a_protocol_and_an_unknown_name_is_refused():
    assert altered("biased", "hard-prior", {})["ddr"]["prior"] == "hard"
    with pytest.raises(ValueError, match=r"one of matched, .*; got 'nonsense'"):
        altered("biased", "nonsense", {})
