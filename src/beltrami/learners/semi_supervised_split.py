"""The folds of a cross-validation where most rows have no label."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import IndexVector, Seed
from beltrami.core.validation import check_count
from beltrami.data.labels import AUTO, encode_values, is_continuous, labeled_mask
from beltrami.learners.splits import deal_folds


class SemiSupervisedSplit(BaseCrossValidator):
    """Folds over the labelled rows; the unlabelled ones are in every training set.

    Classes (strings, integers, booleans, whole floats) are spread evenly over the folds: a class
    with two labels or more is in every training set, and the label of a class that has only one
    is never held out. Floats that are not all whole are numbers to predict: NaN marks unlabelled
    rows, and folds are plain. Whole floats count as classes, as the classifiers read them; for a
    regression on whole numbers this only means that equal values are spread evenly, as long as
    some value is there `n_splits` times.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Draw the folds at random; otherwise they follow the order of the rows.
    unlabeled : object, default="auto"
        What marks an unlabelled row among classes, as in the classifiers: -1 among integers, None,
        NaN, pandas.NA or "" elsewhere; None means that every row is labelled.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the shuffling; an integer gives the same folds at each call.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import SemiSupervisedSplit
    >>> y = np.array(["a", "b", "", "a", "", "b"])
    >>> for train, test in SemiSupervisedSplit(2, shuffle=False).split(y[:, None], y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 4] [3 5]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        unlabeled: Any = AUTO,
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.unlabeled = unlabeled
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IndexVector, IndexVector]]:
        """Yield training and test rows, one pair per fold.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point; only their number matters.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        groups : None
            Refused, for they would not be kept together.

        Yields
        ------
        train : ndarray
            Row numbers: all rows but those of the fold.
        test : ndarray
            Row numbers, labelled rows only.
        """
        if groups is not None:
            raise InvalidInputError(
                "SemiSupervisedSplit does not keep groups together; leave groups out."
            )
        n_splits, n = self.get_n_splits(), _n_rows(X)
        rows, strata, classes = _strata(y, n, self.unlabeled)
        _require_enough(n, strata, classes, n_splits)
        rng = generator(self.random_state) if self.shuffle else None
        folds = np.full(n, -1)
        folds[rows] = deal_folds(strata, n_splits, in_runs=True, rng=rng)
        for fold in range(n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored.

        Returns
        -------
        int
            ``n_splits``.
        """
        return check_count(self.n_splits, name="n_splits", minimum=2)


def _n_rows(points: Any) -> int:
    return int(points.shape[0]) if hasattr(points, "shape") else len(points)


def _strata(y: Any, n: int, unlabeled: Any) -> tuple[IndexVector, IndexVector, NDArray[Any] | None]:
    """Return the labelled rows, the numbers of their classes, and the classes.

    Numbers to predict have no classes (None), and all rows have the number 0.
    """
    values, has_label = labeled_mask(y, n, unlabeled)
    if is_continuous(values[has_label]):
        _, rows = encode_values(y, n)  # here -1 is a number like any other
        return rows, np.zeros(len(rows), dtype=np.intp), None
    classes, strata = np.unique(values[has_label], return_inverse=True)
    return np.flatnonzero(has_label), strata, classes


def _require_enough(
    n: int, strata: IndexVector, classes: NDArray[Any] | None, n_splits: int
) -> None:
    if len(strata) < n_splits:
        raise InvalidInputError(
            f"n_splits={n_splits} and only {len(strata)} of {n} rows in y are labelled: every fold "
            "needs a label to hold out. Use fewer folds or label more."
        )
    if classes is None:
        return
    counts = np.bincount(strata)
    if counts.max() < n_splits:
        hint = " Whole numbers are read as classes; for a regression give (train, test) pairs."
        hint = hint if classes.dtype.kind in "iuf" else ""
        raise InvalidInputError(
            f"n_splits={n_splits} and the largest of {len(classes)} classes, "
            f"{classes.tolist()[counts.argmax()]!r}, has {counts.max()} label(s), so no class can "
            f"be in every fold. Use fewer folds or label more.{hint}"
        )
    lonely = classes[counts == 1].tolist()
    if lonely:
        warnings.warn(
            f"{len(lonely)} of {len(classes)} classes have a single label "
            f"({', '.join(map(str, lonely[:5]))}{', ...' if len(lonely) > 5 else ''}): it "
            "is in every training set and never held out, so the scores say nothing of these "
            "classes. Label more of them.",
            DegenerateDataWarning,
            stacklevel=3,
        )
