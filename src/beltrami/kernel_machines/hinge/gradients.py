"""Squared-hinge machines with a smoothness penalty on all rows, without a factorisation.

A kernel of all rows, a smoothness operator and the signs of the labelled rows enter; coefficients
leave after some tens of kernel products.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import ConvergenceWarning
from beltrami.core.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.core.validation import check_count, check_positive
from beltrami.kernel_machines.hinge.steps import exact_steps


@dataclass(frozen=True, slots=True, eq=False)
class ConjugateFit:
    """Functions f = K a + b on all rows, one per column, and why each was left as it is.

    Attributes
    ----------
    coefficients : ndarray of shape (n, k)
        The coefficients a.
    intercepts : ndarray of shape (k,)
        The numbers b.
    iterations : ndarray of shape (k,)
        Steps that each column took.
    stopped : tuple of str
        Per column: "stable" (decisions no longer change), "gradient" (it is small), "one sign"
        (nothing to learn) or "limit" (of iterations).
    gradient : ndarray of shape (k,)
        Norm of the gradient at the end, as a share of that at the start.
    """

    coefficients: FloatMatrix
    intercepts: FloatVector
    iterations: IndexVector
    stopped: tuple[str, ...]
    gradient: FloatVector


def squared_hinge_cg(
    kernel: FloatMatrix,
    smoothness: Any,
    rows: IndexVector,
    signs: FloatMatrix,
    ambient: float,
    intrinsic: float,
    weights: FloatVector,
    *,
    stability: float | None = 0.015,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> ConjugateFit:
    r"""Fit squared-hinge machines with a smoothness penalty by conjugate gradients.

    Each column minimises

    .. math:: \sum_{i \in \mathrm{rows}} w_i \max(0, 1 - y_i f_i)^2
              + \lambda_1 \alpha^\top K \alpha + \lambda_2 (K\alpha)^\top S K\alpha,
              \qquad f = K \alpha + b,

    over :math:`\alpha \in R^n` and b ([MelacciBelkin11]_; b is outside the smoothness, which is the
    same where S maps constants to zero). The gradient is K times

    .. math:: \lambda_1 \alpha + \lambda_2 S K \alpha + J^\top W_E (f - y),

    with E the labelled rows inside the margin, and that vector is the preconditioned direction.
    Directions follow Polak and Ribiere, steps are exact, and all columns share one product with K
    and one with S per iteration. The decisions settle long before the minimum is reached, so by
    default a column stops when hardly any unlabelled row changes sides.

    Shapes: `kernel` (n, n), `smoothness` (n, n), `rows` (l,), `signs` (l, k), `weights` (l,).

    - `kernel`: kernel of all rows, symmetric and positive semi-definite; single precision is kept.
    - `smoothness`: S: a function of a block, or what multiplies one by ``@``.
    - `signs`: entries -1 and +1. A column of one sign only gets that sign everywhere.
    - `stability`: a column stops when fewer than this share of the unlabelled decisions changed in
      the last :math:`\sqrt{n} / 2` iterations. None means to go on until the gradient is small.
    - `tol`: a column also stops when its gradient is this share of what it was.
    """
    check_positive(ambient, name="ambient")
    check_count(max_iter, name="max_iter")
    signs = np.asarray(signs, dtype=np.float64)
    mixed = np.flatnonzero((signs != signs[0]).any(axis=0))
    state = _Descent(kernel, _applied(smoothness), rows, signs, ambient, intrinsic, weights, mixed)
    state.run(stability, tol, max_iter)
    fit = state.result()
    at_limit = [why == "limit" for why in fit.stopped]
    if any(at_limit):
        warnings.warn(
            f"conjugate gradients met the limit of {max_iter} iterations in {sum(at_limit)} of "
            f"{len(at_limit)} columns, with a gradient of {fit.gradient.max():.2g} of that at the "
            f"start where {tol:.2g} was asked for. Decisions may still change: raise max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return fit


def _applied(smoothness: Any) -> Callable[[FloatMatrix], FloatMatrix]:
    if callable(smoothness):
        return lambda block: np.asarray(smoothness(block))
    return lambda block: np.asarray(smoothness @ block)


class _Descent:
    """The columns that still move, as blocks, and where the others were left.

    With a = alpha, blocks hold a, K a, S K a, and the same of the direction p, so that one product
    with K and one with S serve an iteration.
    """

    def __init__(
        self,
        kernel: FloatMatrix,
        smooth: Callable[[FloatMatrix], FloatMatrix],
        rows: IndexVector,
        signs: FloatMatrix,
        ambient: float,
        intrinsic: float,
        weights: FloatVector,
        mixed: IndexVector,
    ) -> None:
        n, k = kernel.shape[0], signs.shape[1]
        self.kernel, self.smooth, self.rows = kernel, smooth, rows
        self.ambient, self.intrinsic = ambient, intrinsic
        self.weights = np.asarray(weights, dtype=np.float64)
        self.unlabeled = np.setdiff1d(np.arange(n), rows)
        # An intercept is a coefficient of a constant kernel, of the size of this one.
        self.constant = float(np.diagonal(kernel).mean()) or 1.0
        self.coefficients = np.zeros((n, k))
        self.intercepts = np.where((signs == signs[0]).all(axis=0), signs[0], 0.0)
        self.iterations, self.gradient = np.zeros(k, dtype=np.int64), np.zeros(k)
        self.stopped = ["one sign"] * k
        self.alive, self.signs = mixed, signs[:, mixed]
        self.blocks: dict[str, FloatMatrix] = {name: np.zeros((n, len(mixed))) for name in _BLOCKS}
        self.b: FloatVector = np.zeros(len(mixed))
        self.b_step: FloatVector = np.zeros(len(mixed))
        self.r_b: FloatVector = np.zeros(len(mixed))
        self.first = self.before = np.ones(len(mixed))
        self.sides = np.zeros((len(self.unlabeled), len(mixed)), dtype=np.int8)

    def run(self, stability: float | None, tol: float, max_iter: int) -> None:
        """Iterate until every column has stopped."""
        every = max(1, round(np.sqrt(self.kernel.shape[0]) / 2))
        with track("conjugate gradients", total=max_iter) as advance:
            for iteration in range(max_iter + 1):
                size = self._turn(restart=iteration == 0)
                if iteration == 0:
                    self.first = np.where(size > 0, size, 1.0)
                self.gradient[self.alive] = size / self.first
                self._leave(size <= tol * self.first, "gradient", iteration)
                if stability is not None and iteration > 0 and iteration % every == 0:
                    self._leave(self._changed() < stability, "stable", iteration)
                if iteration == max_iter:
                    self._leave(np.ones(len(self.alive), dtype=bool), "limit", iteration)
                if not len(self.alive):
                    return
                self._step()
                advance(1)

    def result(self) -> ConjugateFit:
        """Return where all columns were left."""
        return ConjugateFit(
            self.coefficients,
            self.intercepts,
            self.iterations,
            tuple(self.stopped),
            self.gradient,
        )

    def _margins(self) -> FloatMatrix:
        return np.asarray(1 - self.signs * (self.blocks["Ka"][self.rows] + self.b))

    def _turn(self, *, restart: bool) -> FloatVector:
        """Renew gradient and direction; return the gradient's norm in the kernel's own metric."""
        blocks = self.blocks
        residual = np.maximum(self._margins(), 0.0) * self.signs * -self.weights[:, None]
        r = self.ambient * blocks["a"] + self.intrinsic * blocks["SKa"]
        np.add.at(r, self.rows, residual)
        r_b = residual.sum(axis=0)
        kernel_r = self._kernel_times(r)
        own = (r * kernel_r).sum(axis=0) + self.constant * r_b**2
        if restart:
            keep = np.zeros(len(self.alive))
        else:
            cross = (r * blocks["Kr"]).sum(axis=0) + self.constant * r_b * self.r_b
            keep = np.maximum((own - cross) / self.before, 0.0)
        for name, block in (("p", r), ("Kp", kernel_r), ("SKp", self.smooth(kernel_r))):
            blocks[name] *= keep
            blocks[name] -= block
        self.b_step = keep * self.b_step - self.constant * r_b
        blocks["Kr"], self.r_b = kernel_r, r_b
        self.before = np.where(own > 0, own, 1.0)
        return np.asarray(np.sqrt(np.maximum(own, 0.0)))

    def _step(self) -> None:
        """Go to the lowest point along the direction, column by column."""
        blocks = self.blocks
        slopes = self.signs * (blocks["Kp"][self.rows] + self.b_step)
        linear = self.ambient * (blocks["p"] * blocks["Ka"]).sum(axis=0)
        linear += self.intrinsic * (blocks["Kp"] * blocks["SKa"]).sum(axis=0)
        square = self.ambient * (blocks["p"] * blocks["Kp"]).sum(axis=0)
        square += self.intrinsic * (blocks["Kp"] * blocks["SKp"]).sum(axis=0)
        square = np.maximum(square, 0.0)
        steps = exact_steps(self._margins(), slopes, self.weights, linear, square)
        for name, direction in (("a", "p"), ("Ka", "Kp"), ("SKa", "SKp")):
            blocks[name] += steps * blocks[direction]
        self.b = self.b + steps * self.b_step

    def _kernel_times(self, block: FloatMatrix) -> FloatMatrix:
        # A product of mixed precision would copy the kernel.
        return np.asarray(self.kernel @ block.astype(self.kernel.dtype), dtype=np.float64)

    def _changed(self) -> FloatVector:
        """Return the share of unlabelled rows that changed sides since the last look."""
        sides = np.sign(self.blocks["Ka"][self.unlabeled] + self.b).astype(np.int8)
        changed = (sides != self.sides).mean(axis=0) if len(sides) else np.zeros(len(self.alive))
        self.sides = sides
        return np.asarray(changed)

    def _leave(self, done: Any, why: str, iteration: int) -> None:
        """Take the columns that are done out of the blocks."""
        if not done.any():
            return
        columns = self.alive[done]
        self.coefficients[:, columns] = self.blocks["a"][:, done]
        self.intercepts[columns] = self.b[done]
        self.iterations[columns] = iteration
        for column in columns:
            self.stopped[column] = why
        rest = ~done
        self.alive, self.signs = self.alive[rest], self.signs[:, rest]
        self.blocks = {name: block[:, rest] for name, block in self.blocks.items()}
        self.b, self.b_step, self.r_b = self.b[rest], self.b_step[rest], self.r_b[rest]
        self.first, self.before = self.first[rest], self.before[rest]
        self.sides = self.sides[:, rest]


_BLOCKS = ("a", "Ka", "SKa", "p", "Kp", "SKp", "Kr")
