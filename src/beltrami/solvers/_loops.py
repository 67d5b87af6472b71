"""Compiled loops of the approximate Cholesky factorisation.

The factorisation eliminates the nodes of a weighted graph one by one and, instead of the full
clique of fill edges, samples a tree with the same expectation. It has no twin, being random: tests
hold its expectation to the matrix, and its factor of a tree to the exact one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.compiled import njit

_BUCKETS = 4096  # of the queue; nodes with more entries share the last
_TINY = np.finfo(np.float64).tiny


class _Lists(NamedTuple):
    """The graph still to be eliminated, as linked lists of entries, one list per node.

    Node n, one past the last, is the ground. An entry of an eliminated target is dead; it is
    skipped when its list is read, which happens once.
    """

    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    times: NDArray[np.int8]  # parts in the entry: `copies` at first, 1 for a sampled edge
    following: NDArray[np.int64]
    first: NDArray[np.int64]  # one per node
    degree: NDArray[np.int64]  # live entries, one per node


class _Queue(NamedTuple):
    """The nodes in doubly linked buckets by number of live entries; the last bucket is open."""

    heads: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]


class _Star(NamedTuple):
    """The distinct neighbours of the node being eliminated."""

    near: NDArray[np.int32]
    mass: NDArray[np.float64]  # weight of all entries together
    pieces: NDArray[np.int64]  # parts
    seen: NDArray[np.int64]  # entries


class _Parts(NamedTuple):
    """The same, one element per part, ascending in weight."""

    owner: NDArray[np.int32]  # position in the star
    below: NDArray[np.float64]  # cumulative weight, one longer


class _Columns(NamedTuple):
    """Entries of the factor below the diagonal, column after column."""

    rows: NDArray[np.int32]
    values: NDArray[np.float64]


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
def _append(lists, used, node, other, weight, times):
    """Write entry ``used``, an edge from ``node`` to ``other``, and return the next free one."""
    lists.target[used] = other
    lists.weight[used] = weight
    lists.times[used] = times
    lists.following[used] = lists.first[node]
    lists.first[node] = used
    lists.degree[node] += 1
    return used + 1


@njit(cache=True)
def _lists_of(indptr, indices, weights, ground, copies):
    """Return the adjacency lists of a graph and of its edges to ground, and how many entries."""
    n = indptr.size - 1
    size = 3 * indices.size + n + 64
    lists = _Lists(
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.int8),
        np.empty(size, np.int64),
        np.full(n + 1, -1, np.int64),
        np.zeros(n + 1, np.int64),
    )
    used = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] != i and weights[p] > 0:
                used = _append(lists, used, i, indices[p], weights[p], copies)
        if ground[i] > 0:
            used = _append(lists, used, i, n, ground[i], copies)
    return lists, used


@njit(cache=True)
def _more_lists(lists, size):
    """Return the lists with room for ``size`` entries."""
    target = _grow(lists.target, size)
    return _Lists(
        target,
        _grow(lists.weight, target.size),
        _grow(lists.times, target.size),
        _grow(lists.following, target.size),
        lists.first,
        lists.degree,
    )


@njit(cache=True)
def _unlink(queue, v, bucket):
    heads, after, before = queue.heads, queue.after, queue.before
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        heads[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@njit(cache=True)
def _link(queue, v, bucket):
    heads, after, before = queue.heads, queue.after, queue.before
    before[v] = -1
    after[v] = heads[bucket]
    if heads[bucket] >= 0:
        before[heads[bucket]] = v
    heads[bucket] = v


@njit(cache=True)
def _queue_of(degree):
    """Return all nodes but the ground, sorted into buckets by degree."""
    n = degree.size - 1
    queue = _Queue(
        np.full(min(n + 2, _BUCKETS), -1, np.int64),
        np.full(n + 1, -1, np.int64),
        np.full(n + 1, -1, np.int64),
    )
    for v in range(n):
        _link(queue, v, min(degree[v], queue.heads.size - 1))
    return queue


@njit(cache=True)
def _star_of(size):
    return _Star(
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


@njit(cache=True)
def _parts_of(size):
    return _Parts(np.empty(size, np.int32), np.empty(size + 1, np.float64))


@njit(cache=True)
def _gather(lists, v, done, slot, star):
    """Merge the live entries of node v into ``star``; return the number of neighbours."""
    near, mass, pieces, seen = star
    k = 0
    p = lists.first[v]
    while p >= 0:
        u = lists.target[p]
        if not done[u]:
            if slot[u] < 0:
                slot[u] = k
                near[k] = u
                mass[k] = 0.0
                pieces[k] = 0
                seen[k] = 0
                k += 1
            q = slot[u]
            mass[q] += lists.weight[p]
            pieces[q] += lists.times[p]
            seen[q] += 1
        p = lists.following[p]
    for q in range(k):
        slot[near[q]] = -1
    return k


@njit(cache=True)
def _write_column(columns, filled, star, k, ground):
    """Append the column of the factor; return the pivot and the number of entries."""
    total = 0.0
    for q in range(k):
        total += star.mass[q]
    for q in range(k):
        if star.near[q] != ground:
            columns.rows[filled] = star.near[q]
            columns.values[filled] = star.mass[q] / total
            filled += 1
    return total, filled


@njit(cache=True)
def _sort_by_mass(star, k):
    """Sort the first k neighbours by mass: insertion for few, a sort for many."""
    near, mass, pieces = star.near, star.mass, star.pieces
    if k > 64:
        order = np.argsort(mass[:k])
        near[:k] = near[:k][order]
        pieces[:k] = pieces[:k][order]
        mass[:k] = mass[:k][order]
        return
    for i in range(1, k):
        node, value, times = near[i], mass[i], pieces[i]
        j = i - 1
        while j >= 0 and mass[j] > value:
            near[j + 1], mass[j + 1], pieces[j + 1] = near[j], mass[j], pieces[j]
            j -= 1
        near[j + 1], mass[j + 1], pieces[j + 1] = node, value, times


@njit(cache=True)
def _split(star, k, copies, parts):
    """Split each neighbour into at most ``copies`` equal parts; return the number of parts."""
    owner, below = parts
    n_parts = 0
    below[0] = 0.0
    for q in range(k):
        times = min(star.pieces[q], copies)
        for _ in range(times):
            owner[n_parts] = q
            below[n_parts + 1] = below[n_parts] + star.mass[q] / times
            n_parts += 1
    return n_parts


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
def _sample_tree(lists, used, star, parts, n_parts, state):
    """Join each part to one later part, drawn by weight; return the next free entry."""
    near, owner, below = star.near, parts.owner, parts.below
    total = below[n_parts]
    for i in range(n_parts - 1):
        later = total - below[i + 1]
        draw = below[i + 1] + _next_uniform(state) * later
        j = _first_above(below, i + 2, n_parts, draw) - 1
        a, b = near[owner[i]], near[owner[j]]
        if a == b:
            continue
        fresh = (below[i + 1] - below[i]) * later / total
        if fresh < _TINY:  # the product may underflow where the quotient, at least 1/k, cannot
            fresh = max((below[i + 1] - below[i]) * (later / total), _TINY)
        used = _append(lists, used, a, b, fresh, 1)
        used = _append(lists, used, b, a, fresh, 1)
    return used


@njit(cache=True)
def _take_out(queue, lists, star, k):
    """Take the neighbours out of the queue and the entries of the eliminated node off them."""
    for q in range(k):
        u = star.near[q]
        if u != lists.degree.size - 1:
            _unlink(queue, u, min(lists.degree[u], queue.heads.size - 1))
        lists.degree[u] -= star.seen[q]


@njit(cache=True)
def _put_back(queue, lists, star, k, lowest):
    """Queue the neighbours by their new degrees; return the lowest bucket in use."""
    for q in range(k):
        u = star.near[q]
        if u != lists.degree.size - 1:
            bucket = min(lists.degree[u], queue.heads.size - 1)
            _link(queue, u, bucket)
            lowest = min(lowest, bucket)
    return lowest


@njit(cache=True)
def approximate_cholesky(indptr, indices, weights, ground, copies, seed):
    """Eliminate the graph with weights W and edges ``ground`` to a fixed node; return the factor.

    Each node is eliminated in order of its current number of edges. Its neighbours, multi-edges
    merged into at most ``copies`` equal parts, are sorted by weight; part i is joined to one later
    part j, drawn with probability w_j / S_i where S_i is the sum of the later weights, by an edge
    of weight w_i S_i / S. The expectation of these edges is the exact clique w_i w_j / S. Zeros
    and the diagonal of W are skipped; ``copies`` is at most 127.

    Returns ``order, starts, rows, values, pivots``: position p eliminated node ``order[p]`` with
    pivot ``pivots[p]``; its column below the diagonal is ``-values[starts[p]:starts[p+1]]`` at the
    later positions ``rows``.
    """
    n = indptr.size - 1
    lists, used = _lists_of(indptr, indices, weights, ground, copies)
    queue = _queue_of(lists.degree)
    star, parts = _star_of(64), _parts_of(64)
    columns = _Columns(np.empty(indices.size, np.int32), np.empty(indices.size, np.float64))
    order, pivots = np.empty(n, np.int32), np.empty(n, np.float64)
    starts = np.zeros(n + 1, np.int64)
    done, slot = np.zeros(n + 1, np.bool_), np.full(n + 1, -1, np.int64)
    state = np.full(1, seed, np.uint64)
    filled, lowest = 0, 0
    for position in range(n):
        while queue.heads[lowest] < 0:
            lowest += 1
        v = queue.heads[lowest]
        _unlink(queue, v, lowest)
        done[v] = True
        order[position] = v
        if lists.degree[v] > star.near.size:
            star = _star_of(2 * lists.degree[v])
        k = _gather(lists, v, done, slot, star)
        if filled + k > columns.rows.size:
            columns = _Columns(_grow(columns.rows, filled + k), _grow(columns.values, filled + k))
        pivots[position], filled = _write_column(columns, filled, star, k, n)
        starts[position + 1] = filled
        _take_out(queue, lists, star, k)
        _sort_by_mass(star, k)
        if copies * k > parts.owner.size:
            parts = _parts_of(2 * copies * k)
        n_parts = _split(star, k, copies, parts)
        if used + 2 * n_parts > lists.target.size:
            lists = _more_lists(lists, used + 2 * n_parts)
        used = _sample_tree(lists, used, star, parts, n_parts, state)
        lowest = _put_back(queue, lists, star, k, lowest)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    return order, starts, place[columns.rows[:filled]], columns.values[:filled].copy(), pivots
