"""Labels put aside: which rows and labels a check on held-out labels uses, fold by fold."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.learners.model import Labeled

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
    is_sure = known == 1
    codes = np.where(is_sure.any(axis=1), is_sure.argmax(axis=1), -1)
    fold = _deal(codes, n_folds, is_level=True)
    n_dealt = int((fold >= 0).sum())
    return HeldOutPart(rows, known, weights, fold) if n_dealt >= max(_FEWEST, n_folds) else None


def class_folds(labeled: Labeled) -> Iterator[tuple[Labeled, IndexVector]]:
    """Put labels aside in up to five folds, each with the same share of every class.

    Leaving out one label at a time tilts the rest against its class, and with few labels a learner
    that heeds class sizes is then wrong about every one of them; a fold with all classes in it
    does not tilt. The only label of a class always stays. Yields the labels that stay, and the
    places in ``labeled.sample()`` of those put aside.
    """
    sample = labeled.sample()
    count = int(np.clip(typical_count(sample), 2, _CLASS_FOLDS))
    fold = _deal(sample.targets.argmax(axis=1), count, is_level=False)
    for number in range(count if (fold >= 0).any() else 0):
        aside = np.flatnonzero(fold == number)
        kept = ~np.isin(labeled.rows, sample.rows[aside])
        yield Labeled(labeled.rows[kept], labeled.targets[kept], labeled.weights[kept]), aside


def typical_count(labeled: Labeled) -> float:
    """Return how many labels a class has, typically: the median over those with two or more.

    0 where no class has two.
    """
    counts = labeled.targets.sum(axis=0)
    several = counts[counts > 1]
    return float(np.median(several)) if several.size else 0.0


def _deal(codes: IndexVector, n_folds: int, *, is_level: bool) -> IndexVector:
    """Deal labels to folds class by class; -1 for the only label of a class, and where code is -1.

    - `is_level`: each class begins where the one before ended, so that folds are equally large;
      else each begins at the first fold, so that classes of few labels are put aside together.
    """
    fold = np.full(len(codes), -1, dtype=np.intp)
    start = 0
    for code in range(int(codes.max(initial=-1)) + 1):
        members = np.flatnonzero(codes == code)
        if len(members) > 1:
            fold[members] = (start + np.arange(len(members))) % n_folds
            start += len(members) if is_level else 0
    return fold
