"""Compiled loops of the multilevel eigensolver, each beside its NumPy twin.

Matrices arrive as the three CSR arrays of symmetric weights without loops. Loops over rows run on
a range of rows and let go of the interpreter, so that Python threads share the ranges.
"""

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.machine.compiled import njit


def pair_up_reference(indptr, indices, weights, mass):
    """Twin of `pair_up`, on Python lists."""
    n = len(mass)
    groups, count = [-1] * n, 0
    rows = [range(indptr[i], indptr[i + 1]) for i in range(n)]
    strength = [[weights[p] ** 2 / mass[indices[p]] for p in row] for row in rows]
    for i in range(n):
        if groups[i] >= 0:
            continue
        free = [(-s, q) for q, (p, s) in enumerate(zip(rows[i], strength[i], strict=True))
                if groups[indices[p]] < 0 and s > 0]  # fmt: skip
        if free:
            partner = indices[rows[i][min(free)[1]]]
            groups[i] = groups[partner] = count
            count += 1
            continue
        taken = [(-s, q) for q, s in enumerate(strength[i]) if s > 0]
        if taken:
            groups[i] = groups[indices[rows[i][min(taken)[1]]]]
        else:
            groups[i] = count
            count += 1
    return np.array(groups, dtype=np.int32), count


@njit(cache=True)
def pair_up(indptr, indices, weights, mass):
    """Group each node with the free neighbour of largest w^2 / m_j; return groups and their number.

    Nodes are taken in order. One whose neighbours all have a group joins that of the strongest;
    one without neighbours stays alone.
    """
    n = mass.size
    groups = np.full(n, -1, np.int32)
    count = 0
    for i in range(n):
        if groups[i] >= 0:
            continue
        best, partner, best_taken, host = 0.0, -1, 0.0, -1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            strength = weights[p] * weights[p] / mass[j]
            if groups[j] < 0:
                if strength > best:
                    best, partner = strength, j
            elif strength > best_taken:
                best_taken, host = strength, j
        if partner < 0 and host >= 0:
            groups[i] = groups[host]
            continue
        groups[i] = count
        if partner >= 0:
            groups[partner] = count
        count += 1
    return groups, count


def contract_reference(indptr, indices, weights, groups, count):
    """Twin of `contract`: P' W P without its diagonal, P the indicators of the groups."""
    n = len(groups)
    matrix = csr_array((weights, indices, indptr), shape=(n, n))
    members = csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, count))
    dense = (members.T @ matrix @ members).toarray()
    np.fill_diagonal(dense, 0.0)
    return dense


@njit(cache=True, nogil=True)
def contract(indptr, indices, weights, groups, starts, members, begin, stop):
    """Return lengths, columns and weights of rows ``begin`` to ``stop`` of the contracted graph.

    Weights between groups are summed, loops left out, rows not sorted;
    ``members[starts[g]:starts[g+1]]`` are the nodes of group g.
    """
    room = 0
    for q in range(starts[begin], starts[stop]):
        room += indptr[members[q] + 1] - indptr[members[q]]
    out_indices = np.empty(room, np.int32)
    out_weights = np.empty(room, np.float64)
    lengths = np.empty(stop - begin, np.int64)
    place = np.full(starts.size - 1, -1, np.int64)
    end = 0
    for g in range(begin, stop):
        first = end
        for q in range(starts[g], starts[g + 1]):
            i = members[q]
            for p in range(indptr[i], indptr[i + 1]):
                other = groups[indices[p]]
                if other == g:
                    continue
                if place[other] < first:
                    place[other] = end
                    out_indices[end] = other
                    out_weights[end] = weights[p]
                    end += 1
                else:
                    out_weights[place[other]] += weights[p]
        lengths[g - begin] = end - first
    return lengths, out_indices[:end].copy(), out_weights[:end].copy()


def arrange_reference(indptr, indices, weights, order, roots):
    """Twin of `arrange`: D W D with D = diag(1 / roots), rows and columns in `order`."""
    n = len(order)
    matrix = csr_array((weights, indices, indptr), shape=(n, n)).toarray() / np.outer(roots, roots)
    return matrix[np.ix_(order, order)]


@njit(cache=True, nogil=True)
def arrange(indptr, indices, weights, order, place, roots, starts, columns, values, begin, stop):
    """Write rows ``begin`` to ``stop`` of the scaled and reordered weights into CSR arrays."""
    for row in range(begin, stop):
        i = order[row]
        end = starts[row]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            columns[end] = place[j]
            values[end] = weights[p] / (roots[i] * roots[j])
            end += 1


def image_reference(indptr, indices, weights, roots, block):
    """Twin of `image`: M^{-1/2} L M^{-1/2} v with a dense Laplacian of w_ij = s_ij r_i r_j."""
    n = len(roots)
    scaled = csr_array((weights, indices, indptr), shape=(n, n)).toarray().astype(np.float64)
    edges = scaled * np.outer(roots, roots)
    laplacian = np.diag(edges.sum(axis=1)) - edges
    return (laplacian / np.outer(roots, roots)) @ block.astype(np.float64)


@njit(cache=True, nogil=True)
def image(indptr, indices, weights, roots, block, out, begin, stop):
    """Overwrite ``out`` with rows ``begin`` to ``stop`` of M^{-1/2} L M^{-1/2} times the block.

    In float64, and with the diagonal that the row of weights implies: null vectors have no image
    beyond the rounding of their entries. Four neighbours are added per sweep of the row.
    """
    columns = block.shape[1]
    for i in range(begin, stop):
        row = out[i - begin]
        own = block[i]
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p] * roots[indices[p]]
        total /= roots[i]
        for c in range(columns):
            row[c] = total * own[c]
        p = indptr[i]
        end = indptr[i + 1]
        while p + 4 <= end:
            x0 = block[indices[p]]
            x1 = block[indices[p + 1]]
            x2 = block[indices[p + 2]]
            x3 = block[indices[p + 3]]
            w0 = np.float64(weights[p])
            w1 = np.float64(weights[p + 1])
            w2 = np.float64(weights[p + 2])
            w3 = np.float64(weights[p + 3])
            for c in range(columns):
                row[c] -= (w0 * x0[c] + w1 * x1[c]) + (w2 * x2[c] + w3 * x3[c])
            p += 4
        while p < end:
            x0 = block[indices[p]]
            w0 = np.float64(weights[p])
            for c in range(columns):
                row[c] -= w0 * x0[c]
            p += 1
