"""Bounds on sizes as an estimator's parameters spell them: numbers, arrays, dicts by group."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector
from beltrami.separation.assignment.model import SizeBounds, checked_counts


def size_bounds(
    min_size: Any, max_size: Any, groups: Any, *, n_points: int, n_clusters: int
) -> SizeBounds:
    """Read the bounds on sizes of an estimator.

    Fewest and most points are one number for all clusters, one for each, or a dict from the value
    of a group to either. None, and groups that the dict does not name, have no bound. `groups` are
    values of any type that can be a key of a dict.
    """
    codes, values = _number_groups(groups, n_points)
    return SizeBounds.of(
        _table(min_size, values, n_clusters, missing=0, name="min_size"),
        _table(max_size, values, n_clusters, missing=n_points, name="max_size"),
        codes,
        n_points=n_points,
        n_clusters=n_clusters,
        names=values if groups is not None else None,
    )


def _number_groups(groups: Any, n: int) -> tuple[IndexVector | None, list[Any]]:
    """Return the number of each point's group, and the values in that order."""
    if groups is None:
        return None, [None]
    values = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(values) != n:
        raise InvalidInputError(
            f"groups must hold one value per point: X has {n} rows, groups has {len(values)}."
        )
    numbers: dict[Any, int] = {}
    try:
        codes = [numbers.setdefault(value, len(numbers)) for value in values]
    except TypeError as error:
        raise InvalidInputError(
            f"groups must be one-dimensional, of values that can be keys of a dict ({error})."
        ) from error
    if any(value != value for value in numbers):  # noqa: PLR0124
        raise InvalidInputError(
            "groups hold NaN, which is equal to nothing, not even to itself. Give the points "
            "without a group a value of their own."
        )
    return np.array(codes, dtype=np.intp), list(numbers)


def _table(size: Any, values: list[Any], k: int, *, missing: int, name: str) -> NDArray[np.int64]:
    """Return the bound of each group and cluster."""
    if isinstance(size, Mapping):
        unknown = [value for value in size if value not in values]
        if unknown or values == [None]:
            raise InvalidInputError(
                f"{name} is a dict with the keys {list(size)}, and the groups are {values}; a dict "
                "needs groups=, and keys among its values."
            )
        rows = [size.get(value, missing) for value in values]
    else:
        rows = [missing if size is None else size] * len(values)
    return np.stack([checked_counts(row, (k,), name=name) for row in rows])
