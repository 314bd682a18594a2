"""Python in the pages: what a reader runs there, in Chromium, with the site served over HTTP."""

import functools
import http.server
import re
import subprocess
import sys
import threading
import time

import pytest
from companion.kit import site_python

ROOT = site_python.ROOT
SITE = ROOT / "_build" / "html"
IN_SITE = (SITE / "_static" / "python" / site_python.LOCK).exists()

pytestmark = pytest.mark.browser
needs_python = pytest.mark.skipif(not IN_SITE, reason="run `make site-python html` first")

# Counts how long the page's main thread did not answer.
WATCH = """() => { window.longest = 0; let last = performance.now();
  setInterval(() => { const now = performance.now();
    window.longest = Math.max(window.longest, now - last - 10); last = now; }, 10); }"""


@pytest.fixture(scope="module")
def served():
    """The site over HTTP, as readers get it, and how many bytes went over."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    if not SITE.exists():
        pytest.skip("needs the built book")
    handler = functools.partial(Quiet, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def tab(chromium, served):
    """A tab with an empty cache; ``tab.sizes`` has the bytes of each request."""
    if chromium is None:
        pytest.skip("needs Chromium")
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.sizes, page.troubles = {}, []

    def note(response):
        page.sizes[response.url] = int(response.headers.get("content-length", 0))

    context.on("response", note)
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.open = lambda path: page.goto(f"{served}/{path}", wait_until="load")
    yield page
    context.close()
    assert page.troubles == []
    assert [url for url in page.sizes if not url.startswith((served, "data:", "blob:"))] == []


def run(tab, box, label, done=r"^Done in"):
    """Press a button and wait until it is done; return the seconds."""
    start = time.perf_counter()
    box.get_by_role("button", name=label, exact=True).click()
    status = box.get_by_role("status").first
    deadline = start + 180
    while not re.search(done, status.inner_text()) and time.perf_counter() < deadline:
        tab.wait_for_timeout(50)
    assert re.search(done, status.inner_text()), status.inner_text()
    return time.perf_counter() - start


def readme_example():
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def accuracies(text):
    return re.findall(r"accuracy ([\d.]+)", text)


@needs_python
def test_the_readme_example_runs_in_the_page_as_it_does_here(tab, record_property):
    here = subprocess.run([sys.executable, "-c", readme_example()], capture_output=True, text=True)
    tab.open("book/how_to.html")
    tab.evaluate(WATCH)
    box = tab.locator(".ddr-run-box").first
    first = run(tab, box, "Run")
    printed = box.locator("pre").inner_text()
    assert len(accuracies(here.stdout)) == 2
    assert accuracies(printed) == accuracies(here.stdout)
    second = run(tab, box, "Run again")
    fetched = sum(tab.sizes.values()) / 1e6
    longest = tab.evaluate("window.longest")
    for name in ("first", "second", "fetched", "longest"):
        record_property(name, locals()[name])
    print({"first": first, "second": second, "MB": fetched, "blocked ms": longest})
    assert fetched <= 45
