r"""Thesis section 2.5: LLE's matrix beside the square of the Laplacian.

Points on manifolds whose Laplace-Beltrami operator is known enter; how near LLE's matrix comes to
its square leaves.

The thesis argues that :math:`E = (I - W)^T (I - W) \approx \frac12 \Delta^2`. Its steps 1 and 2
give :math:`(I - W) f \approx \frac r2 \Delta f`, with r the mean square of a neighbour's offset in
each direction of the tangent space, so what follows is :math:`\frac{r^2}{4} \Delta^2`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from scipy.spatial import cKDTree

from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix
from beltrami.core.validation import check_positive

_DENSE = 1000
_ROUND = 2 * np.pi
WAVES = ((1, 0), (0, 1), (1, 1), (1, -1))
"""Of the lowest two levels of the flat torus."""


@dataclass(frozen=True, slots=True, eq=False)
class Patchwork:
    """Points of a manifold as LLE sees them, with functions that the Laplacian only multiplies.

    Attributes
    ----------
    neighbors : ndarray of shape (n, k)
        Row numbers of the neighbours of each point.
    offsets : ndarray of shape (n, k, D)
        From the point to each of them.
    dimension : int
        d, of the manifold.
    functions : ndarray of shape (n, m)
        Eigenfunctions of the Laplace-Beltrami operator at the points.
    eigenvalues : ndarray of shape (m,)
        Of each, ascending; equal ones are one level.
    """

    neighbors: IndexMatrix
    offsets: NDArray[np.float64]
    dimension: int
    functions: FloatMatrix
    eigenvalues: FloatVector


def reconstruction_weights(
    offsets: NDArray[np.float64], *, regularization: float = 1e-3
) -> FloatMatrix:
    r"""Return the weights that put each point together from its neighbours.

    With :math:`v_1, \dots, v_k` the offsets of the neighbours of a point and
    :math:`G_{ij} = v_i \cdot v_j`, minimise

    .. math:: \alpha^T (G + \delta\, \mathrm{tr}(G)\, I)\, \alpha, \qquad \sum_j \alpha_j = 1.

    As delta falls these tend to the weights of the thesis where those are determined, that is
    where only one choice puts the point together best. Elsewhere, as with more than D + 1
    neighbours, they tend to the choice of least squared weights.

    Offsets have shape (n, k, D), weights (n, k).
    """
    check_positive(regularization, name="regularization")
    gram = offsets @ offsets.transpose(0, 2, 1)
    k = gram.shape[1]
    share = regularization * np.trace(gram, axis1=1, axis2=2)
    gram[:, np.arange(k), np.arange(k)] += share[:, None]
    with serial_blas():
        weights = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
    summed: FloatMatrix = weights / weights.sum(axis=1, keepdims=True)
    return summed


def residual_matrix(neighbors: IndexMatrix, weights: FloatMatrix) -> CsrMatrix:
    """Return I - W, which takes a function to what the neighbours miss of it."""
    n, k = neighbors.shape
    rows = np.arange(0, n * k + 1, k)
    matrix = csr_array((weights.ravel(), neighbors.ravel(), rows), shape=(n, n))
    return csr_array(eye_array(n, format="csr") - matrix)


def even_ring(n_points: int) -> Patchwork:
    """Return equal steps on a circle, each point with the two beside it."""
    rows, angle = np.arange(n_points), _ROUND * np.arange(n_points) / n_points
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    neighbors = np.column_stack([rows - 1, rows + 1]) % n_points
    waves = [f(j * angle) for j in (1, 2, 3) for f in (np.cos, np.sin)]
    return Patchwork(
        neighbors,
        points[neighbors] - points[:, None],
        1,
        np.column_stack(waves),
        np.repeat([1.0, 4.0, 9.0], 2),
    )


def even_torus(side: int, k: int) -> Patchwork:
    """Return a square grid on the flat torus.

    - `k`: 4 neighbours along the sides, or 8 with the diagonals.
    """
    grid = _ROUND * np.arange(side) / side
    return _on_torus(np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2), k)


def random_torus(n_points: int, k: int, *, seed: int, tilt: float = 0.0) -> Patchwork:
    """Return random points of the flat torus, all patches of which are flat.

    - `tilt`: a of the density (1 + a cos x), below 1; 0 is uniform.
    """
    rng = np.random.default_rng(seed)
    share, y = rng.random(n_points), _ROUND * rng.random(n_points)
    x = np.linspace(0, _ROUND, 4097)
    # The distribution function of the density, inverted by table.
    angle = np.interp(share, (x + tilt * np.sin(x)) / _ROUND, x)
    return _on_torus(np.column_stack([angle, y]), k)


def _on_torus(angles: FloatMatrix, k: int) -> Patchwork:
    box = np.full(2, _ROUND)
    neighbors = _nearest_others(cKDTree(angles % _ROUND, boxsize=box), angles % _ROUND, k)
    offsets = (angles[neighbors] - angles[:, None] + np.pi) % _ROUND - np.pi
    waves = [f(angles @ np.array(wave)) for wave in WAVES for f in (np.cos, np.sin)]
    levels = np.repeat([float(a * a + b * b) for a, b in WAVES], 2)
    return Patchwork(neighbors, offsets, 2, np.column_stack(waves), levels)


def _nearest_others(tree: Any, points: FloatMatrix, k: int) -> IndexMatrix:
    """Return the nearest points but the first, which is the point itself."""
    others: IndexMatrix = tree.query(points, k + 1)[1][:, 1:]
    return others


def random_sphere(n_points: int, k: int, *, seed: int) -> Patchwork:
    """Return random points of the unit sphere in space, with its curved patches."""
    points = np.random.default_rng(seed).standard_normal((n_points, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    neighbors = _nearest_others(cKDTree(points), points, k)
    x, y, z = points.T
    functions = np.column_stack([x, y, z, x * y, y * z, z * x, x * x - y * y, 3 * z * z - 1])
    offsets = points[neighbors] - points[:, None]
    return Patchwork(neighbors, offsets, 2, functions, np.repeat([2.0, 6.0], [3, 5]))


def lle_measures(patches: Patchwork, *, regularization: float = 1e-3) -> dict[str, Any]:
    r"""Return how near LLE's matrix comes to the square of the Laplacian.

    ``laplacian`` and ``squared``: mean cosine of (I - W) f with the Laplacian of f, and of E f with
    its square; both are multiples of f, so 1 means equal up to a factor. ``constant``: the factor
    of the square in f^T E f, mean over the functions of the lowest level, in units of :math:`r^2`.
    ``energies``, ``eigenvalues``: f^T E f of every level, and the eigenvalues of E that should be
    its level's, in units of the lowest level, where the ``truth`` is the square of the ratio of the
    Laplacian's. ``spaces``: least cosine between the eigenvectors of E and the functions, by level.
    ``null``: how many functions E takes to zero; where they are more than the constant,
    ``eigenvalues`` and ``spaces`` are empty.
    """
    weights = reconstruction_weights(patches.offsets, regularization=regularization)
    residual = residual_matrix(patches.neighbors, weights)
    f = patches.functions / np.linalg.norm(patches.functions, axis=0)
    once = residual @ f
    twice = residual.T @ once
    energies = (once**2).sum(axis=0)
    levels = [np.flatnonzero(patches.eigenvalues == v) for v in np.unique(patches.eigenvalues)]
    lowest = levels[0]
    square = (weights * (patches.offsets**2).sum(axis=2)).sum(axis=1).mean() / patches.dimension
    scale = (float(patches.eigenvalues[lowest[0]]) * float(square)) ** 2
    null, values, spaces = null_dimension(residual), [], []
    if null == 1:
        eigenvalues, vectors = _lowest_pairs(residual, f.shape[1] + 1, unit=float(energies.mean()))
        values = [
            (eigenvalues[1 + level] / eigenvalues[1 + lowest].mean()).tolist() for level in levels
        ]
        spaces = [_least_cosine(f[:, level], vectors[:, 1 + level]) for level in levels]
    ratios = patches.eigenvalues / patches.eigenvalues[0]
    return {
        "laplacian": float(np.mean((f * once).sum(axis=0) / np.linalg.norm(once, axis=0))),
        "squared": float(np.mean((f * twice).sum(axis=0) / np.linalg.norm(twice, axis=0))),
        "constant": float(energies[lowest].mean()) / scale,
        "energies": [float(energies[level].mean() / energies[lowest].mean()) for level in levels],
        "truth": [float(ratios[level[0]] ** 2) for level in levels],
        "null": null,
        "eigenvalues": values,
        "spaces": spaces,
    }


def null_dimension(residual: CsrMatrix) -> int:
    """Return how many groups of points are put together from themselves alone.

    Each such group takes any constant of its own to zero, so E has a null vector for it.
    """
    count, group = connected_components(residual, directed=True, connection="strong")
    edges = residual.tocoo()
    leaving = group[edges.row][group[edges.row] != group[edges.col]]
    return int(count - len(np.unique(leaving)))


def _lowest_pairs(residual: CsrMatrix, count: int, *, unit: float) -> tuple[Any, Any]:
    """Return the lowest eigenpairs of E in a unit that makes those wanted of order one."""
    matrix: Any = csr_array(residual.T @ residual) / unit
    n = matrix.shape[0]
    with serial_blas():
        if n <= _DENSE:
            return eigh(matrix.toarray(), subset_by_index=(0, count - 1))
        start: Any = np.random.default_rng(0).random(n)
        values, vectors = eigsh(matrix.tocsc(), count, sigma=-0.1, v0=start)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _least_cosine(functions: FloatMatrix, vectors: FloatMatrix) -> float:
    """Return the cosine of the largest angle between two spaces."""
    first, second = (np.linalg.qr(each)[0] for each in (functions, vectors))
    return float(np.linalg.svd(first.T @ second, compute_uv=False).min())
