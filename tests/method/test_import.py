"""The package imports quickly, names resolve, and every public name explains itself."""

import ast
import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ddr

MODULES = sorted(
    path.stem for path in Path(ddr.__file__).parent.glob("*.py") if path.stem[0] != "_"
)
HEAVY = ["pandas", "matplotlib", "yaml", "tqdm", "filelock", "distributed", "nbformat", "papermill"]


def modules_after(statement):
    """Names of all modules that a fresh interpreter has loaded after a statement."""
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return set(json.loads(run.stdout))


def test_importing_the_package_alone_loads_nothing_heavy():
    loaded = modules_after("import ddr")
    for name in ("numpy", "scipy", "sklearn", "joblib", "piqp", *HEAVY):
        assert name not in loaded, f"import ddr also imports {name}"
    assert {name for name in loaded if name.startswith("ddr")} == {"ddr", "ddr._version"}


def test_every_public_name_is_listed_and_an_unknown_one_gets_one_clear_sentence():
    assert sorted(ddr.__all__) == dir(ddr)
    with pytest.raises(AttributeError, match=r"^module 'ddr' has no attribute 'uLSIF'$"):
        ddr.uLSIF  # noqa: B018


def public_objects():
    for module_name in MODULES:
        module = import_module(f"ddr.{module_name}")
        for name, value in vars(module).items():
            defined_here = getattr(value, "__module__", None) == module.__name__
            if name[0] != "_" and defined_here and callable(value):
                yield pytest.param(value, id=f"{module_name}.{name}")


#: A warning has nothing to show.
WITHOUT_EXAMPLE = {"OverlapWarning", "AgreementWarning"}


@pytest.mark.parametrize("value", list(public_objects()))
def test_every_public_name_has_a_docstring_with_an_example(value):
    doc = inspect.getdoc(value)
    sections = "Parameters\n----------" in doc
    if (sections or value.__name__ in ddr.__all__) and value.__name__ not in WITHOUT_EXAMPLE:
        assert "Examples\n--------\n>>> " in doc


@pytest.mark.parametrize("value", list(public_objects()))
def test_every_parameter_is_described_with_its_default(value):
    """Those of longer docstrings; one-line helpers show theirs by example."""
    doc = inspect.getdoc(value)
    if "Parameters\n----------" not in doc:
        assert len(doc.splitlines()) < 20
        return
    section = doc.split("Parameters\n----------\n")[1].split("\n\n")[0]
    described = {
        name.strip("* ")
        for line in section.splitlines()
        if " : " in line or line.startswith("*")
        for name in line.split(" : ")[0].split(",")
    }
    parameters = inspect.signature(value).parameters
    expected = {name for name in parameters if name != "self"}
    assert expected <= described, f"not described: {sorted(expected - described)}"
    for name, said in re.findall(r"^(\w+) : .*default=(.+)$", section, re.MULTILINE):
        default = parameters[name].default
        assert said == getattr(default, "__name__", said), name
        assert callable(default) or ast.literal_eval(said) == default, name
