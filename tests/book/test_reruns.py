"""Reruns, whatever they hold, become pages and leave the rest of the book as it was."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from companion.kit import build
from companion.kit.execute import rerun
from companion.kit.parameters import list_notebooks
from companion.kit.rerun_page import as_rerun
from companion.paths import RUNS
from processes import start

HOSTILE = "``` `<script>window.hacked = 1</script>` | \"q\" 'q' {{ z }} {ref}`x` </td> \n\\ é漢字"
#: The smallest values that each notebook takes, and the largest that cost little.
EXTREMES = {
    "01_theory": (
        {"n_monte_carlo": 1000, "n_learn": 50, "sigma": 0.1, "label": 1, "sizes": [50]}
        | {"n_draws": 2, "sharpness": 0.1, "n_iterations": 1},
        {"seed": 1_000_000, "sigma": 10.0, "sizes": [50, 2000], "n_draws": 3, "sharpness": 50.0}
        | {"n_iterations": 20, "n_monte_carlo": 10_000},
    ),
    "02_synthetic": (
        {"n_runs": 1, "n_train": [20], "n_test": 100, "seed": 0, "verify_runs": 0, "n_shown": 20}
        | {"widths": [0.05], "width_runs": 1, "n_large": 1000},
        {"n_runs": 2, "n_train": [100], "seed": 2**32 - 1, "n_shown": 2000, "run_shown": 999}
        | {"widths": [20.0], "width_runs": 1, "n_large": 10_000},
    ),
    "03_biased_sampling": (
        {"n_runs": 1, "cases": ["Ionosphere"], "strength": 0.0, "n_omegas": 1, "seed": 0}
        | {"verify_runs": 0, "case_shown": "Ionosphere", "compute_missing": True},
        {"n_runs": 2, "cases": ["Ionosphere"], "strength": 20.0, "seed": 2**32 - 1}
        | {"case_shown": "Ionosphere", "run_shown": 999},
    ),
    "04_cross_dataset": (
        {"n_runs": 1, "directions": ["USPS to MNIST"], "pairs": ["0 vs 1"], "fraction": 0.01}
        | {"seed": 0, "verify_runs": 0, "verify_pairs": ["0 vs 1"], "compute_missing": True}
        | {"direction_shown": "USPS to MNIST", "pair_shown": "0 vs 1", "Cs_shown": [1e-6]},
        {"n_runs": 2, "directions": ["MNIST to USPS"], "pairs": ["9 vs 0"], "fraction": 0.1}
        | {"seed": 2**32 - 1, "verify_pairs": ["9 vs 0"], "pair_shown": "9 vs 0"}
        | {"run_shown": 999, "Cs_shown": [1e6], "resize": "nearest"},
    ),
}
BUILD = "import sys; from companion.kit.build import build_site; build_site(sys.argv[1])"


def built(root, copy, extremes=None):
    """A copy of the book with reruns of every notebook, built by a process of its own."""
    for name in ("_config.yml", "_toc.yml", "requirements.txt", "README.md"):
        shutil.copy(root / name, copy)
    skip = shutil.ignore_patterns("companion", "results", "runs", "__pycache__")
    shutil.copytree(root / "book", copy / "book", ignore=skip)
    shutil.copytree(root / "notebooks", copy / "notebooks")
    (copy / RUNS).mkdir()
    (copy / "_build").mkdir()
    shutil.copy(root / "_build" / "replication.zip", copy / "_build")
    for path in list_notebooks(copy):
        write_rerun(path, copy, "hostile", {"text": HOSTILE, "naïve": [1, 2]}, stderr=HOSTILE)
    for stem, pair in (extremes or {}).items():
        for name, values in zip(("smallest", "largest-_0"), pair, strict=True):
            rerun(stem, values, name, copy)
    (copy / RUNS / "truncated.ipynb").write_text('{"cells": [')
    subprocess.run([sys.executable, "-c", BUILD, str(copy)], check=True)
    return copy


def write_rerun(path, copy, name, values, stderr=""):
    """Make a rerun of what is published, as if it had been executed with these values."""
    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    if stderr:
        first.outputs.append(nbformat.v4.new_output("stream", name="stderr", text=stderr))
    run = as_rerun(notebook, path.stem, name, values, 1.0)
    nbformat.write(run, copy / RUNS / f"{path.stem}-{name}.ipynb")


def article(page):
    return re.search(r"<article.*?</article>", page.read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.mark.weekly
@pytest.mark.hardening("hostile text")
def test_the_book_with_hostile_reruns(root, tmp_path, chromium):
    book = built(root, tmp_path)
    every_rerun_has_its_page_and_the_search_index_is_complete(book)
    what_a_rerun_holds_is_shown_as_text(book)
    nothing_of_a_rerun_is_executed(book, chromium)
    the_published_pages_stay_as_they_were(book, root)


@pytest.mark.weekly
@pytest.mark.hardening(
    "hostile text", mends="An interrupted build left later ones without half of the search index."
)
def test_the_book_with_reruns_at_the_ends_of_what_is_allowed(root, tmp_path):
    book = built(root, tmp_path, EXTREMES)
    every_rerun_has_its_page_and_the_search_index_is_complete(book)
    the_published_pages_stay_as_they_were(book, root)
    a_killed_build_leaves_the_site_whole(book)


def every_rerun_has_its_page_and_the_search_index_is_complete(book):
    site = book / build.SITE
    for path in (book / RUNS).glob("*-*.ipynb"):
        assert (site / RUNS / f"{path.stem}.html").exists()
    assert not (site / RUNS / "truncated.html").exists()
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    indexed = json.loads(index[len("Search.setIndex(") : -1])["docnames"]
    built = [*site.glob("book/**/*.html"), *site.glob("notebooks/*.html")]
    assert sorted(indexed) == sorted(str(p.relative_to(site).with_suffix("")) for p in built)


def what_a_rerun_holds_is_shown_as_text(book):
    site = book / build.SITE
    for page in [site / "book" / "gallery.html", *(site / RUNS).glob("*")]:
        assert "<script>window.hacked" not in page.read_text(encoding="utf-8")
    shown = article(site / RUNS / "02_synthetic-hostile.html")
    assert shown.count("&lt;script&gt;window.hacked") == 2  # the parameter, and stderr


def nothing_of_a_rerun_is_executed(book, chromium):
    page = chromium.new_page()
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    for name in ("book/gallery", f"{RUNS}/01_theory-hostile", f"{RUNS}/02_synthetic-hostile"):
        page.goto((book / build.SITE / f"{name}.html").as_uri())
        assert "window.hacked = 1" in page.locator("article").text_content()
        assert page.evaluate("window.hacked") is None
    assert troubles == []
    page.close()


def the_published_pages_stay_as_they_were(book, root):
    """Numbers of equations and figures included."""
    for path in list_notebooks(root):
        page, source = f"notebooks/{path.stem}.html", f"_sources/notebooks/{path.name}"
        before, after = root / build.SITE, book / build.SITE
        if (before / page).exists() and (before / source).read_bytes() == path.read_bytes():
            assert article(before / page) == article(after / page)


def a_killed_build_leaves_the_site_whole(book):
    site = book / build.SITE
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    for sent, seconds in ((signal.SIGINT, 2), (signal.SIGTERM, 4), (signal.SIGKILL, 6)):
        # its processes get the signal too, as from a terminal
        process = start("-c", BUILD, book, start_new_session=True)
        time.sleep(seconds)
        os.killpg(process.pid, sent)
        process.communicate(timeout=240)
        assert process.returncode != 0
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """Let the next build write one page with this text, or raise."""

    def prepare(text):
        def main(arguments, standalone_mode):
            if text is None:
                sys.exit(1)
            made = Path(arguments[2], "_build", "html")
            made.mkdir(parents=True)
            for name in ("index.html", "searchindex.js"):
                (made / name).write_text(text)

        monkeypatch.setattr(build.jupyter_book, "main", main)

    return prepare


@pytest.mark.hardening("kill")
def test_a_complete_build_replaces_the_old_one(tmp_path, builds):
    for text in ("old", "new"):
        builds(text)
        site = build.build_site(tmp_path)
        assert (site / "index.html").read_text() == text
    assert [p.name for p in site.parent.iterdir()] == ["html"]


@pytest.mark.hardening("kill")
def test_a_failed_build_replaces_nothing(tmp_path, builds):
    builds("old")
    site = build.build_site(tmp_path)
    builds(None)
    with pytest.raises(SystemExit):
        build.build_site(tmp_path)
    assert (site / "index.html").read_text() == "old"
