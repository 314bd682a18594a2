"""What the notebooks display: answers, pictures, tables, claims, versions.

Each function returns an object that Jupyter shows as the last value of a cell. Nothing in it
changes from run to run as long as the numbers do not.
"""

import io
import platform
from html import escape
from importlib.metadata import version

import numpy as np
import pandas as pd
from IPython.display import HTML, Image

from companion.evidence.claims import evaluate_claims
from companion.evidence.tables import html

# The book's own rule for tables aligns numbers; prose reads better from the left.
_LEFT = (
    "<style>div.ddr-left table.dataframe th, div.ddr-left table.dataframe td, "
    "div.cell_output div.ddr-left table.dataframe th, "
    "div.cell_output div.ddr-left table.dataframe td {text-align: left}</style>\n"
)
_CLAIMS = {
    "name": "Claim",
    "protocol": "Runs",
    "verdict": "Verdict",
    "found": "Found",
    "claimed": "Claimed",
    "replication": "Expected of an exact replication",
    "evidence": "Evidence",
}
_PACKAGES = ("ddr-companion", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def png(figure, dpi=150, colors=None):
    """Print a figure into the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    if colors is None:
        return buffer.getvalue()
    from PIL import Image as Pillow

    small = io.BytesIO()
    Pillow.open(buffer).convert("RGB").quantize(colors).save(small, format="png", optimize=True)
    return small.getvalue()


def picture(figure, dpi=150):
    """Show a figure, whatever backend matplotlib is set to."""
    return Image(data=png(figure, dpi), format="png")


def answer(lines):
    """Show the short answer to a notebook's question, in a box of the book's style."""
    items = "".join(f"<li>{escape(line, quote=False)}</li>\n" for line in lines)
    items = items.replace(" %", "\u00a0%")  # no line begins with a sign
    title = '<p class="admonition-title">The answer, from the published runs</p>'
    return HTML(f'<div class="admonition important">\n{title}\n<ul>\n{items}</ul>\n</div>')


def table(frame, caption, decimals=".4f", align="right"):
    """Show a table of text or numbers that scrolls by keyboard where the page is narrow."""
    text = frame.map(_printed, decimals=decimals)
    named = f'tabindex="0" role="region" aria-label="{escape(caption)}" class="ddr-{align}"'
    style = _LEFT if align == "left" else ""
    return HTML(f"<div {named}>\n{style}{html(text, caption)}</div>")


def _printed(value, decimals):
    if not isinstance(value, float):
        return value
    return "–" if np.isnan(value) else format(value, decimals).replace("-", "−")


def claims_table(ids, results, protocols):
    """Show the verdict on some of the paper's claims, with its evidence."""
    found = evaluate_claims(results, live=False, ids=ids)
    found["verdict"] = "**" + found["verdict"] + "**"
    shown = found[found["protocol"].isin(protocols)].rename(columns=_CLAIMS)
    return table(shown[[*_CLAIMS.values()]], "Verdicts with their evidence", align="left")


def run_count(rows):
    """Say how many runs a case of these rows has: what a caption tells must be what is there."""
    counts = rows.groupby("case")["seed"].nunique()
    low, high = counts.min(), counts.max()
    return f"{high} run{'' if high == 1 else 's'}" if low == high else f"{low} to {high} runs"


def versions():
    """Show what the page was computed with."""
    rows = [{"Part": "Python", "Version": platform.python_version()}]
    rows += [{"Part": name, "Version": version(name)} for name in _PACKAGES]
    return table(pd.DataFrame(rows), "Versions with which this page was computed", align="left")
