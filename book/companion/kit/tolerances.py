"""How two executions of a cell are compared, whatever runs them.

A cell may state in its metadata how far decimals may move; integers, which are counts or labels,
and other text must be equal. Pictures are not compared: their pixels change with the fonts of a
machine. Nothing here knows nbval, which ``nbval_numbers`` joins to it.
"""

import copy
import math
from collections import defaultdict
from dataclasses import dataclass

from companion.browser.numbers import differences, take_apart, value_of

_NUMBERED = ("stdout", "text/plain", "text/html", "text/markdown", "text/latex")
#: A tolerance of half a number and more would let it change its meaning.
LARGEST_SHARE = 0.5


@dataclass(frozen=True)
class Tolerance:
    """How far a printed decimal number r may move, ``abs + rel * |r|``, and why."""

    abs: float = 0.0
    rel: float = 0.0
    reason: str = ""

    @classmethod
    def of(cls, cell):
        """Read a cell's tolerance from its metadata; refuse one that no stored number can fail."""
        given = cell.metadata.get("ddr", {}).get("tolerance")
        if given is None:
            return None
        slots = _slots(cell.outputs)
        texts = [place[key] for kind in _NUMBERED for place, key in slots[kind]]
        printed = [value_of(number) for text in texts for number in take_apart(text)[1]]
        most = {"rel": 1, "abs": max(map(abs, printed), default=math.inf)}
        sizes = {key: value for key, value in given.items() if key != "reason"}
        if not (str(given.get("reason", "")).strip() and sizes) or not all(
            key in most
            and type(size) in (int, float)
            and 0 <= size < math.inf
            and size <= LARGEST_SHARE * most[key]
            for key, size in sizes.items()
        ):
            raise ValueError(
                f"tolerance needs a reason and rel of at most {LARGEST_SHARE:g}, abs of at most "
                f"that share of the largest number stored, or both; got {dict(given)}"
            )
        return cls(**given)


def compared(new, stored, cell):
    """Give new outputs, those within the cell's tolerance replaced by the stored, and a report.

    A tool that compares text can compare what is given with ``stored``. The report names each
    number that moved too far.
    """
    tolerance, new, report = Tolerance.of(cell), copy.deepcopy(new), []
    if tolerance is None:
        return new, report
    new_slots, stored_slots = _slots(new), _slots(stored)
    for kind in _NUMBERED:
        for (now, key), (then, _) in zip(new_slots[kind], stored_slots[kind], strict=False):
            found = differences(then[key], now[key], tolerance)
            report += [f"{kind}, {sentence}" for sentence in found]
            if not found:
                now[key] = then[key]
    return new, [*report, f"tolerance: {tolerance.reason}"] if report else []


def _slots(outputs):
    """Group the places that hold an output, as container and key, by what kind of output it is."""
    slots = defaultdict(list)
    for output in outputs:
        if output.output_type == "stream":
            slots[output.name].append((output, "text"))
        for kind in output.get("data", {}):
            slots[kind].append((output.data, kind))
    return slots
