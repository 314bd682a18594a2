"""What an exact replication would find: simulation from the printed means and sds.

If the very same protocol were run again with other random draws, not every value would agree and
not every claim would come out. How many would is computed by drawing runs from normal distributions
with the printed means and sds. The print says nothing about how the methods' runs vary together, so
they are drawn independently, which is cautious where runs share their data.
"""

from functools import lru_cache
from itertools import combinations, product

import numpy as np

from companion.evidence.gains import ALPHA, t_tests, welch_interval
from companion.evidence.printed import cases, compared_methods, values

DRAWS, SEED = 1000, 2014


@lru_cache(maxsize=8)
def simulated(experiment, copy=0):
    """Runs of an exact replication by case and method: one row a replication, one column a run."""
    rng = np.random.default_rng([SEED, copy, len(experiment)])
    return {
        (cell.case, cell.method): rng.normal(cell.mean, cell.sd, (DRAWS, cell.n))
        for cell in values(experiment).itertuples()
    }


@lru_cache(maxsize=16)
def expected_values(experiment, runs):
    """Probability, by case and method, that an exact replication agrees and that it is near."""
    paper, again = simulated(experiment, 0), simulated(experiment, 1)
    found = {}
    for key, first in paper.items():
        second = again[key][:, :runs]
        moments = []
        for sample in (second, first):
            moments += [sample.mean(axis=1), sample.std(axis=1, ddof=1), sample.shape[1]]
        low, high = welch_interval(*moments)
        agrees = (low <= 0) & (high >= 0)
        near = ~agrees & (np.abs(moments[0] - moments[3]) <= moments[4])
        found[key] = float(agrees.mean()), float(near.mean())
    return found


@lru_cache(maxsize=16)
def expected_orders(experiment, runs):
    """Shares kept, open and reversed, of the pairs that a simulated print distinguishes."""
    paper, again = simulated(experiment, 0), simulated(experiment, 1)
    kept = turned = total = 0
    pairs = combinations(compared_methods(experiment), 2)
    for case, (first, second) in product(cases(experiment), pairs):
        pair = paper[case, first], paper[case, second]
        clear = t_tests(*pair)[1] < ALPHA
        new = again[case, first][:, :runs], again[case, second][:, :runs]
        decided = (t_tests(*new)[0] < ALPHA) & clear
        same = _above(*pair) == _above(*new)
        kept, turned = kept + (decided & same).sum(), turned + (decided & ~same).sum()
        total += clear.sum()
    return {"kept": kept / total, "open": 1 - (kept + turned) / total, "reversed": turned / total}


def _above(first, second):
    return first.mean(axis=1) > second.mean(axis=1)
