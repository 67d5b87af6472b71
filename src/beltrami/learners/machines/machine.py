"""What the Laplacian machines share: a kernel, a roughness, and the kernel these two make.

Points, a graph and labels enter; the deformed kernel of the labelled rows, chosen by leave-one-out
where that was asked, leaves. Which loss is laid on it is for the subclasses.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.memory import require_memory
from beltrami.core.progress import track
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.graph.fitting import recipe_of
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.search import open_space
from beltrami.kernel_machines.deformation import EXACT_COPIES, Deformation, require_exact_memory
from beltrami.kernel_machines.expansion import Expansion
from beltrami.kernel_machines.features import SlowFeatures, check_explicit
from beltrami.kernel_machines.kernels import (
    Gram,
    check_precomputed,
    check_psd,
    kernel_function,
    typical_width,
)
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.kernel_machines.roughness import Roughness
from beltrami.learners.base import GraphLearner
from beltrami.learners.machines.deformations import Deformations, slow_features
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

APPROXIMATIONS = ("auto", "none", "nystrom", "features")

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

_LANDMARKS = 2000
_MOST_LANDMARKS = 5000
_EIGENFUNCTIONS = 100
_PSD_SAMPLE = 300


class LaplacianMachine(GraphLearner):
    """A kernel machine with a second penalty for roughness along the data."""

    kernel: Any
    gamma_a: Any
    gamma_i: Any
    width: Any
    degree: int
    coef0: float
    laplacian: str
    power: Any
    scale: str
    approximation: str
    n_landmarks: Any
    n_eigenfunctions: Any
    random_state: Seed

    _largest_strength = 10.0
    _twin: "LaplacianMachine | None" = None
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
    def _has_width(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "rbf"

    def _check_options(self) -> None:
        check_penalties(self.gamma_a, self.gamma_i)
        check_choice(self.approximation, APPROXIMATIONS, name="approximation")
        if not _is_auto(self.width, "width"):
            check_positive(self.width, name="width")
        if not _is_auto(self.power, "power"):
            check_count(self.power, name="power")
        if not _is_auto(self.n_landmarks, "n_landmarks"):
            check_count(self.n_landmarks, name="n_landmarks", minimum=2)
        if not _is_auto(self.n_eigenfunctions, "n_eigenfunctions"):
            check_count(self.n_eigenfunctions, name="n_eigenfunctions", minimum=0)
        kernel = kernel_function(self.kernel, width=1.0, degree=self.degree, coef0=self.coef0)
        if self.approximation == "features":
            check_explicit(kernel)

    def _prepare(self, labeled: Labeled) -> None:
        n = self.graph_.n_nodes
        self._typical_width = 1.0
        if self._has_width:
            is_given = self.width != "auto"
            self._typical_width = float(self.width) if is_given else typical_width(self.points_)
        method = self._chosen_method(n)
        is_large = method != "none" and n > _MOST_EXACT and not self._is_precomputed
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
        self._roughness(1 if self.power == "auto" else int(self.power))  # raises where it cannot be
        self._prepared_for = self._shared_options()
        twin = self._twin
        if twin and twin.graph_ is self.graph_ and twin._prepared_for == self._prepared_for:
            self._deformations = twin._deformations
            return
        self._deformations = Deformations(
            self._gram,
            self._roughness,
            method,
            self._drawn_landmarks(labeled),
            None if method == "none" else self._eigenfunctions(),
            self.random_state,
        )

    def _share_kernels(self, twin: "LaplacianMachine") -> None:
        """Take the kernels of a machine fitted on the same graph, where options are the same."""
        self._twin = twin

    def _shared_options(self) -> tuple[Any, ...]:
        """Return the options that kept kernels depend on."""
        names = ("degree", "coef0", "laplacian", "scale", "approximation")
        more = ("n_landmarks", "n_eigenfunctions")
        is_open = (self.width == "auto", self.gamma_i == "auto")
        return (id(self.kernel), *is_open, *(getattr(self, name) for name in names + more))

    def _chosen_method(self, n: int) -> str:
        if self.approximation != "auto":
            return self.approximation
        if n > _MOST_EXACT:
            return "nystrom"
        try:
            require_exact_memory(n, copies=EXACT_COPIES)
        except MemoryBudgetError:
            return "nystrom"
        return "none"

    def _drawn_landmarks(self, labeled: Labeled) -> IndexVector:
        """Return the landmarks: the labelled rows and random others."""
        n, count = self.graph_.n_nodes, self.n_landmarks
        if count == "auto":
            count = min(max(_LANDMARKS, 2 * len(labeled.rows)), _MOST_LANDMARKS)
        return spread_rows(n, labeled.rows, min(int(count), n), self.random_state)

    def _eigenfunctions(self) -> SlowFeatures | None:
        """Return the graph's slow functions, where landmarks are to be helped by them."""
        count, n = self.n_eigenfunctions, self.graph_.n_nodes
        if count == "auto":
            is_open = self.approximation == self.gamma_i == "auto" and n > _MOST_EXACT
            count = _EIGENFUNCTIONS if is_open and self.recipe_ is not None else 0
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
            min(int(count), n - 1),
            self._kernel_size,
            self.random_state,
            self._kernel_points.dtype,
        )

    def _gram(self, width: float) -> Gram:
        kernel = kernel_function(self.kernel, width=width, degree=self.degree, coef0=self.coef0)
        return Gram(kernel, self._kernel_points)

    def _light_points(self) -> Points:
        """Return many points in single precision, where that rounds far below the width."""
        values = self.points_.data if issparse(self.points_) else self.points_
        largest = float(np.abs(values).max(initial=0.0))
        is_far = self._has_width and largest > _FAR * self._typical_width
        return self.points_ if is_far else self.points_.astype(np.float32)

    def _roughness(self, power: int) -> Roughness:
        return Roughness.of(self.graph_, laplacian=self.laplacian, power=power, scale=self.scale)

    def _penalties(self, total: float, power: int) -> Penalties:
        size = self._roughness(power).typical
        largest = self._largest_strength
        return Penalties(self.gamma_a, self.gamma_i, total, self._kernel_size, size, largest)

    def _tuned(self, labeled: Labeled, *, intercept: bool) -> Deformation:
        """Choose what is to be chosen, remember it, and return the deformed kernel."""
        widths = self._widths()
        powers = self._powers()
        shape, total = Shape(widths[0], powers[0]), float(labeled.weights.sum())
        penalties = self._penalties(total, shape.power)
        self.choices_: tuple[Choice, ...] = ()
        self.held_out_loss_ = float("nan")
        has_choice = len(widths) > 1 or len(powers) > 1 or not penalties.are_fixed
        if has_choice and can_judge(labeled):
            shape, strengths = self._judged(labeled, widths, powers, intercept=intercept)
            penalties = self._penalties(total, shape.power)
        kernel = self._deformations.final(shape, has_one_ratio=penalties.has_one_ratio)
        if has_choice and not self.choices_:
            strengths = penalties.typical(kernel)
            self.choices_ = (typical_choice(shape, strengths, len(labeled.rows)),)
        elif not has_choice:
            strengths = next(penalties.candidates(kernel))
        self.width_, self.power_, self._strengths = shape.width, shape.power, strengths
        self._report_strengths(labeled)
        return kernel

    def _powers(self) -> tuple[int, ...]:
        if self.power != "auto":
            return (int(self.power),)
        return _POWERS if self._deformations.method == "none" else _NEAR_POWERS

    def _widths(self) -> tuple[float, ...]:
        if not self._has_width:
            return (1.0,)
        if self.width == "auto":
            return tuple(factor * self._typical_width for factor in _WIDTHS)
        return (float(self.width),)

    def _judged(
        self,
        labeled: Labeled,
        widths: tuple[float, ...],
        powers: tuple[int, ...],
        *,
        intercept: bool,
    ) -> tuple[Shape, Strengths]:
        """Choose power, width and strengths, one after the other, by leave-one-out."""
        tried: dict[Shape, Trial] = {}
        sample, total = labeled.sample(), float(labeled.weights.sum())
        first = widths[0]
        is_alone = len(widths) == len(powers) == 1

        def judge(shape: Shape) -> None:
            if shape not in tried:
                penalties = self._penalties(total, shape.power)
                made = self._deformations.final if is_alone else self._deformations.judge
                kernel = made(shape, has_one_ratio=penalties.has_one_ratio)
                tried[shape] = best_trial(kernel, sample, penalties, intercept=intercept)

        with track("choosing by leave-one-out", total=len(widths) + len(powers) - 1) as advance:
            for power in powers:
                judge(Shape(first, power))
                advance(1)
            best = min(tried, key=lambda shape: tried[shape].loss)
            for width in widths[1:]:
                judge(Shape(width, best.power))
                advance(1)
        best = min(tried, key=lambda shape: tried[shape].loss)
        trial = tried[best]
        if self._deformations.method != "none" and not is_alone:
            # The shape is settled, by few landmarks; the strengths are not.
            penalties = self._penalties(total, best.power)
            kernel = self._deformations.final(best, has_one_ratio=penalties.has_one_ratio)
            trial = best_trial(kernel, sample, penalties, intercept=intercept)
        self.held_out_loss_ = trial.loss
        honest = trial.honest if sample is labeled else None
        self.choices_ = (tuned_choice(tried, best, trial, honest, len(sample.rows)),)
        return best, trial.strengths

    def _report_strengths(self, labeled: Labeled) -> None:
        total = float(labeled.weights.sum())
        found = self._strengths
        self.gamma_a_ = found.ambient / total
        self.gamma_i_ = self.gamma_a_ * found.ratio
        self.lambda1_ = found.ambient
        self.lambda2_ = found.ambient * found.ratio * self._roughness(self.power_).factor

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
        self._expansion, self.intercept_ = self._machine(labeled)
        return np.asarray(self._expansion.of_fit + self.intercept_)

    def _block_size(self, labeled: Labeled) -> int:
        """Return the smaller side of what is decomposed for the labels."""
        is_exact = self._deformations.method == "none"
        return len(labeled.rows) if is_exact else len(self._deformations.landmarks)

    @abstractmethod
    def _machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
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


def _is_auto(value: Any, name: str) -> bool:
    """Say whether an option is left to us; texts other than "auto" are refused."""
    if isinstance(value, str):
        if value == "auto":
            return True
        raise InvalidInputError(f"{name}={value!r} is not known; give a number or 'auto'.")
    return False
