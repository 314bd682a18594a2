"""The sweep: killed, interrupted, doubled or spread over a cluster, it gives the same rows."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import companion.runs.sweep
import pytest
from companion.runs.store import Store
from companion.runs.sweep import SweepError, sweep
from processes import eventually, start
from sweep_process import DrawingRun, comparable, make_store, make_tasks, sweep_here, work

SCRIPT = Path(__file__).with_name("sweep_process.py")
N_TASKS = 30


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The rows of a store that one sweep filled without any incident."""
    root = tmp_path_factory.mktemp("uninterrupted")
    assert sweep_here(root, N_TASKS) == N_TASKS
    text = comparable(root)
    assert len(set(text.splitlines())) == 1 + 2 * N_TASKS
    return text


@pytest.fixture
def root(tmp_path):
    return tmp_path / "runs"


def start_sweep(root, jobs, pause):
    out = {"stdout": subprocess.PIPE, "start_new_session": True}
    return start(SCRIPT, root, N_TASKS, jobs, pause, **out)


def is_resumed(root, expected):
    """Compute what is left of an incident, and compare with what came without one."""
    n_stored = len(make_store(root).done())
    assert 0 < n_stored < N_TASKS
    assert sweep_here(root, N_TASKS) == N_TASKS - n_stored
    return comparable(root) == expected


@pytest.mark.hardening("two at once")
def test_two_sweeps_at_once_damage_nothing(root, uninterrupted):
    both = [start_sweep(root, 1, 0.05) for _ in range(2)]
    outputs = [process.communicate(timeout=240) for process in both]
    assert [err for _, err in outputs] == ["", ""]
    computed = [int(out.removeprefix("computed ")) for out, _ in outputs]
    assert sum(computed) >= N_TASKS
    assert comparable(root) == uninterrupted


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.hardening("kill", mends="Lines of joblib followed our sentence after an interrupt.")
def test_an_interrupt_keeps_what_is_done_and_says_just_how_to_resume(root, uninterrupted, jobs):
    process = start_sweep(root, jobs, 0.1)
    eventually(lambda: len(make_store(root).done()) >= 5, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert said == (
        "interrupted; what is done is stored: run the same command again to compute the rest\n"
    )
    assert is_resumed(root, uninterrupted)


def test_only_what_is_missing_in_any_of_the_stores_is_computed(root):
    run, other = DrawingRun(), Store(root, {}, protocol="other")
    sweep([(make_store(root), run, make_tasks(6) * 2)])
    assert run.n_calls == 6
    sweep([*work(run, root, 9), (other, run, make_tasks(2))])
    assert run.n_calls == 11
    assert (len(make_store(root).rows()), len(other.rows())) == (18, 4)


def two_workers():
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    return distributed.LocalCluster(processes=True, **options)


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as made:
        yield made.scheduler_address


class WhoRan(DrawingRun):
    """Tell in each row which process computed it."""

    def __call__(self, case, seed):
        return [{**row, "pid": os.getpid()} for row in super().__call__(case, seed)]


def test_a_cluster_of_two_workers_gives_the_same_rows(root, tmp_path, cluster, uninterrupted):
    sweep(work(DrawingRun(), root, N_TASKS), scheduler=cluster)
    assert comparable(root) == uninterrupted
    sweep(work(WhoRan(pause=0.05), tmp_path / "who", 20), scheduler=cluster)
    pids = set(make_store(tmp_path / "who").rows()["pid"])
    assert len(pids) == 2
    assert os.getpid() not in pids


class Failing(DrawingRun):
    """Fail in two of the runs, each time in another way."""

    def __call__(self, case, seed):
        rows = super().__call__(case, seed)
        if (case, seed) == ("shift=1", 2):
            raise ArithmeticError("no solution\nwas found")
        return None if (case, seed) == ("shift=0.5", 1) else rows


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_failed_runs_are_named_and_the_others_kept(root, request, uninterrupted, where):
    options = {"scheduler": request.getfixturevalue("cluster")} if where == "cluster" else {}
    with pytest.raises(SweepError) as caught:
        sweep(work(Failing(), root, N_TASKS), **options)
    said = set(str(caught.value).splitlines())
    assert said == {
        "drawing test shift=1 seed 2 failed: ArithmeticError: no solution was found",
        "drawing test shift=0.5 seed 1 failed: "
        "TypeError: a run must give an array or a list of dicts, got None",
        f"2 of {N_TASKS} runs failed; what is done is stored: "
        "run the same command again to compute the rest",
    }
    assert set(make_tasks(N_TASKS)) - set(make_store(root).done()) == {
        ("shift=1", 2),
        ("shift=0.5", 1),
    }
    assert is_resumed(root, uninterrupted)


class Dying(DrawingRun):
    """Take the worker process along."""

    def __call__(self, case, seed):
        if seed == 3:
            os._exit(1)
        return super().__call__(case, seed)


@pytest.mark.hardening("kill")
def test_a_dead_worker_process_ends_the_sweep_with_a_sentence(root, uninterrupted):
    with pytest.raises(SweepError, match="a worker process died; what is done is stored"):
        sweep(work(Dying(), root, N_TASKS), jobs=2)
    assert is_resumed(root, uninterrupted)


@pytest.mark.weekly
@pytest.mark.hardening("kill")
def test_dying_workers_of_a_cluster_are_no_endless_wait(root, monkeypatch):
    with two_workers() as made:
        sweep(work(DrawingRun(), root, 4), scheduler=made.scheduler_address)
        monkeypatch.setattr(companion.runs.sweep, "_SILENT_SECONDS", 5)
        with pytest.raises(SweepError, match="did not come back from its worker; what is done"):
            sweep(work(Dying(), root, 12), scheduler=made.scheduler_address)
    assert 4 <= len(make_store(root).done()) < 12


def test_a_missing_package_is_one_sentence(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match="scheduler needs the package distributed"):
        sweep(work(DrawingRun(), root, 2), scheduler="tcp://127.0.0.1:9")
    assert not root.exists()
