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


RATIO = ["seed", "lams", "clip", "components", "stopping", "max_iter"]
REACHING = {
    "synthetic": ["n_test", "width", *RATIO],
    "biased": ["strength", "n_omegas", "width", *RATIO],
    "cross": ["fraction", "resize", "Cs", "widths", *RATIO],
}


def another(parameter):
    """Another value that a parameter allows."""
    value = parameter.default[0] if parameter.is_list else parameter.default
    if parameter.choices:
        value = next(each for each in parameter.choices if each != value)
    else:
        value = value + 1 if value + 1 <= parameter.high else value / 2
    return [value] if parameter.is_list else value


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_changed_parameter_is_another_protocol(path):
    experiment = list(REACHING)[LESSONS.index(path)]
    published = Run(load_protocol(experiment)).parameters
    declared = {parameter.name: parameter for parameter in read_parameters(path)}
    assert Run(altered(experiment, "matched", {})).parameters == published
    for name in REACHING[experiment]:
        changed = altered(experiment, "matched", {name: another(declared[name])})
        assert Run(changed).parameters != published, name


def test_a_universe_is_a_protocol_and_an_unknown_name_is_refused():
    assert altered("biased", "hard-prior", {})["ddr"]["prior"] == "hard"
    with pytest.raises(ValueError, match=r"one of matched, .*; got 'nonsense'"):
        altered("biased", "nonsense", {})
