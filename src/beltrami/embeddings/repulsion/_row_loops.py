"""Compiled loops over single rows against all points, in float64 and without tiles.

They serve rows that are too far from all others for the loops over tiles, and the comparison of
estimates with exact rows. Arrays in, arrays out.
"""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.compiled import njit, prange
from beltrami.core.types import IndexVector

_Floats = NDArray[np.float64]


@njit(cache=True)
def _shifted_squares(points: _Floats, i: int, out: _Floats) -> float:
    """Write squared distances of one point to all, infinite to itself, and return the smallest."""
    for j in range(points.shape[0]):
        total = 0.0
        for c in range(points.shape[1]):
            difference = points[i, c] - points[j, c]
            total += difference * difference
        out[j] = total
    out[i] = np.inf
    smallest: float = out.min()
    return smallest


@njit(cache=True, parallel=True)
def lone_normalizers(points: _Floats, rows: IndexVector) -> tuple[_Floats, _Floats]:
    """Return, for the given rows, the smallest squared distance and sum_j exp(that - d_ij)."""
    nearest = np.empty(rows.size)
    totals = np.empty(rows.size)
    for r in prange(rows.size):
        squares = np.empty(points.shape[0])
        nearest[r] = _shifted_squares(points, rows[r], squares)
        total = 0.0
        for j in range(squares.size):
            total += np.exp(nearest[r] - squares[j])
        totals[r] = total
    return nearest, totals


@njit(cache=True, parallel=True)
def lone_forces(
    points: _Floats, rows: IndexVector, nearest: _Floats, totals: _Floats, force: _Floats
) -> None:
    """Add the part of the force that the given rows' own q_ij make, to both i and j."""
    n, n_axes = points.shape
    for r in prange(rows.size):
        i = rows[r]
        squares = np.empty(n)
        _shifted_squares(points, i, squares)
        for j in range(n):
            q = np.exp(nearest[r] - squares[j]) / totals[r]
            for c in range(n_axes):
                force[i, c] += q * (points[i, c] - points[j, c])
    for j in prange(n):
        for r in range(rows.size):
            i = rows[r]
            if i == j:
                continue
            square = 0.0
            for c in range(n_axes):
                difference = points[i, c] - points[j, c]
                square += difference * difference
            q = np.exp(nearest[r] - square) / totals[r]
            if q > 0:
                for c in range(n_axes):
                    force[j, c] -= q * (points[i, c] - points[j, c])


@njit(cache=True, parallel=True)
def row_forces(points: _Floats, rows: IndexVector, row_log_z: _Floats, log_z: _Floats) -> _Floats:
    """Return the forces on the given rows, by all pairs, for given log z of them and of all."""
    n, n_axes = points.shape
    out = np.zeros((rows.size, n_axes))
    for r in prange(rows.size):
        i = rows[r]
        squares = np.empty(n)
        _shifted_squares(points, i, squares)
        for j in range(n):
            exponent = -squares[j] - min(row_log_z[r], log_z[j])
            if exponent > -60:
                q = np.exp(-squares[j] - row_log_z[r]) + np.exp(-squares[j] - log_z[j])
                for c in range(n_axes):
                    out[r, c] += q * (points[i, c] - points[j, c])
    return out
