"""Sphinx extension: social cards and a sitemap, once the site has an address.

The address is `html: baseurl:` of ``_config.yml``; without it nothing is added.
"""

from html import escape
from pathlib import Path
from xml.sax.saxutils import escape as escape_xml

ABOUT = "Every value that the paper prints beside the value measured here, and what decides them."


def _address(app, page=""):
    return f"{app.config.html_baseurl.rstrip('/')}/{page}"


def add_card(app, pagename, templatename, context, doctree):
    """Tell other sites how to show a link to this page."""
    if not app.config.html_baseurl:
        return
    facts = {
        "og:type": "article",
        "og:title": context.get("title", ""),
        "og:description": ABOUT,
        "og:url": _address(app, f"{pagename}.html"),
        "og:image": _address(app, "_static/findings.png"),
        "twitter:card": "summary_large_image",
    }
    tags = [f'<meta property="{name}" content="{escape(text)}">' for name, text in facts.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def write_sitemap(app, error):
    """List every page for search engines."""
    if error or not app.config.html_baseurl or app.builder.format != "html":
        return
    places = [escape_xml(_address(app, f"{name}.html")) for name in sorted(app.env.found_docs)]
    text = "".join(f"<url><loc>{place}</loc></url>\n" for place in places)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    frame = f'{head}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{text}</urlset>\n'
    Path(app.outdir, "sitemap.xml").write_text(frame, encoding="utf-8")


def setup(app):
    """Register with Sphinx."""
    app.connect("html-page-context", add_card)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
