"""Pieces of Markdown that several result pages share."""

from ddr.tables import markdown

__all__ = ["captioned", "points", "unbroken"]


def captioned(table, caption, name, worded=False):
    """Print a table of text as a numbered table of the book.

    Parameters
    ----------
    table : pandas.DataFrame
    caption : str
    name : str
        The label by which other pages refer to it.
    worded : bool, default=False
        Whether the second column holds sentences, which then get room on a narrow page.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> import pandas as pd
    >>> print(captioned(pd.DataFrame({"n": [1]}), "One number", "one"))
    ```{table} One number
    :name: one
    :class: results
    <BLANKLINE>
    | n |
    |---|
    | 1 |
    ```
    """
    classes = "results worded" if worded else "results"
    return f"```{{table}} {caption}\n:name: {name}\n:class: {classes}\n\n{markdown(table)}```"


def points(number):
    """Print a difference in points of accuracy with its sign.

    Parameters
    ----------
    number : float

    Returns
    -------
    str

    Examples
    --------
    >>> points(0.714), points(-1.2), points(-1e-12)
    ('+0.71', '−1.20', '+0.00')
    """
    # Rounded first, so that binary noise decides neither the last digit nor the sign of zero;
    # a true minus sign, as in every table of the book.
    return f"{round(number, 6) + 0.0:+.2f}".replace("-", "−")


def unbroken(text):
    """Keep a cell on one line, so that a narrow page scrolls the table and breaks no number.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> len(unbroken("0.97 ± 0.01").split("\u00a0"))
    3
    """
    return text.replace(" ", "\u00a0")
