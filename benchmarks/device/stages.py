"""The stages that are timed, and how two answers are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import beltrami as bt

_RESOLVED = 1e-6
"""Of the normalised Laplacian, whose values are at most two: what float32 tells from zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One thing to time.

    Attributes
    ----------
    name : str
        For the record.
    run : callable
        Does it; its result is compared between devices.
    agreement : callable
        Takes the processor's result and the device's, and returns numbers that say how near they
        are.
    operations : float
        Of float32 that the stage cannot do without, where that can be said; else nothing.
    """

    name: str
    run: Callable[[], Any]
    agreement: Callable[[Any, Any], dict[str, float]]
    operations: float | None = None


def cloud(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on ten bent sheets of three dimensions in d, and the sheet of each."""
    rng = np.random.default_rng(0)
    sheet = rng.integers(0, 10, n)
    places = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
    points = np.empty((n, d), dtype=np.float32)
    for code in range(10):
        shape = np.random.default_rng((1, code))
        rows = sheet == code
        waves = np.sin(places[rows] @ shape.normal(size=(3, d)) + shape.uniform(0, 6, d))
        points[rows] = waves + shape.normal(size=d)
    points += rng.normal(0, 0.02, points.shape).astype(np.float32)
    return points, sheet


def stages(points: np.ndarray, targets: np.ndarray, counts: list[int]) -> list[Stage]:
    """Return what is timed on some points: lists, eigenvectors in these numbers, fit."""
    n, d = points.shape
    graph = bt.KnnGraph(10).build(points)
    labels = np.where(np.arange(n) < 100, targets, -1)
    listed = [
        Stage(
            "exact 10-NN graph with its certificate",
            lambda: bt.KnnGraph(10, search="exact").build(points),
            _same_lists,
            2.0 * n * n * d,
        )
    ]
    listed += [
        Stage(
            f"{count} eigenvectors, tol 1e-3",
            lambda count=count: bt.eigenbasis(graph, count, kind="normalized", dtype="float32"),
            _near_values,
        )
        for count in counts
    ]
    listed.append(
        Stage(
            "ManifoldClassifier.fit, 100 labels",
            lambda: bt.ManifoldClassifier(random_state=0).fit(points, labels).transduction_,
            _same_labels,
        )
    )
    return listed


def _same_lists(trusted: bt.Graph, found: bt.Graph) -> dict[str, float]:
    same = trusted.neighbors.indices == found.neighbors.indices
    gap = np.abs(trusted.neighbors.distances - found.neighbors.distances).max()
    return {"share_of_same_neighbors": float(same.mean()), "largest_distance_gap": float(gap)}


def _near_values(trusted: bt.Basis, found: bt.Basis) -> dict[str, float]:
    gaps = np.abs(found.values - trusted.values)
    resolved = trusted.values > _RESOLVED
    relative = gaps[resolved] / trusted.values[resolved]
    return {
        "largest_value_gap": float(gaps.max()),
        "largest_relative_value_gap": float(relative.max(initial=0.0)),
        "largest_residual": float(found.residuals.max()),
    }


def _same_labels(trusted: np.ndarray, found: np.ndarray) -> dict[str, float]:
    return {"share_of_same_labels": float(np.mean(trusted == found))}
