"""Compute the missing runs of a store: in this process, on all cores, or on a Dask cluster.

joblib does the work here, Dask's client on a cluster. Runs are pure functions of (case, seed), so
it does not matter where they are computed nor in which order they arrive. Only the process that
called `sweep` writes to the store, run by run, so a sweep that was stopped in whatever way resumes
where it was.
"""

import asyncio
import re
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import NamedTuple

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from companion.runs.store import Task

__all__ = [
    "SchedulerError",
    "SweepError",
    "SweepInterrupted",
    "check_jobs",
    "check_reachable",
    "check_scheduler",
    "sweep",
]

_ADDRESS = re.compile(r"(tcp|tls)://(\[[\da-fA-F:.]+\]|[\w.-]+):(?P<port>\d{1,5})")
_CONNECT_SECONDS = 5
_DESERTED_SECONDS = 60
_LINE_SECONDS = 15
_RESUME = "what is done is stored: repeat the same command to compute the rest"


class SweepError(Exception):
    """Some runs could not be computed; the message has one sentence for each."""

    def __init__(self, message, failures=None):
        super().__init__(message)
        self.failures = failures or {}


class SchedulerError(SweepError):
    """The Dask cluster cannot be used; the message says why in one sentence."""


class SweepInterrupted(KeyboardInterrupt):
    """The sweep was stopped from the keyboard; the message says how to resume."""


class _Result(NamedTuple):
    task: Task
    rows: list[dict]
    error: str


def check_jobs(jobs, name="jobs"):
    """Refuse what cannot be a number of processes."""
    if not isinstance(jobs, int) or (jobs < 1 and jobs != -1):
        raise ValueError(f"{name} must be a positive whole number or -1, got {jobs!r}")


