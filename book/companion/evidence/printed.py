"""What the paper prints, as data: the ledger ``book/paper_values.yml`` and nothing else."""

import re
from functools import lru_cache

import pandas as pd
from scipy import stats

from companion.paths import BOOK, read_yaml

# Such as "**0.9717 ± 0.0060**".
_CELL = re.compile(r"(\*{0,2})(\d\.\d+) ± (\d\.\d+)\1")
_TYPEFACE = {"": "plain", "*": "italic", "**": "bold"}
_IN_WORDS = {"synthetic": "synthetic data", "biased": "biased sampling", "cross": "cross-dataset"}


@lru_cache(maxsize=1)  # a page asks for the ledger hundreds of times
def ledger():
    """Read the ledger of printed values as it stands in the file."""
    return read_yaml(BOOK / "paper_values.yml")


def values(experiment=None):
    """Return the printed values as a tidy table, one row per cell: of one experiment or of all."""
    tables, rows = ledger()["tables"], []
    for name in tables if experiment is None else [experiment]:
        table = tables[name]
        for case, cells in table["rows"].items():
            for method, cell in zip(table["columns"], cells, strict=True):
                mark, mean, sd = _CELL.fullmatch(cell).groups()
                printed = float(mean), float(sd), _TYPEFACE[mark]
                rows.append((name, str(case), method, *printed, method == table["reference"]))
    columns = ["experiment", "case", "method", "mean", "sd", "typeface", "reference"]
    return pd.DataFrame(rows, columns=columns).assign(n=ledger()["runs"])


def cases(experiment, beginning=""):
    """Names of the printed cases in their order, perhaps only those of one direction."""
    names = map(str, ledger()["tables"][experiment]["rows"])
    return [case for case in names if case.startswith(beginning)]


def compared_methods(experiment):
    """Columns that the paper compares; its reference column takes no part."""
    table = ledger()["tables"][experiment]
    return [method for method in table["columns"] if method != table["reference"]]


def printed_means(experiment, column="mean"):
    """Printed means, or their sds: one row a case, one column a method."""
    wide = values(experiment).pivot(index="case", columns="method", values=column)
    return wide.loc[cases(experiment)]


def printed_gains(experiment, method, rival):
    """Printed differences of two columns in points, by case; not a number if one is no column."""
    means = printed_means(experiment).reindex(columns=[method, rival])
    # Printed digits are exact decimals: rounding removes the binary noise before any threshold.
    return (100 * (means[method] - means[rival])).round(6)


def printed_pairs(experiment=None):
    """Every two compared methods of a printed row, the better first, with Welch's p-value."""
    cells, row = values(experiment), ["experiment", "case"]
    cells = cells[~cells["reference"]]
    pairs = cells.merge(cells, on=row, suffixes=("", "_rival"))
    pairs = pairs[pairs["mean"] > pairs["mean_rival"]].reset_index(drop=True)
    numbers = pairs[["mean", "sd", "n", "mean_rival", "sd_rival", "n_rival"]].to_numpy().T
    return pairs.assign(p=stats.ttest_ind_from_stats(*numbers, equal_var=False).pvalue)


def table_name(experiment):
    """Name a table of the paper by its number and its experiment, within a sentence."""
    return f"the paper's {_numbered(experiment)}"


def table_title(experiment):
    """Name a table of the paper where a heading, a panel or a line begins with it."""
    return f"Paper's {_numbered(experiment)}"


def _numbered(experiment):
    return f"Table {ledger()['tables'][experiment]['number']} ({_IN_WORDS[experiment]})"
