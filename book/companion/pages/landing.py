"""What the first page includes: verdicts on values and claims at a glance, and what they say."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.claim_checks import FAILS, HOLDS, IN_PART
from companion.evidence.claims import evaluate_claims
from companion.evidence.printed import EXPERIMENTS, VERDICTS, compare, compare_all, ours, values
from companion.evidence.significance import significance
from companion.figures.synthetic import COLORS, new_figure
from companion.pages.stored import PROTOCOLS, missing_sentence, stored_runs, table_title
from companion.pages.text import captioned, counted, points, unbroken
from companion.runs.results import published_results

__all__ = [
    "case_gains",
    "claims_matrix",
    "figure_alt",
    "gains_figure",
    "headline_table",
    "landing_text",
    "legend",
    "reading",
    "write",
]

METHOD, RIVAL = "DDR-uLSIF", "uLSIF"
#: Least shares of values that are R2 or better for a table to reproduce, wholly and in part.
WHOLLY, PARTLY = 0.9, 0.5
#: An interval is drawn from so many runs on.
FEWEST = 5
FIGURE = "landing_gains.png"
#: A sign that is told apart by its shape, and a short word, so that the matrix stays narrow.
_SIGNS = {HOLDS: "● holds", IN_PART: "◐ in part", FAILS: "○ fails"}
_STYLES = {
    "matched": {"fmt": "o", "color": COLORS["blue"], "label": "ours, matched"},
    "tuned": {"fmt": "s", "color": COLORS["red"], "label": "ours, tuned"},
}


def write(folder, results=None):
    """Write the fragment and the figure of the first page."""
    results = published_results() if results is None else results
    paths = [Path(folder) / "landing.md", Path(folder) / FIGURE]
    paths[0].write_text(landing_text(results, evaluate_claims(results)), encoding="utf-8")
    gains_figure(results).savefig(paths[1], dpi=200, metadata={"Software": None})
    return paths


def landing_text(results, evaluation):
    """Put the first page's fragment together."""
    total = len(values())
    counts = captioned(
        headline_table(results),
        f"The {total} values that the paper prints, by its table and our protocol",
        "landing",
    )
    matrix = captioned(
        claims_matrix(evaluation),
        "The paper's claims and their verdicts",
        "claims-matrix",
        "worded",
    )
    return f"""{reading(results)}

{{numref}}`landing` counts by table, {{numref}}`fig-landing-gains` shows every case, and
{{numref}}`claims-matrix` has the verdicts on the claims.

{counts}

{legend()} {{doc}}`scoreboard` has every value, {{doc}}`protocols` says what *matched* and *tuned*
mean.

```{{figure}} _generated/{FIGURE}
:name: fig-landing-gains
:alt: {figure_alt(results)}
:width: 560px

Gain of {METHOD} over {RIVAL} in each case: the paper's beside ours, with the 95 % interval over
the runs where there are at least {FEWEST}. The paper prints no paired differences, so its gains
carry no interval.
```

{matrix}

{_signs_explained(evaluation)} *Live* claims are checked by a small
computation, which needs no stored run. {{doc}}`claims` has the evidence for each verdict.
"""


def _signs_explained(evaluation):
    untested = set(evaluation["verdict"]) - set(_SIGNS)
    return (
        '"In part" means that a claim holds in part, "fails" that it does not hold, '
        + ('"not tested" that its runs are not stored, ' if untested else "")
        + "a dash that this protocol cannot tell."
    )


