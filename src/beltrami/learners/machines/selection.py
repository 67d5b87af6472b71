"""Which power, width and strengths of the penalties, on one graph.

What is open and the labels enter; one setting and the reason for it leave. Held-out labels choose
where they can; where they are too few, the normalised cut of the answer does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.telling.progress import track
from beltrami.graph.model import Graph
from beltrami.kernel_machines.deformation import Deformation
from beltrami.learners.machines.deformations import Deformations
from beltrami.learners.machines.tuning import (
    Penalties,
    Shape,
    Strengths,
    Trial,
    best_trial,
    can_judge,
    ridge_path,
    tuned_choice,
    typical_choice,
)
from beltrami.learners.model import Choice, Labeled
from beltrami.learners.poisson.cuts import normalized_cut


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """What is open to choice on one graph.

    Attributes
    ----------
    widths : tuple of float
        Of the kernel; the first serves where labels are too few to judge.
    powers : tuple of int
        Of the Laplacian.
    deformations : Deformations
        The kernels they make.
    penalties_of : callable
        What is open of the strengths, for a power.
    intercept : bool
        Whether the machine has a constant.
    """

    widths: tuple[float, ...]
    powers: tuple[int, ...]
    deformations: Deformations
    penalties_of: Callable[[int], Penalties]
    intercept: bool

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the first width."""
        return tuple(Shape(self.widths[0], power) for power in self.powers)

    @property
    def has_one_shape(self) -> bool:
        """Whether width and power are given."""
        return len(self.widths) == len(self.powers) == 1

    def judge(self, shape: Shape, penalties: Penalties) -> Deformation:
        """Return a kernel to compare shapes by; the final one where there is nothing to compare."""
        deform = self.deformations.final if self.has_one_shape else self.deformations.judge
        return deform(shape, has_one_ratio=penalties.has_one_ratio)

    def final(self, shape: Shape, penalties: Penalties) -> Deformation:
        """Return the kernel to fit with."""
        return self.deformations.final(shape, has_one_ratio=penalties.has_one_ratio)


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What was chosen.

    Attributes
    ----------
    shape : Shape
        Width and power.
    strengths : Strengths
        Of the penalties.
    choices : tuple of Choice
        Why; empty where nothing was open.
    loss : float
        Leave-one-out loss; NaN where nothing was chosen by it.
    """

    shape: Shape
    strengths: Strengths
    choices: tuple[Choice, ...] = ()
    loss: float = float("nan")


def select(options: Options, labeled: Labeled, graph: Graph | None) -> Selection:
    """Choose by held-out labels where they can judge, else by the cut of the answer on a graph.

    Without a graph to cut, the first power is taken then.
    """
    first = options.shapes[0]
    penalties = options.penalties_of(first.power)
    if options.has_one_shape and penalties.are_fixed:
        return Selection(first, next(penalties.candidates(options.final(first, penalties))))
    if can_judge(labeled):
        return _select_by_labels(options, labeled)
    cuts: list[float] = []
    if graph is not None and has_cut(labeled) and len(options.powers) > 1:
        cuts = cuts_by_power(options, labeled, [graph])
        first = options.shapes[int(np.argmin(cuts))]
        penalties = options.penalties_of(first.power)
    strengths = penalties.typical(options.final(first, penalties), first.power)
    choice = typical_choice(first, strengths, len(labeled.rows), options.powers, cuts)
    return Selection(first, strengths, (choice,))


def has_cut(labeled: Labeled) -> bool:
    """Say whether the answer is a partition: of classes it is, of values it is not."""
    return bool(labeled.targets.shape[1] > 1)


def cuts_by_power(options: Options, labeled: Labeled, graphs: Sequence[Graph]) -> list[float]:
    """Return the normalised cut of the answer at typical strengths, power by power."""
    cuts = []
    with track("choosing by the cut", total=len(options.powers)) as advance:
        for shape in options.shapes:
            penalties = options.penalties_of(shape.power)
            strengths = penalties.typical(options.judge(shape, penalties), shape.power)
            cuts.append(cut_of(options, labeled, shape, strengths, graphs))
            advance(1)
    return cuts


def cut_of(
    options: Options,
    labeled: Labeled,
    shape: Shape,
    strengths: Strengths,
    graphs: Sequence[Graph],
) -> float:
    """Return the normalised cut of the answer of one setting.

    A mean over the graphs: partitions of several graphs can then be compared.
    """
    kernel = options.judge(shape, options.penalties_of(shape.power))
    codes, count = _partition(kernel, labeled, strengths, intercept=options.intercept)
    return float(np.mean([normalized_cut(one.weights, codes, count) for one in graphs]))


def _partition(
    kernel: Deformation, labeled: Labeled, strengths: Strengths, *, intercept: bool
) -> tuple[NDArray[np.intp], int]:
    """Return the class of every point by ridge regression, and how many classes have a label."""
    path = ridge_path(kernel, labeled, strengths.ratio, intercept=intercept)
    multipliers, intercepts = path.multipliers(labeled.targets, strengths.ambient)
    scores = kernel.expansion(labeled.rows, strengths.ratio, multipliers).of_fit + intercepts
    present = (labeled.targets > 0).any(axis=0)
    return np.asarray(scores[:, present].argmax(axis=1)), int(present.sum())


def trials_by_power(options: Options, labeled: Labeled) -> dict[Shape, Trial]:
    """Return the best strengths by leave-one-out for each power, at the first width."""
    with track("choosing by leave-one-out", total=len(options.powers)) as advance:
        trials = {}
        for shape in options.shapes:
            trials[shape] = _trial(options, labeled, shape)
            advance(1)
    return trials


def _trial(options: Options, labeled: Labeled, shape: Shape) -> Trial:
    penalties = options.penalties_of(shape.power)
    kernel = options.judge(shape, penalties)
    return best_trial(kernel, labeled, penalties, intercept=options.intercept)


def _select_by_labels(options: Options, labeled: Labeled) -> Selection:
    """Choose power, width and strengths, one after the other, by leave-one-out."""
    sample = labeled.sample()
    trials = trials_by_power(options, sample)
    best = min(trials, key=lambda shape: trials[shape].loss)
    with track("choosing by leave-one-out", total=len(options.widths) - 1) as advance:
        for width in options.widths[1:]:
            shape = Shape(width, best.power)
            trials[shape] = _trial(options, sample, shape)
            advance(1)
    best = min(trials, key=lambda shape: trials[shape].loss)
    trial = trials[best]
    if options.deformations.has_judges and not options.has_one_shape:
        # The shape was chosen by few landmarks; the strengths are chosen by all.
        penalties = options.penalties_of(best.power)
        kernel = options.final(best, penalties)
        trial = best_trial(kernel, sample, penalties, intercept=options.intercept)
    honest = trial.honest if sample is labeled else None
    choice = tuned_choice(trials, best, trial, honest, len(sample.rows))
    return Selection(best, trial.strengths, (choice,), trial.loss)
