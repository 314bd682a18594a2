"""The checks behind the claims: stored runs in, a verdict and its evidence out.

Each check is a plain function ``check(results, protocol, **settings)``; the settings stand in
``book/claims.yml``, so that a threshold is data and not code. A check that lacks its runs raises
:class:`NotTested` with the reason.
"""

from typing import NamedTuple

import pandas as pd

from companion.evidence.printed import ours, values
from companion.evidence.significance import paired_and_welch, significance

__all__ = [
    "Finding",
    "NotTested",
    "better_in_cases",
    "close_in_cases",
    "faster",
    "gain_in_cases",
    "graded",
    "smaller_spread",
    "universe_is_worse",
    "universe_runs",
]

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"


class NotTested(Exception):  # noqa: N818 - a reason, not an error
    """The runs that a check needs are not there; the message says which."""


class Finding(NamedTuple):
    """A verdict ("holds", "holds in part", "does not hold") and the sentence that supports it."""

    verdict: str
    evidence: str


def graded(amount, holds_from, part_from):
    """Turn a count or a share into a verdict."""
    if part_from > holds_from:
        raise ValueError(f"part_from must be at most holds_from {holds_from}, got {part_from}")
    if amount >= holds_from:
        return HOLDS
    return IN_PART if amount >= part_from else FAILS


def _tested(results, protocol, experiment, method, rival, scenario="", min_cases=None):
    """Test method against rival; raise NotTested unless enough cases have both."""
    cases = [c for c in values(experiment)["case"].unique() if c.startswith(scenario)]
    needed = len(cases) if min_cases is None else min_cases
    rows = significance(results, experiment, protocol, method, [rival])
    rows = rows[rows["case"].isin(cases) & (rows["n"] >= 2)]
    if len(rows) < needed:
        raise NotTested(
            f"{len(rows)} of {needed} {experiment} cases have runs of {method} and {rival} "
            f"under {protocol}"
        )
    order = {case: position for position, case in enumerate(cases)}
    return rows.sort_values("case", key=lambda column: column.map(order), ignore_index=True)


def _signed(points):
    return f"{points:+.2f}".replace("-", "−")


def _as_list(one_or_many):
    return [one_or_many] if isinstance(one_or_many, str) else list(one_or_many)


def better_in_cases(
    results,
    protocol,
    *,
    experiment,
    method,
    rivals,
    holds_from,
    part_from,
    significant=False,
    scenario="",
    min_cases=None,
):
    """Count the cases in which one method has a higher mean than every rival."""
    rivals = _as_list(rivals)
    wins, total, gains = 0, 0, []
    for name in _as_list(experiment):
        tests = pd.concat(
            _tested(results, protocol, name, method, rival, scenario, min_cases) for rival in rivals
        )
        better = tests["better_paired"] if significant else tests["gain"] > 0
        in_case = better.groupby(tests["case"]).sum() == len(rivals)
        wins, total = wins + int(in_case.sum()), total + len(in_case)
        gains += tests["gain"].tolist()
    kind = "significantly above" if significant else "above"
    return Finding(
        graded(wins, holds_from, part_from),
        f"{method} is {kind} {' and '.join(rivals)} in {wins} of {total} cases; "
        f"mean gain {_signed(100 * sum(gains) / len(gains))} points",
    )


def gain_in_cases(
    results,
    protocol,
    *,
    experiment,
    rival,
    at_least,
    measure,
    holds_from,
    part_from,
    method="DDR-uLSIF",
    scenario="",
):
    """Count the cases in which a method gains at least so many percent over a rival."""
    if measure not in ("points", "relative"):
        raise ValueError(f"measure must be 'points' or 'relative', got {measure!r}")
    tested = _tested(results, protocol, experiment, method, rival, scenario)
    runs = ours(results, experiment, protocol)
    base = runs[runs["method"] == rival].groupby("case")["accuracy"].mean()
    points = 100 * tested.set_index("case")["gain"]
    percent = {"points": points, "relative": 100 * points / (100 * base.loc[points.index])}
    counts = {name: int((values >= at_least).sum()) for name, values in percent.items()}
    return Finding(
        graded(counts[measure], holds_from, part_from),
        f"{method} gains at least {at_least:g} % over {rival} in {counts['points']} of "
        f"{len(points)} cases by points and in {counts['relative']} by relative accuracy; "
        f"largest gain {_signed(points.max())} points",
    )


