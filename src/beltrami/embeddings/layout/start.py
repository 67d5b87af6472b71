"""The start of a map of a graph: rough positions, component by component."""

import warnings

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.errors import ConvergenceWarning
from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexVector
from beltrami.graph.model import Graph
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

_TOL = 1e-2  # of eigenvectors that only say roughly where things are
_LEAST = 10  # points of a component that starts from eigenvectors
_MOST = 200  # components that do, the largest
_NOISE = 0.01
_FARTHEST = 2.0
_TYPICAL = 90.0  # per cent of the coordinates that are at most one before noise


def eigenvector_start(weights: CsrMatrix, sizes: IndexVector) -> FloatMatrix:
    """Return the first two non-constant eigenvectors of each component; zeros in small ones."""
    start = np.zeros((weights.shape[0], 2))
    firsts = np.cumsum(sizes) - sizes
    for one in np.argsort(-sizes, kind="stable")[:_MOST].tolist():
        if sizes[one] < _LEAST:
            break
        rows = slice(int(firsts[one]), int(firsts[one] + sizes[one]))
        part = weights if len(sizes) == 1 else csr_array(weights[rows, rows])
        # One thread and one seed: of equal eigenvalues, others would pick other eigenvectors.
        with serial_blas(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough start is all it takes
            basis = eigenbasis(Graph(part), 3, kind="random_walk", tol=_TOL, random_state=0)
        start[rows] = basis.vectors[:, 1:3]
    return start


def basis_start(basis: Basis, degrees: FloatVector) -> FloatMatrix:
    """Return the first two non-constant eigenvectors of a basis, as a random walk has them."""
    vectors = np.asarray(basis.vectors[:, 1:3], dtype=np.float64)
    if basis.kind == "normalized":
        vectors = vectors / np.sqrt(np.maximum(degrees, np.finfo(float).tiny))[:, None]
    return vectors


def scale_start(start: FloatMatrix, sizes: IndexVector, rng: np.random.Generator) -> FloatMatrix:
    """Return a start on the scale of the descent, with noise that parts identical points.

    Each component is centred and scaled along both axes, and what lies far out is brought near: an
    eigenvector may live on a handful of points. A component without extent starts at random.
    """
    noise = rng.standard_normal(start.shape)
    out = np.empty_like(noise)
    first = 0
    for size in sizes.tolist():
        rows = slice(first, first + size)
        gap = start[rows] - np.median(start[rows], axis=0)
        typical = np.percentile(np.abs(gap), _TYPICAL, axis=0) if size >= _LEAST else np.zeros(2)
        typical = np.where(typical > 0, typical, np.abs(gap).max(axis=0))
        scaled = np.divide(gap, typical, out=np.zeros_like(gap), where=typical > 0)
        level = np.where(typical > 0, _NOISE, 1.0)
        out[rows] = np.clip(scaled, -_FARTHEST, _FARTHEST) + level * noise[rows]
        first += size
    return out
