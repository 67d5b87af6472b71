"""How different two local shapes are: the Hellinger distance of centred Gaussians."""

import numpy as np

from beltrami.core.types import FloatVector, IndexVector
from beltrami.separation.model import LocalShapes


def hellinger_squared(
    shapes: LocalShapes, rows: IndexVector, others: LocalShapes, columns: IndexVector
) -> FloatVector:
    r"""Return the squared Hellinger distance of pairs of local covariances.

    .. math:: H^2 = 1 - 2^{d/2} \frac{|\Sigma_1|^{1/4} |\Sigma_2|^{1/4}}
              {|\Sigma_1 + \Sigma_2|^{1/2}}

    ([Zhu09]_, "A Distance Between Σ1 and Σ2"): 0 for equal shapes, 1 for shapes that have nothing
    in common, and the same after any invertible linear map of both. It sees direction, size and
    dimension, hence manifolds that cross, differ in density or in dimension.

    Outside the subspace that the directions of the two span, both are noise. There the sum is
    :math:`(\varepsilon_1 + \varepsilon_2) I`, so the determinants factor and only a matrix of the
    joint subspace, at most 2 r by 2 r, is decomposed; nothing is approximated.

    Cost: O(r^2 d + r^3) a pair. Pair i is ``rows[i]`` of `shapes` and ``columns[i]`` of `others`.
    """
    from beltrami.separation import _loops

    out = np.empty(len(rows))
    _loops.hellinger_squared(
        shapes.directions,
        shapes.variances,
        shapes.noise,
        np.asarray(rows, dtype=np.int64),
        others.directions,
        others.variances,
        others.noise,
        np.asarray(columns, dtype=np.int64),
        out,
    )
    return out


def hellinger_squared_reference(
    shapes: LocalShapes, rows: IndexVector, others: LocalShapes, columns: IndexVector
) -> FloatVector:
    """Return the same from covariances in full: the slow twin."""

    def log_determinant(matrix: FloatVector) -> float:
        return float(np.linalg.slogdet(matrix)[1])

    squares = []
    for i, j in zip(rows, columns, strict=True):
        one, two = shapes.covariance(int(i)), others.covariance(int(j))
        affinity = shapes.dimension / 2 * np.log(2.0)
        affinity += (log_determinant(one) + log_determinant(two)) / 4
        affinity -= log_determinant(one + two) / 2
        squares.append(np.clip(-np.expm1(affinity), 0.0, 1.0))
    return np.array(squares)
