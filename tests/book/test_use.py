"""What the cells of the first page and the *Use* pages print, number by number."""

import os

import pytest
from bs4 import BeautifulSoup
from companion.browser.numbers import differences
from companion.kit.build import SITE
from companion.kit.tolerances import Tolerance

PAGES = ("intro", *(f"use/{name}" for name in ("choose", "is_it_shifted", "read_the_result")))
PAGES += ("use/label_twenty_rows", "use/scale_and_pitfalls", "use/should_i_use_it")
#: Printed to three digits, of which a near-tie may move the last between BLAS kernels.
ABOUT = Tolerance(abs=0.005, rel=0.01)


def printed(root, page):
    """The text that the cells of a built page print."""
    path = root / SITE / "book" / f"{page}.html"
    if not path.exists():
        pytest.skip("the book is not built: run `make html` first")
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    texts = [pre.get_text() for pre in soup.select("div.cell_output div.output.stream pre")]
    # MyST-NB leaves an empty line where a kernel sent a line's end in a message of its own.
    return "".join(f"{line}\n" for text in texts for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("page", PAGES)
def test_a_use_page_prints_what_it_printed(root, page):
    """If a change is meant, look at it and write it: ``WRITE=1 pytest tests/book/test_use.py``."""
    kept = root / "tests" / "book" / "printed" / f"{page.split('/')[-1]}.txt"
    text = printed(root, page)
    if "WRITE" in os.environ:
        kept.write_text(text, encoding="utf-8")
    assert text.strip()
    assert differences(kept.read_text(encoding="utf-8"), text, ABOUT) == []
