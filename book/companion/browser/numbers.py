"""Compare two printed outputs number by number; nbval does it, and the page's own Python."""

import re
from html import escape
from itertools import count

_NUMBER = r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"
# Tags and style sheets of HTML are text: a number in them is never a result.
_SPLIT = re.compile(rf"(?P<markup><style.*?</style>|<[^>]*>)|(?P<number>{_NUMBER})", re.DOTALL)


def differences(reference, measured, tolerance):
    """Say where two outputs disagree."""
    stored_text, stored_numbers = take_apart(reference)
    new_text, new_numbers = take_apart(measured)
    if stored_text != new_text:
        return [_first_text_difference(stored_text, new_text)]
    pairs = zip(stored_numbers, new_numbers, strict=True)
    found = (_moved(i, old, new, tolerance) for i, (old, new) in enumerate(pairs, start=1))
    return [sentence for sentence in found if sentence]


def marked(stored, new, tolerance):
    """Write a new text as HTML with its moved numbers marked, and count these.

    The count is None where the words differ, so that no number has a partner.
    """
    if take_apart(stored)[0] != take_apart(new)[0]:
        return escape(new), None
    written, moved, at = [], 0, 0
    for old, found in zip(take_apart(stored)[1], _numbers(new), strict=True):
        text = escape(found["number"])
        if _moved(0, old, found["number"], tolerance):
            moved += 1
            text = f'<mark title="published: {escape(old)}">{text}</mark>'
        written += [escape(new[at : found.start()]), text]
        at = found.end()
    return "".join(written) + escape(new[at:]), moved


def take_apart(output):
    """Split into the text with each number replaced by ``#``, and the numbers as printed."""
    numbers = [found["number"] for found in _numbers(output)]
    text = _SPLIT.sub(lambda found: found["markup"] or "#", output)
    return re.sub(r"[ \t]+", " ", text), numbers


def _numbers(output):
    return [found for found in _SPLIT.finditer(output) if found["number"]]


def _moved(position, stored, new, tolerance):
    if stored == new:
        return None
    if stored.lstrip("-+−").isdigit() and new.lstrip("-+−").isdigit():
        return f"number {position}: integer {new}, stored {stored}"
    old_value, new_value = value_of(stored), value_of(new)
    delta = abs(new_value - old_value)
    allowed = tolerance.abs + tolerance.rel * abs(old_value)
    # Decimal literals are not exact in binary: a difference equal to the tolerance must pass.
    if delta <= allowed * (1 + 1e-9) + 1e-15 * abs(old_value):
        return None
    return f"number {position}: {new}, stored {stored}, Δ={delta:.3g} > {allowed:.3g}"


def value_of(text):
    """Read a number as it is printed, with a true minus sign or a hyphen."""
    return float(text.replace("−", "-"))


def _first_text_difference(stored, new):
    at = next(i for i in count() if stored[i : i + 1] != new[i : i + 1])
    clip = slice(max(0, at - 20), at + 30)
    return f"text differs (numbers shown as #): {new[clip]!r}, stored {stored[clip]!r}"
