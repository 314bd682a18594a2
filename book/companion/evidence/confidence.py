"""Which protocols does the print not contradict? A set, its trial on planted protocols, and a null.

A protocol belongs to the set when, in most of many random halves of the cases, its distance from
print is within chance on both sides. Chance is the distance between as many runs as the print has
and as many as ours, both drawn from the protocol's own draws. The set may be empty.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.printed import ledger


class Candidates(NamedTuple):
    """Accuracies of protocols: axes protocol, cell, draw; a cell is a case and a column."""

    names: list
    cells: list
    draws: np.ndarray


def from_moments(names, cells, mean, sd, n):
    """Candidates whose draws were not kept: normal scores with just these means and sds."""
    scores = stats.norm.ppf((np.arange(n) + 0.5) / n)
    scores /= scores.std(ddof=1)
    return Candidates(names, cells, mean[..., None] + sd[..., None] * scores)


def groups(search):
    """Cases that never part: as the rules name them, or the two directions of a pair of digits."""
    related = search["related"]
    if related == "directions":
        cases, half = search["cases"], len(search["cases"]) // 2
        related = [list(pair) for pair in zip(cases[:half], cases[half:], strict=True)]
    together = {case for group in related for case in group}
    return related + [[case] for case in search["cases"] if case not in together]


def halves(search, cells):
    """Random halves of the cells, related cases together: two rows of zeros and ones for each."""
    rule, families = search["set"], groups(search)
    rng, found = np.random.default_rng(rule["seed"]), []
    for _ in range(rule["halves"]):
        order = rng.permutation(len(families))[: len(families) // 2]
        chosen = {case for place in order for case in families[place]}
        one = np.array([case in chosen for case, _ in cells], dtype=float)
        found += [one, 1 - one]
    return np.array(found)


def distance(mean_off, sd_off, sides):
    """Root mean square of the misses of means and sds, for each side of each half."""
    return np.sqrt((mean_off**2 + sd_off**2) @ sides.T / sides.sum(axis=1))


def limits(candidates, search, sides, runs):
    """How far chance takes each protocol from its own print: a row a protocol, a column a side."""
    rule, found = search["set"], []
    for draws in candidates.draws:
        rng = np.random.default_rng(rule["seed"] + 1)  # the same chance for every protocol
        twice = []
        for n in runs:
            picked = rng.integers(draws.shape[1], size=(rule["resamples"], n))
            again = draws[:, picked]
            twice.append((again.mean(axis=2).T, again.std(axis=2, ddof=1).T))
        off = [ours - printed for printed, ours in zip(*twice, strict=True)]
        found.append(np.quantile(distance(*off, sides), rule["level"], axis=0))
    return np.array(found)


def moments(draws):
    """Means and sds over the draws."""
    return draws.mean(axis=-1), draws.std(axis=-1, ddof=1)


def passed(ours, printed, most, sides):
    """Share of the halves in which each protocol is within chance of a print on both sides."""
    off = [a - b for a, b in zip(ours, printed, strict=True)]
    return (distance(*off, sides) <= most).reshape(len(most), -1, 2).all(axis=2).mean(axis=1)


def confidence_set(search, printed, candidates):
    """Judge every protocol: its distance over all cells, and in how many halves it passes."""
    sides, n = halves(search, candidates.cells), candidates.draws.shape[2]
    most = limits(candidates, search, sides, (ledger()["runs"], n))
    cells = printed.set_index(["case", "column"]).loc[candidates.cells]
    target, ours = (cells["mean"].to_numpy(), cells["sd"].to_numpy()), moments(candidates.draws)
    whole = np.ones((1, len(candidates.cells)))
    table = pd.DataFrame(candidates.names, columns=["variant", "grid"]).assign(
        score=distance(*(a - b for a, b in zip(ours, target, strict=True)), whole)[:, 0],
        passed=passed(ours, target, most, sides),
    )
    trials = pd.concat(
        [_planted(search, candidates, sides), _permuted(search, candidates, sides, most, target)]
    )
    return table.assign(member=table["passed"] >= search["set"]["share"]), trials


def _planted(search, candidates, sides):
    """Take protocols at random for the truth, with a print from draws that the search never saw."""
    rule, rng = search["set"], np.random.default_rng(search["set"]["seed"] + 2)
    n, rows = candidates.draws.shape[2], []
    split = None if search.get("moments") else limits(candidates, search, sides, (n // 2, n // 2))
    for truth in rng.integers(len(candidates.names), size=search["planted"]):
        if split is None:  # no draw was kept: new ones for print and search
            fresh = [_normal_draws(candidates, k, rng) for k in (ledger()["runs"], n)]
            most = limits(fresh[1], search, sides, (ledger()["runs"], n))
            draws = [c.draws for c in fresh]
        else:
            order, most = rng.permutation(n), split
            draws = [candidates.draws[..., o] for o in (order[: n // 2], order[n // 2 :])]
        share = passed(moments(draws[1]), moments(draws[0][truth]), most, sides)
        rows.append(("planted", share[truth] >= rule["share"], (share >= rule["share"]).sum(), 0))
    return pd.DataFrame(rows, columns=["trial", "found", "size", "best"])


def _normal_draws(candidates, n, rng):
    mean, sd = (moment[..., None] for moment in moments(candidates.draws))
    return candidates._replace(draws=mean + sd * rng.standard_normal((*mean.shape[:2], n)))


def _permuted(search, candidates, sides, most, target):
    """Deal the printed rows to other cases: what would be found in a print that never was."""
    rng, rows = np.random.default_rng(search["set"]["seed"] + 3), []
    ours, cells = moments(candidates.draws), candidates.cells
    whole = np.ones((1, len(cells)))
    for _ in range(search["permuted"]):
        dealt = {}
        for family in exchangeable(search):
            dealt |= dict(zip(family, rng.permutation(family), strict=True))
        places = [cells.index((dealt[case], column)) for case, column in cells]
        printed = [moment[places] for moment in target]
        share = passed(ours, printed, most, sides)
        off = [a - b for a, b in zip(ours, printed, strict=True)]
        best = distance(*off, whole).min()
        rows.append(("permuted", False, (share >= search["set"]["share"]).sum(), best))
    return pd.DataFrame(rows, columns=["trial", "found", "size", "best"])


def exchangeable(search):
    """Cases whose printed rows are dealt among each other: digits among digits, and so on."""
    digits = [case for case in search["cases"] if case[-2:-1] == "v"]
    others = [case for case in search["cases"] if case not in digits]
    return [family for family in (others, digits) if family]
