"""Compiled loops of neighbour search and edge weights, beside their twins.

Nothing here knows of estimators: arrays in, arrays out.
"""

import numpy as np

from beltrami.core.machine.compiled import get_thread_id, njit, prange


def pair_distances_reference(left, right, rows, columns):
    """Twin of `pair_distances`."""
    difference = left[rows].astype(np.float64) - right[columns].astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))


@njit(cache=True, parallel=True)
def pair_distances(left, right, rows, columns):
    """Return the Euclidean distances of given pairs of rows, summed in float64."""
    out = np.empty(rows.size)
    for p in prange(rows.size):
        a = left[rows[p]]
        b = right[columns[p]]
        total = 0.0
        for c in range(a.size):
            difference = np.float64(a[c]) - np.float64(b[c])
            total += difference * difference
        out[p] = np.sqrt(total)
    return out


def rerank_reference(queries, base, candidates, k):
    """Twin of `rerank`: true distances to the candidates, the k nearest by (distance, row)."""
    n, width = candidates.shape
    rows = np.repeat(np.arange(n), width)
    flat = np.where(candidates.ravel() < 0, 0, candidates.ravel())
    distances = pair_distances_reference(queries, base, rows, flat).reshape(n, width)
    distances[candidates < 0] = np.inf
    order = np.lexsort((candidates, distances), axis=1)[:, :k]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(distances, order, 1)


@njit(cache=True, parallel=True)
def rerank(queries, base, candidates, k):
    """Compute true distances to candidate rows (-1 is none) and keep the k nearest, in order.

    The search runs in float32, where near ties can swap; this restores float64 distances and the
    order (distance, row number).
    """
    n, width = candidates.shape
    indices = np.empty((n, k), np.int32)
    distances = np.empty((n, k), np.float64)
    for i in prange(n):
        best_row = np.empty(width, np.int64)
        best = np.empty(width, np.float64)
        a = queries[i]
        for p in range(width):
            j = candidates[i, p]
            total = np.inf
            if j >= 0:
                b = base[j]
                total = 0.0
                for c in range(a.size):
                    difference = np.float64(a[c]) - np.float64(b[c])
                    total += difference * difference
                total = np.sqrt(total)
            q = p
            while q > 0 and (best[q - 1] > total or (best[q - 1] == total and best_row[q - 1] > j)):
                best[q] = best[q - 1]
                best_row[q] = best_row[q - 1]
                q -= 1
            best[q] = total
            best_row[q] = j
        for p in range(k):
            indices[i, p] = best_row[p]
            distances[i, p] = best[p]
    return indices, distances


def scan_reference(queries, base, k):
    """Twin of `scan`: every distance, the k nearest by (distance, row)."""
    candidates = np.tile(np.arange(len(base)), (len(queries), 1))
    return rerank_reference(queries, base, candidates, k)


@njit(cache=True, parallel=True)
def scan(queries, base, k, limits):
    """Return the k nearest rows of the base by (distance, row), looking at every one.

    ``limits`` holds distances that the k-th nearest is known not to exceed. A row is left as soon
    as its partial sum exceeds that, and the scan ends early once k identical rows are found.
    """
    n, width = queries.shape
    indices = np.empty((n, k), np.int32)
    distances = np.empty((n, k), np.float64)
    for i in prange(n):
        a = queries[i]
        best = distances[i]
        ceiling = limits[i] * limits[i] * (1 + 1e-12)
        size = 0
        for j in range(base.shape[0]):
            b = base[j]
            total = 0.0
            c = 0
            while c < width and total <= ceiling:
                stop = min(c + 16, width)
                while c < stop:
                    difference = np.float64(a[c]) - np.float64(b[c])
                    total += difference * difference
                    c += 1
            if total > ceiling:
                continue
            distance = np.sqrt(total)
            if size == k and distance >= best[k - 1]:
                continue
            q = size if size < k else k - 1
            while q > 0 and best[q - 1] > distance:
                best[q] = best[q - 1]
                indices[i, q] = indices[i, q - 1]
                q -= 1
            best[q] = distance
            indices[i, q] = j
            size = min(size + 1, k)
            if size == k:
                if best[k - 1] == 0:
                    break
                ceiling = min(ceiling, best[k - 1] * best[k - 1] * (1 + 1e-12))
    return indices, distances


def closest_pairs_reference(points, rows, starts, lefts, rights, firsts):
    """Twin of `closest_pairs` without bounds: every pair of rows of every pair of clumps."""
    best = np.full(len(firsts) - 1, np.inf)
    for p in range(len(firsts) - 1):
        for q in range(firsts[p], firsts[p + 1]):
            one, other = (points[rows[starts[v] : starts[v + 1]]] for v in (lefts[q], rights[q]))
            difference = (one[:, None] - other).astype(np.float64)
            best[p] = min(best[p], np.linalg.norm(difference, axis=2).min())
    return best


