"""What is known of the rows: labels, class probabilities or nothing enter, targets leave."""

from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.validation import check_count
from beltrami.data.labels import (
    are_soft_labels,
    checked_weights,
    encode_labels,
    encode_soft_labels,
    labeled_mask,
)
from beltrami.data.model import UNLABELED
from beltrami.learners.model import Labeled


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is known of some rows, and the names of all classes.

    Attributes
    ----------
    labeled : Labeled
        Rows, distributions over the classes, weights; without rows where nothing is known.
    classes : ndarray of shape (K,)
        The classes.
    marker : object
        What stands for "no class".
    """

    labeled: Labeled
    classes: NDArray[Any]
    marker: Any


def read_knowledge(
    y: Any,
    n_points: int,
    sample_weight: Any,
    *,
    n_classes: int | None,
    unlabeled: Any,
    classes: Any,
) -> Knowledge:
    """Read labels with gaps, (n,), class probabilities with gaps, (n, K), or nothing at all.

    `n_classes` None means as many as y shows. With more than y shows, the others are found.
    """
    if n_classes is not None:
        check_count(n_classes, name="n_classes")
    n_named = n_classes if n_classes is not None else _n_declared(classes)
    if n_named is not None:
        _require_classes(n_named, n_points)
    if y is not None and are_soft_labels(y):
        knowledge = _read_soft(y, n_points, sample_weight, n_named, classes)
    elif y is None or (n_named is not None and not labeled_mask(y, n_points, unlabeled)[1].any()):
        knowledge = _read_nothing(n_named, classes)
    else:
        knowledge = _read_hard(y, n_points, sample_weight, n_classes, unlabeled, classes)
    _require_classes(len(knowledge.classes), n_points)
    return knowledge


def _n_declared(classes: Any) -> int | None:
    return None if classes is None else len(set(classes))


def _require_classes(n_classes: int, n_points: int) -> None:
    if n_classes < 2:
        raise InvalidInputError(
            f"n_classes={n_classes}: a map with boundaries needs at least two classes. For an "
            "embedding without any use StochasticNeighborEmbedding."
        )
    if n_classes > n_points:
        raise InvalidInputError(
            f"n_classes={n_classes} classes need at least as many points, and X has {n_points}."
        )


def _read_nothing(n_classes: int | None, classes: Any) -> Knowledge:
    if n_classes is None:
        raise InvalidInputError(
            "neither labels nor a number of classes: requires y to be passed, but the target y is "
            "None. Give y with some labels, or n_classes=K to cluster into K classes."
        )
    names = np.arange(n_classes) if classes is None else _names(classes, n_classes)
    empty = Labeled(np.zeros(0, dtype=np.intp), np.zeros((0, n_classes)), np.zeros(0))
    return Knowledge(empty, names, UNLABELED if names.dtype.kind == "i" else None)


def _read_soft(
    y: Any, n_points: int, sample_weight: Any, n_classes: int | None, classes: Any
) -> Knowledge:
    rows, distributions = encode_soft_labels(y, n_points)
    k = distributions.shape[1]
    if n_classes is not None and k != n_classes:
        raise InvalidInputError(
            f"the soft labels have {k} columns and there are {n_classes} classes; give one column "
            "per class."
        )
    names = np.arange(k) if classes is None else _names(classes, k)
    weights = checked_weights(sample_weight, n_points, rows)
    marker = UNLABELED if names.dtype.kind == "i" else None
    return Knowledge(Labeled.of(rows, distributions, weights), names, marker)


def _read_hard(
    y: Any,
    n_points: int,
    sample_weight: Any,
    n_classes: int | None,
    unlabeled: Any,
    classes: Any,
) -> Knowledge:
    if n_classes is not None:
        values, has_label = labeled_mask(y, n_points, unlabeled)
        names = values[has_label] if classes is None else np.asarray(list(classes))
        shown = np.unique(names)
        if len(shown) > n_classes:
            raise InvalidInputError(
                f"y shows {len(shown)} classes and n_classes={n_classes}; leave n_classes=None, or "
                "give at least as many as there are."
            )
        classes = _add_classes(shown, n_classes)
    labels = encode_labels(y, n_points, unlabeled=unlabeled, classes=classes)
    weights = checked_weights(sample_weight, n_points, labels.rows)
    labeled = Labeled.of(labels.rows, labels.one_hot(), weights)
    return Knowledge(labeled, labels.classes, labels.marker)


def _names(classes: Any, n_classes: int) -> NDArray[Any]:
    names = np.asarray(list(classes))
    if len(set(names.tolist())) != len(names) or len(names) != n_classes:
        raise InvalidInputError(
            f"classes={list(classes)} must name the n_classes={n_classes} classes, one name each "
            "and none twice."
        )
    return names


def _add_classes(classes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Name the classes that no label shows: further integers, or "new 1", "new 2"."""
    n_others = n_classes - len(classes)
    if n_others == 0:
        return classes
    if classes.dtype.kind == "b":
        raise InvalidInputError(f"booleans are two classes at most, and n_classes={n_classes}.")
    if classes.dtype.kind in "iuf":
        first = max(int(classes.max()) + 1, 0)  # never -1, which marks unlabelled rows
        return np.concatenate([classes, np.arange(first, first + n_others).astype(classes.dtype)])
    names = (f"new {number}" for number in count(1))
    free = islice((name for name in names if name not in classes.tolist()), n_others)
    return np.concatenate([classes, list(free)])
