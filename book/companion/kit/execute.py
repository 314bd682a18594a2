"""Execute the notebooks: the published ones in place, reruns with other parameters beside them.

Papermill does the execution. What it and Jupyter add that differs from run to run (timestamps,
durations, versions) is taken out again, so an unchanged notebook gives no difference in git.
"""

import os
import re
import time
from pathlib import Path

import nbformat
import papermill
from filelock import FileLock, Timeout

from companion.browser.declared import check_values
from companion.kit.parameters import find_notebook, read_parameters
from companion.kit.rerun_page import as_rerun
from companion.paths import ROOT, RUNS, TIMES
from companion.runs.store import replace_file

FAILED, LOCKS = "artifacts/failed", "_build/locks"

_RUN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_VOLATILE = ("papermill", "execution", "ExecuteTime")


class CellError(Exception):
    """A cell of a notebook failed; the message says which and why."""

    exit_code = 1  # of the command


def execute(path, root=ROOT):
    """Execute a published notebook and replace it only if every cell succeeded."""
    path = Path(path)
    before = path.read_bytes()
    executed, seconds = _papermill(path, {}, root)
    _write(strip_volatile(executed), path)
    times = Path(root) / TIMES  # for the status page, out of git because it differs each time
    times.mkdir(parents=True, exist_ok=True)
    replace_file(times / f"{path.stem}.txt", f"{seconds:.1f} s".encode())
    return path.read_bytes() != before


def rerun(name, given, run_name, root=ROOT, force=False):
    """Run a notebook with other parameters; the result becomes a page of the book."""
    path = find_notebook(name, root)
    values = check_values(read_parameters(path), given)
    if not _RUN_NAME.fullmatch(run_name):
        raise ValueError(
            f"name must be 1 to 40 lower-case letters, digits, - or _, got {run_name!r}"
        )
    target = Path(root) / RUNS / f"{path.stem}-{run_name}.ipynb"
    if target.exists() and not force:
        shown = target.relative_to(root)
        raise FileExistsError(f"{shown} exists; choose another name or --force")
    locks = Path(root) / LOCKS
    for folder in (locks, target.parent):  # now, not after the whole computation
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(locks / f"{target.stem}.lock", blocking=False):
            executed, seconds = _papermill(path, values, root)
            as_rerun(strip_volatile(executed), path.stem, run_name, values, seconds)
            _write(executed, target)
    except Timeout:
        raise FileExistsError(f"a run named {run_name!r} of {path.stem} is under way") from None
    return target


def _papermill(path, values, root):
    unique = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.ipynb"
    scratch = Path(root) / FAILED / unique
    scratch.parent.mkdir(parents=True, exist_ok=True)
    # Threads for matrices as small as these wait for each other longer than they work.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # for the kernel, a process of its own
    started = time.perf_counter()
    try:
        executed = _with_a_kernel(
            str(path),
            str(scratch),  # left there if a cell fails, with the error in its place
            parameters=values,
            cwd=str(path.parent),  # nbval's working folder too
            kernel_name="python3",
            language="python",
            progress_bar={"desc": path.stem},
            extra_arguments=["--log-level=50"],  # the kernel's own remarks would break the bar
            coalesce_streams=True,  # a busy kernel sends one printed text in several messages
        )
    except papermill.PapermillExecutionError as error:
        raise CellError(
            f"cell {error.exec_count} raised {error.ename}: {error.evalue}\n"
            f"Nothing was replaced; the failed copy is in {FAILED}."
        ) from None
    seconds = time.perf_counter() - started
    scratch.unlink()
    return executed, seconds


def _with_a_kernel(*arguments, **options):
    """Begin again if the kernel dies before its first answer: another process took its port."""
    for _ in range(2):
        try:
            return papermill.execute_notebook(*arguments, **options)
        except RuntimeError as error:
            if "kernel_info" not in str(error):
                raise
    return papermill.execute_notebook(*arguments, **options)


def strip_volatile(executed):
    """Take out what changes from run to run although the notebook did not."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    language = {"name": "python"}
    executed.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": language})
    executed.nbformat, executed.nbformat_minor = 4, 5
    for number, cell in enumerate(executed.cells):
        kept = {k: v for k, v in cell.metadata.items() if k not in _VOLATILE and v != []}
        cell.metadata = nbformat.from_dict(kept)
        cell["id"] = f"cell-{number:02d}"
    return executed


def _write(notebook, path):
    replace_file(path, (nbformat.writes(notebook, split_lines=False) + "\n").encode())
