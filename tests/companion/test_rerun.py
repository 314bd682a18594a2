"""Executing and rerunning notebooks: nothing volatile stays, nothing is lost, code is kept."""

import os
import signal
from itertools import product

import nbformat
import papermill
import pytest
from companion.cli import main
from companion.kit import compare_runs, status
from companion.kit.execute import rerun
from companion.kit.rerun_page import as_rerun, given_as_text, read_reruns
from filelock import FileLock
from markdown_it import MarkdownIt
from processes import eventually, start

TITLE = "# Small\n\nSee {eq}`eq-a` and {doc}`/book/notation`."
MATH = "$$\na = b\n$$ (eq-a)"
TAGGED = {"metadata": {"tags": ["parameters"]}}
CELLS = (TITLE, MATH, ("n = 2  # range: 1..5 | how many", TAGGED), ("print(n * 10)", {}))


@pytest.fixture
def repository(tmp_path, make_notebook):
    """A repository with one small notebook."""
    (tmp_path / "notebooks").mkdir()
    nbformat.write(make_notebook(*CELLS), tmp_path / "notebooks" / "01_small.ipynb")
    return tmp_path


@pytest.fixture
def command(repository):
    """Run a command in that repository and return its exit code."""
    return lambda *arguments: main([arguments[0], "--root", str(repository), *arguments[1:]])


def printed(path):
    cells = nbformat.read(path, as_version=4).cells
    return [o.text for c in cells for o in c.get("outputs", []) if o.output_type == "stream"]


def test_execution_repeats_byte_for_byte(command, repository, capsys):
    path = repository / "notebooks" / "01_small.ipynb"
    assert command("execute") == 0
    first = path.read_bytes()
    assert printed(path) == ["20\n"]
    assert command("execute", "01_small") == 0
    assert path.read_bytes() == first
    assert capsys.readouterr().out.splitlines() == [
        "notebooks/01_small.ipynb: changed",
        "notebooks/01_small.ipynb: unchanged",
    ]
    assert b"papermill" not in first
    assert sorted(p.name for p in path.parent.iterdir()) == ["01_small.ipynb"]
    assert " s |" in status.times_table(repository).data


@pytest.mark.hardening("damage")
def test_failed_execution_replaces_nothing(command, repository, make_notebook, capsys):
    path = repository / "notebooks" / "01_small.ipynb"
    nbformat.write(make_notebook(*CELLS, ("1 / 0", {})), path)
    before = path.read_bytes()
    assert command("execute") == 1
    assert path.read_bytes() == before
    assert "raised ZeroDivisionError: division by zero" in capsys.readouterr().err
    [copy] = (repository / "artifacts" / "failed").glob("01_small-*.ipynb")
    failed = nbformat.read(copy, as_version=4)
    assert any(o.output_type == "error" for c in failed.cells for o in c.get("outputs", []))


def test_rerun_becomes_a_page(command, repository, capsys):
    source = repository / "notebooks" / "01_small.ipynb"
    before = source.read_bytes()
    assert command("run", "01_small", "-p", "n", "3", "--name", "quick") == 0
    assert "book/runs/01_small-quick.ipynb is written" in capsys.readouterr().out
    path = repository / "book" / "runs" / "01_small-quick.ipynb"
    page = nbformat.read(path, as_version=4)
    assert printed(path) == ["30\n"]
    code = [cell.source for cell in page.cells if cell.cell_type == "code"]
    assert code == [CELLS[2][0], "# Parameters\nn = 3\n", CELLS[3][0]]
    assert source.read_bytes() == before
    text = "\n".join(c.source for c in page.cells if c.cell_type == "markdown")
    assert "# Small — run quick" in text
    assert "{eq}`eq-a`" in text, "which leads to the published page"
    assert "\\begin{equation*}\na = b \\tag{1}" in text
    assert "{doc}`/book/notation`" in text
    assert "Parameters given: `n = 3`" in text
    assert page.metadata["ddr"]["run"]["parameters"] == {"n": 3}
    lines = compare_runs.runs_table(repository).data.splitlines()
    [published, row] = [line for line in lines if line.startswith("| {doc}")]
    assert "| published |" in published
    assert row.startswith("| {doc}`/book/runs/01_small-quick` | quick | `n = 3` |")


def test_existing_run_is_kept_unless_forced(command, repository, capsys):
    arguments = ["run", "01_small", "--name", "same"]
    path = repository / "book" / "runs" / "01_small-same.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("earlier")
    assert command(*arguments) == 2
    assert "01_small-same.ipynb exists; choose another name or --force" in capsys.readouterr().err
    assert path.read_text() == "earlier"
    assert command(*arguments, "--force") == 0
    assert printed(path) == ["20\n"]


@pytest.mark.hardening(
    "two at once", mends="Two reruns of one name both reported success, and one was lost."
)
def test_a_name_under_way_is_refused(command, repository, capsys):
    locks = repository / "_build" / "locks"
    locks.mkdir(parents=True)
    with FileLock(locks / "01_small-same.lock"):
        assert command("run", "01_small", "--name", "same") == 2
    assert "a run named 'same' of 01_small is under way" in capsys.readouterr().err


@pytest.mark.hardening(
    "damage", mends="A folder that cannot be written was noticed after the whole computation."
)
def test_a_folder_that_cannot_be_written_is_noticed_first(command, repository, capsys):
    (repository / "book").mkdir()
    (repository / "book" / "runs").write_text("a file in the way")
    assert command("run", "01_small", "--name", "x") == 2
    assert "book/runs'" in capsys.readouterr().err
    assert not (repository / "artifacts").exists()


