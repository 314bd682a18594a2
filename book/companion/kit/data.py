"""The page of the datasets: size and balance, provenance, licences."""

import pandas as pd
from IPython.display import Markdown

from companion.evidence.tables import captioned
from ddr.paper.datasets import check_files, load, manifest, names


def sizes_table():
    """Return the table of rows, features, classes and file sizes."""
    rows = []
    for check in check_files():
        table = load(check.name)
        n, columns = (f"{size:,}" for size in table.X.shape)
        rows.append((check.name, n, columns, _balance(table), f"{check.size / 1000:,.0f}"))
    heads = ["dataset", "rows", "features", "classes", "file, kB"]
    frame = pd.DataFrame(rows, columns=heads)
    return Markdown(captioned(frame, "Size and class balance of each set", "data-sizes"))


def _balance(table):
    counts = pd.Series(table.y).value_counts()
    if len(counts) == 2:
        shares = counts / len(table.y)
        return ", ".join(f"{table.labels[c]} {counts[c]} ({shares[c]:.0%})" for c in counts.index)
    return "digits 0 to 9: " + " ".join(map(str, counts.sort_index()))


def provenance_table():
    """Return the table of sources and citations."""
    rows = []
    for name in names():
        entry = manifest()["datasets"][name]
        archive = manifest()["archives"][entry["archive"]]
        package = f"{entry['archive']} {archive['version']} ({archive['registry']})"
        rows.append((name, entry["description"], package, entry["citation"]))
    frame = pd.DataFrame(rows, columns=["dataset", "what it is", "package, version", "citation"])
    return Markdown(captioned(frame, "Where each file comes from", "data-provenance", "worded"))
