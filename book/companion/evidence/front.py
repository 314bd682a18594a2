"""The first page: the answer in one minute, each number of it computed, and its picture."""

from textwrap import fill

import numpy as np
from IPython.display import Markdown

from companion.evidence import shifts
from companion.evidence.effect import UNSEEN, by_role
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, over_cases, paired
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import printed_gains, table_name, table_title
from companion.evidence.tables import points
from companion.evidence.universes import BASELINE, deciding_choices, universe_gains, universe_name
from companion.evidence.verdicts import effect_words, judge, table_effect
from companion.paths import EXPERIMENTS, PROTOCOLS

_RIVALS = {RIVAL: "over the plain ratio", NO_WEIGHTS: "over no weights"}
_WORD_CLASS = {"reproduces": "good", "reproduces in part": "fair"}
_MARKS = {
    "in print": {"marker": "D", "mfc": "white", "color": COLORS["grey"]},
    "matched": {"marker": "o", "color": COLORS["blue"]},
    "tuned": {"marker": "s", "color": COLORS["red"]},
}


def badges(results):
    """One word for each table under each protocol."""
    shown = []
    for experiment in EXPERIMENTS:
        words = [judge(results, experiment, protocol).word for protocol in PROTOCOLS]
        marked = " ".join(
            f"{protocol} [{word}]{{.ddr-word .ddr-{_WORD_CLASS.get(word, 'poor')}}}"
            for protocol, word in zip(PROTOCOLS, words, strict=True)
        )
        shown.append(f"{table_title(experiment).removeprefix(_PREFIX)}: {marked}")
    return Markdown(":::{div} ddr-status\nTables:\n\n" + "\n\n".join(shown) + "\n:::")


_PREFIX = "Paper's Table "


def status_lines(results):
    """Say for each table whether it reproduces and what DDR gains, one line each."""
    lines = []
    for experiment in EXPERIMENTS:
        words = [_status(results, experiment, protocol) for protocol in PROTOCOLS]
        lines.append(f"- **{table_title(experiment)}:** {'; '.join(words)}.")
    return "\n".join(lines)


def _status(results, experiment, protocol):
    over = [
        points(over_cases(paired(results, experiment, protocol, rival=rival))["mean"])
        for rival in _RIVALS
    ]
    verdict = judge(results, experiment, protocol)
    return (
        f"*{verdict.word}* with {protocol} settings, where {METHOD} gains {over[0]} points over "
        f"{RIVAL}, {effect_words(verdict.effect)}, and {over[1]} over no weights"
    )


def answers(results):
    """The three questions of a reader in a hurry, each with its answer of at most 50 words."""
    return {
        "Did it reproduce?": _reproduced(results),
        "Why not everywhere?": _reasons(results),
        "Should I use it?": shifts.advice(),
    }


def answer_cards(results):
    """Lay the answers out as boxes."""
    links = ("scoreboard", "multiverse", "use/should_i_use_it")
    boxes = [
        f":::{{grid-item-card}} {question}\n:link: {link}\n:link-type: doc\n\n{answer}\n:::"
        for (question, answer), link in zip(answers(results).items(), links, strict=True)
    ]
    return Markdown("::::{grid} 1 1 3 3\n:gutter: 2\n\n" + "\n\n".join(boxes) + "\n::::")


def _reproduced(results):
    cells = by_role(results).loc[list(UNSEEN)].groupby(level="protocol").sum()
    shares = {
        p: " / ".join(f"{100 * table_effect(results, e, p).share:.0f}" for e in EXPERIMENTS)
        for p in PROTOCOLS
    }
    agree = " and ".join(f"{cells.at[p, 'agrees']} with {p}" for p in PROTOCOLS)
    gains = ", ".join(f"{shares[p].replace('-', '−')} % {p}" for p in PROTOCOLS)
    return (
        f"Of {cells.iloc[0].sum()} printed means that no choice looked at, {agree} settings agree. "
        f"Of DDR's printed gain over uLSIF there is in Tables 2 / 3 / 4: {gains}."
    )


def _reasons(results):
    first = deciding_choices(results).iloc[0]
    gain = universe_gains(results, first["experiment"]).at[BASELINE, "gain"]
    return (
        "The paper leaves choices open, and they decide. One of them "
        f"(*{universe_name(first['universe'])}*) changes the gain over the plain ratio in "
        f"{table_name(first['experiment'])} by {points(first['change'])} points (the largest of "
        f"many; shrunken {points(first['shrunk'])}); the whole gain is {points(gain)}. Nobody "
        "knows what the authors chose."
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
