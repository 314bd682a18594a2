"""Bring every feature to the range [-1, 1], the paper's first step on all real data."""

import numpy as np
from sklearn.utils import check_array


def scale_to_unit_box(X):
    """Scale every column to [-1, 1] by its minimum and maximum.

    Parameters
    ----------
    X : array or DataFrame of shape (n, d)

    Returns
    -------
    float array of shape (n, d)
        A constant column becomes 0: it has no range to scale by.

    Examples
    --------
    >>> scale_to_unit_box([[1, 5], [3, 5], [2, 5]])
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 0.,  0.]])
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    low, high = X.min(axis=0), X.max(axis=0)
    constant = high == low
    width = np.where(constant, 1.0, high - low)
    scaled = np.clip(2 * ((X - low) / width) - 1, -1, 1)
    scaled[:, constant] = 0.0
    return scaled
