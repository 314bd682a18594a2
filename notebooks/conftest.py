"""``pytest --nbval notebooks`` compares numbers with the tolerance that a cell declares."""

from ddr.nbval_plugin import pytest_itemcollected  # noqa: F401
