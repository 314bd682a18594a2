"""How fast and how accurate, beside other packages: what ``make bench`` stored."""

import json

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from companion.evidence.tables import captioned, counted
from companion.paths import ROOT

RESULTS = ROOT / "benchmarks" / "results.csv"
OURS = "ddr ULSIF"
_CLIPPED = "ddr ULSIF, coefficients clipped"
KINDS = ("uLSIF", "KLIEP", "KMM", "DDR")


def stored(path=RESULTS):
    """Read the rows of a benchmark, one a question, problem and method."""
    return pd.read_csv(path, keep_default_na=True, dtype={"failed": str, "commit": str})


def answer(rows):
    """Say in four sentences how ours compares, losses as plainly as gains."""
    measured = rows[rows["failed"].isna()]
    same = _of(measured, "uLSIF", "densratio uLSIF", "adapt ULSIF")
    genriesz = _of(measured, "uLSIF", "genriesz")
    ours = measured[(measured["question"] == "uLSIF") & (measured["method"] == OURS)]
    worse = int((same["error"] <= same["problem"].map(ours.set_index("problem")["error"])).sum())
    sentences = [
        f"On the same grid `ULSIF` takes {_span(same['times'])} times less processor time than the "
        f"implementations of densratio and adapt, and its error is "
        f"{'smaller everywhere' if not worse else f'not smaller in {worse} of {len(same)} cases'}.",
        f"genriesz, by cross-validation, takes {_span(genriesz['times'])} times ours; "
        f"{_nearer(measured, 'uLSIF', 'genriesz', OURS)}.",
    ]
    for kind in ("KLIEP", "KMM"):
        skada = _of(measured, kind, f"skada {kind}")
        sentences.append(
            f"skada's {kind} takes {_span(skada['times'])} times the time of ours; "
            f"{_nearer(measured, kind, f'skada {kind}', f'ddr {kind}')}."
        )
    ddr = _of(measured, "DDR", "ddr DDRClassifier")["times"]
    sentences.append(f"A whole fit of DDR costs {_span(ddr)} fits of uLSIF, the learner included.")
    return Markdown(" ".join(sentences))


def _of(rows, question, *methods):
    return rows[(rows["question"] == question) & rows["method"].str.startswith(methods)]


def _span(numbers):
    low, high = (_short(number) for number in (numbers.min(), numbers.max()))
    return low if low == high else f"{low} to {high}"


def _short(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _nearer(rows, question, theirs, ours):
    mine = rows[(rows["question"] == question) & (rows["method"] == ours)]
    pairs = _of(rows, question, theirs).merge(mine, on="problem")
    smaller = int((pairs["error_x"] < pairs["error_y"]).sum())
    return f"its error is smaller in {smaller} of {counted(len(pairs), 'case', 'cases')}"


def table(rows, caption, name, *questions):
    """Set time, memory and error of every method that answers some questions beside each other."""
    chosen = rows[rows["question"].isin(questions)]
    place = chosen["question"].map(questions.index)
    chosen = chosen.assign(place=place).sort_values(["place", "columns", "rows", "seconds"])
    formats = {
        "question": str,
        "columns": "{:.0f}".format,
        "rows": "{:,.0f}".format,
        "method": str,
        "seconds": _short,
        "times": _short,
        "megabytes": "{:,.0f}".format,
        "error": "{:.3f}".format,
        "draws": "{:.0f}".format,
    }
    cells = {
        column: chosen[column].map(form).replace("nan", "–") for column, form in formats.items()
    }
    heads = {"question": "kind", "seconds": "CPU s", "megabytes": "memory, MB"}
    shown = pd.DataFrame(cells).rename(columns=heads)
    return Markdown(captioned(shown, caption, name))


def clipping(rows):
    """Set the errors of both ways to remove negative values beside each other."""
    chosen = rows[rows["question"] == "clipping"]
    ratio, coefficients = (
        chosen[chosen["method"] == method].set_index("problem")[["error", "median_error"]]
        for method in (OURS, _CLIPPED)
    )
    both = ratio.merge(coefficients, on="problem", suffixes=("", "_clipped"))
    shown = both.map("{:.2f}".format).rename_axis("problem").reset_index()
    shown.columns = [
        "problem", "ratio: mean", "ratio: median", "coefficients: mean", "coefficients: median",
    ]  # fmt: skip
    mean, median = (int((both[e] < both[f"{e}_clipped"]).sum()) for e in ratio.columns)
    sentence = (
        f"Clipping the ratio has the smaller error on {median} of {len(both)} problems by the "
        f"median over the draws, on {mean} by the mean: it has more draws that go far wrong."
    )
    caption = "Error by where negative values are removed"
    return Markdown(f"{sentence}\n\n{captioned(shown, caption, 'benchmarks-clipping')}")


def picture(rows):
    """Draw time and error of each method at 5,000 rows (KMM: 2,000), a mark a number of columns."""
    chosen = rows[rows["question"].isin(KINDS[:3]) & rows["rows"].isin((2000, 5000))]
    names = list(dict.fromkeys(chosen.sort_values(["question", "times"])["method"]))
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    labels = ("CPU seconds", "error (1: as good as no weights)")
    for axis, what, label in zip(panels, ("seconds", "error"), labels, strict=True):
        for (columns, part), mark in zip(chosen.groupby("columns"), "os", strict=True):
            colour = {"o": "#0072B2", "s": "#D55E00"}[mark]
            style = {"label": f"{columns:.0f} columns", "color": colour}
            axis.semilogx(part[what], part["method"].map(names.index), mark, **style)
        axis.set_yticks(range(len(names)), names)
        axis.grid(axis="y", lw=0.4, alpha=0.5)
        axis.set_xlabel(label)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def machine(path=RESULTS):
    """List what decides a timing, and the commits that were measured."""
    facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    facts["commits"] = ", ".join(sorted(stored(path)["commit"].unique()))
    table = pd.DataFrame(
        [(name, value) for name, value in facts.items()], columns=["what", "value"]
    )
    return Markdown(captioned(table, "The machine and the versions", "benchmarks-machine"))
