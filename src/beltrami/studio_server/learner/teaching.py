"""What a learner is told: the labels of a project, each with its weight."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatVector
from beltrami.project.record.state import State, weight_of

Taught: TypeAlias = dict[int, tuple[str, float]]
"""Label and weight of each row that has one."""


def taught_by(state: State) -> Taught:
    """Return what the labels of a project teach."""
    return {row: (one.label, weight_of(one.how)) for row, one in state.labels.items()}


def classes_of(taught: Taught) -> set[str]:
    """Return the classes that have a label."""
    return {label for label, _ in taught.values()}


def teach(learner: Any, taught: Taught, wanted: Taught) -> bool:
    """Teach a learner what is other than it was, and say whether anything is."""
    rows = [row for row, one in wanted.items() if taught.get(row) != one]
    rows += [row for row in taught if row not in wanted]
    told = [wanted.get(row, (None, 1.0)) for row in rows]
    if rows:
        learner.update(rows, [one[0] for one in told], [one[1] for one in told])
    return bool(rows)


def vectors_of(taught: Taught, n_rows: int) -> tuple[NDArray[Any], FloatVector | None]:
    """Return labels and weights of all rows; None for weights that are all the same."""
    labels, weights = np.full(n_rows, None, dtype=object), np.ones(n_rows)
    for row, (label, weight) in taught.items():
        labels[row], weights[row] = label, weight
    return labels, None if (weights == 1).all() else weights
