"""``reproduce`` and ``multiverse``: what is taken up again, what is removed, what is refused."""

import re

import companion.runs.reproduce
import companion.runs.sweep
import pytest
from companion.cli import main
from companion.runs.protocols import changed, load_protocol
from companion.runs.reproduce import reproduce, store_of
from companion.runs.sweep import SweepError, SweepInterrupted


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Protocols that take a moment: one method on one case."""

    def load(experiment, protocol="matched"):
        small = {"methods": ["Unweighted"], "cases": ["100"], "runs": 3}
        if experiment == "biased":
            small |= {"cases": ["Ionosphere"], "problem": {"choose": "none"}}
        return changed(load_protocol(experiment, protocol), **small)

    monkeypatch.setattr("companion.runs.reproduce.load_protocol", load)
    return load


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


def command(folder, *arguments, name="reproduce"):
    return main([name, "synthetic", "--jobs", "1", "--into", str(folder), *arguments])


def computed(text):
    """How many runs the report says were computed."""
    found = re.findall(r"(\d+) runs? computed in \d+\.\d s with 1 job$", text, re.MULTILINE)
    return [int(number) for number in found]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


def test_runs_that_are_there_are_counted_and_the_time_is_told(folder, capsys):
    assert command(folder, "--runs", "2") == 0
    first = capsys.readouterr().out
    assert computed(first) == [2]
    assert "already" not in first
    assert command(folder) == 0
    again = capsys.readouterr().out
    assert f"  2 of 3 runs were already in {folder}; --fresh computes them again\n" in again
    assert computed(again) == [1]


def test_fresh_computes_again_what_is_asked_and_nothing_else(folder, small, capsys):
    for protocol in ("matched", "tuned"):
        reproduce(["synthetic", "biased"], protocol, folder, say=lambda line: None)
    before = contents(folder)
    assert command(folder, "--fresh", "--runs", "2") == 0
    printed = capsys.readouterr().out
    assert computed(printed) == [2]
    assert "already" not in printed
    after = contents(folder)
    assert {name for name in before if before[name] != after[name]} == {"synthetic-matched.csv"}
    assert len(store_of(small("synthetic"), folder).done()) == 2


def test_fresh_replaces_runs_of_other_parameters(folder, small, capsys):
    other = changed(small("synthetic"), seed=1)
    companion.runs.reproduce.compute(other, folder, runs=1)
    assert command(folder) == 1
    assert capsys.readouterr().err.endswith(
        "store these under another protocol name, or remove them by --fresh\n"
    )
    assert command(folder, "--fresh") == 0


@pytest.mark.parametrize("name", ["reproduce", "multiverse"])
def test_published_runs_are_never_removed(tmp_path, small, monkeypatch, capsys, name):
    published = tmp_path / "results"
    companion.runs.reproduce.compute(small("synthetic"), published, runs=1)
    before = contents(published)
    monkeypatch.setattr("companion.runs.reproduce.BOOK", tmp_path)
    link = tmp_path / "link"
    link.symlink_to(published)
    for into in (published, link, published / ".." / "results"):
        assert command(into, "--fresh", name=name) == 2
        assert capsys.readouterr().err == (
            f"ddr-book: --fresh must not be given with --into {into}: "
            "it would remove the published runs\n"
        )
    with pytest.raises(ValueError, match="fresh must not remove published runs, got the folder"):
        reproduce(["synthetic"], folder=published, fresh=True)
    assert contents(published) == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--jobs", "0"], 2, "--jobs must be a positive whole number or -1, got 0"),
        (
            ["--scheduler", "foo"],
            2,
            "--scheduler must look like tcp://host:8786 or tls://host:8786, got 'foo'",
        ),
        (["--runs", "0"], 2, "--runs must be at least 1, got 0"),
        (
            ["--scheduler", "tcp://127.0.0.1:9"],
            1,
            "scheduler 'tcp://127.0.0.1:9' cannot be reached: no answer within 1 s",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_removes_nothing(
    folder, monkeypatch, capsys, arguments, code, said
):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(companion.runs.sweep, "_CONNECT_SECONDS", 1)
    reproduce(["synthetic"], folder=folder, runs=1, say=lambda line: None)
    before = contents(folder)
    assert command(folder, "--fresh", *arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"python -m ddr( reproduce)?: {re.escape(said)}\n", err)
    assert contents(folder) == before


def test_a_file_is_no_folder(tmp_path, capsys):
    file = tmp_path / "README.md"
    file.write_text("")
    for name in ("reproduce", "multiverse"):
        assert command(file, name=name) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err == f"ddr-book: --into must be a folder, got '{file}', which is a file\n"


@pytest.mark.parametrize(
    ("raised", "code"),
    [(SweepInterrupted("interrupted; repeat it"), 130), (SweepError("1 of 2 runs failed"), 1)],
)
def test_who_goes_on_is_told_to_leave_out_fresh(folder, monkeypatch, capsys, raised, code):
    def stop(*_, **__):
        raise raised

    monkeypatch.setattr("companion.runs.reproduce.sweep", stop)
    assert command(folder, "--fresh") == code
    assert capsys.readouterr().err.endswith(f"{raised}; leave out --fresh, or it begins again\n")
    assert command(folder) == code
    assert capsys.readouterr().err.endswith(f"{raised}\n")


def test_fresh_multiverse_begins_again_with_its_universes_only(folder, monkeypatch, capsys):
    from companion.runs import multiverse

    two = {
        name: changed(protocol, cases=["100", "200"])
        for name, protocol in multiverse.universes("synthetic").items()
        if name in ("baseline", "hard-prior")
    }
    monkeypatch.setattr(multiverse, "universes", lambda experiment: two)
    reproduce(["synthetic"], folder=folder, say=lambda line: None)
    before = contents(folder)
    for arguments, there, new in (([], 0, 4), ([], 4, 0), (["--fresh"], 0, 4)):
        assert command(folder, "--runs", "1", *arguments, name="multiverse") == 0
        printed = capsys.readouterr().out
        assert computed(printed) == [new]
        said = f"synthetic: {there} of 4 runs were already in {folder}; --fresh computes them again"
        assert (said in printed) == bool(there)
    assert before.items() <= contents(folder).items()
