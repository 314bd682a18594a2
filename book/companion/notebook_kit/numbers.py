"""Compare two printed outputs number by number.

Text must be equal; decimal numbers may differ by a stated tolerance. Integers are counts or labels
and must be equal too.
"""

import re
from dataclasses import dataclass

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
            raise ValueError(f"tolerance needs abs, rel or both, non-negative; got {dict(given)}")
        return cls(float(sizes.get("abs", 0)), float(sizes.get("rel", 0)), given["reason"])

    def allows(self, reference):
        """Return the largest difference allowed from the number `reference`."""
        return self.abs + self.rel * abs(reference)


def _is_size(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def differences(reference, measured, tolerance):
    """Say where two outputs disagree."""
    stored_text, stored_numbers = _take_apart(reference)
    new_text, new_numbers = _take_apart(measured)
    if stored_text != new_text:
        return [_first_text_difference(stored_text, new_text)]
    pairs = zip(stored_numbers, new_numbers, strict=True)
    found = (_moved(i, old, new, tolerance) for i, (old, new) in enumerate(pairs, start=1))
    return [sentence for sentence in found if sentence]


def _take_apart(output):
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
    old_value, new_value = (float(text.replace("−", "-")) for text in (stored, new))
    delta, allowed = abs(new_value - old_value), tolerance.allows(old_value)
    # Decimal literals are not exact in binary: a difference equal to the tolerance must pass.
    if delta <= allowed * (1 + 1e-9) + 1e-15 * abs(old_value):
        return None
    return f"number {position}: {new}, stored {stored}, Δ={delta:.3g} > {allowed:.3g}"


def _first_text_difference(stored, new):
    at = next((i for i, (a, b) in enumerate(zip(stored, new, strict=False)) if a != b), None)
    at = min(len(stored), len(new)) if at is None else at
    clip = slice(max(0, at - 20), at + 30)
    return f"text differs (numbers shown as #): {new[clip]!r}, stored {stored[clip]!r}"
