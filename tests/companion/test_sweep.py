"""The sweep: killed, interrupted, doubled or spread over a cluster, it gives the same rows."""

import contextlib
import io
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import companion.runs.sweep
import pytest
from companion.runs.store import StoreBusyError, Task
from companion.runs.sweep import SchedulerError, SweepError, check_scheduler, connected, sweep
from sweep_process import RidgeRun, comparable, make_store, make_tasks, sweep_and_die, sweep_here

SCRIPT = Path(__file__).with_name("sweep_process.py")
N_TASKS = 30


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The rows of a store that one sweep filled without any incident."""
    path = tmp_path_factory.mktemp("uninterrupted") / "runs.sqlite"
    assert sweep_here(path, N_TASKS) == N_TASKS
    text = comparable(path)
    assert len(set(text.splitlines())) == 1 + 2 * N_TASKS
    return text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.sqlite"


@pytest.fixture(scope="module")
def processes():
    """Make processes that have their imports done: forks of one that has nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sweep_process"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SCRIPT.parent), prepend=os.pathsep)
        first = context.Process(target=int)
        first.start()
        first.join()
    return context


def start(path, n_tasks=N_TASKS, *options):
    command = [sys.executable, str(SCRIPT), str(path), str(n_tasks), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_runs(path, process, n=1, seconds=240):
    deadline = time.monotonic() + seconds
    while len(make_store(path).done()) < n:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.hardening("kill")
def test_a_kill_at_any_statement_loses_nothing_that_was_stored(
    tmp_path, processes, record_property
):
    n_tasks, n_stored = 3, 0
    assert sweep_here(tmp_path / "whole", n_tasks) == n_tasks
    expected = comparable(tmp_path / "whole")
    for n_statements in range(1, 100):
        path = tmp_path / f"{n_statements}.sqlite"
        child = processes.Process(target=sweep_and_die, args=(path, n_tasks, n_statements))
        child.start()
        child.join()
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
        n_stored, before = len(make_store(path).done()), n_stored
        assert n_stored >= before, "a run that was stored got lost"
        assert sweep_here(path, n_tasks) == n_tasks - n_stored
        assert comparable(path) == expected
        assert not list(tmp_path.glob("*.damaged*")), "a kill is no damage"
    assert child.exitcode == 0
    assert n_statements > 15, "tables, checks and three transactions are more statements"
    assert n_stored == n_tasks, "the last kills came after all runs"
    record_property("tries", n_statements - 1)


@pytest.mark.hardening("kill")
def test_killed_sweep_on_two_cores_leaves_no_lock_behind(path, uninterrupted):
    process = start(path, N_TASKS, "--jobs", "2", "--pause", "0.1")
    wait_for_runs(path, process, 5)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    n_stored = len(make_store(path).done())
    assert 0 < n_stored < N_TASKS
    assert sweep_here(path, N_TASKS) == N_TASKS - n_stored
    assert comparable(path) == uninterrupted


@pytest.mark.hardening("two at once")
def test_two_sweeps_at_once_compute_nothing_twice(path, uninterrupted):
    first = start(path, N_TASKS - 10, "--pause", "0.3")
    wait_for_runs(path, first)
    second = start(path, N_TASKS, "--wait")
    with pytest.raises(StoreBusyError, match="another sweep is writing"):
        sweep(RidgeRun(), make_tasks(N_TASKS), make_store(path))
    outputs = [process.communicate(timeout=240) for process in (first, second)]
    assert outputs == [(f"computed {N_TASKS - 10}\n", ""), ("computed 10\n", "")]
    assert comparable(path) == uninterrupted


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.hardening("kill")
def test_interrupt_keeps_what_is_done_and_says_how_to_resume(path, uninterrupted, jobs):
    process = start(path, N_TASKS, "--jobs", jobs, "--pause", "0.1")
    wait_for_runs(path, process, 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    # Before it Python, after it joblib's own process for temporary files may speak of cleaning up.
    sentence = "interrupted; what is done is stored: run the same command again to compute the rest"
    _, after = said.split(f"{sentence}\n")
    assert all("resource_tracker" in line for line in after.splitlines())
    n_stored = len(make_store(path).done())
    assert 0 < n_stored < N_TASKS
    assert sweep_here(path, N_TASKS) == N_TASKS - n_stored
    assert comparable(path) == uninterrupted


def test_two_jobs_give_the_same_rows_as_one(path, uninterrupted):
    run = RidgeRun()
    sweep(run, make_tasks(N_TASKS), make_store(path), jobs=2)
    assert run.n_calls == 0, "the runs were meant to be computed in other processes"
    assert comparable(path) == uninterrupted


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
        return [{**row, "n_iter": os.getpid()} for row in super().__call__(case, seed)]


def test_dask_cluster_gives_the_same_rows(tmp_path, cluster, uninterrupted):
    address = cluster.scheduler_address
    sweep(RidgeRun(), make_tasks(N_TASKS), make_store(tmp_path / "a"), scheduler=address)
    assert comparable(tmp_path / "a") == uninterrupted
    run = WhoRan(pause=0.05)
    rows = sweep(run, make_tasks(20), make_store(tmp_path / "b"), scheduler=address)
    assert rows["n_iter"].nunique() == 2
    assert os.getpid() not in set(rows["n_iter"])


class Failing(RidgeRun):
    """Fail in two of the runs, each time in another way."""

    def __call__(self, case, seed):
        rows = super().__call__(case, seed)
        if (case, seed) == ("shift=1", 2):
            raise ArithmeticError("no solution\nwas found")
        if (case, seed) == ("shift=0.5", 1):
            rows[0]["surprise"] = 1.0
        return rows


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_failed_runs_are_named_and_the_others_kept(path, request, uninterrupted, where):
    options = {}
    if where == "cluster":
        options = {"scheduler": request.getfixturevalue("cluster").scheduler_address}
    tasks, store = make_tasks(N_TASKS), make_store(path)
    with pytest.raises(SweepError) as caught:
        sweep(Failing(), tasks, store, **options)
    message = str(caught.value)
    assert "shift=1 seed 2 failed: ArithmeticError: no solution was found\n" in message
    assert "shift=0.5 seed 1 failed: ValueError: a row may have method, accuracy" in message
    assert message.endswith(f"\n2 of {N_TASKS} runs failed")
    assert store.done() == set(tasks) - {Task("shift=1", 2), Task("shift=0.5", 1)}
    assert sweep_here(path, N_TASKS) == 2
    assert comparable(path) == uninterrupted


class Unreadable(RidgeRun):
    """A run that no worker can unpickle, as when the package is not installed there."""

    def __reduce__(self):
        return __import__, ("a_package_that_no_worker_has",)


def test_workers_that_cannot_read_the_run_are_no_endless_wait(path, cluster):
    with pytest.raises(SchedulerError, match=r"worker tcp://.* cannot compute the runs: .*"):
        sweep(Unreadable(), make_tasks(2), make_store(path), scheduler=cluster.scheduler_address)


class Dying(RidgeRun):
    """Take the worker process along."""

    def __call__(self, case, seed):
        if seed == 3:
            os._exit(1)
        return super().__call__(case, seed)


@pytest.mark.hardening("kill")
def test_dead_worker_process_ends_the_sweep_with_a_sentence(path, uninterrupted):
    with pytest.raises(SweepError, match="a worker process died; what is done is stored"):
        sweep(Dying(), make_tasks(N_TASKS), make_store(path), jobs=2)
    n_stored = len(make_store(path).done())
    assert sweep_here(path, N_TASKS) == N_TASKS - n_stored
    assert comparable(path) == uninterrupted


@pytest.mark.hardening("kill")
def test_dying_workers_of_a_cluster_are_no_endless_wait(path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_SILENT_SECONDS", 5)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        with pytest.raises(SweepError, match="did not come back from its worker; what is done"):
            sweep(Dying(), make_tasks(12), make_store(path), scheduler=made.scheduler_address)
        made.scale(0)
        end = time.monotonic() + 60  # the cluster takes its time to let them go
        while made.scheduler.workers and time.monotonic() < end:
            time.sleep(0.1)
        with pytest.raises(SchedulerError, match="has fewer than two threads of workers"):
            sweep(RidgeRun(), make_tasks(12), make_store(path), scheduler=made.scheduler_address)
    assert 0 < len(make_store(path).done()) < 12


@pytest.mark.parametrize(
    "address", ["foo", "nonsense://x:1", "tcp://host", "tcp://host:0", "tcp://host:70000", 8786]
)
@pytest.mark.hardening("mistake")
def test_what_is_no_address_is_refused_before_anything_is_tried(path, monkeypatch, address):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"scheduler must look like tcp://host:8786 .* got") as e:
        sweep(RidgeRun(), make_tasks(2), make_store(path), scheduler=address)
    assert repr(address) in str(e.value)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tls://my-host:1", "tcp://[::1]:8786"])
def test_addresses_of_schedulers_pass(address):
    check_scheduler(address)


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


@pytest.mark.parametrize("greeting", [None, b"", b"HTTP/1.0 400 Bad request\r\n\r\n"])
def test_unreachable_scheduler_is_one_sentence(path, monkeypatch, greeting):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_CONNECT_SECONDS", 1)
    server = socket.create_server(("127.0.0.1", 0)) if greeting is None else answer_with(greeting)
    address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    if greeting is None:
        server.close()
    start = time.monotonic()
    with server, pytest.raises(SchedulerError) as caught:
        sweep(RidgeRun(), make_tasks(2), make_store(path), scheduler=address)
    said = "found nothing that speaks as Dask does there"
    assert str(caught.value) == f"scheduler {address!r} cannot be used: {said}"
    assert time.monotonic() - start < 10


def test_a_worker_is_no_scheduler(cluster):
    worker = next(iter(cluster.scheduler_info["workers"]))
    with pytest.raises(SchedulerError, match="found a Dask worker there"), connected(worker):
        pass


def test_missing_distributed_is_one_sentence(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match="scheduler needs the package distributed"):
        sweep(RidgeRun(), make_tasks(2), make_store(path), scheduler="tcp://127.0.0.1:9")


def test_only_missing_tasks_are_computed_and_only_asked_ones_returned(path):
    run, store = RidgeRun(), make_store(path)
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
@pytest.mark.hardening("mistake")
def test_bad_arguments_are_named(path, tasks, jobs, said):
    with pytest.raises((TypeError, ValueError), match=said):
        sweep(RidgeRun(), tasks, make_store(path), jobs=jobs)


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
def test_progress_is_shown_with_time_left_where_asked(path, monkeypatch, stream, progress, shown):
    store, stderr = make_store(path), stream()
    sweep(RidgeRun(), make_tasks(2), store)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(companion.runs.sweep, "_LINE_SECONDS", 0)
    sweep(RidgeRun(pause=0.15), make_tasks(6), store, progress=progress)
    text = stderr.getvalue()
    if shown is None:
        assert text == ""
    else:
        assert shown in text
        # done / all [elapsed < time left, counting stored runs
        assert re.search(r"3/6 \[00:0\d<0\d:", text)
