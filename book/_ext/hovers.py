"""Sphinx extension: put into each page what its links to citations and glossary terms lead to.

A page opened from disk may not fetch another, so the texts travel with it; ``hovers.js`` shows
them, and the equations and figures of the page itself, beside a link that is pointed at.
"""

import json
import re
from pathlib import Path

from bs4 import BeautifulSoup

# Pages whose targets are shown elsewhere, and which element holds the text of a target.
SOURCES = {
    "book/references.html": "div.citation",
    "book/notation.html": "dl.glossary dt",
}


def texts_of(path, selector):
    """The text of each target of a page, by its id."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    found = {}
    for target in soup.select(f"article {selector}"):
        if target.get("id"):
            text = target if target.name != "dt" else target.find_next_sibling("dd")
            found[target["id"]] = " ".join(text.get_text(" ", strip=True).split())
    return found


def embed(app, exception):
    """Append to every page the texts that its links name."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    texts = {s: texts_of(site / s, css) for s, css in SOURCES.items() if (site / s).exists()}
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        shown = {}
        for link in set(re.findall(r'href="([^":]+\.html#[^"]+)"', page)):
            name, _, target = link.partition("#")
            source = (path.parent / name).resolve().relative_to(site.resolve())
            if text := texts.get(source.as_posix(), {}).get(target):
                shown[link] = text
        if shown:
            card = json.dumps(shown, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
            card = f'<script type="application/json" id="ddr-hovers">{card}</script>\n</body>'
            path.write_text(page.replace("</body>", card), encoding="utf-8")


def setup(app):
    """Register with Sphinx."""
    app.connect("build-finished", embed)
    app.add_js_file("hovers.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
