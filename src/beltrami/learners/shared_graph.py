"""What is asked of learners that share a graph, beside `fit_on`, `predict` and fitted attributes.

Functions rather than methods: those who use a learner by itself have no need of them.
"""

import copy
from typing import Any

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.kernel_machines.expansion import Expansion
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled, LeftOut


def has_label_of(learner: Any) -> BoolVector:
    """Return which classes of a classifier have a label, (k,)."""
    return np.asarray(learner._has_label)


def share_temperature(learner: Any) -> float | None:
    """Return the temperature of the softmax that makes scores shares; None where they are such."""
    temperature: float | None = learner._temperature
    return temperature


def expansion_of(machine: Any) -> Expansion:
    """Return the kernels whose sum a machine answers by, but for its constants."""
    expansion: Expansion = machine._expansion
    return expansion


def score_on(
    learner: Any, points: Points, foundation: Foundation, recipe: Any, labeled: Labeled
) -> Any:
    """Let a classifier learn, as `fit_on` does, up to its scores; the rest is not asked for."""
    learner._settle_on(points, foundation, recipe, labeled)
    learner._score_rows(labeled)
    return learner


def shares_of(learner: Any, rows: IndexVector | slice = slice(None)) -> FloatMatrix:
    """Return the probabilities of some rows, or of all, by a classifier that has scores."""
    return np.asarray(learner._distributions(learner.scores_[rows], learner.reached_[rows]))


def shares_by_others(learner: Any, labeled: Labeled, rows: IndexVector) -> FloatMatrix:
    """Return the probabilities at rows whose labels are held out, (m, k), all choices kept."""
    return np.asarray(copy.copy(learner)._shares_at(labeled, rows))


def scores_at(learner: Any, points: Points) -> FloatMatrix:
    """Return a classifier's scores at new points, one column per class also where there are two."""
    return np.asarray(learner._without_absent(learner._scores_at(points)[0]))


def left_out_at(learner: Any, rows: IndexVector) -> LeftOut:
    """Return the exact leave-one-out predictions of some labelled rows, in their order."""
    left_out = learner._left_out()
    order = np.argsort(left_out.rows)
    place = order[np.searchsorted(left_out.rows, rows, sorter=order)]
    return LeftOut(rows, left_out.targets[place], left_out.scores[place], left_out.weights[place])


def copy_as_chosen(learner: Any, names: tuple[str, ...]) -> Any:
    """Return a copy that shares what rests on the graph and keeps to the parameters chosen so far.

    What the copy learns from other labels does not reach the learner.
    """
    twin = copy.copy(learner)
    return twin.set_params(**{name: getattr(learner, f"{name}_") for name in names})


def copy_with_choices(learner: Any) -> Any:
    """Return a copy that learns from other labels with all that was chosen for the last ones."""
    twin = copy.copy(learner)
    twin._keep_choices()
    return twin


def is_drawn_for_labels(learner: Any) -> bool:
    """Say whether what a learner worked out rests on the labels that it had first: landmarks do."""
    deformations = getattr(learner, "_deformations", None)
    return deformations is not None and not deformations.is_exact


def residuals_of(learner: Any) -> FloatVector:
    """Return a regressor's exact leave-one-out residuals of all labels, (l,)."""
    return np.asarray(learner._residuals())


def honest_residuals_of(learner: Any) -> FloatVector | None:
    """Return the same, each at what would have been chosen without the label; None if unknown."""
    return next((one.honest for one in learner._choices() if one.honest is not None), None)


def shifts_at(learner: Any, points: Points, residuals: FloatVector) -> FloatMatrix:
    """Return by how much a regressor's values at new points fall without each label, (m, l)."""
    return np.asarray(learner._shifts_at(points, residuals))
