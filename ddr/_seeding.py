"""From whatever a caller calls a random state to independent streams of random numbers."""

import numbers

import numpy as np


def seed_sequence(random_state):
    """Turn a random state into a fresh ``SeedSequence``.

    Parameters
    ----------
    random_state : None, int, sequence of int, SeedSequence, Generator or RandomState
        ``None`` takes entropy from the operating system. A Generator or RandomState is advanced,
        so that two calls with the same object differ; everything else is left as it was.

    Returns
    -------
    numpy.random.SeedSequence

    Notes
    -----
    A SeedSequence that is passed in is copied: spawning from the original would count up its
    children, and the same seed would give another result the second time.

    Examples
    --------
    >>> seed_sequence(7).spawn(1)[0].spawn_key
    (0,)
    """
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint64).tolist())
    if random_state is None or _is_seed(random_state):
        return np.random.SeedSequence(random_state)
    raise TypeError(
        "random_state must be None, a non-negative integer (or several), a SeedSequence, "
        f"a Generator or a RandomState, got {random_state!r}"
    )


def generator(random_state):
    """Return a new Generator seeded by :func:`seed_sequence`.

    Parameters
    ----------
    random_state : see :func:`seed_sequence`

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> bool(generator(3).random() == generator(3).random())
    True
    """
    return np.random.default_rng(seed_sequence(random_state))


def _is_seed(value):
    values = value if isinstance(value, list | tuple | np.ndarray) else [value]
    return all(isinstance(one, numbers.Integral) and int(one) >= 0 for one in values)