@njit(cache=True, parallel=True)
def closest_pairs(
    points, rows, starts, centers, radii, lefts, rights, bounds, firsts, limits, most
):
    """Return the nearest rows of some pairs of clumps, and how near others can be at most.

    Clump v holds ``rows[starts[v] : starts[v + 1]]`` within its radius around its centre. Party p
    looks at the pairs of clumps from ``firsts[p]`` on, ordered by lower ``bounds`` of their
    distances, until those exceed what was found, or ``most`` pairs of rows were compared; pairs of
    clumps that are not listed are at least ``limits[p]`` apart.
    """
    n_parties, width = firsts.size - 1, points.shape[1]
    ends = np.full((n_parties, 2), -1, np.int64)
    lengths = np.empty(n_parties)
    unseen = np.empty(n_parties)
    for p in prange(n_parties):
        ceiling, length = np.inf, np.inf
        q, compared = firsts[p], 0
        while q < firsts[p + 1] and bounds[q] < length and compared < most:
            center, radius = centers[rights[q]], radii[rights[q]]
            for i in rows[starts[lefts[q]] : starts[lefts[q] + 1]]:
                a = points[i]
                total = 0.0
                for c in range(width):
                    difference = np.float64(a[c]) - center[c]
                    total += difference * difference
                if np.sqrt(total) * (1 - 1e-9) - radius >= length:
                    continue
                compared += starts[rights[q] + 1] - starts[rights[q]]
                for j in rows[starts[rights[q]] : starts[rights[q] + 1]]:
                    b = points[j]
                    total = 0.0
                    c = 0
                    while c < width and total < ceiling:
                        stop = min(c + 16, width)
                        while c < stop:
                            difference = np.float64(a[c]) - np.float64(b[c])
                            total += difference * difference
                            c += 1
                    if total < ceiling:
                        ceiling, length = total, np.sqrt(total)
                        ends[p, 0], ends[p, 1] = i, j
            q += 1
        lengths[p] = length
        unseen[p] = limits[p] if q == firsts[p + 1] else min(bounds[q], limits[p])
    return lengths, ends, unseen


def sparse_pair_distances_reference(left, right, rows, columns):
    """Twin of `sparse_pair_distances`, by dense differences."""
    difference = left.toarray()[rows] - right.toarray()[columns]
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))


@njit(cache=True, parallel=True)
def sparse_pair_distances(
    left_starts, left_columns, left_values, starts, columns, values, rows, others
):
    """Return the Euclidean distances of given pairs of sparse rows with sorted columns.

    Differences are taken before they are squared, so identical rows are at distance zero.
    """
    out = np.empty(rows.size)
    for pair in prange(rows.size):
        p, p_end = left_starts[rows[pair]], left_starts[rows[pair] + 1]
        q, q_end = starts[others[pair]], starts[others[pair] + 1]
        total = 0.0
        while p < p_end or q < q_end:
            if q == q_end or (p < p_end and left_columns[p] < columns[q]):
                difference = left_values[p]
                p += 1
            elif p == p_end or columns[q] < left_columns[p]:
                difference = values[q]
                q += 1
            else:
                difference = left_values[p] - values[q]
                p += 1
                q += 1
            total += difference * difference
        out[pair] = np.sqrt(total)
    return out


def sparse_top_reference(queries, base, bias, k):
    """Twin of `sparse_top`: the k largest of queries @ base.T + bias, ties by row."""
    scores = (queries @ base.T).toarray() + bias
    order = np.lexsort((np.broadcast_to(np.arange(scores.shape[1]), scores.shape), -scores), axis=1)
    order = order[:, :k]
    return order, np.take_along_axis(scores, order, 1)


@njit(cache=True, parallel=True)
def sparse_top(indptr, indices, values, posts, docs, post_values, bias, k, n_threads):
    """Return the k best rows of a sparse base for each sparse query row, by an inverted index.

    The score of base row j is bias_j + <query, base_j>; it is accumulated column by column over
    the postings of the query's features, so rows that share nothing cost one comparison each.
    """
    n_queries = indptr.size - 1
    n_base = bias.size
    best = np.empty((n_queries, k), np.int32)
    scores = np.empty((n_queries, k), np.float64)
    work = np.empty((n_threads, n_base), np.float64)
    for i in prange(n_queries):
        total = work[get_thread_id()]
        total[:] = bias
        for p in range(indptr[i], indptr[i + 1]):
            value = values[p]
            feature = indices[p]
            for q in range(posts[feature], posts[feature + 1]):
                total[docs[q]] += value * post_values[q]
        size = 0
        for j in range(n_base):
            score = total[j]
            if size == k and score <= scores[i, k - 1]:
                continue
            q = size if size < k else k - 1
            while q > 0 and scores[i, q - 1] < score:
                scores[i, q] = scores[i, q - 1]
                best[i, q] = best[i, q - 1]
                q -= 1
            scores[i, q] = score
            best[i, q] = j
            if size < k:
                size += 1
    return best, scores


def shared_share_reference(left, right, rows, columns):
    """Twin of `shared_share`: Jaccard similarity of two neighbour sets, by Python sets."""
    share = np.empty(len(rows))
    for p, (i, j) in enumerate(zip(rows, columns, strict=True)):
        a, b = set(left[i].tolist()), set(right[j].tolist())
        share[p] = len(a & b) / len(a | b)
    return share


@njit(cache=True, parallel=True)
def shared_share(left, right, rows, columns):
    """Return the Jaccard similarity of the sets ``left[i]`` and ``right[j]``, rows sorted."""
    share = np.empty(rows.size)
    for p in prange(rows.size):
        a = left[rows[p]]
        b = right[columns[p]]
        i = j = common = 0
        while i < a.size and j < b.size:
            if a[i] == b[j]:
                common += 1
                i += 1
                j += 1
            elif a[i] < b[j]:
                i += 1
            else:
                j += 1
        share[p] = common / (a.size + b.size - common)
    return share
