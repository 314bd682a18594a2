"""Training and test sets that differ: biased sampling, cross-dataset pairs, the mixture.

Each of the three returns a :class:`ShiftedProblem`. Biased sampling takes plain arrays and
DataFrames, so that anyone's table can go through the paper's protocol.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from ddr._checks import check_choice, check_count
from ddr.paper.datasets import FourClusters, check_digits, load, scale_to_unit_box
from ddr.paper.digits import SCALINGS, sixteen_by_sixteen

DIRECTIONS = ("USPS to MNIST", "MNIST to USPS")
_TRIES, _FEWEST = 100, 5  # draws of a training set; rows of a class in it


@dataclass(frozen=True, eq=False)
class ShiftedProblem:
    """A classification problem whose training and test data come from different distributions.

    Attributes
    ----------
    X_train, y_train : arrays
        The labelled training set.
    X_test : array
        The test inputs, which methods may look at.
    y_test : array
        The test labels, for scoring only.
    importance : array or None
        The ideal weight of each training row, where the shift is known.
    info : dict
        How the problem came about: rows chosen, omega, and so on.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    importance: np.ndarray | None = None
    info: dict = field(default_factory=dict)

    def __repr__(self):
        train, test = self.X_train.shape, self.X_test.shape
        return f"ShiftedProblem(train {train[0]} x {train[1]}, test {test[0]} x {test[1]})"


def selection_probability(X, omega, strength=4.0):
    r"""Probability with which biased sampling keeps each row.

    The formula of the paper's section on biased sampling, with :math:`\bar x` the mean of the rows
    and :math:`\sigma` the standard deviation of their projections:

    .. math:: P(s = 1 \mid x) = \frac{e^v}{1 + e^v}, \qquad
              v = \frac{4\, \omega^\top (x - \bar x)}{\sigma_{\omega^\top (x - \bar x)}}.

    Parameters
    ----------
    X : array of shape (n, d)
    omega : array of shape (d,)
        The direction of the bias.
    strength : float
        How steep the selection is; 4 in the paper, 0 keeps every row with probability 1/2.

    Examples
    --------
    >>> selection_probability([[-1.0], [1.0]], [0.3]).round(4)
    array([0.018, 0.982])
    """
    projection = np.asarray(X, dtype=float) @ np.asarray(omega, dtype=float)
    spread = projection.std()
    # Rounding leaves a spread of about 1e-16 of the values where all rows project to one point.
    if spread <= 1e-12 * max(1.0, np.abs(projection).max()):
        raise ValueError("X must vary along omega, but all rows have the same projection")
    return expit(strength * (projection - projection.mean()) / spread)


def accuracy_gap(problem, estimator):
    """How much better a learner does on the test set with the ideal weights than without weights.

    By this gap the paper chooses a direction of bias: the one place where test labels take part in
    making a problem.

    Parameters
    ----------
    problem : ShiftedProblem
    estimator : scikit-learn classifier
        Its ``fit`` must take ``sample_weight``. Only clones of it are fitted; give it a
        ``random_state`` if it has one, so that chance does not take part in the choice.

    Returns
    -------
    float
        Difference of two accuracies.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ddr.paper import biased_sampling, load
    >>> table = load("Ionosphere")
    >>> draws = [biased_sampling(table.X, table.y, direction=k, random_state=0) for k in range(10)]
    >>> gaps = [accuracy_gap(problem, GaussianNB()) for problem in draws]
    >>> problem = draws[np.argmax(gaps)]  # as in the paper
    """
    X, y, test = problem.X_train, problem.y_train, (problem.X_test, problem.y_test)
    plain = clone(estimator).fit(X, y)
    ideal = clone(estimator).fit(X, y, sample_weight=problem.importance)
    return float(ideal.score(*test) - plain.score(*test))


