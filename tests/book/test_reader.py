"""What a reader does in the built book: reads the answer, fills in a form, turns knobs."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from companion.browser.declared import check_values
from companion.cli import cli
from companion.kit.parameters import list_notebooks, read_parameters
from companion.paths import RUNS
from test_reruns import EXTREMES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def tab(chromium, root):
    if not (root / "_build" / "html" / "book" / "intro.html").exists():
        pytest.skip("needs the built book")
    page = chromium.new_page()
    page.set_default_timeout(60_000)
    page.open = lambda path: page.goto((root / "_build" / "html" / path).as_uri())
    yield page
    page.close()


@pytest.mark.parametrize(("width", "height", "screens"), [(1400, 1000, 2), (390, 844, 5)])
def test_the_first_page_answers_within_few_screens(tab, width, height, screens):
    tab.set_viewport_size({"width": width, "height": height})
    tab.open("book/intro.html")
    card = tab.locator("article .sd-card", has_text="Should I use it?").first
    assert card.evaluate("e => e.getBoundingClientRect().bottom + scrollY") <= screens * height


def commands(tab):
    return [
        tab.locator(f"#ddr-command-{tool}").text_content() for tool in ("ddr-book", "papermill")
    ]


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_every_form_offers_what_its_notebook_declares(tab, path):
    tab.open(f"notebooks/{path.stem}.html")
    for parameter in read_parameters(path):
        assert tab.locator(f"#ddr-p-{parameter.name}").count() == 1
    run, papermill = commands(tab)
    assert run == f"ddr-book run {path.stem} --name mine"
    assert papermill.startswith(f"papermill notebooks/{path.stem}.ipynb out.ipynb")


def test_a_form_refuses_what_the_program_refuses(tab):
    tab.open("notebooks/02_synthetic.html")
    tab.locator("details.ddr-rerun summary").press("Enter")  # by keyboard
    for name, text, sentence in (
        ("n_runs", "0", "n_runs must lie in 1..1000, got 0"),
        ("n_runs", "many", "n_runs must be an int, got 'many'"),
        ("n_train", "100, 100", "n_train must not have 100 twice"),
    ):
        field = tab.locator(f"#ddr-p-{name}")
        before = field.input_value()
        field.fill(text)
        assert tab.locator(".ddr-problem").inner_text() == sentence
        assert commands(tab) == ["", ""]
        field.fill(before)
    assert tab.locator(".ddr-problem").inner_text() == ""


def filled_in(tab, stem, values):
    """The commands that a form prints after somebody has typed these values."""
    tab.open(f"notebooks/{stem}.html")
    tab.locator("details.ddr-rerun summary").click()
    for name, value in values.items():
        field = tab.locator(f"#ddr-p-{name}")
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(text)
        else:
            field.fill(text)
    return map(shlex.split, commands(tab))


SMALL = {"n_monte_carlo": 1000, "n_learn": 60, "sizes": [60, 120], "n_draws": 2}


def test_the_printed_commands_say_what_was_typed(tab, root):
    run, papermill = filled_in(tab, "01_theory", SMALL)
    given = cli.commands["run"].make_context("run", list(run[2:])).params["given"]
    parameters = read_parameters(root / "notebooks" / "01_theory.ipynb")
    assert check_values(parameters, dict(given)) == SMALL
    assert json.loads(papermill[-1]) == SMALL


@pytest.mark.weekly
@pytest.mark.parametrize("stem", EXTREMES)
def test_the_printed_commands_run(tab, root, tmp_path, stem):
    """Both, in a shell, as a reader would paste them."""
    smallest = EXTREMES[stem][0]
    run, papermill = filled_in(tab, stem, smallest)
    shutil.copytree(root / "notebooks", tmp_path / "notebooks")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in ([*run, "--root", str(tmp_path)], papermill):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    for made in (*(tmp_path / RUNS).glob("*.ipynb"), tmp_path / "out.ipynb"):
        cells = nbformat.read(made, as_version=4).cells
        assert not [o for c in cells for o in c.get("outputs", []) if o.output_type == "error"]
