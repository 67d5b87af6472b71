"""Which rows labels say something of: rows that are like no label are told apart.

The slow functions on the graph enter, at all rows and at the labelled ones; two rows are alike by
the cosine of their heat kernels. Pure functions.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector

ALIKE, SHARE_ALIKE = 12.0, 0.4
"""Labels that a typical label is like, and the most as a share of all. Between 8 and 24 interval
scores of the eight sets that constants were chosen on differ by a hundredth (decision 0032)."""

FEWEST = 10
"""Labels from which it can be said that a row is like none."""

_JUDGES = 100
"""Labels, at most, whose likeness to all others sets the time of the diffusion."""

_TIMES, _HALVINGS = (1e-2, 1e8), 14
"""Between which times of the diffusion the right one is sought, and by how many halvings."""

_FUNCTIONS = 30
_UNLIKE = 0.1
"""Share of what a label is typically like below which a row is like none."""

_MOST_OF_CLASS = 3
"""Times what classes typically have up to which all labels of a class are heard."""

_ROWS = 2**14


def spread_labels(targets: FloatMatrix) -> IndexVector:
    """Return the places of labels that tell how far labels reach, ascending.

    Of a class with far more labels than classes typically have, such as one whose whole area was
    labelled at once, some are enough: all of them would set the measure for the others, which
    would then seem to stand alone.

    - `targets`: (l, k), shares of classes.
    """
    codes = targets.argmax(axis=1)
    counts = np.bincount(codes)
    most = max(FEWEST, round(_MOST_OF_CLASS * float(np.median(counts[counts > 0]))))
    kept = []
    for code in np.flatnonzero(counts):
        places = np.flatnonzero(codes == code)
        few = np.linspace(0, len(places) - 1, min(len(places), most))
        kept.append(places[few.round().astype(np.intp)])
    return np.sort(np.concatenate(kept))


def find_damping(functions: FloatMatrix, values: FloatVector) -> FloatVector:
    """Return what functions count once diffusion makes a typical label like enough others.

    - `functions`: (l, q), at the labelled rows; `values`: (q,), their eigenvalues.
    """
    count = len(functions)
    judges = np.arange(0, count, -(-count // _JUDGES))
    wanted = min(ALIKE, SHARE_ALIKE * count)
    rates = np.maximum(values, 0.0) / 2
    low, high = np.log(_TIMES)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        places = unit_rows(functions * np.exp(-np.exp(middle) * rates))
        found = np.median(likeness(places[judges], places).sum(axis=1)) - 1
        low, high = (middle, high) if found < wanted else (low, middle)
    damping: FloatVector = np.exp(-np.exp(high) * rates)
    return damping


def likeness(places: FloatMatrix, others: FloatMatrix) -> FloatMatrix:
    """Return the cosines of rows of length one, those below zero as zero, (m, l)."""
    return np.clip(places @ others.T, 0.0, 1.0)


def unit_rows(vectors: FloatMatrix) -> FloatMatrix:
    """Return rows scaled to length one; those without length stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, vectors.dtype.type(1)))


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """How like the labels a row must be for them to say something of it.

    Attributes
    ----------
    damping : ndarray of shape (q,)
        What the slow functions count.
    places : ndarray of shape (l, q)
        The labels among them, of length one.
    least : float
        Likeness to all labels together below which a row is like none.
    """

    damping: FloatVector
    places: FloatMatrix
    least: float

    @classmethod
    def of(cls, functions: FloatMatrix, values: FloatVector) -> Self | None:
        """Return the reach of labels, or None where these are too few to say.

        - `functions`: (l, q), at the labelled rows; `values`: (q,).
        """
        if len(functions) < FEWEST:
            return None
        functions, values = functions[:, :_FUNCTIONS], values[:_FUNCTIONS]
        damping = find_damping(functions.astype(np.float64), values).astype(functions.dtype)
        places = unit_rows(functions * damping)
        typical = float(np.median(likeness(places, places).sum(axis=1))) - 1
        return cls(damping, places, _UNLIKE * typical)

    def misses(self, functions: FloatMatrix) -> BoolVector:
        """Return which rows are like no label, (n,), by the functions at them, (n, q) or more."""
        unlike = np.zeros(len(functions), dtype=bool)
        count = len(self.damping)

        def fill(begin: int, stop: int) -> None:
            here = unit_rows(functions[begin:stop, :count] * self.damping)
            unlike[begin:stop] = likeness(here, self.places).sum(axis=1) < self.least

        map_ranges(fill, len(functions), _ROWS)
        return unlike
