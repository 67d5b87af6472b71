"""The door to eigenvectors: choose a method, solve, finish in float64, certify."""

import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import ConvergenceWarning, InvalidInputError
from beltrami.core.machine.backend import PROCESSOR, Backend
from beltrami.core.machine.device import backend_for, on_device
from beltrami.core.machine.threads import threads_in_force
from beltrami.core.randomness import generator
from beltrami.core.store import recall
from beltrami.core.types import Seed
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import KINDS
from beltrami.solvers.eigen.certificate import orthogonality, residual_norms, signs
from beltrami.solvers.eigen.chebyshev import block_width, chebyshev_eigenpairs
from beltrami.solvers.eigen.dense import dense_eigenpairs, small_eigh
from beltrami.solvers.eigen.lanczos import lanczos_eigenpairs
from beltrami.solvers.eigen.multilevel import multilevel_eigenpairs
from beltrami.solvers.eigen.pencil import Pencil
from beltrami.solvers.eigen.problem import ROUNDING, Eigenpairs, EigenProblem
from beltrami.solvers.eigen.storing import EIGENBASIS
from beltrami.solvers.model import Basis
from beltrami.solvers.nullspace import NullSpace
from beltrami.solvers.ordering import cache_order

_SOLVERS = ("auto", "dense", "lanczos", "chebyshev", "multilevel")
_DTYPES = ("float64", "float32")
_LOOSE = 1e-2  # tolerance from which on the multilevel method is the fastest
_DENSE_NODES = 1000  # a dense problem up to here takes a fraction of a second
_DENSE_SHARE = 5  # of more than one node in so many, iterating costs more than the dense problem
_FLOOR = 10 * ROUNDING  # of the tolerance that is certified; the methods aim a little lower
_NUMERICALLY_ZERO = 1e-10  # of the spectral bound
# Columns multiplied at once: 128, fewer where they would take more than 128 MiB, at least 8.
_TILE, _NARROW, _TILE_ENTRIES = 128, 8, 2**24
_PRODUCTS = 80  # with the block, of an iteration that converges as most do: what a device may save


