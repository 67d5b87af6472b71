"""What the Laplacian machines share: a kernel, a roughness, and the kernel these two make.

Points, a graph and labels enter; the deformed kernel of the labelled rows, chosen by leave-one-out
where that was asked, leaves. Which loss is laid on it is for the subclasses.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.memory import require_memory
from beltrami.core.progress import track
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.graph.fitting import recipe_of
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.search import open_space
from beltrami.kernel_machines.approximation import (
    KernelApproximation,
    NystromApproximation,
    resolve_approximation,
)
from beltrami.kernel_machines.deformation import EXACT_COPIES, Deformation, require_exact_memory
from beltrami.kernel_machines.expansion import Expansion
from beltrami.kernel_machines.features import SlowFeatures
from beltrami.kernel_machines.gram import Gram, check_precomputed, check_psd
from beltrami.kernel_machines.kernels import RbfKernel, resolve_kernel, typical_width
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.kernel_machines.roughness import LaplacianPower, Roughness, resolve_smoothness
from beltrami.learners.base import GraphLearner
from beltrami.learners.machines.deformations import Deformations, slow_features
from beltrami.learners.machines.parameters import ComposedParameters
from beltrami.learners.machines.tuning import (
    Penalties,
    Shape,
    Strengths,
    Trial,
    best_trial,
    can_judge,
    check_penalties,
    tuned_choice,
    typical_choice,
)
from beltrami.learners.model import Choice, Labeled
from beltrami.operators.comparison import check_comparable

_WIDTHS = (0.5, 1.0, 2.0)
"""Widths tried, of the typical one; the first serves where labels are too few to judge."""

_POWERS = (2, 1, 4)
"""Powers tried; the first serves where labels are too few to judge."""

_NEAR_POWERS = (2, 1)
"""The same where features are summed in blocks, which 4 couples to neighbours of neighbours."""

_MOST_EXACT = 3000
"""Points up to which "auto" is exact."""

_FAR = 1e4
"""Widths from the origin up to which single precision tells points apart."""

_EIGENFUNCTIONS = 100
"""What "auto" adds to landmarks."""

_PSD_SAMPLE = 300


class LaplacianMachine(ComposedParameters, GraphLearner):
    """A kernel machine with a second penalty for roughness along the data."""

    kernel: Any
    gamma_a: Any
    gamma_i: Any
    smoothness: Any
    approximation: Any
    random_state: Seed

    _objects: ClassVar[dict[str, str]] = {
        "kernel": "RbfKernel()",
        "smoothness": "LaplacianPower()",
        "approximation": "NystromApproximation()",
    }
    _largest_strength = 10.0
    _twin: "LaplacianMachine | None" = None
    _kept: tuple[Shape, Strengths] | None = None
    _deformations: Deformations

    def _built_graph(self, points: Points) -> tuple[Graph, Any]:
        self._check_options()
        recipe = recipe_of(self._recipe())
        if not self._is_precomputed:
            if getattr(recipe, "metric", None) == "precomputed":
                raise InvalidInputError(
                    "the graph takes X for distances and the kernel takes it for points. For "
                    "distances d give kernel='precomputed' and X = exp(-d**2 / (2 * width**2)), "
                    "say; for points another metric of the graph."
                )
            check_comparable(points, "euclidean")
            return super()._built_graph(points)
        check_precomputed(points)
        if recipe is None:
            return super()._built_graph(points)
        if not isinstance(recipe, KnnGraph):
            raise InvalidInputError(
                "with a precomputed kernel the graph is built from the distances in the kernel's "
                "space, by a KnnGraph; give one, or a graph of your own."
            )
        # |phi(x) - phi(y)|^2 = k(x, x) + k(y, y) - 2 k(x, y).
        matrix = np.asarray(points, dtype=np.float64)
        squares = np.diagonal(matrix)
        distances = np.sqrt(np.maximum(squares[:, None] + squares - matrix - matrix.T, 0.0))
        return clone(recipe).set_params(metric="precomputed").build(distances), None

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _is_auto_approximation(self) -> bool:
        return isinstance(self.approximation, str) and self.approximation == "auto"

    @property
    def _width(self) -> Any:
        """The kernel's width: a number, "auto", or None where it has none."""
        kernel = resolve_kernel(self.kernel)
        return kernel.width if isinstance(kernel, RbfKernel) else None

    @property
    def _smoothness(self) -> LaplacianPower:
        return resolve_smoothness(self.smoothness)

    def _check_options(self) -> None:
        check_penalties(self.gamma_a, self.gamma_i)
        resolve_smoothness(self.smoothness)
        kernel = resolve_kernel(self.kernel)
        if not self._is_auto_approximation:
            approximation = resolve_approximation(self.approximation)
            if approximation is not None:
                approximation.check_parameters(kernel)

    def _prepare(self, labeled: Labeled) -> None:
        n, width = self.graph_.n_nodes, self._width
        self._typical_width = 1.0
        if width is not None:
            self._typical_width = typical_width(self.points_) if width == "auto" else float(width)
        approximation = self._choose_approximation(n)
        is_large = approximation is not None and n > _MOST_EXACT and not self._is_precomputed
        self._kernel_points = self._light_points() if is_large else self.points_
        gram = self._gram(self._typical_width)
        if not gram.kernel.is_surely_psd:
            sample = spread_rows(n, labeled.rows[:_PSD_SAMPLE], min(n, _PSD_SAMPLE), 0)
            check_psd(gram.among(sample, sample, is_double=True))
        self._kernel_size = float(np.mean(gram.diagonal()))
        if self._kernel_size <= np.finfo(np.float64).tiny:
            raise InvalidInputError(
                f"the mean of k(x, x) over the points is {self._kernel_size:.3g}, and a kernel "
                "machine needs k(x, x) > 0. Scale the data, or choose another kernel."
            )
        self._roughness(self._powers(approximation)[0])  # raises where it cannot be
        self._prepared_for = self._shared_options()
        twin = self._twin
        if twin and twin.graph_ is self.graph_ and twin._prepared_for == self._prepared_for:
            self._deformations = twin._deformations
            return
        self._deformations = Deformations(
            self._gram,
            self._roughness,
            approximation,
            self._draw_landmarks(labeled, approximation),
            self._eigenfunctions(approximation),
            self.random_state,
        )

    def _share_kernels(self, twin: "LaplacianMachine") -> None:
        """Take the kernels of a machine fitted on the same graph, where options are the same."""
        self._twin = twin

    def _shared_options(self) -> tuple[Any, ...]:
        """Return the options that kept kernels depend on; they serve any width and any power."""
        kernel, smoothness = resolve_kernel(self.kernel), self._smoothness
        approximation: Any = "auto"
        if not self._is_auto_approximation:
            chosen = resolve_approximation(self.approximation)
            approximation = chosen and (chosen.method, chosen.get_params(deep=False))
        parameters = kernel.get_params(deep=False) | {"width": self._width == "auto"}
        is_open = self.gamma_i == "auto"
        return type(kernel), parameters, is_open, smoothness.kind, smoothness.scale, approximation

    def _choose_approximation(self, n: int) -> KernelApproximation | None:
        """Return what stands for the kernel of n points, None where nothing does."""
        if not self._is_auto_approximation:
            return resolve_approximation(self.approximation)
        if n > _MOST_EXACT:
            is_open = isinstance(self.gamma_i, str) and self.recipe_ is not None
            return NystromApproximation(n_eigenfunctions=_EIGENFUNCTIONS if is_open else 0)
        try:
            require_exact_memory(n, copies=EXACT_COPIES)
        except MemoryBudgetError:
            return NystromApproximation()
        return None

    def _draw_landmarks(
        self, labeled: Labeled, approximation: KernelApproximation | None
    ) -> IndexVector:
        """Return the landmarks: the labelled rows and random others."""
        if approximation is None:
            return np.zeros(0, dtype=np.intp)
        n, count = self.graph_.n_nodes, approximation.size(len(labeled.rows))
        return spread_rows(n, labeled.rows, min(count, n), self.random_state)

    def _eigenfunctions(self, approximation: KernelApproximation | None) -> SlowFeatures | None:
        """Return the graph's slow functions, where features are to be helped by them."""
        count = 0 if approximation is None else int(approximation.n_eigenfunctions)
        if not count:
            return None
        if self.recipe_ is None:
            raise InvalidInputError(
                f"n_eigenfunctions={count} needs a graph that new points can be attached to, and "
                "this one was given as it is. Pass a recipe, graph=KnnGraph(...), or "
                "n_eigenfunctions=0."
            )
        return slow_features(
            self.graph_,
            self.recipe_,
            self.points_,
            min(count, self.graph_.n_nodes - 1),
            self._kernel_size,
            self.random_state,
            self._kernel_points.dtype,
        )

    def _gram(self, width: float) -> Gram:
        return Gram(resolve_kernel(self.kernel, width=width), self._kernel_points)

    def _light_points(self) -> Points:
        """Return many points in single precision, where that rounds far below the width."""
        values = self.points_.data if issparse(self.points_) else self.points_
        largest = float(np.abs(values).max(initial=0.0))
        is_far = self._width is not None and largest > _FAR * self._typical_width
        return self.points_ if is_far else self.points_.astype(np.float32)

    def _roughness(self, power: int) -> Roughness:
        return self._smoothness.on(self.graph_, power)

    def _penalties(self, total: float, power: int) -> Penalties:
        size = self._roughness(power).typical
        largest = self._largest_strength
        return Penalties(self.gamma_a, self.gamma_i, total, self._kernel_size, size, largest)

    def _tune(self, labeled: Labeled, *, intercept: bool) -> Deformation:
        """Choose what is to be chosen, remember it, and return the deformed kernel."""
        widths, powers = self._widths(), self._powers(self._deformations.approximation)
        shape, total = Shape(widths[0], powers[0]), float(labeled.weights.sum())
        penalties = self._penalties(total, shape.power)
        self.choices_: tuple[Choice, ...] = ()
        self.held_out_loss_ = float("nan")
        has_choice = len(widths) > 1 or len(powers) > 1 or not penalties.are_fixed
        if self._kept is not None:
            shape, strengths = self._kept
        elif has_choice and can_judge(labeled):
            shape, strengths = self._choose(labeled, widths, powers, intercept=intercept)
            penalties = self._penalties(total, shape.power)
        kernel = self._deformations.final(shape, has_one_ratio=penalties.has_one_ratio)
        if self._kept is None and has_choice and not self.choices_:
            strengths = penalties.typical(kernel)
            self.choices_ = (typical_choice(shape, strengths, len(labeled.rows)),)
        elif self._kept is None and not has_choice:
            strengths = next(penalties.candidates(kernel))
        self.width_, self.power_, self._strengths = shape.width, shape.power, strengths
        self._report_strengths(labeled)
        return kernel

    def _keep_choices(self) -> None:
        """Learn from now on with the shape and the strengths that were chosen last."""
        self._kept = Shape(self.width_, self.power_), self._strengths

    def _powers(self, approximation: KernelApproximation | None) -> tuple[int, ...]:
        power = self._smoothness.power
        if power != "auto":
            return (int(power),)
        return _POWERS if approximation is None else _NEAR_POWERS

    def _widths(self) -> tuple[float, ...]:
        width = self._width
        if width is None:
            return (1.0,)
        if width == "auto":
            return tuple(factor * self._typical_width for factor in _WIDTHS)
        return (float(width),)

    def _choose(
        self,
        labeled: Labeled,
        widths: tuple[float, ...],
        powers: tuple[int, ...],
        *,
        intercept: bool,
    ) -> tuple[Shape, Strengths]:
        """Choose power, width and strengths, one after the other, by leave-one-out."""
        trials: dict[Shape, Trial] = {}
        sample, total = labeled.sample(), float(labeled.weights.sum())
        first = widths[0]
        is_alone = len(widths) == len(powers) == 1

        def judge(shape: Shape) -> None:
            if shape not in trials:
                penalties = self._penalties(total, shape.power)
                deform = self._deformations.final if is_alone else self._deformations.judge
                kernel = deform(shape, has_one_ratio=penalties.has_one_ratio)
                trials[shape] = best_trial(kernel, sample, penalties, intercept=intercept)

        with track("choosing by leave-one-out", total=len(widths) + len(powers) - 1) as advance:
            for power in powers:
                judge(Shape(first, power))
                advance(1)
            best = min(trials, key=lambda shape: trials[shape].loss)
            for width in widths[1:]:
                judge(Shape(width, best.power))
                advance(1)
        best = min(trials, key=lambda shape: trials[shape].loss)
        trial = trials[best]
        if self._deformations.has_judges and not is_alone:
            # The shape was chosen by few landmarks; the strengths are chosen by all.
            penalties = self._penalties(total, best.power)
            kernel = self._deformations.final(best, has_one_ratio=penalties.has_one_ratio)
            trial = best_trial(kernel, sample, penalties, intercept=intercept)
        self.held_out_loss_ = trial.loss
        honest = trial.honest if sample is labeled else None
        self.choices_ = (tuned_choice(trials, best, trial, honest, len(sample.rows)),)
        return best, trial.strengths

    def _report_strengths(self, labeled: Labeled) -> None:
        total = float(labeled.weights.sum())
        ambient, ratio = self._strengths.ambient, self._strengths.ratio
        self.gamma_a_ = ambient / total
        self.gamma_i_ = self.gamma_a_ * ratio
        self.lambda1_ = ambient
        self.lambda2_ = ambient * ratio * self._roughness(self.power_).factor

    def _certify(self, deformed: Deformation, labeled: Labeled, *, intercept: bool) -> None:
        shape = Shape(self.width_, self.power_)
        self.approximation_ = self._deformations.certificate(
            shape, deformed, labeled, self._strengths, intercept=intercept
        )

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        self._check_options()
        if self._prepared_for != self._shared_options():  # set_params since the fit
            self._prepare(labeled)
        require_memory(
            8.0 * 3 * len(labeled.rows) * min(len(labeled.rows), self._block_size(labeled)),
            what=f"the kernel between {len(labeled.rows)} labelled rows",
            instead="Label fewer rows, or take an eigenfunction learner, whose cost is linear.",
        )
        self._expansion, self.intercept_ = self._fit_machine(labeled)
        return np.asarray(self._expansion.of_fit + self.intercept_)

    def _block_size(self, labeled: Labeled) -> int:
        """Return the smaller side of what is decomposed for the labels."""
        is_exact = self._deformations.is_exact
        return len(labeled.rows) if is_exact else len(self._deformations.landmarks)

    @abstractmethod
    def _fit_machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        """Return the functions, one per target, and their intercepts."""

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        scores = np.asarray(self._expansion.at(points) + self.intercept_)
        reached = self._reached_at(points)
        if scores.shape[1] > 1:
            # So far off that the kernel is zero, all classes score the same: nothing is known.
            reached &= np.ptp(scores, axis=1) > 0
        return scores, reached

    def _reached_at(self, points: Points) -> BoolVector:
        """Say whether new points lie nearest to a point that a label reaches."""
        if self.reached_.all():
            return np.ones(points.shape[0], dtype=bool)
        if self._is_precomputed:
            squares = np.diagonal(np.asarray(self.points_))
            nearest = np.argmax(2 * np.asarray(points) - squares, axis=1)
        else:
            metric = getattr(self.recipe_, "metric", "euclidean")
            nearest = open_space(self.points_, metric).nearest(points, 1)[0][:, 0]
        return np.asarray(self.reached_[nearest])

    def _choices(self) -> tuple[Choice, ...]:
        return self.choices_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is_precomputed:
            tags.input_tags.pairwise = True
            tags.input_tags.sparse = False
        return tags
