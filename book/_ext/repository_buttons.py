"""Sphinx extension: show the buttons that lead to the repository and to Binder and Colab.

They appear once `repository: url:` of ``_config.yml`` has an address, and not before.
"""

_BUTTONS = {
    "use_repository_button": True,
    "use_issues_button": True,
    "launch_buttons": {
        "notebook_interface": "jupyterlab",
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
    },
}


def show_buttons(app, config):
    """Switch them on for a repository that has an address."""
    if config.html_theme_options.get("repository_url"):
        config.html_theme_options.update(_BUTTONS)


def setup(app):
    """Register with Sphinx, before the theme looks at its options."""
    app.connect("config-inited", show_buttons, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
