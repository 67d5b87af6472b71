"""Rules that turn edges into weights.

A rule sees the pairs, their distances and the neighbour lists of both ends; it never sees the
points. The same rule weighs the edges of the graph, bridges between components, and the edges
from new points to old ones.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.core.validation import check_count, check_positive
from beltrami.graph.model import Neighbors

WEIGHT_FLOOR = 1e-100
"""An edge that was found stays an edge, however small its weight."""

_EDGES = 2**16  # weighed at once
_SHARE_FLOOR = 1e-6  # what an edge weighs whose ends share no neighbour, beside at most 1


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Pairs of points, row and column numbers, with their distances; each of shape (m,)."""

    rows: IndexVector
    columns: IndexVector
    distances: FloatVector


class WeightRule(Protocol):
    """What turns edges into weights."""

    def reach(self, n_neighbors: int) -> int:
        """Return how many neighbours of each point the rule looks at."""

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:
        """Return one weight per edge, given the neighbour lists of its two ends."""


class BinaryWeights(BaseEstimator):
    """Every edge weighs one: the thesis's own choice, the heat kernel at t = infinity."""

    def reach(self, n_neighbors: int) -> int:
        """Return `n_neighbors`: nothing more is looked at."""
        return n_neighbors

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:  # noqa: ARG002
        """Return ones."""
        return np.ones(len(edges.rows))


class HeatKernel(BaseEstimator):
    r"""Weights of the heat kernel, :math:`w = \exp(-d^2 / 4t)`.

    This is the weight for which the graph Laplacian of points drawn uniformly from a manifold
    tends, up to a factor, to its Laplace-Beltrami operator [Belkin03]_ (ch. 4). The thesis writes
    both t and 4t in the exponent; we take 4t throughout.

    Parameters
    ----------
    t : float or "auto", default="auto"
        Time of the heat flow. "auto" takes a quarter of the mean squared distance to listed
        neighbours, so that a typical edge weighs 1/e. Infinity gives binary weights.

    Examples
    --------
    >>> from beltrami import HeatKernel, KnnGraph
    >>> graph = KnnGraph(1, weights=HeatKernel(t=0.25)).build([[0.0], [1.0]])
    >>> round(float(graph.weights[0, 1]), 4)
    0.3679
    """

    def __init__(self, t: float | str = "auto") -> None:
        self.t = t

    def reach(self, n_neighbors: int) -> int:
        """Return `n_neighbors`: nothing more is looked at."""
        return n_neighbors

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:  # noqa: ARG002
        """Return exp(-d^2 / 4t)."""
        # From the lists of the fitted points where there are any: a bridge or an edge to a new
        # point must be weighed with the same t as the graph.
        t = self._time(edges.distances if right is None else right.distances)
        if t == 0:
            return np.ones(len(edges.distances))
        weights = np.exp(-(edges.distances**2) / (4 * t))
        return _raise_to_floor(weights, t)

    def _time(self, distances: FloatMatrix) -> float:
        """Return t; where it is left to the data, zero for no edges or identical points."""
        if isinstance(self.t, str):
            if self.t != "auto":
                raise InvalidInputError(f"t={self.t!r} must be a positive number or 'auto'.")
            return float(np.mean(distances**2)) / 4 if distances.size else 0.0
        return float(self.t) if self.t == np.inf else check_positive(self.t, name="t")


class SelfTuningWeights(BaseEstimator):
    r"""Gaussian weights on each point's own scale: no width to choose.

    .. math:: w_{ij} = \tfrac12 \left(e^{-4 d_{ij}^2 / r_i^2} + e^{-4 d_{ij}^2 / r_j^2}\right)

    with r_i the distance from i to its farthest listed neighbour. Pairs of identical points weigh
    one, also where r_i = 0.
    """

    def reach(self, n_neighbors: int) -> int:
        """Return `n_neighbors`: the scale is the distance to the last of them."""
        return n_neighbors

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:
        """Return the mean of the two Gaussians."""
        if left is None or right is None:
            raise InvalidInputError(
                "weights='self_tuning' needs neighbour lists to take its scales from; use "
                "KnnGraph, or weights='heat' with a RadiusGraph."
            )
        own, other = left.distances[:, -1], right.distances[:, -1]

        def mean(some: slice) -> FloatVector:
            near = _gaussian(edges.distances[some], own[edges.rows[some]])
            far = _gaussian(edges.distances[some], other[edges.columns[some]])
            # Only a bridge can vanish: an edge is within the scale of the end that lists it.
            return np.maximum((near + far) / 2, WEIGHT_FLOOR)

        return _edge_by_edge(mean, len(edges.rows))


