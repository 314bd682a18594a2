"""How much of the printed gain is here, what the words are worth, which cells were not seen."""

import pandas as pd
from IPython.display import Markdown

from companion.evidence import new_data
from companion.evidence.gains import METHOD, RIVAL
from companion.evidence.plots import COLORS, new_figure
from companion.evidence.printed import table_title
from companion.evidence.tables import captioned, points, with_interval
from companion.evidence.universes import all_changes, universe_name
from companion.evidence.verdicts import WORDS, compare, effect_words, table_effect, worlds
from companion.paths import EXPERIMENTS, PROTOCOLS

UNSEEN = ("validated", "never seen")


def table(results):
    """Tabulate the printed gain of DDR over uLSIF beside ours, as share and as difference."""
    rows = []
    for experiment in EXPERIMENTS:
        for protocol in PROTOCOLS:
            found = table_effect(results, experiment, protocol)
            rows.append(
                {
                    "Paper's table": table_title(experiment).removeprefix("Paper's Table "),
                    "Protocol": protocol,
                    "Printed gain": points(found.printed),
                    "Our gain": points(found.ours),
                    "Share": effect_words(found).replace(" of the printed gain", ""),
                    "Ours minus printed": with_interval(found.difference, found.low, found.high),
                }
            )
    about = f"Mean gain of {METHOD} over {RIVAL} beside the printed one, in points"
    return Markdown(captioned(pd.DataFrame(rows), about, "effects", "worded"))


def share(results, experiment, protocol="matched"):
    """Say in a phrase how much of the printed gain is here."""
    return effect_words(table_effect(results, experiment, protocol))


def worlds_figure(results):
    """Draw which word a table would get if the gain were as printed, halved, quartered or nil."""
    figure, axes = new_figure(7.6, 2.2, columns=3, sharey=True)
    for axis, experiment in zip(axes, EXPERIMENTS, strict=True):
        found, left = worlds(results, experiment), 0
        for word, color in zip(WORDS, ("green", "orange", "red"), strict=True):
            axis.barh(found.index, found[word], left=left, color=COLORS[color], label=word)
            left = left + found[word]
        axis.set(xlim=(0, 1), title=table_title(experiment).removeprefix("Paper's "))
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def by_role(results):
    """Count agreeing, near and differing values by what the choice had to do with the cell."""
    cells = pd.concat([compare(results, e, p) for p in PROTOCOLS for e in EXPERIMENTS])
    counts = cells.groupby(["role", "protocol"])["value"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=["agrees", "near", "differs"], fill_value=0)
    order = ["never seen", "validated", "searched", "fitted"]
    return counts.reindex(pd.MultiIndex.from_product([order, PROTOCOLS], names=counts.index.names))


def roles_table(results):
    """Tabulate the counts by role, matched and tuned as pairs."""
    shown = by_role(results).reset_index().rename(columns=str.capitalize)
    about = "Printed means by their role in the choice of the matched protocols"
    return Markdown(captioned(shown, about, "roles"))


def headline(results):
    """Count the verdicts on the values that no choice saw, matched and tuned as a pair."""
    counts = by_role(results).loc[list(UNSEEN)].groupby(level="protocol").sum()
    parts = [
        f"{row.agrees} agree with {name} settings ({row.near} near, {row.differs} different)"
        for name, row in zip(PROTOCOLS, counts.loc[list(PROTOCOLS)].itertuples(), strict=True)
    ]
    return f"Of {counts.iloc[0].sum()} printed means that no choice looked at, {'; '.join(parts)}."


def largest_changes(results, count=10):
    """Tabulate the largest changes of the gain, with Holm's p over all of them and shrunken."""
    changes = all_changes(results)
    rows = [
        {
            "Paper's table": table_title(row.experiment).removeprefix("Paper's Table "),
            "Choice": universe_name(row.universe),
            "Change": with_interval(row.change, row.low, row.high),
            "Shrunken": points(row.shrunk),
            "p": f"{row.p:.3f}",
            f"Holm's p ({len(changes)} changes)": f"{row.p_holm:.2f}",
        }
        for row in changes.head(count).itertuples()
    ]
    about = "The largest changes of the gain: the largest of many is too large"
    return Markdown(captioned(pd.DataFrame(rows), about, "largest-changes", "worded"))


def expected_on_new_data(results):
    """Say in one sentence what a new dataset may show, with either kind of settings."""
    return Markdown(new_data.sentence(*(new_data.expectation(results, p) for p in PROTOCOLS)))


def new_data_figure(results):
    """Draw the shrunken gain of every real case, and below it what a new one may show."""
    figure, axes = new_figure(7.6, 5.4, columns=2, sharey=True)
    for axis, protocol in zip(axes, PROTOCOLS, strict=True):
        found = new_data.expectation(results, protocol)
        cases, place = found.cases, range(len(found.cases))
        ends = [cases["shrunk"] - cases["low"], cases["high"] - cases["shrunk"]]
        axis.errorbar(cases["shrunk"], place, xerr=ends, fmt="o", ms=4, color=COLORS["blue"])
        axis.plot(cases["gain"], place, "x", ms=4, color=COLORS["grey"])
        axis.plot([found.low, found.high], [len(cases) + 1] * 2, lw=4, color=COLORS["red"])
        axis.plot(found.mean, len(cases) + 1, "D", color=COLORS["red"])
        axis.axvline(0, color=COLORS["black"], lw=1)
        axis.set(title=f"{protocol} settings", xlabel="gain over no weights, points")
    names = [*cases["case"], "", "a new dataset"]
    axes[0].set_yticks(range(len(names)), names, fontsize=7)
    axes[0].invert_yaxis()
    return figure