def case_gains(results, protocol):
    """Compute the gain of DDR-uLSIF over uLSIF in each case, in print and in our runs."""
    rows = []
    for experiment in EXPERIMENTS:
        printed = values(experiment).pivot(index="case", columns="method", values="mean")
        runs = ours(results, experiment, protocol)
        wide = runs.pivot(index=["case", "seed"], columns="method", values="accuracy")
        wide = wide.reindex(columns=[METHOD, RIVAL])
        # Rounding removes binary noise, so that the last shown digit is the same everywhere.
        differences = (100 * (wide[METHOD] - wide[RIVAL])).dropna().round(9)
        for case in values(experiment)["case"].unique():
            in_print = round(100 * (printed.at[case, METHOD] - printed.at[case, RIVAL]), 6)
            of_case = differences[differences.index.get_level_values("case") == case]
            rows.append((experiment, case, in_print, *_mean_interval(of_case), len(of_case)))
    columns = ["experiment", "case", "printed", "gain", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def _mean_interval(sample):
    n = len(sample)
    if n < 2:
        return (float(sample.mean()) if n else np.nan), np.nan, np.nan
    mean = float(np.round(sample.mean(), 9))
    half = float(stats.t.ppf(0.975, n - 1) * sample.std(ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def headline_table(results):
    """Count verdicts and gains for each table and protocol."""
    rows = []
    for protocol in PROTOCOLS:
        gains = case_gains(results, protocol)
        for experiment in EXPERIMENTS:
            cells = _counts(results, experiment, protocol)
            of_table = gains[(gains["experiment"] == experiment) & (gains["n"] > 0)]
            cells |= _gain_cells(results, experiment, protocol, of_table)
            name = table_title(experiment).removeprefix("Paper's Table ")
            rows.append({"Paper's table": name, "Protocol": protocol} | cells)
    table = pd.DataFrame(rows).map(unbroken)
    # Columns of what nobody needs to know once everything is stored.
    empty = [c for c in ("Not judged", "Not run") if table[c].isin(["0", "–"]).all()]
    return table.drop(columns=empty)


def _counts(results, experiment, protocol):
    counts = compare(results, experiment, protocol)["verdict"].value_counts()
    names = {v: v for v in VERDICTS if v.startswith("R")}
    names |= {"not judged": "Not judged", "not run": "Not run"}
    cells = {name: str(int(counts.get(v, 0))) for v, name in names.items()}
    cells["Reproduces"] = _grade(counts)
    if not stored_runs(results, experiment, protocol)[0]:
        # A zero under R0 would read as praise for a table that was never run.
        cells |= dict.fromkeys(("R3", "R2", "R1", "R0", "Not judged", "Reproduces"), "–")
    return cells


def _grade(counts):
    share = (counts.get("R3", 0) + counts.get("R2", 0)) / counts.sum()
    return "yes" if share >= WHOLLY else "in part" if share >= PARTLY else "no"


def legend():
    """Explain the columns of the headline table."""
    letters = "; ".join(f"{v}: {words}" for v, words in VERDICTS.items() if v.startswith("R"))
    return (
        f"{letters}. A table *reproduces* when at least {WHOLLY:.0%} of its values are R2 or R3, "
        f"*in part* from {PARTLY:.0%}. Gains are mean differences of {METHOD} and {RIVAL} in "
        "points of accuracy, averaged over the cases that were run; *above* counts the cases with "
        "a positive gain, *significant* those that a paired t-test at 5 % confirms."
    )


def _gain_cells(results, experiment, protocol, gains):
    names = ("Gain in print", "Gain here", "Above", "Significant")
    if gains.empty:
        return dict.fromkeys(names, "–")
    tested = significance(results, experiment, protocol, METHOD, [RIVAL])
    cells = (
        points(gains["printed"].mean()),
        points(gains["gain"].mean()),
        f"{(gains['gain'] > 0).sum()} of {len(gains)}",
        f"{tested['better_paired'].sum()} of {len(gains)}",
    )
    return dict(zip(names, cells, strict=True))


def reading(results):
    """Say in a paragraph what the stored runs show, and what is not computed yet."""
    parts = [_protocol_reading(results, protocol) for protocol in PROTOCOLS]
    parts.append(_contrast(results))
    missing = {
        f"{table_title(experiment)}, {protocol}": missing_sentence(results, experiment, protocol)
        for protocol in PROTOCOLS
        for experiment in EXPERIMENTS
    }
    notes = [f"- {name}: {text[0].lower()}{text[1:]}" for name, text in missing.items() if text]
    text = " ".join(part for part in parts if part)
    if notes:
        text += "\n\nNot all runs are stored:\n\n" + "\n".join(notes)
    return text.strip()


def _protocol_reading(results, protocol):
    if not any(stored_runs(results, e, protocol)[0] for e in EXPERIMENTS):
        return ""
    verdicts = compare_all(results, protocol)["verdict"].value_counts()
    run = sum(n for verdict, n in verdicts.items() if verdict != "not run")
    gains = case_gains(results, protocol).query("n > 0")
    tested = pd.concat(significance(results, e, protocol, METHOD, [RIVAL]) for e in EXPERIMENTS)
    return (
        f"Under the *{protocol}* protocol, {verdicts.get('R3', 0)} of the {run} values that were "
        f"run agree with the printed ones (R3), {verdicts.get('R2', 0)} are within one printed "
        f"standard deviation and in the same order (R2), {verdicts.get('R1', 0)} keep only the "
        f"order of the methods (R1), and {verdicts.get('R0', 0)} do neither (R0). {METHOD} is "
        f"above {RIVAL} in {(gains['gain'] > 0).sum()} of {len(gains)} cases (in print in "
        f"{(gains['printed'] > 0).sum()} of the same), significantly so in "
        f"{tested['better_paired'].sum()}, and its mean gain is {points(gains['gain'].mean())} "
        f"points (in print {points(gains['printed'].mean())})."
    )


def _contrast(results):
    """Compare the two protocols on the cases that both have run."""
    gains = {p: case_gains(results, p) for p in PROTOCOLS}
    both = (gains["matched"]["n"] > 0) & (gains["tuned"]["n"] > 0)
    if not both.any():
        return ""
    matched, tuned = (gains[p].loc[both, "gain"].mean() for p in PROTOCOLS)
    return (
        f"Over the {counted(both.sum(), 'case', 'cases')} run under both, the mean gain is "
        f"{points(matched)} points matched and {points(tuned)} tuned."
    )


def claims_matrix(evaluation):
    """Tabulate claim by protocol, in words and signs."""
    rows = []
    for claim, found in evaluation.groupby("id", sort=False):
        verdicts = dict(zip(found["protocol"], found["verdict"], strict=True))
        cells = {p: _verdict_cell(verdicts.get(p)) for p in (*PROTOCOLS, "live")}
        rows.append({"Claim": claim, "In our words": found["claim"].iloc[0]} | cells)
    return pd.DataFrame(rows)


def _verdict_cell(verdict):
    if verdict is None:
        return "–"
    return unbroken(_SIGNS.get(verdict, "· not tested"))


def gains_figure(results, columns=1):
    """Draw the gain in each case: printed, matched and tuned."""
    found = {p: case_gains(results, p) for p in PROTOCOLS}
    heights = [len(found["matched"].query("experiment == @e")) + 2 for e in EXPERIMENTS]
    figure, axes = _panels(columns, heights)
    for axis, experiment in zip(axes, EXPERIMENTS, strict=True):
        _gains_panel(axis, experiment, found)
    handles, labels = max((a.get_legend_handles_labels() for a in axes), key=lambda h: len(h[0]))
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    return figure


def _panels(columns, heights):
    if columns == 1:
        figure, axes = new_figure(5.6, 0.2 * sum(heights) + 1, rows=3, height_ratios=heights)
        return figure, list(axes[:, 0])
    figure, axes = new_figure(8.6, 0.2 * heights[-1] + 1, 2, 2, height_ratios=heights[:2])
    # The long panel takes the whole height beside the two short ones.
    axes[1, 1].remove()
    axes[0, 1].set_subplotspec(axes[0, 1].get_gridspec()[:, 1])
    return figure, [axes[0, 0], axes[1, 0], axes[0, 1]]


def _gains_panel(axis, experiment, found):
    rows = {p: table[table["experiment"] == experiment] for p, table in found.items()}
    printed = rows["matched"]
    positions = np.arange(len(printed))
    axis.axvline(0, color=COLORS["black"], lw=1)
    axis.plot(
        printed["printed"], positions, "D", mfc="white", mec=COLORS["grey"], label="paper", zorder=3
    )
    for shift, (protocol, style) in zip((-0.18, 0.18), _STYLES.items(), strict=True):
        run = rows[protocol]["n"].to_numpy() > 0
        cells = rows[protocol][run]
        if run.any():
            # The interval of a few runs would be wider than all gains together.
            half = (cells["high"] - cells["gain"]).where(cells["n"] >= FEWEST, 0.0)
            axis.errorbar(
                cells["gain"], positions[run] + shift, xerr=half, ms=4.5, capsize=2, **style
            )
    cases = [case.replace(" to ", "→").replace(" vs ", "v") for case in printed["case"]]
    axis.set_yticks(positions, [f"n = {c}" if c.isdigit() else c for c in cases])
    axis.set(ylim=(len(printed) - 0.4, -0.6), xlabel="gain in points of accuracy")
    axis.set_title(table_title(experiment), loc="left")
    axis.grid(axis="y", lw=0.4, alpha=0.5)


def figure_alt(results):
    """Describe the figure for those who do not see it."""
    cases = len(case_gains(results, PROTOCOLS[0]))
    sentences = [
        f"Dot plot of the gain of {METHOD} over {RIVAL} in {cases} cases, a panel for each table."
    ]
    for protocol in PROTOCOLS:
        gains = case_gains(results, protocol).query("n > 0")
        if len(gains):
            inside = gains["printed"].between(gains["low"], gains["high"]).sum()
            sentences.append(
                f"Under the {protocol} protocol our gains range from "
                f"{points(gains['gain'].min())} to {points(gains['gain'].max())} points, "
                f"and {inside} of {len(gains)} intervals "
                "contain the printed gain."
            )
    return " ".join(sentences)
