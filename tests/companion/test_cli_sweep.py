"""The commands about runs: what is taken up again, removed, refused, verified and published."""

import hashlib
import re
import signal
import subprocess
from pathlib import Path

import companion.runs.sweep
import pytest
from companion.cli import main
from companion.runs import multiverse, results
from companion.runs.protocols import changed, load_protocol
from companion.runs.published import (
    FOLDER,
    published_parameters,
    published_results,
    write_published,
)
from companion.runs.reproduce import compute, store_of, work_of
from processes import eventually, start


def load_small(experiment, protocol="matched"):
    """Read a protocol and leave one method on one case."""
    small = {"methods": ["Unweighted"], "cases": ["100"], "runs": 3}
    if experiment == "biased":
        small |= {"cases": ["Ionosphere"], "problem": {"choose": "none"}}
    return changed(load_protocol(experiment, protocol), **small)


@pytest.fixture
def small(monkeypatch):
    """Protocols and universes that take a moment."""
    two = {
        name: changed(protocol, cases=["100", "200"])
        for name, protocol in multiverse.universes("synthetic").items()
        if name in ("random-counts", "hard-prior")
    }
    monkeypatch.setattr("companion.runs.reproduce.load_protocol", load_small)
    monkeypatch.setattr("companion.runs.reproduce.universes", lambda experiment: two)
    monkeypatch.setattr("companion.runs.reproduce.specifications", lambda experiment: {})
    return load_small


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "runs"


def fill(path, *protocols, runs=None):
    compute(work_of(protocols, path, runs))


def command(path, *arguments):
    return main(["reproduce", "synthetic", "--jobs", "1", "--store", path, *arguments])


def computed(text):
    """How many runs the report says were computed."""
    found = re.findall(r"(\d+) runs? computed in \d+\.\d s with 1 job$", text, re.MULTILINE)
    return [int(number) for number in found]


def test_runs_that_are_there_are_counted_and_the_comparison_is_told(path, small, capsys):
    assert command(path, "--runs", "2") == 0
    first = capsys.readouterr().out
    assert computed(first) == [2]
    assert "already" not in first
    assert "from the published runs: none is published under these parameters" in first
    assert re.search(r"beside the paper: \d+ values: .* rankings", first)
    assert command(path) == 0
    again = capsys.readouterr().out
    assert f"  2 of 3 runs were already in {path}; remove it to compute them again\n" in again
    assert computed(again) == [1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--jobs", "0"], 2, "Invalid value for '--jobs': 0 is not in the range x>=1"),
        (["--scheduler", "foo"], 2, "scheduler must look like tcp://host:8786, got 'foo'"),
        (["--protocol", "best"], 2, "protocol must be one of matched, tuned, got 'best'"),
        (["--scheduler", "tcp://127.0.0.1:9"], 1, "scheduler 'tcp://127.0.0.1:9' cannot be used"),
    ],
)
@pytest.mark.hardening("mistake")
def test_a_mistake_is_one_sentence_and_removes_nothing(
    path, monkeypatch, capsys, arguments, code, said
):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_CONNECT_SECONDS", 1)
    fill(path, load_small("synthetic"), runs=1)
    assert command(path, *arguments) == code
    err = capsys.readouterr().err
    assert err.startswith(f"ddr-book: {said}")
    assert err.count("\n") == 1
    assert len(store_of(load_small("synthetic"), path).done()) == 1


def stored(path):
    """The files of the runs that a store holds, of whatever experiment and protocol."""
    return set(Path(path).glob("*/[!.]*.gz"))


def digests(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("word", "sent"),
    [
        ("reproduce", signal.SIGINT),
        pytest.param("reproduce", signal.SIGKILL, marks=pytest.mark.weekly),
        pytest.param("search", signal.SIGTERM, marks=pytest.mark.weekly),
    ],
)
@pytest.mark.hardening("kill")
def test_a_signal_loses_no_run_and_touches_nothing_published(path, word, sent):
    before = digests(FOLDER)
    command = ["-m", "companion.cli", word, "synthetic", "--jobs", "1", "--store", path]
    process = start(*command, stdout=subprocess.DEVNULL)
    done = eventually(lambda: stored(path), process)
    process.send_signal(sent)
    _, err = process.communicate(timeout=120)
    assert done <= stored(path)
    assert digests(FOLDER) == before
    if sent == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert process.returncode == 130
    assert err.split("\r")[-1].splitlines()[-1] == (
        "ddr-book: interrupted; what is done is stored: "
        "run the same command again to compute the rest"
    )


