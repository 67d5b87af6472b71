"""Scales of columns: whether they may have different units, and how they are put on one."""

import re

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector

_LIKE_SPREAD = 10.0


def has_units(points: FloatMatrix, names: tuple[str, ...]) -> bool:
    """Say whether columns may have different units; numbered ones of like spread do not."""
    if len(names) < 2:
        return False
    stems = {re.sub(r"\d+$", "", name) for name in names}
    if len(stems) > 1 or not all(name[-1:].isdigit() for name in names):
        return True
    sample = points[:: max(len(points) // 10_000, 1)]
    spreads = sample.std(axis=0, dtype=np.float64)
    spreads = spreads[spreads > 0]
    return bool(spreads.size and spreads.max() > _LIKE_SPREAD * np.median(spreads))


def column_scales(block: FloatMatrix) -> tuple[FloatVector, FloatVector]:
    """Return mean and standard deviation of each column, 1 for a constant one, (d,) both."""
    centers, spreads = np.zeros(block.shape[1]), np.ones(block.shape[1])
    for position in range(block.shape[1]):
        column = block[:, position]
        centers[position] = column.mean(dtype=np.float64)
        spread = column.std(dtype=np.float64)
        spreads[position] = spread if spread > 0 else 1.0
    return centers, spreads


def standardize(block: FloatMatrix, centers: FloatVector, spreads: FloatVector) -> None:
    """Take the mean off every column and divide it by its spread, in place."""
    for position in range(block.shape[1]):
        block[:, position] = (block[:, position] - centers[position]) / spreads[position]


def common_spread(block: FloatMatrix) -> float:
    """Return the mean spread of the columns, by which they are divided to keep proportions."""
    return float(np.sqrt(block.var(axis=0, dtype=np.float64).mean())) or 1.0
