"""The verdict on each printed value, each order of methods, and the effect; the word of a table.

Values, spreads, orders and the effect are judged apart. Beside each count stands what an exact
replication would reach, and beside each word what it would be if the gain of DDR were as printed,
halved, quartered or nil. The page of the scoreboard states the rule.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence import gains
from companion.evidence import printed as paper
from companion.evidence.gains import ALPHA, METHOD, RIVAL
from companion.paths import BOOK, EXPERIMENTS, PROTOCOLS, read_yaml

#: Least shares of what an exact replication reaches, for two words; most orders reversed; the
#: share of the printed gain from which it counts as printed, and below which as none; near.
WHOLLY, PARTLY, FEW_REVERSED, AS_PRINTED, NONE, NEAR = 0.9, 0.5, 0.05, 0.75, 0.25, 0.02
WORDS = ("reproduces", "reproduces in part", "does not reproduce")
_DRAWS, _SEED = 400, 2014  # of simulated replications
_OF_VALUES, _OF_ORDERS = ("agrees", "near"), ("kept", "reversed")  # the marks that count for a word
#: The worlds in which a word is tried: what share of the printed gain is there.
WORLDS = {"as printed": 1.0, "halved": 0.5, "quartered": 0.25, "nil": 0.0}


class Effect(NamedTuple):
    """Our mean gain over uLSIF beside the printed one, as share and as difference in points.

    Intervals are over the cases: of a ratio by Fieller's theorem, of a difference by Student's t.
    """

    ours: float
    printed: float
    share: float
    share_low: float
    share_high: float
    difference: float
    low: float
    high: float


class TableVerdict(NamedTuple):
    """What was found of one table under one protocol, what a replication would reach, the word."""

    values: pd.DataFrame
    orders: pd.DataFrame
    columns: pd.DataFrame
    effect: Effect
    expected: dict
    word: str


def value_marks(delta, low, high):
    """Judge values by their difference from print and its interval."""
    delta = np.asarray(delta, dtype=float)
    marks = np.where(np.round(np.abs(delta), 12) <= NEAR, "near", "differs")
    marks = np.where((np.asarray(low) <= 0) & (np.asarray(high) >= 0), "agrees", marks)
    return np.where(np.isnan(delta), "not run", marks)


def order_marks(gain, p):
    """Judge orders by our gain of the printed winner and its paired p-value."""
    gain, p = np.asarray(gain, dtype=float), np.asarray(p, dtype=float)
    # One run has no test: it cannot tell.
    marks = np.where(p < ALPHA, np.where(gain > 0, "kept", "reversed"), "open")
    return np.where(np.isnan(gain), "not run", marks)


def spread_marks(sd, n, paper_sd, paper_n):
    """Compare sds by an F-test."""
    below = stats.f.cdf((sd / paper_sd) ** 2, n - 1, paper_n - 1)
    differ = 2 * np.minimum(below, 1 - below) < ALPHA
    marks = np.where(differ, np.where(sd < paper_sd, "smaller", "larger"), "agrees")
    return np.where(np.isfinite(sd), marks, "–")


def roles():
    """Why a cell of a table may look good: its role in the choice of the matched protocol."""
    rows = []
    for experiment, entries in read_yaml(BOOK / "cell_roles.yml").items():
        for entry in entries:
            for case in paper.cases(experiment)[slice(*entry.get("cases", [None]))]:
                rows += [(experiment, case, m, entry["role"]) for m in entry["methods"]]
    return pd.DataFrame(rows, columns=["experiment", "case", "method", "role"])


def compare(results, experiment, protocol="matched"):
    """Set our runs beside the printed table: one row a value, with its marks and its role."""
    printed = paper.values(experiment).drop(columns="reference").assign(protocol=protocol)
    named = {name: f"paper_{name}" for name in ("mean", "sd", "n", "typeface")}
    runs = gains.runs_of(results, experiment, protocol).groupby(["case", "method"])["accuracy"]
    ours = runs.agg(mean="mean", sd="std", n="count").reset_index()
    table = printed.rename(columns=named).merge(ours, "left").merge(roles(), "left")
    mean, sd, n = table["mean"], table["sd"], table["n"]
    theirs = table["paper_mean"], table["paper_sd"], table["paper_n"]
    low, high = gains.welch_interval(mean, sd, n.where(n > 1), *theirs)
    delta = mean - theirs[0]
    return table.assign(
        n=n.fillna(0).astype(int), delta=delta, low=low, high=high, sd_ratio=sd / theirs[1],
        spread=spread_marks(sd, n, *theirs[1:]), value=value_marks(delta, low, high),
    )  # fmt: skip


def compare_columns(table):
    """Test the means of each column jointly: a sum of squared z-values, by chi square."""
    error = np.sqrt(table["sd"] ** 2 / table["n"] + table["paper_sd"] ** 2 / table["paper_n"])
    z = (table["delta"] / error).groupby(table["method"], sort=False)
    found = pd.DataFrame({"chi2": z.apply(lambda c: (c**2).sum()), "cells": z.count()})
    found["p"] = stats.chi2.sf(found["chi2"], found["cells"].clip(lower=1))
    found["bias"] = 100 * table.groupby("method", sort=False)["delta"].mean()
    return found[found["cells"] > 0]


def compare_orders(results, experiment, protocol="matched"):
    """Judge each pair of compared methods that the printed numbers themselves tell apart."""
    wide, rows = 100 * gains.accuracies(results, experiment, protocol), []
    pairs = distinguished(experiment)
    for pair in pairs.itertuples():
        runs = wide[wide.index.get_level_values("case") == pair.case]
        better, worse = runs.reindex(columns=[pair.better, pair.worse]).dropna().to_numpy().T
        gain = float(np.mean(better - worse)) if len(better) else np.nan
        rows.append((gain, float(gains.t_test(better - worse))))
    gain, p = np.array(rows).T
    return pairs.assign(gain=gain, p=p, order=order_marks(gain, p))


def distinguished(experiment):
    """Pairs of a row whose printed means, sds and n differ by Welch's test, the better first."""
    names = {"method": "better", "method_rival": "worse", "p": "p_printed"}
    pairs = paper.printed_pairs(experiment).rename(columns=names)[["case", *names.values()]]
    return pairs[pairs["p_printed"] < ALPHA]


