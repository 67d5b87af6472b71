"""How strong the two penalties of manifold regularisation are, chosen by leave-one-out.

Deformed kernels and labels enter; one setting and the evidence for it leave. Nothing is refitted:
for each roughness one small eigendecomposition serves all strengths and all left-out labels.
"""

import numbers
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.kernel_machines.deformation import Deformation
from beltrami.kernel_machines.ridge import KernelRidgePath
from beltrami.learners.leave_one_out import (
    can_leave_one_out,
    held_out_loss,
    honest_residuals,
    mean_of_others,
)
from beltrami.learners.model import Choice, Labeled

_STRENGTHS = 10.0 ** np.arange(-4.0, 2.0)
"""Ambient penalties tried, as shares of the mean of the deformed kernel's diagonal."""

_RATIOS = np.concatenate([[0.0], 10.0 ** np.arange(0.0, 9.0)])
"""Intrinsic penalties tried, relative to the ambient one and free of units."""

_TYPICAL_STRENGTH = 1e-3
"""Ambient penalty where labels are too few to judge."""

_TYPICAL_RATIO = 100.0
"""Intrinsic penalty there, for each power of the Laplacian a factor: functions that vary faster
than a hundredth of the typical roughness are held down, whatever the power (decision 0031)."""

_SMALL = 500
"""Labels up to which a decomposition is faster on one thread."""

_SAFE_RATIO = 1e6
"""Ratio, free of units, up to which the factorisation of one ratio keeps ten digits."""

_VANISHING = 1e-8
"""What an ambient penalty of zero becomes, relative to the intrinsic one."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a deformed kernel depends on besides the strengths of the penalties.

    Attributes
    ----------
    width : float
        Of the kernel.
    power : int
        Of the Laplacian.
    """

    width: float
    power: int


@dataclass(frozen=True, slots=True)
class Strengths:
    """One setting of the penalties, as they enter the equations.

    Attributes
    ----------
    ambient : float
        lambda1 = gamma_a times the number of labels.
    ratio : float
        lambda2 / lambda1 = gamma_i / gamma_a.
    """

    ambient: float
    ratio: float


