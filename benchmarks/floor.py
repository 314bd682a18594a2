"""The bare arithmetic that a 9 x 9 search with leave-one-out scores cannot avoid.

Distances once; then for each width the exponentials of both samples, one second moment, one
eigendecomposition, three products a sample, and the elementwise scores of nine regularisations.
No input check, no choice, no fit: only operations of the same sizes, in blocks that fit the cache.
"""

import numpy as np

BLOCK_ROWS = 1310


def bare_search(X_train, X_test, centers, sigmas, lams):
    """Do the arithmetic of clip="ratio"; return the scores, up to terms of 1/n those of ULSIF."""
    train, test = _distances(X_train, centers), _distances(X_test, centers)
    scores = np.empty((len(sigmas), len(lams)))
    for i, sigma in enumerate(sigmas):
        scores[i] = _one_width(train, test, sigma, lams, len(X_train), len(X_test))
    return scores


def bare_clipping(X_train, X_test, centers, sigmas, lams):
    """Do what clip="coefficients" adds to a direct search: every left-out coefficient, clipped."""
    total = 0.0
    matrix = np.eye(len(centers)) + 0.1
    for sample in (X_train, X_test):
        kernels = [np.exp(-D) for D in _distances(sample, centers)]
        for _ in sigmas:
            for _ in lams:
                total += sum(_clipped_block(matrix, K) for K in kernels)
    return total


def _distances(X, centers):
    norms = np.einsum("ij,ij->i", centers, centers)
    blocks = []
    for start in range(0, len(X), BLOCK_ROWS):
        rows = X[start : start + BLOCK_ROWS]
        blocks.append(rows @ (-2 * centers.T) + norms)
        blocks[-1] += np.einsum("ij,ij->i", rows, rows)[:, None]
    return blocks


def _one_width(train, test, sigma, lams, n_train, n_test):
    factor = -0.5 / sigma**2
    K_train, K_test = ([_exponential(D, factor) for D in side] for side in (train, test))
    S = sum(K.T @ K for K in K_train) / n_train
    s = sum(K.sum(axis=0) for K in K_test) / n_test
    eigenvalues, U = np.linalg.eigh(S)
    inverse = 1 / (np.maximum(eigenvalues, 0)[:, None] + lams)
    coefficients = inverse * (U.T @ s)[:, None]
    squares = linear = 0.0
    for K in K_train:
        a, q = _products(K, U, inverse, coefficients)
        r = np.maximum(a + a / (n_train - q) * q, 0)
        squares = squares + np.einsum("ij,ij->j", r, r)
    for K in K_test:
        a, q = _products(K, U, inverse, coefficients)
        linear = linear + np.maximum(a - q / n_test, 0).sum(axis=0)
    return 0.5 * squares / n_train - linear / n_test


def _exponential(D, factor):
    K = D * factor
    return np.exp(K, out=K)


def _products(K, U, inverse, coefficients):
    R = K @ U
    a = R @ coefficients
    return a, np.square(R, out=R) @ inverse


def _clipped_block(matrix, K):
    alpha = K @ matrix
    alpha *= 0.01
    alpha += 0.1
    np.maximum(alpha, 0, out=alpha)
    return float(np.einsum("ij,ij->", alpha, K))
