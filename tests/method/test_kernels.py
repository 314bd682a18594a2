"""Kernels, widths, centres and folds against plain formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_rows import plain_kernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist

from ddr import kernels
from ddr.kernels import (
    KernelBlocks,
    choose_centers,
    distinct_rows,
    gaussian_kernel,
    median_distance,
    squared_distances,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_squared_distances_also_far_from_the_origin(rng, offset):
    X, C = rng.normal(size=(30, 4)) + offset, rng.normal(size=(7, 4)) + offset
    assert_allclose(squared_distances(X, C), cdist(X, C, "sqeuclidean"), rtol=1e-8, atol=1e-8)


def test_median_distance_is_that_of_all_pairs(rng):
    X = rng.normal(size=(41, 3))
    assert median_distance(X) == np.median(pdist(X))


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([[5.0]], 1.0),
        ([[5.0], [5.0]], 1.0),
        ([[0.0]] * 5 + [[3.0]], 3.0),  # ten of fifteen pairs coincide
        ([[0.0], [1e-100]], 1e-100),
    ],
)
def test_median_distance_can_always_serve_as_a_width(X, expected):
    assert median_distance(np.array(X)) == expected


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 2**31))
def test_distinct_rows_are_those_of_numpy_in_order_of_appearance(n, d, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(-2, 3, (n, d)) * 1.0, rng.integers(0, 3, n) + np.eye(1, n)[0]
    rows, mass = distinct_rows(X, weight)
    expected, first, inverse = np.unique(
        X[weight > 0], axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    assert_array_equal(rows, expected[order])
    assert_array_equal(mass, np.bincount(inverse.ravel(), weight[weight > 0])[order])


def test_centers_are_all_distinct_rows_when_they_fit():
    X = np.array([[2.0], [1.0], [2.0], [3.0]])
    assert_array_equal(choose_centers(X, 3), [[2.0], [1.0], [3.0]])
    assert_array_equal(choose_centers(X, 10, weight=np.array([0, 1, 0, 2])), [[1.0], [3.0]])


def test_copies_and_weights_give_the_same_centers(rng):
    X, copies = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    weighted = choose_centers(X, 20, copies.astype(float), random_state=5)
    assert len(weighted) == 20
    appended = np.concatenate([X[copies > k] for k in range(3)])
    for written_out in (np.repeat(X, copies, axis=0), appended):
        assert_array_equal(weighted, choose_centers(written_out, 20, random_state=5))


def test_centers_are_drawn_in_proportion_to_weight():
    X, weight = np.arange(4.0)[:, None], np.array([1.0, 2.0, 3.0, 4.0])
    rng = np.random.RandomState(0)
    drawn = [choose_centers(X, 1, weight, rng).item() for _ in range(4000)]
    share = np.bincount(np.array(drawn, int), minlength=4) / 4000
    assert_allclose(share, weight / 10, atol=4 * 0.5 / np.sqrt(4000))


@pytest.mark.parametrize("cache_bytes", [2**27, 0], ids=["cached", "fresh"])
def test_kernel_blocks_at_any_sequence_of_widths(rng, monkeypatch, cache_bytes):
    monkeypatch.setattr(kernels, "_CACHE_BYTES", cache_bytes)
    monkeypatch.setattr(kernels, "_BLOCK_ELEMENTS", 40)
    X, C, alpha = rng.normal(size=(33, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    blocks, root = KernelBlocks(X, C), np.sqrt(2.0)
    sigmas = np.array([1.0, 2.0 / root, 0.3, 2.0, 0.3, 0.9])  # some are squares of others
    expected = np.array([plain_kernel(X, C, sigma) for sigma in sigmas])
    for _ in range(2):  # the second time from what was kept
        values, seen = np.full(expected.shape, np.nan), []
        for rows, i, K in blocks.at_each(sigmas):
            values[i, rows] = K
            seen.append((rows.start, i))
        assert_allclose(values, expected, rtol=1e-11)
        assert seen == sorted(seen, key=lambda step: (step[0], -sigmas[step[1]]))
        assert len({start for start, _ in seen}) > 3
        for sigma, K in zip([*sigmas, 0.9], [*expected, expected[-1]], strict=True):
            assert_allclose(
                np.concatenate([K.copy() for _, _, K in blocks.at_each([sigma])]), K, rtol=1e-11
            )
            assert_allclose(blocks.product(alpha, sigma), K @ alpha, rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_values_that_underflow_are_zero_and_all_others_are_exponentials(order, share):
    rng = np.random.default_rng(0)
    distances = np.where(rng.random((40, 7)) < share, 3.0, 4000.0)
    distances = np.asarray(distances, order=order)
    with np.errstate(under="ignore"):
        expected = np.exp(-0.5 * distances)
    np.testing.assert_array_equal(gaussian_kernel(None, None, 1.0, squared=distances), expected)


def test_blocks_without_any_value_are_left_out():
    X, centers = np.array([[0.0], [1.0]]), np.array([[0.5]])
    blocks = KernelBlocks(X, centers)
    assert [i for _, i, _ in blocks.at_each([0.001, 1.0, 0.002])] == [1]
