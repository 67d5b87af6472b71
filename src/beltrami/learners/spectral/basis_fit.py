"""Least squares on eigenvectors: how many, or how much penalty, is chosen by leave-one-out."""

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.learners.leave_one_out import (
    can_leave_one_out,
    held_out_loss,
    honest_residuals,
    mean_of_others,
)
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.solvers.least_squares import HeldOut, NestedFactor, RidgePath, nested_factor

_MOST_PER_LABEL = 0.6
"""Most eigenvectors per label that are tried without a penalty."""

_SAME_EIGENVALUE = 1e-6  # relative
_GAMMAS = np.geomspace(1e-5, 1e3, 33)  # penalties tried, over the median squared singular value


@dataclass(frozen=True, slots=True, eq=False)
class SpectralFit:
    """Coefficients on the leading eigenvectors, and what leave-one-out says of them.

    Attributes
    ----------
    coefficients : ndarray of shape (p, k)
        One column per target.
    operator : callable
        Returns the (p, l) matrix that turns targets into coefficients.
    left_out : LeftOut
        Exact leave-one-out predictions.
    gamma : float
        The penalty.
    choices : tuple of Choice
        What was chosen and why.
    """

    coefficients: FloatMatrix
    operator: Callable[[], FloatMatrix]
    left_out: LeftOut
    gamma: float
    choices: tuple[Choice, ...]

    @property
    def size(self) -> int:
        """Number of eigenvectors used."""
        return len(self.coefficients)


def vector_count(n_eigenvectors: Any, count: int, n_points: int, *, most: int) -> int:
    """Return how many eigenvectors a fit to `count` labels may use; `most` for "auto"."""
    if isinstance(n_eigenvectors, str) and n_eigenvectors == "auto":
        return min(most, n_points)
    is_number = isinstance(n_eigenvectors, numbers.Real) and not isinstance(n_eigenvectors, bool)
    if is_number and isinstance(n_eigenvectors, numbers.Integral) and int(n_eigenvectors) >= 1:
        return min(int(n_eigenvectors), n_points)
    if is_number and 0 < float(n_eigenvectors) <= 1:
        return min(max(1, round(float(n_eigenvectors) * count)), n_points)
    raise InvalidInputError(
        f"n_eigenvectors={n_eigenvectors!r} must be a whole number, a share of the labels between "
        "0 and 1 (0.2 is the thesis's rule), or 'auto'."
    )


def spectral_fit(
    rows: FloatMatrix,
    values: FloatVector,
    labeled: Labeled,
    *,
    n_eigenvectors: Any,
    gamma: Any,
    n_constant: int,
) -> SpectralFit:
    r"""Fit targets on eigenvectors.

    .. math:: \min_a \frac{1}{\sum w} \sum_i w_i \lVert y_i - \textstyle\sum_j a_j e_j(i) \rVert^2
              + \gamma \sum_j \lambda_j \lVert a_j \rVert^2

    `rows`, (l, p), are those of the basis at the labels and `values` its eigenvalues. With a
    penalty all eigenvectors are used unless a number is given. The first `n_constant` are the
    constants of the components, which always take part.
    """
    if isinstance(gamma, str) or gamma > 0:
        size = rows.shape[1]
        if n_eigenvectors != "auto":
            size = max(_requested_size(n_eigenvectors, labeled, size), min(n_constant, size))
        if isinstance(gamma, str) and not can_leave_one_out(labeled):
            labeled = _balance_classes(labeled)
        return _ridge(rows[:, :size], values[:size], labeled, gamma)
    roots = np.sqrt(labeled.weights)[:, None]
    if isinstance(n_eigenvectors, str):
        count, n_targets = labeled.targets.shape
        most = max(int(_MOST_PER_LABEL * count), n_constant, min(n_targets, count), 1)
        factor = nested_factor(roots * rows[:, :most])
        size, choice = _choose_size(factor, values, labeled, n_constant)
        _warn_of_split(values, size)  # where leave-one-out could not judge
        return _plain(factor, labeled, size, (choice,))
    size = _cap_size(_requested_size(n_eigenvectors, labeled, rows.shape[1]), labeled, n_constant)
    size = min(max(size, n_constant), rows.shape[1])
    _warn_of_split(values, size)
    return _plain(nested_factor(roots * rows[:, :size]), labeled, size, ())


