"""The built book in a real browser, opened from disk as a reader would by double-click."""

import os
import re
import subprocess
import tarfile
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
ARTIFACTS = ROOT / "artifacts"
AXE = "axe-core@4.10.3"
WIDTHS = {"desktop": 1280, "phone": 390, "large screen": 1920}
# By far the slowest rule of axe, so it looks at one text of each colour, ground and size.
CONTRAST = "color-contrast"
MARK_ONE_OF_EACH = """() => {
  const seen = new Set(), style = getComputedStyle;
  for (const element of document.body.querySelectorAll('*')) {
    delete element.dataset.oneOfEach;
    const written = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!written || !element.checkVisibility()) continue;
    let ground = element;
    while (ground.parentElement && style(ground).backgroundColor === 'rgba(0, 0, 0, 0)')
      ground = ground.parentElement;
    const {color, fontSize, fontWeight, opacity} = style(element);
    const look = [color, fontSize, fontWeight, opacity, style(ground).backgroundColor].join();
    if (!seen.has(look)) element.dataset.oneOfEach = '';
    seen.add(look);
  }
}"""
# Tables, figures and code that reach beyond their column, and no box around them scrolls.
CUT = """() => {
  const column = document.querySelector('article')?.getBoundingClientRect();
  const scrolls = (e) => e && e.tagName !== 'ARTICLE' && (scrolls(e.parentElement) ||
    (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) &&
      e.getBoundingClientRect().right <= column.right + 2));
  return column ? [...document.querySelectorAll('article :is(table, figure, img, svg, pre)')]
    .filter(e => e.getBoundingClientRect().right > column.right + 2 && !scrolls(e.parentElement))
    .map(e => e.tagName + ' ' + (e.id || e.className)) : [];
}"""

pytestmark = pytest.mark.browser


def pages():
    """Every page of the site, by its path."""
    skipped = ("_modules", "_sources", "_static")
    found = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    found = sorted(str(path) for path in found if path.parts[0] not in skipped)
    return [path for path in found if path != "index.html"]  # which only leads to the first page


@pytest.fixture(scope="module")
def context(chromium):
    if not SITE.exists():
        pytest.skip("the book is not built: run `make html` first")
    context = chromium.new_context(service_workers="block")
    context.set_default_timeout(120_000)  # a busy machine is no fault of the page
    return context


@pytest.fixture(scope="module")
def tab(context):
    """The one tab in which every page is opened; ``tab.troubles`` fills with what goes wrong."""
    page = context.new_page()
    page.troubles = _watch(page)
    yield page
    page.close()


@pytest.fixture
def visit(tab):
    """Open a page of the site in the tab."""

    def open_page(path, query="", theme="light"):
        page = tab
        page.set_viewport_size({"width": WIDTHS["desktop"], "height": 900})
        page.emulate_media(color_scheme=theme)
        page.troubles.clear()
        page.goto((SITE / path).as_uri() + query, wait_until="load")
        page.evaluate("async () => { if (window.MathJax?.startup) await MathJax.startup.promise }")
        # Colours that are still fading from one theme to the other have no contrast to judge.
        page.add_style_tag(content="*, *::before, *::after { transition: none !important }")
        return page

    return open_page


def _watch(page):
    troubles = []
    note = troubles.append
    page.on("console", lambda m: m.type in ("error", "warning") and note(f"console: {m.text}"))
    page.on("pageerror", lambda error: note(f"script error: {error}"))
    page.on("requestfailed", lambda request: note(f"failed request: {request.url}"))
    page.on("request", lambda r: _is_foreign(r.url) and note(f"foreign request: {r.url}"))
    return troubles


def _is_foreign(url):
    return not url.startswith(("file://", "data:", "blob:", "about:"))


@pytest.mark.parametrize("path", pages() or ["book/intro.html"])
def test_page(visit, axe, path):
    """One visit, everything a careful reader would stumble over."""
    page = visit(path)
    found = [*_raw_mathematics(page), *_bad_images(page), *_unshown_figures(page)]
    if axe:
        page.evaluate(axe)
        found += _violations(page, rules={CONTRAST: {"enabled": False}})
        found += _low_contrast(page)
    for device, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if overflow > 1:
            found.append(f"{overflow} px wider than the window of a {device}")
        found += [f"cut off on a {device}: {each}" for each in page.evaluate(CUT)]
        if "SCREENSHOTS" in os.environ:
            _photograph(page, path, width)
    if axe:
        page.wait_for_timeout(500)  # the theme marks what scrolls a moment after the resize
        # The only rule that a narrow window can break and a wide one keep.
        found += [f"phone: {v}" for v in _violations(page, runOnly=["scrollable-region-focusable"])]
    page.emulate_media(color_scheme="dark")
    if axe:
        found += [f"dark: {v}" for v in _low_contrast(page)]
    assert page.troubles + found == []


