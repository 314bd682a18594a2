"""The numbers and the picture of the README, written by ``ddr-book readme``.

The block between the two markers of ``README.md`` and the picture beside it are computed from the
published runs; ``--check`` says whether they still are what the runs give. Heavy imports stay
inside the functions, since every ``--help`` imports this module.
"""

import re
from pathlib import Path

from companion.paths import ROOT

__all__ = ["add_readme_command", "block", "current", "stale", "with_block", "write"]


PICTURE = Path("book/_static/findings.png")
START = "<!-- computed: `ddr-book readme` writes what is between these two lines -->"
END = "<!-- end of what is computed -->"
#: The verdicts on a claim, best first.
_ORDER = ("holds", "holds in part", "does not hold", "not tested")
_BLOCK = re.compile(re.escape(START) + r"\n.*?" + re.escape(END), re.DOTALL)


def add_readme_command(groups):
    """Add ``readme`` to the command line."""
    parser = groups.add_parser(
        "readme",
        help="write the README's numbers and picture from the published runs",
        description="Write the README's numbers and picture from the published runs.",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if they are not current"
    )
    parser.set_defaults(run=_readme_command)


def _readme_command(arguments):
    if not arguments.check:
        for path in write():
            print(path)
        return 0
    reasons = stale()
    for reason in reasons:
        print(reason)
    print("not current: run `ddr-book readme`" if reasons else "current")
    return 1 if reasons else 0


def block(results=None):
    """Compose what was found: a paragraph, a table, a picture, and the counts of the claims."""
    from companion.evidence.claims import evaluate_claims
    from companion.evidence.tables import markdown
    from companion.pages.landing import figure_alt, headline_table, legend, reading
    from companion.runs.results import published_results

    results = published_results() if results is None else results
    return (
        f"{reading(results)}\n\n{markdown(headline_table(results))}\n"
        f"{legend()}\n\n"
        f"![{figure_alt(results)}]({PICTURE.as_posix()})\n\n"
        f"{_claims_sentence(evaluate_claims(results))}\n"
    )


def _claims_sentence(evaluation):
    words = evaluation["verdict"].str.split(":").str[0]
    parts = []
    for protocol, verdicts in words.groupby(evaluation["protocol"], sort=False):
        counts = verdicts.value_counts()
        shown = ", ".join(f"{v} {counts[v]}" for v in _ORDER if v in counts)
        parts.append(f"- {protocol}: {shown}")
    return (
        f"The paper's {evaluation['id'].nunique()} claims, each checked on the runs that can tell "
        "(*live* means a small computation that needs no stored run):\n\n" + "\n".join(parts)
    )


def with_block(text, new):
    r"""Put a new block between the markers."""
    if len(_BLOCK.findall(text)) != 1:
        raise ValueError(f"README.md must have the line {START!r} and, below it, {END!r}, once")
    return _BLOCK.sub(lambda _: f"{START}\n\n{new.strip()}\n\n{END}", text)


def write(root=ROOT, results=None):
    """Write the block and the picture."""
    from companion.runs.results import published_results

    root = Path(root)
    results = published_results() if results is None else results
    readme, picture = root / "README.md", root / PICTURE
    readme.write_text(
        with_block(readme.read_text(encoding="utf-8"), block(results)), encoding="utf-8"
    )
    if _drawn_from(picture) != _digest(results):
        _draw(results, picture)
    return [readme, picture]


def current(text, results=None):
    """Tell whether a README has the block that the runs give."""
    return with_block(text, block(results)) == text


def stale(root=ROOT, results=None):
    """Say what in the README is not what the runs give."""
    from companion.runs.results import published_results

    root = Path(root)
    results = published_results() if results is None else results
    reasons = []
    if not current((root / "README.md").read_text(encoding="utf-8"), results):
        reasons.append("the numbers in README.md are not those of the published runs")
    if _drawn_from(root / PICTURE) != _digest(results):
        reasons.append(f"{PICTURE.as_posix()} was not drawn from the published runs")
    return reasons


def _digest(results):
    """Identify the numbers in the picture: pixels differ between versions of matplotlib."""
    import hashlib

    from companion.pages.landing import case_gains
    from companion.pages.stored import PROTOCOLS

    text = "".join(case_gains(results, p).round(6).to_csv(index=False) for p in PROTOCOLS)
    return hashlib.sha256(text.encode()).hexdigest()


def _draw(results, path):
    import io

    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    from companion.pages.landing import gains_figure

    buffer = io.BytesIO()
    gains_figure(results, columns=2).savefig(buffer, format="png", dpi=120)
    about = PngInfo()
    about.add_text("Source", _digest(results))
    path.parent.mkdir(parents=True, exist_ok=True)
    # A palette is enough for a plot, and makes a file that changes with the runs small.
    small = Image.open(buffer).convert("RGB").quantize(64)
    small.save(path, format="png", optimize=True, pnginfo=about)


def _drawn_from(path):
    if not path.exists():
        return None
    from PIL import Image

    with Image.open(path) as picture:
        return picture.info.get("Source")
