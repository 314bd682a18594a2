"""The sweep: killed, interrupted, doubled or spread over a cluster, it gives the same rows."""

import contextlib
import io
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import companion.runs.sweep
import numpy as np
import pytest
from companion.runs.store import StoreBusyError, Task
from companion.runs.sweep import SchedulerError, SweepError, check_reachable, check_scheduler, sweep
from sweep_process import (
    RidgeRun,
    comparable,
    make_store,
    make_tasks,
    sweep_and_die,
    sweep_here,
)

SCRIPT = Path(__file__).with_name("sweep_process.py")
N_TASKS = 30
PAUSE = 0.01


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The lines of a store that one sweep filled without any incident."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert sweep_here(folder, N_TASKS) == N_TASKS
    lines = comparable(folder)
    assert len(lines) == 1 + 2 * N_TASKS
    assert len(set(lines)) == len(lines)
    return lines


@pytest.fixture(scope="module")
def processes():
    """Make processes that have their imports done: forks of one that has nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "sweep_process"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SCRIPT.parent), prepend=os.pathsep)
        first = context.Process(target=int)
        first.start()
        first.join()
    return context


def start(folder, n_tasks=N_TASKS, *options):
    command = [sys.executable, str(SCRIPT), str(folder), str(n_tasks), *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def size(path):
    return path.stat().st_size if path.exists() else 0


def wait_until(condition, process, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and alive(process):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.0005)


def alive(process):
    return process.is_alive() if hasattr(process, "is_alive") else process.poll() is None


@pytest.mark.slow
def test_sweep_killed_at_twenty_random_points_resumes_to_the_same_file(
    tmp_path, processes, uninterrupted
):
    full_size = sum(len(line) + 20 for line in uninterrupted)
    n_before_kill = []
    for i, share in enumerate(np.random.default_rng(20).uniform(0, 0.95, size=20)):
        folder = tmp_path / str(i)
        path = make_store(folder).path
        child = processes.Process(target=sweep_here, args=(folder, N_TASKS, PAUSE))
        child.start()
        wait_until(lambda path=path, share=share: size(path) >= share * full_size, child)
        seen_before = make_store(folder).done()
        child.kill()
        child.join()
        stored = make_store(folder).done()
        assert stored >= seen_before, "a run that was stored got lost"
        n_stored = len(stored)
        assert sweep_here(folder, N_TASKS) == N_TASKS - n_stored, "only what is missing is computed"
        assert comparable(folder) == uninterrupted
        if child.exitcode == -signal.SIGKILL:
            n_before_kill.append(n_stored)
    assert len(n_before_kill) >= 15, "too few kills came in time to prove anything"
    assert len(set(n_before_kill)) >= 8, "the kills were not spread over the sweep"


@pytest.mark.slow
def test_sweep_killed_at_each_step_of_writing_resumes_to_the_same_file(tmp_path, processes):
    n_tasks = 3
    sweep_here(tmp_path / "whole", n_tasks)
    expected = comparable(tmp_path / "whole")
    n_stored = 0
    for n_calls in range(1, 100):
        folder = tmp_path / str(n_calls)
        child = processes.Process(target=sweep_and_die, args=(folder, n_tasks, n_calls))
        child.start()
        child.join()
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
        n_stored, n_stored_one_step_before = len(make_store(folder).done()), n_stored
        assert n_stored >= n_stored_one_step_before, "a run that was stored got lost"
        assert sweep_here(folder, n_tasks) == n_tasks - n_stored
        assert comparable(folder) == expected
        assert not list(folder.glob("*.tmp"))
    assert n_calls > 15, "side file, header, three runs and the final order are more steps"
    assert child.exitcode == 0
    assert n_stored == n_tasks, "the last kills came after all runs, while they were put in order"


@pytest.mark.slow
def test_killed_sweep_on_two_cores_leaves_no_lock_behind(tmp_path, uninterrupted):
    path = make_store(tmp_path).path
    process = start(tmp_path, N_TASKS, "--jobs", "2", "--pause", "0.05")
    wait_until(lambda: size(path) > 1000, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    n_stored = len(make_store(tmp_path).done())
    assert 0 < n_stored < N_TASKS
    assert sweep_here(tmp_path, N_TASKS) == N_TASKS - n_stored
    assert comparable(tmp_path) == uninterrupted


@pytest.mark.slow
def test_two_sweeps_at_once_compute_nothing_twice(tmp_path, uninterrupted):
    path = make_store(tmp_path).path
    first = start(tmp_path, N_TASKS - 10, "--pause", "0.3")
    wait_until(lambda: size(path) > 0, first)
    second = start(tmp_path, N_TASKS, "--wait")
    with pytest.raises(StoreBusyError, match="another sweep is writing"):
        sweep(RidgeRun(), make_tasks(N_TASKS), make_store(tmp_path))
    outputs = [process.communicate(timeout=60) for process in (first, second)]
    assert outputs == [(f"computed {N_TASKS - 10}\n", ""), ("computed 10\n", "")]
    assert comparable(tmp_path) == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupt_keeps_what_is_done_and_says_how_to_resume(tmp_path, uninterrupted, jobs):
    path = make_store(tmp_path).path
    process = start(tmp_path, N_TASKS, "--jobs", jobs, "--pause", "0.1")
    wait_until(lambda: size(path) > 1000, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == (
        "interrupted; what is done is stored: repeat the same command to compute the rest\n"
    )
    n_stored = len(make_store(tmp_path).done())
    assert 0 < n_stored < N_TASKS
    assert sweep_here(tmp_path, N_TASKS) == N_TASKS - n_stored
    assert comparable(tmp_path) == uninterrupted


def test_two_jobs_give_the_same_rows_as_one(tmp_path, uninterrupted):
    run = RidgeRun()
    sweep(run, make_tasks(N_TASKS), make_store(tmp_path), jobs=2)
    assert run.n_calls == 0, "the runs were meant to be computed in other processes"
    assert comparable(tmp_path) == uninterrupted


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        yield made


class WhoRan(RidgeRun):
    """Tell in each row which process computed it."""

    def __call__(self, case, seed):
        return [{**row, "process": os.getpid()} for row in super().__call__(case, seed)]


@pytest.mark.slow
def test_dask_cluster_gives_the_same_rows(tmp_path, cluster, uninterrupted):
    address = cluster.scheduler_address
    sweep(RidgeRun(), make_tasks(N_TASKS), make_store(tmp_path), scheduler=address)
    assert comparable(tmp_path) == uninterrupted
    run = WhoRan(pause=0.02)
    rows = sweep(run, make_tasks(20), make_store(tmp_path / "who"), scheduler=address)
    assert rows["process"].nunique() == 2
    assert os.getpid() not in set(rows["process"])


class Failing(RidgeRun):
    """Fail in two of the runs, each time in another way."""

    def __call__(self, case, seed):
        rows = super().__call__(case, seed)
        if (case, seed) == ("shift=1", 2):
            raise ArithmeticError("no solution\nwas found")
        if (case, seed) == ("shift=0.5", 1):
            rows[0]["surprise"] = 1.0
        return rows


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "two jobs", "cluster"])
def test_failed_runs_are_named_and_the_others_kept(tmp_path, request, uninterrupted, where):
    options = {"here": {}, "two jobs": {"jobs": 2}}.get(where)
    if options is None:
        options = {"scheduler": request.getfixturevalue("cluster").scheduler_address}
    tasks, store = make_tasks(N_TASKS), make_store(tmp_path)
    with pytest.raises(SweepError) as caught:
        sweep(Failing(), tasks, store, **options)
    message = str(caught.value)
    assert "shift=1 seed 2 failed: ArithmeticError: no solution was found\n" in message
    assert "shift=0.5 seed 1 failed: ValueError: every run must give the same columns" in message
    assert message.endswith(f"\n2 of {N_TASKS} runs failed")
    assert set(caught.value.failures) == {Task("shift=1", 2), Task("shift=0.5", 1)}
    assert store.done() == set(tasks) - set(caught.value.failures)
    assert sweep_here(tmp_path, N_TASKS) == 2
    assert comparable(tmp_path) == uninterrupted


class Unreadable(RidgeRun):
    """A run that no worker can unpickle, as when the package is not installed there."""

    def __reduce__(self):
        return __import__, ("a_package_that_no_worker_has",)


@pytest.mark.slow
def test_workers_that_cannot_read_the_run_are_no_endless_wait(tmp_path, cluster):
    with pytest.raises(SweepError, match="2 of 2 runs failed"):
        sweep(
            Unreadable(),
            make_tasks(2),
            make_store(tmp_path),
            scheduler=cluster.scheduler_address,
        )


@pytest.mark.slow
def test_cluster_that_loses_its_workers_is_no_endless_wait(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_CONNECT_SECONDS", 2)
    monkeypatch.setattr(companion.runs.sweep, "_DESERTED_SECONDS", 0.5)
    store = make_store(tmp_path)
    scheduler = distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0"
    )
    with scheduler as made:
        with pytest.raises(SchedulerError, match="has no workers"):
            sweep(RidgeRun(), make_tasks(2), store, scheduler=made.scheduler_address)
        made.scale(1)
        tasks = [*make_tasks(N_TASKS), Task("last", 0)]
        with pytest.raises(SweepError, match=r"lost all its workers; what is done is stored"):
            sweep(Deserting(made), tasks, store, scheduler=made.scheduler_address)
    assert 0 < len(store.done()) < len(tasks)


class Deserting(RidgeRun):
    """Send the workers home after some runs; works only where they are threads of this process."""

    clusters: list = []  # noqa: RUF012 - reached from the workers, which get a pickled copy

    def __init__(self, cluster):
        super().__init__(pause=0.05)
        self.clusters.append(cluster)

    def __getstate__(self):
        return {"pause": self.pause, "n_calls": 0}

    def __call__(self, case, seed):
        if seed == 4:
            self.clusters[0].scale(0)
            time.sleep(1)
        return super().__call__(case, seed)


@pytest.mark.parametrize(
    "address", ["foo", "", "nonsense://x:1", "tcp://host", "tcp://host:0", "tcp://host:70000", 8786]
)
def test_what_is_no_address_is_refused_before_anything_is_tried(tmp_path, monkeypatch, address):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"scheduler must look like tcp://host:8786 .* got") as e:
        sweep(RidgeRun(), make_tasks(2), make_store(tmp_path), scheduler=address)
    assert repr(address) in str(e.value)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tls://my-host:1", "tcp://[::1]:8786"])
def test_addresses_of_schedulers_pass(address):
    check_scheduler(address)


@pytest.fixture
def no_client(monkeypatch):
    """One that could not connect would complain when it is collected."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_CONNECT_SECONDS", 1)

    def refuse(*_, **__):
        pytest.fail("a client was made")

    monkeypatch.setattr(distributed, "Client", refuse)


