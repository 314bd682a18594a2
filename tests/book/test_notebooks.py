"""The notebooks are clean, their comparison catches what it should, and reruns keep their code."""

import base64
import shutil

import nbformat
import pytest
from companion.browser.numbers import differences
from companion.kit.parameters import list_notebooks
from companion.kit.tolerances import Tolerance
from companion.paths import RUNS
from hygiene import offences

pytest_plugins = ["pytester"]

PUBLISHED = list_notebooks()
ROUNDING, ABSURD = (
    {"metadata": {"ddr": {"tolerance": {"abs": size, "reason": reason}}}}
    for size, reason in ((1e-4, "last digit depends on the BLAS kernel"), (1e9, "none"))
)
TABLE = "<style>td {{width: 0.5em}}</style><td class='c0.1'>{}</td>"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_notebook_is_clean(path):
    assert list(offences(nbformat.read(path, as_version=4))) == []


def test_reruns_execute_the_code_of_their_source(root):
    for path in sorted((root / RUNS).glob("*.ipynb")):
        run = nbformat.read(path, as_version=4)
        source = root / "notebooks" / f"{run.metadata['ddr']['run']['notebook']}.ipynb"
        assert _code(run) == _code(nbformat.read(source, as_version=4)), path.name


def _code(notebook):
    own = [c for c in notebook.cells if "injected-parameters" not in c.metadata.get("tags", [])]
    return [cell.source for cell in own if cell.cell_type == "code"]


@pytest.fixture
def clean(make_notebook):
    declared = {"execution_count": 1, "metadata": {"tags": ["parameters"]}}
    return make_notebook(
        "# Title",
        ("n_runs = 3  # paper: 30 | range: 1..9 | runs", declared),
        ("print(n_runs)", {"execution_count": 2}),
    )


def _output(kind, content):
    return {"outputs": [nbformat.v4.new_output("display_data", data={kind: content})]}


LOUD = nbformat.v4.new_output("stream", name="stderr", text="Warning: odd")
FAILED = nbformat.v4.new_output("error", ename="ValueError", evalue="x", traceback=[])
# what must be said: a cell of the clean notebook, and what is changed there
BREAKS = {
    "execution count None, expected 2": (2, {"execution_count": None}),
    "execution count 7, expected 2": (2, {"execution_count": 7}),
    "wrote to stderr": (2, {"outputs": [LOUD]}),
    "raised ValueError": (2, {"outputs": [FAILED]}),
    "at most 15": (2, {"source": "\n".join(["a = 1"] * 16)}),
    "absolute path": (2, {"source": 'open("/home/me/x")'}),
    "install command": (2, {"source": "%pip install x"}),
    "needs a trailing comment": (1, {"source": "n_runs = 3"}),
    "one cell must be tagged": (1, {"metadata": {}}),
    "from the root: ](../book/data.md)": (0, {"source": "# T\n[the data](../book/data.md)"}),
    "from the root: {glue:text}`02_x": (0, {"source": "# T\n{glue:text}`02_x.ipynb::gain`"}),
    "without a label": (0, {"source": "# T\n```{prf:theorem}\n:nonumber:\n```"}),
    "# title": (0, {"source": "no title"}),
    "without alt text (metadata": (2, _output("image/png", "")),
    "without a caption": (2, _output("image/png", "")),
}


@pytest.mark.parametrize("expected", BREAKS)
def test_hygiene_rejects(clean, expected):
    assert list(offences(clean)) == []
    place, changes = BREAKS[expected]
    clean.cells[place].update(nbformat.from_dict(changes))
    assert any(expected in sentence for sentence in offences(clean))


WITHIN = Tolerance(1e-4, 0, "rounding")


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("0.5000", "0.5001"),  # a difference equal to the tolerance
        ("a  0.99995\nb  1.0", "a 1.0000\nb   1.0"),  # columns shift with the digits
        ("−0.00004", "0.00004"),
        ("1e-05", "0.00002"),
        (TABLE.format("0.5000 ± 0.1"), TABLE.format("0.50009 ± 0.1")),
    ],
)
def test_numbers_within_the_tolerance_agree(stored, new):
    assert differences(stored, new, WITHIN) == []


