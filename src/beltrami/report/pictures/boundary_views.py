"""The plane on which a map with class boundaries is looked at.

Positions and class directions enter; a view in two dimensions leaves. A map of K classes has K - 1
dimensions or more, and what is seen of it depends on the plane: for two and three classes one
plane holds the boundaries whole, for more we take the plane on which the classes are best apart.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector

_RIDGE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """A map seen on a plane.

    Attributes
    ----------
    positions : ndarray of shape (n, 2)
        The points.
    directions : ndarray of shape (K, 2)
        The class directions; shorter than one where they lean out of the plane.
    axes : ndarray of shape (d, 2)
        What the positions were multiplied with: orthonormal, so distances are never stretched.
    shows_boundaries : bool
        Whether a point's place on the plane settles its class, as with two or three classes. With
        more, the boundaries cut the plane at an angle and each point sees another cut.
    """

    positions: FloatMatrix
    directions: FloatMatrix
    axes: FloatMatrix
    shows_boundaries: bool


def view_of(
    embedding: FloatMatrix,
    directions: FloatMatrix,
    codes: IndexVector | None = None,
) -> MapView:
    r"""Look at a map on the plane that shows its classes best.

    With two classes the boundary stands upright, the second class to its right, and the second
    axis is the one along which the points spread most. With three, the plane of the class
    directions is taken, the first class upwards. With more, the plane lies among the class
    directions and has the largest Hotelling-Lawley trace :math:`\mathrm{tr}(\Sigma_B
    \Sigma_W^{-1})` of the points on it: it is spanned by the two leading directions of Fisher's
    discriminant analysis.

    The classes to keep apart are `codes` (n,), numbered as the directions (K, d); None takes those
    of the map itself.

    Examples
    --------
    >>> from beltrami import Mbed, two_moons
    >>> from beltrami.report.pictures.boundary_views import view_of
    >>> moons = two_moons(60, random_state=0)
    >>> model = Mbed(mode="paper", random_state=0).fit(moons.points, moons.targets)
    >>> view_of(model.embedding_, model.directions_).directions.round(3).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    axes = _best_plane(embedding, directions, codes)
    return MapView(embedding @ axes, directions @ axes, axes, len(directions) <= 3)


def _best_plane(
    embedding: FloatMatrix, directions: FloatMatrix, codes: IndexVector | None
) -> FloatMatrix:
    if len(directions) == 2:
        return _across_one_boundary(embedding, directions)
    if len(directions) == 3:
        return _plane_of_three(directions)
    if codes is None:
        codes = np.asarray((embedding @ directions.T).argmax(axis=1))
    return _separating_plane(embedding, directions, codes)


def _across_one_boundary(embedding: FloatMatrix, directions: FloatMatrix) -> FloatMatrix:
    """Return the normal of the boundary, and the direction along it with the largest spread."""
    normal = _unit(directions[1] - directions[0])
    if len(normal) == 1:
        return np.column_stack([normal, np.zeros(1)])
    along = embedding - embedding.mean(axis=0)
    along = along - np.outer(along @ normal, normal)
    _, vectors = eigh(along.T @ along - np.outer(normal, normal))  # the normal itself comes first
    spread = vectors[:, -1] - normal * (vectors[:, -1] @ normal)
    return np.column_stack([normal, _unit(_upright(spread))])


def _plane_of_three(directions: FloatMatrix) -> FloatMatrix:
    """Return the plane of three directions: the first upwards, the second to the right."""
    up = _unit(directions[0])
    right = _unit(directions[1] - up * (directions[1] @ up))
    return np.column_stack([right, up])


def _separating_plane(
    embedding: FloatMatrix, directions: FloatMatrix, codes: IndexVector
) -> FloatMatrix:
    """Return the plane among the class directions with the largest Hotelling-Lawley trace."""
    basis = np.linalg.svd(directions, full_matrices=False)[2][: len(directions) - 1].T
    inside = (embedding - embedding.mean(axis=0)) @ basis
    counts = np.bincount(codes, minlength=len(directions))
    means = np.zeros((len(directions), basis.shape[1]))
    np.add.at(means, codes, inside)
    means /= np.maximum(counts, 1)[:, None]
    between = means.T @ (means * counts[:, None])
    rest = inside - means[codes]
    within = rest.T @ rest
    within[np.diag_indices_from(within)] += _RIDGE * (np.trace(within) + np.trace(between)) + 1e-300
    _, vectors = eigh(between, within)
    plane, _ = np.linalg.qr(vectors[:, [-1, -2]])
    return np.column_stack([_upright(basis @ plane[:, i]) for i in range(2)])


def _unit(vector: FloatVector) -> FloatVector:
    unit: FloatVector = vector / np.linalg.norm(vector)
    return unit


def _upright(vector: FloatVector) -> FloatVector:
    """Return the vector or its opposite, the one whose largest entry is positive."""
    return -vector if vector[np.abs(vector).argmax()] < 0 else vector
