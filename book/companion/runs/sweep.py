"""Compute the missing runs of a store: in this process, on all cores, or on a Dask cluster.

joblib does the work, on a cluster by its own Dask backend. Runs are pure functions of (case, seed),
so it does not matter where they are computed nor in which order they arrive. Only the process that
called `sweep` writes to the store, run by run, so a sweep that was stopped in whatever way resumes
where it was.
"""

import asyncio
import multiprocessing
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from companion.runs.store import Task, checked

_ADDRESS = re.compile(r"(tcp|tls)://(\[[\da-fA-F:.]+\]|[\w.-]+):(?P<port>\d{1,5})")
_CONNECT_SECONDS = 5
_READY_SECONDS = 60  # the first import on a worker may come from a slow disk
_SILENT_SECONDS = 3600  # no run takes so long: the worker died, and joblib does not tell
_LINE_SECONDS = 15
_RESUME = "what is done is stored: run the same command again to compute the rest"


class SweepError(Exception):
    """Some runs could not be computed; the message has one sentence for each."""

    exit_code = 1  # of the command


class SchedulerError(SweepError):
    """The Dask cluster cannot be used; the message says why in one sentence."""


class SweepInterrupted(KeyboardInterrupt):
    """The sweep was stopped by a signal; the message says how to resume."""


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


def sweep(run, tasks, store, *, jobs=1, scheduler=None, progress=None, wait=False):
    """Compute those of the tasks that the store does not have, and store them as they arrive."""
    tasks = list(dict.fromkeys(_task(item) for item in tasks))
    failures = {}
    with store.writing(wait=wait):
        done = store.done()
        missing = [task for task in tasks if task not in done]
        if missing:
            with _progress(len(tasks), len(tasks) - len(missing), progress) as bar:
                failures = _fill(run, missing, store, jobs, scheduler, bar)
    if failures:
        sentences = "\n".join(f"{task} failed: {error}" for task, error in failures.items())
        raise SweepError(f"{sentences}\n{len(failures)} of {len(tasks)} runs failed")
    rows, wanted = store.rows(), set(tasks)
    keys = zip(rows["case"], rows["seed"], strict=True)
    return rows[[key in wanted for key in keys]].reset_index(drop=True)


def _task(item):
    case, seed = item
    if not isinstance(case, str) or not case:
        raise TypeError(f"case must be a text, got {case!r}")
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise TypeError(f"seed must be a whole number from 0 on, got {seed!r}")
    return Task(case, int(seed))


def _fill(run, missing, store, jobs, scheduler, bar):
    """Compute the missing runs and store each when it arrives; return what failed."""
    failures = {}
    try:
        with closing(computed(run, missing, jobs, scheduler)) as results:
            for task, rows, error in results:
                if error:
                    failures[task] = error
                else:
                    store.append(task, rows)
                bar.update()
    except KeyboardInterrupt:
        raise SweepInterrupted(f"interrupted; {_RESUME}") from None
    except BrokenProcessPool as error:
        raise SweepError(f"a worker process died; {_RESUME}") from error
    except multiprocessing.TimeoutError as error:
        raise SweepError(f"a run did not come back from its worker; {_RESUME}") from error
    return failures


def computed(run, tasks, jobs=1, scheduler=None):
    """Give (task, rows, error) of each run as it arrives, one by one."""
    check_jobs(jobs)
    # workers whose sweep was killed end soon instead of after joblib's five minutes
    here = {"backend": "loky", "inner_max_num_threads": 1, "idle_worker_timeout": 20}
    place = _cluster(run, scheduler) if scheduler else parallel_config(**here)
    with place, warnings.catch_warnings():
        # what an interrupt cancels is said in our own words
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
        # a batch of one: a kill loses only the runs under way
        parallel = Parallel(
            n_jobs=-1 if scheduler else jobs,
            batch_size=1,
            return_as="generator_unordered",
            timeout=_SILENT_SECONDS if scheduler else None,
        )
        yield from parallel(delayed(_attempt)(run, task) for task in tasks)


def _attempt(run, task):
    """Compute one run wherever joblib put it; an error travels back as a sentence."""
    try:
        with threadpool_limits(limits=1):
            rows = run(task.case, task.seed)
        checked(rows)
        return task, rows, ""
    except Exception as error:
        return task, [], _sentence(error)


def _sentence(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


@contextmanager
def _cluster(run, address):
    """Let joblib use a Dask cluster, after every worker has shown that it can read the run."""
    with connected(address) as client:
        threads = client.ncores()
        if sum(threads.values()) < 2:  # with one thread, joblib would compute in this process
            raise SchedulerError(f"scheduler {address!r} has fewer than two threads of workers")
        # joblib's Dask backend waits for ever for a task that a worker cannot unpickle
        asked = {w: client.submit(_ready, run, workers=[w], pure=False) for w in threads}
        for worker, answer in asked.items():
            try:
                answer.result(timeout=_READY_SECONDS)
            except Exception as error:
                said = f"worker {worker} cannot compute the runs: {_sentence(error)}"
                raise SchedulerError(said) from None
        with parallel_config(backend="dask", client=client):
            yield


def _ready(run):
    """Arrive on a worker: the run was unpickled and this module imported there."""


@contextmanager
def connected(address):
    """Connect to a Dask scheduler, or say in one sentence why not."""
    check_scheduler(address)
    try:
        import distributed  # only here: it is an optional extra, and slow to import
    except ImportError:
        raise SchedulerError("scheduler needs the package distributed: pip install it") from None

    async def ask():  # a client would wait for ever for what takes connections and says nothing
        arguments = distributed.Security().get_connection_args("client")
        limit = {"timeout": _CONNECT_SECONDS, "connection_args": arguments}
        async with distributed.rpc(address, deserialize=False, **limit) as asked:
            return await asyncio.wait_for(asked.identity(), _CONNECT_SECONDS)

    try:
        with ThreadPoolExecutor(1) as thread:  # in a notebook, this one has a loop already
            found = f"a Dask {thread.submit(asyncio.run, ask()).result()['type'].lower()}"
    except Exception:  # an answer in another language can fail to be read in any way
        found = "nothing that speaks as Dask does"
    if found != "a Dask scheduler":
        raise SchedulerError(f"scheduler {address!r} cannot be used: found {found} there")
    with distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False) as client:
        yield client


def _progress(total, n_done, asked):
    """Show a bar on a terminal, and a line now and then in a log."""
    terminal = sys.stderr.isatty()
    if asked is False or (asked is None and not terminal):
        return tqdm(disable=True)
    options = {"total": total, "initial": n_done, "unit": "run", "smoothing": 0.05}
    if not terminal:
        options |= {"file": _Lines(), "mininterval": _LINE_SECONDS, "ncols": 0, "miniters": 1}
    return tqdm(**options)


class _Lines:
    """What a progress bar writes over its last state, as lines."""

    def write(self, text):
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self):
        sys.stderr.flush()
