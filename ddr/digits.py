"""USPS and MNIST in one format: 16 x 16 pixels in [-1, 1]."""

from functools import lru_cache

import numpy as np

from ddr.datasets import load
from ddr.resize import METHODS as RESIZE_METHODS
from ddr.resize import resize_images
from ddr.scaling import scale_to_unit_box

SCALINGS = ("global", "feature", "joint", "sample")


@lru_cache(maxsize=6)
def digit_images(name, resize="bicubic", scaling="global"):
    """All digits of a collection at 16 x 16 pixels in [-1, 1]; computed once per process.

    Parameters
    ----------
    name : {"USPS", "MNIST"}
    resize, scaling : str
        See :func:`ddr.shifts.cross_dataset`; ``resize`` has no effect on USPS (16 x 16 already).

    Returns
    -------
    images : read-only float array of shape (n, 256)
    labels : read-only int array of shape (n,)
        The digits.

    Examples
    --------
    >>> images, labels = digit_images("USPS")
    >>> images.shape
    (9298, 256)
    """
    if name not in ("USPS", "MNIST"):
        raise ValueError(f"name must be 'USPS' or 'MNIST', got {name!r}")
    if resize not in RESIZE_METHODS:
        raise ValueError(f"resize must be one of {', '.join(RESIZE_METHODS)}, got {resize!r}")
    if scaling not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}")
    collection = load(name)
    if scaling == "joint":
        images = _jointly_scaled(name, resize)
    elif scaling == "feature":
        images = scale_to_unit_box(in_global_range(name, resize))
    elif scaling == "sample":
        images = scale_to_unit_box(in_global_range(name, resize).T).T.copy()
    else:
        images = in_global_range(name, resize)
    images.flags.writeable = False
    return images, collection.y


def in_global_range(name, resize="bicubic", rows=slice(None)):
    """Digits at 16 x 16 pixels, brought to [-1, 1] by the intensity range of their collection.

    Parameters
    ----------
    name : {"USPS", "MNIST"}
    resize : str
        See :func:`ddr.shifts.cross_dataset`.
    rows : slice or array of int
        Which digits; all by default.

    Returns
    -------
    float array of shape (n, 256)

    Examples
    --------
    >>> in_global_range("MNIST", rows=[0, 1]).shape
    (2, 256)
    """
    X = load(name).X[rows]
    if name == "USPS":
        return X.astype(float)
    # Cubic weights overshoot at sharp edges; image libraries cut that off, and so do we.
    return np.clip(resize_images(X, 16, resize), 0, 255) / 127.5 - 1


def _jointly_scaled(name, resize):
    usps, mnist = in_global_range("USPS", resize), in_global_range("MNIST", resize)
    both = scale_to_unit_box(np.vstack([usps, mnist]))
    return (both[: len(usps)] if name == "USPS" else both[len(usps) :]).copy()
