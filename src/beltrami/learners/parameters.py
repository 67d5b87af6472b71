"""Parameters that several learners take, checked: the penalty and the shares of the classes."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatVector


def check_gamma(gamma: Any) -> None:
    """Raise unless `gamma` is a number that is not negative, or "auto"."""
    is_number = isinstance(gamma, numbers.Real) and not isinstance(gamma, bool)
    if is_number and np.isfinite(float(gamma)) and float(gamma) >= 0:
        return
    if not (isinstance(gamma, str) and gamma == "auto"):
        raise InvalidInputError(f"gamma={gamma!r} must be a number, not negative, or 'auto'.")


def checked_shares(shares: Any, n_classes: int, *, name: str) -> FloatVector:
    """Return one positive share per class, scaled to sum to one, or say what is wrong."""
    try:
        values: NDArray[np.float64] = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name}={shares!r} must hold one number per class.") from error
    if values.shape != (n_classes,) or not np.isfinite(values).all() or (values <= 0).any():
        raise InvalidInputError(
            f"{name}={shares!r} must hold {n_classes} positive numbers, one per class in the order "
            "of classes_."
        )
    return np.asarray(values / values.sum())
