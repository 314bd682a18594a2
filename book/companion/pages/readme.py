"""The numbers and the picture of the README, computed from the published runs."""

import hashlib
import io
import re
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from companion.evidence import shifts
from companion.evidence.gains import RIVAL
from companion.evidence.tables import markdown
from companion.evidence.universes import deciding_choices
from companion.figures.gains import gains_of_all_cases
from companion.pages import gather
from companion.pages.headline import claims_sentence, figure_alt
from companion.pages.landing import answers, status_lines
from companion.paths import ROOT

PICTURE = Path("book/_static/findings.png")
START = "<!-- computed: `ddr-book readme` writes what is between these two lines -->"
END = "<!-- end of what is computed -->"
BLOCK = re.compile(re.escape(START) + r"\n.*?" + re.escape(END), re.DOTALL)


def block(evidence):
    """Compose what was found: a line a table, three answers, a picture, and the claims."""
    asked = answers(evidence, deciding_choices(evidence.results))
    replies = "\n".join(f"- **{question}** {answer}" for question, answer in asked.items())
    return (
        f"{status_lines(evidence)}\n\n{replies}\n\n"
        f"![{figure_alt(evidence)}]({PICTURE.as_posix()})\n\n{claims_sentence(evidence)}\n"
    )


def shifts_block():
    """Compose what adapting gains and loses on shifts that nobody tuned for."""
    words, table = shifts.short()
    return f"{words}\n\n{markdown(table)}\nGains over no weights, in points of accuracy.\n"


def updated(text, evidence):
    """Put what is computed between the two pairs of markers."""
    texts = iter((block(evidence), shifts_block()))
    return BLOCK.sub(lambda _: f"{START}\n\n{next(texts).strip()}\n\n{END}", text)


def write(root=ROOT, evidence=None):
    """Write the block and the picture."""
    root, evidence = Path(root), evidence or gather()
    readme, picture = root / "README.md", root / PICTURE
    text = updated(readme.read_text(encoding="utf-8"), evidence)
    readme.write_text(text, encoding="utf-8")
    if _drawn_from(picture) != _digest(evidence):
        _draw(evidence, picture)
    return [readme, picture]


def stale(root=ROOT, evidence=None):
    """Say what in the README is not what the runs give."""
    root, evidence = Path(root), evidence or gather()
    text, reasons = (root / "README.md").read_text(encoding="utf-8"), []
    if updated(text, evidence) != text:
        reasons.append("the numbers in README.md are not those of the published runs")
    if _drawn_from(root / PICTURE) != _digest(evidence):
        reasons.append(f"{PICTURE.as_posix()} was not drawn from the published runs")
    return reasons


def _digest(evidence):
    """Identify the numbers in the picture: pixels differ between versions of matplotlib."""
    columns = ["case", "gain", "low", "high", "printed", "n"]
    tables = [table[columns] for key, table in evidence.gains.items() if key[2] == RIVAL]
    text = "".join(table.round(6).to_csv(index=False) for table in tables)
    return hashlib.sha256(text.encode()).hexdigest()


def _draw(evidence, path):
    buffer = io.BytesIO()
    gains_of_all_cases(evidence.gains, columns=2).savefig(buffer, format="png", dpi=120)
    about = PngInfo()
    about.add_text("Source", _digest(evidence))
    path.parent.mkdir(parents=True, exist_ok=True)
    # A palette is enough for a plot, and makes a file that changes with the runs small.
    small = Image.open(buffer).convert("RGB").quantize(64)
    small.save(path, format="png", optimize=True, pnginfo=about)


def _drawn_from(path):
    if not path.exists():
        return None
    with Image.open(path) as picture:
        return picture.info.get("Source")
