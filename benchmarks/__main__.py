"""Measure ddr beside other packages, print one table and store it for the book.

The first call installs the other packages into .venv-bench. Every measurement runs in a process of
its own, on one thread; times are CPU seconds. An interrupted run goes on where it stopped.
"""

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import store
from benchmarks.environment import ROOT, SetupError, ensure
from benchmarks.plan import plan
from benchmarks.worker import OVER_LIMIT

PUBLISHED = ROOT / "benchmarks" / "results.json"
UNFINISHED = ROOT / "artifacts" / "benchmarks"


def main(argv=None):
    arguments = _parser().parse_args(argv)
    tasks = plan(arguments.quick)
    if arguments.only:
        tasks = [task for task in tasks if any(word in task.key for word in arguments.only)]
    if arguments.list or not tasks:
        print("\n".join(task.key for task in tasks) or "no measurement has such a name; see --list")
        return 0 if tasks else 2
    name = "quick.json" if arguments.quick else "results.json"
    out = arguments.out or (UNFINISHED / name if arguments.quick else PUBLISHED)
    if arguments.show:
        from benchmarks import page

        print(page.as_text(store.read(out, arguments.quick)))
        return 0
    if arguments.publish:
        partial = UNFINISHED / f"unfinished_{name}"
        return _finish(store.read(partial, arguments.quick), tasks, out, out)
    try:
        python = ensure()
    except SetupError as error:
        print(f"python -m benchmarks: {error}", file=sys.stderr)
        return 2
    partial = out if arguments.only else UNFINISHED / f"unfinished_{name}"
    fresh = arguments.fresh and not arguments.only
    results = store.empty(arguments.quick) if fresh else store.read(partial, arguments.quick)
    if not arguments.only:
        tasks_left = [task for task in tasks if not store.is_done(results, task)]
    else:
        tasks_left = tasks
    try:
        _measure_all(python, tasks_left, results, partial, arguments.limit)
    except KeyboardInterrupt:
        kept = len(results["measurements"])
        print(f"\nInterrupted: {kept} measurements are kept; call again to go on.")
        return 130
    return _finish(results, tasks, partial, out)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="only what takes seconds; about 5 minutes"
    )
    parser.add_argument("--fresh", action="store_true", help="forget an interrupted run")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORD",
        help="measure anew those whose name holds one of these words, and keep the other results",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=1800,
        metavar="SECONDS",
        help="give a measurement up after so much CPU time (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="file of the results (default: the published one, "
        "or with --quick artifacts/benchmarks/quick.json)",
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="publish what an interrupted run has measured so far, measure nothing",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the measurements")
    parser.add_argument(
        "--show", action="store_true", help="print the stored table, measure nothing"
    )
    return parser


def _measure_all(python, tasks, results, path, limit):
    results["machine"] = _run(python, "facts", {}, limit)
    for position, task in enumerate(tasks, 1):
        print(f"[{position}/{len(tasks)}] {task.key} ...", end=" ", flush=True)
        start, source = time.monotonic(), store.source_hash(task.function)
        measured = _run(python, task.function, task.arguments, limit)
        measured |= {"function": task.function, "arguments": task.arguments}
        measured["source"] = source
        if store.source_hash(task.function) != source:
            measured["failed"] = "the sources of ddr changed meanwhile"
        results["measurements"][task.key] = measured
        store.write(path, results)
        print(measured.get("failed", f"done in {time.monotonic() - start:.0f} s"), flush=True)


def _run(python, function, arguments, limit):
    """Result of one measurement in a fresh process, or ``{"failed": why}``."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # Without stored bytecode every import would compile its sources.
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPATH"] = str(ROOT / "book")  # the searches are those of the protocols
    command = [str(python), "-m", "benchmarks.worker", function, json.dumps(arguments), str(limit)]
    process = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    if process.returncode == 0:
        return json.loads(process.stdout)
    if process.returncode == OVER_LIMIT:
        return {"failed": f"stopped after {limit} s"}
    if process.returncode < 0:
        return {"failed": f"ended by {signal.Signals(-process.returncode).name}"}
    return {"failed": (process.stderr.strip().splitlines() or ["no message"])[-1]}


def _finish(results, tasks, partial, out):
    from benchmarks import page

    results["planned"] = [task.key for task in plan(results["mode"] == "quick")]
    store.write(out, results)
    rows = page.method_rows(results)
    with open(out.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if partial != out:
        partial.unlink(missing_ok=True)
    print(page.as_text(results))
    failed = [task for task in tasks if "failed" in results["measurements"].get(task.key, {})]
    # Another package may need more memory or time than this machine has; ours may not fail.
    return 1 if any(task.ours for task in failed) else 0


if __name__ == "__main__":
    sys.exit(main())
