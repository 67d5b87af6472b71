"""The sides of the contest of neighbour searches: points and k in, distances of neighbours out."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common.facts import SEED
from benchmarks.common.threads import threads

OURS, FORMER, BRUTE, DESCENT, HNSW = (
    "cells", "inverted file", "brute force", "pynndescent", "faiss HNSW",
)  # fmt: skip
NOTES = {
    OURS: "`KnnGraph`'s search of today, search='auto': planned cells, products of matrices",
    FORMER: "`KnnGraph`'s search before: faiss's inverted file, cells doubled up to recall 0.992",
    BRUTE: "search='exact': faiss brute force, near ties settled in float64",
    DESCENT: "`NNDescent(n_neighbors=1.5 k)`, nearest k kept; its compiling is not timed",
    HNSW: "`IndexHNSWFlat(32)`, efConstruction 80, efSearch 4 k",
}
_SAMPLE, _QUERY_BLOCK = 1000, 8192

Search = Callable[[np.ndarray, int], np.ndarray]


def library(search: str) -> Search:
    """Return the library's own search."""

    def run(points: np.ndarray, k: int) -> np.ndarray:
        from beltrami.graph.search import open_space  # noqa: PLC0415 - after threads are set

        rng = np.random.default_rng(SEED)
        return open_space(points, "euclidean").neighbors(k, search=search, rng=rng).distances

    return run


def inverted_file(points: np.ndarray, k: int) -> np.ndarray:
    """Search as the library did before."""
    return inverted_file_search(points, k)(np.arange(len(points)))


def inverted_file_search(points: np.ndarray, k: int) -> Callable[[np.ndarray], np.ndarray]:
    """Make an inverted file, find how many cells it takes, and return what searches for rows."""
    import faiss  # noqa: PLC0415

    from beltrami.graph import _loops  # noqa: PLC0415
    from beltrami.graph.search import open_space  # noqa: PLC0415
    from beltrami.graph.search.distances import without_self  # noqa: PLC0415

    space: Any = open_space(points, "euclidean")
    compact, n = space.compact, len(points)
    rng = np.random.default_rng(SEED)
    sample = np.sort(rng.choice(n, min(_SAMPLE, n), replace=False))
    truth = space.nearest(points[sample], k + 1)[1][:, -1:]
    quantizer = faiss.IndexFlatL2(compact.shape[1])
    n_cells = int(np.clip(4 * np.sqrt(n), 1, max(1, n // 40)))
    index = faiss.IndexIVFFlat(quantizer, compact.shape[1], n_cells)
    index.cp.seed, index.cp.niter, index.cp.max_points_per_centroid = SEED, 8, 64
    index.train(compact)
    index.add(compact)
    index.nprobe = max(1, n_cells // 128)

    def found() -> float:
        near = index.search(compact[sample], k + 1)[1]
        return float(np.mean(_loops.rerank(points[sample], points, near, k + 1)[1] <= truth))

    while found() < 0.992 and index.nprobe < n_cells:
        index.nprobe = min(2 * index.nprobe, n_cells)

    def search(rows: np.ndarray) -> np.ndarray:
        blocks = [rows[i : i + _QUERY_BLOCK] for i in range(0, len(rows), _QUERY_BLOCK)]
        near = np.concatenate([index.search(compact[block], k + 1)[1] for block in blocks])
        lists = _loops.rerank(points[rows], points, near, k + 1)
        return without_self(*lists, k, own=rows)[1]

    return search


def _descent(points: np.ndarray, k: int) -> np.ndarray:
    from pynndescent import NNDescent  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = NNDescent(points, n_neighbors=3 * k // 2, random_state=SEED, n_jobs=threads())
    return index.neighbor_graph[1][:, 1 : k + 1]


def _hnsw(points: np.ndarray, k: int) -> np.ndarray:
    import faiss  # noqa: PLC0415

    index = faiss.IndexHNSWFlat(points.shape[1], 32)
    index.hnsw.efConstruction, index.hnsw.efSearch = 80, 4 * k
    index.add(points)
    return np.sqrt(np.maximum(index.search(points, k + 1)[0][:, 1:], 0))


SIDES: dict[str, Search] = {
    OURS: library("auto"),
    FORMER: inverted_file,
    BRUTE: library("exact"),
    DESCENT: _descent,
    HNSW: _hnsw,
}
