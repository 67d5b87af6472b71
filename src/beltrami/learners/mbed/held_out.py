"""Labels put aside: which rows and labels a check on held-out labels uses, fold by fold."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.learners.model import Labeled
from beltrami.learners.splits import deal_folds

_MOST_ROWS = 4000
_FEWEST = 4
_CLASS_FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutPart:
    """A part of the rows whose labels are put aside in turn.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Rows of the data that take part.
    known : ndarray of shape (m, K)
        What is known of them, NaN where nothing is.
    label_weights : ndarray of shape (m,)
        How much each label counts.
    fold : ndarray of shape (m,)
        Fold in which a row's label is put aside; -1 for never.
    """

    rows: IndexVector
    known: FloatMatrix
    label_weights: FloatVector
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
        return self.label_weights[self._aside()]

    def _aside(self) -> IndexVector:
        order = np.argsort(self.fold, kind="stable")
        return order[self.fold[order] >= 0]


def held_out_part(
    labeled: Labeled, n_points: int, n_classes: int, n_folds: int
) -> HeldOutPart | None:
    """Deal the sure labels to folds, class by class; the only label of a class always stays.

    At most 4000 rows take part. None where labels are too few to be put aside.
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
    is_sure = known == 1
    strata = np.where(is_sure.any(axis=1), is_sure.argmax(axis=1), -1)
    folds = deal_folds(strata, n_folds)
    is_enough = int((folds >= 0).sum()) >= max(_FEWEST, n_folds)
    return HeldOutPart(rows, known, weights, folds) if is_enough else None
