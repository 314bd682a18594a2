"""Compute the missing runs of stores: in this process, on all cores, or on a Dask cluster.

Python's own pool does the work, on a cluster joblib's Dask backend. Runs are pure functions of
(case, seed), so it does not matter where they are computed nor in which order they arrive. Each is
stored when it arrives, so a sweep that was stopped in whatever way resumes where it was.
"""

import multiprocessing
import os
import re
import signal
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from companion.runs.store import packed

_CONNECT_SECONDS = 5
_SILENT_SECONDS = 3600  # no run takes so long: the worker died, and joblib does not tell
_RESUME = "what is done is stored: run the same command again to compute the rest"


class SweepError(Exception):
    """Some runs could not be computed; the message has one sentence for each."""

    exit_code = 1  # of the command


class SweepInterrupted(KeyboardInterrupt):
    """The sweep was stopped by a signal; the message says how to resume."""


def sweep(work, *, jobs=1, scheduler=None, progress=None):
    """Compute what the stores of (store, run, tasks) lack.

    Without a number of jobs, one a core.
    """
    failures, jobs = [], effective_n_jobs(jobs or -1)
    try:
        with _client(scheduler) if scheduler else nullcontext() as client:
            missing = _prepared(work)
            if client:
                results = _by_cluster(missing, client)
            elif jobs > 1:
                results = _by_processes(missing, jobs)
            else:
                results = (_attempt(*run) for run in missing)
            n_tasks = sum(len(tasks) for *_, tasks in work)
            with closing(results), _bar(n_tasks, n_tasks - len(missing), progress) as bar:
                for place, case, seed, data, error in results:
                    store = work[place][0]
                    if error:
                        name = " ".join([*store.names.values(), case])
                        failures.append(f"{name} seed {seed} failed: {error}")
                    else:
                        store.save(case, seed, data)
                    bar.update()
    except KeyboardInterrupt:
        raise SweepInterrupted(f"interrupted; {_RESUME}") from None
    except BrokenProcessPool as error:
        raise SweepError(f"a worker process died; {_RESUME}") from error
    except multiprocessing.TimeoutError as error:
        raise SweepError(f"a run did not come back from its worker; {_RESUME}") from error
    if failures:
        sentences = "\n".join(failures)
        raise SweepError(f"{sentences}\n{len(failures)} of {n_tasks} runs failed; {_RESUME}")


def _prepared(work):
    """Make the folders, and list what is to be computed for them."""
    missing = []
    for place, (store, run, tasks) in enumerate(work):
        store.prepare()
        missing += [
            (run, place, *task) for task in dict.fromkeys(tasks) if store.load(*task) is None
        ]
    return missing


def _attempt(run, place, case, seed):
    """Compute one run, wherever that is; an error travels back as a sentence."""
    try:
        with threadpool_limits(limits=1):
            return place, case, seed, packed(run(case, seed)), ""
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        return place, case, seed, b"", f"{type(error).__name__}: {text}".removesuffix(": ")


def _by_cluster(runs, client):
    options = {"batch_size": 1, "return_as": "generator_unordered", "timeout": _SILENT_SECONDS}
    with parallel_config(backend="dask", client=client), warnings.catch_warnings():
        # what an interrupt cancels is said in our own words
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
        yield from Parallel(n_jobs=-1, **options)(delayed(_attempt)(*run) for run in runs)


def _by_processes(runs, jobs):
    """Compute in processes that are gone at the end, whatever happens, even if this one is killed.

    They are forked, which needs no resource tracker: nobody is left who could say something more.
    """
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe()
    pool = ProcessPoolExecutor(jobs, forked, _leave_when_closed, (ours, theirs))
    # A terminal sends an interrupt to all processes. It is held back while the workers begin: so
    # they never hear of it, and this process does as soon as they are there.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        results = as_completed([pool.submit(_attempt, *run) for run in runs])
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield from (future.result() for future in results)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        ours.close()
        pool.shutdown()


def _leave_when_closed(ours, theirs):
    """Let a worker leave, whatever it does, when its parent closes the pipe or is no more."""
    ours.close()
    threading.Thread(target=lambda: theirs.poll(None) and os._exit(1), daemon=True).start()


def _client(address):
    """Connect to a Dask scheduler, or say in one sentence why not."""
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d{1,5}", address):
        raise ValueError(f"scheduler must look like tcp://host:8786, got {address!r}")
    try:
        import distributed  # only here: it is an optional extra, and slow to import

        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except ImportError:
        raise SweepError("scheduler needs the package distributed: pip install it") from None
    except OSError as error:
        raise SweepError(f"scheduler {address!r} cannot be used: {error}") from None


def _bar(total, n_done, asked):
    """Show progress if asked to, or on a terminal if not told; seldom where it is a log."""
    hidden = None if asked is None else not asked
    seconds = 0.1 if sys.stderr.isatty() else 15
    options = {"unit": "run", "smoothing": 0.05, "mininterval": seconds, "maxinterval": seconds}
    return tqdm(total=total, initial=n_done, disable=hidden, **options)
