"""Tables that people read: paper beside ours, in words and letters, as Markdown or HTML.

Every table here is a DataFrame of text in which emphasis is written the Markdown way
(``**bold**``, ``*italic*``). :func:`markdown` and :func:`html` print it.
"""

import html as _html
import re

import numpy as np
import pandas as pd

from companion.evidence.printed import VERDICTS, compare, ledger
from companion.evidence.significance import typefaces

__all__ = ["beside", "html", "markdown", "mean_sd", "wide"]

_MARK = {"bold": "**", "italic": "*", "plain": ""}
# Signs, numbers and the few words between two of them, as in "+0.01 to +0.03" or "3 of 10".
_NUMERIC = re.compile(r"[\d\s.,±+−–%()*-]*\d(?:[\d\s.,±+−–%()*-]|e[+-]\d|to|of|\(R\d\))*")


def mean_sd(mean, sd, typeface="plain"):
    """Print a mean and its sd with the paper's four digits."""
    if np.isnan(mean):
        return "–"
    text = f"{mean:.4f}" if np.isnan(sd) else f"{mean:.4f} ± {sd:.4f}"
    return f"{_MARK[typeface]}{text}{_MARK[typeface]}"


def beside(results, experiment, protocol="matched"):
    """Paper beside ours, one row per printed value."""
    compared = compare(results, experiment, protocol)
    marks = typefaces(results, experiment, protocol)
    rows = [
        {
            ledger()["tables"][experiment]["case_name"]: cell.case,
            "Method": cell.method,
            "Paper": mean_sd(cell.paper_mean, cell.paper_sd, cell.paper_typeface),
            "Ours": mean_sd(cell.mean, cell.sd, marks.get((cell.case, cell.method), "plain")),
            "Runs": str(cell.n),
            "Δ": _signed(cell.delta),
            "95 % interval of Δ": _interval(cell),
            "Verdict": f"{cell.verdict}: {VERDICTS[cell.verdict]}",
        }
        for cell in compared.itertuples()
    ]
    return pd.DataFrame(rows)


def _signed(number):
    # A true minus sign: screen readers and line breaks treat the hyphen differently.
    return "–" if np.isnan(number) else f"{number:+.4f}".replace("-", "−")


def _interval(cell):
    if np.isnan(cell.low):
        return cell.note or "–"
    return f"{_signed(cell.low)} to {_signed(cell.high)}"


def wide(results, experiment, protocol="matched"):
    """Our table in the paper's layout: one row per case, one column per method."""
    compared = compare(results, experiment, protocol)
    marks = typefaces(results, experiment, protocol)
    table = ledger()["tables"][experiment]
    cells = {
        (c.case, c.method): mean_sd(c.mean, c.sd, marks.get((c.case, c.method), "plain"))
        + f" ({c.verdict})"
        for c in compared.itertuples()
    }
    return pd.DataFrame(
        [
            {table["case_name"]: case} | {m: cells[str(case), m] for m in table["columns"]}
            for case in table["rows"]
        ]
    )


def markdown(table):
    r"""Print a table of text as a Markdown pipe table."""
    lines = [list(table.columns), *table.astype(object).to_numpy().tolist()]
    text = ["| " + " | ".join(_pipe_safe(cell) for cell in line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * table.shape[1], *text[1:]]) + "\n"


def _pipe_safe(cell):
    return str(cell).replace("|", "\\|").replace("\n", " ")


def html(table, caption=""):
    """Print a table of text as HTML with header cells that carry their scope."""
    head = "".join(f'<th scope="col">{_inline(name)}</th>' for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{_inline(row[0])}</th>'
        + "".join(_data_cell(cell) for cell in row[1:])
        + "</tr>\n"
        for row in table.astype(object).to_numpy().tolist()
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
