"""The multilevel eigensolver: what is slow on a graph is slow on a coarser one too.

The lowest eigenvectors of a graph of a few hundred groups of nodes are computed densely; level by
level they are carried to finer groups, filtered, and turned into Ritz vectors. On the finest level
one round is mostly enough for values to a percent, however small they are, because all that a
filter has to remove is what the coarser level could not see.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import NumpyBackend
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.eigen.chebyshev import chebyshev_eigenpairs
from beltrami.solvers.eigen.dense import dense_eigenpairs, small_eigh
from beltrami.solvers.eigen.level import Level
from beltrami.solvers.eigen.pencil import Pencil, Rung, ladder
from beltrami.solvers.eigen.problem import Eigenpairs
from beltrami.solvers.nullspace import NullSpace
from beltrami.solvers.ordering import cache_order

_MAX_ROUNDS = 12  # on the finest level
_CARRIED_GROWTH = 3e2  # of the lowest eigenvalue, by the filter of carried vectors
_RITZ_GROWTH = 1e4  # the same, of Ritz vectors; float32 bears no more
_MARGIN = 100.0  # the same, by what residuals are above the tolerance: the last pairs grow least
_SMOOTHING_GROWTH = 8.0  # the same, of each filter that smooths
_HIGH = 1 / 8  # of the spectrum: where the first of them begins; each further one so much lower
_DENSE_NODES = 2000  # of the coarsest level; more where coarsening stalls
_MODEST_NODES = 1000  # of the only level, where few pairs of all are asked for
_MIXING = 100.0  # of the light edges' bound: pairs above it they do not mix with those of pieces
_FAR_UNITS = 2.0**20  # of the weights, on either side of one
_COLUMNS_MULTIPLE = 16  # whole cache lines and vector registers


def block_width(count: int) -> int:
    """Return how many columns are carried to find `count` pairs: a quarter more, rounded up.

    The last pairs of a block converge slowly, and one round is to be enough.
    """
    width = count + max(8, count // 4)
    return -(-width // _COLUMNS_MULTIPLE) * _COLUMNS_MULTIPLE


def multilevel_eigenpairs(
    pencil: Pencil, count: int, *, tol: float, rng: np.random.Generator
) -> Eigenpairs:
    """Return the lowest `count` pairs of M^{-1/2} L M^{-1/2} outside its null space, in float32.

    Where edges too light for float32 join pieces, the vectors that tell pieces apart come from the
    graph of the pieces, with small values to full relative accuracy; the rest from the graph
    without those edges.
    """
    bound = pencil.bound()
    unit = 2.0 ** np.floor(np.log2(bound)) if bound > 0 else 1.0
    if not 1 / _FAR_UNITS < unit < _FAR_UNITS:  # float32 holds any unit of the weights then
        pairs = multilevel_eigenpairs(pencil.scale(1 / unit), count, tol=tol, rng=rng)
        return Eigenpairs(unit * pairs.values, pairs.vectors, pairs.iterations)
    strong = pencil.strong()
    null = strong.null()
    if strong is pencil:
        return _connected_pairs(pencil, null, count, tol=tol, rng=rng)
    pieces = pencil.contract(null.membership, null.n_components)
    n_apart = null.n_components - pieces.null().n_components
    apart = multilevel_eigenpairs(pieces, min(count, n_apart), tol=tol, rng=rng)
    lifting = np.sqrt(pencil.mass / pieces.mass[null.membership])
    apart = apart.with_vectors(lifting[:, None] * apart.vectors[null.membership])
    room = pencil.n_nodes - null.n_components
    for n_inside in (max(count - n_apart, 1), count):
        inside = _connected_pairs(strong, null, min(n_inside, room), tol=tol, rng=rng)
        # Values of pieces above those found inside may hide more of the latter between them.
        if len(inside.values) in {0, count} or inside.values[-1] >= apart.values.max(initial=0.0):
            break
    joined = couple(apart, inside, pencil.without(strong))
    lowest = np.argsort(joined.values, kind="stable")[:count]
    return Eigenpairs(joined.values[lowest], joined.vectors[:, lowest], inside.iterations)


def couple(apart: Eigenpairs, inside: Eigenpairs, light: Pencil) -> Eigenpairs:
    """Join the pairs of the pieces and those inside them by the light edges, which couple both.

    A Rayleigh-Ritz step over the pairs whose values the light edges can mix, those up to a
    hundredfold of what these edges add. The images of the pieces' vectors come from the light
    edges alone, so that small values keep their relative accuracy.
    """
    values = np.concatenate([apart.values, inside.values])
    vectors = np.hstack([apart.vectors, inside.vectors], dtype=np.float32)
    near = np.flatnonzero(inside.values <= _MIXING * light.bound()) + len(apart.values)
    if near.size:
        mixed = np.r_[: len(apart.values), near]
        form = light.form(vectors[:, mixed])
        own = np.arange(len(mixed)) < len(apart.values)
        form[np.ix_(own, own)] = 0.0  # it is in their values already
        values[mixed], rotation = small_eigh(np.diag(values[mixed]) + form)
        vectors[:, mixed] = vectors[:, mixed] @ rotation.astype(np.float32)
    return Eigenpairs(values, vectors, inside.iterations)


def _connected_pairs(
    pencil: Pencil, null: NullSpace, count: int, *, tol: float, rng: np.random.Generator
) -> Eigenpairs:
    """Return the lowest pairs outside the null space of a pencil without light edges."""
    n, width = pencil.n_nodes, block_width(count)
    if count == 0:
        return Eigenpairs(np.zeros(0), np.zeros((n, 0), dtype=np.float32), 0)
    rungs = ladder(pencil, null.n_components + 4 * width)
    if len(rungs) == 1:
        most = max(_MODEST_NODES, 5 * count)
        return _coarsest_pairs(pencil, null, count, rng, tol=tol, most=most)
    with track("computing eigenvectors", total=len(rungs)) as advance:
        top, nulls = rungs[-1].pencil, _null_spaces(rungs, null)
        order = cache_order(top.weights)
        top_null = nulls.pop()
        width = min(width, top.n_nodes - top_null.n_components)
        rough = _coarsest_pairs(top, top_null, width, rng, most=max(_DENSE_NODES, 6 * width))
        values, block = rough.values, rough.vectors[order].astype(np.float32)
        roots, shrinking = np.sqrt(top.mass)[order], 1.0
        advance(1)
        for rung in reversed(rungs[:-1]):
            order, parents = _finer_order(order, rung)
            level = Level.of(rung.pencil, nulls.pop(), order)
            block = level.carry(block, parents, roots)
            edge = shrinking * float(values[-1])
            last = min(count, len(values)) - 1
            above = float(values[last])
            block, values = _round(level, block, edge, _CARRIED_GROWTH)
            shrinking = min(float(values[last]) / above, 1.0)
            roots = level.roots
            advance(1)
        pairs = _settle(level, block, values, count, tol=tol)
    vectors = np.empty((n, count), dtype=np.float32)
    vectors[order] = pairs.vectors[:, :count]
    return Eigenpairs(pairs.values[:count], vectors, pairs.iterations)


def _settle(
    level: Level, block: FloatMatrix, values: FloatVector, count: int, *, tol: float
) -> Eigenpairs:
    """Filter and turn again until the residuals meet the tolerance."""
    for rounds in range(1, _MAX_ROUNDS + 1):
        excess = level.residuals(block, values)[:count].max() / (0.9 * tol * values[count - 1])
        if rounds == _MAX_ROUNDS or excess <= 1:
            break
        growth = float(np.clip(_MARGIN * excess, _MARGIN, _RITZ_GROWTH))
        block, values = _round(level, block, float(values[-1]), growth)
    return Eigenpairs(values, block, rounds)


def _round(
    level: Level, block: FloatMatrix, edge: float, growth: float
) -> tuple[FloatMatrix, FloatVector]:
    """Filter a block and turn it into Ritz vectors.

    Further filters of low degree smooth: the first leaves as much above the edge wherever it
    lies, and what lies high weighs most in values and residuals.
    """
    edge = min(max(edge, 1e-9 * level.bound), 0.9 * level.bound)
    level.filter(block, level.degree(edge, growth), edge)
    above = _HIGH * level.bound
    while edge < above / 2:
        level.filter(block, level.degree(above, _SMOOTHING_GROWTH), above)
        above *= _HIGH
    return level.turn(block)


def _coarsest_pairs(
    pencil: Pencil,
    null: NullSpace,
    count: int,
    rng: np.random.Generator,
    *,
    most: int,
    tol: float = 0.1,
) -> Eigenpairs:
    """Return the lowest pairs by LAPACK, or from random vectors where that takes too long.

    - `most`: nodes up to which it does not.
    """
    problem = pencil.problem(null)
    unit = 2.0 ** np.floor(np.log2(problem.bound))
    scaled = problem.scale(1 / unit)
    if pencil.n_nodes <= most:
        pairs = dense_eigenpairs(scaled, count)
    else:
        pairs = chebyshev_eigenpairs(scaled, count, tol=tol, backend=NumpyBackend(), rng=rng)
    return Eigenpairs(unit * pairs.values, pairs.vectors, max(pairs.iterations, 1))


def _null_spaces(rungs: list[Rung], null: NullSpace) -> list[NullSpace]:
    """Return the null space of every rung: families lie in one component."""
    nulls = [null]
    for fine, coarse in pairwise(rungs):
        membership = np.empty(coarse.pencil.n_nodes, dtype=np.int32)
        membership[fine.parents] = nulls[-1].membership
        nulls.append(NullSpace.of(membership, np.sqrt(coarse.pencil.mass)))
    return nulls


def _finer_order(order: NDArray[np.intp], rung: Rung) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the finer nodes family by family, and the row of the parent of each."""
    assert rung.parents is not None
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    rows = place[rung.parents]
    finer = np.argsort(rows, kind="stable")
    return finer, rows[finer]
