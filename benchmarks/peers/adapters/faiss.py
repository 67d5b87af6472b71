"""faiss: ``faiss.knn``, the flat exact search its wiki names for brute force without an index."""

import numpy as np

from benchmarks.common.threads import threads
from benchmarks.peers.contest import Answer, Problem
from benchmarks.peers.problems import NEIGHBORS


def flat(problem: Problem) -> Answer:
    """Search exactly in float32; the nearest of k + 1 is the point itself."""
    import faiss  # noqa: PLC0415 - optional

    faiss.omp_set_num_threads(threads())
    squares, _ = faiss.knn(problem["points"], problem["points"], NEIGHBORS + 1)
    return Answer((np.sqrt(np.maximum(squares[:, 1:], 0.0)),))
