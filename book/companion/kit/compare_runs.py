"""Set the numbers of a rerun beside those of the published run, output by output."""

from typing import NamedTuple

from bs4 import BeautifulSoup

from companion.browser.numbers import take_apart, value_of


class Pair(NamedTuple):
    """One number that both runs print: what it is, and the two values as printed."""

    what: str
    published: str
    rerun: str


def compare_runs(published, rerun):
    """Pair the numbers of two executed notebooks; also count those that only one of them has."""
    pairs, alone = [], 0
    for ours, theirs in zip(_code(published), _code(rerun), strict=False):
        first, second = _numbers(ours), _numbers(theirs)
        for what in [key for key in first if key in second]:
            both = zip(first[what], second[what], strict=False)
            pairs += [Pair(what, old, new) for old, new in both]
        alone += sum(len((first | second)[what]) for what in first.keys() ^ second.keys())
    return pairs, alone


def equal(pair):
    """Whether both runs print the same value."""
    return value_of(pair.published) == value_of(pair.rerun)


def _code(notebook):
    injected = "injected-parameters"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if injected not in cell.metadata.get("tags", [])]


def _numbers(cell):
    """The numbers of a cell's outputs, by the words that stand with them."""
    found = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            for line in output.text.splitlines():
                words, numbers = take_apart(line)
                found.setdefault(words.strip(), []).extend(numbers)
        page = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
        for table in page("table"):
            _add_table(table, found)
    return {words: numbers for words, numbers in found.items() if numbers}


def _add_table(table, found):
    caption = table.caption.get_text(" ", strip=True).split(":")[0] if table.caption else "table"
    rows = [[cell.get_text(" ", strip=True) for cell in row(["th", "td"])] for row in table("tr")]
    heads = rows[0] if rows else []
    for row in rows[1:]:
        for head, text in zip(heads[1:], row[1:], strict=False):
            # Two methods of one case are two rows: the words of the second cell tell them apart.
            label = row[0] if take_apart(row[1])[1] else f"{row[0]}, {row[1]}"
            found.setdefault(f"{caption} › {label} › {head}", []).extend(take_apart(text)[1])
