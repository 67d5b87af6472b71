"""The thesis's classifier over many draws of labelled points.

Eigenvectors, classes and draws enter; error rates on the unlabelled points leave, in percent. One
factorisation per draw serves every number of eigenvectors.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.memory import budget_bytes
from beltrami.core.machine.threads import serial_blas, threads_in_force
from beltrami.core.types import FloatMatrix, IndexMatrix, IndexVector
from beltrami.graph.model import Graph
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.least_squares import nested_least_squares

SEED = 0
_BLOCK = 8192


def label_draws(n: int, labelled: int, n_draws: int, *, seed: int = SEED) -> list[IndexVector]:
    """Draw sets of labelled points, uniformly and without replacement."""
    return [
        np.sort(np.random.default_rng([seed, labelled, i]).choice(n, labelled, replace=False))
        for i in range(n_draws)
    ]


def eigenvector_rows(graph: Graph, count: int) -> FloatMatrix:
    """Return the lowest eigenvectors of the plain Laplacian as rows, the constant included."""
    return np.ascontiguousarray(eigenbasis(graph, count).vectors.T)


def label_coefficients(
    rows: FloatMatrix, classes: IndexVector, labelled: IndexVector, sizes: Sequence[int]
) -> list[FloatMatrix]:
    """Fit one function per class, +1 on its labelled points and -1 on the others, for all sizes.

    An eigenvector that is zero on all labelled points, as the indicator of a component without a
    label is, gets the coefficient zero.

    `rows` are eigenvectors, shape (p, n).

    - `classes`: classes from zero; only those of labelled points are read.
    """
    known = classes[labelled]
    targets = 2.0 * (known == np.arange(classes.max() + 1)[:, None]) - 1.0
    matrix = np.take(rows[: max(sizes)], labelled, axis=1)
    seen = np.flatnonzero(matrix.any(axis=1))
    if len(seen) < len(matrix):
        matrix = matrix[seen]
    inner = np.searchsorted(seen, sizes)
    fits = nested_least_squares(matrix.T, targets.T, inner.tolist())
    results: list[FloatMatrix] = [np.zeros((size, len(targets))) for size in sizes]
    for result, part, count in zip(results, fits, inner, strict=True):
        result[seen[:count]] = part
    return results


def fit_draws(
    rows: FloatMatrix,
    classes: IndexVector,
    draws: Sequence[IndexVector],
    sizes: Sequence[Sequence[int]],
) -> list[list[FloatMatrix]]:
    """Fit all draws, as many at a time as there are threads and memory, each on one thread.

    Draws need nothing from each other, while the threads of one factorisation wait for each
    other at every column, which on a busy machine takes most of the time.
    """
    largest = max(max(each_draw) for each_draw in sizes)
    each = 24 * len(draws[0]) * largest  # the matrix, its copy with targets, and work space
    workers = max(1, min(threads_in_force(), budget_bytes() // each))
    with serial_blas(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda *one: label_coefficients(rows, classes, *one), draws, sizes))


def predicted_classes(rows: FloatMatrix, coefficients: Sequence[FloatMatrix]) -> IndexMatrix:
    """Return the class of the largest function at every point, for several draws in one pass.

    A row for each point, a column for each draw.

    - `coefficients`: one per draw, all of one size, at most p.
    """
    size, n_classes = coefficients[0].shape
    stacked, n = np.hstack(coefficients), rows.shape[1]
    predicted = np.empty((n, len(coefficients)), dtype=np.int16)
    for start in range(0, n, _BLOCK):
        block = slice(start, min(start + _BLOCK, n))
        scores = rows[:size, block].T @ stacked
        predicted[block] = scores.reshape(-1, len(coefficients), n_classes).argmax(axis=2)
    return predicted


def error_percent(
    predicted: IndexVector, classes: IndexVector, labelled: IndexVector | None = None
) -> float:
    """Return the share of wrong classes among the unlabelled points, in percent."""
    wrong = predicted != classes
    if labelled is None:
        return 100 * float(np.mean(wrong))
    return 100 * float(wrong.sum() - wrong[labelled].sum()) / (len(wrong) - len(labelled))


def spectral_errors(
    rows: FloatMatrix,
    classes: IndexVector,
    draws: Sequence[IndexVector],
    sizes: Sequence[int],
    *,
    fewer: Mapping[int, int] | None = None,
) -> NDArray[np.float64]:
    """Return the errors of the classifier on the unlabelled points, in percent.

    A row for each draw, a column for each size.

    - `fewer`: for some sizes, how many of the draws to use.
    """
    limits = [(fewer or {}).get(size, len(draws)) for size in sizes]
    used = [
        [size for size, limit in zip(sizes, limits, strict=True) if i < limit]
        for i in range(len(draws))
    ]
    fitted: dict[int, list[FloatMatrix]] = {size: [] for size in sizes}
    for draw_sizes, parts in zip(used, fit_draws(rows, classes, draws, used), strict=True):
        for size, part in zip(draw_sizes, parts, strict=True):
            fitted[size].append(part)
    errors = np.full((len(draws), len(sizes)), np.nan)
    for column, size in enumerate(sizes):
        predicted = predicted_classes(rows, fitted[size])
        for i in range(len(fitted[size])):
            errors[i, column] = error_percent(predicted[:, i], classes, draws[i])
    return errors
