"""Pieces of Markdown that several result pages share."""

from ddr.tables import markdown

__all__ = ["captioned", "counted", "numbered", "points", "unbroken"]


def captioned(table, caption, name, kind=None):
    """Print a table of text as a numbered table of the book.

    Parameters
    ----------
    table : pandas.DataFrame
    caption : str
    name : str
        The label by which other pages refer to it.
    kind : {"worded", "numeric"}, optional
        On a narrow page the second column of a worded table gets room for its sentences, and all
        but the first of a numeric one stay unbroken.

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
    return numbered(markdown(table), caption, name, kind)


def numbered(rows, caption, name, kind=None):
    r"""Give a Markdown table a caption, a number and a label.

    Parameters
    ----------
    rows : str
        The pipe table, ending in a newline.
    caption : str
    name : str
        The label by which other pages refer to it.
    kind : {"worded", "numeric"}, optional
        On a narrow page the second column of a worded table gets room for its sentences, and all
        but the first of a numeric one stay unbroken.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> numbered("| n |\n|---|\n| 1 |\n", "One number", "one").splitlines()[:2]
    ['```{table} One number', ':name: one']
    """
    classes = f"results {kind}" if kind else "results"
    return f"```{{table}} {caption}\n:name: {name}\n:class: {classes}\n\n{rows}```"


def counted(number, singular, plural):
    """Print a count with the form of the word that belongs to it.

    Parameters
    ----------
    number : int
    singular, plural : str

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "case", "cases"), counted(2, "case", "cases")
    ('1 case', '2 cases')
    """
    return f"{number} {singular if number == 1 else plural}"


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
