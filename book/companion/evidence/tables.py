"""Tables that people read, as Markdown for pages and as HTML for notebooks.

A table is a DataFrame of text in which emphasis is written the Markdown way (``**bold**``,
``*italic*``).
"""

import html as _html
import re

import numpy as np
from tabulate import tabulate

_MARK = {"bold": "**", "italic": "*", "plain": ""}
# Signs, numbers and the few words between two of them, as in "+0.01 to +0.03" or "3 of 10".
_NUMERIC = re.compile(
    r"[\d\s.,±+−–%()*-]*\d(?:[\d\s.,±+−–%()*-]|e[+-]\d|to|of|\((agrees|near|differs)\))*"
)


def points(number):
    """Print a difference in points of accuracy with its sign."""
    # Rounded first, so that binary noise decides neither the last digit nor the sign of zero;
    # a true minus sign, as in every table of the book.
    shown = round(round(float(number), 6), 2) + 0.0
    return "–" if np.isnan(shown) else f"{shown:+.2f}".replace("-", "−")


def with_interval(mean, low, high):
    """Print a gain with its interval; a narrow column may break only between the two."""
    if np.isnan(low):
        return points(mean)
    return f"{points(mean)} {unbroken(f'({points(low)} to {points(high)})')}"


def mean_sd(mean, sd, typeface="plain"):
    """Print a mean and its sd with the paper's four digits."""
    if np.isnan(mean):
        return "–"
    text = f"{mean:.4f}" if np.isnan(sd) else f"{mean:.4f} ± {sd:.4f}"
    return f"{_MARK[typeface]}{text}{_MARK[typeface]}"


def tally(found, *names):
    """Print how often each of some marks was given."""
    return ", ".join(str((found == name).sum()) for name in names)


def unbroken(text):
    """Keep a cell on one line, so that a narrow page scrolls the table and breaks no number."""
    return str(text).replace(" ", "\u00a0")


def markdown(table):
    """Print a table of text as a Markdown pipe table."""
    rows = [table.columns, *table.astype(object).to_numpy()]
    safe = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    text = tabulate(safe, headers="firstrow", disable_numparse=True, tablefmt="github")
    # Unpadded, so that a longer cell changes its own line of a file and no other.
    return re.sub(r"-{4,}", "---", re.sub(r" {2,}", " ", text)) + "\n"


def captioned(table, caption, name, kind=None):
    """Print a table of text as a numbered table of the book."""
    classes = f"results {kind}" if kind else "results"
    return f"```{{table}} {caption}\n:name: {name}\n:class: {classes}\n\n{markdown(table)}```"


def rubric(title, name):
    """Head a part of a cell's output, which may hold no section of the page."""
    return f"```{{rubric}} {title}\n:name: {name}\n:heading-level: 3\n```\n\n"


def html(table, caption=""):
    """Print a table of text as HTML with header cells that carry their scope."""
    head = "".join(f'<th scope="col">{_inline(name)}</th>' for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{_inline(first)}</th>{"".join(map(_data_cell, others))}</tr>\n'
        for first, *others in table.astype(object).to_numpy().tolist()
    )
    title = f"<caption>{_inline(caption)}</caption>\n" if caption else ""
    return (
        f'<table class="dataframe">\n{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>\n"
    )


def _data_cell(cell):
    style = ' style="white-space: nowrap"' if _NUMERIC.fullmatch(str(cell)) else ""
    return f"<td{style}>{_inline(cell)}</td>"


def _inline(cell):
    text = _html.escape(str(cell))
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
