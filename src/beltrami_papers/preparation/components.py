"""Principal components of some points, for points that come later."""

import numpy as np

from beltrami.core.types import FloatMatrix


def project_on_components(
    points: FloatMatrix, coordinates: FloatMatrix, new: FloatMatrix
) -> FloatMatrix:
    r"""Project new points on the principal components of others.

    With y_j the j-th coordinates of the centred points X, the direction is
    :math:`X^\top y_j / \lVert y_j \rVert^2`, because it is an eigenvector of :math:`X^\top X`.

    - `points`, `coordinates`: of shapes (n, d) and (n, k), the others and their components.
    - `new`: of shape (m, d).
    """
    mean = points.mean(axis=0, dtype=np.float64)
    exact = coordinates.astype(np.float64)
    directions = (points - mean).T @ exact / (exact**2).sum(axis=0)
    projected: FloatMatrix = (new - mean) @ directions
    return projected.astype(coordinates.dtype)
