"""Sphinx extension: the first use of a glossary term on a page leads to the glossary."""

import re

from docutils import nodes

GLOSSARY = "book/notation"
# Words that often mean something else; a page that needs them says {term}.
EVERYDAY = {"case", "deviation", "gain", "matched", "points", "rerun", "run", "tuned"}
# A table keeps its look, and a link its target; so does a card, which is one link as a whole.
KEPT = (nodes.reference, nodes.table, nodes.literal, nodes.citation, nodes.problematic)


def _pattern(term):
    words = r"\s+".join(map(re.escape, term.split()))
    either = f"(?i:{words}s?)" if term.islower() else words  # KMM is not kmm
    return rf"(?<![\w-]){either}(?![\w-])"


def _texts(doctree):
    for paragraph in doctree.findall(nodes.paragraph):
        for text in paragraph.findall(nodes.Text):
            above, node = [], text
            while node is not doctree:
                node = node.parent
                above.append(node)
            kept = (isinstance(each, KEPT) or "sd-card" in each["classes"] for each in above)
            if not any(kept):
                yield text


def _join_lines(doctree):
    """Make one text of a paragraph's lines, which the parser leaves apart."""
    for element in list(doctree.findall(nodes.TextElement)):
        joined = []
        for child in element.children:
            if joined and isinstance(child, nodes.Text) and isinstance(joined[-1], nodes.Text):
                joined[-1] = nodes.Text(joined[-1] + child)
            else:
                joined.append(child)
        element.clear()
        element.extend(joined)


def link_terms(app, doctree, docname):
    """Make the first mention of each term a reference, longer terms before shorter ones."""
    terms = {
        name: anchor
        for name, _, kind, page, anchor, _ in app.env.get_domain("std").get_objects()
        if kind == "term" and page == GLOSSARY and name not in EVERYDAY
    }
    if docname == GLOSSARY or app.builder.format != "html":
        return
    _join_lines(doctree)
    uri = app.builder.get_relative_uri(docname, GLOSSARY)
    for term in sorted(terms, key=len, reverse=True):
        for text in _texts(doctree):
            if found := re.search(_pattern(term), text):
                link = nodes.reference("", found[0], internal=True, refuri=f"{uri}#{terms[term]}")
                link["classes"].append("ddr-term")
                parts = nodes.Text(text[: found.start()]), link, nodes.Text(text[found.end() :])
                text.parent.replace(text, parts)
                break


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
