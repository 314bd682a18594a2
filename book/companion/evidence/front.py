"""The first page, the README and the article: the answer in one minute, each number computed.

What is `judged` comes from :func:`companion.evidence.verdicts.judge_all`.
"""

import pandas as pd
from IPython.display import Markdown

from companion.evidence import shifts
from companion.evidence.gains import ALPHA, METHOD, over_cases, paired
from companion.evidence.multiverse import all_changes, joint_gains, universe_name
from companion.evidence.printed import ledger, table_title
from companion.evidence.scoreboard import unseen
from companion.evidence.tables import captioned, markdown, points
from companion.evidence.verdicts import effect_words, roles
from companion.paths import EXPERIMENTS, PROTOCOLS

_WORD_CLASS = {"reproduces": "good", "reproduces in part": "fair"}


def listed(words):
    """Join words as a sentence does."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def short_name(experiment):
    """Name a table by its number alone."""
    return f"Table {ledger()['tables'][experiment]['number']}"


# The words


def _said(verdict):
    return f"*{verdict.word}*: {effect_words(verdict.effect)}"


def _badge(verdict):
    look = _WORD_CLASS.get(verdict.word, "poor")
    return f"[{verdict.word}]{{.ddr-word .ddr-{look}}} {effect_words(verdict.effect)}"


def verdicts(judged, show=_said):
    """Tabulate each table's word under both protocols, and how much of the printed gain it has."""
    table = {"Paper's table": [table_title(e).removeprefix("Paper's ") for e in EXPERIMENTS]}
    for protocol in PROTOCOLS:
        table[f"{protocol} settings"] = [show(judged[e, protocol]) for e in EXPERIMENTS]
    return pd.DataFrame(table)


def badges(judged):
    """Show the words as pairs of badges."""
    return Markdown(f":::{{div}} ddr-status\n{markdown(verdicts(judged, _badge))}\n:::")


def verdicts_table(judged):
    """Number the table of the words."""
    about = "The verdict on each table, and DDR's gain over the plain ratio as a share of print"
    return Markdown(captioned(verdicts(judged), about, "article-verdicts"))


# The four questions


def answers(results, judged):
    """The four questions of a reader in a hurry, each with its answer of one sentence."""
    return {
        "What reproduced?": _reproduced(results, judged),
        "What did not?": _missing(results, judged),
        "What does it depend on?": reasons(results).data,
        "Should I use it?": shifts.advice(),
    }


def answer_list(results, judged):
    """List the answers."""
    found = answers(results, judged).items()
    return Markdown("\n".join(f"- **{asked}** {answer}" for asked, answer in found))


def answer_cards(results, judged):
    """Lay the answers out as boxes."""
    links = ("scoreboard", "why_the_numbers_differ", "multiverse", "use/should_i_use_it")
    boxes = [
        f":::{{grid-item-card}} {question}\n:link: {link}\n:link-type: doc\n\n{answer}\n:::"
        for (question, answer), link in zip(answers(results, judged).items(), links, strict=True)
    ]
    return Markdown("::::{grid} 1 2 2 2\n:gutter: 2\n\n" + "\n\n".join(boxes) + "\n::::")


def _reproduced(results, judged):
    cells = roles()
    ours = cells[(cells["method"] == METHOD) & (cells["role"] == "fitted")]
    fitted = list(ours["experiment"].unique())
    other = [e for e in EXPERIMENTS if e not in fitted]
    return (
        "With the settings nearest to the paper, DDR keeps this much of its printed gain over the "
        f"plain ratio: {_shares(judged, 'matched', other)}, where no choice had looked at "
        f"the two columns, and {_shares(judged, 'matched', fitted)}, fitted by hand. It is "
        f"{_cases(results, 'matched')}."
    )


def _missing(results, judged):
    cells = unseen(judged)
    differ = " and ".join(f"{cells.at[p, 'differs']} ({p})" for p in PROTOCOLS)
    return (
        f"With tuned settings DDR keeps {_shares(judged, 'tuned', EXPERIMENTS)}. It is "
        f"{_cases(results, 'tuned')}. Of {cells.iloc[0].sum()} printed means that no choice had "
        f"looked at, {differ} differ from ours."
    )


def _shares(judged, protocol, experiments):
    shares = {short_name(e): 100 * judged[e, protocol].effect.share for e in experiments}
    return listed([f"{share:.0f} % in {name}" for name, share in shares.items()]).replace("-", "−")


def _cases(results, protocol):
    found = over_cases(pd.concat([paired(results, e, protocol) for e in EXPERIMENTS]))
    return (
        f"significantly better than the plain ratio in {found['better']} of {found['cases']} "
        f"cases and worse in {found['worse']}"
    )


def reasons(results):
    """Say on how many choices the gain depends, alone and together."""
    changes = all_changes(results)
    clear = changes[changes["p_holm"] < ALPHA]
    joint = {e: joint_gains(results, e).mean(axis=1) for e in EXPERIMENTS}
    gains = [f"{(means > 0).sum()} in {short_name(e)}" for e, means in joint.items()]
    largest = "".join(
        f", most of all *{universe_name(first.universe)}* ({points(first.change)} points in "
        f"{short_name(first.experiment)})"
        for first in clear.head(1).itertuples()
    )
    return Markdown(
        f"On choices that the paper leaves open. Of {len(joint['synthetic'])} random combinations "
        f"of them for each table, DDR gains over the plain ratio in {listed(gains)}. Of "
        f"{len(changes)} single changes {len(clear)} move its gain clearly, corrected for their "
        f"number{largest}."
    )


# The article


def on_natural_shifts():
    """Say what DDR gains where data came apart by itself, with its interval over tables."""
    found = shifts.group("natural")
    mean, low, high = (points(number) for number in shifts.clustered(found["ddr"], found))
    return Markdown(f"{mean} points ({low} to {high})")
