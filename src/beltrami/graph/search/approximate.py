"""Approximate search for data too large for brute force, tuned until it is good enough.

An inverted file of k-means cells is searched with more and more cells until the recall measured
on a sample reaches the target. Below 0.99 the missing edges distort the spectrum of the graph.
"""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import RecallWarning
from beltrami.core.progress import track
from beltrami.core.types import IndexMatrix

RECALL_TARGET = 0.99
_SAMPLE = 1000
_QUERY_BLOCK = 8192


def approximate_candidates(
    points: NDArray[np.float32], k: int, *, rng: np.random.Generator
) -> tuple[IndexMatrix, float, int]:
    """Return `k` near candidates of each point, with the recall measured on a sample.

    The number of cells searched doubles until at least 0.99 of the true neighbours of the sampled
    points are found; with every cell searched the result is exact, so it always gets there.

    Parameters
    ----------
    points : ndarray of shape (n, d), float32
        The points, queries and base at once.
    k : int
        Candidates wanted, the point itself included.
    rng : Generator
        Draws the sample and seeds the cells.

    Returns
    -------
    candidates : ndarray of shape (n, k)
        Row numbers; -1 where fewer were found.
    recall : float
        Measured share of true neighbours.
    n_sampled : int
        On how many points it was measured.
    """
    import faiss

    n = len(points)
    sample = np.sort(rng.choice(n, size=min(_SAMPLE, n), replace=False))
    truth = faiss.knn(points[sample], points, k)[0]
    index = _inverted_file(points, seed=int(rng.integers(2**31 - 1)))
    index.nprobe = max(1, index.nlist // 128)
    while True:
        # A neighbour counts as found when it is as near as the true k-th: ties are no misses.
        found = index.search(points[sample], k)[0]
        recall = float(np.mean(found <= truth[:, -1:] * (1 + 1e-5) + 1e-12))
        if recall >= RECALL_TARGET + 0.002 or index.nprobe >= index.nlist:
            break
        index.nprobe = min(2 * index.nprobe, index.nlist)
    blocks = []
    with track("searching neighbours (approximate)", total=n) as advance:
        for start in range(0, n, _QUERY_BLOCK):
            blocks.append(index.search(points[start : start + _QUERY_BLOCK], k)[1])
            advance(len(blocks[-1]))
    _warn_when_poor(recall, len(sample))
    return np.concatenate(blocks), recall, len(sample)


def _inverted_file(points: NDArray[np.float32], *, seed: int) -> "faiss.IndexIVFFlat":  # type: ignore[name-defined]  # noqa: F821
    import faiss

    n, d = points.shape
    n_cells = int(np.clip(4 * np.sqrt(n), 1, max(1, n // 40)))
    quantizer = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(quantizer, d, n_cells)
    index.cp.seed = seed
    index.cp.niter = 8
    index.cp.max_points_per_centroid = 64
    index.train(points)
    index.add(points)
    # The index object keeps only a pointer to its quantizer; this keeps the quantizer alive.
    index.own_fields = True
    quantizer.this.disown()
    return index


def _warn_when_poor(recall: float, n_sampled: int) -> None:
    import warnings

    if recall < RECALL_TARGET:  # pragma: no cover - exhaustive search reaches 1
        warnings.warn(
            f"approximate search found {recall:.3f} of the true neighbours on {n_sampled} sampled "
            f"points, below {RECALL_TARGET}; the graph's spectrum may be distorted. Use "
            "search='exact'.",
            RecallWarning,
            stacklevel=2,
        )
