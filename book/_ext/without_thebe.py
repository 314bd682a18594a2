"""Sphinx extension: keep sphinx-thebe, which Jupyter Book always loads, out of the pages.

Nobody can run code in these pages, so they need not name the server that thebe would come from.
"""

_UNWANTED = ("init_thebe_core", "update_thebe_context")


def drop_listeners(app):
    """Take away what would add scripts and settings to pages."""
    for event, listeners in app.events.listeners.items():
        app.events.listeners[event] = [
            each for each in listeners if getattr(each.handler, "__name__", "") not in _UNWANTED
        ]


def setup(app):
    """Register with Sphinx, once its theme is loaded and before any page is read."""
    app.connect("builder-inited", drop_listeners, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