@dataclass(frozen=True, slots=True, eq=False)
class Penalties:
    """What the user said of the two penalties, and the sizes that make them comparable.

    Attributes
    ----------
    gamma_a, gamma_i : float or "auto"
        As given.
    total : float
        Number of labels, or sum of their weights.
    kernel_size : float
        Mean of k(x, x), which with the next one makes ratios free of units.
    roughness_size : float
        Size of S.
    largest : float, default=10.0
        Largest strength tried. The hinge needs a small one: with a large one all labels are inside
        the margin, the function is next to nothing and the intercept, the larger class, decides.
    """

    gamma_a: Any
    gamma_i: Any
    total: float
    kernel_size: float
    roughness_size: float
    largest: float = 10.0

    @property
    def are_fixed(self) -> bool:
        """Whether nothing is left to choose."""
        return not isinstance(self.gamma_a, str) and not isinstance(self.gamma_i, str)

    @property
    def has_one_ratio(self) -> bool:
        """Whether all candidates share a ratio of the two at which one factorisation is safe."""
        if self.fixed_ambient is None or isinstance(self.gamma_i, str):
            return bool(self.gamma_i == 0)
        return self.with_ambient(self.fixed_ambient).ratio * self._unit <= _SAFE_RATIO

    def candidates(self, kernel: Deformation) -> Iterator[Strengths]:
        """Yield the settings to try on a deformed kernel, all of one ratio in a row."""
        if isinstance(self.gamma_i, str):
            for ratio in _RATIOS / self._unit:
                yield from (Strengths(one, float(ratio)) for one in self._ambients(kernel, ratio))
        else:
            yield from (self.with_ambient(one) for one in self._ambients(kernel, 0.0))

    def typical(self, kernel: Deformation, power: int) -> Strengths:
        """Return the setting to take where labels are too few to choose by."""
        is_open = isinstance(self.gamma_i, str)
        ratio = _TYPICAL_RATIO**power / self._unit if is_open else 0.0
        ambient = self.fixed_ambient
        if ambient is None:
            ambient = _TYPICAL_STRENGTH * kernel.size(ratio)
        return Strengths(ambient, ratio) if ratio else self.with_ambient(ambient)

    def with_ambient(self, ambient: float) -> Strengths:
        """Return the setting of a given intrinsic penalty and some ambient one."""
        return Strengths(ambient, float(self.gamma_i) * self.total / ambient)

    @property
    def fixed_ambient(self) -> float | None:
        """The ambient penalty where it was given, with a vanishing one in place of zero."""
        if isinstance(self.gamma_a, str):
            return None
        if self.gamma_a > 0:
            return float(self.gamma_a) * self.total
        # The limit: small enough to leave the points of the fit to the graph alone.
        return _VANISHING * float(self.gamma_i) * self.total * self._unit

    @property
    def _unit(self) -> float:
        return self.kernel_size * self.roughness_size

    def _ambients(self, kernel: Deformation, ratio: float) -> list[float]:
        if self.fixed_ambient is not None:
            return [self.fixed_ambient]
        tried = _STRENGTHS[self.largest * (1 + 1e-9) >= _STRENGTHS]
        return [float(one) for one in tried * kernel.size(ratio)]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The best setting on one deformed kernel.

    Attributes
    ----------
    strengths : Strengths
        The setting.
    loss : float
        Its leave-one-out loss.
    n_tried : int
        How many settings it was chosen from.
    honest : ndarray of shape (l,) or None
        For values: held-out residuals, each of the setting chosen without it.
    """

    strengths: Strengths
    loss: float
    n_tried: int
    honest: FloatVector | None


def check_penalties(gamma_a: Any, gamma_i: Any) -> None:
    """Raise unless both are numbers, not negative and not both zero, or "auto"."""
    for name, value in (("gamma_a", gamma_a), ("gamma_i", gamma_i)):
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if is_number and np.isfinite(float(value)) and float(value) >= 0:
            continue
        if not (isinstance(value, str) and value == "auto"):
            raise InvalidInputError(f"{name}={value!r} must be a number, not negative, or 'auto'.")
    if gamma_a == 0 and (isinstance(gamma_i, str) or gamma_i == 0):
        raise InvalidInputError(
            f"gamma_a=0 with gamma_i={gamma_i!r} leaves nothing to prefer one function over "
            "another by. Give gamma_i a positive number, the extension of graph regularisation to "
            "new points, or gamma_a; a small gamma_a with gamma_i=0 is the hard margin."
        )


def ridge_path(
    deformation: Deformation, labeled: Labeled, ratio: float, *, intercept: bool
) -> KernelRidgePath:
    """Return kernel ridge regression of the labels on a deformed kernel, for every strength."""
    factor = deformation.factor(labeled.rows, ratio)
    if factor is not None:
        return KernelRidgePath.of_factor(factor, labeled.weights, intercept=intercept)
    block = deformation.block(labeled.rows, ratio)
    with serial_blas() if len(block) <= _SMALL else nullcontext():
        return KernelRidgePath.of(block, labeled.weights, intercept=intercept)


def held_out_scores(path: KernelRidgePath, labeled: Labeled, strength: float) -> FloatMatrix:
    """Return what each label is predicted to be by the others, (l, k)."""
    held_out = path.held_out(labeled.targets, strength)
    return np.where(held_out.is_predicted[:, None], held_out.values, mean_of_others(labeled))


def best_trial(
    deformation: Deformation, labeled: Labeled, penalties: Penalties, *, intercept: bool
) -> Trial:
    """Return the setting of lowest leave-one-out loss on one deformed kernel."""
    tried: list[Strengths] = []
    held_out: list[FloatMatrix] = []
    path, ratio = None, None
    for one in penalties.candidates(deformation):
        if path is None or one.ratio != ratio:
            ratio = one.ratio
            path = ridge_path(deformation, labeled, ratio, intercept=intercept)
        tried.append(one)
        held_out.append(held_out_scores(path, labeled, one.ambient))
    losses = np.array([held_out_loss(scores, labeled) for scores in held_out])
    honest = None
    if labeled.targets.shape[1] == 1:
        honest = honest_residuals((labeled.targets - np.stack(held_out))[:, :, 0], labeled)
    else:
        losses = _with_neighbors(losses, len({one.ratio for one in tried}))
    best = int(np.flatnonzero(losses <= losses.min() * (1 + 1e-9) + 1e-300)[-1])
    return Trial(tried[best], float(losses[best]), len(tried), honest)


def _with_neighbors(losses: FloatVector, n_ratios: int) -> FloatVector:
    """Average the losses of classes over adjacent settings: errors of few labels are noisy.

    A setting that is better than those beside it by one label owes it to chance.
    """
    from scipy.ndimage import uniform_filter

    # Where each ambient penalty has a ratio of its own, the settings are a line.
    shape = (n_ratios, len(losses) // n_ratios) if len(losses) > n_ratios else (len(losses),)
    return np.asarray(uniform_filter(losses.reshape(shape), 3, mode="nearest")).ravel()


def can_judge(labeled: Labeled) -> bool:
    """Say whether leave-one-out tells more than typical values: with two labels a class it lies."""
    count, n_targets = labeled.targets.shape
    return count > 2 * n_targets and can_leave_one_out(labeled)


def typical_choice(
    shape: Shape, strengths: Strengths, count: int, powers: tuple[int, ...], cuts: list[float]
) -> Choice:
    """Say what is taken where labels are too few to choose by: the power of the lowest cut."""
    reason = (
        f"width {shape.width:.3g}, power {shape.power}, lambda1 = {strengths.ambient:.3g}, "
        f"gamma_i / gamma_a = {strengths.ratio:.3g}: typical values, as leave-one-out cannot judge "
        f"by {count} labels"
    )
    if not cuts:
        return Choice("gamma_i", strengths.ratio, np.zeros(0), np.zeros(0), reason)
    reason += f"; the answer of this power has the lowest normalised cut ({min(cuts):.3g})"
    return Choice("power", shape.power, np.array(powers, dtype=np.float64), np.array(cuts), reason)


def tuned_choice(
    tried: dict[Shape, Trial], best: Shape, trial: Trial, honest: FloatVector | None, count: int
) -> Choice:
    """Say what was chosen and of how many.

    `honest` are the held-out residuals of values, each of the setting chosen without it.
    """
    losses = np.array([one.loss for one in tried.values()])
    n_settings = sum(one.n_tried for one in tried.values())
    reason = (
        f"width {best.width:.3g}, power {best.power}, lambda1 = {trial.strengths.ambient:.3g}, "
        f"gamma_i / gamma_a = {trial.strengths.ratio:.3g} have the lowest leave-one-out loss "
        f"({trial.loss:.3g}) of {n_settings} settings on {count} labels"
    )
    widths = np.array([shape.width for shape in tried])
    return Choice("gamma_i", trial.strengths.ratio, widths, losses, reason, honest)
