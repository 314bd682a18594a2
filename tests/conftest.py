"""Shared by the tests of notebooks and pages."""

import json
import random
import shutil
from pathlib import Path

import nbformat
import pytest
import sklearn

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser):
    parser.addoption("--record", type=Path, help="Write what the hardening tests tried here.")
    parser.addoption("--shuffle", metavar="SEED", help="Run files and their tests in this order.")


def pytest_configure(config):
    if config.getoption("--record"):
        config.pluginmanager.register(_Record(config.getoption("--record")))


def pytest_collection_modifyitems(config, items):
    """Shuffle if asked; let the marks travel with the reports, which other processes may send."""
    if seed := config.getoption("--shuffle"):
        # Tests of a file stay together: what a file's tests share is made once.
        draw = random.Random(seed)
        places = {file: draw.random() for file in sorted({item.path for item in items})}
        items.sort(key=lambda item: (places[item.path], draw.random()))
    for item in items:
        for mark in item.iter_markers("hardening"):
            about = {"test": item.originalname, "kind": mark.args[0], **mark.kwargs}
            item.user_properties.append(("hardening", about))


class _Record:
    """Counts what the hardening tests tried and what held, for the book's page on reliability."""

    def __init__(self, path):
        self.path, self.tests = path, {}

    def pytest_runtest_logreport(self, report):
        properties = dict(report.user_properties)
        if report.when == "call" and "hardening" in properties:
            about = properties["hardening"]
            name = f"{report.nodeid.partition('::')[0]}::{about['test']}"
            entry = self.tests.setdefault(name, {"tried": 0, "held": 0, **about})
            entry["tried"] += 1
            entry["held"] += report.passed

    def pytest_sessionfinish(self):
        if self.tests:  # the processes that a test run starts have none
            text = json.dumps(self.tests, indent=1, sort_keys=True)
            self.path.write_text(text + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def usual_routing():
    """Undo what skada does to the whole process: importing it enables metadata routing."""
    with sklearn.config_context(enable_metadata_routing=False):
        yield


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture
def make_notebook():
    """Build a notebook from cells: a str is Markdown, a pair is code and its keywords."""

    def build(*cells):
        notebook = nbformat.v4.new_notebook()
        notebook.metadata["kernelspec"] = {"display_name": "Python 3", "name": "python3"}
        for cell in cells:
            if isinstance(cell, str):
                notebook.cells.append(nbformat.v4.new_markdown_cell(cell))
            else:
                source, options = cell
                notebook.cells.append(nbformat.v4.new_code_cell(source, **options))
        return notebook

    return build


@pytest.fixture(scope="session")
def chromium():
    """A running Chromium.

    Playwright's event loop keeps running in this thread from here on, so a process has one
    Playwright: a test that starts its own would pass or fail by the order of the tests.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        running = playwright.chromium.launch(executable_path=path, args=arguments)
        yield running
        running.close()
