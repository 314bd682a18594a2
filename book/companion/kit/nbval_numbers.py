"""Pytest plugin: teach nbval tolerances, and refuse cells that were never run.

nbval compares outputs as text and passes a cell whose stored copy was never executed. Here it
compares as ``tolerances`` says. ``notebooks/conftest.py`` loads it.
"""

from nbval.plugin import IPyNbCell

from companion.kit.tolerances import compared


class NumberAwareCell(IPyNbCell):
    """A notebook cell whose outputs are compared number by number where it asks for that."""

    def runtest(self):
        """Run the cell and compare, unless there is nothing stored to compare with."""
        if self.cell.execution_count is None and self.cell.source.strip():
            self.raise_cell_error("The stored cell was never run: execute the notebook first")
        super().runtest()

    def compare_outputs(self, test, ref, skip_compare=None):
        """Compare as nbval does, after numbers within their tolerance were made equal."""
        try:
            test, report = compared(test, ref, self.cell)
        except ValueError as error:
            self.raise_cell_error(str(error))
        same = super().compare_outputs(test, ref, skip_compare) and not report
        if report:  # in the place of nbval's text difference, which hides the size
            self.comparison_traceback = report
        return same


def pytest_itemcollected(item):
    """Let nbval's cells compare numbers: nbval offers no hook of its own for that."""
    if type(item) is IPyNbCell:
        item.__class__ = NumberAwareCell
