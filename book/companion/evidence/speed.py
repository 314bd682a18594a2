"""How fast and how accurate, beside other packages: what ``make bench`` stored."""

import json

import pandas as pd
from IPython.display import Markdown

from companion.evidence.plots import COLORS, legend_below, new_figure, rows_axis
from companion.evidence.tables import captioned
from companion.paths import ROOT

RESULTS = ROOT / "benchmarks" / "results.csv"
KINDS = ("uLSIF", "KLIEP", "KMM", "DDR")
#: Each of ours and those that solve the same problem.
RIVALS = {
    "ddr ULSIF": ("densratio uLSIF", "adapt ULSIF", "genriesz, squared"),
    "ddr KLIEP": ("skada KLIEP",),
    "ddr KMM": ("skada KMM",),
}


def stored():
    """Read the rows of a benchmark, one a question, problem and method."""
    return pd.read_csv(RESULTS, dtype={"failed": str, "commit": str})


def answer(rows):
    """Say how ours compares, losses as plainly as gains."""
    rows, found = rows[rows["failed"].isna()], []
    for ours, rivals in RIVALS.items():
        for theirs in rivals:
            parts = (rows[rows["method"] == method] for method in (theirs, ours))
            both = pd.merge(*parts, on=["question", "problem"])
            nearer = (both["error_x"] < both["error_y"]).sum()
            found.append(
                f"{theirs} takes {_span(both['times_x'])} times the processor time of `{ours}`, "
                f"and its error is smaller in {nearer} of {len(both)} cases."
            )
    ddr = rows.loc[rows["method"].str.startswith("ddr DDRClassifier"), "times"]
    found.append(f"A whole fit of DDR costs {_span(ddr)} fits of uLSIF, the learner included.")
    return Markdown("\n".join(f"- {each}" for each in found))


def _span(numbers):
    low, high = (_short(number) for number in (numbers.min(), numbers.max()))
    return low if low == high else f"{low} to {high}"


def _short(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def table(rows, caption, name, *questions):
    """Set time, memory and error of every method that answers some questions beside each other."""
    chosen = rows[rows["question"].isin(questions)]
    place = chosen["question"].map(questions.index)
    chosen = chosen.assign(place=place).sort_values(["place", "columns", "rows", "problem"])
    formats = {
        "seconds": _short,
        "times": _short,
        "megabytes": "{:,.0f}".format,
        "error": "{:.3f}".format,
        "draws": "{:.0f}".format,
    }
    cells = {column: chosen[column].map(form) for column, form in formats.items()}
    shown = chosen[["problem", "method"]].assign(**cells).replace("nan", "–")
    heads = {"seconds": "CPU s", "megabytes": "memory, MB"}
    return Markdown(captioned(shown.rename(columns=heads), caption, name))


def picture(rows):
    """Draw time and error of each method at 5,000 rows (KMM: 2,000), a mark a number of columns."""
    chosen = rows[rows["question"].isin(KINDS[:3]) & rows["rows"].isin((2000, 5000))]
    names = list(dict.fromkeys(chosen.sort_values(["question", "times"])["method"]))
    figure, panels = new_figure(8, 3.8, columns=2, sharey=True)
    labels = {"seconds": "CPU seconds", "error": "error (1: as good as no weights)"}
    for axis, (what, label) in zip(panels, labels.items(), strict=True):
        for (columns, part), mark in zip(chosen.groupby("columns"), ("o", "s"), strict=True):
            color = COLORS["blue" if mark == "o" else "red"]
            places = part["method"].map(names.index)
            axis.semilogx(part[what], places, mark, color=color, label=f"{columns:.0f} columns")
        rows_axis(axis, names, label)
    legend_below(figure, panels[0].get_legend_handles_labels()[0])
    return figure


def machine():
    """List what decides a timing, and the commits that were measured."""
    facts = json.loads(RESULTS.with_suffix(".json").read_text(encoding="utf-8"))
    facts["commits"] = ", ".join(sorted(stored()["commit"].unique()))
    table = pd.DataFrame(facts.items(), columns=["what", "value"])
    return Markdown(captioned(table, "The machine and the versions", "benchmarks-machine"))