def biased_sampling(
    X, y, *, direction=0, redraw=False, strength=4.0, test_fraction=0.5, random_state=None
):
    """Split a table into an unbiased test set and a training set with known selection bias.

    Parameters
    ----------
    X : array or DataFrame of shape (n, d)
    y : array or Series of shape (n,)
    direction : int
        Number of the random direction of bias, from 0. The paper draws ten and takes the one with
        the largest :func:`accuracy_gap`.
    redraw : bool
        Draw a fresh training set along the direction. Otherwise the training set by which the
        direction may have been chosen is the one that is used, luck included.
    strength : float
        See :func:`selection_probability`.
    test_fraction : float
        Share of the rows that are set aside, uniformly at random, for the test.
    random_state : None, int or SeedSequence

    Returns
    -------
    ShiftedProblem
        ``importance`` is 1 / P(s = 1 | x). ``info`` has ``omega``, ``train_rows``, ``test_rows``,
        ``pool_rows`` and ``probability`` (of the pool's rows).

    Notes
    -----
    The columns are scaled to [-1, 1] first (:func:`~ddr.paper.datasets.scale_to_unit_box`). Mean
    and standard deviation in the selection formula are those of the whole table. With one seed all
    directions share their test set. No test label takes part. A training set with fewer than five
    rows of some class is drawn again.

    Examples
    --------
    >>> from ddr.paper import datasets
    >>> table = datasets.load("Ionosphere")
    >>> problem = biased_sampling(table.X, table.y, random_state=0)
    >>> len(problem.y_test), bool((problem.importance >= 1).all())
    (175, True)
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    check_classification_targets(y)
    X = scale_to_unit_box(X)
    check_count(direction, "direction", minimum=0)
    split_seed, omegas, redraw_seed = _streams(random_state, 3)
    test, pool = _split(len(y), test_fraction, split_seed)
    omega, probability, rows = _biased_draw(X, y, pool, strength, omegas.spawn(direction + 1)[-1])
    if redraw:
        _, _, rows = _biased_draw(X, y, pool, strength, redraw_seed, omega)
    info = {"omega": omega, "probability": probability[pool]}
    info |= {"train_rows": rows, "test_rows": test, "pool_rows": pool}
    return ShiftedProblem(X[rows], y[rows], X[test], y[test], 1 / probability[rows], info)


def cross_dataset(
    digits,
    direction="USPS to MNIST",
    *,
    resize="bicubic",
    antialias=True,
    clip=True,
    scaling="global",
    fraction=0.9,
    max_samples=None,
    random_state=None,
):
    """Train on two digits of one collection, test on the same digits of the other.

    Parameters
    ----------
    digits : pair of int
        ``y`` is -1 for the first digit and +1 for the second.
    direction : {"USPS to MNIST", "MNIST to USPS"}
        Training set first.
    resize : {"bicubic", "bilinear", "nearest", "crop"}
    antialias : bool, default=True
        How MNIST's 28 x 28 pixels become 16 x 16; see :func:`ddr.paper.digits.resize_matrix`.
    clip : bool, default=True
        Whether to cut off what the resize overshoots (``ddr.paper.digits.sixteen_by_sixteen``).
    scaling : {"global", "sample", "feature", "pair", "draw", "joint", "joint pair", "joint draw"}
        How pixels are brought to [-1, 1]. "global": by the intensity range of the collection.
        "sample": each image by its own range. "feature", "pair", "draw": each pixel by its range
        within its collection, over all digits, the two of this problem, or the rows that are drawn.
        "joint ...": likewise, over both collections together.
    fraction : float
        Share of each side that is drawn, without replacement; 0.9 in the paper.
    max_samples : int, optional
        At most so many rows on each side.
    random_state : None, int or SeedSequence

    Returns
    -------
    ShiftedProblem
        ``importance`` is None: the true ratio is not known.

    Examples
    --------
    >>> problem = cross_dataset((5, 6), "MNIST to USPS", max_samples=300, random_state=0)
    >>> problem
    ShiftedProblem(train 300 x 256, test 300 x 256)
    """
    pair = check_digits(digits)
    check_choice(direction, "direction", DIRECTIONS)
    check_choice(scaling, "scaling", SCALINGS)
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction must be in (0, 1], got {fraction!r}")
    names = direction.split(" to ")
    labels, seeds = [load(name).y for name in names], _streams(random_state, 2)
    drawn = [_some(labels[k], pair, fraction, max_samples, seeds[k]) for k in (0, 1)]
    X_train, X_test = _scaled_sides(names, drawn, pair, scaling, (resize, antialias, clip))
    y_train, y_test = (np.where(labels[k][drawn[k]] == pair[0], -1, 1) for k in (0, 1))
    info = {"train_rows": drawn[0], "test_rows": drawn[1]}
    return ShiftedProblem(X_train, y_train, X_test, y_test, None, info)


def _scaled_sides(names, drawn, pair, scaling, resizing):
    """Images of the rows drawn from both collections, scaled as ``cross_dataset`` says."""
    images = [sixteen_by_sixteen(name, *resizing) for name in names]
    ranged = [np.arange(len(side)) for side in images]  # the rows whose range counts
    if scaling.endswith("pair"):
        ranged = [np.flatnonzero(np.isin(load(name).y, pair)) for name in names]
    elif scaling.endswith("draw") or scaling in ("global", "sample"):
        ranged = drawn
    sides = [images[k][ranged[k]] for k in (0, 1)]
    if scaling == "sample":
        sides = [scale_to_unit_box(side.T).T.copy() for side in sides]
    elif scaling.startswith("joint"):
        sides = np.split(scale_to_unit_box(np.vstack(sides)), [len(sides[0])])
    elif scaling != "global":
        sides = [scale_to_unit_box(side) for side in sides]
    return [sides[k][np.searchsorted(ranged[k], drawn[k])] for k in (0, 1)]


def mixture_shift(n_train, n_test=2000, *, mixture=None, random_state=None):
    """Draw training and test data of the synthetic mixture.

    Parameters
    ----------
    n_train, n_test : int
        At least 1.
    mixture : FourClusters, optional
        The paper's by default.
    random_state : None, int or SeedSequence

    Returns
    -------
    ShiftedProblem
        ``importance`` is the true joint ratio of Equation (5).

    Examples
    --------
    >>> mixture_shift(100, random_state=0)
    ShiftedProblem(train 100 x 2, test 2000 x 2)
    """
    mixture = FourClusters() if mixture is None else mixture
    train_seed, test_seed = _streams(random_state, 2)
    X_train, y_train = mixture.sample(n_train, "train", train_seed)
    X_test, y_test = mixture.sample(n_test, "test", test_seed)
    return ShiftedProblem(X_train, y_train, X_test, y_test, mixture.joint_ratio(X_train, y_train))


def _biased_draw(X, y, pool, strength, seed, omega=None):
    """Omega, unless it is given, and a training set; drawn again while a class is too small."""
    for _ in range(_TRIES):
        rng = np.random.default_rng(seed.spawn(1)[0])
        direction = rng.uniform(-1, 1, X.shape[1]) if omega is None else omega
        probability = selection_probability(X, direction, strength)
        kept = pool[rng.random(len(pool)) < probability[pool]]
        if min((y[kept] == label).sum() for label in np.unique(y)) >= _FEWEST:
            return direction, probability, kept
    raise ValueError(
        f"strength must be lower: {_TRIES} draws never gave {_FEWEST} training rows of every class"
    )


def _streams(random_state, n):
    """Independent streams of random numbers, always the same ones from the same state."""
    given = isinstance(random_state, np.random.SeedSequence)
    root = random_state if given else np.random.SeedSequence(random_state)
    # Not by ``spawn``, which counts what it has given out.
    return [np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, k)) for k in range(n)]


def _split(n, test_fraction, seed):
    order = np.random.default_rng(seed).permutation(n)
    n_test = int(n * test_fraction)
    if not 0 < n_test < n:
        raise ValueError(f"test_fraction must leave rows on both sides, got {test_fraction!r}")
    return np.sort(order[:n_test]), np.sort(order[n_test:])


def _some(labels, pair, fraction, max_samples, seed):
    rows = np.flatnonzero(np.isin(labels, pair))
    size = min(round(fraction * len(rows)), len(rows) if max_samples is None else max_samples)
    return np.sort(np.random.default_rng(seed.spawn(1)[0]).choice(rows, size, replace=False))
