"""Labels put aside: which rows and labels a check on held-out labels uses, fold by fold."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.learners.model import Labeled

_MOST_ROWS = 4000
_FEWEST = 4


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutPart:
    """A part of the rows whose labels are put aside in turn.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Rows of the data that take part.
    known : ndarray of shape (m, K)
        What is known of them, NaN where nothing is.
    own_weights : ndarray of shape (m,)
        How much each label counts.
    fold : ndarray of shape (m,)
        Fold in which a row's label is put aside; -1 for never.
    """

    rows: IndexVector
    known: FloatMatrix
    own_weights: FloatVector
    fold: IndexVector

    def folds(self) -> Iterator[tuple[FloatMatrix, IndexVector]]:
        """Yield what is known without a fold, and the rows of that fold."""
        for number in range(int(self.fold.max()) + 1):
            aside = np.flatnonzero(self.fold == number)
            left = self.known.copy()
            left[aside] = np.nan
            yield left, aside

    def truth(self) -> FloatMatrix:
        """Return the classes of the rows put aside, in the order of the folds."""
        return self.known[self._aside()]

    def weights(self) -> FloatVector:
        """Return what they count."""
        return self.own_weights[self._aside()]

    def _aside(self) -> IndexVector:
        order = np.argsort(self.fold, kind="stable")
        return order[self.fold[order] >= 0]


def held_out_part(
    labeled: Labeled, n_points: int, n_classes: int, n_folds: int
) -> HeldOutPart | None:
    """Deal the labels to folds, class by class; the only label of a class always stays.

    - `labeled`: what is known of some rows; only sure labels are put aside.
    """
    if n_folds < 2 or not labeled.targets.any(axis=0).all():
        return None
    size = min(n_points, _MOST_ROWS)
    # At most half of the rows are labelled ones: there must be something to spread labels over.
    first = spread_rows(n_points, labeled.rows, min(len(labeled.rows), size // 2), 0)
    rows = np.sort(spread_rows(n_points, first, size, 0))
    known, weights = np.full((n_points, n_classes), np.nan), np.zeros(n_points)
    known[labeled.rows], weights[labeled.rows] = labeled.targets, labeled.weights
    known, weights = known[rows], weights[rows]
    fold = np.full(len(rows), -1, dtype=np.intp)
    dealt = 0
    for one in range(n_classes):
        own = np.flatnonzero(known[:, one] == 1)
        if len(own) > 1:
            fold[own] = (dealt + np.arange(len(own))) % n_folds
            dealt += len(own)
    return HeldOutPart(rows, known, weights, fold) if dealt >= max(_FEWEST, n_folds) else None
