"""The form F'SF of a roughness S in features F of all points, in blocks of rows.

A feature map and a roughness enter; an m x m matrix leaves. No array of n x m numbers is needed:
each block of rows is taken with the neighbours that S couples it to, in an order in which these
are few. Cost O(n m^2); memory m^2 and one block.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.machine.backend import NumpyBackend, SplitMatrix
from beltrami.core.machine.memory import budget_bytes
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.kernel_machines.features import FeatureMap
from beltrami.kernel_machines.roughness import Roughness
from beltrami.operators.laplacian import inverse_power
from beltrami.solvers.ordering import slow_order

_BLOCK_BYTES = 2**27
_KEPT_SHARE = 0.5
"""Share of the memory budget that features of all points may take, so as to be made once."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureForm:
    """What one pass over the points leaves.

    Attributes
    ----------
    matrix : ndarray of shape (m, m)
        F'SF, symmetric, float64.
    kept : ndarray of shape (n, m) or None
        F itself, where it fits.
    """

    matrix: NDArray[np.float64]
    kept: FloatMatrix | None


def feature_form(
    features: FeatureMap, roughness: Roughness, kept: FloatMatrix | None = None
) -> FeatureForm:
    """Accumulate F'SF over blocks of rows; `kept` is F where it was worked out before."""
    n, m = roughness.n_rows, features.n_features
    probe = features.of_rows(np.zeros(1, dtype=np.intp))
    size = probe.dtype.itemsize
    if kept is None and n * m * size <= _KEPT_SHARE * budget_bytes():
        kept = _all_features(features, n, probe.dtype)
    total = np.zeros((m, m))
    rows = max(1024, _BLOCK_BYTES // (m * size))
    order = slow_order(roughness.matrix.weights)
    with track("smoothness of the features", total=n) as advance:
        for start in range(0, n, rows):
            block = order[start : start + rows]
            total += _block_form(block, features, roughness, kept)
            advance(len(block))
    total *= roughness.factor
    return FeatureForm((total + total.T) / 2, kept)


def _all_features(features: FeatureMap, n: int, dtype: np.dtype[np.floating]) -> FloatMatrix:
    kept = np.empty((n, features.n_features), dtype=dtype)
    rows = max(1024, _BLOCK_BYTES // (features.n_features * dtype.itemsize))
    with track("features of the points", total=n) as advance:
        for start in range(0, n, rows):
            stop = min(start + rows, n)
            kept[start:stop] = features.of_rows(np.arange(start, stop))
            advance(stop - start)
    return kept


def _block_form(
    block: IndexVector, features: FeatureMap, roughness: Roughness, kept: FloatMatrix | None
) -> NDArray[np.float64]:
    """Return the part of F'L(D^-1 L)^(p - 1)F that belongs to some rows."""
    hops = (roughness.power + 1) // 2
    reach = _rows_within(block, roughness.matrix, hops)
    nodes = reach[-1]
    x = features.of_rows(nodes) if kept is None else kept[nodes]
    x = np.ascontiguousarray(x)
    local = _localise(roughness.matrix, reach, x.dtype)
    backend, older = NumpyBackend(), x
    inverse = inverse_power(roughness.measure[reach[-2]], 1.0).astype(x.dtype)[:, None]
    for hop in range(hops - 1, -1, -1):
        size = len(reach[hop])
        weights, stop = local.weights, int(local.weights.indptr[size])
        part = csr_array(
            (weights.data[:stop], weights.indices[:stop], weights.indptr[: size + 1]),
            shape=(size, len(x)),
        )
        out = np.empty((size, x.shape[1]), dtype=x.dtype)
        backend.product(SplitMatrix(local.diagonal[:size], part), x, out)
        out *= inverse[:size]
        older, x = x, out
    # S is B'DB for an even power, with B = (D^-1 L)^hops; else one factor lacks a last step.
    left = x if roughness.power % 2 == 0 else older[: len(block)]
    return backend.gram(left, x * roughness.measure[block, None].astype(x.dtype))


def _rows_within(block: IndexVector, matrix: SplitMatrix, hops: int) -> list[IndexVector]:
    """Return the rows within 0, 1, ... hops of a block; each list begins with the one before."""
    seen = np.zeros(matrix.n_rows, dtype=bool)
    seen[block] = True
    reach = [block]
    for _ in range(hops):
        neighbors = np.unique(matrix.weights[reach[-1]].indices)
        fresh = neighbors[~seen[neighbors]]
        seen[fresh] = True
        reach.append(np.concatenate([reach[-1], fresh]))
    return reach


def _localise(
    matrix: SplitMatrix, reach: list[IndexVector], dtype: np.dtype[np.floating]
) -> SplitMatrix:
    """Return the rows of a matrix that are all inside, with columns numbered as in `reach`."""
    inner, nodes = reach[-2], reach[-1]
    place = np.zeros(matrix.n_rows, dtype=np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    rows = matrix.weights[inner]
    weights = csr_array(
        (rows.data.astype(dtype), place[rows.indices], rows.indptr), shape=(len(inner), len(nodes))
    )
    return SplitMatrix(matrix.diagonal[inner].astype(dtype), weights)
