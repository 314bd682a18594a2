"""Execute the notebooks: the published ones in place, reruns with other parameters beside them.

Papermill does the execution. What it and Jupyter add that differs from run to run (timestamps,
durations, versions) is taken out again, so an unchanged notebook gives no difference in git.
"""

import json
import os
import re
import time
from pathlib import Path

import nbformat

from companion.notebook_kit.parameters import check_values, parse_parameters
from companion.notebook_kit.rerun_page import as_rerun
from companion.paths import ROOT

NOTEBOOKS = "notebooks"
RUNS = "book/runs"
TIMES = "_build/notebook_times.json"
FAILED = "artifacts/failed"

_RUN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
# Threads for matrices as small as these wait for each other longer than they work.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
_VOLATILE_CELL_METADATA = ("papermill", "execution", "ExecuteTime")


def find_notebook(name, root=ROOT):
    """Find a published notebook by its name."""
    wanted = Path(name).name.removesuffix(".ipynb")
    published = {path.stem: path for path in list_notebooks(root)}
    if wanted not in published:
        known = ", ".join(published) or "none yet"
        raise ValueError(f"notebook must be one of {known}; got {name!r}")
    return published[wanted]


def list_notebooks(root=ROOT):
    """List the published notebooks in reading order."""
    return sorted((Path(root) / NOTEBOOKS).glob("*.ipynb"))


def read_parameters(path):
    """Read what a notebook declares in the cell tagged ``parameters``."""
    notebook = nbformat.read(path, as_version=4)
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        name = Path(path).name
        raise ValueError(f"{name} must have one cell tagged parameters, got {len(tagged)}")
    return parse_parameters(tagged[0].source)


def execute(path, root=ROOT, progress=True):
    """Execute a published notebook and replace it only if every cell succeeded."""
    path = Path(path)
    before = path.read_text(encoding="utf-8")
    executed, seconds = _papermill(path, {}, root, progress)
    source = nbformat.reads(before, as_version=4)
    _write(strip_volatile(executed, source), path)
    _record_time(path.stem, seconds, root)
    return path.read_text(encoding="utf-8") != before


def rerun(name, given, run_name, root=ROOT, force=False, progress=True):
    """Run a notebook with other parameters; the result becomes a page of the book."""
    path = find_notebook(name, root)
    values = check_values(read_parameters(path), given)
    if not _RUN_NAME.fullmatch(run_name):
        raise ValueError(
            f"name must be 1 to 40 lower-case letters, digits, - or _, got {run_name!r}"
        )
    target = Path(root) / RUNS / f"{path.stem}-{run_name}.ipynb"
    if target.exists() and not force:
        raise FileExistsError(f"{target.relative_to(root)} exists; choose another name or --force")
    executed, seconds = _papermill(path, values, root, progress)
    source = nbformat.read(path, as_version=4)
    run = as_rerun(strip_volatile(executed, source), path.stem, run_name, values, seconds)
    target.parent.mkdir(parents=True, exist_ok=True)
    _write(run, target)
    return target


def _papermill(path, values, root, progress):
    import papermill

    scratch = Path(root) / FAILED / path.name
    scratch.parent.mkdir(parents=True, exist_ok=True)
    for variable in _ONE_THREAD:  # for the kernel, which starts as a process of its own
        os.environ.setdefault(variable, "1")
    started = time.perf_counter()
    executed = papermill.execute_notebook(
        str(path),
        str(scratch),  # left there if a cell fails, with the error in its place
        parameters=values,
        cwd=str(path.parent),  # nbval's working folder too
        kernel_name="python3",
        language="python",
        progress_bar={"desc": path.stem} if progress else False,
        extra_arguments=["--log-level=50"],  # the kernel's own remarks would break the bar
    )
    seconds = time.perf_counter() - started
    scratch.unlink()
    return executed, seconds


def strip_volatile(executed, source):
    """Take out what changes from run to run although the notebook did not."""
    kept = {key: source.metadata[key] for key in source.metadata if key == "ddr"}
    executed.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            **kept,
        }
    )
    executed.nbformat, executed.nbformat_minor = 4, 5
    for number, cell in enumerate(executed.cells):
        for key in _VOLATILE_CELL_METADATA:
            cell.metadata.pop(key, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        cell["id"] = f"cell-{number:02d}"
        if cell.cell_type == "code":
            cell.outputs = _joined_streams(cell.outputs)
    return executed


def _joined_streams(outputs):
    """Join pieces of one printed text, which a busy kernel sends in more than one message."""
    joined = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def _write(notebook, path):
    """Write beside the target, then move over it: a crash leaves the old file whole."""
    scratch = path.with_name(f".{path.name}.part")
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    nbformat.validate(nbformat.reads(text, as_version=4))
    scratch.write_text(text + "\n", encoding="utf-8")
    os.replace(scratch, path)


def _record_time(stem, seconds, root):
    """Keep the duration for the status page, out of git because it differs each time."""
    record = Path(root) / TIMES
    times = json.loads(record.read_text()) if record.exists() else {}
    times[stem] = round(seconds, 1)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(times, indent=1, sort_keys=True))
