"""Runs of a page whose store may be incomplete: show what is there, and say what is not.

Where nothing at all is stored under the page's parameters, its runs are computed, as
``runs_to_show`` does. Where some are stored, computing the others may take an
hour, so that is done only on request.
"""

from companion.runs.reproduce import store_of
from companion.runs.shown_runs import ShownRuns, runs_to_show

__all__ = ["stored_or_computed", "what_is_missing"]


def stored_or_computed(
    protocol, runs, cases=None, compute_missing=False, published=None, **options
):
    """Take the stored runs of a protocol; compute where none is stored, or where asked to."""
    cases = list(cases or protocol["cases"])
    store = store_of(protocol, published)
    if not compute_missing and not store.mismatch():
        rows = store.rows()
        rows = rows[rows["case"].isin(cases) & (rows["seed"] < runs)]
        if len(rows):
            order = {case: position for position, case in enumerate(cases)}
            rows = rows.sort_values("case", key=lambda c: c.map(order), kind="stable")
            stored = len(rows.drop_duplicates(["case", "seed"]))
            return ShownRuns(rows.reset_index(drop=True), stored, 0)
    return runs_to_show(protocol, runs, cases, published, **options)


def what_is_missing(shown, runs, cases):
    """Say whether all wanted runs are there."""
    found = shown.rows.groupby("case")["seed"].nunique()
    missing = {case: runs - int(found.get(case, 0)) for case in cases}
    total = runs * len(cases)
    if not any(missing.values()):
        return f"complete: {total} of {total} runs"
    lacking = ", ".join(f"{count} of {case}" for case, count in missing.items() if count)
    there = total - sum(missing.values())
    return f"NOT COMPLETE: {there} of {total} runs are there; missing are {lacking}"