def test_the_multiverse_is_compared_universe_by_universe(path, small, capsys):
    arguments = ["--protocol", "multiverse", "--runs", "1"]
    assert command(path, *arguments) == 0
    printed = capsys.readouterr().out
    assert computed(printed) == [4]
    for name in ("random-counts", "hard-prior"):
        said = f"universe:{name}: from the published runs: the largest difference of 6 accuracies"
        assert said in printed


def test_publish_writes_what_the_store_holds_and_takes_out_what_is_named(
    path, tmp_path, small, capsys
):
    protocol, into = small("synthetic"), tmp_path / "results"
    universe = changed(protocol, protocol="universe:one")
    fill(path, protocol, universe)
    files = ["synthetic-tables.csv", "synthetic-universes.csv", "parameters.json", "SHA256SUMS"]
    assert main(["publish", "--store", path, "--into", into]) == 0
    assert capsys.readouterr().out.split() == [str(into / name) for name in files]
    rows = store_of(protocol, path).rows()
    assert published_results(into)["accuracy"].tolist() == [*rows["accuracy"]] * 2
    before = digests(into)
    remove = ["publish", "--into", into, "--remove", "synthetic"]
    assert main([*remove, "universe:two"]) == 2
    assert "nothing is published of synthetic universe:two" in capsys.readouterr().err
    assert digests(into) == before
    assert main([*remove, "universe:one"]) == 0
    assert sorted(path.name for path in into.iterdir()) == sorted([files[0], *files[2:]])
    assert set(published_parameters(into)) == {("synthetic", "matched")}
    assert published_results(into)["accuracy"].tolist() == rows["accuracy"].tolist()
    assert main(["publish", "--store", path, "--into", into]) == 0
    assert digests(into) == before, "put back to the byte"
    assert main([*remove, "universe:one", "--remove", "synthetic", "matched"]) == 0
    assert published_results(into).empty


def test_publish_refuses_what_is_no_store(tmp_path, capsys):
    assert main(["publish", "--store", tmp_path / "none", "--into", tmp_path]) == 2
    assert "--store must be a folder with runs" in capsys.readouterr().err


@pytest.fixture
def verification(tmp_path, monkeypatch, small):
    """Published runs of three small protocols, of which the last two have changed since."""
    kept, moved, other = (changed(small("synthetic"), protocol=p) for p in ("matched", "b", "c"))
    fill(tmp_path / "runs", kept, moved, other)
    main(["publish", "--store", tmp_path / "runs", "--into", tmp_path / "results"])
    monkeypatch.setattr("companion.runs.published.FOLDER", tmp_path / "results")
    monkeypatch.setattr(results, "BUILD", tmp_path / "build")
    rows = published_results()
    rows.loc[(rows["protocol"] == "b") & (rows["seed"] == 0), "accuracy"] -= 0.1
    write_published(rows, published_parameters())
    protocols = [kept, moved, changed(other, seed=5)]
    monkeypatch.setattr("companion.runs.reproduce.known_protocols", lambda: protocols)
    monkeypatch.setattr("companion.evidence.protocol_search.work_again", lambda root: [])
    return tmp_path / "build" / "verify"


def test_verify_names_what_differs_and_counts_what_agrees(verification, capsys):
    capsys.readouterr()
    assert main(["verify", "--all", "--jobs", "1"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "synthetic matched: one run of each of 1 cases agrees",
        "1 of 3 protocols agree",
    ]
    said = [line for line in err.split("\r")[-1].splitlines() if line.startswith("ddr-book")]
    assert said[0].startswith("ddr-book: synthetic b: the accuracy of Unweighted on 100, run 0, is")
    assert re.match(
        r"ddr-book: synthetic c: published with other parameters \(seed: \d+ there", said[1]
    )
    assert not verification.exists(), "a verification that ended is not taken up"
