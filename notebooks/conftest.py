"""``pytest --nbval notebooks`` compares numbers with the tolerance that a cell declares."""

from companion.kit.nbval_numbers import pytest_itemcollected  # noqa: F401
