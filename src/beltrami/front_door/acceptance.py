"""Which labels may be used: sure enough that the share of wrong ones stays below a chosen risk."""

import numbers
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatVector, IndexVector


def checked_risk(risk: Any) -> float | None:
    """Return the risk, or say what is wrong with it."""
    if risk is None:
        return None
    is_number = isinstance(risk, numbers.Real) and not isinstance(risk, bool)
    if is_number and 0 <= float(risk) <= 1:
        return float(risk)
    raise InvalidInputError(
        f"risk={risk!r} must be a number from 0 to 1, such as 0.05 for one wrong label in twenty, "
        "or None to accept every label."
    )


def nothing_accepted(
    confidence: FloatVector, accepted: BoolVector, given: IndexVector, risk: float | None
) -> tuple[str, ...]:
    """Say why no label is accepted beside those that were given, where that is for the risk.

    Shapes: `confidence` (n,), `accepted` (n,), `given` (l,).
    """
    others = np.ones(len(accepted), dtype=bool)
    others[given] = False
    if risk is None or not others.any() or accepted[others].any():
        return ()
    return (
        f"no label is accepted beside those given: risk={risk:g} asks for {1 - risk:.1%} right, "
        f"and the surest row has {confidence[others].max():.1%}. The guesses are there; label more "
        "rows, or allow a larger risk (--risk).",
    )


def accepted_rows(
    confidence: FloatVector, eligible: BoolVector, given: IndexVector, risk: float | None
) -> BoolVector:
    """Return which labels are accepted: the surest, as many as the risk allows.

    The expected share of wrong ones among the accepted is one minus their mean confidence, which
    is as good as the calibration. Labels that were given are accepted and not counted.

    Shapes: `confidence` (n,), `eligible` (n,), `given` (l,); returns (n,).

    - `risk`: largest expected share of wrong ones; None accepts all that are eligible.
    - Returned: true where accepted. Rows equally sure are accepted together or not at all.
    """
    limit = checked_risk(risk)
    accepted = eligible.copy()
    if limit is not None:
        accepted[given] = False
        rows = np.flatnonzero(accepted)
        order = rows[np.argsort(-confidence[rows], kind="stable")]
        sure = confidence[order]
        expected = np.cumsum(1 - sure) / np.arange(1, len(order) + 1)
        allowed = np.flatnonzero(expected <= limit + 1e-12)
        accepted[:] = False
        if len(allowed):
            # Rows as sure as the last one belong together.
            least = sure[allowed[-1]]
            count = np.searchsorted(-sure, -least, side="right")
            if expected[count - 1] > limit + 1e-12:
                count = np.searchsorted(-sure, -least, side="left")
            accepted[order[:count]] = True
    accepted[given] = True
    return accepted
