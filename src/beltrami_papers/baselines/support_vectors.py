"""The support vector machine as a baseline, its cost and width chosen by cross-validation.

Kernels and the classes of labelled rows enter; a class for every row leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.svm import SVC

from beltrami.core.types import FloatMatrix, IndexVector

MOST_LEFT_OUT, FOLDS = 50, 5
"""Labels up to which one is left out at a time, and folds where there are more."""

_USUAL_WIDTH, _USUAL_COST = 1.0, 100.0


@dataclass(frozen=True, slots=True, eq=False)
class ChosenMachine:
    """What the chosen machine says of every row, and its setting.

    Attributes
    ----------
    predicted : ndarray of shape (n,)
        Classes.
    width : float or None
        In units of the typical one; None for a kernel that has none.
    cost : float
        C.
    """

    predicted: IndexVector
    width: float | None
    cost: float


def choose_machine(
    kernels: Mapping[float | None, FloatMatrix],
    rows: IndexVector,
    targets: IndexVector,
    costs: Sequence[float],
) -> ChosenMachine:
    """Teach the machine of least cross-validated error; of equal ones the most usual.

    - `kernels`: by width, of shape (n, l): between all rows and the labelled ones.
    - `rows`, `targets`: the l labelled rows and their classes.
    """
    grid = sorted(((width, cost) for width in kernels for cost in costs), key=_how_unusual)
    errors = [_cross_validated_error(kernels[width][rows], targets, cost) for width, cost in grid]
    width, cost = grid[int(np.argmin(errors))]
    model = SVC(C=cost, kernel="precomputed").fit(kernels[width][rows], targets)
    return ChosenMachine(np.asarray(model.predict(kernels[width])), width, cost)


def _cross_validated_error(kernel: FloatMatrix, targets: IndexVector, cost: float) -> float:
    """Return the share of labelled rows that a machine without them gets wrong.

    The kernel is between the labelled rows. Where a fold leaves one class, that class is said.
    """
    few = len(targets) <= MOST_LEFT_OUT
    folds: Any = LeaveOneOut() if few else StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    wrong = 0
    for kept, left in folds.split(targets, targets):
        if len(np.unique(targets[kept])) == 1:
            wrong += int((targets[left] != targets[kept[0]]).sum())
            continue
        model = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(kept, kept)], targets[kept])
        wrong += int((model.predict(kernel[np.ix_(left, kept)]) != targets[left]).sum())
    return wrong / len(targets)


def _how_unusual(setting: tuple[float | None, float]) -> tuple[float, float]:
    width, cost = setting
    steps = 0.0 if width is None else abs(np.log(width / _USUAL_WIDTH))
    return float(steps + abs(np.log(cost / _USUAL_COST))), cost
