"""Approximate search for data too large for brute force, tuned until it is good enough.

An inverted file of k-means cells is searched with more and more cells until the recall measured
on a sample reaches the target. Below 0.99 the missing edges distort the spectrum of the graph.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import RecallWarning
from beltrami.core.progress import track
from beltrami.core.threads import renewed_limit
from beltrami.core.types import IndexMatrix, IndexVector
from beltrami.graph.search.distances import QUERY_BLOCK

_RECALL_TARGET = 0.99
_MARGIN = 0.002  # above the target on the sample, so that all points meet it too


def approximate_candidates(
    points: NDArray[np.float32],
    k: int,
    *,
    sample: IndexVector,
    recall: Callable[[IndexMatrix], float],
    rng: np.random.Generator,
) -> tuple[IndexMatrix, float]:
    """Return `k` near candidates of each point, -1 where fewer were found, and the recall.

    The recall is measured on the rows `sample`: `recall` takes their candidates and returns the
    share of true neighbours in them. The number of cells searched doubles until it is at least
    0.99; with every cell searched the result is exact, so it gets there unless the index is at
    fault, and then a warning says so.
    """
    n = len(points)
    blocks = []
    with renewed_limit(), track("searching neighbours (approximate)", total=n) as advance:
        index = _inverted_file(points, seed=int(rng.integers(2**31 - 1)))
        index.nprobe = max(1, index.nlist // 128)
        measured = recall(index.search(points[sample], k)[1])
        while measured < _RECALL_TARGET + _MARGIN and index.nprobe < index.nlist:
            index.nprobe = min(2 * index.nprobe, index.nlist)
            measured = recall(index.search(points[sample], k)[1])
        for start in range(0, n, QUERY_BLOCK):
            blocks.append(index.search(points[start : start + QUERY_BLOCK], k)[1])
            advance(len(blocks[-1]))
    _warn_when_poor(measured, len(sample))
    return np.concatenate(blocks), measured


def _inverted_file(points: NDArray[np.float32], *, seed: int) -> Any:
    import faiss

    n, d = points.shape
    n_cells = int(np.clip(4 * np.sqrt(n), 1, max(1, n // 40)))
    quantizer: Any = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(quantizer, d, n_cells)
    index.cp.seed = seed
    index.cp.niter = 8
    index.cp.max_points_per_centroid = 64
    index.train(points)
    index.add(points)
    # The index object keeps only a pointer to its quantizer; now it owns it, and Python does not.
    index.own_fields = True
    quantizer.this.disown()
    return index


def _warn_when_poor(recall: float, n_sampled: int) -> None:
    if recall < _RECALL_TARGET:
        warnings.warn(
            f"approximate search found {recall:.3f} of the true neighbours on {n_sampled} sampled "
            f"points, below {_RECALL_TARGET}; the graph's spectrum may be distorted. Use "
            "search='exact'.",
            RecallWarning,
            stacklevel=2,
        )
