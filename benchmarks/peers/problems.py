"""The problems, in full size and as toys that need no data set."""

import warnings
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, random_array

from beltrami import Graph, HeatKernel, KnnGraph, load_dataset, principal_components, swiss_roll
from beltrami.core.errors import BeltramiWarning
from beltrami.data import two_moons
from beltrami.solvers.linear import solve
from beltrami_papers.preparation import strip_headers, word_counts
from benchmarks.common.cache import from_cache
from benchmarks.common.facts import SEED
from benchmarks.peers.contest import Problem

NEIGHBORS = 8
N_MNIST = 60_000


@lru_cache(maxsize=2)
def points(source: str, n: int) -> Problem:
    """Return n points of "mnist", "digits", "swiss" or "moons", or the texts of "newsgroups" or
    "words".

    "digits" (bundled with scikit-learn) and "words" (random counts) are the toys of "mnist" and
    "newsgroups".
    """
    make = partial(_SOURCES[source], n)
    # All subsets of mnist are cut from one file.
    arrays = make() if source == "mnist" else from_cache(f"points-{source}-{n}", n, make)
    return Problem(problem_name(source, n), arrays["points"].shape[0], arrays)


@lru_cache(maxsize=2)
def graph(source: str, n: int, weights: str = "binary") -> Problem:
    """Return the 8-NN graph of those points, binary or with heat weights spanning many orders."""
    cloud = points(source, n)
    key = f"graph-{source}-{n}-{weights}-{NEIGHBORS}"
    matrix = from_cache(key, n, lambda: {"weights": _weights(cloud["points"], weights)})["weights"]
    arrays = {"graph": Graph(matrix), **cloud.arrays}
    return Problem(f"{cloud.name} {weights}", cloud.size, arrays)


@lru_cache(maxsize=1)
def system(source: str, n: int, weights: str, shift: float, *, reference: bool = True) -> Problem:
    """Return (L + shift) X = B with ten columns, each ten unit loads less their mean.

    These are the systems of Poisson learning. The reference solution is ours, asked for 1e-13 and
    accepted only after its residual was measured here.
    """
    made = graph(source, n, weights)
    rng = np.random.default_rng(SEED)
    right = np.zeros((made.size, 10))
    right[rng.integers(made.size, size=(10, 10)), np.arange(10)] = 1.0
    right -= right.mean(axis=0)
    matrix = _shifted_laplacian(made["graph"].weights, shift)
    arrays = {"graph": made["graph"], "matrix": matrix, "right": right, "shift": shift}
    if reference:
        key = f"reference-{source}-{n}-{weights}-{shift:g}"
        arrays |= from_cache(key, n, lambda: _reference(made["graph"], matrix, right, shift))
    return Problem(f"{made.name}, shift {shift:g}", made.size, arrays)


def problem_name(source: str, n: int) -> str:
    """Return "mnist60k" for 60000 points of mnist."""
    if n % 1_000_000 == 0:
        return f"{source}{n // 1_000_000}M"
    return f"{source}{n // 1000}k" if n % 1000 == 0 else f"{source}{n}"


def _shifted_laplacian(weights: csr_array, shift: float) -> csr_array:
    """Return D - W + shift I, with the 32-bit indices that pyamg and SuperLU want."""
    matrix = csr_array(diags_array(weights.sum(axis=1) + shift) - weights)
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _weights(cloud: np.ndarray, weights: str) -> csr_array:
    rule: Any = "binary"
    if weights == "heat":
        lists = KnnGraph(NEIGHBORS, weights="binary", connect="keep").build(cloud).neighbors
        rule = HeatKernel(float(np.median(lists.distances**2)) / 32)
    with warnings.catch_warnings():  # bridges are welcome: ARPACK needs a connected graph
        warnings.simplefilter("ignore", BeltramiWarning)
        return KnnGraph(NEIGHBORS, weights=rule).build(cloud).weights


def _reference(
    made: Graph, matrix: csr_array, right: np.ndarray, shift: float
) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        solution = solve(made, right, shift=shift, tol=1e-13, solver="cholesky")
    residual = np.linalg.norm(matrix @ solution.values - right, axis=0)
    worst = float((residual / np.linalg.norm(right, axis=0)).max())
    if worst > 1e-9:
        raise RuntimeError(f"the reference solution has a relative residual of {worst:.1e}")
    return {"reference": solution.values}


@cache
def _mnist_all() -> dict[str, np.ndarray]:
    """All 60000 training digits on their 100 principal components, in float32."""

    def make() -> dict[str, np.ndarray]:
        digits = load_dataset("mnist")
        pixels = np.asarray(digits.points[:N_MNIST], dtype=np.float32)
        return {"points": principal_components(pixels, 100), "targets": digits.targets[:N_MNIST]}

    return from_cache("mnist-pca100", N_MNIST, make)


def _mnist(n: int) -> dict[str, np.ndarray]:
    return {key: array[:n] for key, array in _mnist_all().items()}


def _digits(n: int) -> dict[str, np.ndarray]:
    digits = load_dataset("digits")
    return {"points": digits.points[:n].astype(np.float32), "targets": digits.targets[:n]}


def _swiss(n: int) -> dict[str, np.ndarray]:
    return {"points": swiss_roll(n, random_state=SEED).points}


def _moons(n: int) -> dict[str, np.ndarray]:
    moons = two_moons(n, random_state=SEED)
    return {"points": moons.points, "targets": moons.targets}


def _newsgroups(n: int) -> dict[str, csr_array]:
    texts = load_dataset("newsgroups20").texts[:n]
    with warnings.catch_warnings():  # a few posts hold none of the words and are left out
        warnings.simplefilter("ignore", BeltramiWarning)
        return {"points": word_counts([strip_headers(text) for text in texts], 6000).matrix}


def _words(n: int) -> dict[str, csr_array]:
    return {"points": csr_array(random_array((n, 200), density=0.1, rng=SEED))}


_SOURCES: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "mnist": _mnist,
    "digits": _digits,
    "swiss": _swiss,
    "moons": _moons,
    "newsgroups": _newsgroups,
    "words": _words,
}
