"""The replays of active model selection do what their papers say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

from benchmarks.selection import Coda, by_pairs, coda, entropy, is_best, model_picker


def candidates(n=300, accuracies=(0.6, 0.85, 0.6, 0.65), m=3, seed=0):
    """Posteriors of candidates that are right in so many rows, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(m, size=n)
    said = [np.where(rng.random(n) < a, y, (y + rng.integers(1, m, n)) % m) for a in accuracies]
    return np.eye(m)[np.array(said)] * 0.7 + 0.3 / m, y


def best_by_integral(right, wrong):
    """The chance that each Beta is the largest, on a fine grid and by exact distributions."""
    x = (np.arange(20_000) + 0.5) / 20_000
    found = []
    for k in range(len(right)):
        others = [beta.cdf(x, right[j], wrong[j]) for j in range(len(right)) if j != k]
        found.append(np.mean(beta.pdf(x, right[k], wrong[k]) * np.prod(others, axis=0)))
    return np.array(found)


def test_chance_of_being_best_is_the_integral():
    right, wrong = np.array([2.1, 2.4, 5.0]), np.array([2.0, 2.2, 6.0])
    assert_allclose(is_best(right, wrong), best_by_integral(right, wrong), atol=2e-3)


def test_information_of_a_row_is_that_of_a_loop_over_its_labels():
    posteriors, _ = candidates(40)
    state = Coda(posteriors)
    state.learn(3, 1)
    found, counts = state.information(np.arange(40)), state.counts
    m, of_rows = 3, np.zeros((40, 3))
    for row in range(40):
        for c in range(m):
            of_rows[row, c] = sum(counts[h, c] @ posteriors[h, row] for h in range(4))
        of_rows[row] /= of_rows[row].sum()
    shares = of_rows.mean(axis=0)

    def best(c, hit):
        right = counts[:, c, c] + hit
        return best_by_integral(right, counts[:, c].sum(axis=1) + 1 - right)

    before = [
        best_by_integral(counts[:, c, c], counts[:, c].sum(1) - counts[:, c, c]) for c in range(m)
    ]
    now = shares @ before
    for row in (0, 7, 20):
        after = 0.0
        for c in range(m):
            hit = (posteriors[:, row].argmax(axis=1) == c).astype(float)
            after += of_rows[row, c] * entropy(now + shares[c] * (best(c, hit) - before[c]))
        assert found[row] == pytest.approx(entropy(now) - after, abs=2e-3)


def test_counts_start_from_the_consensus_and_learn():
    posteriors, _ = candidates(50, (1.0, 1.0, 1.0), m=2)
    state = Coda(posteriors)  # all agree: each confusion with the consensus is the same
    assert_allclose(
        state.counts[0], 2 * (np.ones((2, 2)) + 0.1 * np.array([[0.85, 0.15], [0.15, 0.85]]))
    )
    before = state.counts.copy()
    state.learn(4, 1)
    said = posteriors[0, 4].argmax()
    assert state.counts[2, 1, said] == pytest.approx(before[2, 1, said] + 0.01)
    assert np.count_nonzero(state.counts != before) == 3


@pytest.mark.parametrize("method", ["CODA", "model picker", "pairs"])
def test_the_best_candidate_is_found(method):
    found = []
    for seed in range(5):
        posteriors, y = candidates(seed=seed)
        said = posteriors.argmax(axis=2)
        if method == "CODA":
            found.append(list(coda(posteriors, y, (10, 60)))[1])
        elif method == "model picker":
            found.append(list(model_picker(said, y, (10, 60)))[1])
        else:
            found.append(by_pairs(said, y, 60, np.random.default_rng(seed)))
    assert found == [1] * 5


def test_rows_on_which_all_agree_are_not_asked_for():
    posteriors, y = candidates(60, (0.9, 0.9), m=2)
    said = posteriors.argmax(axis=2)
    found = []
    for labels in (y, np.where(said[0] == said[1], 1 - y, y)):
        pairs = by_pairs(said, labels, 50, np.random.default_rng(0))
        budgets = labels, (5, 50)
        found.append([*coda(posteriors, *budgets), *model_picker(said, *budgets), pairs])
    assert found[0] == found[1]
