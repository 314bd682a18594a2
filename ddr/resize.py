"""Shrink square images by one small matrix, applied to rows and columns.

Resizing is linear and separable: with the operator A of shape (out, in), an image becomes
A I A^T. So thousands of digits are resized by two matrix products.
"""

import numpy as np


def _triangle(t):
    return np.clip(1 - np.abs(t), 0, None)


def _keys_cubic(t, a=-0.5):
    t = np.abs(t)
    near = (a + 2) * t**3 - (a + 3) * t**2 + 1
    far = a * (t**3 - 5 * t**2 + 8 * t - 4)
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


_KERNELS = {"bilinear": _triangle, "bicubic": _keys_cubic}
METHODS = ("bicubic", "bilinear", "area", "crop")


def resize_matrix(n_in, n_out, method="bicubic"):
    r"""Return the operator that resizes a line of ``n_in`` pixels to ``n_out``.

    Parameters
    ----------
    n_in, n_out : int
        Number of pixels before and after; ``n_out <= n_in``.
    method : {"bicubic", "bilinear", "area", "crop"}
        "bicubic": Keys's kernel with a = -0.5, widened by the scale so that it does not alias, as
        Pillow and MATLAB's ``imresize`` do. "bilinear": a triangle, widened likewise. "area": each
        new pixel is the mean of the part of the line that it covers. "crop": only the central
        20/28 of the line, resized by "bicubic". MNIST's digits fit into 20 x 20 pixels, but are
        centred by their mass, so that the crop cuts a few strokes off.

    Returns
    -------
    array of shape (n_out, n_in)
        Each row sums to one.

    Notes
    -----
    With the scale s = n_in / n_out the new pixel i has its centre at (i + 1/2) s, and

    .. math:: A_{ij} \propto k\left(\frac{j + 1/2 - (i + 1/2) s}{s}\right).

    At the border the kernel is cut off and normalised again, as in Pillow; MATLAB mirrors the
    image instead. On MNIST that hardly matters: nearly all of its outermost pixels are blank.

    Examples
    --------
    >>> resize_matrix(4, 2, "area")
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    if method not in METHODS:
        raise ValueError(f"resize must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0 < n_out <= n_in:
        raise ValueError(f"n_out must be from 1 to n_in = {n_in}, got {n_out}")
    if method == "crop":
        return _crop_matrix(n_in, n_out)
    scale = n_in / n_out
    if method == "area":
        return _overlaps(n_in, n_out) / scale
    centres = (np.arange(n_out) + 0.5) * scale
    offsets = np.arange(n_in) + 0.5 - centres[:, None]
    weights = _KERNELS[method](offsets / scale)
    return weights / weights.sum(axis=1, keepdims=True)


def resize_images(images, n_out=16, method="bicubic"):
    """Resize a stack of square images.

    Parameters
    ----------
    images : array of shape (n, side * side)
        One image per row, stored row by row.
    n_out : int
        Side after resizing.
    method : str
        See :func:`resize_matrix`.

    Returns
    -------
    float array of shape (n, n_out * n_out)
        Cubic weights are partly negative, so that values can leave the input's range slightly.

    Examples
    --------
    >>> resize_images(np.full((1, 784), 7.0), 16).round(9).max()
    np.float64(7.0)
    """
    images = np.asarray(images)
    side = round(images.shape[1] ** 0.5)
    if side * side != images.shape[1]:
        raise ValueError(f"images must have a square number of columns, got {images.shape[1]}")
    operator = resize_matrix(side, n_out, method)
    across = (images.reshape(-1, side).astype(float) @ operator.T).reshape(-1, side, n_out)
    # tensordot makes one large product of the many small ones.
    return np.tensordot(across, operator, axes=(1, 1)).swapaxes(1, 2).reshape(len(images), -1)


def _crop_matrix(n_in, n_out):
    inner = round(n_in * 20 / 28)
    if n_out > inner:
        raise ValueError(f"n_out must be at most {inner} when cropping {n_in}, got {n_out}")
    margin = (n_in - inner) // 2
    operator = np.zeros((n_out, n_in))
    operator[:, margin : margin + inner] = resize_matrix(inner, n_out, "bicubic")
    return operator


def _overlaps(n_in, n_out):
    edges = np.arange(n_out + 1) * n_in / n_out
    pixels = np.arange(n_in)
    left = np.maximum(edges[:-1, None], pixels)
    right = np.minimum(edges[1:, None], pixels + 1)
    return np.clip(right - left, 0, None)