def _balance_classes(labeled: Labeled) -> Labeled:
    """Give each class the same weight, so that under a strong penalty no constant decides."""
    if labeled.targets.shape[1] == 1:
        return labeled
    is_class = labeled.targets == labeled.targets.max()
    totals = labeled.weights @ is_class
    weights = labeled.weights / totals[is_class.argmax(axis=1)]
    weights *= labeled.weights.sum() / weights.sum()
    return Labeled(labeled.rows, labeled.targets, weights)


def _requested_size(n_eigenvectors: Any, labeled: Labeled, most: int) -> int:
    return vector_count(n_eigenvectors, len(labeled.rows), most, most=most)


def _cap_size(size: int, labeled: Labeled, n_constant: int) -> int:
    count = len(labeled.rows)
    if size < count or size <= n_constant:
        return size
    kept = max(int(_MOST_PER_LABEL * count), n_constant, 1)
    if size > kept:
        warnings.warn(
            f"{size} eigenvectors and {count} labels: such a fit only repeats the labels, so "
            f"{kept} eigenvectors are used. Lower n_eigenvectors, label more, or pass gamma > 0.",
            DegenerateDataWarning,
            stacklevel=6,
        )
    return min(size, kept)


def _warn_of_split(values: FloatVector, size: int) -> None:
    if 0 < size < len(values) and _is_same(values[size - 1], values[size]):
        warnings.warn(
            f"eigenvectors {size} and {size + 1} share the eigenvalue {values[size]:.6g}; a fit on "
            "the first of them depends on which of many equal bases the solver found. Use one more "
            "or one fewer.",
            DegenerateDataWarning,
            stacklevel=6,
        )


def _is_same(lower: float, upper: float) -> bool:
    return bool(upper - lower <= _SAME_EIGENVALUE * upper)


def _choose_size(
    factor: NestedFactor, values: FloatVector, labeled: Labeled, n_constant: int
) -> tuple[int, Choice]:
    """Choose how many eigenvectors by leave-one-out, never between equal eigenvalues."""
    total = factor.Q.shape[1]
    most = min(max(int(_MOST_PER_LABEL * len(labeled.rows)), n_constant, 1), total)
    if not can_leave_one_out(labeled):
        return _default_size(labeled, n_constant, total)
    least = min(max(n_constant, 1), most)
    kept = {
        size
        for size in range(least, most + 1)
        if size == least or (size < len(values) and not _is_same(values[size - 1], values[size]))
    }
    sizes = np.array(sorted(kept))
    roots = np.sqrt(labeled.weights)[:, None]
    held_out = [
        _unscale(predictions, labeled)
        for size, predictions in enumerate(
            factor.leading(most).held_out(roots * labeled.targets), 1
        )
        if size in kept
    ]
    losses = np.array([held_out_loss(predictions, labeled) for predictions in held_out])
    best = _lowest(losses)
    size = int(sizes[best])
    reason = (
        f"{size} of up to {most} eigenvectors have the lowest leave-one-out loss "
        f"({losses[best]:.3g}) on {len(labeled.rows)} labels"
    )
    tried, honest = sizes.astype(np.float64), _honest(held_out, labeled)
    return size, Choice("n_eigenvectors", size, tried, losses, reason, honest)


def _default_size(labeled: Labeled, n_constant: int, total: int) -> tuple[int, Choice]:
    """Return one eigenvector per class: as many slow functions as there are groups to tell."""
    count, n_classes = labeled.targets.shape
    size = min(max(min(n_classes, count), n_constant), total)
    reason = (
        f"{size} eigenvectors, one per class: with {count} labels for {n_classes} classes "
        "leave-one-out cannot judge"
    )
    none = np.zeros(0)
    return size, Choice("n_eigenvectors", size, none, none, reason)