def effect_of(ours, printed):
    """Set our gains beside the printed ones, case by case, with intervals over the cases."""
    ours, printed = (np.asarray(each, dtype=float) for each in (ours, printed))
    k = len(printed)
    if k < 2:
        return Effect(*[np.nan] * len(Effect._fields))
    (a, b), reach = (ours.mean(), printed.mean()), stats.t.ppf(0.975, k - 1) ** 2 / k
    aa, ab, _, bb = (reach * np.cov(ours, printed)).ravel()
    # Where the printed gain itself may be nil, its share has no bounds.
    scale = b**2 - bb if b**2 > bb else np.nan
    width = np.sqrt(max((a * b - ab) ** 2 - scale * (a**2 - aa), 0))
    low, high = (a * b - ab - width) / scale, (a * b - ab + width) / scale
    return Effect(*map(float, (a, b, a / b, low, high, *gains.mean_interval(ours - printed))))


def table_effect(results, experiment, protocol="matched"):
    """Our gain of DDR over uLSIF beside the printed one, over the cases that were run."""
    wide = gains.accuracies(results, experiment, protocol).reindex(columns=[METHOD, RIVAL]).dropna()
    ours = 100 * (wide[METHOD] - wide[RIVAL]).groupby(level="case").mean()
    return effect_of(ours, paper.printed_gains(experiment, METHOD, RIVAL).reindex(ours.index))


def correlations(results, experiment, protocol):
    """Correlation of the methods over our runs, case by case; none where nothing was run."""
    columns = list(paper.printed_means(experiment))
    wide = gains.accuracies(results, experiment, protocol).reindex(columns=columns)
    # Where a method was not run, or never varies, it has no correlation with others.
    return {
        case: wide[wide.index.get_level_values("case") == case].corr().fillna(0).to_numpy()
        * (1 - np.eye(len(columns))) + np.eye(len(columns))
        for case in paper.cases(experiment)
    }  # fmt: skip


def simulated(experiment, alike, runs, share=1.0):
    """Runs by case and method, a row a replication; DDR gains a share of what is printed.

    The truth is no more certain than the print: its means are drawn around the printed ones.
    """
    rng, found = np.random.default_rng(_SEED), {}
    means, sds = paper.printed_means(experiment), paper.printed_means(experiment, "sd")
    means[METHOD] = means[RIVAL] + share * (means[METHOD] - means[RIVAL])
    root = np.sqrt(paper.ledger()["runs"])
    for case, matrix in alike.items():
        mean, sd = (table.loc[case].to_numpy() for table in (means, sds))
        values, vectors = np.linalg.eigh(matrix)
        mixed = vectors * np.sqrt(np.maximum(values, 0))
        truth = mean + sd * rng.standard_normal((_DRAWS, 1, len(sd))) / root
        drawn = truth + rng.standard_normal((_DRAWS, runs, len(sd))) @ mixed.T * sd
        found |= {(case, method): drawn[..., k] for k, method in enumerate(means)}
    return found


