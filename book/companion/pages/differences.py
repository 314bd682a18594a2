"""Why the numbers differ: for each table what agrees, how spreads compare, which choices decide."""

import numpy as np

from companion.evidence.printed import table_title
from companion.evidence.tables import points
from companion.evidence.universes import clear_changes, gain_changes, universe_name
from companion.evidence.verdicts import summary
from companion.paths import EXPERIMENTS


def files(evidence):
    """Give the fragment of the page."""
    return {"differences.md": "\n\n".join(section_text(evidence, e) for e in EXPERIMENTS)}


def section_text(evidence, experiment):
    """Say for one table what agrees, how the spreads compare, and which choices decide."""
    verdict = evidence.verdicts[experiment, "matched"]
    ratio = float(np.exp(np.nanmean(np.log(verdict.values["sd_ratio"].replace(0, np.nan)))))
    lines = [
        f"## {table_title(experiment)}\n",
        f"- **{verdict.word.capitalize()}** with the settings nearest to the "
        f"print: {summary(verdict)}.",
        f"- **Spread.** Our standard deviations are {ratio:.2f} times the printed ones (geometric "
        "mean). A spread that is not the paper's is the sign of another protocol.",
        f"- **Choices.** {deciding_text(evidence.results, experiment)}",
    ]
    return "\n".join(lines)


def deciding_text(results, experiment, most=5):
    """Name the choices that clearly change the gain, largest first."""
    moved = gain_changes(results, experiment)
    clear = clear_changes(moved)
    if clear.empty:
        return f"Of {len(moved)} changed choices none moves the gain over uLSIF clearly."
    named = ", ".join(
        f"*{universe_name(universe)}* ({points(row.change)})"
        for universe, row in clear.head(most).iterrows()
    )
    return (
        f"Of {len(moved)} changed choices {len(clear)} move the gain over uLSIF clearly (interval "
        f"without zero); the largest, in points: {named}."
    )
