"""Compiled loops over pairs of shapes, links and the walk that thins points out."""

import numpy as np

from beltrami.core.machine.compiled import njit, prange


@njit(cache=True)
def _log_determinant(matrix, size):
    """Logarithm of the determinant of a positive matrix, by Cholesky in place."""
    total = 0.0
    for j in range(size):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        total += np.log(pivot)
        root = np.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, size):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry / root
    return total


@njit(cache=True)
def _log_shape(variances, noise, dimension):
    total = (dimension - len(variances)) * np.log(noise)
    for j in range(len(variances)):
        total += np.log(variances[j])
    return total


@njit(cache=True)
def _log_sum(u, lu, eu, v, lv, ev, matrix):
    """Logarithm of |S1 + S2|: in full where that is smaller, else in the joint subspace."""
    r, d = u.shape
    s = v.shape[0]
    both = eu + ev
    if d <= r + s:
        for a in range(d):
            for b in range(a + 1):
                total = both if a == b else 0.0
                for j in range(r):
                    total += (lu[j] - eu) * u[j, a] * u[j, b]
                for j in range(s):
                    total += (lv[j] - ev) * v[j, a] * v[j, b]
                matrix[a, b] = total
        return _log_determinant(matrix, d)
    # |both I + B'B| = both^(d - r - s) |both I + B B'| with the scaled directions as rows of B.
    for i in range(r + s):
        for j in range(i + 1):
            matrix[i, j] = 0.0
    for i in range(r):
        matrix[i, i] = both + lu[i] - eu
    for i in range(s):
        matrix[r + i, r + i] = both + lv[i] - ev
        scale = np.sqrt(max(lv[i] - ev, 0.0))
        for j in range(r):
            dot = 0.0
            for a in range(d):
                dot += v[i, a] * u[j, a]
            matrix[r + i, j] = scale * np.sqrt(max(lu[j] - eu, 0.0)) * dot
    return (d - r - s) * np.log(both) + _log_determinant(matrix, r + s)


@njit(parallel=True, cache=True)
def hellinger_squared(
    directions, variances, noise, rows, other_directions, other_variances, other_noise, columns, out
):
    """Squared Hellinger distance of each pair of shapes."""
    d = directions.shape[2]
    size = min(d, directions.shape[1] + other_directions.shape[1])
    for pair in prange(len(rows)):
        i, j = rows[pair], columns[pair]
        matrix = np.empty((size, size))
        total = _log_sum(
            directions[i],
            variances[i],
            noise[i],
            other_directions[j],
            other_variances[j],
            other_noise[j],
            matrix,
        )
        own = _log_shape(variances[i], noise[i], d)
        other = _log_shape(other_variances[j], other_noise[j], d)
        affinity = 0.5 * d * np.log(2.0) + 0.25 * (own + other) - 0.5 * total
        out[pair] = min(max(-np.expm1(affinity), 0.0), 1.0)


@njit(parallel=True, cache=True)
def mahalanobis_squared(points, directions, variances, noise, base, candidates, out):
    """Squared Mahalanobis distance of each candidate, by the shape around the query."""
    d = points.shape[1]
    for i in prange(len(points)):
        step = np.empty(d)
        for c in range(candidates.shape[1]):
            length = 0.0
            for a in range(d):
                step[a] = base[candidates[i, c], a] - points[i, a]
                length += step[a] * step[a]
            inside = 0.0
            along = 0.0
            for j in range(directions.shape[1]):
                dot = 0.0
                for a in range(d):
                    dot += directions[i, j, a] * step[a]
                inside += dot * dot
                along += dot * dot / variances[i, j]
            out[i, c] = along + max(length - inside, 0.0) / noise[i]


@njit(cache=True)
def walk(points, start, n_dropped):
    """Return the rows that stay when each drops the nearest that remain, then the next does."""
    n, d = points.shape
    remaining = np.arange(n)
    kept = np.empty(n, np.int64)
    distances = np.empty(n)
    count, left, current = 0, n, start
    while True:
        kept[count] = remaining[current]
        count += 1
        here = points[remaining[current]].copy()
        left -= 1
        remaining[current] = remaining[left]
        if left == 0:
            break
        for i in range(left):
            total = 0.0
            for a in range(d):
                step = points[remaining[i], a] - here[a]
                total += step * step
            distances[i] = total
        if left <= n_dropped:
            break
        edge = np.partition(distances[:left], n_dropped)[n_dropped]
        # Strictly nearer rows go, then rows at the edge until the count is right.
        nearer = 0
        for i in range(left):
            if distances[i] < edge:
                nearer += 1
        at_edge = n_dropped - nearer
        i, current = 0, -1
        while i < left:
            drop = distances[i] < edge
            if distances[i] == edge and at_edge > 0:
                drop = True
                at_edge -= 1
            if drop:
                left -= 1
                remaining[i] = remaining[left]
                distances[i] = distances[left]
            else:
                i += 1
        for i in range(left):
            if current < 0 or distances[i] < distances[current]:
                current = i
    return kept[:count]
