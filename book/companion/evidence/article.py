"""The replication as an article: the few sentences and tables that no other page has."""

import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.evidence import new_data, search, shifts
from companion.evidence.claims import evaluate_claims
from companion.evidence.front import listed
from companion.evidence.tables import captioned, points
from companion.paths import PROTOCOLS, ROOT, read_yaml

_BIBTEX = """```bibtex
@misc{{ddr_companion,
  author = {{{{{authors}}}}},
  title  = {{{{{title}}}}},
  note   = {{Version {version}}},
  year   = {{{year}}}
}}
```"""


def verdict(found):
    """Say which tables have which word under either protocol, from `front.verdicts`."""
    names, parts = found["Paper's table"].str.extract(r"(Table \d)")[0], []
    for protocol in PROTOCOLS:
        words = found[f"{protocol} settings"].str.extract(r"\*(.*)\*")[0]
        groups = names.groupby(words, sort=False)
        said = [f"*{word}* ({listed(list(tables))})" for word, tables in groups]
        parts.append(f"with {protocol} settings {listed(said)}")
    return Markdown(f"**Verdict:** {'; '.join(parts)}.")


def verdicts_table(found):
    """Number the table of :func:`front.verdicts`."""
    about = "The verdict on each table, and DDR's gain over the plain ratio as a share of print"
    return Markdown(captioned(found, about, "article-verdicts"))


def claims_table(results):
    """Tabulate the verdicts on the paper's claims that stored runs can test."""
    found = evaluate_claims(results, live=False).query("by == 'paper'")
    table = found.pivot(index=["name", "place"], columns="protocol", values="verdict")
    table = table.reindex(pd.MultiIndex.from_frame(found[["name", "place"]].drop_duplicates()))
    table = table[[*PROTOCOLS]].fillna("–").reset_index()
    table.columns = ["The paper claims", "Where", *(p.capitalize() for p in PROTOCOLS)]
    about = "The paper's claims that runs can test, and our verdicts"
    return Markdown(captioned(table, about, "article-claims"))


def members(name):
    """Say how many protocols of a search the print does not contradict."""
    found = search.searching.published(name)
    return f"{int(found['member'].sum()) or 'none'} of {len(found):,}"


def datasets_needed(results, gain=1.0):
    """Number of datasets that would show such a mean gain over no weights, tuned.

    Two-sided at 5 %, with a power of 80 %: (1.96 + 0.84)² times the variance between datasets.
    """
    between = new_data.expectation(results, "tuned").between
    return int(np.ceil((2.8 * between / gain) ** 2))


def on_natural_shifts():
    """Say what DDR gains where data came apart by itself, with its interval over tables."""
    found = shifts.group("natural")
    mean, low, high = (points(number) for number in shifts.clustered(found["ddr"], found))
    return f"{mean} points ({low} to {high})"


def bibtex():
    """Write ``CITATION.cff`` as an entry for BibTeX."""
    cited = read_yaml(ROOT / "CITATION.cff")
    authors = " and ".join(author["name"] for author in cited["authors"])
    year = read_yaml(ROOT / "_config.yml")["copyright"]
    return Markdown(_BIBTEX.format(**cited | {"authors": authors, "year": year}))
