"""The question to the authors: three things that the paper leaves open, and what each decides."""

from IPython.display import Markdown

from companion.evidence import protocol_search as searching
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL
from companion.evidence.printed import printed_means
from companion.evidence.tables import points
from companion.evidence.universes import gain_changes
from companion.evidence.verdicts import judge, table_effect
from companion.paths import EXPERIMENTS
from companion.runs.results import published_results

_LETTER = """
Dear Professor Miao, Dr. Farahat and Professor Kamel,

we have run the experiments of *Discriminative Density-ratio Estimation* (SDM 2014) again, from the
paper alone, in a book that has every printed value beside ours. With the settings that come nearest
to the paper, Table 2 {words[0]}, Table 3 {words[1]} and Table 4 {words[2]}. Of the mean gain of
{method} over {rival} we find {gains} points. What is missing hangs on choices that the paper leaves
open. Three short answers would decide most of it:

1. **After cross-validation, which kernel width did the final fit of IWLSPC use** (Table 3): the one
   that cross-validation chose, or a fixed one, such as the widest or the median distance? We
   searched {searched:,} protocols with either; those that agree with the printed Unweighted and
   Oracle columns: {kernels}. *If it was not the chosen one*, the printed spread, of runs that
   collapse to the larger class beside runs that work, is that of a penalty which was not tuned for
   the final kernel.
2. **Was omega, the direction of the bias, drawn once a dataset, or anew in each run** (Table 3)?
   No protocol of ours with correct cross-validation and a new omega in each run has the printed
   {pair[0]:.3f} on USPS5v6 beside {pair[1]:.3f} on USPS3v8. *If it was drawn once*, these are
   properties of ten directions, and another ten would give another table.
3. **Which images were clipped to their range after MNIST was resized, and over which images was a
   pixel scaled** (Table 4)? Of {cross} protocols {members} are not contradicted by the printed
   Unweighted column; all of these keep what the bicubic filter overshoots, and scale every pixel by
   its own range. *If images were clipped*, they are wrong; clipping changes the gain of {method} by
   {clip} points.

The programs, or the settings of a single run, would answer everything. We shall print your answer
beside the tables, whatever it changes.
"""


def letter():
    """Compose the letter."""
    results = published_results()
    effects = [table_effect(results, experiment) for experiment in EXPERIMENTS]
    kernels, cross = (searching.published(name) for name in ("biased-kernels", "cross"))
    return Markdown(
        _LETTER.format(
            method=METHOD,
            rival=RIVAL,
            words=[judge(results, experiment).word for experiment in EXPERIMENTS],
            gains=", ".join(f"{points(e.ours)} of {points(e.printed)}" for e in effects),
            searched=len(kernels),
            kernels=int(kernels["member"].sum()) or "none",
            pair=printed_means("biased")[NO_WEIGHTS][["USPS5v6", "USPS3v8"]].tolist(),
            cross=len(cross),
            members=int(cross["member"].sum()),
            clip=points(gain_changes(results, "cross").loc["clip-pixels", "change"]),
        )
    )
