"""Poisson learning in a basis: the flow of labels, also between pieces that hang by a thread.

A graph and its basis of kind "random_walk" enter, potentials of every node leave, for the price of
one product with the basis. The slow twin is the sparse solve of `PoissonClassifier(n_steps=0)`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import GroundedLaplacian, NumpyBackend
from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import map_ranges, threads_in_force
from beltrami.core.store import Form, Parcel, recall
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.graph.model import Graph
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled
from beltrami.learners.poisson.sources import class_sources
from beltrami.solvers.model import Basis

_THINNEST = 1e-12
"""Of the heaviest edge; a thinner thread decides nothing else, and rounding could not hold it."""
_TRIFLE = 1e-9
"""Share of the largest flow that decides where nothing flows."""
_SPANNED = 1e-3
"""What is left of a function of the basis without its means on pieces, if it was made of them."""
_RANGE = 8192  # rows that are worked on together

SPLIT_BASIS: Form[tuple[NDArray[np.float32], FloatVector]] = Form(
    "split_basis",
    lambda pair: Parcel({"functions": pair[0], "values": pair[1]}, {}),
    lambda parcel: (parcel.arrays["functions"], parcel.arrays["values"]),
)
"""How the store keeps a basis without its means on pieces."""


@dataclass(frozen=True, slots=True, eq=False)
class FlowSpace:
    r"""The functions among which potentials are sought: constants on pieces, and a basis in them.

    Pieces are what is left together when all threads of the graph are cut; components are pieces,
    or made of several. With P their indicators and F the basis, made free of means on pieces,
    ``F'DF = I`` and ``F'LF = diag(values)``, the space is spanned by [P, F].

    Attributes
    ----------
    functions : ndarray of shape (n, p)
        F, in float32.
    values : ndarray of shape (p,)
        Its eigenvalues, positive.
    degrees : ndarray of shape (n,)
        D, the row sums of the weights in units of the heaviest edge.
    piece, component : ndarray of shape (n,)
        Which piece and which component each node lies in.
    component_of : ndarray of shape (m,)
        Component of each piece.
    volumes : ndarray of shape (m,)
        Sum of degrees in each piece.
    threads : ndarray of shape (m, p)
        P'LF.
    ties : ndarray of shape (m, m)
        Pseudo-inverse of the Schur complement P'LP - P'LF diag(1/values) F'LP.
    """

    functions: NDArray[np.float32]
    values: FloatVector
    degrees: FloatVector
    piece: IndexVector
    component: IndexVector
    component_of: IndexVector
    volumes: FloatVector
    threads: FloatMatrix
    ties: FloatMatrix

    @classmethod
    def of(cls, foundation: Foundation, basis: Basis) -> "FlowSpace":
        """Make the space of a graph and its basis of kind "random_walk"."""
        graph = foundation.graph
        if basis.kind != "random_walk":
            raise InvalidInputError(
                f"a basis of kind {basis.kind!r} cannot carry the flow of labels; ask eigenbasis "
                "for kind='random_walk'."
            )
        require_memory(
            20.0 * basis.vectors.size,
            what=f"a flow in {basis.vectors.shape[1]} functions of {graph.n_nodes} rows",
            instead="Use a basis of fewer functions.",
        )
        weights = unit_weights(graph)
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        component = np.asarray(foundation.component, dtype=np.intp)
        piece, n_pieces = foundation.piece, foundation.n_pieces
        component_of = np.empty(n_pieces, dtype=np.intp)
        component_of[piece] = component
        volumes: FloatVector = np.bincount(piece, degrees, minlength=n_pieces).astype(np.float64)
        functions, values = _within_pieces(weights, degrees, piece, volumes, basis)
        between, threads = _between_pieces(_threads(weights, piece), piece, n_pieces, functions)
        schur = between - (threads / values) @ threads.T
        ties = _inverse_on_components(schur, component_of)
        return cls(
            functions, values, degrees, piece, component, component_of, volumes, threads, ties
        )

    def take(self, nodes: BoolVector) -> "FlowSpace":
        """Return the space of some whole components; the others have no part in what is asked."""
        if nodes.all():
            return self
        kept = np.unique(self.piece[nodes])
        return FlowSpace(
            self.functions[nodes],
            self.values,
            self.degrees[nodes],
            np.searchsorted(kept, self.piece[nodes]),
            np.unique(self.component[nodes], return_inverse=True)[1],
            np.unique(self.component_of[kept], return_inverse=True)[1],
            self.volumes[kept],
            self.threads[kept],
            self.ties[np.ix_(kept, kept)],
        )

    def thin(self, nodes: IndexVector) -> "FlowSpace":
        """Return the space on some nodes, which stand for all of their piece."""
        if len(nodes) == len(self.piece):
            return self
        piece, degrees = self.piece[nodes], self.degrees[nodes]
        there = np.bincount(piece, degrees, minlength=len(self.volumes))
        shares = np.divide(self.volumes, there, out=np.ones_like(there), where=there > 0)
        return replace(
            self,
            functions=self.functions[nodes],
            degrees=degrees * shares[piece],
            piece=piece,
            component=self.component[nodes],
        )


def unit_weights(graph: Graph) -> csr_array[Any]:
    """Return the weights in units of the heaviest edge."""
    heaviest = float(graph.weights.data.max(initial=0.0))
    return csr_array(graph.weights / heaviest) if heaviest > 0 else graph.weights


def _within_pieces(
    weights: csr_array[Any],
    degrees: FloatVector,
    piece: IndexVector,
    volumes: FloatVector,
    basis: Basis,
) -> tuple[NDArray[np.float32], FloatVector]:
    """Return the basis without its means on pieces, orthonormal and diagonal again."""
    if len(volumes) == basis.n_connected:  # then it is, but for the constants
        begin = int(np.searchsorted(basis.values, 0.0, side="right"))  # values rise
        vectors = basis.vectors[:, begin:]
        unit = 1 / np.sqrt(degrees @ vectors[:, :1] ** 2)  # it is orthonormal in the graph's unit
        functions = vectors * unit.astype(vectors.dtype)
        return functions.astype(np.float32, copy=False), basis.values[begin:]
    return recall(
        SPLIT_BASIS,
        lambda: (weights, piece, basis.vectors, threads_in_force()),
        lambda: _rotated_within_pieces(weights, degrees, piece, volumes, basis),
    )


def _rotated_within_pieces(
    weights: csr_array[Any],
    degrees: FloatVector,
    piece: IndexVector,
    volumes: FloatVector,
    basis: Basis,
) -> tuple[NDArray[np.float32], FloatVector]:
    """Take the means on pieces off a basis, and solve for its eigenvectors in what is left."""
    backend, n = NumpyBackend(), len(piece)
    means = _piece_means(basis.vectors, degrees, piece, volumes)
    centred = np.empty_like(basis.vectors, order="C")

    def centre(begin: int, end: int) -> FloatMatrix:
        centred[begin:end] = basis.vectors[begin:end] - means[piece[begin:end]]
        own = centred[begin:end].astype(np.float64)
        return np.asarray(own.T @ (degrees[begin:end, None] * own))

    gram = np.sum(map_ranges(centre, n, _RANGE), axis=0)
    image = np.empty_like(centred)
    backend.grounded_product(GroundedLaplacian(weights, np.zeros(n)), centred, image)
    energy = backend.gram(centred, image)
    del image
    sizes, directions = np.linalg.eigh((gram + gram.T) / 2)
    kept = sizes > _SPANNED * sizes.max(initial=0.0)
    whitening = directions[:, kept] / np.sqrt(sizes[kept])
    projected = whitening.T @ ((energy + energy.T) / 2) @ whitening
    values, rotation = np.linalg.eigh((projected + projected.T) / 2)
    turn, turned = whitening @ rotation, np.empty((n, len(values)), dtype=np.float32)

    def rotate(begin: int, end: int) -> None:
        turned[begin:end] = centred[begin:end].astype(np.float64) @ turn

    map_ranges(rotate, n, _RANGE)
    return turned, values


def _piece_means(
    block: FloatMatrix, degrees: FloatVector, piece: IndexVector, volumes: FloatVector
) -> FloatMatrix:
    """Return the means of a block on pieces by degrees, (m, p)."""
    sums = np.zeros((len(volumes), block.shape[1]))
    for begin in range(0, len(piece), _RANGE):
        own = slice(begin, begin + _RANGE)
        places = piece[own], np.arange(len(piece[own]))
        members = csr_array((degrees[own], places), shape=(len(volumes), len(piece[own])))
        sums += members @ np.asarray(block[own], dtype=np.float64)
    return np.asarray(sums / np.where(volumes > 0, volumes, 1.0)[:, None])


def _threads(weights: csr_array[Any], piece: IndexVector) -> coo_array[Any]:
    """Return the edges between pieces, none thinner than what rounding can hold."""
    edges = weights.tocoo()
    loose = piece[edges.row] != piece[edges.col]
    strengths = np.maximum(edges.data[loose], _THINNEST)
    return coo_array((strengths, (edges.row[loose], edges.col[loose])), shape=weights.shape)


def _between_pieces(
    loose: coo_array[Any], piece: IndexVector, n_pieces: int, functions: NDArray[np.float32]
) -> tuple[FloatMatrix, FloatMatrix]:
    """Return P'LP and P'LF, to which threads alone contribute."""
    ends, starts = piece[loose.row], piece[loose.col]
    between = np.zeros((n_pieces, n_pieces))
    np.add.at(between, (ends, starts), -loose.data)
    np.fill_diagonal(between, -between.sum(axis=1))
    threads = np.zeros((n_pieces, functions.shape[1]))
    steps = functions[loose.row].astype(np.float64) - functions[loose.col]
    np.add.at(threads, ends, loose.data[:, None] * steps)
    return between, threads


def _inverse_on_components(schur: FloatMatrix, component_of: IndexVector) -> FloatMatrix:
    """Return the pseudo-inverse, component by component: each has the constant for null space."""
    inverse = np.zeros_like(schur)
    several = np.flatnonzero(np.bincount(component_of) > 1)
    for number in several:
        inside = np.ix_(*2 * (np.flatnonzero(component_of == number),))
        block = schur[inside]
        # In units of each piece's own ties: these differ by many orders.
        roots = 1 / np.sqrt(np.diag(block))
        values, vectors = np.linalg.eigh(roots[:, None] * block * roots)
        scaled = (vectors[:, 1:] / values[1:]) @ vectors[:, 1:].T
        inverse[inside] = roots[:, None] * scaled * roots
    return inverse


def flow_of(space: FlowSpace, labeled: Labeled, at: Any = slice(None)) -> NDArray[np.float32]:
    """Return the potentials of nodes, (n, k), for labels at some of them.

    In a component whose labels are all of one class nothing flows; there that class is ahead.
    """
    component = space.component
    sources = class_sources(labeled, component, int(component.max()) + 1)
    flow = flow_at(space, sources, labeled.rows, at)
    if (np.count_nonzero(_label_counts(component, labeled), axis=1) == 1).any():
        ahead = single_classes(component, labeled, flow, at).astype(np.float32)
        nothing_flows = np.count_nonzero(ahead, axis=1) == 1
        flow[nothing_flows] = ahead[nothing_flows]  # what the basis puts there is rounding
    return flow


def _label_counts(component: IndexVector, labeled: Labeled) -> FloatMatrix:
    """Return how many labels of each class each component has."""
    counts = np.zeros((int(component.max()) + 1, labeled.targets.shape[1]))
    np.add.at(counts, component[labeled.rows], labeled.targets)
    return counts


def single_classes(
    component: IndexVector, labeled: Labeled, flow: NDArray[Any], at: Any = slice(None)
) -> FloatMatrix:
    """Return a trifle for the classes that a node's component has labels of, at some nodes.

    It decides where nothing flows: in a component whose labels are all of one class.
    """
    counts = _label_counts(component, labeled)
    trifle = _TRIFLE * (float(np.abs(flow).max(initial=0.0)) or 1.0)
    return np.asarray(trifle * (counts > 0)[component[at]])


def flow_at(
    space: FlowSpace, sources: FloatMatrix, rows: IndexVector, at: Any = slice(None)
) -> NDArray[np.float32]:
    r"""Return the potentials of nodes, (n, k), for sources, (l, k), at some rows.

    .. math:: u = \arg\min_{u \in \mathrm{span}[P, F]} \tfrac12 u^\top L u - b^\top u,
              \qquad \sum_{i \in C} d_i u_i = 0

    on every component C. Each row is given up to a constant of its own, the largest class of its
    piece at zero, so that a piece's height above the others costs no precision within it.
    """
    at_pieces = np.zeros((len(space.volumes), sources.shape[1]))
    np.add.at(at_pieces, space.piece[rows], sources)
    inside = space.functions[rows].T.astype(np.float64) @ sources / space.values[:, None]
    heights = space.ties @ (at_pieces - space.threads @ inside)
    inside -= (space.threads.T @ heights) / space.values[:, None]
    totals = np.bincount(space.component_of, space.volumes)
    sums = np.zeros((len(totals), sources.shape[1]))
    np.add.at(sums, space.component_of, space.volumes[:, None] * heights)
    heights -= (sums / np.where(totals > 0, totals, 1.0)[:, None])[space.component_of]
    heights -= heights.max(axis=1, keepdims=True)
    flow = space.functions[at] @ inside.astype(np.float32)
    flow += heights.astype(np.float32)[space.piece[at]]
    return np.asarray(flow)
