"""What an exact replication would find, and what worlds with a smaller gain would show.

If the very same protocol were run again with other random draws, not every value would agree and
not every claim would come out. How many would is computed by drawing runs from normal distributions
with the printed means and sds. Methods share their data within a run, so they are drawn with the
correlations of our own runs. In other worlds the gain of DDR is a fraction of the printed one.
"""

import numpy as np

from companion.evidence.gains import METHOD, RIVAL, accuracies
from companion.evidence.printed import cases, ledger, printed_means

DRAWS, SEED = 400, 2014


def correlations(results, experiment, protocol):
    """Correlation of the methods over our runs, case by case; none where nothing was run."""
    columns = list(printed_means(experiment))
    wide = accuracies(results, experiment, protocol).reindex(columns=columns).astype(float)
    # Where a method was not run, or never varies, it has no correlation with others.
    return {
        case: wide[wide.index.get_level_values("case") == case].corr().fillna(0).to_numpy()
        * (1 - np.eye(len(columns))) + np.eye(len(columns))
        for case in cases(experiment)
    }  # fmt: skip


def simulated(experiment, alike, runs, share=1.0, seed=SEED):
    """Runs by case and method, a row a replication; DDR gains a share of what is printed.

    The truth is no more certain than the print: its means are drawn around the printed ones.
    """
    rng, found = np.random.default_rng(seed), {}
    means, sds = printed_means(experiment), printed_means(experiment, "sd")
    means[METHOD] = means[RIVAL] + share * (means[METHOD] - means[RIVAL])
    for case, matrix in alike.items():
        mean, sd = (table.loc[case].to_numpy() for table in (means, sds))
        values, vectors = np.linalg.eigh(matrix)
        mixed = vectors * np.sqrt(np.maximum(values, 0))
        truth = mean + sd * rng.standard_normal((DRAWS, 1, len(sd))) / np.sqrt(ledger()["runs"])
        drawn = truth + rng.standard_normal((DRAWS, runs, len(sd))) @ mixed.T * sd
        found |= {(case, method): drawn[..., k] for k, method in enumerate(means)}
    return found
