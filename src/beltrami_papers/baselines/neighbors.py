"""Votes of the nearest labelled points: of the one nearest, and the thesis's best of 1, 3 and 5.

A space of points, classes and draws of labelled points enter; error rates leave, in percent. Where
many points are labelled, neighbour lists made once for all draws replace the search.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from beltrami.core.types import IndexMatrix, IndexVector
from beltrami.graph.search import Space

COUNTS = (1, 3, 5)
LIST_LENGTH = 64
_ENOUGH = 12
"""Labelled points that a list must hold on average for lists to be worth reading."""


def nearest_label(
    points: Any, rows: IndexVector, classes: IndexVector, *, n_jobs: int | None = None
) -> IndexVector:
    """Give every point the class of the nearest labelled one."""
    model = KNeighborsClassifier(1, n_jobs=n_jobs).fit(points[rows], classes[rows])
    return np.asarray(model.predict(points))


def neighbor_lists(space: Space, length: int = LIST_LENGTH) -> IndexMatrix:
    """Return the nearest other points of every point, by exact search."""
    k = min(length, space.n_points - 1)
    return space.neighbors(k, search="exact", rng=np.random.default_rng(0)).indices


def lists_pay(labelled: int, n: int, length: int = LIST_LENGTH) -> bool:
    """Say whether lists of all points hold enough labelled ones to be read."""
    return length * labelled >= _ENOUGH * n


def first_labelled(lists: IndexMatrix, is_labelled: NDArray[np.bool_], k: int) -> IndexMatrix:
    """Return the first `k` labelled points of each list.

    A row ends in -1 where its list holds fewer.
    """
    marked = is_labelled[lists]
    rank = np.cumsum(marked, axis=1, dtype=np.int16)
    firsts = np.full((len(lists), k), -1, dtype=lists.dtype)
    for j in range(k):
        there = rank[:, -1] > j
        # The first place where the count reaches j + 1 is the labelled point itself.
        place = (rank[there] > j).argmax(axis=1)
        firsts[there, j] = lists[there, place]
    return firsts


def nearest_labelled(
    space: Space,
    labelled: IndexVector,
    queries: IndexVector,
    k: int,
    *,
    lists: IndexMatrix | None = None,
) -> IndexMatrix:
    """Return the labelled points nearest to each query.

    `lists`, the nearest points of every point, are read first where they are given.
    """
    k = min(k, len(labelled))
    if lists is None:
        return space.nearest_between(queries, labelled, k)[0]
    is_labelled = np.zeros(space.n_points, dtype=np.bool_)
    is_labelled[labelled] = True
    nearest = first_labelled(lists[queries], is_labelled, k)
    short = np.flatnonzero(nearest[:, -1] < 0)
    if short.size:
        nearest[short] = space.nearest_between(queries[short], labelled, k)[0]
    return nearest


def majority(near: IndexMatrix) -> IndexVector:
    """Return the most frequent class of each row, and of tied ones the nearest.

    A row of `near` holds classes, the nearest first.
    """
    votes = (near[:, :, None] == near[:, None, :]).sum(axis=2)
    best: IndexVector = np.take_along_axis(near, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return best


def knn_errors(
    space: Space,
    classes: IndexVector,
    draws: Sequence[IndexVector],
    *,
    lists: IndexMatrix | None = None,
) -> NDArray[np.float64]:
    """Return the errors of 1, 3 and 5 nearest neighbours on the unlabelled points, in percent.

    A row for each draw, a column for each of `COUNTS`.
    """
    n, everyone = space.n_points, np.arange(space.n_points)
    errors = np.empty((len(draws), len(COUNTS)))
    for i, labelled in enumerate(draws):
        unlabelled = np.setdiff1d(everyone, labelled, assume_unique=True)
        pays = lists is not None and lists_pay(len(labelled), n, lists.shape[1])
        near = nearest_labelled(
            space, labelled, unlabelled, max(COUNTS), lists=lists if pays else None
        )
        errors[i] = errors_by_count(classes[near], classes[unlabelled])
    return errors


def errors_by_count(near: IndexMatrix, truth: IndexVector) -> list[float]:
    """Return the errors of votes among the first 1, 3 and 5 neighbours, in percent."""
    return [100 * float(np.mean(majority(near[:, :k]) != truth)) for k in COUNTS]
