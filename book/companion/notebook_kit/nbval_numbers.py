"""Pytest plugin: teach nbval tolerances, and refuse cells that were never run.

nbval compares outputs as text and passes a cell whose stored copy was never executed. With this
plugin a cell may state in its metadata how far decimals may move, and the report names the number
that moved and by how much. Other text, and integers, which are counts or labels, must be equal. Of
pictures the size is compared and not the pixels: those change with the fonts of a machine.
``notebooks/conftest.py`` loads it.
"""

import base64
import copy
import math
import re
import struct
from collections import defaultdict
from dataclasses import dataclass

from nbval.plugin import IPyNbCell

_NUMBERED = ("stdout", "text/plain", "text/html", "text/markdown", "text/latex")
#: A tolerance of half a number and more would let it change its meaning.
LARGEST_SHARE = 0.5
_NUMBER = r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"
# Tags and style sheets of HTML are text: a number in them is never a result.
_SPLIT = re.compile(rf"(?P<markup><style.*?</style>|<[^>]*>)|(?P<number>{_NUMBER})", re.DOTALL)


@dataclass(frozen=True)
class Tolerance:
    """How far a printed decimal number may move, and why.

    A measured value agrees with the reference r if it lies within ``abs + rel * |r|``.
    """

    abs: float
    rel: float
    reason: str

    @classmethod
    def from_metadata(cls, metadata):
        """Read a cell's tolerance from its metadata."""
        given = metadata.get("ddr", {}).get("tolerance")
        if given is None:
            return None
        if not str(given.get("reason", "")).strip():
            raise ValueError(f"tolerance needs a reason, got {dict(given)}")
        sizes = {key: given[key] for key in given if key != "reason"}
        if (
            not sizes
            or not sizes.keys() <= {"abs", "rel"}
            or not all(map(_is_size, sizes.values()))
        ):
            raise ValueError(
                f"tolerance needs abs, rel or both, finite and not negative; got {dict(given)}"
            )
        tolerance = cls(float(sizes.get("abs", 0)), float(sizes.get("rel", 0)), given["reason"])
        if tolerance.rel >= LARGEST_SHARE:
            raise ValueError(f"tolerance needs rel below {LARGEST_SHARE}, got {tolerance.rel:g}")
        return tolerance

    def refuse_absurd(self, outputs):
        """Refuse an absolute tolerance that no number of the stored outputs could fail."""
        texts = [place[key] for found in _text_slots(outputs).values() for place, key in found]
        printed = [number for text in texts for number in take_apart(text)[1]]
        largest = max((abs(value_of(number)) for number in printed), default=None)
        if largest is not None and self.abs > LARGEST_SHARE * largest:
            raise ValueError(
                f"tolerance needs abs of at most {LARGEST_SHARE:g} of the largest number "
                f"stored, {largest:g}; got {self.abs:g}"
            )

    def allows(self, reference):
        """Return the largest difference allowed from the number `reference`."""
        return self.abs + self.rel * abs(reference)


def _is_size(value):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


def differences(reference, measured, tolerance):
    """Say where two outputs disagree."""
    stored_text, stored_numbers = take_apart(reference)
    new_text, new_numbers = take_apart(measured)
    if stored_text != new_text:
        return [_first_text_difference(stored_text, new_text)]
    pairs = zip(stored_numbers, new_numbers, strict=True)
    found = (_moved(i, old, new, tolerance) for i, (old, new) in enumerate(pairs, start=1))
    return [sentence for sentence in found if sentence]


def take_apart(output):
    """Split into the text with each number replaced by ``#``, and the numbers as printed."""
    numbers = []

    def replace(match):
        if match["number"] is None:
            return match["markup"]
        numbers.append(match["number"])
        return "#"

    text = _SPLIT.sub(replace, output)
    return re.sub(r"[ \t]+", " ", text), numbers


def _moved(position, stored, new, tolerance):
    if stored == new:
        return None
    if stored.lstrip("-+−").isdigit() and new.lstrip("-+−").isdigit():
        return f"number {position}: integer {new}, stored {stored}"
    old_value, new_value = value_of(stored), value_of(new)
    delta, allowed = abs(new_value - old_value), tolerance.allows(old_value)
    # Decimal literals are not exact in binary: a difference equal to the tolerance must pass.
    if delta <= allowed * (1 + 1e-9) + 1e-15 * abs(old_value):
        return None
    return f"number {position}: {new}, stored {stored}, Δ={delta:.3g} > {allowed:.3g}"


def value_of(text):
    """Read a number as it is printed, with a true minus sign or a hyphen."""
    return float(text.replace("−", "-"))


def _first_text_difference(stored, new):
    at = next((i for i, (a, b) in enumerate(zip(stored, new, strict=False)) if a != b), None)
    at = min(len(stored), len(new)) if at is None else at
    clip = slice(max(0, at - 20), at + 30)
    return f"text differs (numbers shown as #): {new[clip]!r}, stored {stored[clip]!r}"


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
            if tolerance:
                tolerance.refuse_absurd(ref)
        except ValueError as error:
            self.raise_cell_error(str(error))
        report = []
        if tolerance:
            test = copy.deepcopy(test)
            report = reconcile(test, ref, tolerance)
            report += [f"tolerance: {tolerance.reason}"] * bool(report)
        resized = _resized_pictures(test, ref)
        same = super().compare_outputs(test, ref, skip_compare) and not resized
        if report + resized:  # in the place of nbval's text difference, which hides the size
            self.comparison_traceback = report + resized
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
    return {kind: found for kind, found in _slots(outputs).items() if kind in _NUMBERED}


def _slots(outputs):
    slots = defaultdict(list)
    for output in outputs:
        if output.output_type == "stream":
            slots[output.name].append((output, "text"))
        for kind in output.get("data", {}):
            slots[kind].append((output.data, kind))
    return slots


def _resized_pictures(test, ref):
    new, stored = (_slots(outputs)["image/png"] for outputs in (test, ref))
    sizes = [[_png_size(place[key]) for place, key in found] for found in (new, stored)]
    pairs = enumerate(zip(*sizes, strict=False), start=1)
    return [
        f"picture {i}: {new} pixels, stored {stored}" for i, (new, stored) in pairs if new != stored
    ]


def _png_size(encoded):
    """Width x height from the head of a PNG file; its first chunk always holds them."""
    head = base64.b64decode(encoded)[16:24]
    return "{} x {}".format(*struct.unpack(">II", head)) if len(head) == 8 else "no"


def pytest_itemcollected(item):
    """Let nbval's cells compare numbers: nbval offers no hook of its own for that."""
    if type(item) is IPyNbCell:
        item.__class__ = NumberAwareCell