@pytest.mark.parametrize(
    ("stored", "new", "sentence"),
    [
        ("x 0.5000", "x 0.5003", "Δ=0.0003 > 0.0001"),
        ("x 1 0.5", "x 2 0.5", "integer 2, stored 1"),
        ("x 0.5", "y 0.5", "text differs"),
        ("x 0.5", "x 0.5 0.6", "text differs"),
        ("x 0.5", "x nan", "text differs"),
        (TABLE.format("0.5"), TABLE.format("0.5").replace("0.5em", "0.50001em"), "text differs"),
        ("row1_0.5", "row2_0.5", "text differs"),
        ("1.0", "-1.0", "Δ=2 > 0.0001"),
    ],
)
def test_other_differences_are_reported(stored, new, sentence):
    [found] = differences(stored, new, WITHIN)
    assert sentence in found


@pytest.mark.parametrize(
    "bad",
    [
        {"abs": 1},
        {"reason": "x"},
        {"abs": -1, "reason": "x"},
        {"abs": True, "reason": "x"},
        {"absolute": 1, "reason": "x"},
        {"abs": float("inf"), "reason": "x"},
        {"rel": float("nan"), "reason": "x"},
        {"rel": 0.6, "reason": "x"},
    ],
)
@pytest.mark.hardening("mistake", mends="An infinite tolerance passed for a comparison.")
def test_malformed_tolerance_is_refused(bad):
    with pytest.raises(ValueError, match="tolerance needs"):
        Tolerance.of(nbformat.v4.new_code_cell(metadata={"ddr": {"tolerance": bad}}))


def printed(text):
    return [nbformat.v4.new_output("stream", name="stdout", text=text)]


def shown(kind, content, plain):
    data = {kind: content, "text/plain": plain}
    return [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]


HTML_CODE = "from IPython.display import HTML\nHTML('<td>0.5003</td>')"
PNG_CODE = "from IPython.display import Image\nImage(data=b'new', format='png')"
IMAGE = "<IPython.core.display.Image object>"
# what happens: code, stored outputs, other fields of the stored cell, what the failure must say
CELLS = {
    "within its tolerance": ("print('MI 0.50005')", printed("MI 0.5000\n"), ROUNDING, None),
    "beyond its tolerance": (
        "print('after 6: MI 0.5003')",
        printed("after 6: MI 0.5000\n"),
        ROUNDING,
        "stdout, number 2: 0.5003, stored 0.5000, Δ=0.0003 > 0.0001\n"
        "tolerance: last digit depends on the BLAS kernel",
    ),
    "no tolerance": ("print('0.50005')", printed("0.5000\n"), {}, "Cell outputs differ"),
    "html": (
        HTML_CODE,
        shown("text/html", "<td>0.5</td>", "<IPython.core.display.HTML object>"),
        ROUNDING,
        "text/html, number 1: 0.5003, stored 0.5, Δ=0.0003 > 0.0001",
    ),
    "output missing in the store": ("0.5", [], ROUNDING, "Unexpected output fields"),
    "output missing now": ("0.5;", printed("0.5"), ROUNDING, "output fields"),
    "never run": ("print(1)", [], {"execution_count": None}, "The stored cell was never run"),
    "raises": ("1 / 0", [], {}, "ZeroDivisionError"),
    "bad tolerance": (
        "print(0.5)",
        printed("0.5\n"),
        ABSURD,
        "abs of at most that share of the largest number stored",
    ),
    "another picture": (
        PNG_CODE,
        shown("image/png", base64.b64encode(b"old").decode(), IMAGE),
        {},
        None,  # pictures are not compared
    ),
}


@pytest.mark.hardening("damage")
def test_nbval_catches_what_it_should(pytester, root, make_notebook):
    """One notebook, one cell per case: starting a kernel for each would take a minute."""
    folder = pytester.path / "notebooks"
    folder.mkdir()
    shutil.copy(root / "notebooks" / "conftest.py", folder)
    stored = [
        (code, {"outputs": outputs, "execution_count": 1} | other)
        for code, outputs, other, _ in CELLS.values()
    ]
    nbformat.write(make_notebook("# Title", *stored), folder / "small.ipynb")
    run = pytester.inline_run("--nbval", "--nbval-current-env", "-p", "no:cov", "notebooks")
    calls = [r for r in run.getreports("pytest_runtest_logreport") if r.when == "call"]
    assert len(calls) == len(CELLS)
    for (case, (*_, expected)), report in zip(CELLS.items(), calls, strict=True):
        assert report.passed == (expected is None), f"{case}: {report.longreprtext}"
        assert (expected or "") in report.longreprtext, f"{case}: {report.longreprtext}"
