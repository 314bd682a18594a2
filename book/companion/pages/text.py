"""Pieces of Markdown that several result pages share."""

from companion.evidence.tables import markdown

__all__ = ["captioned", "counted", "numbered", "points", "unbroken"]


def captioned(table, caption, name, kind=None):
    """Print a table of text as a numbered table of the book."""
    return numbered(markdown(table), caption, name, kind)


def numbered(rows, caption, name, kind=None):
    r"""Give a Markdown table a caption, a number and a label."""
    classes = f"results {kind}" if kind else "results"
    return f"```{{table}} {caption}\n:name: {name}\n:class: {classes}\n\n{rows}```"


def counted(number, singular, plural):
    """Print a count with the form of the word that belongs to it."""
    return f"{number} {singular if number == 1 else plural}"


def points(number):
    """Print a difference in points of accuracy with its sign."""
    # Rounded first, so that binary noise decides neither the last digit nor the sign of zero;
    # a true minus sign, as in every table of the book.
    return f"{round(number, 6) + 0.0:+.2f}".replace("-", "−")


def unbroken(text):
    """Keep a cell on one line, so that a narrow page scrolls the table and breaks no number."""
    return text.replace(" ", "\u00a0")
