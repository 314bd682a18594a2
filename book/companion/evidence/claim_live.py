"""Claims that need no stored run: small computations, a few seconds each, with fixed seeds."""

from functools import lru_cache

import numpy as np
from sklearn.naive_bayes import GaussianNB

from companion.evidence.claim_checks import Finding, graded
from companion.runs.protocols import load_protocol
from ddr.mixture import FourClusters

__all__ = ["direct_beats_two_step", "figure_weights", "posterior_changes", "wrong_side_weights"]


@lru_cache(maxsize=1024)  # several pages ask for the same draws
def wrong_side_weights(n_train, n_test, seed):
    """Mean relative weight of the training points on the wrong side of the test boundary."""
    # Imported here, so that the checks on stored runs load without the estimators.
    from ddr.discriminative import ddr_weights
    from ddr.ulsif import ULSIF

    mixture = FourClusters()
    X, y = mixture.sample(n_train, "train", random_state=seed)
    X_target, _ = mixture.sample(n_test, "test", random_state=seed + 10_000)
    wrong = mixture.bayes_predict(X, "test") != y
    ratio = ULSIF(**load_protocol("synthetic")["ratios"]["uLSIF"], random_state=seed)
    weights = (
        ratio.fit(X, X_target).weights_,
        ddr_weights(X, y, X_target, estimator=GaussianNB(), ratio=ratio),
    )
    return tuple(float(np.mean(w[wrong]) / np.mean(w)) for w in weights)


def figure_weights(results, protocol, *, draws, n_train, n_test, holds_share, part_share):
    """Check the reading of the paper's figure: DR lifts wrong-side points, DDR lowers them."""
    pairs = np.array([wrong_side_weights(n_train, n_test, seed) for seed in range(draws)])
    both = int(((pairs[:, 0] > 1) & (pairs[:, 1] < 1)).sum())
    return Finding(
        graded(both / draws, holds_share, part_share),
        f"relative weight of wrong-side points, mean of {draws} draws: DR "
        f"{pairs[:, 0].mean():.2f}, DDR {pairs[:, 1].mean():.2f}; "
        f"DR above 1 and DDR below 1 in {both} of {draws}",
    )


def posterior_changes(results, protocol, *, holds_from, part_from, step=0.1):
    """Check that the synthetic data change the class posterior, not only the inputs."""
    axis = np.arange(-2, 8 + step / 2, step)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mixture = FourClusters()
    change = np.abs(mixture.posterior(grid, "test") - mixture.posterior(grid, "train")).max()
    return Finding(
        graded(change, holds_from, part_from),
        f"p(y|x) differs by up to {change:.2f} between training and test",
    )


def direct_beats_two_step(results, protocol, *, draws, n, dimensions, holds_share, part_share):
    """Compare direct ratio estimation with dividing two density estimates."""
    wins, medians = 0, []
    for d in dimensions:
        errors = np.array([_two_errors(n, d, seed) for seed in range(draws)])
        wins += int((errors[:, 0] < errors[:, 1]).sum())
        direct, two_step = np.median(errors, axis=0)
        medians.append(f"d = {d}: {direct:.2g} against {two_step:.2g}")
    total = draws * len(dimensions)
    return Finding(
        graded(wins / total, holds_share, part_share),
        f"uLSIF has the smaller error in {wins} of {total} draws (median, {'; '.join(medians)})",
    )


def _two_errors(n, d, seed):
    """Errors of uLSIF and of the two-step estimate on one draw."""
    from ddr.kde import KDERatio
    from ddr.ulsif import ULSIF

    rng = np.random.default_rng([d, seed])
    X, X_target = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    X_target[:, :2] = 0.6 + 0.7 * X_target[:, :2]
    return [
        _relative_error(estimator.fit(X, X_target).weights_, _shifted_ratio(X))
        for estimator in (ULSIF(random_state=seed), KDERatio())
    ]


def _shifted_ratio(X):
    standardised = (X[:, :2] - 0.6) / 0.7
    return np.exp((X[:, :2] ** 2 - standardised**2).sum(axis=1) / 2) / 0.7**2


def _relative_error(weights, true):
    scaled, truth = weights / weights.mean(), true / true.mean()
    return float(np.mean((scaled - truth) ** 2) / np.var(truth))
