"""Print with Chromium: the whole built book (`make pdf`), or its article alone (`make article`).

For the book, all pages are put behind each other into one page of the site, in the order of its
table of contents, so that styles, fonts and equations are those of the site.
"""

import os
import re
import shutil
import sys

from bs4 import BeautifulSoup

from companion.kit.build import SITE
from companion.paths import ROOT

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_EQUATIONS = "async () => { if (window.MathJax?.startup) await MathJax.startup.promise }"


def whole_book(site):
    """Put the articles of all pages into the first one; reruns stay on the screen."""
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    pages = re.findall(r"(?m)^\s*(?:- file|root): (\S+)", contents)
    book = _soup(site / f"{pages[0]}.html")
    place = book.find("article")
    for page in pages[1:]:
        path = site / f"{page}.html"
        article = _soup(path).find("article")
        for image in article("img"):
            if not image["src"].startswith("data:"):
                image["src"] = os.path.relpath(path.parent / image["src"], site / "book")
        article["style"] = "break-before: page"
        place.insert_after(article)
        place = article
    return str(book)


def _soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def print_page(path, target, **options):
    """Print one page of the site on A4."""
    from playwright.sync_api import sync_playwright

    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        sys.exit("no Chromium was found: install the package chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = running.new_page(color_scheme="light")
        page.set_default_timeout(300_000)
        page.goto(path.as_uri())
        page.evaluate(_EQUATIONS)
        margin = dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
        page.pdf(path=target, format="A4", margin=margin, print_background=True, tagged=True,
                 **options)  # fmt: skip
        running.close()
    print(f"Printed: {os.path.relpath(target)}")


def main(site=ROOT / SITE):
    """Print what is asked for beside the site."""
    if not site.exists():
        sys.exit(f"{SITE} is not built: run `make html` first")
    if sys.argv[1:] == ["article"]:
        print_page(site / "book" / "article.html", site.with_name("article.pdf"), scale=0.9)
        return
    whole = site / "book" / "whole_book.html"
    whole.write_text(whole_book(site), encoding="utf-8")
    try:
        print_page(whole, site.with_name("book.pdf"), outline=True)
    finally:
        whole.unlink()


if __name__ == "__main__":
    main()
