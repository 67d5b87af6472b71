"""How pure the regions of a dollar sign are, beside clusters that see distances only.

A number of points, a noise and numbers of regions enter; the share of points that lie on the
commonest manifold of their region leaves.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from beltrami.core.errors import BeltramiWarning
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import dollar_sign
from beltrami.embeddings import SpectralClustering
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.region_count import RegionCuts
from beltrami.separation.separate import regions_at, shape_graph
from beltrami_papers.cells import summary, table_lines
from beltrami_papers.journal import Journal, Result
from beltrami_papers.slides.problems import Problem, draw_problem

REGIONS = (2, 3, 5, 8, 12)
NOISES = (0.0, 0.02, 0.05)
N_LABELLED = 160
AUTO, LOG, VORONOI = "ours", "q = [log N]", "ours, Voronoi"
SPECTRAL, KMEANS = "k-NN graph, spectral", "k-means"
METHODS = (AUTO, VORONOI, LOG, SPECTRAL, KMEANS)
CONTROL_DRAWS = 3
"""Draws of plain clusters, which take longer than all else in the table."""

ASKED = 0.95
"""Least mean purity at 12 regions with defaults."""


def purity(regions: IndexVector, manifolds: IndexVector) -> float:
    """Return the share of points on the commonest manifold of their region.

    It is 1 where no region mixes manifolds, and never falls when a region is divided.
    """
    counts = np.zeros((int(regions.max()) + 1, int(manifolds.max()) + 1))
    np.add.at(counts, (regions, manifolds), 1.0)
    return float(counts.max(axis=1).sum() / len(regions))


def cut_regions(
    method: str, problem: Problem, n_unlabelled: int, counts: Sequence[int], draw: int
) -> dict[int, IndexVector]:
    """Cut the points of a draw into several numbers of regions.

    The region of each point. Ours are the stages of the learner, one graph for all numbers.
    """
    points: FloatMatrix = problem.points[problem.rows(N_LABELLED, n_unlabelled)]
    if method == SPECTRAL:
        graph = KnnGraph().build(points)
        clusters = (SpectralClustering(k, graph=graph, random_state=draw) for k in counts)
        return {k: one.fit(points).labels_ for k, one in zip(counts, clusters, strict=True)}
    if method == KMEANS:
        return {k: KMeans(k, n_init=10, random_state=draw).fit(points).labels_ for k in counts}
    rng, labelled = np.random.default_rng(draw), np.arange(N_LABELLED)
    q = round(np.log(len(points))) if method == LOG else "auto"
    separated = shape_graph(points, labelled, n_neighbors=q, rng=rng)
    labels = Labeled.of(labelled, np.zeros((N_LABELLED, 1)), np.ones(N_LABELLED))
    cuts = RegionCuts.of(separated, labels, max(counts), rng)
    rule = "voronoi" if method == VORONOI else "vote"
    return {k: regions_at(separated, cuts.nodes(k), points, rule) for k in counts}


def purity_cells(
    sizes: Sequence[int],
    n_draws: int,
    journal: Journal,
    *,
    noises: Sequence[float] = NOISES,
    counts: Sequence[int] = REGIONS,
) -> list[dict[str, Any]]:
    """Measure the purity of every method."""
    groups: dict[tuple[float, int, str], list[Result]] = {}
    for draw, noise in product(range(n_draws), noises):
        make = partial(dollar_sign, noise=noise)
        problem = draw_problem(make, draw, n_reserved=N_LABELLED, n_test=1)
        for m, method in product(sizes, METHODS):
            if method in {SPECTRAL, KMEANS} and draw >= CONTROL_DRAWS:
                continue
            key = f"purity/{noise:g}/{m}/{method}/{draw}"
            measure = partial(_measure_purities, method, problem, m, counts, draw)
            groups.setdefault((noise, m, method), []).append(journal.result(key, measure))
    return [
        {
            "noise": noise,
            "unlabelled": m,
            "method": method,
            "regions": k,
            **summary(np.array([result[str(k)] for result in results])),
            "seconds": round(sum(result["seconds"] for result in results) / len(counts), 2),
        }
        for (noise, m, method), results in groups.items()
        for k in counts
    ]


def _measure_purities(
    method: str, problem: Problem, m: int, counts: Sequence[int], draw: int
) -> Result:
    started = time.perf_counter()
    manifolds = problem.regions[problem.rows(N_LABELLED, m)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)  # of bridges in a graph with few points
        regions_by_count = cut_regions(method, problem, m, counts, draw)
    shares = {
        str(k): round(purity(regions, manifolds), 5) for k, regions in regions_by_count.items()
    }
    return {**shares, "seconds": round(time.perf_counter() - started, 2)}


def purity_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of purities and the verdict."""
    counts = sorted({cell["regions"] for cell in cells})
    place = {(c["noise"], c["unlabelled"], c["method"], c["regions"]): c for c in cells}
    rows, most = [], max(cell["draws"] for cell in cells)
    for noise, m, method in dict.fromkeys(key[:3] for key in place):
        means = [f"{place[noise, m, method, k]['mean']:.3f}" for k in counts]
        n_draws = place[noise, m, method, counts[0]]["draws"]
        fewer = "" if n_draws == most else f", {n_draws} draws"
        rows.append([f"{noise:g}", str(m), f"{method}{fewer}", *means])
    rows.sort(key=lambda row: (float(row[0]), int(row[1])))
    header = ["noise", "unlabelled", "", *(f"{k} regions" for k in counts)]
    verdict = [f"- {line}" for line in _purity_marks(cells)]
    return [*table_lines(header, rows), "", *verdict]


def _purity_marks(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say whether the purity asked for was reached, for each noise and size."""
    most = max(cell["regions"] for cell in cells)
    sentences = []
    for cell in cells:
        if cell["method"] == AUTO and cell["regions"] == most:
            reached = "reached" if cell["mean"] >= ASKED else "not reached"
            sentences.append(
                f"Mean purity of at least {ASKED:g} at {most} regions with noise "
                f"{cell['noise']:g} and {cell['unlabelled']} unlabelled points: {reached} "
                f"({cell['mean']:.3f})."
            )
    return sentences
