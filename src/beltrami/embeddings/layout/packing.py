"""Positions of components made one readable map: outliers drawn in, components side by side."""

import numpy as np

from beltrami.core.types import FloatMatrix, IndexVector

_KEPT = 99.9  # per cent of a component's points that stay where they are
_MARGIN = 0.15  # of a component's own side
_BREADTH = 1.5  # of the whole, beside the root of its area


def draw_in(positions: FloatMatrix) -> FloatMatrix:
    """Return one component centred, with the farthest points drawn in.

    The thousandth of the points that lies farthest out may lie at most a tenth farther than the
    rest, in the same order.
    """
    gap = positions - np.median(positions, axis=0)
    radii = np.hypot(gap[:, 0], gap[:, 1])
    edge = float(np.percentile(radii, _KEPT))
    far = radii > edge
    if edge > 0 and far.any():
        gap[far] *= (edge * (1 + 0.1 * np.tanh(radii[far] / edge - 1)) / radii[far])[:, None]
    return np.asarray(gap, dtype=np.float64)


def align_axes(positions: FloatMatrix) -> FloatMatrix:
    """Return positions on their principal axes, the longer one across."""
    centred = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ axes[:, ::-1])


def pack_components(positions: FloatMatrix, sizes: IndexVector) -> FloatMatrix:
    """Return components in rows, large ones first, each with an area in proportion to its points.

    Rows of `positions` lie component by component.
    """
    firsts = np.cumsum(sizes) - sizes
    low = np.minimum.reduceat(positions, firsts, axis=0)
    high = np.maximum.reduceat(positions, firsts, axis=0)
    spans = high - low
    # A line has no area: its box counts as at least a tenth as thick as long.
    sides = np.maximum(spans, 0.1 * spans.max(axis=1, keepdims=True))
    areas = np.prod(sides, axis=1)
    scales = np.sqrt(np.divide(sizes, areas, out=np.zeros(len(sizes)), where=areas > 0))
    boxes = scales[:, None] * spans + (1 + _MARGIN * np.sqrt(sizes))[:, None]
    centres = _shelve(boxes, np.argsort(-sizes, kind="stable"))
    member = np.repeat(np.arange(len(sizes)), sizes)
    middle = (low + high) / 2
    return np.asarray((positions - middle[member]) * scales[member, None] + centres[member])


def frame_positions(positions: FloatMatrix) -> FloatMatrix:
    """Return positions moved and scaled so that they fill [-1, 1] along the longer side."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = float((high - low).max()) / 2
    centred = positions - (low + high) / 2
    return np.asarray(centred / half if half > 0 else centred)


def _shelve(boxes: FloatMatrix, order: IndexVector) -> FloatMatrix:
    """Set boxes in rows of one breadth, in that order, and return their centres."""
    breadth = max(float(boxes[:, 0].max()), _BREADTH * float(np.sqrt(np.prod(boxes, axis=1).sum())))
    centres = np.zeros_like(boxes)
    shelf: list[int] = []
    used = top = 0.0
    for one in [*order.tolist(), -1]:
        wide = float(boxes[one, 0])
        if shelf and (one < 0 or used + wide > breadth * (1 + 1e-9)):
            tall = float(boxes[shelf, 1].max())
            ends = np.cumsum(boxes[shelf, 0])
            centres[shelf, 0] = ends - boxes[shelf, 0] / 2 - ends[-1] / 2
            centres[shelf, 1] = top - tall / 2
            top, used, shelf = top - tall, 0.0, []
        shelf.append(one)
        used += wide
    return centres
