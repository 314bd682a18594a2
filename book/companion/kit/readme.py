"""The numbers and the picture of the README, computed from the published runs."""

import re
from pathlib import Path

from companion.evidence import shifts
from companion.evidence.front import answer_list, verdicts
from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.scoreboard import gains_figure, gains_sentence
from companion.evidence.tables import markdown
from companion.evidence.verdicts import judge_all
from companion.kit.display import png
from companion.paths import ROOT
from companion.runs.results import published_results

PICTURE = Path("book/_static/findings.png")
START = "<!-- computed: `ddr-book readme` writes what is between these two lines -->"
END = "<!-- end of what is computed -->"
BLOCK = re.compile(re.escape(START) + r"\n.*?" + re.escape(END), re.DOTALL)


def block(results):
    """Compose what was found: a word a table, four answers and a picture."""
    judged = judge_all(results)
    replies = answer_list(results, judged).data
    alt = f"Dot plot of the gain of {METHOD} over {RIVAL} in each case, a panel for each table."
    return (
        f"{markdown(verdicts(judged))}\n{replies}\n\n![{alt}]({PICTURE.as_posix()})\n\n"
        f"{gains_sentence(results).data}\n"
    )


def shifts_block():
    """Compose what adapting gains and loses on shifts that nobody tuned for."""
    words, table = shifts.short()
    return f"{words}\n\n{markdown(table)}\nGains over no weights, in points of accuracy.\n"


def updated(text, results):
    """Put what is computed between the two pairs of markers."""
    texts = iter((block(results), shifts_block()))
    return BLOCK.sub(lambda _: f"{START}\n\n{next(texts).strip()}\n\n{END}", text)


def write(root=ROOT, results=None):
    """Write the block and the picture."""
    root, results = Path(root), published_results() if results is None else results
    readme, picture = root / "README.md", root / PICTURE
    text = updated(readme.read_text(encoding="utf-8"), results)
    readme.write_text(text, encoding="utf-8")
    picture.parent.mkdir(parents=True, exist_ok=True)
    # A palette is enough for a plot, and makes a file that changes with the runs small.
    picture.write_bytes(png(gains_figure(results), dpi=120, colors=64))
    return [readme, picture]
