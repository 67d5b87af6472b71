"""Which answers may be used: those that are sure enough for a chosen risk."""

import numbers
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatVector, IndexVector


def check_risk(risk: Any) -> float | None:
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


def accepted_rows(
    confidence: FloatVector, eligible: BoolVector, given: IndexVector, risk: float | None
) -> BoolVector:
    """Return which labels are accepted, (n,): the surest, as many as the risk allows.

    The expected share of wrong ones among the accepted is one minus their mean confidence, which
    is as good as the calibration. Labels that were given, at the rows `given`, are accepted and not
    counted. Rows equally sure are accepted together or not at all.

    - `risk`: largest expected share of wrong ones; None accepts all that are eligible.
    """
    limit = check_risk(risk)
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


def accepted_under(learner: Any, risk: float | None) -> BoolVector:
    """Return which answers of a fitted learner a risk accepts, (n,), whatever its own risk is.

    None accepts all that labels reach and that lie on no island. A risk also leaves out rows like
    no label or far from all others, and all rows where the labels support no promise.
    """
    eligible = learner.reached_ & (learner.island_ < 0)
    if risk is not None:
        is_doubted = learner.unlike_ | learner._is_alone
        eligible &= ~is_doubted & learner._answer.judgement.can_promise
    return accepted_rows(learner.confidence_, eligible, learner._labeled.rows, risk)
