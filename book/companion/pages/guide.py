"""What the snippets of the first page and the user guide print and draw, each page run in turn."""

import re
import warnings
from contextlib import redirect_stdout
from io import StringIO

from matplotlib.figure import Figure

from companion.paths import BOOK

GUIDE = BOOK / "use"
SHOWN = (BOOK / "intro.md", *sorted(GUIDE.glob("*.md")))
_SNIPPET = re.compile(r"```\{code-block\} python\n(.*?)```", re.DOTALL)


def run(page):
    """Yield the number, the output and the names of each snippet of a page, in their order."""
    names = {"__name__": page.stem}
    snippets = _SNIPPET.findall(page.read_text(encoding="utf-8"))
    for number, code in enumerate(snippets, start=1):
        said = StringIO()
        with redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("error")  # a page shows what it warns of, or does not warn
            exec(compile(code, f"{page.name}, snippet {number}", "exec"), names)
        yield number, said.getvalue(), names


def files(evidence):
    """Give the output of every snippet, and the figure where one is left under that name."""
    found = {}
    for page in SHOWN:
        for number, said, names in run(page):
            stem = f"use_{page.stem}_{number}"
            text = f"```{{code-block}} text\n:class: output\n\n{said.rstrip()}\n```" if said else ""
            found[f"{stem}.md"] = text
            if isinstance(figure := names.pop("figure", None), Figure):
                found[f"{stem}.png"] = figure
    return found
