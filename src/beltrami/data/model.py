"""The noun of this layer: a named set of points or texts with what is published about it.

Arrays and texts enter once, are checked to agree in length, and leave as a frozen `Dataset`. Every
loader and every generator returns one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector, Points

UNLABELED = -1
"""The marker of rows without a label among integers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """A named data set: points or texts, targets, published splits, and what else is known.

    Everything is held as published: targets keep their values (letters 1 to 26, signs -1 and 1),
    and pixels their range. `number_classes` gives classes 0, 1, ..., and `partial_targets` the
    vector of a published split in which unlabelled points are marked.

    Attributes
    ----------
    name : str
        What the set is called.
    points : ndarray or csr_array of shape (n, d), or None
        One row per point; None for a set of texts or recordings.
    targets : ndarray of shape (n,) or None
        The class or the value of each point.
    texts : tuple of str or None
        One text per point.
    target_names : tuple of str or None
        Names of the classes in the order of their sorted values.
    n_train : int or None
        The first `n_train` rows are the official training set.
    splits : mapping of str to ndarray of shape (n_splits, n_labeled)
        Published splits: row numbers of the labelled points, one split per row.
    extras : mapping of str to object
        Whatever else is known, such as intrinsic coordinates, speakers or waves; the description
        says what each holds.
    description : str
        What the set is, where it comes from and under which terms.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import Dataset
    >>> points, signs = np.arange(8.0).reshape(4, 2), np.array([-1, 1, 1, -1])
    >>> pairs = Dataset("pairs", points, signs, splits={"labeled": np.array([[0, 1], [2, 3]])})
    >>> pairs
    Dataset
      name     pairs
      points   4 x 2 float64
      targets  2 classes
      splits   labeled 2 x 2
    >>> pairs.number_classes().partial_targets("labeled", 1)
    array([-1, -1,  1,  0])
    """

    name: str
    points: Points | None = None
    targets: NDArray[Any] | None = None
    texts: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None
    n_train: int | None = None
    splits: Mapping[str, IndexVector] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        # Copies, so that a caller's later edit of its dictionary does not reach in here.
        object.__setattr__(self, "splits", dict(self.splits))
        object.__setattr__(self, "extras", dict(self.extras))
        _require_equal_lengths(self)
        _require_rows_exist(self)

    @property
    def n_points(self) -> int:
        """Number of points, or of texts; 0 for a set that is neither."""
        return next(iter(_lengths(self).values()), 0)

    def points_and_targets(self) -> tuple[Points, NDArray[Any]]:
        """Return what a learner is fitted and judged by, of a set that has both.

        Returns
        -------
        points : ndarray or csr_array of shape (n, d)
            One row per point.
        targets : ndarray of shape (n,)
            Their classes or values.

        Raises
        ------
        InvalidInputError
            When the set has no points or no targets.
        """
        if self.points is None:
            raise InvalidInputError(
                f"the data set {self.name!r} has no points: it holds texts or recordings. Turn "
                "them into numbers first, as by word_counts or log_spectra of "
                "beltrami_papers.preparation."
            )
        return self.points, _require_targets(self)

    def number_classes(self) -> Dataset:
        """Return the same set with classes 0, 1, ... in the order of the published values.

        Needed before `partial_targets` where -1 is itself a published class. The published values
        become the names of the classes where there were no names.

        Returns
        -------
        Dataset
            A copy that shares every array except the targets.
        """
        targets = _require_targets(self)
        values, numbers = np.unique(targets, return_inverse=True)
        names = self.target_names
        if names is None or len(names) != values.size:
            names = tuple(str(value) for value in values)
        return replace(self, targets=numbers.astype(np.int64), target_names=names)

    def partial_targets(
        self, split: str = "labeled", index: int = 0, *, unlabeled: int = UNLABELED
    ) -> IndexVector:
        """Return the targets of one published split, every other point marked as unlabelled.

        Parameters
        ----------
        split : str, default="labeled"
            Which family of splits, a key of `splits`.
        index : int, default=0
            Which split of that family.
        unlabeled : int, default=-1
            The marker.

        Returns
        -------
        ndarray of int64 of shape (n,)
            The targets where the split labels the point, `unlabeled` elsewhere.

        Raises
        ------
        InvalidInputError
            When there is no such split, or the marker is one of the published classes.
        """
        targets = _require_targets(self)
        if targets.dtype.kind not in "iu":
            raise InvalidInputError(
                f"{self.name!r} has targets of dtype {targets.dtype}, and an integer cannot mark "
                "the unlabelled ones among them; call number_classes() first if they are classes."
            )
        if bool(np.any(targets == unlabeled)):
            raise InvalidInputError(
                f"unlabeled={unlabeled} is a class of {self.name!r} itself ("
                f"{int(np.sum(targets == unlabeled))} points), so the marker would be ambiguous; "
                "call number_classes() first, or choose another marker."
            )
        labeled = _split_rows(self, split, index)
        partial = np.full(targets.shape[0], unlabeled, dtype=np.int64)
        partial[labeled] = targets[labeled]
        return partial

    def __repr__(self) -> str:
        rows = [("name", self.name), *_table(self)]
        width = max(len(key) for key, _ in rows)
        return "Dataset\n" + "\n".join(f"  {key:<{width}}  {value}" for key, value in rows)


