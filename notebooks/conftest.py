"""``pytest --nbval notebooks`` compares numbers with the tolerance that a cell declares."""

from companion.notebook_kit.nbval_numbers import pytest_itemcollected  # noqa: F401
