"""Which rows have a label: published splits, and draws of our own.

Classes enter; labelled rows, and targets with gaps elsewhere, leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import IndexVector, Points

_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDraws:
    """A set with several choices of labelled rows.

    Attributes
    ----------
    name : str
        What the source calls it.
    points : ndarray or csr_array of shape (n, p)
        The points.
    classes : ndarray of shape (n,)
        Numbers from 0 to K - 1.
    draws : ndarray of shape (splits, l)
        Labelled rows.
    """

    name: str
    points: Points
    classes: IndexVector
    draws: IndexVector

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.classes.max()) + 1

    def labels(self, draw: int) -> IndexVector:
        """Return the classes of the labelled rows, and -1 for all others."""
        return keep_labels(self.classes, self.draws[draw])

    def thin_out(self, n_others: int) -> "LabelledDraws":
        """Keep the labelled rows of the first split and some others, drawn at random."""
        labelled = self.draws[0]
        others = np.setdiff1d(np.arange(len(self.classes)), labelled)
        rng = np.random.default_rng(_SEED)
        others = rng.choice(others, min(n_others, len(others)), replace=False)
        rows = np.concatenate([labelled, others])
        points: Any = self.points
        return replace(
            self,
            points=points[rows],
            classes=self.classes[rows],
            draws=np.arange(len(labelled))[None],
        )


def draw_per_class(
    classes: NDArray[Any], per_class: int, *, seed: int | Sequence[int]
) -> IndexVector:
    """Draw labelled rows, as many of each class, the lowest class first."""
    rng = np.random.default_rng(seed)
    members = (np.flatnonzero(classes == one) for one in np.unique(classes))
    return np.concatenate([rng.choice(rows, per_class, replace=False) for rows in members])


def keep_labels(targets: NDArray[Any], rows: IndexVector, *, blank: float = -1) -> NDArray[Any]:
    """Return the targets of some rows, and a blank for all others."""
    labels = np.full(len(targets), blank)
    labels[rows] = targets[rows]
    return labels
