"""Sphinx extension: let pages run Python, from the site's own files.

Notebooks get a description of their open cells beside the card of their parameters. Code blocks of
the class ``ddr-run`` get a button. Without ``make site-python`` the buttons say what to do instead.
"""

import json
from pathlib import Path

from companion.kit import site_python
from companion.kit.open_cells import open_cells
from companion.kit.parameters import declarations, read_parameters


def add_scripts(app, pagename, templatename, context, doctree):
    """Append a notebook's card to its page, and load the scripts of pages that run code."""
    source = Path(app.srcdir, f"{pagename}.ipynb")
    notebook = pagename.startswith("notebooks/") and source.exists()
    if notebook:
        context["body"] += f'<script type="application/json" id="ddr-card">{card(source)}</script>\n'
        app.add_js_file("rerun_form.js")
    body = context.get("body", "")
    if notebook or "ddr-run" in body or "ddr-data" in body:
        app.add_js_file(None, body=f"window.ddrHasPython = {json.dumps(site_python.fetched())};")
        app.add_js_file("run_here.js")
        app.add_js_file("my_data.js")


def card(source):
    """Describe parameters and open cells as JSON that may stand inside a page."""
    described = [
        vars(p) | {"type": p.type_name, "allowed": p.allowed} for p in read_parameters(source)
    ]
    about = {
        "notebook": source.stem,
        "parameters": described,
        "declarations": declarations(source),
        "cells": open_cells(source),
    }
    return json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")


def add_python(app, exception):
    """Take Python into the site, when it was fetched."""
    if exception is None and app.builder.format == "html" and site_python.fetched():
        site_python.add_to(Path(app.outdir, "_static", "python"))


def setup(app):
    """Register with Sphinx."""
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", add_python)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