def answer_with(greeting):
    """Take connections at a free port; say something that no scheduler says, or nothing."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            connection, _ = server.accept()
            with connection:
                connection.sendall(greeting)
                connection.recv(1)
                time.sleep(3)

    threading.Thread(target=serve, daemon=True).start()
    return server


@pytest.mark.parametrize(
    ("greeting", "said"),
    [
        (None, "no answer within 1 s"),
        (b"", "no answer within 1 s"),
        (b"HTTP/1.0 400 Bad request\r\n\r\n", "what answers there is no Dask scheduler"),
    ],
)
def test_unreachable_scheduler_is_one_sentence(tmp_path, no_client, greeting, said):
    server = socket.create_server(("127.0.0.1", 0)) if greeting is None else answer_with(greeting)
    address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    if greeting is None:
        server.close()
    start = time.monotonic()
    with server, pytest.raises(SchedulerError) as caught:
        sweep(RidgeRun(), make_tasks(2), make_store(tmp_path), scheduler=address)
    assert str(caught.value) == f"scheduler {address!r} cannot be reached: {said}"
    assert time.monotonic() - start < 10


@pytest.mark.slow
def test_a_worker_is_no_scheduler(cluster):
    check_reachable(cluster.scheduler_address)
    worker = next(iter(cluster.scheduler_info["workers"]))
    with pytest.raises(SchedulerError, match="what answers there is a Dask worker"):
        check_reachable(worker)


def test_missing_distributed_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match=r"install ddr-companion\[cluster\]"):
        sweep(RidgeRun(), make_tasks(2), make_store(tmp_path), scheduler="tcp://127.0.0.1:9")


class Dying(RidgeRun):
    """Take the worker process along."""

    def __call__(self, case, seed):
        if seed == 3:
            os._exit(1)
        return super().__call__(case, seed)


def test_dead_worker_process_ends_the_sweep_with_a_sentence(tmp_path, uninterrupted):
    with pytest.raises(SweepError, match="a worker process died; what is done is stored"):
        sweep(Dying(), make_tasks(N_TASKS), make_store(tmp_path), jobs=2)
    n_stored = len(make_store(tmp_path).done())
    assert sweep_here(tmp_path, N_TASKS) == N_TASKS - n_stored
    assert comparable(tmp_path) == uninterrupted


def test_only_missing_tasks_are_computed_and_only_asked_ones_returned(tmp_path):
    run, store = RidgeRun(), make_store(tmp_path)
    sweep(run, make_tasks(6) * 2, store)
    assert run.n_calls == 6
    rows = sweep(run, make_tasks(9)[4:], store)
    assert run.n_calls == 9
    assert set(zip(rows["case"], rows["seed"], strict=True)) == set(make_tasks(9)[4:])
    assert len(store.rows()) == 18


@pytest.mark.parametrize(
    ("tasks", "jobs", "said"),
    [
        ([(100, 0)], 1, "case must be a text, got 100"),
        ([("a", -1)], 1, "seed must be a whole number from 0 on, got -1"),
        ([("a", 0.5)], 1, r"seed must be a whole number from 0 on, got 0\.5"),
        ([("a", 0)], 0, "jobs must be a positive whole number or -1, got 0"),
    ],
)
def test_bad_arguments_are_named(tmp_path, tasks, jobs, said):
    with pytest.raises((TypeError, ValueError), match=said):
        sweep(RidgeRun(), tasks, make_store(tmp_path), jobs=jobs)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "shown"),
    [
        (Terminal, None, "6/6"),
        (Terminal, False, None),
        (io.StringIO, None, None),
        (io.StringIO, True, "6/6"),
    ],
)
def test_progress_is_shown_with_time_left_where_asked(
    tmp_path, monkeypatch, stream, progress, shown
):
    store, stderr = make_store(tmp_path), stream()
    sweep(RidgeRun(), make_tasks(2), store)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(companion.runs.sweep, "_LINE_SECONDS", 0)
    sweep(RidgeRun(pause=0.15), make_tasks(6), store, progress=progress)
    text = stderr.getvalue()
    if shown is None:
        assert text == ""
    else:
        assert shown in text
        assert "3/6 [00:00<00:" in text, "done / all [elapsed < time left, counting stored runs"
