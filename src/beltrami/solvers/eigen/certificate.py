"""What an eigenbasis says of itself: residuals, orthogonality and signs, measured on the result.

Vectors are read a range of rows at a time, so that no second copy of them is held.
"""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector

_ROWS = 8192  # of a range


def residual_norms(
    weights: CsrMatrix, roots: FloatVector, vectors: FloatMatrix, values: FloatVector
) -> NDArray[np.float64]:
    """Return the norm of M^{-1/2} L M^{-1/2} v - lambda v of each pair, in float64.

    `weights` are M^{-1/2} W M^{-1/2}, `roots` M^{1/2}.
    """
    from beltrami.solvers.eigen import _loops

    def rows(begin: int, stop: int) -> NDArray[np.float64]:
        gap = np.empty((stop - begin, vectors.shape[1]))
        _loops.image(
            weights.indptr, weights.indices, weights.data, roots, vectors, gap, begin, stop
        )
        gap -= vectors[begin:stop] * values
        squares: NDArray[np.float64] = np.einsum("ij,ij->j", gap, gap)
        return squares

    norms: NDArray[np.float64] = np.sqrt(np.sum(map_ranges(rows, len(vectors), _ROWS), axis=0))
    return norms


def orthogonality(vectors: FloatMatrix) -> float:
    """Return the largest |V'V z - z| over a few random unit vectors z: O(n p), not O(n p^2)."""
    probes: NDArray[np.float64] = np.random.default_rng(0).standard_normal((vectors.shape[1], 4))
    probes /= np.linalg.norm(probes, axis=0)

    def rows(begin: int, stop: int) -> NDArray[np.float64]:
        own = vectors[begin:stop].astype(np.float64, copy=False)
        image: NDArray[np.float64] = own.T @ (own @ probes)
        return image

    gaps = np.sum(map_ranges(rows, len(vectors), _ROWS), axis=0) - probes
    return float(np.linalg.norm(gaps, axis=0).max())


def signs(vectors: FloatMatrix) -> FloatVector:
    """Return signs that make the entry of largest magnitude positive, the first of near ties."""
    sizes = map_ranges(lambda i, j: np.abs(vectors[i:j]).max(axis=0), len(vectors), _ROWS)
    least = (1 - 1e-6) * np.max(sizes, axis=0)

    def rows(begin: int, stop: int) -> tuple[NDArray[np.bool_], FloatVector]:
        own = vectors[begin:stop]
        is_large = np.abs(own) >= least
        first = is_large.argmax(axis=0)
        columns = np.arange(own.shape[1])
        return is_large[first, columns], own[first, columns]

    found = map_ranges(rows, len(vectors), _ROWS)
    has, entries = (np.array([part[k] for part in found]) for k in range(2))
    first = entries[has.argmax(axis=0), np.arange(entries.shape[1])]
    return np.where(first < 0, -1.0, 1.0)
