"""Neighbour search, graphs and spanning trees by brute force: slow, short, believed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def distance_matrix(left: Any, right: Any, metric: str) -> Matrix:
    """Distances by differences, one pair at a time."""
    left, right = np.asarray(left, float), np.asarray(right, float)
    if metric in ("cosine", "angle"):
        left = left / np.linalg.norm(left, axis=1, keepdims=True)
        right = right / np.linalg.norm(right, axis=1, keepdims=True)
    gaps = left[:, None, :] - right[None, :, :]
    if metric == "manhattan":
        return np.asarray(np.abs(gaps).sum(axis=2))
    chords = np.sqrt((gaps**2).sum(axis=2))
    if metric == "cosine":
        return chords**2 / 2
    return 2 * np.arcsin(np.clip(chords / 2, 0, 1)) if metric == "angle" else chords


def neighbors(distances: Matrix, k: int) -> tuple[NDArray[np.int64], Matrix]:
    """The k nearest others of each point by (distance, row)."""
    indices, lengths = [], []
    for i, row in enumerate(distances):
        order = sorted((d, j) for j, d in enumerate(row.tolist()) if j != i)[:k]
        indices.append([j for _, j in order])
        lengths.append([d for d, _ in order])
    return np.array(indices), np.array(lengths)


def adjacency(indices: NDArray[np.int64], *, mutual: bool = False) -> NDArray[np.bool_]:
    """Which pairs are edges."""
    listed = np.zeros((len(indices), len(indices)), dtype=bool)
    for i, near in enumerate(indices):
        listed[i, near] = True
    return (listed & listed.T) if mutual else (listed | listed.T)


def spanning_weight(distances: Matrix, membership: NDArray[Any]) -> float:
    """Total length of a minimum spanning tree of components, by Kruskal."""
    parts, total = membership.copy(), 0.0
    left, right = np.tril_indices(len(parts), -1)
    for pair in np.argsort(distances[left, right]):
        i, j = left[pair], right[pair]
        if parts[i] != parts[j]:
            parts[parts == parts[j]] = parts[i]
            total += distances[i, j]
            if (parts == parts[0]).all():
                break
    return total
