"""scikit-learn: brute-force neighbours, SpectralEmbedding and SpectralClustering."""

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import NearestNeighbors

from benchmarks.common.facts import SEED
from benchmarks.common.threads import threads
from benchmarks.peers.contest import Answer, Problem
from benchmarks.peers.problems import NEIGHBORS


def brute(problem: Problem, metric: str = "euclidean") -> Answer:
    """Search exactly, all threads; cosine distances are turned into angles."""
    search = NearestNeighbors(
        n_neighbors=NEIGHBORS,
        algorithm="brute",
        metric="cosine" if metric == "angle" else metric,
        n_jobs=threads(),
    )
    distances, _ = search.fit(problem["points"]).kneighbors()
    if metric == "angle":
        distances = np.arccos(np.clip(1 - distances, -1, 1))
    return Answer((distances,))


def embedding(problem: Problem, p: int) -> Answer:
    """Embed with shift-invert ARPACK, its default, at tolerance 1e-3.

    It returns no eigenvalues and drops the constant vector: values are Rayleigh quotients.
    """
    weights = problem["graph"].weights
    model = SpectralEmbedding(
        n_components=p - 1,
        affinity="precomputed",
        eigen_solver="arpack",
        eigen_tol=1e-3,
        random_state=SEED,
    )
    root = np.sqrt(weights.sum(axis=1))
    vectors = root[:, None] * np.column_stack([np.ones(len(root)), model.fit_transform(weights)])
    vectors /= np.linalg.norm(vectors, axis=0)
    scaled = vectors / root[:, None]
    values = 1 - np.einsum("ij,ij->j", scaled, weights @ scaled)
    order = np.argsort(values)
    return Answer((values[order], vectors[:, order]))


def clusters(problem: Problem, n_clusters: int) -> Answer:
    """Cut the same graph, with the defaults (shift-invert ARPACK, k-means from ten starts)."""
    model = SpectralClustering(
        n_clusters, affinity="precomputed", n_jobs=threads(), random_state=SEED
    )
    return Answer((model.fit(problem["graph"].weights).labels_,))
