"""What the Laplacian machines share: a kernel, a roughness, and the kernel these two make.

Points, a graph and labels enter; the deformed kernel of the labelled rows, chosen by leave-one-out
where that was asked, leaves. Which loss is laid on it is for the subclasses.
"""

import copy
import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.graph.fitting import fitted_graph, recipe_of
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
from beltrami.kernel_machines.kernels import RbfKernel, resolve_kernel, tried_widths
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.kernel_machines.roughness import LaplacianPower, Roughness, resolve_smoothness
from beltrami.learners.base import GraphLearner
from beltrami.learners.foundation import Foundation
from beltrami.learners.machines.deformations import Deformations, slow_features
from beltrami.learners.machines.graph_choice import (
    can_choose,
    choose_graph,
    judging_labels,
    recipes_to_try,
)
from beltrami.learners.machines.parameters import ComposedParameters
from beltrami.learners.machines.selection import Options, Selection, select
from beltrami.learners.machines.tuning import Penalties, Shape, Strengths, check_penalties
from beltrami.learners.model import Choice, Labeled
from beltrami.operators.comparison import check_comparable

_POWERS = (2, 1, 4)
"""Powers tried; the first serves where nothing can judge."""

_NEAR_POWERS = (2, 1)
"""The same where features are summed in blocks, which 4 couples to neighbours of neighbours."""

_MOST_EXACT = 3000
"""Points up to which "auto" is exact, and the graph is chosen."""

_SCOUTS = 500
"""Landmarks by which graphs are compared, where points are more."""

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
    _kept: tuple[Shape, Strengths] | None = None
    _graph_choices: tuple[Choice, ...] = ()
    _deformations: Deformations

    def _settled_graph(self, points: Points, labeled: Labeled) -> tuple[Graph, Any]:
        """Return the graph of the points; where none was asked for, the best of several."""
        self._graph_choices = ()
        self._check_options()
        n = points.shape[0]
        recipes = recipes_to_try(n)
        is_idle = not isinstance(self.gamma_i, str) and self.gamma_i == 0
        is_given = self.graph is not None or is_idle or n > _MOST_EXACT or len(recipes) == 1
        labels = judging_labels(self._labels_to_fit(labeled))
        if is_given or not can_choose(labels):
            return self._built_graph(points)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of graphs that may not be taken
            graphs = [self._graph_by(recipe, points)[0] for recipe in recipes]
            scouts = [self._scout(points, graph, labels) for graph in graphs]
            best, choice = choose_graph(recipes, graphs, scouts, labels)
        self._graph_choices = (choice,)
        return self._graph_by(recipes[best], points)

    def _scout(self, points: Points, graph: Graph, labels: Labeled) -> Options:
        """Return what is open on a graph, with kernels that are good enough to compare graphs."""
        scout = copy.copy(self)
        is_small = points.shape[0] <= _SCOUTS
        scout.approximation = "auto" if is_small else NystromApproximation(_SCOUTS)
        scout.random_state = 0
        scout._rest_on(points, Foundation(graph), None)
        scout._prepare(labels)
        return scout._options(labels, scout._powers(None))

    def _built_graph(self, points: Points) -> tuple[Graph, Any]:
        self._check_options()
        return self._graph_by(self._recipe(), points)

    def _graph_by(self, asked: Any, points: Points) -> tuple[Graph, Any]:
        """Return the graph that a recipe makes, or that was given, and the recipe."""
        recipe = recipe_of(asked)
        if not self._is_precomputed:
            if getattr(recipe, "metric", None) == "precomputed":
                raise InvalidInputError(
                    "the graph takes X for distances and the kernel takes it for points. For "
                    "distances d give kernel='precomputed' and X = exp(-d**2 / (2 * width**2)), "
                    "say; for points another metric of the graph."
                )
            check_comparable(points, "euclidean")
            return fitted_graph(asked, points)
        check_precomputed(points)
        if recipe is None:
            return fitted_graph(asked, points)
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
        n = self.graph_.n_nodes
        if self._width == "auto":
            self._tried_widths = tried_widths(self.points_)
        approximation = self._choose_approximation(n)
        is_large = approximation is not None and n > _MOST_EXACT and not self._is_precomputed
        self._kernel_points = self._light_points() if is_large else self.points_
        gram = Gram(resolve_kernel(self.kernel, width=self._widths()[0]), self._kernel_points)
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
        self._deformations = Deformations(
            self.kernel,
            self._kernel_points,
            self._smoothness,
            self.graph_,
            approximation,
            self._draw_landmarks(labeled, approximation),
            self._eigenfunctions(approximation),
            self.random_state,
        )

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

    def _light_points(self) -> Points:
        """Return many points in single precision, where that rounds far below the width."""
        values = self.points_.data if issparse(self.points_) else self.points_
        largest = float(np.abs(values).max(initial=0.0))
        is_far = self._width is not None and largest > _FAR * self._widths()[0]
        return self.points_ if is_far else self.points_.astype(np.float32)

    def _roughness(self, power: int) -> Roughness:
        return self._smoothness.on(self.graph_, power)

    def _penalties(self, total: float, power: int) -> Penalties:
        size = self._roughness(power).typical
        largest = self._largest_strength
        return Penalties(self.gamma_a, self.gamma_i, total, self._kernel_size, size, largest)

    def _options(self, labeled: Labeled, powers: tuple[int, ...]) -> Options:
        """Return what is open to choice by labels, as they are fitted."""
        total = float(labeled.weights.sum())

        def penalties_of(power: int) -> Penalties:
            return self._penalties(total, power)

        return Options(
            self._widths(), powers, self._deformations, penalties_of, self._has_intercept
        )

    def _tune(self, labeled: Labeled) -> Deformation:
        """Choose what is to be chosen, remember it, and return the deformed kernel."""
        options = self._options(labeled, self._powers(self._deformations.approximation))
        if self._kept is not None:
            selection = Selection(*self._kept)
        else:
            # One of several learners on a graph is to be quick: it cuts nothing.
            graph = None if self._foundation.is_shared else self.graph_
            selection = select(options, labeled, graph)
        shape = selection.shape
        self.choices_, self.held_out_loss_ = selection.choices, selection.loss
        self.width_, self.power_, self._strengths = shape.width, shape.power, selection.strengths
        self._report_strengths(labeled)
        return options.final(shape, options.penalties_of(shape.power))

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
        return self._tried_widths if width == "auto" else (float(width),)

    def _report_strengths(self, labeled: Labeled) -> None:
        total = float(labeled.weights.sum())
        ambient, ratio = self._strengths.ambient, self._strengths.ratio
        self.gamma_a_ = ambient / total
        self.gamma_i_ = self.gamma_a_ * ratio
        self.lambda1_ = ambient
        self.lambda2_ = ambient * ratio * self._roughness(self.power_).factor

    def _certify(self, deformed: Deformation, labeled: Labeled) -> None:
        shape = Shape(self.width_, self.power_)
        self.approximation_ = self._deformations.certificate(
            shape, deformed, labeled, self._strengths, intercept=self._has_intercept
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

    def _labels_to_fit(self, labeled: Labeled) -> Labeled:
        """Return the labels as they are fitted: classes as signs."""
        return labeled.with_signs()

    @property
    @abstractmethod
    def _has_intercept(self) -> bool:
        """Whether the machine has a constant."""

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
        return self._graph_choices + self.choices_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is_precomputed:
            tags.input_tags.pairwise = True
            tags.input_tags.sparse = False
        return tags
