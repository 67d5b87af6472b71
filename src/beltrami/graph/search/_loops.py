"""Compiled loops of the search by cells, beside their twins.

Products of small matrices are BLAS calls inside threads of our own: run them where BLAS is held to
one thread. Work is dealt out by blocks of queries, so that the results do not depend on the number
of threads.
"""

import numpy as np

from beltrami.core.machine.compiled import njit, prange


@njit(cache=True)
def _replace_largest(values, items, value, item):
    """Put an item into a heap in place of its first, which has the largest value."""
    q, child = 0, 1
    while child < values.size:
        if child + 1 < values.size and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[q] = values[child]
        items[q] = items[child]
        q, child = child, 2 * child + 1
    values[q] = value
    items[q] = item


def rank_centers_reference(points, rows, bounds, owners, centers, near, near_bounds, width):
    """Twin of `rank_centers`, by differences."""
    ranked = np.full((bounds[-1] - bounds[0], width), -1)
    for b in range(len(bounds) - 1):
        listed = near[near_bounds[owners[b]] : near_bounds[owners[b] + 1]]
        for p in range(bounds[b], bounds[b + 1]):
            squares = ((points[rows[p]] - centers[listed]) ** 2).sum(axis=1)
            order = np.argsort(squares, kind="stable")[:width]
            ranked[p - bounds[0], : len(order)] = order
    return ranked


@njit(cache=True, parallel=True)
def rank_centers(points, rows, bounds, owners, centers, near, near_bounds, width):
    """Return, for each query, the places in its block's list of the nearest centres, in no order.

    Queries are ``points[rows]`` from the first of ``bounds`` on; block b ends where b + 1 begins,
    and compares with the centres that cell ``owners[b]`` lists in ``near``; -1 where it lists fewer
    than ``width``.
    """
    d = points.shape[1]
    first = bounds[0]
    ranked = np.full((bounds[-1] - first, width), -1, np.int32)
    for b in prange(bounds.size - 1):
        start, end = bounds[b], bounds[b + 1]
        listed = near[near_bounds[owners[b]] : near_bounds[owners[b] + 1]]
        if start == end or listed.size == 0:
            continue
        origin = centers[listed[0]]
        others = np.empty((listed.size, d), np.float32)
        lengths = np.empty(listed.size, np.float32)
        for j in range(listed.size):
            center = centers[listed[j]]
            total = np.float32(0)
            for c in range(d):
                difference = center[c] - origin[c]
                others[j, c] = difference
                total += difference * difference
            lengths[j] = total
        queries = np.empty((end - start, d), np.float32)
        for p in range(end - start):
            query = points[rows[start + p]]
            for c in range(d):
                queries[p, c] = query[c] - origin[c]
        products = np.dot(queries, others.T)
        best = np.empty(width, np.float32)
        for p in range(end - start):
            places = ranked[start - first + p]
            product = products[p]
            best[:] = np.inf
            for j in range(listed.size):
                value = lengths[j] - 2 * product[j]
                if value < best[0]:
                    _replace_largest(best, places, value, np.int32(j))
    return ranked


@njit(cache=True)
def _by_place(ranked, n_places):
    """Return queries by the places that they rank, and where each place's begin."""
    size, width = ranked.shape
    ends = np.zeros(n_places + 1, np.int64)
    for p in range(size):
        for r in range(width):
            if ranked[p, r] >= 0:
                ends[ranked[p, r] + 1] += 1
    for place in range(n_places):
        ends[place + 1] += ends[place]
    queries = np.empty(ends[n_places], np.int64)
    filled = ends.copy()
    for p in range(size):
        for r in range(width):
            place = ranked[p, r]
            if place >= 0:
                queries[filled[place]] = p
                filled[place] += 1
    return queries, ends


def search_cells_reference(points, rows, bounds, owners, near, ranked, order, starts, k):
    """Twin of `search_cells`, by differences: every point of the ranked cells, ties by place."""
    found = np.full((bounds[-1] - bounds[0], k), -1)
    for b in range(len(bounds) - 1):
        for p in range(bounds[b], bounds[b + 1]):
            places = np.sort(ranked[p - bounds[0]][ranked[p - bounds[0]] >= 0])
            listed = near[owners[b]][places]
            candidates = np.concatenate([order[starts[c] : starts[c + 1]] for c in listed])
            squares = ((points[rows[p]] - points[candidates]) ** 2).sum(axis=1)
            nearest = candidates[np.argsort(squares, kind="stable")[:k]]
            found[p - bounds[0], : len(nearest)] = nearest
    return found


@njit(cache=True, parallel=True)
def search_cells(
    points, rows, bounds, owners, near, ranked, order, starts, offsets, half_lengths, centers, k
):
    """Return the k nearest rows of each query in its ranked cells, in no order; -1 is none.

    Queries, blocks and ``near`` (one row of cells per cell) are as in `rank_centers`, which gives
    ``ranked``. Cell c holds the rows ``order[starts[c] : starts[c + 1]]``, whose differences from
    its centre are ``offsets``, with half their squared lengths. Within a block, the queries that
    look into a cell are taken together: one product of matrices for each cell.
    """
    d, n_listed = points.shape[1], near.shape[1]
    first = bounds[0]
    found = np.full((bounds[-1] - first, k), -1, np.int32)
    for b in prange(bounds.size - 1):
        start, size = bounds[b], bounds[b + 1] - bounds[b]
        if size == 0:
            continue
        askers, ends = _by_place(ranked[start - first : start - first + size], n_listed)
        best = np.full((size, k), np.inf, np.float32)
        for place in range(n_listed):
            asking = askers[ends[place] : ends[place + 1]]
            cell = near[owners[b], place]
            low, high = starts[cell], starts[cell + 1]
            if asking.size == 0 or low == high:
                continue
            queries = np.empty((asking.size, d), np.float32)
            squares = np.empty(asking.size, np.float32)
            center = centers[cell]
            for q in range(asking.size):
                query = points[rows[start + asking[q]]]
                total = np.float32(0)
                for c in range(d):
                    difference = query[c] - center[c]
                    queries[q, c] = difference
                    total += difference * difference
                squares[q] = total
            products = np.dot(queries, offsets[low:high].T)
            halves = half_lengths[low:high]
            members = order[low:high]
            for q in range(asking.size):
                values = best[asking[q]]
                product = products[q]
                limit = (values[0] - squares[q]) / 2
                # Most cells hold nobody nearer: to count is one pass without a branch.
                hits = 0
                for j in range(halves.size):
                    hits += halves[j] - product[j] < limit
                if hits == 0:
                    continue
                items = found[start - first + asking[q]]
                for j in range(halves.size):
                    half = halves[j] - product[j]
                    if half < limit:
                        _replace_largest(values, items, squares[q] + 2 * half, members[j])
                        limit = (values[0] - squares[q]) / 2
    return found
