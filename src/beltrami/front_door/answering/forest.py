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
"""Rows that are made dense together, where they are sparse."""


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
            n_classes,
        )

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return logarithms of the trees' shares."""
        from beltrami.front_door.answering import _loops

        count = arrival.plain.shape[0]
        logits = np.full((count, self.n_classes), NEVER)
        for start in range(0, count, _ROWS):
            block = arrival.plain[start : start + _ROWS]
            cells = np.asarray(block.toarray() if issparse(block) else block, dtype=np.float32)
            shares = _loops.walk_trees(
                cells, self.roots, self.columns, self.thresholds, self.left, self.right, self.shares
            )
            shares /= len(self.roots)
            np.maximum(shares, LEAST_SHARE, out=shares)
            logits[start : start + len(cells), self.codes] = np.log(shares)
        return logits
