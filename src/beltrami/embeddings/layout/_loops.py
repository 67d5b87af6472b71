"""Compiled forces of a two-dimensional map, beside their twins.

Rows lie component by component, and a point is pushed by points of its own component only. A run
of `BLOCK` points shares one draw of others, so that the inner loop runs over neighbouring numbers
and becomes vector instructions. A draw depends on the seed, the epoch and the block alone, and a
block is computed by one thread: the map is the same for any number of threads. Nothing here knows
of graphs: arrays in, arrays out.
"""

import numpy as np

from beltrami.core.machine.compiled import njit, prange

BLOCK = 32
"""Points that share a draw."""

EXACT = 1024
"""In a component of up to so many points, every point pushes every other."""

_SAFE = {"contract", "nsz", "reassoc", "arcp"}
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def _mix(state):
    """Scatter the bits of a 64-bit number, as the last step of SplitMix64 does."""
    state = np.uint64(state) + _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


@njit(cache=True)
def draw(seed, epoch, block, k, n):
    """Return draw `k` of a block in an epoch: a number from 0 to n - 1."""
    key = _mix(np.uint64(seed) ^ _mix(np.uint64(epoch)))
    bits = _mix(_mix(key + np.uint64(block)) + np.uint64(k))
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


def pushes_reference(positions, blocks, seed, epoch, n_draws, c):
    """Twin of `pushes`, in float64."""
    y = positions.astype(np.float64)
    out = np.zeros_like(y)
    for block, (start, stop, first, size) in enumerate(blocks):
        others = np.arange(size)
        if size > EXACT:
            others = np.array([draw(seed, epoch, block, k, size) for k in range(n_draws)])
        gap = y[start:stop, None] - y[None, first + others]
        near = 1 + (gap**2).sum(axis=2)
        out[start:stop] = (gap / (near * (1 + c * near))[:, :, None]).mean(axis=1)
    return out


@njit(cache=True, parallel=True, fastmath=_SAFE)
def pushes(positions, blocks, seed, epoch, n_draws, c):
    """Return the mean over others k of (y_i - y_k) / ((1 + d^2) (1 + c (1 + d^2))).

    A row of `blocks` holds the first and last row of a run of points, and the first row and the
    size of their component.
    """
    out = np.empty_like(positions)
    one, c = np.float32(1.0), np.float32(c)
    for block in prange(blocks.shape[0]):
        first, size = blocks[block, 2], blocks[block, 3]
        m = size if size <= EXACT else n_draws
        xs = np.empty(m, np.float32)
        ys = np.empty(m, np.float32)
        for k in range(m):
            j = first + (k if size <= EXACT else draw(seed, epoch, block, k, size))
            xs[k] = positions[j, 0]
            ys[k] = positions[j, 1]
        share = np.float32(1.0 / m)
        for i in range(blocks[block, 0], blocks[block, 1]):
            x, y = positions[i, 0], positions[i, 1]
            across = np.float32(0.0)
            along = np.float32(0.0)
            for k in range(m):
                dx = x - xs[k]
                dy = y - ys[k]
                near = one + dx * dx + dy * dy
                push = one / (near * (one + c * near))
                across += push * dx
                along += push * dy
            out[i, 0] = share * across
            out[i, 1] = share * along
    return out


def pulls_reference(positions, indptr, indices, weights, c):
    """Twin of `pulls`, in float64."""
    y = positions.astype(np.float64)
    rows = np.repeat(np.arange(len(y)), np.diff(indptr))
    gap = y[indices] - y[rows]
    pull = weights * c / (1 + c * (1 + (gap**2).sum(axis=1)))
    out = np.zeros_like(y)
    np.add.at(out, rows, pull[:, None] * gap)
    return out


@njit(cache=True, parallel=True)
def pulls(positions, indptr, indices, weights, c):
    """Return the sum over edges of w_ij c (y_j - y_i) / (1 + c (1 + d^2))."""
    out = np.empty_like(positions)
    one, c = np.float32(1.0), np.float32(c)
    for i in prange(positions.shape[0]):
        x, y = positions[i, 0], positions[i, 1]
        across = np.float32(0.0)
        along = np.float32(0.0)
        for p in range(indptr[i], indptr[i + 1]):
            dx = positions[indices[p], 0] - x
            dy = positions[indices[p], 1] - y
            pull = weights[p] * c / (one + c * (one + dx * dx + dy * dy))
            across += pull * dx
            along += pull * dy
        out[i, 0] = across
        out[i, 1] = along
    return out
