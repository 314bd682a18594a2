"""Change one operator or number of a module at a time, and count which changes its tests notice.

Cosmic Ray finds and makes the changes, in a copy of the repository, and keeps what each came to, so
that an interrupted count goes on. A change costs its tests and no start: each is tried in a fork of
this process, which has loaded the libraries. `make mutants ARGS="--minutes 25 ddr/kde.py"`
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import cosmic_ray.plugins
import pytest
from cosmic_ray.commands.init import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parents[1]
WORK, RECORD = ROOT / "_build" / "mutants", ROOT / "book" / "mutants.json"
SETTINGS = tomllib.loads((ROOT / ".ci" / "mutants.toml").read_text(encoding="utf-8"))
LIBRARIES = """hypothesis matplotlib nbformat pandas piqp rocrate.rocrate scipy.optimize scipy.stats
    skada sklearn.ensemble sklearn.linear_model sklearn.model_selection sklearn.svm
    sklearn.utils.estimator_checks yaml"""


def copy_of_the_repository(target):
    """Copy what git knows, as it is now, to a folder whose files may be changed."""
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    names = [name for name in files.stdout.decode().splitlines() if (ROOT / name).exists()]
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def run_tests(tests):
    """Run the tests in this process, quietly, and leave with pytest's code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    wanted = ["-m", "not weekly and not browser"]
    sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *wanted, *tests]))


def tried(tests, limit):
    """Whether the tests pass within the limit, in a fork of this process."""
    process = multiprocessing.get_context("fork").Process(target=run_tests, args=(tests,))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return False
    if process.exitcode not in (0, 1, 2) and process.exitcode > 0:
        raise SystemExit(f"pytest could not run {tests}: it left with {process.exitcode}")
    return process.exitcode == 0


def session(module):
    """The changes of one module as it is now, with what they came to so far."""
    digest = hashlib.sha256(Path(module).read_bytes()).hexdigest()
    path = WORK / f"{module.replace('/', '-')}-{digest[:12]}.sqlite"
    new = not path.exists()
    with use_db(str(path), WorkDB.Mode.create) as database:
        if new:
            init([Path(module)], database, {})
            out = re.compile("|".join(SETTINGS["mutations"]["leave_out"]))
            skipped = [
                i.job_id for i in database.work_items if out.match(i.mutations[0].operator_name)
            ]
            database.set_multiple_results(skipped, WorkResult(WorkerOutcome.SKIPPED))
    return path, digest


def go_through(database, tests, until, again):
    """Try what is open, in an order drawn once, so that a part is a fair sample."""
    started = time.monotonic()
    if started > until:
        return  # `--minutes 0` only counts anew
    if not tried(tests, 600):
        raise SystemExit(f"{tests} must pass before anything is changed")
    limit = 15 + 5 * (time.monotonic() - started)
    items = list(database.pending_work_items)
    if again:
        items += [
            item
            for item, result in outcomes(database)
            if result.test_outcome is TestOutcome.SURVIVED
        ]
    items.sort(key=lambda item: (item.mutations[0].operator_name, item.mutations[0].occurrence))
    random.Random(0).shuffle(items)
    for item in items:
        if time.monotonic() > until:
            return
        change = item.mutations[0]
        operator = cosmic_ray.plugins.get_operator(change.operator_name)(**change.operator_args)
        with use_mutation(change.module_path, operator, change.occurrence) as (before, after):
            outcome = TestOutcome.SURVIVED if tried(tests, limit) else TestOutcome.KILLED
        text = changed_line(before, after, change.start_pos[0])
        database.set_result(item.job_id, WorkResult(WorkerOutcome.NORMAL, None, outcome, text))


def changed_line(before, after, line):
    """The line before and after its change."""
    pair = (text.splitlines()[line - 1].strip() for text in (before, after))
    return " -> ".join(pair)


def outcomes(database):
    """Pairs of a change and its result, of those that were tried."""
    results = {
        job: result
        for job, result in database.results
        if result.worker_outcome is WorkerOutcome.NORMAL
    }
    return [(item, results[item.job_id]) for item in database.work_items if item.job_id in results]


def counted(database, digest, tests):
    """What the book's page shows of a module."""
    found = [result for _, result in outcomes(database)]
    left = sorted(r.diff for r in found if r.test_outcome is TestOutcome.SURVIVED)
    pending = sum(1 for _ in database.pending_work_items)
    return {
        "sha256": digest,
        "tests": tests,
        "changes": len(found) + pending,
        "tried": len(found),
        "noticed": len(found) - len(left),
        "explained": sum(
            any(re.fullmatch(why, text) for why in SETTINGS["explained"]) for text in left
        ),
        "survivors": left,
    }


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="such as ddr/kde.py; default: all")
    parser.add_argument("--minutes", type=float, default=600, help="stop after so long")
    parser.add_argument("--again", action="store_true", help="try the survivors again, too")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    if unknown := set(arguments.modules) - set(SETTINGS["modules"]):
        parser.error(f"modules must be among those of .ci/mutants.toml, got {sorted(unknown)}")
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as code:
        copy_of_the_repository(Path(code))
        count(arguments.modules or SETTINGS["modules"], code, until, arguments.again)


def count(modules, code, until, again):
    """Go through the modules, in a copy of the code, and write what was counted."""
    os.chdir(code)
    sys.path[:0] = [code, f"{code}/book"]
    os.environ["PYTHONPATH"] = f"{code}:{code}/book"
    sys.dont_write_bytecode = True  # a file that is changed twice in a second has one time
    for name in LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for module in modules:
        tests = SETTINGS["modules"][module]
        path, digest = session(module)
        with use_db(str(path), WorkDB.Mode.open) as database:
            go_through(database, tests, until, again)
            entry = counted(database, digest, tests)
        said = f"{entry['noticed']} of {entry['tried']} noticed, {entry['changes']} possible"
        print(f"{module}: {said}", flush=True)
        if entry["tried"]:
            record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
            text = json.dumps(record | {module: entry}, indent=1, sort_keys=True)
            RECORD.write_text(text + "\n", encoding="utf-8")


main()
