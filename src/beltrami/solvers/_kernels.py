"""Compiled loops of the approximate Cholesky factorisation, beside a dense twin of the same idea.

The factorisation eliminates the nodes of a weighted graph one by one and, instead of the full
clique of fill edges, samples a tree with the same expectation.
"""

import numpy as np
from numba import njit, prange

GROUP = 8  # right-hand sides per group: eight float64 fill one cache line


@njit(cache=True)
def _next_uniform(state):
    """Advance a splitmix64 stream held in ``state[0]`` and return a number in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 1.1102230246251565e-16


@njit(cache=True)
def _grow(array, size):
    bigger = np.empty(max(size, 2 * array.size), array.dtype)
    bigger[: array.size] = array
    return bigger


@njit(cache=True)
def _unlink(v, bucket, heads, after, before):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        heads[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@njit(cache=True)
def _link(v, bucket, heads, after, before):
    before[v] = -1
    after[v] = heads[bucket]
    if heads[bucket] >= 0:
        before[heads[bucket]] = v
    heads[bucket] = v


@njit(cache=True)
def _sort_by_mass(near, mass, count, k):
    """Sort the first k entries of three arrays by mass: insertion for few, a sort for many."""
    if k > 64:
        order = np.argsort(mass[:k])
        near[:k] = near[:k][order]
        count[:k] = count[:k][order]
        mass[:k] = mass[:k][order]
        return
    for i in range(1, k):
        node, value, times = near[i], mass[i], count[i]
        j = i - 1
        while j >= 0 and mass[j] > value:
            near[j + 1], mass[j + 1], count[j + 1] = near[j], mass[j], count[j]
            j -= 1
        near[j + 1], mass[j + 1], count[j + 1] = node, value, times


@njit(cache=True)
def _first_above(below, start, stop, draw):
    """Return the first index in [start, stop) whose entry exceeds ``draw``, else ``stop``."""
    while start < stop:
        middle = (start + stop) // 2
        if below[middle] > draw:
            stop = middle
        else:
            start = middle + 1
    return start


@njit(cache=True)
def approximate_cholesky(indptr, indices, weights, ground, copies, seed):
    """Eliminate the graph with weights W and edges ``ground`` to a fixed node; return the factor.

    Each node is eliminated in order of its current number of edges. Its neighbours, multi-edges
    merged into at most ``copies`` equal parts, are sorted by weight; part i is joined to one later
    part j, drawn with probability w_j / S_i where S_i is the sum of the later weights, by an edge
    of weight w_i S_i / S. The expectation of these edges is the exact clique w_i w_j / S.

    Returns
    -------
    order, starts, rows, values, pivots
        Position p eliminated node ``order[p]`` with pivot ``pivots[p]``; its column below the
        diagonal is ``-values[starts[p]:starts[p+1]]`` at the later positions ``rows``.
    """
    n = indptr.size - 1
    size = 3 * indices.size + n + 64
    target = np.empty(size, np.int32)  # entries of the adjacency lists
    weight = np.empty(size, np.float64)
    times = np.empty(size, np.int8)  # parts in the entry: `copies` at first, 1 for a sampled edge
    following = np.empty(size, np.int64)
    first = np.full(n + 1, -1, np.int64)
    degree = np.zeros(n + 1, np.int64)
    used = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] != i and weights[p] > 0:
                target[used] = indices[p]
                weight[used] = weights[p]
                times[used] = copies
                following[used] = first[i]
                first[i] = used
                used += 1
                degree[i] += 1
        if ground[i] > 0:
            target[used] = n
            weight[used] = ground[i]
            times[used] = copies
            following[used] = first[i]
            first[i] = used
            used += 1
            degree[i] += 1

    n_buckets = min(n + 2, 4096)
    heads = np.full(n_buckets, -1, np.int64)
    after = np.full(n + 1, -1, np.int64)
    before = np.full(n + 1, -1, np.int64)
    for i in range(n):
        _link(i, min(degree[i], n_buckets - 1), heads, after, before)
    lowest = 0

    done = np.zeros(n + 1, np.bool_)
    slot = np.full(n + 1, -1, np.int64)
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    order = np.empty(n, np.int32)
    pivots = np.empty(n, np.float64)
    starts = np.zeros(n + 1, np.int64)
    rows = np.empty(max(indices.size, 64), np.int32)
    values = np.empty(max(indices.size, 64), np.float64)
    filled = 0
    near = np.empty(64, np.int32)  # distinct neighbours of the node being eliminated
    mass = np.empty(64, np.float64)
    count = np.empty(64, np.int64)  # parts
    seen = np.empty(64, np.int64)  # entries
    part = np.empty(64, np.int32)  # the same, one entry per multi-edge, ascending in weight
    below = np.empty(65, np.float64)  # cumulative weights of the parts

    for position in range(n):
        while heads[lowest] < 0:
            lowest += 1
        v = heads[lowest]
        _unlink(v, lowest, heads, after, before)
        done[v] = True
        order[position] = v

        k = 0
        p = first[v]
        while p >= 0:
            u = target[p]
            if not done[u]:
                if slot[u] < 0:
                    if k == near.size:
                        near = _grow(near, k + 1)
                        mass = _grow(mass, k + 1)
                        count = _grow(count, k + 1)
                        seen = _grow(seen, k + 1)
                    slot[u] = k
                    near[k] = u
                    mass[k] = 0.0
                    count[k] = 0
                    seen[k] = 0
                    k += 1
                mass[slot[u]] += weight[p]
                count[slot[u]] += times[p]
                seen[slot[u]] += 1
            p = following[p]

        total = 0.0
        for q in range(k):
            slot[near[q]] = -1
            total += mass[q]
        pivots[position] = total
        if filled + k > rows.size:
            rows = _grow(rows, filled + k)
            values = _grow(values, filled + k)
        for q in range(k):
            if near[q] != n:
                rows[filled] = near[q]
                values[filled] = mass[q] / total
                filled += 1
        starts[position + 1] = filled
        if k == 0:
            continue

        for q in range(k):
            u = near[q]
            if u != n:
                _unlink(u, min(degree[u], n_buckets - 1), heads, after, before)
            degree[u] -= seen[q]
        _sort_by_mass(near, mass, count, k)
        parts = 0
        below[0] = 0.0
        for q in range(k):
            pieces = min(count[q], copies)
            if parts + pieces > part.size:
                part = _grow(part, parts + pieces)
                below = _grow(below, part.size + 1)
            for _ in range(pieces):
                part[parts] = q
                below[parts + 1] = below[parts] + mass[q] / pieces
                parts += 1
        if used + 2 * parts > target.size:
            target = _grow(target, used + 2 * parts)
            weight = _grow(weight, target.size)
            times = _grow(times, target.size)
            following = _grow(following, target.size)
        for i in range(parts - 1):
            later = below[parts] - below[i + 1]
            if later <= 0:
                break
            draw = below[i + 1] + _next_uniform(state) * later
            j = _first_above(below, i + 2, parts, draw) - 1
            a = near[part[i]]
            b = near[part[j]]
            if a == b:
                continue
            fresh = (below[i + 1] - below[i]) * later / below[parts]
            if fresh <= 0:
                continue
            for end in range(2):
                u, other = (a, b) if end == 0 else (b, a)
                target[used] = other
                weight[used] = fresh
                times[used] = 1
                following[used] = first[u]
                first[u] = used
                used += 1
                degree[u] += 1
        for q in range(k):
            u = near[q]
            if u != n:
                bucket = min(degree[u], n_buckets - 1)
                _link(u, bucket, heads, after, before)
                lowest = min(lowest, bucket)

    place = np.empty(n, np.int32)
    for position in range(n):
        place[order[position]] = position
    for p in range(filled):
        rows[p] = place[rows[p]]
    return order, starts, rows[:filled].copy(), values[:filled].copy(), pivots


def apply_factor_reference(order, starts, rows, values, pivots, b):
    """Twin of `apply_factor`: solve the two triangular systems as dense matrices."""
    n = order.size
    lower = np.eye(n)
    for position in range(n):
        column = slice(starts[position], starts[position + 1])
        lower[rows[column], position] -= values[column]
    halfway = np.linalg.solve(lower, b[order])
    scaled = np.where(pivots[:, None] > 0, halfway / np.where(pivots > 0, pivots, 1)[:, None], 0.0)
    x = np.empty_like(b)
    x[order] = np.linalg.solve(lower.T, scaled)
    return x


@njit(cache=True, parallel=True)
def apply_factor(order, starts, rows, values, pivots, b, out):
    """Overwrite ``out`` with the solution of (L D L') out = b, groups of columns in parallel."""
    n, columns = b.shape
    n_groups = (columns + GROUP - 1) // GROUP
    for group in prange(n_groups):
        # Groups of equal width keep the threads level: 10 columns go as 5 and 5, not 8 and 2.
        left = group * columns // n_groups
        width = (group + 1) * columns // n_groups - left
        x = np.zeros((n, GROUP))
        for p in range(n):
            for c in range(width):
                x[p, c] = b[order[p], left + c]
        for p in range(n):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(GROUP):
                    other[c] += value * own[c]
            scale = 1.0 / pivots[p] if pivots[p] > 0 else 0.0
            for c in range(GROUP):
                own[c] *= scale
        for p in range(n - 1, -1, -1):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(GROUP):
                    own[c] += value * other[c]
            for c in range(width):
                out[order[p], left + c] = own[c]
