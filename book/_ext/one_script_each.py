"""Sphinx extension: keep one of each inline script of a page.

Jupyter Book and its theme both set up sphinx-thebe, so its constants would be declared twice on
every page, which a browser reports as an error.
"""


def drop_repeated(scripts):
    """Return the scripts without those whose inline code came before.

    Parameters
    ----------
    scripts : list
        Sphinx's entries; an inline one has its code in ``attributes["body"]``.

    Returns
    -------
    list
    """
    kept, seen = [], set()
    for script in scripts:
        code = getattr(script, "attributes", {}).get("body")
        if code is None or code not in seen:
            kept.append(script)
            seen.add(code)
    return kept


def clean_page(app, pagename, templatename, context, doctree):
    """Take the repeated scripts out of one page."""
    if "script_files" in context:
        context["script_files"][:] = drop_repeated(context["script_files"])


def setup(app):
    """Register with Sphinx, after everything that adds scripts to a page."""
    app.connect("html-page-context", clean_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
