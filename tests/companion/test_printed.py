"""The ledger of printed values against the paper's TeX."""

import re
from pathlib import Path

import pytest
from companion.evidence import printed as paper
from companion.paths import short_case

PAPER_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "paper"


@pytest.fixture(scope="module")
def tex():
    sources = sorted(PAPER_FOLDER.glob("*.tex")) if PAPER_FOLDER.is_dir() else []
    if not sources:
        pytest.skip("the paper's TeX is not part of this repository: the ledger is not compared")
    return sources[0].read_text(encoding="utf-8")


def tex_rows(tex, label):
    """Return {row name: [(mean, sd, typeface), ...]} of one table in the source."""
    body = tex.split(rf"\label{{{label}}}")[1].split(r"\end{table*}")[0]
    rows = {}
    for line in body.split(r"\tabularnewline"):
        first, *cells = line.split("&")
        found = [re.search(r"(\d\.\d{4})\\textpm\{\}(\d\.\d{4})", cell) for cell in cells]
        if not found or not all(found):
            continue
        name = re.search(r"\\textbf\{\\small\{(.+?)\}\}", first)[1]
        rows[name] = [
            (float(m[1]), float(m[2]), _typeface(cell))
            for m, cell in zip(found, cells, strict=True)
        ]
    return rows


def _typeface(cell):
    if r"\textbf" in cell:
        return "bold"
    return "italic" if r"\textit" in cell else "plain"


def test_every_printed_value_and_typeface_is_in_the_ledger(tex):
    theirs = {}
    for name, table in paper.ledger()["tables"].items():
        for row, cells in tex_rows(tex, table["label"]).items():
            if name == "cross":
                scenarios = {"USPS to MNIST ": cells[:3], "MNIST to USPS ": cells[3:]}
            else:
                scenarios = {"": cells}
            for prefix, part in scenarios.items():
                for method, cell in zip(table["columns"], part, strict=True):
                    theirs[name, prefix + row, method] = cell
    ours = {
        (v.experiment, v.case, v.method): (v.mean, v.sd, v.typeface)
        for v in paper.values().itertuples()
    }
    assert ours == theirs
    assert len(re.findall(r"\\textpm", tex)) == len(ours) == 124  # no table is left out


def test_ledger_shape_and_marks():
    printed = paper.values()
    counts = printed.groupby("experiment").size()
    assert counts.to_dict() == {"synthetic": 24, "biased": 40, "cross": 60}
    assert not printed.duplicated(["experiment", "case", "method"]).any()
    assert printed["mean"].between(0, 1).all()
    reference = printed[printed["reference"]]
    assert set(reference["method"]) == {"Oracle-cvtest", "Oracle-imp"}
    assert (reference["typeface"] == "plain").all()
    # 6 + 9 + 15 sole winners and the three tied cells of Diabete.
    assert (printed["typeface"] == "bold").sum() == 33
    assert (printed["typeface"] == "italic").sum() == 3


def test_names_of_cases_are_short_on_an_axis():
    assert [short_case(c) for c in ("100", "Diabete", "USPS to MNIST 9 vs 0")] == [
        "n = 100",
        "Diabete",
        "USPS→MNIST 9v0",
    ]
    assert len(paper.cases("cross", "USPS to MNIST")) == 10