class SharedNeighborWeights(BaseEstimator):
    r"""Weights by how many neighbours two points share; edges between classes share few.

    .. math:: w_{ij} = J(N_i, N_j)^q + 10^{-6}

    with J the Jaccard similarity (size of the intersection over size of the union) of the sets of
    nearest neighbours, each with the point itself. With `n_scale` this is multiplied by the
    self-tuning Gaussian on the scale of that neighbour: near and alike.

    Parameters
    ----------
    n_shared : int, default=30
        Neighbours in each set.
    power : float, default=2.0
        q.
    n_scale : int or None, default=None
        Which neighbour's distance is a point's own scale; None leaves distances out.

    Examples
    --------
    >>> from beltrami import KnnGraph, SharedNeighborWeights
    >>> points = [[0.0], [1.0], [2.0], [10.0]]
    >>> graph = KnnGraph(2, weights=SharedNeighborWeights(n_shared=2)).build(points)
    >>> graph.weights.toarray().round(2)  # the last point shares few neighbours with the others
    array([[0.  , 1.  , 1.  , 0.  ],
           [1.  , 0.  , 1.  , 0.25],
           [1.  , 1.  , 0.  , 0.25],
           [0.  , 0.25, 0.25, 0.  ]])
    """

    def __init__(
        self, n_shared: int = 30, *, power: float = 2.0, n_scale: int | None = None
    ) -> None:
        self.n_shared = n_shared
        self.power = power
        self.n_scale = n_scale

    def reach(self, n_neighbors: int) -> int:
        """Return the largest of `n_neighbors`, `n_shared` and `n_scale`."""
        scale = 1 if self.n_scale is None else check_count(self.n_scale, name="n_scale")
        return max(n_neighbors, check_count(self.n_shared, name="n_shared"), scale)

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:
        """Return powers of Jaccard similarities, times Gaussians where asked."""
        from beltrami.graph import _loops

        power = check_positive(self.power, name="power")
        if left is None or right is None:
            raise InvalidInputError("weights='shared' needs neighbour lists; use KnnGraph.")
        width = self.n_shared
        if left is right:
            sets, place = _sets(right, (edges.rows, edges.columns), width, with_self=True)
            left_sets, left_place = sets, place
        else:  # new points are not among the rows that lists speak of: they bring no own number
            left_sets, left_place = _sets(left, (edges.rows,), width, with_self=False)
            sets, place = _sets(right, (edges.columns,), width, with_self=True)
        share = _loops.shared_share(left_sets, sets, left_place[edges.rows], place[edges.columns])
        weights = _edge_by_edge(lambda some: share[some] ** power + _SHARE_FLOOR, len(share))
        if self.n_scale is None:
            return weights
        last = self.n_scale
        tuned = SelfTuningWeights().weigh(edges, left.first(last), right.first(last))
        return np.maximum(np.multiply(weights, tuned, out=tuned), WEIGHT_FLOOR, out=tuned)


_RULES: dict[str, Callable[[], Any]] = {
    "binary": BinaryWeights,
    "heat": HeatKernel,
    "self_tuning": SelfTuningWeights,
    "shared": SharedNeighborWeights,
    "tuned_shared": partial(SharedNeighborWeights, power=1.0, n_scale=10),
}


def weight_rule(weights: Any) -> WeightRule:
    """Return the rule for a name, or an object such as ``HeatKernel(t=2.0)`` itself."""
    if isinstance(weights, str) and weights in _RULES:
        rule: WeightRule = _RULES[weights]()
        return rule
    if hasattr(weights, "weigh") and hasattr(weights, "reach") and not isinstance(weights, type):
        own_rule: WeightRule = weights
        return own_rule
    names = ", ".join(repr(name) for name in _RULES)
    raise InvalidInputError(
        f"weights={weights!r} is not known; choose one of {names}, or a HeatKernel(t)."
    )


def fix_width(rule: WeightRule, distances: FloatVector) -> WeightRule:
    """Return the rule with a heat kernel's width, where left to the data, fixed for these edges.

    It then weighs bridges and edges to new points as it weighs the edges of the graph. All other
    rules are returned as they are.
    """
    if not isinstance(rule, HeatKernel):
        return rule
    return HeatKernel(rule._time(distances) or np.inf)


def _edge_by_edge(weigh: Callable[[slice], FloatVector], count: int) -> FloatVector:
    """Return the weights of `count` edges, weighed some at a time."""
    weights = np.empty(count)

    def fill(begin: int, stop: int) -> None:
        weights[begin:stop] = weigh(slice(begin, stop))

    map_ranges(fill, count, _EDGES)
    return weights


def _gaussian(distances: FloatVector, scales: FloatVector) -> FloatVector:
    """Return exp(-4 d^2 / r^2), one for identical points."""
    # The ratio before the square: squares of the smallest scales would vanish.
    ratio = np.where(distances > 0, np.inf, 0.0)
    np.divide(2 * distances, scales, out=ratio, where=scales > 0)
    with np.errstate(over="ignore"):
        weights: FloatVector = np.exp(-(ratio**2))
    return weights


def _raise_to_floor(weights: FloatVector, t: float) -> FloatVector:
    vanished = int((weights < WEIGHT_FLOOR).sum())
    if vanished:
        warnings.warn(
            f"{vanished} of {len(weights)} edges weigh less than {WEIGHT_FLOOR:g} with t={t:.3g} "
            "and were set to that; they carry nothing. The kernel is too narrow for these "
            "distances: raise t, or use weights='self_tuning'.",
            DegenerateDataWarning,
            stacklevel=5,
        )
    return np.maximum(weights, WEIGHT_FLOOR)


def _sets(
    lists: Neighbors, ends: tuple[IndexVector, ...], width: int, *, with_self: bool
) -> tuple[IndexMatrix, IndexVector]:
    """Return the sorted `width` nearest neighbours of the rows in `ends`, and the place of each.

    With the row itself if asked.
    """
    is_named = np.zeros(len(lists.indices), dtype=np.bool_)
    for rows in ends:
        is_named[rows] = True
    named, near = np.flatnonzero(is_named), lists.indices[:, :width]
    sets = np.empty((len(named), near.shape[1] + with_self), dtype=near.dtype)

    def fill(begin: int, stop: int) -> None:
        rows, own = named[begin:stop], sets[begin:stop]
        own[:, : near.shape[1]] = near[rows]
        if with_self:
            own[:, -1] = rows
        own.sort(axis=1)

    map_ranges(fill, len(named), _EDGES)
    return sets, np.cumsum(is_named) - 1