def smaller_spread(
    results, protocol, *, experiment, rival, holds_share, part_share, method="DDR-uLSIF"
):
    """Count the cases in which a method varies less from run to run than a rival."""
    smaller, total = 0, 0
    for name in _as_list(experiment):
        cases = _tested(results, protocol, name, method, rival)["case"]
        runs = ours(results, name, protocol)
        sd = runs.groupby(["case", "method"])["accuracy"].std().unstack().loc[cases]
        smaller, total = smaller + int((sd[method] < sd[rival]).sum()), total + len(sd)
    return Finding(
        graded(smaller / total, holds_share, part_share),
        f"the sd of {method} is below that of {rival} in {smaller} of {total} cases",
    )


def close_in_cases(
    results, protocol, *, experiment, reference, within, holds_from, part_from, method="DDR-uLSIF"
):
    """Count the cases in which a method comes within so many points of a reference."""
    gap = -100 * _tested(results, protocol, experiment, method, reference)["gain"]
    near = int((gap <= within).sum())
    return Finding(
        graded(near, holds_from, part_from),
        f"{method} is at most {within:g} points below {reference} in {near} of {len(gap)} cases; "
        f"largest gap {gap.max():.2f} points",
    )


def faster(results, protocol, *, experiment, method, rivals, holds_share, part_share):
    """Compare the median seconds of a run."""
    if "seconds" not in results:
        raise NotTested("the runs have no column seconds")
    runs = ours(results, experiment, protocol).dropna(subset=["seconds"])
    median = runs.groupby(["case", "method"])["seconds"].median().unstack()
    rivals = _as_list(rivals)
    missing = [m for m in [method, *rivals] if m not in median]
    if missing:
        raise NotTested(f"no {experiment} runs of {' and '.join(missing)} under {protocol}")
    slower = median[rivals].div(median[method], axis=0).dropna(how="all")
    share = float((slower.stack() > 1).mean())
    ratios = ", ".join(f"{r} {slower[r].median():.2g} times" for r in rivals)
    return Finding(
        graded(share, holds_share, part_share),
        f"median time of a whole run, each with the candidates that the protocol gives it, "
        f"relative to {method}: {ratios}",
    )


def universe_runs(results, experiment, universe, method):
    """Select the accuracies of one method in one universe of the multiverse."""
    runs = ours(results, experiment, f"universe:{universe}")
    return runs[runs["method"] == method].set_index(["case", "seed"])["accuracy"]


def universe_is_worse(results, protocol, *, experiment, universe, holds_points, method="DDR-uLSIF"):
    """Compare a method under a protocol with the same method under one changed choice."""
    other = universe_runs(results, experiment, universe, method)
    runs = ours(results, experiment, protocol)
    here = runs[runs["method"] == method].set_index(["case", "seed"])["accuracy"]
    pairs = pd.concat({"here": here, "other": other}, axis=1).dropna()
    cases = values(experiment)["case"].unique()
    n_cases = pairs.index.get_level_values("case").nunique()
    if n_cases < len(cases):
        raise NotTested(
            f"{n_cases} of {len(cases)} {experiment} cases have runs of the universe {universe}"
        )
    worse = better = 0
    for _, rows in pairs.groupby(level="case"):
        decided = paired_and_welch(rows["here"], rows["other"])[0] < 0.05
        gain = (rows["here"] - rows["other"]).mean()
        worse, better = worse + (decided and gain > 0), better + (decided and gain < 0)
    cost = 100 * (pairs["here"] - pairs["other"]).groupby(level="case").mean().mean()
    in_part = cost > 0 and worse > better
    verdict = HOLDS if cost >= holds_points else IN_PART if in_part else FAILS
    return Finding(
        verdict,
        f"the other choice changes {method} by {_signed(-cost)} points on average over {n_cases} "
        f"cases; it is significantly worse in {worse} and better in {better}",
    )
