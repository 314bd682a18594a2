"""What the pages' Python does, tried here: which cells it may run, and what they show."""

import nbformat
import pytest
from companion.browser import cells
from companion.browser.numbers import marked
from companion.kit import site_python
from companion.kit.open_cells import open_cells
from companion.kit.parameters import declarations, list_notebooks
from companion.kit.tolerances import Tolerance


@pytest.fixture
def described(make_notebook, tmp_path):
    """What the page is told about a notebook of these cells."""

    def describe(*sources):
        notebook = make_notebook(*((source, {}) for source in sources))
        path = tmp_path / "some.ipynb"
        nbformat.write(notebook, path)
        return open_cells(path)

    return describe


def test_what_comes_from_the_companion_stays_behind_and_so_does_what_is_made_of_it(described):
    found = described(
        "import numpy as np\nrows = np.arange(3)",
        "from companion.kit import display as show\nstored = show.fetch(rows)",
        "def double(rows):\n    return 2 * rows",
        "print([stored for stored in double(rows)])",
        "print(stored)",
        "stored = rows + 1",
        "for rows in stored:\n    print(rows)",
    )
    assert [cell["at"] for cell in found] == [0, 2, 3, 5, 6]
    assert [cell["needs"] for cell in found] == [[], [], [0, 2], [0], [0, 5]]


@pytest.mark.weekly
@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_each_cell_prints_what_is_published_when_only_what_it_needs_ran_before(path):
    described = {cell["at"]: cell for cell in open_cells(path)}
    for cell in described.values():
        assert cells.begin(declarations(path)) == {}
        for at in cell["needs"]:
            assert not cells.run(described[at]["source"])["failed"]
        answer = cells.run(cell["source"], cell["published"], cell["tolerance"])
        assert answer.get("moved", 0) == 0, cell["source"]


def test_a_cell_shows_what_it_prints_its_last_value_and_its_figures():
    assert cells.begin() == {}
    answer = cells.run("print('<b>', 0.5)\n1 / 4", published="<b> 0.5\n0.75")
    assert answer["moved"] == 1
    [printed] = answer["outputs"]
    assert printed["html"] == '&lt;b&gt; 0.5\n<mark title="published: 0.75">0.25</mark>'
    code = "import matplotlib.pyplot as plt\nfigure, axis = plt.subplots()"
    [picture] = cells.run(code)["outputs"]
    assert picture["kind"] == "picture"
    assert cells.run("1 / 3;")["outputs"] == []


def test_an_error_names_the_line_and_the_next_run_starts_afresh():
    cells.begin()
    answer = cells.run("a = 1\nb = a / 0")
    assert answer["failed"]
    assert answer["outputs"][0]["text"] == "ZeroDivisionError (line 2): division by zero"
    cells.begin()
    assert "name 'a' is not defined" in cells.run("a")["outputs"][0]["text"]


def test_parameters_are_read_as_the_command_line_reads_them():
    declared = "n = 5  # range: 1..9 | size\nsizes = [1, 2]  # range: 1.. | sizes"
    assert cells.begin(declared, [["n", "7"], ["sizes", "3, 4"]]) == {}
    assert cells.run("print(n, sizes)")["outputs"][0]["html"] == "7 [3, 4]"
    assert cells.begin(declared, [["n", "10"]]) == {"problem": "n must lie in 1..9, got 10"}


@pytest.mark.parametrize(
    ("new", "moved"), [("a 1.0005 b 3", 0), ("a 1.2 b 3", 1), ("a 1.2 b 4", 2), ("c 1.0 b 3", None)]
)
def test_only_numbers_beyond_the_tolerance_are_marked(new, moved):
    html, count = marked("a 1.0 b 3", new, Tolerance(abs=1e-3))
    assert count == moved
    assert html.count("<mark") == (moved or 0)


def test_a_file_of_another_checksum_is_refused():
    digests = site_python.accepted()
    with pytest.raises(ValueError, match=r"pyodide\.mjs must have the SHA-256 \w{64}, got \w{64}"):
        site_python.check({"pyodide.mjs": b"something else"}, digests)