def eigenbasis(
    graph: Graph,
    n_components: int,
    *,
    kind: str = "combinatorial",
    tol: float = 1e-3,
    solver: str = "auto",
    dtype: str = "float64",
    random_state: Seed = None,
) -> Basis:
    r"""Return the lowest eigenvectors of a graph Laplacian.

    .. math:: L e = \lambda e \quad\text{("combinatorial")}, \qquad
              D^{-1/2} L D^{-1/2} v = \lambda v \quad\text{("normalized")}, \qquad
              L f = \lambda D f \quad\text{("random\_walk")}

    The constant vector, or one indicator per connected component, comes first with eigenvalue
    exactly zero: components are found by search, not by arithmetic. Within an eigenspace of
    repeated values the vectors are one orthonormal choice of many.

    Cost: about 3 to 6 rounds of 20 products with W over 1.125 p columns, plus O(n p^2). For the
    60,000 MNIST images on 2 cores 50 vectors take about a second and 1000 under a minute. With a
    loose tolerance one round from the eigenvectors of a coarser graph is mostly enough, in float32:
    where only the span of the vectors and values to about a percent matter, ``tol=0.1`` gives them
    in a fraction of the time. The error of a value is of second order in its residual.

    Parameters
    ----------
    graph : Graph
        The graph.
    n_components : int
        p, how many eigenvectors, null vectors included; at most the number of nodes.
    kind : {"combinatorial", "normalized", "random_walk"}, default="combinatorial"
        Which eigenproblem. "random_walk" gives the eigenmaps of the thesis.
    tol : float, default=1e-3
        Largest residual norm, relative to the largest eigenvalue asked for.
    solver : {"auto", "dense", "lanczos", "chebyshev", "multilevel"}, default="auto"
        "auto" is dense up to 1000 nodes or above a fifth of the nodes; else Chebyshev-filtered
        subspace iteration, from a tolerance of 0.01 on begun on coarser graphs ("multilevel").
        Both are dense too where their block would span half the space. "multilevel" computes in
        float32 and finds the eigenvectors that tell nearly disconnected pieces apart from the
        graph of the pieces: small values have relative accuracy there.
        "lanczos" looks again for copies of repeated eigenvalues that it missed, which the others
        cannot miss.
    dtype : {"float64", "float32"}, default="float64"
        Number format of the vectors returned; "float32" halves their memory.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the starting block; None means a fixed seed, because the answer does not depend on
        it beyond the tolerance.

    Returns
    -------
    Basis
        Values, vectors, residuals, and the counts that certify them.

    Warns
    -----
    ConvergenceWarning
        When a residual is above the tolerance; the basis says so too.

    Examples
    --------
    >>> from beltrami import eigenbasis
    >>> from beltrami.graph.families import ring
    >>> eigenbasis(ring(4), 4).values.round(12).tolist()
    [0.0, 2.0, 2.0, 4.0]
    """
    check_choice(kind, KINDS, name="kind")
    check_choice(solver, _SOLVERS, name="solver")
    check_positive(tol, name="tol")
    count = check_count(n_components, name="n_components")
    if count > graph.n_nodes:
        raise InvalidInputError(
            f"n_components={count} eigenvectors were asked of a graph with {graph.n_nodes} nodes; "
            "it has only as many as nodes."
        )
    check_choice(dtype, _DTYPES, name="dtype")
    seed = 0 if random_state is None else random_state
    method = _method(solver, graph.n_nodes, count, tol)
    asked = _Asked(count, kind, tol, method, dtype)
    return recall(
        EIGENBASIS,
        lambda: (graph.weights, *astuple(asked), seed, threads_in_force()),
        lambda: _compute(graph, asked, generator(seed)),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a graph."""

    count: int
    kind: str
    tol: float
    method: str
    dtype: str


def _compute(graph: Graph, asked: _Asked, rng: np.random.Generator) -> Basis:
    """Solve, finish where that is due, and certify."""
    mass = np.ones(graph.n_nodes)
    if asked.kind != "combinatorial":
        degrees = graph.degrees
        mass = np.where(degrees > 0, degrees, 1.0)
    pencil = Pencil(graph.weights, mass)
    null = NullSpace.of(graph.components()[1], np.sqrt(mass))
    zeros = null.vectors(asked.count)
    n_rest, tol = asked.count - zeros.shape[1], asked.tol
    if asked.method == "multilevel":
        lowest = multilevel_eigenpairs(pencil, n_rest, tol=tol, rng=rng)
    else:
        lowest = _lowest_pairs(pencil.problem(null), n_rest, asked.method, tol=tol, rng=rng)
    pairs = Eigenpairs(
        np.concatenate([np.zeros(zeros.shape[1]), lowest.values]),
        np.hstack([zeros, lowest.vectors], dtype=asked.dtype, casting="same_kind"),
        lowest.iterations,
    )
    return _certify(pencil, null, pairs, kind=asked.kind, method=asked.method, tol=tol)


def _method(solver: str, n: int, count: int, tol: float) -> str:
    """Choose the method; a block of half the space is no block, and dense is then faster."""
    if solver == "auto":
        is_small = n <= _DENSE_NODES or _DENSE_SHARE * count > n
        loose = "multilevel" if tol >= _LOOSE else "chebyshev"
        return "dense" if is_small else loose
    has_block = solver in {"chebyshev", "multilevel"}
    return "dense" if has_block and 2 * block_width(count) > n else solver


def _lowest_pairs(
    problem: EigenProblem, count: int, method: str, *, tol: float, rng: np.random.Generator
) -> Eigenpairs:
    """Find the lowest pairs outside the null space and polish them in float64."""
    n = problem.matrix.n_rows
    if count == 0:
        return Eigenpairs(np.zeros(0), np.zeros((n, 0)), 0)
    # A power of two brings the bound near one: float32 then holds any unit of the weights.
    unit = 2.0 ** np.floor(np.log2(problem.bound))
    scaled = problem.scale(1 / unit)
    if method == "dense":
        pairs = dense_eigenpairs(scaled, count)
        return Eigenpairs(unit * pairs.values, pairs.vectors, 0)
    order = cache_order(problem.matrix.weights)
    near = scaled.permute(order)
    if method == "lanczos":
        rough = lanczos_eigenpairs(near, count, tol=tol, rng=rng)
        polished = _rayleigh_ritz(near, rough, PROCESSOR)
    else:
        polished = _filtered_pairs(near, count, tol=tol, rng=rng)
    vectors = np.empty_like(polished.vectors)
    vectors[order] = polished.vectors
    return Eigenpairs(unit * polished.values, vectors, polished.iterations)


def _filtered_pairs(
    problem: EigenProblem, count: int, *, tol: float, rng: np.random.Generator
) -> Eigenpairs:
    """Filter and polish on the device that is chosen; the same draws serve a second attempt."""
    width, n = block_width(count), problem.matrix.n_rows
    products = _PRODUCTS * 2.0 * width * (problem.matrix.weights.nnz + n * width / 16)

    state = rng.bit_generator.state

    def work(backend: Backend) -> Eigenpairs:
        rng.bit_generator.state = state
        rough = chebyshev_eigenpairs(problem, count, tol=tol, backend=backend, rng=rng)
        return _rayleigh_ritz(problem, rough, backend)

    # Four blocks in float32, or the vectors and a tile in float64.
    backend = backend_for(products, 16.0 * n * width + 12.0 * problem.matrix.weights.nnz)
    return on_device(backend, work, step="computing eigenvectors")


def _rayleigh_ritz(problem: EigenProblem, rough: Eigenpairs, backend: Backend) -> Eigenpairs:
    """One Rayleigh-Ritz step in float64: orthogonality and order at rounding level."""
    vectors = backend.block(rough.vectors, np.float64)
    problem.null.project_out(vectors, backend)
    gram = backend.gram(vectors, vectors)
    form = np.hstack([backend.gram(vectors, image) for image in _images(problem, vectors, backend)])
    sizes, directions = small_eigh((gram + gram.T) / 2)
    whitening = directions / np.sqrt(np.maximum(sizes, np.finfo(np.float64).tiny))
    projected = whitening.T @ ((form + form.T) / 2) @ whitening
    values, rotation = small_eigh((projected + projected.T) / 2)
    backend.turn(vectors, whitening @ rotation)
    return Eigenpairs(values, backend.host(vectors), rough.iterations)


def _images(problem: EigenProblem, vectors: Any, backend: Backend) -> Iterator[Any]:
    """Yield A V a tile of columns at a time, so that no second copy of V is held."""
    matrix = backend.matrix(problem.matrix, np.float64)
    width = max(_NARROW, min(_TILE, _TILE_ENTRIES // max(len(vectors), 1)))
    for start in range(0, vectors.shape[1], width):
        tile = backend.block(vectors[:, start : start + width], np.float64)
        image = backend.empty(tuple(tile.shape), np.float64)
        backend.product(matrix, tile, image)
        yield image


def _certify(
    pencil: Pencil,
    null: NullSpace,
    pairs: Eigenpairs,
    *,
    kind: str,
    method: str,
    tol: float,
) -> Basis:
    """Measure residuals and orthogonality, warn where they fail, then fix units and signs."""
    problem, roots = pencil.problem(null), np.sqrt(pencil.mass)
    is_noise = np.abs(pairs.values) <= ROUNDING * problem.bound
    values = np.where(is_noise & (method != "multilevel"), 0.0, pairs.values)
    vectors = pairs.vectors
    residuals = residual_norms(problem.matrix.weights, roots, vectors, values)
    allowed = max(tol * values.max(initial=0.0), _FLOOR * problem.bound)
    n_missed = int((residuals > allowed).sum())
    disorder = orthogonality(vectors)
    if n_missed:
        warnings.warn(
            f"{n_missed} of {len(values)} eigenvectors have a residual above {allowed:.2e} (the "
            f"largest {residuals.max():.2e}) after {pairs.iterations} rounds. Loosen tol, or ask "
            "for a few more or fewer eigenvectors so that the last is not in a crowd of equal "
            "values.",
            ConvergenceWarning,
            stacklevel=6,
        )
    if kind == "random_walk":
        vectors /= roots.astype(vectors.dtype)[:, None]
    vectors *= signs(vectors).astype(vectors.dtype)
    return Basis(
        values=values,
        vectors=vectors,
        residuals=residuals,
        iterations=pairs.iterations,
        converged=n_missed == 0,
        kind=kind,
        solver=method,
        n_zero=int((values <= _NUMERICALLY_ZERO * problem.bound).sum()),
        n_connected=null.n_components,
        orthogonality=disorder,
    )
