"""Sphinx extension: give every notebook page the card of its parameters, for the form beside it.

The card goes into the page as JSON; ``rerun_form.js`` makes a form of it that writes the commands.
"""

import json
from pathlib import Path

from companion.kit.parameters import read_parameters


def add_card(app, pagename, templatename, context, doctree):
    """Append the card to the body of a notebook's page, and load the form's script."""
    source = Path(app.srcdir, f"{pagename}.ipynb")
    if not pagename.startswith("notebooks/") or not source.exists():
        return
    card = {
        "notebook": source.stem,
        "parameters": [
            vars(p) | {"type": p.type_name, "allowed": p.allowed} for p in read_parameters(source)
        ],
    }
    text = json.dumps(card, ensure_ascii=False).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" id="ddr-card">{text}</script>\n'
    app.add_js_file("rerun_form.js")


def setup(app):
    """Register with Sphinx."""
    app.connect("html-page-context", add_card)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
