"""The package imports quickly, names resolve, and every public name explains itself."""

import inspect
import json
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


@pytest.fixture(scope="module")
def of_scikit_learn():
    """What the base class of every estimator brings along (pandas, where it is installed)."""
    return modules_after("import sklearn.base")


def test_entropy_needs_no_scikit_learn():
    assert "sklearn" not in modules_after("from ddr import entropy")


@pytest.mark.parametrize(
    ("name", "unneeded"),
    [
        ("ULSIF", ["piqp", "sklearn.neighbors", "sklearn.naive_bayes"]),
        ("KLIEP", ["piqp", "sklearn.neighbors", "sklearn.naive_bayes"]),
        ("DDRClassifier", ["piqp", "sklearn.neighbors"]),
        ("KMM", ["piqp"]),
        ("effective_sample_size", ["piqp"]),
    ],
)
def test_a_name_loads_only_what_it_needs(name, unneeded, of_scikit_learn):
    loaded = modules_after(f"from ddr import {name}") - of_scikit_learn
    for other in [*unneeded, *HEAVY, "sklearn.ensemble", "sklearn.svm", "sklearn.linear_model"]:
        assert other not in loaded, f"from ddr import {name} also imports {other}"


def test_every_public_name_resolves():
    for name in ddr.__all__:
        assert getattr(ddr, name) is not None
    assert ddr.ULSIF is import_module("ddr.ulsif").ULSIF
    assert issubclass(ddr.OverlapWarning, UserWarning)  # to be silenced by name
    assert sorted(ddr.__all__) == dir(ddr)
    assert len(set(ddr.__all__)) == len(ddr.__all__)
    namespace = {}
    exec("from ddr import *", namespace)
    assert set(ddr.__all__) <= set(namespace)


def test_an_unknown_name_gets_one_clear_sentence():
    with pytest.raises(AttributeError, match=r"^module 'ddr' has no attribute 'uLSIF'$"):
        ddr.uLSIF  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Ulsif' from 'ddr'"):
        from ddr import Ulsif  # noqa: F401


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert ddr.__version__ == version("ddr-companion")


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
    assert doc
    summary = doc.splitlines()[0]
    assert summary.endswith("."), f"the summary of {value.__name__} is not a sentence"
    sections = "Parameters\n----------" in doc
    if (sections or value.__name__ in ddr.__all__) and value.__name__ not in WITHOUT_EXAMPLE:
        assert "Examples\n--------\n>>> " in doc


@pytest.mark.parametrize("value", list(public_objects()))
def test_every_parameter_is_described(value):
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
    expected = {p for p in inspect.signature(value).parameters if p != "self"}
    assert expected <= described, f"not described: {sorted(expected - described)}"


@pytest.mark.parametrize("value", list(public_objects()))
def test_public_methods_are_described(value):
    if not inspect.isclass(value):
        return
    for name, method in vars(value).items():
        if name[0] != "_" and inspect.isfunction(method):
            assert inspect.getdoc(method), f"{value.__name__}.{name} has no docstring"
