"""USPS and MNIST in one format: 16 x 16 pixels, resized and scaled in the ways that can be meant.

Resizing is linear and separable: with an operator A of shape (out, in) an image becomes
A I A^T, so thousands of digits are resized by two matrix products.
"""

from functools import lru_cache

import numpy as np

from ddr._checks import check_choice
from ddr.paper.datasets import COLLECTIONS, load, sealed

RESIZES = ("bicubic", "bilinear", "nearest", "crop")
#: Ways to bring pixels to [-1, 1]; :func:`ddr.paper.shifts.cross_dataset` says what each means.
SCALINGS = ("global", "sample", "feature", "pair", "draw", "joint", "joint pair", "joint draw")


def _keys_cubic(t, a=-0.5):
    t = np.abs(t)
    near = (a + 2) * t**3 - (a + 3) * t**2 + 1
    far = a * (t**3 - 5 * t**2 + 8 * t - 4)
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


_KERNELS = {
    "bicubic": _keys_cubic,
    "bilinear": lambda t: np.clip(1 - np.abs(t), 0, None),
    "nearest": lambda t: ((t > -0.5) & (t <= 0.5)).astype(float),
}


def resize_matrix(n_in, n_out, method="bicubic", antialias=True):
    r"""Return the operator that resizes a line of ``n_in`` pixels to ``n_out``.

    Parameters
    ----------
    n_in, n_out : int
        Number of pixels before and after; ``n_out <= n_in``.
    method : {"bicubic", "bilinear", "nearest", "crop"}
        "bicubic": Keys's kernel with a = -0.5. "bilinear": a triangle. "nearest": the pixel under
        the new one's centre. "crop": only the central 20/28 of the line, by "bicubic". MNIST's
        digits fit into 20 x 20 pixels, but are centred by their mass, so that the crop cuts a few
        strokes off.
    antialias : bool, default=True
        Widen the bicubic and the bilinear kernel by the scale, as Pillow and MATLAB's ``imresize``
        do, or take the new pixel's neighbours alone.

    Returns
    -------
    array of shape (n_out, n_in)
        Each row sums to one.

    Notes
    -----
    With the scale s = n_in / n_out the new pixel i has its centre at (i + 1/2) s, and

    .. math:: A_{ij} \propto k\left(\frac{j + 1/2 - (i + 1/2) s}{s}\right),

    without the division by s where aliasing is allowed.

    At the border the kernel is cut off and normalised again, as in Pillow; MATLAB mirrors the
    image instead. On MNIST that hardly matters: nearly all of its outermost pixels are blank.

    Examples
    --------
    >>> resize_matrix(6, 2, "nearest")
    array([[0., 1., 0., 0., 0., 0.],
           [0., 0., 0., 0., 1., 0.]])
    """
    check_choice(method, "resize", RESIZES)
    if method == "crop":
        margin = (n_in - round(n_in * 20 / 28)) // 2
        inner = resize_matrix(n_in - 2 * margin, n_out, "bicubic", antialias)
        return np.pad(inner, ((0, 0), (margin, margin)))
    scale = n_in / n_out
    offsets = np.arange(n_in) + 0.5 - scale * (np.arange(n_out) + 0.5)[:, None]
    width = scale if antialias and method != "nearest" else 1.0
    weights = _KERNELS[method](offsets / width)
    return weights / weights.sum(axis=1, keepdims=True)


def resize_images(images, n_out=16, method="bicubic", antialias=True):
    """Resize square images, one per row, by :func:`resize_matrix`.

    Cubic weights are partly negative, so that values can leave the input's range slightly.
    """
    images = np.asarray(images)
    side = round(images.shape[1] ** 0.5)
    operator = resize_matrix(side, n_out, method, antialias)
    across = (images.reshape(-1, side).astype(float) @ operator.T).reshape(-1, side, n_out)
    # tensordot makes one large product of the many small ones.
    return np.tensordot(across, operator, axes=(1, 1)).swapaxes(1, 2).reshape(len(images), -1)


@lru_cache(maxsize=8)
def sixteen_by_sixteen(name, resize="bicubic", antialias=True, clip=True):
    """All digits of a collection at 16 x 16 pixels in [-1, 1]; computed once per process.

    Cubic weights overshoot at sharp edges. ``clip`` cuts that off, as image libraries do; a resize
    of floating-point images keeps it. USPS has 16 x 16 pixels already and stays as it is.
    """
    X = load(check_choice(name, "name", COLLECTIONS)).X
    if name == "USPS":
        return sealed(X.astype(float))
    images = resize_images(X, 16, resize, antialias)
    return sealed((np.clip(images, 0, 255) if clip else images) / 127.5 - 1)
