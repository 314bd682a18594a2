"""The checks behind the claims: runs in; verdict, found, claimed and expected out.

Each check is a plain function ``check(results, protocol, **settings)``; the settings stand in
``book/claims.yml``. Counts are computed by the same lines from our runs and from simulated exact
replications, so that what was found stands beside what the print itself would lead one to expect.
A check that lacks its runs raises :class:`NotTested` with the reason.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from companion.evidence import gains
from companion.evidence.gains import ALPHA, METHOD
from companion.evidence.multiverse import universe_change
from companion.evidence.printed import cases, printed_means
from companion.evidence.tables import points, with_interval
from companion.evidence.verdicts import correlations, simulated

HOLDS, IN_PART, FAILS, UNDECIDED = "holds", "holds in part", "does not hold", "undecided"
#: The verdicts, best first.
VERDICTS = (HOLDS, IN_PART, UNDECIDED, FAILS, "not tested")


class NotTested(Exception):  # noqa: N818 - a reason, not an error
    """The runs that a check needs are not there; the message says which."""


class Finding(NamedTuple):
    """A verdict, what it rests on in short, and the sentence that supports it.

    `replication` says what exact replications would find; of what is not tested the sentence says
    why.
    """

    verdict: str
    found: str
    claimed: str = "–"
    evidence: str = ""
    replication: str = "–"


# ---------------------------------------------------------------------------- counts of cases


class CountedCase(NamedTuple):
    """What is counted: gains of a method over all rivals, beyond a threshold."""

    experiments: tuple
    rivals: tuple
    method: str
    scenario: str = ""
    threshold: float = 0.0
    relative: bool = False
    significant: bool = False


def count_cases(results, protocol, *, experiments, rivals, claimed, somewhere=False, **counted):
    """Count the cases in which a method gains more than a threshold over every rival."""
    asked = CountedCase(tuple(experiments), tuple(rivals), **counted)
    runs = _observed(results, protocol, asked)
    counted, expected = _counts(asked, runs), expected_counts(results, protocol, asked)
    gain = _gains(asked._replace(relative=False), runs)[0].mean()
    return Finding(
        # A claim that something happens in so many cases is not refuted by the others.
        count_verdict(counted, claimed, expected, asked.significant, count_losses=not somewhere),
        f"{counted.good} of {counted.total}",
        f"{claimed} of {counted.total}",
        f"{asked.method} {_condition(asked)} in {counted.good} of {counted.total} cases; "
        f"significantly worse in {counted.losses}; mean gain {points(gain)} points",
        replication=f"{expected['mean']:.1f} ({expected['low']:.0f} to {expected['high']:.0f})",
    )


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
        wide = gains.accuracies(results, experiment, protocol)
        wide = wide.reindex(columns=[asked.method, *asked.rivals]).dropna()
        names, methods = cases(experiment, asked.scenario), " and ".join(wide)
        runs = {c: rows for c, rows in wide.groupby(level="case") if c in names and len(rows) > 1}
        _need(len(runs), len(names), experiment, f"{methods} under {protocol}")
        found |= {(experiment, c, m): rows[m].to_numpy() for c, rows in runs.items() for m in rows}
    return found


def _need(found, needed, experiment, what):
    if found < needed:
        raise NotTested(f"{found} of {needed} {experiment} cases have runs of {what}")


#: Cases that reach the threshold, stay significantly below it, lose; all; the mean gain.
Counted = namedtuple("Counted", ["good", "short", "losses", "total", "gain"])


def _counts(asked, runs):
    """Count good, contradicting and lost cases; an axis of replications is kept."""
    mean, low, high = _gains(asked, runs)
    if asked.significant:
        reached = low > asked.threshold
    else:
        reached = mean >= asked.threshold if asked.threshold else mean > 0
    short = (high < asked.threshold).any(axis=1).sum(axis=0)
    losses = (high < min(asked.threshold, 0)).any(axis=1).sum(axis=0)
    least = mean.mean(axis=0).min(axis=0) - min(asked.threshold, 0)
    return Counted(reached.all(axis=1).sum(axis=0), short, losses, len(mean), least)


def _gains(asked, runs):
    """Means and ends of intervals: an axis of cases, one of rivals, perhaps one of replications."""
    found = [
        [_gain(runs[e, case, asked.method], runs[e, case, r], asked.relative) for r in asked.rivals]
        for e in asked.experiments
        for case in cases(e, asked.scenario)
    ]
    return np.moveaxis(np.array(found), 2, 0)


def _gain(first, second, relative):
    scale = 100 / second.mean(axis=-1, keepdims=True) if relative else 100
    # Printed digits are exact decimals: rounding keeps binary noise away from the threshold.
    return np.round(gains.mean_interval(scale * (first - second)), 9)


def _replicated(results, protocol, experiments, share=1.0):
    return {
        (name, *key): runs
        for name in experiments
        for key, runs in simulated(name, correlations(results, name, protocol), 30, share).items()
    }


def expected_counts(results, protocol, asked):
    """Simulate what exact replications count: mean, middle 90 %, losses, and with half the gain."""
    found, half = (
        _counts(asked, _replicated(results, protocol, asked.experiments, share))
        for share in (1, 0.5)
    )
    low, high = np.quantile(found.good, [0.05, 0.95])
    expected = {"mean": found.good.mean(), "low": low, "high": high}
    # Only where DDR itself gains does a world with half of its gain differ.
    expected["halved"] = half.good.mean() if asked.method == METHOD else -np.inf
    return expected | {"most_losses": np.quantile(found.losses, 0.95)}


def count_verdict(counted, claimed, expected, significant=False, count_losses=True):
    """Judge a count.

    It holds when exact replications would often count no more (their 5 % quantile), when it lies
    nearer to their mean than to that of worlds with half of DDR's gain, and when no more cases are
    significantly lost than there. Otherwise it is undecided when what stays significantly short
    leaves room for enough cases; this does not apply where significance itself is counted. It holds
    in part in half of the claimed cases, if the mean gain over all cases is positive.
    """
    good = counted.good
    if good == 0 and expected["low"] == 0:
        return UNDECIDED  # an exact replication may well find none either
    too_many_losses = count_losses and counted.losses > expected["most_losses"]
    enough = good >= expected["low"] and 2 * good >= expected["mean"] + expected["halved"]
    if enough and not too_many_losses:
        return HOLDS
    room = counted.total - counted.short >= expected["low"]
    if not significant and not too_many_losses and good >= claimed / 2 and room:
        return UNDECIDED
    # What loses on average is no part of a claim that it gains.
    gains = counted.gain > 0 or not count_losses
    return IN_PART if good >= claimed / 2 and gains else FAILS


# ------------------------------------------------------------------------------- means over cases


def interval_verdict(low, high, wins=0, losses=0):
    """Judge a mean by its interval over the cases, with significant wins and losses beside it."""
    if low > 0:
        return IN_PART if losses else HOLDS
    if high < 0:
        return FAILS
    if wins + losses and stats.binomtest(wins, wins + losses).pvalue < ALPHA:
        return IN_PART if wins > losses else FAILS
    return UNDECIDED


def mean_gain(results, protocol, *, experiments, method, rival, min_cases=None):
    """Ask whether a method gains on average over the cases, losses counted like wins."""
    tables = []
    for name in experiments:
        tables.append(gains.paired(results, name, protocol, method, rival).query("n > 1"))
        needed = len(cases(name)) if min_cases is None else min_cases
        _need(len(tables[-1]), needed, name, f"{method} and {rival} under {protocol}")
    table = pd.concat(tables)
    found, printed = gains.over_cases(table), table["printed"].astype(float).mean()
    return Finding(
        interval_verdict(found["low"], found["high"], found["better"], found["worse"]),
        found["interval"],
        points(printed),
        f"{method} minus {rival}, mean of {found['cases']} cases: {found['interval']} points; "
        f"significantly better in {found['better']}, worse in {found['worse']}",
        replication=points(printed),
    )


def spread_ratio(results, protocol, *, experiments, rival):
    """Compare how much two methods vary from run to run, by the ratio of their sds."""
    asked = CountedCase(tuple(experiments), (rival,), METHOD)
    ours = _log_ratios(_observed(results, protocol, asked), asked)
    mean, low, high = np.exp(gains.mean_interval(ours))
    again = _log_ratios(_replicated(results, protocol, asked.experiments), asked)
    sds = pd.concat([printed_means(e, "sd") for e in asked.experiments])
    printed = np.exp(np.log(sds[METHOD] / sds[rival]).mean())
    return Finding(
        interval_verdict(1 - high, 1 - low),
        f"{mean:.2f} ({low:.2f} to {high:.2f})",
        f"{printed:.2f}",
        f"the sd of {METHOD} over that of {rival}, geometric mean of {len(ours)} cases: "
        f"{mean:.2f}, 95 % interval {low:.2f} to {high:.2f}; smaller in {(ours < 0).sum()}",
        replication=f"{np.exp(again.mean(axis=-1)).mean():.2f}",
    )


def _log_ratios(runs, asked):
    sds = [
        [runs[e, case, name].std(axis=-1, ddof=1) for name in (asked.method, *asked.rivals)]
        for e in asked.experiments
        for case in cases(e)
    ]
    return np.stack([np.log(a) - np.log(b) for a, b in sds if np.all(a) and np.all(b)], axis=-1)


# ---------------------------------------------------------------------------------- universes


def _cost(results, experiment, universe):
    """Cost of one changed choice in points, by case, with significant wins and losses."""
    change = universe_change(results, experiment, universe)
    _need(len(change), len(cases(experiment)), experiment, f"the universe {universe}")
    # What the other choice loses is what this one is worth.
    return -change["gain"].to_numpy(), change["worse_paired"].sum(), change["better_paired"].sum()


def choice_matters(results, protocol, *, experiments, universe):
    """Ask, table by table, whether the other choice costs accuracy."""
    verdicts, found, sentences = [], [], []
    for name in experiments:
        cost, wins, losses = _cost(results, name, universe)
        mean, low, high = gains.mean_interval(cost)
        verdicts.append(interval_verdict(low, high, wins, losses))
        found.append(with_interval(mean, low, high))
        sentences.append(
            f"{name}: worth {found[-1]} points over {len(cost)} cases, significantly better with "
            f"it in {wins}, without it in {losses}"
        )
    return Finding(_together(verdicts), "; ".join(found), "above 0", "; ".join(sentences))


def _together(verdicts):
    """One verdict for several tables: it holds, or is undecided, only where it does in all."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return IN_PART if {HOLDS, IN_PART} & set(verdicts) else UNDECIDED


def costs_more_there(results, protocol, *, here, there, universe):
    """Ask whether a choice costs more on one table than on another, where it is said to work."""
    one, other = (_cost(results, name, universe)[0] for name in (there, here))
    moments = [x for cost in (one, other) for x in (cost.mean(), cost.std(ddof=1), len(cost))]
    low, high = gains.welch_interval(*moments)
    found = with_interval(moments[0] - moments[3], low, high)
    evidence = (
        f"it costs {points(moments[0])} points on {there} and {points(moments[3])} on {here}; "
        f"difference {found}"
    )
    return Finding(interval_verdict(low, high), found, "above 0", evidence)