def _honest(held_out: list[FloatMatrix], labeled: Labeled) -> FloatVector | None:
    if labeled.targets.shape[1] > 1:
        return None
    return honest_residuals((labeled.targets - np.stack(held_out))[:, :, 0], labeled)


def _unscale(held_out: HeldOut, labeled: Labeled) -> FloatMatrix:
    """Take the roots of the weights out again; the mean of the others where they say nothing."""
    values: FloatMatrix = held_out.values / np.sqrt(labeled.weights)[:, None]
    return np.where(held_out.is_predicted[:, None], values, mean_of_others(labeled))


def _lowest(losses: NDArray[np.float64]) -> int:
    """Return the first of the lowest, equal to rounding."""
    return int(np.flatnonzero(losses <= losses.min() * (1 + 1e-9) + 1e-300)[0])


def _plain(
    factor: NestedFactor, labeled: Labeled, size: int, choices: tuple[Choice, ...]
) -> SpectralFit:
    roots = np.sqrt(labeled.weights)
    leading, scaled = factor.leading(size), roots[:, None] * labeled.targets
    *_, last = leading.held_out(scaled)
    return SpectralFit(
        leading.coefficients(scaled),
        partial(_plain_operator, leading, roots),
        LeftOut(labeled.rows, labeled.targets, _unscale(last, labeled), labeled.weights),
        0.0,
        choices,
    )


def _plain_operator(factor: NestedFactor, roots: FloatVector) -> FloatMatrix:
    return np.asarray(factor.operator() * roots)


def _ridge_operator(path: RidgePath, alpha: float, roots: FloatVector) -> FloatMatrix:
    return np.asarray(path.operator(alpha) * roots)


def _ridge(rows: FloatMatrix, values: FloatVector, labeled: Labeled, gamma: Any) -> SpectralFit:
    roots, total = np.sqrt(labeled.weights), float(labeled.weights.sum())
    path, scaled = RidgePath.of(roots[:, None] * rows, values), roots[:, None] * labeled.targets
    choices: tuple[Choice, ...] = ()
    if isinstance(gamma, str):
        gamma, choice = _choose_gamma(path, labeled)
        choices = (choice,)
    alpha = float(gamma) * total
    held_out = _unscale(path.held_out(scaled, alpha), labeled)
    return SpectralFit(
        path.coefficients(scaled, alpha),
        partial(_ridge_operator, path, alpha, roots),
        LeftOut(labeled.rows, labeled.targets, held_out, labeled.weights),
        float(gamma),
        choices,
    )


def _choose_gamma(path: RidgePath, labeled: Labeled) -> tuple[float, Choice]:
    """Choose the penalty on a grid around the squared singular values: no units to know."""
    total = float(labeled.weights.sum())
    scaled = np.sqrt(labeled.weights)[:, None] * labeled.targets
    scale = float(np.median(path.sizes**2)) if path.sizes.size else 1.0
    gammas = _GAMMAS * scale / total
    if not can_leave_one_out(labeled):
        reason = f"gamma = {gammas[-1]:.3g}, a strong penalty: leave-one-out cannot judge so few"
        return float(gammas[-1]), Choice("gamma", float(gammas[-1]), gammas, np.zeros(0), reason)
    held_out = [_unscale(path.held_out(scaled, gamma * total), labeled) for gamma in gammas]
    losses = np.array([held_out_loss(predictions, labeled) for predictions in held_out])
    best = _lowest(losses)
    reason = (
        f"gamma = {gammas[best]:.3g} has the lowest leave-one-out loss ({losses[best]:.3g}) of "
        f"{len(gammas)} between {gammas[0]:.3g} and {gammas[-1]:.3g}"
    )
    honest = _honest(held_out, labeled)
    return float(gammas[best]), Choice("gamma", float(gammas[best]), gammas, losses, reason, honest)
