"""The wheel alone: installed into an empty environment, used without a checkout."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path.stem for path in (ROOT / "ddr").glob("*.py") if path.stem not in ("__init__", "__main__")
)
FOREIGN = ["pandas", "matplotlib", "yaml", "papermill", "companion"]


def run(*command, cwd):
    """Run a command as a stranger would: without the checkout on Python's path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the checkout, which building would litter."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("ddr", "book/companion"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, source, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of an empty environment that has the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("environment")
    place = folder / "venv"
    run(sys.executable, "-m", "venv", place, cwd=folder)
    interpreter = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv:
        run(uv, "pip", "install", "-q", "--python", interpreter, wheel, cwd=folder)
    else:
        run(interpreter, "-m", "pip", "install", "-q", wheel, cwd=folder)
    return interpreter


def test_the_wheel_holds_the_method_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"ddr"}
    for module in MODULES:
        assert f"ddr/{module}.py" in names
    assert "ddr/paper/data/manifest.json" in names


def test_every_module_imports_without_the_book(python, tmp_path):
    program = f"""
import importlib, importlib.util, sys
for name in {MODULES!r}:
    importlib.import_module("ddr." + name)
for name in {FOREIGN!r}:
    assert name not in sys.modules, name
    assert importlib.util.find_spec(name) is None, name
print(importlib.import_module("ddr").__file__)
"""
    where = run(python, "-c", program, cwd=tmp_path)
    assert str(ROOT) not in where


def test_the_example_of_the_readme_runs(python, tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line]) <= 15
    said = run(python, "-W", "error::UserWarning", "-c", example, cwd=tmp_path)
    plain, guarded = map(float, re.findall(r"(0\.\d+) with", said))
    assert guarded >= plain