def check_scheduler(address, name="scheduler"):
    """Refuse what cannot be the address of a Dask scheduler."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise ValueError(
            f"{name} must look like tcp://host:8786 or tls://host:8786, got {address!r}"
        )


def check_reachable(address):
    """Raise `SchedulerError` unless a Dask scheduler answers at an address."""
    distributed = _distributed()

    async def identity():
        arguments = distributed.Security().get_connection_args("client")
        asked = distributed.rpc(
            address, timeout=_CONNECT_SECONDS, connection_args=arguments, deserialize=False
        )
        async with asked:
            return await asyncio.wait_for(asked.identity(), _CONNECT_SECONDS)

    try:
        with ThreadPoolExecutor(1) as thread:  # in a notebook, this one has a loop already
            kind = thread.submit(asyncio.run, identity()).result()["type"]
    except OSError:  # a timeout is one too
        reason = f"no answer within {_CONNECT_SECONDS} s"
    except TypeError as error:  # tls without certificates
        reason = str(error)
    except Exception:  # an answer in another language can fail to be read in any way
        reason = "what answers there is no Dask scheduler"
    else:
        if kind == "Scheduler":
            return
        reason = f"what answers there is a Dask {kind.lower()}"
    raise SchedulerError(f"scheduler {address!r} cannot be reached: {reason}")


def sweep(run, tasks, store, *, jobs=1, scheduler=None, progress=None, wait=False):
    """Compute those of the tasks that the store does not have, and store them as they arrive."""
    tasks = list(dict.fromkeys(_task(item) for item in tasks))
    check_jobs(jobs)
    if scheduler is not None:
        check_scheduler(scheduler)
    failures = {}
    with store.writing(wait=wait):
        done = store.done()
        missing = [task for task in tasks if task not in done]
        if missing:
            with _progress(len(tasks), len(tasks) - len(missing), progress) as advance:
                failures = _fill(run, missing, store, jobs, scheduler, advance)
    if failures:
        sentences = "\n".join(f"{task} failed: {error}" for task, error in failures.items())
        raise SweepError(f"{sentences}\n{len(failures)} of {len(tasks)} runs failed", failures)
    rows = store.rows()
    keys = zip(rows["case"], rows["seed"], strict=True)
    wanted = set(tasks)
    return rows[[key in wanted for key in keys]].reset_index(drop=True)


def _task(item):
    case, seed = item
    if not isinstance(case, str) or not case:
        raise TypeError(f"case must be a text, got {case!r}")
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise TypeError(f"seed must be a whole number from 0 on, got {seed!r}")
    return Task(case, int(seed))


def _fill(run, missing, store, jobs, scheduler, advance):
    """Compute the missing runs and store each when it arrives; return what failed."""
    failures = {}
    results = _on_cluster(run, missing, scheduler) if scheduler else _here(run, missing, jobs)
    try:
        with closing(results):
            for task, rows, error in results:
                error = error or _keep(store, task, rows)
                if error:
                    failures[task] = error
                advance()
    except KeyboardInterrupt:
        raise SweepInterrupted(f"interrupted; {_RESUME}") from None
    except BrokenProcessPool as error:
        raise SweepError(f"a worker process died; {_RESUME}", failures) from error
    return failures


def _attempt(run, task):
    """Compute one run wherever joblib put it; an error travels back as a sentence."""
    try:
        with threadpool_limits(limits=1):
            return _Result(task, run(task.case, task.seed), "")
    except Exception as error:
        return _Result(task, [], _sentence(error))


def _keep(store, task, rows):
    """Store one run; return what is wrong with its rows, if anything is."""
    try:
        store.append(task, rows)
    except (TypeError, ValueError) as error:
        return _sentence(error)
    return ""


def _here(run, tasks, jobs):
    """Compute in this process or in processes of this machine; give results as they arrive."""
    with (
        # workers whose sweep was killed end soon instead of after joblib's five minutes
        parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=20),
        warnings.catch_warnings(),
    ):
        # what an interrupt cancels is said in our own words
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        yield from parallel(delayed(_attempt)(run, task) for task in tasks)


def _on_cluster(run, tasks, address):
    """Compute on the workers of a Dask scheduler; give results as they arrive.

    Not by joblib's own Dask backend: in joblib 1.6 it passes no error of a task on to a generator,
    so a sweep whose runs the workers cannot unpickle would never end.
    """
    with _client(address) as client:
        futures = client.map(partial(_attempt, run), tasks, pure=False)
        task_of = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        arriving = _distributed().as_completed(
            futures, loop=client.loop, with_results=True, raise_errors=False
        )
        del futures  # so that the cluster forgets each result once it is stored
        for future, result in _until_deserted(client, arriving):
            # not by future.status: that may have changed since, when the worker left
            if isinstance(result, _Result):
                yield result
            elif isinstance(result, tuple):  # type, exception, traceback
                yield _Result(task_of[future.key], [], _sentence(result[1]))
            else:
                raise SweepError(f"the connection to scheduler {address!r} was lost; {_RESUME}")


def _until_deserted(client, arriving):
    """Give what arrives; raise when nothing can arrive any more since all workers are gone."""
    last_seen = last_asked = time.monotonic()
    while not arriving.is_empty():
        yield from arriving.next_batch(block=False)
        time.sleep(0.02)
        now = time.monotonic()
        if now - last_asked < _DESERTED_SECONDS / 10:
            continue
        last_asked = now
        if client.ncores():
            last_seen = now
        elif now - last_seen > _DESERTED_SECONDS:
            raise SweepError(f"the scheduler has lost all its workers; {_RESUME}")


def _distributed():
    try:
        import distributed  # only here: it is an optional extra, and slow to import
    except ImportError:
        raise SchedulerError(
            "scheduler needs the package distributed: install ddr-companion[cluster]"
        ) from None
    return distributed


@contextmanager
def _client(address):
    check_reachable(address)
    with _distributed().Client(address, timeout=_CONNECT_SECONDS, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise SchedulerError(f"scheduler {address!r} has no workers") from None
        yield client


def _sentence(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


@contextmanager
def _progress(total, n_done, asked):
    """Show progress; give a function to be called after each run."""
    terminal = sys.stderr.isatty()
    if asked is False or (asked is None and not terminal):
        yield lambda: None
    elif terminal:
        with tqdm(total=total, initial=n_done, unit="run", smoothing=0.05) as bar:
            yield bar.update
    else:
        yield _Lines(total, n_done).advance


class _Lines:
    """The progress bar's text as a line now and then, for logs."""

    def __init__(self, total, n_done):
        self.total, self.n_before, self.n = total, n_done, n_done
        self.start = self.last = time.monotonic()

    def advance(self):
        self.n += 1
        now = time.monotonic()
        if self.n == self.total or now - self.last >= _LINE_SECONDS:
            self.last = now
            text = tqdm.format_meter(
                self.n, self.total, now - self.start, unit="run", initial=self.n_before, ncols=0
            )
            print(text, file=sys.stderr, flush=True)
