"""The reference: one page per module, from its docstrings, in the group that it belongs to."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

#: Folder of each group, with its modules. A module that is named nowhere is of the experiments.
GROUPS = {
    "method": (
        "checks",
        "kernels",
        "ratio",
        "ulsif",
        "kliep",
        "kmm",
        "kde",
        "information",
        "seeding",
        "discriminative",
        "iwlspc",
        "hinge",
        "platt",
        "svm",
        "validation",
    ),
    "data": ("datasets", "mixture", "digits", "resize", "scaling", "rebuild", "shifts"),
    "experiments": (),
    "tools": (
        "cli",
        "notebook",
        "notebook_commands",
        "nbval_plugin",
        "numbers",
        "parameters",
        "plots",
        "plots_biased",
        "plots_cross",
        "plots_paired",
        "partial_runs",
        "readme",
        "rerun",
        "section_tables",
        "show",
        "shown_runs",
        "slider",
        "sweep_commands",
        "tables",
    ),
}


def write(folder, package=PACKAGE):
    """Write the pages of the reference.

    Parameters
    ----------
    folder : Path
        Where generated files go; the pages lie in its ``api/<group>``.
    package : Path
        The folder whose modules are documented.

    Returns
    -------
    list of Path
        The files written. Pages of modules that no longer exist are removed.
    """
    written = [_write_page(Path(folder) / "api", name) for name in public_modules(package)]
    for stale in set((Path(folder) / "api").rglob("*.rst")) - set(written):
        stale.unlink()
    return written


def public_modules(package=PACKAGE):
    """List the modules that people may import, by name.

    Parameters
    ----------
    package : Path
        The package's folder.

    Returns
    -------
    list of str
        Names without the package's own.

    Examples
    --------
    >>> "kernels" in public_modules()
    True
    """
    return sorted(path.stem for path in package.glob("*.py") if not path.stem.startswith("_"))


def group_of(module):
    """Return the group under which a module is listed.

    Parameters
    ----------
    module : str
        Its name without the package's.

    Returns
    -------
    str

    Examples
    --------
    >>> group_of("ulsif"), group_of("sweep")
    ('method', 'experiments')
    """
    return next((group for group, names in GROUPS.items() if module in names), "experiments")


def _write_page(folder, module):
    path = folder / group_of(module) / f"{module}.rst"
    title = f"``ddr.{module}``"
    text = f"{title}\n{'=' * len(title)}\n\n.. automodule:: ddr.{module}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # Sphinx rereads new files
        path.write_text(text, encoding="utf-8")
    return path
