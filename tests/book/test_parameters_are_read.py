"""papermill's trap beyond the typo: a parameter that is accepted and then read by nothing."""

import json
import shutil
from functools import cache

import nbformat
import pytest
from companion.kit.execute import rerun
from companion.kit.parameters import list_notebooks, read_parameters
from companion.paths import RUNS
from test_reruns import EXTREMES

pytestmark = pytest.mark.weekly

#: Changes of the smallest runs without which a parameter decides nothing.
NEEDED = {
    "max_iter": {"stopping": "fixed", "max_iter": 1},
    "verify_pairs": {"verify_runs": 1},
    "compute_missing": {"n_runs": 31},
}
#: What decides about stored runs; there are some only with the settings that are published.
OF_STORED = ("verify_runs", "verify_pairs", "compute_missing")
SETTINGS = ("strength", "n_omegas", "n_train", "n_test", "seed", "fraction")
EACH = [(path, p) for path in list_notebooks() for p in read_parameters(path)]
NAMES = [f"{path.stem}-{p.name}" for path, p in EACH]


def another(parameter, value):
    """Another allowed value, near the one given so that it costs little."""
    if parameter.is_list:  # another pair that agrees as well is seen by the count alone
        kept = value if parameter.name == "verify_pairs" else []
        return [*kept, _another(parameter, value[0])]
    return _another(parameter, value)


def _another(parameter, value):
    if parameter.kind is bool:
        return not value
    if parameter.choices:
        return next(parameter.kind(each) for each in parameter.choices if each != str(value))
    if parameter.name == "protocol":
        return "tuned"
    near = [value + 1] if parameter.kind is int else [1.5 * value, value / 1.5, 1.0]
    allowed = [new for new in [*near, value - 1] if parameter.low <= new <= parameter.high]
    return next(new for new in allowed if new != value)


def both(path, parameter):
    """Values of two small runs that differ in this parameter alone."""
    values = {p.name: p.default for p in read_parameters(path)}
    small = EXTREMES[path.stem][0]
    if parameter.name in OF_STORED:
        small = {name: value for name, value in small.items() if name not in SETTINGS}
    values |= small | NEEDED.get(parameter.name, {})
    return values, values | {parameter.name: another(parameter, values[parameter.name])}


@pytest.fixture(scope="module")
def executed(root, tmp_path_factory):
    """What a notebook shows when papermill runs it with these values; each run is made once."""
    copy = tmp_path_factory.mktemp("runs")
    shutil.copytree(root / "notebooks", copy / "notebooks")
    (copy / RUNS).mkdir(parents=True)

    @cache
    def outputs(stem, values):
        name = f"n{outputs.cache_info().misses}"
        made = nbformat.read(rerun(stem, json.loads(values), name, copy), as_version=4)
        code = [c for c in made.cells if c.cell_type == "code"]
        kept = [c for c in code if "nbval-ignore-output" not in c.metadata.get("tags", [])]
        return [[o.get("text", o.get("data")) for o in c.outputs] for c in kept]

    return outputs


@pytest.mark.parametrize(("path", "parameter"), EACH, ids=NAMES)
def test_each_parameter_changes_what_papermill_computes(executed, path, parameter):
    one, other = (executed(path.stem, json.dumps(values)) for values in both(path, parameter))
    assert one != other
