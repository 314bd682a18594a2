"""The first page and the README: the answer in one minute, each number of it computed."""

from textwrap import fill

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import shifts
from companion.evidence.effect import UNSEEN, by_role
from companion.evidence.gains import ALPHA, METHOD, NO_WEIGHTS, RIVAL, over_cases, paired
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import ledger, printed_gains, table_title
from companion.evidence.tables import markdown, points
from companion.evidence.universes import (
    all_changes,
    deciding_choices,
    joint_gains,
    universe_name,
)
from companion.evidence.verdicts import effect_words, judge, roles, table_effect
from companion.paths import EXPERIMENTS, PROTOCOLS

_RIVALS = {RIVAL: "over the plain ratio", NO_WEIGHTS: "over no weights"}
_WORD_CLASS = {"reproduces": "good", "reproduces in part": "fair"}
_MARKS = {
    "in print": {"marker": "D", "mfc": "white", "color": COLORS["grey"]},
    "matched": {"marker": "o", "color": COLORS["blue"]},
    "tuned": {"marker": "s", "color": COLORS["red"]},
}


def verdicts(results):
    """Tabulate each table's word under both protocols, and how much of the printed gain it has."""
    rows = []
    for experiment in EXPERIMENTS:
        row = {"Paper's table": table_title(experiment).removeprefix("Paper's ")}
        for protocol in PROTOCOLS:
            verdict = judge(results, experiment, protocol)
            row[f"{protocol} settings"] = f"*{verdict.word}*: {effect_words(verdict.effect)}"
        rows.append(row)
    return pd.DataFrame(rows)


def badges(found):
    """Show the words of :func:`verdicts` as pairs of badges."""

    def badge(cell):
        word, share = cell[1:].split("*: ")
        return f"[{word}]{{.ddr-word .ddr-{_WORD_CLASS.get(word, 'poor')}}} {share}"

    table = found.set_index("Paper's table").map(badge).reset_index()
    return Markdown(f":::{{div}} ddr-status\n{markdown(table)}\n:::")


def answers(results):
    """The four questions of a reader in a hurry, each with its answer of one sentence."""
    return {
        "What reproduced?": _reproduced(results),
        "What did not?": _missing(results),
        "What does it depend on?": _reasons(results),
        "Should I use it?": shifts.advice(),
    }


def answer_cards(results):
    """Lay the answers out as boxes."""
    links = ("scoreboard", "why_the_numbers_differ", "multiverse", "use/should_i_use_it")
    boxes = [
        f":::{{grid-item-card}} {question}\n:link: {link}\n:link-type: doc\n\n{answer}\n:::"
        for (question, answer), link in zip(answers(results).items(), links, strict=True)
    ]
    return Markdown("::::{grid} 1 2 2 2\n:gutter: 2\n\n" + "\n\n".join(boxes) + "\n::::")


def _reproduced(results):
    role = roles().query("method == @METHOD").drop_duplicates("experiment")
    fitted = [e for e in EXPERIMENTS if e in set(role.loc[role["role"] == "fitted", "experiment"])]
    unseen = [e for e in EXPERIMENTS if e not in fitted]
    return (
        "With the settings nearest to the paper, DDR keeps this much of its printed gain over the "
        f"plain ratio: {_shares(results, 'matched', unseen)}, where no choice had looked at "
        f"the two columns, and {_shares(results, 'matched', fitted)}, fitted by hand. It is "
        f"{_cases(results, 'matched')}."
    )


def _missing(results):
    cells = by_role(results).loc[list(UNSEEN)].groupby(level="protocol").sum()
    differ = " and ".join(f"{cells.at[p, 'differs']} ({p})" for p in PROTOCOLS)
    return (
        f"With tuned settings DDR keeps {_shares(results, 'tuned', EXPERIMENTS)}. It is "
        f"{_cases(results, 'tuned')}. Of {cells.iloc[0].sum()} printed means that no choice had "
        f"looked at, {differ} differ from ours."
    )


def _shares(results, protocol, experiments):
    shares = [
        f"{100 * table_effect(results, e, protocol).share:.0f} % in {short_name(e)}"
        for e in experiments
    ]
    return listed(shares).replace("-", "−")


def listed(words):
    """Join words as a sentence does."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def short_name(experiment):
    """Name a table by its number alone."""
    return f"Table {ledger()['tables'][experiment]['number']}"


def _cases(results, protocol):
    found = over_cases(pd.concat([paired(results, e, protocol) for e in EXPERIMENTS]))
    return (
        f"significantly better than the plain ratio in {found['better']} of {found['cases']} "
        f"cases and worse in {found['worse']}"
    )


def _reasons(results):
    changes = all_changes(results)
    clear = changes[changes["p_holm"] < ALPHA]
    joint = {e: joint_gains(results, e).mean(axis=1) for e in EXPERIMENTS}
    gains = [f"{(means > 0).sum()} in {short_name(e)}" for e, means in joint.items()]
    largest = "".join(
        f", most of all *{universe_name(first.universe)}* ({points(first.change)} points in "
        f"{short_name(first.experiment)})"
        for first in clear.head(1).itertuples()
    )
    return (
        f"On choices that the paper leaves open. Of {len(joint['synthetic'])} random combinations "
        f"of them for each table, DDR gains on average in {listed(gains)}. Of {len(changes)} "
        f"single changes {len(clear)} move its gain clearly, corrected for their number{largest}."
    )


# Pictures


def findings_figure(results):
    """Draw the mean gain of each table over each rival, beside the choices that move it most."""
    figure, axes = new_figure(10.4, 3.0, columns=3, width_ratios=(1, 1, 1.2))
    names = [table_title(e).removeprefix("Paper's ").replace(" (", "\n(") for e in EXPERIMENTS]
    for axis, (rival, title) in zip(axes, _RIVALS.items(), strict=False):
        for place, (kind, style) in enumerate(_MARKS.items()):
            found = [_mean_gain(results, experiment, kind, rival) for experiment in EXPERIMENTS]
            mean, half = np.array(found).T
            height = np.arange(len(names)) + 0.25 * (place - 1)
            axis.errorbar(mean, height, xerr=half, ls="", capsize=3, label=kind, **style)
        axis.set_yticks(range(len(names)), names if rival == RIVAL else [""] * len(names))
        axis.set(ylim=(len(names) - 0.5, -0.5), title=f"gain {title}", xlabel="points")
        axis.grid(axis="x", lw=0.4, alpha=0.5)
    _choice_bars(axes[2], deciding_choices(results))
    for axis in axes:
        axis.axvline(0, color=COLORS["black"], lw=1)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False)
    return figure


def _mean_gain(results, experiment, kind, rival):
    if kind == "in print":
        return printed_gains(experiment, METHOD, rival).mean(), 0.0
    found = over_cases(paired(results, experiment, kind, rival=rival))
    return found["mean"], np.nan_to_num(found["mean"] - found["low"])


def _choice_bars(axis, choices):
    changes = choices["change"]
    colors = [COLORS["red" if change < 0 else "green"] for change in changes]
    ends = [changes - choices["low"], choices["high"] - changes]
    axis.barh(range(len(choices)), changes, xerr=ends, color=colors, height=0.55, capsize=3)
    names = [fill(universe_name(universe), 26) for universe in choices["universe"]]
    axis.set_yticks(range(len(names)), names)
    axis.set(ylim=(len(names) - 0.4, -0.6), xlabel="points", title="choices that change it most")
