"""Pytest plugin: teach nbval tolerances, and refuse cells that were never run.

nbval compares outputs as text and passes a cell whose stored copy was never executed. With this
plugin a cell may state a tolerance in its metadata (see ``numbers``), and the report names
the number that moved and by how much. ``notebooks/conftest.py`` loads it.
"""

import copy
from collections import defaultdict

from nbval.plugin import IPyNbCell

from companion.notebook_kit.numbers import Tolerance, differences

_NUMBERED = ("stdout", "text/plain", "text/html", "text/markdown", "text/latex")


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
            tolerance = Tolerance.from_metadata(self.cell.metadata)
        except ValueError as error:
            self.raise_cell_error(str(error))
        if tolerance is None:
            return super().compare_outputs(test, ref, skip_compare)
        test = copy.deepcopy(test)
        report = reconcile(test, ref, tolerance)
        same = super().compare_outputs(test, ref, skip_compare)
        if report:  # in the place of nbval's text difference, which hides the size
            self.comparison_traceback = [*report, f"tolerance: {tolerance.reason}"]
        return same


def reconcile(test, ref, tolerance):
    """Replace new outputs that agree within the tolerance by the stored ones."""
    report = []
    new_slots, stored_slots = _text_slots(test), _text_slots(ref)
    for kind in new_slots.keys() & stored_slots.keys():
        for (new, key), (stored, stored_key) in zip(
            new_slots[kind], stored_slots[kind], strict=False
        ):
            found = differences(stored[stored_key], new[key], tolerance)
            report += [f"{kind}, {sentence}" for sentence in found]
            if not found:
                new[key] = stored[stored_key]
    return report


def _text_slots(outputs):
    """Group the places that hold printed text by what kind of text it is."""
    slots = defaultdict(list)
    for output in outputs:
        if output.output_type == "stream":
            slots[output.name].append((output, "text"))
        for kind in output.get("data", {}):
            slots[kind].append((output.data, kind))
    return {kind: found for kind, found in slots.items() if kind in _NUMBERED}


def pytest_itemcollected(item):
    """Let nbval's cells compare numbers: nbval offers no hook of its own for that."""
    if type(item) is IPyNbCell:
        item.__class__ = NumberAwareCell