def _lengths(dataset: Dataset) -> dict[str, int]:
    """Return the number of points according to each part that has one."""
    lengths: dict[str, int] = {}
    if dataset.points is not None:
        lengths["points"] = int(dataset.points.shape[0])
    if dataset.texts is not None:
        lengths["texts"] = len(dataset.texts)
    if dataset.targets is not None:
        lengths["targets"] = int(dataset.targets.shape[0])
    return lengths


def _require_equal_lengths(dataset: Dataset) -> None:
    if dataset.points is not None and dataset.points.ndim != 2:
        raise InvalidInputError(
            f"points of {dataset.name!r} must be a matrix with one row per point and have shape "
            f"{dataset.points.shape}."
        )
    if dataset.targets is not None and dataset.targets.ndim != 1:
        raise InvalidInputError(
            f"targets of {dataset.name!r} must be a vector and have shape {dataset.targets.shape}."
        )
    lengths = _lengths(dataset)
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{length} {part}" for part, length in lengths.items())
        raise InvalidInputError(
            f"the parts of {dataset.name!r} disagree in length: {listed}. A point, its text and "
            "its target share a row number; drop or add rows until they agree."
        )


def _require_rows_exist(dataset: Dataset) -> None:
    n = dataset.n_points
    if dataset.n_train is not None and not 0 <= dataset.n_train <= n:
        raise InvalidInputError(
            f"n_train={dataset.n_train} of {dataset.name!r} must lie between 0 and {n}."
        )
    for key, rows in dataset.splits.items():
        if rows.ndim != 2 or rows.dtype.kind not in "iu":
            raise InvalidInputError(
                f"split {key!r} of {dataset.name!r} must be an integer matrix with one split per "
                f"row; it has shape {rows.shape} and dtype {rows.dtype}."
            )
        if rows.size and not (int(rows.min()) >= 0 and int(rows.max()) < n):
            raise InvalidInputError(
                f"split {key!r} of {dataset.name!r} names rows {int(rows.min())} to "
                f"{int(rows.max())}, and the set has rows 0 to {n - 1}."
            )


def _require_targets(dataset: Dataset) -> NDArray[Any]:
    if dataset.targets is None:
        raise InvalidInputError(f"{dataset.name!r} has no targets, so there is nothing to label.")
    return dataset.targets


def _split_rows(dataset: Dataset, split: str, index: int) -> IndexVector:
    if split not in dataset.splits:
        listed = ", ".join(repr(key) for key in dataset.splits) or "none"
        raise InvalidInputError(
            f"{dataset.name!r} has no published split {split!r}; it has {listed}. Draw labels "
            "yourself with a fixed seed where none is published."
        )
    rows = dataset.splits[split]
    if not 0 <= index < rows.shape[0]:
        raise InvalidInputError(
            f"index={index} of split {split!r}: {dataset.name!r} has splits 0 to "
            f"{rows.shape[0] - 1}."
        )
    chosen: IndexVector = rows[index]
    return chosen


def _table(dataset: Dataset) -> list[tuple[str, str]]:
    """Return the rows of the printed table, one per part that is there."""
    rows: list[tuple[str, str]] = []
    if dataset.points is not None:
        n, d = dataset.points.shape
        kind = "" if isinstance(dataset.points, np.ndarray) else " sparse"
        rows.append(("points", f"{n} x {d}{kind} {dataset.points.dtype}"))
    if dataset.texts is not None:
        rows.append(("texts", str(len(dataset.texts))))
    if dataset.targets is not None:
        n_values = np.unique(dataset.targets).size
        what = "values" if dataset.targets.dtype.kind == "f" else "classes"
        rows.append(("targets", f"{n_values} {what}"))
    if dataset.n_train is not None:
        rows.append(("n_train", str(dataset.n_train)))
    if dataset.splits:
        shapes = (
            f"{key} {rows.shape[0]} x {rows.shape[1]}" for key, rows in dataset.splits.items()
        )
        rows.append(("splits", ", ".join(shapes)))
    if dataset.extras:
        rows.append(("extras", ", ".join(dataset.extras)))
    return rows
