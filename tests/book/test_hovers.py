"""What a link leads to shows itself beside the link, without a request; terms link themselves."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

BOOK = Path(__file__).resolve().parents[2] / "book"
STATIC = (BOOK / "_static").as_uri()
PAGE = '<!doctype html><html lang="en"><title>x</title><body><article>{}</article></body></html>'
REFERENCES = '<div class="citation" id="id1">[1] Sugiyama &lt;2008&gt;.</div>'
NOTATION = '<dl class="glossary"><dt id="term-ratio">ratio</dt><dd>Test over training.</dd></dl>'
READER = f"""<a href="../book/references.html#id1">S08</a>
<a href="../book/notation.html#term-ratio">ratio</a> <a href="#equation-one">(1)</a>
<a href="#fig-one">Fig. 1</a> <a href="../book/references.html#id9">gone</a>
<div id="equation-one"><span class="eqno">(1)</span>a = b</div>
<figure id="fig-one"><figcaption>A picture.</figcaption></figure>
<script src="{STATIC}/hovers.js"></script>"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Three pages, as the extension leaves them."""
    monkeypatch.syspath_prepend(str(BOOK / "_ext"))
    pages = {
        "book/references.html": REFERENCES,
        "book/notation.html": NOTATION,
        "notebooks/reader.html": READER,
    }
    for name, body in pages.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format(body), encoding="utf-8")
    import hovers

    hovers.embed(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path), None)
    yield tmp_path
    sys.modules.pop("hovers")


@pytest.mark.browser
def test_links_show_what_they_lead_to(chromium, site):
    page = chromium.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "notebooks" / "reader.html").as_uri())
    box = page.locator("#ddr-hover")
    shown = {
        "S08": "[1] Sugiyama <2008>.",
        "ratio": "Test over training.",
        "(1)": "a = b",
        "Fig. 1": "A picture.",
    }
    for name, text in shown.items():
        link = page.get_by_role("link", name=name, exact=True)
        link.hover()
        assert box.inner_text() == text
        assert link.get_attribute("aria-describedby") == "ddr-hover"
        page.keyboard.press("Escape")
        assert box.is_hidden()
        link.focus()
        assert box.inner_text() == text
    page.get_by_role("link", name="gone").hover()
    assert box.is_hidden()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert all(url.startswith("file:") for url in requests)
    page.close()


def test_pages_carry_only_what_their_links_name(site):
    assert "ddr-hovers" not in (site / "book" / "references.html").read_text()
    assert "Sugiyama" in (site / "notebooks" / "reader.html").read_text()


GLOSSARY = """# Words

```{glossary}
density ratio
  Test over training.

class density ratio
  The same within a class.

KMM
  Kernel mean matching.

run
  An everyday word.
```
"""
USES = """# The density ratio

A run of kmm is none of KMM. The [density ratio](https://example.org) is a link.

| density ratio |
|---|
| KMM |

- A Density
  ratio, `KMM`, and a class density ratio; KMM-like is another word.
- The density ratio again.
"""


def test_the_first_use_of_a_term_leads_to_the_glossary(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "notation.md").write_text(GLOSSARY)
    (tmp_path / "index.md").write_text(f"{USES}\n```{{toctree}}\nbook/notation\n```\n")
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(BOOK / '_ext')!r})\n"
        "extensions = ['myst_parser', 'glossary_links']\n"
    )
    app = Sphinx(tmp_path, tmp_path, tmp_path / "out", tmp_path / "trees", "html", status=None)
    app.build()
    page = BeautifulSoup((tmp_path / "out" / "index.html").read_text(), "html.parser")
    links = [(" ".join(a.text.split()), a["href"]) for a in page.select("a.ddr-term")]
    glossary = "book/notation.html#term-"
    assert links == [
        ("KMM", f"{glossary}KMM"),
        ("Density ratio", f"{glossary}density-ratio"),
        ("class density ratio", f"{glossary}class-density-ratio"),
    ]
