"""The checks behind the claims: runs in; verdict, found, claimed and expected out.

Each check is a plain function ``check(results, protocol, **settings)``; the settings stand in
``book/claims.yml``. Counts are computed by the same lines from our runs and from simulated exact
replications, so that what was found stands beside what the print itself would lead one to expect.
A check that lacks its runs raises :class:`NotTested` with the reason.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence.gains import (
    METHOD,
    accuracies,
    mean_interval,
    over_cases,
    paired,
    welch_interval,
)
from companion.evidence.printed import cases, values
from companion.evidence.replication import simulated
from companion.evidence.tables import points, with_interval
from companion.evidence.universes import universe_change

HOLDS, IN_PART, FAILS, UNDECIDED = "holds", "holds in part", "does not hold", "undecided"
CHECKS = {}


class NotTested(Exception):  # noqa: N818 - a reason, not an error
    """The runs that a check needs are not there; the message says which."""


class Finding(NamedTuple):
    """A verdict, what it rests on in short, and the sentence that supports it."""

    verdict: str
    found: str
    claimed: str
    expected: str
    evidence: str


def check(function):
    """Register a check, so that the claims file can name it."""
    CHECKS[function.__name__] = function
    return function


def _as_tuple(one_or_many):
    return (one_or_many,) if isinstance(one_or_many, str) else tuple(one_or_many)


# ---------------------------------------------------------------------------- counts of cases


class CountedCase(NamedTuple):
    """What is counted: gains of a method over all rivals, beyond a threshold."""

    experiments: tuple
    scenario: str
    method: str
    rivals: tuple
    threshold: float
    relative: bool
    significant: bool


@check
def count_cases(
    results,
    protocol,
    *,
    experiment,
    method,
    rivals,
    claimed,
    threshold=0.0,
    relative=False,
    significant=False,
    somewhere=False,
    scenario="",
):
    """Count the cases in which a method gains more than a threshold over every rival."""
    asked = CountedCase(
        _as_tuple(experiment), scenario, method, _as_tuple(rivals), threshold, relative, significant
    )
    good, against, total = _counts(asked, _observed(results, protocol, asked))
    good, against = int(good), int(against)
    expected = expected_counts(asked)
    # A claim that something happens in so many cases is not refuted by the others.
    all_count = threshold == 0 and not somewhere
    verdict = count_verdict(good, against, total, claimed, expected, significant, all_count)
    return Finding(
        verdict,
        f"{good} of {total}",
        f"{claimed} of {total}",
        f"{expected['mean']:.1f} ({expected['low']:.0f} to {expected['high']:.0f})",
        f"{method} {_condition(asked)} in {good} of {total} cases; significantly the other way in "
        f"{against}; mean gain {points(_mean_gain(results, protocol, asked))} points",
    )


def _mean_gain(results, protocol, asked):
    gains = [
        paired(results, experiment, protocol, asked.method, rival)
        for experiment in asked.experiments
        for rival in asked.rivals
    ]
    gains = pd.concat(gains)
    return gains.loc[gains["case"].str.startswith(asked.scenario), "gain"].mean()


def _condition(asked):
    rivals = " and ".join(asked.rivals)
    if asked.threshold == 0:
        return f"is {'significantly ' if asked.significant else ''}above {rivals}"
    if asked.threshold < 0:
        return f"is at most {-asked.threshold:g} points below {rivals}"
    return f"gains at least {asked.threshold:g} {'%' if asked.relative else 'points'} over {rivals}"


def _observed(results, protocol, asked):
    """Runs by experiment and case; all cases of a table are needed."""
    found = {}
    for experiment in asked.experiments:
        wide = accuracies(results, experiment, protocol)
        wide = wide.reindex(columns=[asked.method, *asked.rivals]).dropna()
        sizes = wide.groupby(level="case").size()
        names = cases(experiment, asked.scenario)
        have = [case for case in names if sizes.get(case, 0) >= 2]
        if len(have) < len(names):
            raise NotTested(
                f"{len(have)} of {len(names)} {experiment} cases have runs of {asked.method} and "
                f"{' and '.join(asked.rivals)} under {protocol}"
            )
        for case in names:
            for name in wide:
                found[experiment, case, name] = wide.loc[case][name].to_numpy()
    return found


def _counts(asked, runs):
    """Count good and contradicting cases; a leading axis of replications is kept."""
    good = against = total = 0
    for experiment in asked.experiments:
        for case in cases(experiment, asked.scenario):
            first = runs[experiment, case, asked.method]
            gains = [_gain(first, runs[experiment, case, r], asked.relative) for r in asked.rivals]
            good = good + np.all([_reached(gain, asked) for gain in gains], axis=0)
            against = against + np.any([gain[2] < asked.threshold for gain in gains], axis=0)
            total += 1
    return good, against, total


def _gain(first, second, relative):
    scale = 100 / second.mean(axis=-1, keepdims=True) if relative else 100
    mean, low, high = mean_interval(scale * (first - second))
    # Printed digits are exact decimals: rounding keeps binary noise away from the threshold.
    return np.round(mean, 9), np.round(low, 9), np.round(high, 9)


def _reached(gain, asked):
    mean, low, _ = gain
    if asked.significant:
        return low > asked.threshold
    return mean >= asked.threshold if asked.threshold else mean > 0


@lru_cache(maxsize=64)
def expected_counts(asked):
    """Simulate what exact replications count: mean and the range of the middle 90 %."""
    runs = {(e, *key): x for e in asked.experiments for key, x in simulated(e, 1).items()}
    good, against, _ = _counts(asked, runs)
    low, high = np.quantile(good, [0.05, 0.95])
    return {
        "mean": float(good.mean()),
        "low": float(low),
        "high": float(high),
        "most_against": float(np.quantile(against, 0.95)),
    }


def count_verdict(good, against, total, claimed, expected, significant=False, count_losses=True):
    """Judge a count.

    It holds when exact replications would often count no more (their 5 % quantile), and where
    losses matter no fewer cases against it. Otherwise it is undecided when what speaks
    significantly against it leaves room for enough cases; this does not apply where significance
    itself is counted.
    """
    if good == 0 and expected["low"] == 0:
        return UNDECIDED  # an exact replication may well find none either
    too_many_losses = count_losses and against > expected["most_against"]
    if good >= expected["low"] and not too_many_losses:
        return HOLDS
    if not significant and good >= claimed / 2 and total - against >= expected["low"]:
        return UNDECIDED
    return IN_PART if good >= claimed / 2 else FAILS


# ------------------------------------------------------------------------------- means over cases


def interval_verdict(low, high, wins, losses):
    """Judge a mean by its interval over the cases, with significant wins and losses beside it."""
    if low > 0:
        return IN_PART if losses else HOLDS
    if high < 0:
        return FAILS
    decided = wins + losses > 0 and stats.binomtest(wins, wins + losses).pvalue < 0.05
    if decided:
        return IN_PART if wins > losses else FAILS
    return UNDECIDED


@check
def mean_gain(results, protocol, *, experiment, method, rival, min_cases=None):
    """Ask whether a method gains on average over the cases, losses counted like wins."""
    tables = []
    for name in _as_tuple(experiment):
        table = paired(results, name, protocol, method, rival)
        table = table[table["n"] >= 2]
        needed = len(cases(name)) if min_cases is None else min_cases
        if len(table) < needed:
            raise NotTested(
                f"{len(table)} of {needed} {name} cases have runs of {method} and {rival} under "
                f"{protocol}"
            )
        tables.append(table)
    gains = pd.concat(tables, ignore_index=True)
    found = over_cases(gains)
    interval = with_interval(found["mean"], found["low"], found["high"])
    printed = gains["printed"].astype(float).mean()
    return Finding(
        interval_verdict(found["low"], found["high"], found["better"], found["worse"]),
        interval,
        points(printed),
        points(printed),
        f"{method} minus {rival}, mean of {found['cases']} cases: {interval} points; significantly "
        f"better in {found['better']}, worse in {found['worse']}",
    )


@check
def spread_ratio(results, protocol, *, experiment, rival, method=METHOD):
    """Compare how much two methods vary from run to run, by the ratio of their sds."""
    names = _as_tuple(experiment)
    asked = CountedCase(names, "", method, (rival,), 0.0, False, False)
    ours = _log_ratios(_observed(results, protocol, asked), asked)
    again = {(e, *key): x for e in names for key, x in simulated(e, 1).items()}
    mean, low, high = np.exp(mean_interval(ours))
    expected = np.exp(_log_ratios(again, asked).mean(axis=-1))
    printed = np.exp(np.mean(list(_printed_log_ratios(asked))))
    verdict = HOLDS if high < 1 else FAILS if low > 1 else UNDECIDED
    return Finding(
        verdict,
        f"{mean:.2f} ({low:.2f} to {high:.2f})",
        f"{printed:.2f}",
        f"{expected.mean():.2f}",
        f"the sd of {method} over that of {rival}, geometric mean of {len(ours)} cases: "
        f"{mean:.2f}, 95 % interval {low:.2f} to {high:.2f}; smaller in {(ours < 0).sum()}",
    )


def _log_ratios(runs, asked):
    ratios = [
        np.log(runs[e, case, asked.method].std(axis=-1, ddof=1))
        - np.log(runs[e, case, asked.rivals[0]].std(axis=-1, ddof=1))
        for e in asked.experiments
        for case in cases(e)
        if runs[e, case, asked.rivals[0]].std() > 0 and runs[e, case, asked.method].std() > 0
    ]
    return np.stack(ratios, axis=-1)


def _printed_log_ratios(asked):
    for e in asked.experiments:
        sd = values(e).pivot(index="case", columns="method", values="sd")
        yield from np.log(sd[asked.method] / sd[asked.rivals[0]])


# ---------------------------------------------------------------------------------- universes


def _cost(results, experiment, universe, method):
    """Cost of one changed choice in points, by case, with significant wins and losses."""
    change = universe_change(results, experiment, universe, method)
    if len(change) < len(cases(experiment)):
        raise NotTested(
            f"{len(change)} of {len(cases(experiment))} {experiment} cases have runs of the "
            f"universe {universe}"
        )
    # What the other choice loses is what this one is worth.
    return -change["gain"].to_numpy(), change["worse_paired"].sum(), change["better_paired"].sum()


@check
def choice_matters(results, protocol, *, experiment, universe, method=METHOD):
    """Ask, table by table, whether the other choice costs accuracy."""
    verdicts, found, sentences = [], [], []
    for name in _as_tuple(experiment):
        cost, wins, losses = _cost(results, name, universe, method)
        mean, low, high = mean_interval(cost)
        verdicts.append(interval_verdict(low, high, wins, losses))
        found.append(with_interval(mean, low, high))
        sentences.append(
            f"{name}: worth {found[-1]} points over {len(cost)} cases, significantly better with "
            f"it in {wins}, without it in {losses}"
        )
    return Finding(_together(verdicts), "; ".join(found), "above 0", "–", "; ".join(sentences))


def _together(verdicts):
    """One verdict for several tables: it holds, or is undecided, only where it does in all."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    if {HOLDS, IN_PART} & set(verdicts):
        return IN_PART
    return UNDECIDED


@check
def costs_more_there(results, protocol, *, here, there, universe, method=METHOD):
    """Ask whether a choice costs more on one table than on another, where it is said to work."""
    one, other = (_cost(results, name, universe, method)[0] for name in (there, here))
    moments = [x for cost in (one, other) for x in (cost.mean(), cost.std(ddof=1), len(cost))]
    low, high = welch_interval(*moments)
    verdict = HOLDS if low > 0 else FAILS if high < 0 else UNDECIDED
    return Finding(
        verdict,
        with_interval(moments[0] - moments[3], low, high),
        "above 0",
        "–",
        f"it costs {points(moments[0])} points on {there} and {points(moments[3])} on {here}; "
        f"difference {with_interval(moments[0] - moments[3], low, high)}",
    )
