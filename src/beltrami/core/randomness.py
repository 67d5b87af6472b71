"""One random generator, passed down from the estimator that was given the seed."""

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import Seed


def generator(random_state: Seed) -> np.random.Generator:
    """Return a NumPy generator for any spelling of ``random_state``.

    An integer always gives the same stream; ``None`` draws fresh entropy; a legacy ``RandomState``
    is advanced by one draw, so that two calls with the same object differ, as in scikit-learn.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"random_state={random_state!r} cannot seed a generator ({error}). Give an integer of "
            "at least 0, a numpy Generator or RandomState, or None."
        ) from error
