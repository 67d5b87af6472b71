"""Our sides of the contests."""

import numpy as np

from beltrami import SpectralClustering, eigenbasis, solve
from beltrami.graph.search import open_space
from benchmarks.common.facts import SEED
from benchmarks.peers.contest import Answer, Problem
from benchmarks.peers.problems import NEIGHBORS


def neighbors(problem: Problem, metric: str = "euclidean") -> Answer:
    """Search as `KnnGraph` does, without making the graph: the peers make none either."""
    space = open_space(problem["points"], metric)
    lists = space.neighbors(NEIGHBORS, search="auto", rng=np.random.default_rng(SEED))
    return Answer((lists.distances,))


def basis(problem: Problem, p: int, kind: str = "normalized") -> Answer:
    """Find the lowest p eigenvectors, to the residual the peer reached where there is a peer."""
    tol = problem.settings.get("tol", 1e-3)
    basis = eigenbasis(problem["graph"], p, kind=kind, tol=tol, random_state=SEED)
    state = "" if basis.converged else ", NOT converged"
    return Answer((basis.values, basis.vectors), f"{basis.iterations} rounds, tol {tol:.1e}{state}")


def solution(problem: Problem, solver: str = "auto") -> Answer:
    """Solve all columns at once to 1e-8 in the energy norm."""
    solved = solve(
        problem["graph"], problem["right"], shift=problem["shift"], tol=1e-8, solver=solver
    )
    state = "" if solved.converged else ", NOT converged"
    return Answer((solved.values,), f"{solved.iterations} steps ({solved.solver}){state}")


def clusters(problem: Problem, n_clusters: int) -> Answer:
    """Cut the given graph; `points` are only stored."""
    model = SpectralClustering(n_clusters, graph=problem["graph"], random_state=SEED)
    return Answer((model.fit(problem["points"]).labels_,))