def _photograph(page, path, width):
    name = path.removesuffix(".html").replace("/", "-")
    target = ARTIFACTS / "screenshots" / f"{name}-{width}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=target, full_page=True)


def _unshown_figures(page):
    """Figures whose cell printed their name instead of showing them."""
    text = page.inner_text("body")
    return re.findall(r"<Figure size [^>]*>|<matplotlib[^>]*>", text)


def _raw_mathematics(page):
    """TeX that a reader would see: in the article, outside code."""
    text = page.evaluate(
        """() => {
          const article = document.querySelector('article')?.cloneNode(true);
          if (!article) return '';
          for (const e of article.querySelectorAll('pre, code, script, style, mjx-container'))
            e.remove();
          return article.textContent;
        }"""
    )
    raw = re.findall(r"\$\$|\\begin\{\w+|\\\[|\\\(|\\frac|\\hat", text)
    errors = page.locator("mjx-merror").count()
    return [f"raw TeX {tex!r}" for tex in raw] + ["MathJax error"] * errors


def _bad_images(page):
    return page.evaluate(
        """() => [...document.querySelectorAll('article img')]
          .filter(i => !i.closest('[hidden]'))
          .filter(i => !i.complete || i.naturalWidth < 2 || i.width < 2 || !i.alt.trim())
          .map(i => 'image without size or alt text: ' + i.src.slice(-60) + ' alt=' + i.alt)"""
    )


def _low_contrast(page):
    page.evaluate(MARK_ONE_OF_EACH)
    return _violations(page, "[data-one-of-each]", runOnly=[CONTRAST])


def _violations(page, where="html", **options):
    """Accessibility violations of level serious or critical, by axe-core."""
    options |= {"preload": False, "resultTypes": ["violations"]}  # preloading fails on file://
    result = page.evaluate(
        "async ([where, options]) => (await axe.run(where, options)).violations", [where, options]
    )
    return [
        f"{v['id']}: {v['help']} at {[node['target'] for node in v['nodes']][:3]}"
        for v in result
        if v["impact"] in ("serious", "critical")
    ]


def test_search_lists_prose_before_the_reference(visit):
    page = visit("search.html", "?q=mutual+information")
    page.locator("#search-results p.search-summary:has-text('found')").wait_for(timeout=120_000)
    links = page.locator("#search-results ul.search li > a")
    places = [link.get_attribute("href") for link in links.all()]
    prose = ["book/reference" not in place for place in places]
    assert prose[0]
    assert prose == sorted(prose, reverse=True)
    assert any("algorithm" in place for place in places)
    assert page.troubles == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme(visit, theme):
    page = visit("book/intro.html", theme=theme)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", colour)[:3])
    assert (brightness > 600) == (theme == "light")


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The accessibility checker's script, fetched once; None where it cannot be."""
    cached = ROOT / "_build" / "axe" / f"{AXE}.js"
    if not cached.exists():
        script = _fetch_axe(tmp_path_factory.mktemp("axe"))
        if script is None:
            return None
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.write_text(script, encoding="utf-8")
    return cached.read_text(encoding="utf-8")


def _fetch_axe(folder):
    command = ["npm", "pack", AXE]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        warnings.warn(f"pages are not checked for accessibility: no axe-core ({error})")
        return None
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode("utf-8")


def test_pale_text_would_be_noticed(visit, axe):
    if axe is None:
        pytest.skip("axe-core could not be fetched by npm")
    page = visit("book/cite.html")
    page.evaluate(axe)
    assert _low_contrast(page) == []
    page.evaluate(
        "document.querySelector('article p').innerHTML += '<b style=\"color:#ddd\">pale</b>'"
    )
    assert len(_low_contrast(page)) == 1


def test_the_derived_equations_carry_the_numbers_of_the_paper(visit):
    """Sixteen in the paper; the algorithm's page before it must number none of its own."""
    assert visit("book/algorithm.html").locator(".eqno").count() == 0
    numbers = visit("notebooks/01_theory.html").locator(".eqno").all_inner_texts()
    assert [int(re.search(r"\d+", number)[0]) for number in numbers] == list(range(1, 17))
