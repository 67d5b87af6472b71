"""A forest as plain arrays: nodes of all trees in one list."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.front_door.answering.arrival import Arrival
from beltrami.learners.baselines import LEAST_SHARE, NEVER

_ROWS = 2**11
"""Rows that walk down the trees together."""


@dataclass(frozen=True, slots=True, eq=False)
class ForestVoice:
    """A random forest.

    Attributes
    ----------
    roots : ndarray of shape (t,)
        First node of each tree.
    columns : ndarray of shape (n_nodes,)
        What a node asks for; -1 at a leaf.
    thresholds : ndarray of shape (n_nodes,)
        Up to which a row goes left.
    left, right : ndarray of shape (n_nodes,)
        Where rows go on; a leaf leads to itself.
    shares : ndarray of shape (n_nodes, c)
        Of classes that have a label.
    codes : ndarray of shape (c,)
        These classes.
    depth : int
        Steps after which every row is at a leaf.
    n_classes : int
        Classes in all.
    """

    roots: NDArray[np.int32]
    columns: NDArray[np.int32]
    thresholds: FloatVector
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    shares: FloatMatrix
    codes: IndexVector
    depth: int
    n_classes: int

    @classmethod
    def of(cls, model: Any, n_classes: int) -> Self:
        """Take scikit-learn's forest apart."""
        trees = [one.tree_ for one in model.estimators_]
        roots = np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])])[:-1]
        columns = np.concatenate([tree.feature for tree in trees])
        own = np.arange(len(columns))
        is_leaf = columns < 0

        def follow(name: str) -> NDArray[np.int32]:
            pairs = zip(trees, roots, strict=True)
            ends = np.concatenate([getattr(tree, name) + root for tree, root in pairs])
            return np.where(is_leaf, own, ends).astype(np.int32)

        return cls(
            roots.astype(np.int32),
            np.where(is_leaf, -1, columns).astype(np.int32),
            np.concatenate([tree.threshold for tree in trees]),
            follow("children_left"),
            follow("children_right"),
            np.concatenate([tree.value[:, 0, :] for tree in trees]),
            np.asarray(model.classes_, dtype=np.intp),
            max(int(tree.max_depth) for tree in trees),
            n_classes,
        )

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return logarithms of the trees' shares."""
        count = arrival.plain.shape[0]
        logits = np.full((count, self.n_classes), NEVER)
        for start in range(0, count, _ROWS):
            block = arrival.plain[start : start + _ROWS]
            cells = block.toarray() if issparse(block) else block
            shares = self._walk(np.asarray(cells, dtype=np.float32))
            logits[start : start + len(shares), self.codes] = np.log(
                np.maximum(shares, LEAST_SHARE)
            )
        return logits

    def _walk(self, cells: NDArray[np.float32]) -> FloatMatrix:
        """Return the mean shares of the leaves that rows come to, (m, c)."""
        rows = np.arange(len(cells))
        shares = np.zeros((len(cells), self.shares.shape[1]))
        for root in self.roots:
            nodes = np.full(len(cells), root, dtype=np.int32)
            for _ in range(self.depth):
                column = self.columns[nodes]
                if (column < 0).all():
                    break
                goes_left = cells[rows, np.maximum(column, 0)] <= self.thresholds[nodes]
                nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
            shares += self.shares[nodes]
        return np.asarray(shares / len(self.roots))
