"""What the paper prints, as data: the ledger ``book/paper_values.yml`` and nothing else."""

import re
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import pandas as pd

from companion.paths import BOOK, EXPERIMENTS, read_yaml

_CELL = re.compile(r"(?P<mark>\*{0,2})(?P<mean>\d\.\d+) ± (?P<sd>\d\.\d+)(?P=mark)")
_TYPEFACE = {"": "plain", "*": "italic", "**": "bold"}
_IN_WORDS = {"synthetic": "synthetic data", "biased": "biased sampling", "cross": "cross-dataset"}


def ledger(path=None):
    """Read the ledger of printed values as it stands in the file."""
    path = Path(path or BOOK / "paper_values.yml")
    if not path.is_file():
        raise FileNotFoundError(
            f"path must be a ledger of printed values, got {path}: there is no such file"
        )
    # A page asks for the ledger hundreds of times; the time stamp makes an edit visible at once.
    return deepcopy(_read_ledger(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=8)
def _read_ledger(path, _changed):
    return read_yaml(path)


def parse_cell(text):
    """Split one printed cell into mean, sd and typeface."""
    match = _CELL.fullmatch(text)
    if match is None:
        raise ValueError(f"text must look like '**0.9717 ± 0.0060**', got {text!r}")
    return float(match["mean"]), float(match["sd"]), _TYPEFACE[match["mark"]]


def values(experiment=None, path=None):
    """Return the printed values as a tidy table, one row per cell."""
    content = ledger(path)
    rows = []
    for name, table in content["tables"].items():
        for case, cells in table["rows"].items():
            if len(cells) != len(table["columns"]):
                raise ValueError(
                    f"row {case!r} of {name!r} must have {len(table['columns'])} cells, "
                    f"got {len(cells)}"
                )
            for method, cell in zip(table["columns"], cells, strict=True):
                reference = method == table["reference"]
                rows.append((name, str(case), method, *parse_cell(cell), reference))
    columns = ["experiment", "case", "method", "mean", "sd", "typeface", "reference"]
    printed = pd.DataFrame(rows, columns=columns).assign(n=content["runs"])
    if experiment is None:
        return printed
    check_experiment(experiment, printed["experiment"].unique())
    return printed[printed["experiment"] == experiment].reset_index(drop=True)


def check_experiment(experiment, allowed=EXPERIMENTS):
    """Refuse a name that is no experiment's."""
    if experiment not in allowed:
        raise ValueError(f"experiment must be one of {', '.join(allowed)}, got {experiment!r}")


def cases(experiment, beginning=""):
    """Names of the printed cases in their order, perhaps only those of one direction."""
    names = map(str, ledger()["tables"][experiment]["rows"])
    return [case for case in names if case.startswith(beginning)]


def compared_methods(experiment):
    """Columns that the paper compares; its reference column takes no part."""
    table = ledger()["tables"][experiment]
    return [method for method in table["columns"] if method != table["reference"]]


def printed_means(experiment):
    """Printed means, one row a case, one column a method."""
    wide = values(experiment).pivot(index="case", columns="method", values="mean")
    return wide.loc[cases(experiment)]


def printed_gains(experiment, method, rival):
    """Printed differences of two columns in points, by case."""
    means = printed_means(experiment)
    # Printed digits are exact decimals: rounding removes the binary noise before any threshold.
    return (100 * (means[method] - means[rival])).round(6)


def table_name(experiment):
    """Name a table of the paper by its number and its experiment, within a sentence."""
    return f"the paper's {_numbered(experiment)}"


def table_title(experiment):
    """Name a table of the paper where a heading, a panel or a line begins with it."""
    return f"Paper's {_numbered(experiment)}"


def _numbered(experiment):
    return f"Table {ledger()['tables'][experiment]['number']} ({_IN_WORDS[experiment]})"
