"""From whatever a caller calls a random state to independent streams of random numbers."""

import numbers

import numpy as np


def seed_sequence(random_state):
    """Turn a random state into a fresh ``SeedSequence``."""
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


def _is_seed(value):
    values = value if isinstance(value, list | tuple | np.ndarray) else [value]
    return all(isinstance(one, numbers.Integral) and int(one) >= 0 for one in values)