RERUN, IN_PLACE = ("run", "01_small", "--name", "x"), ("execute", "01_small")


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (RERUN, signal.SIGTERM),
        *(
            pytest.param(words, sent, marks=pytest.mark.weekly)
            for words, sent in product((RERUN, IN_PLACE), (signal.SIGINT, signal.SIGKILL))
        ),
    ],
)
@pytest.mark.hardening("kill")
def test_a_signal_leaves_neither_half_a_page_nor_a_kernel(repository, make_notebook, words, sent):
    path = repository / "notebooks" / "01_small.ipynb"
    tell = "import os, time\nprint(os.getpid(), file=open('../pid', 'w'), flush=True)"
    slow = f"{tell}\ntime.sleep(600)"
    nbformat.write(make_notebook(*CELLS, (slow, {})), path)
    before = path.read_bytes()
    arguments = [words[0], "--root", str(repository), *words[1:]]
    process = start("-m", "companion.cli", *arguments)
    kernel = eventually(lambda: (repository / "pid").read_text(), process)
    process.send_signal(sent)
    assert process.wait(120) != 0
    assert eventually(lambda: not _alive(int(kernel)))
    assert path.read_bytes() == before
    assert list(repository.glob("book/runs/*")) == []
    assert list(repository.glob("notebooks/*")) == [path]
    nbformat.write(make_notebook(*CELLS), path)
    assert rerun("01_small", {}, "x", repository).exists()  # nothing stays locked


@pytest.mark.hardening("kill", mends="A kernel whose port was taken ended the run.")
def test_a_kernel_that_dies_at_its_start_is_started_again(command, repository, monkeypatch):
    """As one does whose port another process has taken in between."""
    real, deaths = papermill.execute_notebook, ["Kernel died before replying to kernel_info"] * 2

    def dies_twice(*arguments, **options):
        if deaths:
            raise RuntimeError(deaths.pop())
        return real(*arguments, **options)

    monkeypatch.setattr(papermill, "execute_notebook", dies_twice)
    assert command("execute") == 0
    assert printed(repository / "notebooks" / "01_small.ipynb") == ["20\n"]
    deaths += ["something else"]
    with pytest.raises(RuntimeError, match="something else"):
        command("execute")


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "01_small", "-p", "m", "3", "--name", "x"], "the valid ones are: n"),
        (["run", "01_small", "-p", "n", "9", "--name", "x"], "n must lie in 1..5, got 9"),
        (["run", "01_small", "-p", "n", "1", "-p", "n", "2", "--name", "x"], "given twice"),
        (["run", "01_small", "--name", "../x"], "name must be 1 to 40 lower-case letters"),
        (["run", "09_none", "--name", "x"], "notebook must be one of 01_small; got '09_none'"),
    ],
)
@pytest.mark.hardening("mistake")
def test_mistakes_are_refused_before_running(command, repository, capsys, arguments, sentence):
    assert command(*arguments) == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1
    assert not (repository / "book").exists()
    assert not (repository / "artifacts").exists()


@pytest.mark.hardening(
    "hostile text", mends="A rerun that warned broke the build of the whole site."
)
def test_a_rerun_defines_no_name_twice_and_its_warnings_are_text(make_notebook):
    warned = [nbformat.v4.new_output("stream", name="stderr", text="odd ``` <b>\n")]
    labelled = "(th-x)=\n## X\n\n```{prf:lemma} Two\n:label: lemma-x\n```\nSee {ref}`th-x`."
    figure = {"mystnb": {"figure": {"name": "fig-x", "caption": "c"}}}
    page = make_notebook("# T", labelled, ("1", {"outputs": warned, "metadata": figure}))
    as_rerun(page, "01_x", "r", {}, 1.0)
    changed = labelled.replace("(th-x)=", "(th-x--r)=").replace("lemma-x", "lemma-x--r")
    assert page.cells[2].source == changed
    assert page.cells[3].metadata["mystnb"]["figure"]["name"] == "fig-x--r"
    assert page.cells[3].outputs[0].name == "stdout"


@pytest.mark.hardening(
    "hostile text", mends="A backtick in a parameter reached the page as raw HTML."
)
def test_parameters_are_shown_as_text_whatever_they_hold():
    hostile = "``<script>``|{ref}`x`\n"
    text = given_as_text({"a": hostile, "b": 1})
    assert text == f"``` a = {hostile!r} ```, `b = 1`"
    assert MarkdownIt().renderInline(text).count("<script>") == 0


@pytest.mark.hardening(
    "damage", mends="A truncated notebook among the reruns ended in a traceback."
)
def test_files_that_are_no_rerun_are_named_and_left_out(repository, make_notebook):
    folder = repository / "book" / "runs"
    folder.mkdir(parents=True)
    (folder / "truncated.ipynb").write_text('{"cells": [')
    (folder / "empty.ipynb").write_text("")
    nbformat.write(make_notebook("# plain"), folder / "plain.ipynb")
    table, refused = compare_runs.runs_table(repository).data, read_reruns(folder)[1]
    for name in ("truncated", "empty", "plain"):
        said = f"{name}.ipynb was not written by `ddr-book run`, so it is left out"
        assert refused[folder / f"{name}.ipynb"] == said
        assert name not in table