def replicated(experiment, alike, runs, share=1.0):
    """Counts of marks and the share of the gain in replications where so much of it is there."""
    drawn, marks = simulated(experiment, alike, runs, share), []
    for cell in paper.values(experiment).itertuples():
        ours = drawn[cell.case, cell.method]
        mean, sd = ours.mean(axis=1), ours.std(axis=1, ddof=1)
        ends = gains.welch_interval(mean, sd, runs, cell.mean, cell.sd, cell.n)
        marks.append(value_marks(mean - cell.mean, *ends))
    for row in distinguished(experiment).itertuples():
        gain = drawn[row.case, row.better] - drawn[row.case, row.worse]
        marks.append(order_marks(gain.mean(axis=1), gains.t_test(gain)))
    counts = {m: np.sum(np.array(marks) == m, axis=0) for m in (*_OF_VALUES, *_OF_ORDERS)}
    ours = [(drawn[c, METHOD] - drawn[c, RIVAL]).mean(axis=1) for c in paper.cases(experiment)]
    in_print = paper.printed_gains(experiment, METHOD, RIVAL).mean()
    return counts | {"share": 100 * np.mean(ours, axis=0) / in_print}


def judge(results, experiment, protocol="matched"):
    """Judge a table under a protocol: values, orders, columns, effect, and the word."""
    table, orders = (f(results, experiment, protocol) for f in (compare, compare_orders))
    effect = table_effect(results, experiment, protocol)
    again = replicated(experiment, *_as_ours(results, experiment, protocol))
    judged = {  # the share of values, and of orders, that were run at all
        **dict.fromkeys(_OF_VALUES, (table["value"] != "not run").mean()),
        **dict.fromkeys(_OF_ORDERS, (orders["order"] != "not run").mean()),
    }
    expected = {mark: float(again[mark].mean() * share) for mark, share in judged.items()}
    found = Counter(table["value"]) + Counter(orders["order"])
    of_ours = {mark: found[mark] for mark in expected} | {"share": effect.share}
    word = str(_words(of_ours, expected, len(orders))) if table["n"].any() else "not run"
    return TableVerdict(table, orders, compare_columns(table), effect, expected, word)


def judge_all(results):
    """Judge every table under both protocols."""
    return {(e, p): judge(results, e, p) for p in PROTOCOLS for e in EXPERIMENTS}


def _as_ours(results, experiment, protocol):
    """How our methods vary together, and the number of our runs, as far as the print has them."""
    runs = gains.accuracies(results, experiment, protocol).groupby(level="case").size().max()
    n = int(np.clip(np.nan_to_num(runs), 2, paper.ledger()["runs"]))
    return correlations(results, experiment, protocol), n


def worlds(results, experiment, protocol="matched"):
    """Share of tables that would get each word if so much of the printed gain were there."""
    drawn = {
        name: replicated(experiment, *_as_ours(results, experiment, protocol), share)
        for name, share in WORLDS.items()
    }
    expected = {mark: counts.mean() for mark, counts in drawn["as printed"].items()}
    pairs = len(distinguished(experiment))
    words = pd.DataFrame({name: _words(counts, expected, pairs) for name, counts in drawn.items()})
    return pd.DataFrame({word: (words == word).mean() for word in WORDS})


def _words(counts, expected, pairs):
    """The word that counts of marks and a share of the gain give, of one table or of many."""
    reach = (counts["agrees"] + counts["near"]) / (expected["agrees"] + expected["near"] or 1)
    wholly = (reach >= WHOLLY) & (counts["reversed"] <= FEW_REVERSED * pairs)
    partly = (reach >= PARTLY) & (counts["kept"] >= PARTLY * expected["kept"])
    share = counts["share"]
    return np.select(
        [wholly & (share >= AS_PRINTED), (wholly | partly) & (share >= NONE)],
        WORDS[:2], WORDS[2],
    )  # fmt: skip


def summary(verdict):
    """Count the marks in one line, beside what an exact replication would reach."""
    found, turned = Counter(verdict.values["value"]), Counter(verdict.orders["order"])
    spread, expected = Counter(verdict.values["spread"]), verdict.expected
    off = verdict.columns[verdict.columns["p"] < ALPHA]
    columns = ", ".join(f"{name} (p = {row.p:.2g})" for name, row in off.iterrows())
    return (
        f"{len(verdict.values)} values: {found['agrees']} agree ({expected['agrees']:.0f} expected "
        f"of an exact replication), {found['near']} near, {found['differs']} differ"
        f"{_not_run(found)}; columns that differ as a whole: {columns or 'none'}; "
        f"{len(verdict.orders)} rankings that are clear in print: "
        f"{turned['kept']} kept ({expected['kept']:.0f} expected), {turned['open']} open, "
        f"{turned['reversed']} reversed{_not_run(turned)}; "
        f"sds: {spread['agrees']} agree, {spread['smaller']} smaller, {spread['larger']} larger"
    )


def _not_run(counts):
    return f", {counts['not run']} not run" if "not run" in counts else ""


def effect_words(effect):
    """Say how much of the printed gain is here."""
    if np.isnan(effect.share):
        return "the gain was not run"
    ends = f"95 % interval {100 * effect.share_low:.0f} to {100 * effect.share_high:.0f}"
    interval = "no bounds" if np.isnan(effect.share_low) else ends
    return f"{100 * effect.share:.0f} % of the printed gain ({interval})".replace("-", "−")
