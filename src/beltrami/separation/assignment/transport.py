"""Exact assignment of points to clusters under bounds on their sizes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError, SolverError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import FloatMatrix
from beltrami.separation.assignment.model import Assignment, SizeBounds


def assign(
    costs: FloatMatrix,
    lower: Any,
    upper: Any = None,
    *,
    groups: Any = None,
    start: FloatMatrix | None = None,
) -> Assignment:
    r"""Assign every point to a cluster at least total cost, within bounds on the sizes.

    .. math:: \min_{l} \sum_i c_{i\,l_i} \quad \text{with} \quad
              a_{gh} \le \#\{i \in g : l_i = h\} \le b_{gh}

    for every group g and cluster h: one transportation problem per group, independent of the
    others, solved exactly up to the rounding of sums. The start is the cheapest cluster of each
    point; points then move along shortest paths between clusters until all bounds hold. A path
    costs O(k^2) for k clusters whatever the number of points, and the number of paths is that of
    the points that have to move. Given the prices of a similar problem, those are few; the result
    does not depend on them, except for which of several best assignments it is.

    - `costs`: (n, k), of each point in each cluster; finite, of any sign.
    - `lower`, `upper`, `groups`: as in `SizeBounds.of`.
    - `start`: prices of a similar problem, (n_groups, k).

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami.separation.assignment import assign
    >>> costs = np.array([[0.0, 5.0], [0.0, 1.0], [0.0, 3.0]])
    >>> assignment = assign(costs, [1, 1])
    >>> assignment.labels.tolist(), assignment.cost
    ([0, 1, 0], 1.0)
    """
    from beltrami.separation.assignment._loops import cheapest_labels, repair

    costs = _checked_costs(costs)
    n, k = costs.shape
    bounds = SizeBounds.of(lower, upper, groups, n_points=n, n_clusters=k)
    prices = _checked_start(start, bounds.lower.shape, costs)
    _require_memory(n, k, grouped=bounds.groups is not None)
    labels = np.empty(n, dtype=np.int32)
    n_moves = 0
    for group, rows in enumerate(_rows_of(bounds)):
        block, block_labels = costs[rows], labels[rows]
        cheapest_labels(block, prices[group], block_labels)
        n_moves += repair(
            block,
            block_labels,
            bounds.lower[group],
            bounds.upper[group],
            prices[group],
            _entries(*block.shape),
        )
        labels[rows] = block_labels
    cost = float(np.take_along_axis(costs, labels[:, None].astype(np.intp), axis=1).sum())
    return Assignment(labels, cost, int(n_moves), prices)


def assign_reference(
    costs: FloatMatrix, lower: Any, upper: Any = None, *, groups: Any = None
) -> NDArray[np.int32]:
    r"""Twin of `assign`: the same problem as a linear program.

    One variable per point and cluster, between 0 and 1; the constraints are totally unimodular,
    so that a vertex, which the simplex method returns, is an assignment.
    """
    from scipy.optimize import linprog

    n, k = costs.shape
    bounds = SizeBounds.of(lower, upper, groups, n_points=n, n_clusters=k)
    belongs = bounds.codes(n) == np.arange(len(bounds.lower))[:, None]
    sizes = np.kron(belongs, np.eye(k))
    solution: Any = linprog(
        costs.ravel(),
        A_ub=np.vstack([sizes, -sizes]),
        b_ub=np.concatenate([bounds.upper.ravel(), -bounds.lower.ravel()]),
        A_eq=np.kron(np.eye(n), np.ones((1, k))),
        b_eq=np.ones(n),
        bounds=(0, 1),
        method="highs-ds",
    )
    if not solution.success:  # pragma: no cover - the bounds were found possible
        raise SolverError(f"the linear program was not solved: {solution.message}")
    labels: NDArray[np.int32] = solution.x.reshape(n, k).argmax(axis=1).astype(np.int32)
    return labels


def _rows_of(bounds: SizeBounds) -> list[slice | NDArray[np.intp]]:
    """Return the rows of each group; a slice, which copies nothing, where there is one group."""
    if bounds.groups is None:
        return [slice(None)]
    order = np.argsort(bounds.groups, kind="stable")
    populations = np.bincount(bounds.groups, minlength=len(bounds.lower))
    return list(np.split(order, np.cumsum(populations)[:-1]))


def _entries(n: int, k: int) -> int:
    """Return the room of all pools together: 12 bytes each, 3/8 of what the costs take."""
    return n * k // 4


def _require_memory(n: int, k: int, *, grouped: bool) -> None:
    pools = 12 * (_entries(n, k) + 16 * k * k)
    lists = 16 * n
    copies = 8 * n * (k + 1) if grouped else 0
    require_memory(
        pools + lists + copies,
        what=f"the assignment of {n} points to {k} clusters",
        instead="Assign fewer points, or to fewer clusters.",
    )


def _checked_costs(costs: Any) -> FloatMatrix:
    """Return the costs as a float64 array in C order, or say what is wrong with them."""
    array = np.ascontiguousarray(costs, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 1:
        raise InvalidInputError(
            f"costs must have one row per point and one column per cluster, and have shape "
            f"{array.shape}."
        )
    with np.errstate(all="ignore"):
        # A path may pass every cluster, and its length must be a number, too.
        if array.size == 0 or np.isfinite(4 * array.shape[1] * np.ptp(array)):
            return array
    bad = ~np.isfinite(array)
    if not bad.any():
        raise InvalidInputError(
            f"costs from {array.min():.1e} to {array.max():.1e} differ by more than a float can "
            "hold; scale them down."
        )
    raise InvalidInputError(
        f"costs hold {int(bad.sum())} value(s) that are NaN or infinite, first for point "
        f"{int(np.argwhere(bad)[0, 0])}, and no cost is least then. To forbid a cluster, put the "
        "points in a group with an upper bound of 0 for it."
    )


def _checked_start(start: Any, shape: tuple[int, ...], costs: FloatMatrix) -> FloatMatrix:
    """Return a copy of the prices, none larger than the costs differ: sums keep their digits."""
    if start is None:
        return np.zeros(shape)
    prices = np.array(start, dtype=np.float64)
    if prices.shape != shape or not np.isfinite(prices).all():
        raise InvalidInputError(
            f"start must hold the finite prices of an earlier assignment, shape {shape}, and has "
            f"shape {prices.shape}."
        )
    most = np.ptp(costs) if costs.size else 0.0
    return np.clip(prices, -most, most)
