"""Laplacian regularised least squares: kernel ridge regression that knows the data's shape."""

from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, Points, Seed
from beltrami.kernel_machines.deformation import Deformation
from beltrami.kernel_machines.expansion import Expansion
from beltrami.learners.base import GraphRegressor, TemperedClassifier
from beltrami.learners.machines.machine import LaplacianMachine
from beltrami.learners.machines.tuning import Shape, held_out_scores, ridge_path
from beltrami.learners.model import Labeled, LeftOut


class _LaplacianRLS(LaplacianMachine):
    """What classifier and regressor share: ridge regression on the deformed kernel."""

    fit_intercept: bool

    def _machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        wanted, intercept = self._wanted(labeled), bool(self.fit_intercept)
        deformed = self._tuned(wanted, intercept=intercept)
        # An exact kernel has n squared entries and can be made again: it is not kept for good.
        self._drawn = None if self._deformations.method == "none" else deformed
        self._path = ridge_path(deformed, wanted, self._strengths.ratio, intercept=intercept)
        multipliers, intercepts = self._path.multipliers(wanted.targets, self._strengths.ambient)
        self._certify(deformed, wanted, intercept=intercept)
        expansion = deformed.expansion(wanted.rows, self._strengths.ratio, multipliers)
        return expansion, intercepts

    def _deformed(self) -> Deformation:
        """Return the deformed kernel of the fit."""
        if self._drawn is not None:
            return self._drawn
        penalties = self._penalties(float(self._labeled.weights.sum()), self.power_)
        shape = Shape(self.width_, self.power_)
        return self._deformations.final(shape, has_one_ratio=penalties.has_one_ratio)

    def _wanted(self, labeled: Labeled) -> Labeled:
        """Return the labels as they are fitted."""
        return labeled

    def _left_out(self) -> LeftOut:
        wanted = self._wanted(self._labeled)
        scores = held_out_scores(self._path, wanted, self._strengths.ambient)
        return LeftOut(wanted.rows, wanted.targets, scores, wanted.weights)


class LaplacianRLSClassifier(_LaplacianRLS, TemperedClassifier):
    r"""Classify by least squares in a kernel space, smooth in space and along the data.

    For each class against all others, with targets :math:`y_i = \pm 1` at l of n points,

    .. math:: \min_{f \in H_K} \frac{1}{\sum w} \sum_i w_i (y_i - f(x_i))^2
              + \gamma_A \lVert f \rVert_K^2 + \gamma_I \, s \, f^\top L^p f

    (LapRLS, [BelkinNiyogi04]_, eq. 5, with :math:`f^\top L f` for its double sum). The solution is
    :math:`\sum_j \alpha_j k(x_j, x)` over all points, labelled or not, so it is defined everywhere,
    and :math:`(J K + \lambda_1 I + \lambda_2 L^p K) \alpha = y` with
    :math:`\lambda_1 = \gamma_A l` and :math:`\lambda_2 = \gamma_I l s`; eq. 7 of the paper lacks
    the factors l. The authors' code takes these two numbers: for its ``lambda1`` and ``lambda2``
    give ``gamma_a = lambda1 / l`` and ``gamma_i = lambda2 * n**2 / l``.

    The paper's special cases: ``gamma_i=0`` is kernel ridge regression of the labels with
    ``alpha = lambda1``, a small ``gamma_a`` with it the hard margin; ``gamma_a=0`` carries graph
    regularisation to new points, and a small ``gamma_i`` with it label propagation.

    Cost: O(n^3) once up to 3000 points, whatever the labels; above, with m landmarks, O(n m^2) time
    and O(n + m^2) memory. The label-dependent part is O(l^3) on top.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "cosine", "precomputed"} or callable, default="rbf"
        k: ``exp(-d^2 / (2 width^2))``, ``x'y``, ``(x'y + coef0)^degree``, a kernel object of
        scikit-learn or a function of two sets of points. With "precomputed" X is k(x_i, x_j).
    gamma_a : float or "auto", default="auto"
        Ambient penalty; "auto" chooses by exact leave-one-out. Not scale-free: it goes with k.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    width : float or "auto", default="auto"
        Of "rbf"; "auto" tries half, once and twice the median distance over the root of two.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly"; the paper has 0.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``. The paper has
        ``KnnGraph(6, weights="binary")``.
    laplacian : {"random_walk", "combinatorial", "normalized"}, default="random_walk"
        What stands for :math:`L^p`: :math:`L (D^{-1} L)^{p-1}`, powers of D - W, which is the
        paper's for p = 1, or powers of the symmetric normalised one, which charges constants.
    power : int or "auto", default="auto"
        p; "auto" tries 1, 2 and, without landmarks, 4. Higher powers leave the slowest functions on
        the data free and forbid the others, which helps where classes are whole clusters. The paper
        has 1.
    scale : {"n2", "weights", "none"}, default="n2"
        s: one over n^2, over the sum of all weights, or one.
    approximation : {"auto", "none", "nystrom", "features"}, default="auto"
        Exact; features of landmarks; explicit features (random waves for "rbf", the coordinates for
        "linear" and "cosine"); or exact up to 3000 points and landmarks above.
    n_landmarks : int or "auto", default="auto"
        Landmarks, the labelled rows among them, or random features; "auto" is 2000, or twice the
        labels up to 5000. `fit_labels` keeps those of the fit.
    n_eigenfunctions : int or "auto", default="auto"
        Eigenfunctions of the graph added to the features, as if the kernel had them: landmarks
        alone cannot follow the data's shape. "auto" is 100 where ``approximation="auto"`` takes
        landmarks, ``gamma_i`` is "auto" too and the graph is a recipe, which can carry them to new
        points; and else none.
    fit_intercept : bool, default=False
        Whether to add a constant that is not penalised; the paper has none.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    random_state : int, Generator, RandomState or None, default=None
        Draws landmarks and random features.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Probabilities: softmax of the scores at the temperature that fits the leave-one-out scores.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    gamma_a_, gamma_i_, lambda1_, lambda2_ : float
        The penalties used, in both spellings.
    held_out_loss_ : float
        Leave-one-out loss of what was chosen, by which graphs can be compared; NaN where nothing
        was.
    width_, power_, temperature_ : float, int, float
        What was used.
    approximation_ : Approximation
        What stood for the kernel, and an estimate of the error.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianRLSClassifier, two_moons
    >>> moons = two_moons(200, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[::20] = moons.targets[::20]
    >>> learner = LaplacianRLSClassifier().fit(moons.points, y)
    >>> bool((learner.predict(moons.points) == moons.targets).mean() > 0.95)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma_a: float | str = "auto",
        gamma_i: float | str = "auto",
        width: float | str = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        graph: Any = None,
        laplacian: str = "random_walk",
        power: int | str = "auto",
        scale: str = "n2",
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        n_eigenfunctions: int | str = "auto",
        fit_intercept: bool = False,
        unlabeled: Any = "auto",
        classes: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.graph = graph
        self.laplacian = laplacian
        self.power = power
        self.scale = scale
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.n_eigenfunctions = n_eigenfunctions
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.classes = classes
        self.random_state = random_state

    def _wanted(self, labeled: Labeled) -> Labeled:
        return labeled.with_signs()

    def _machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        expansion, intercepts = super()._machine(labeled)
        held_out = held_out_scores(self._path, self._wanted(labeled), self._strengths.ambient)
        self._fit_temperature(held_out, labeled)
        return expansion, intercepts


class LaplacianRLSRegressor(_LaplacianRLS, GraphRegressor):
    r"""Fit values by least squares in a kernel space, smooth in space and along the data.

    .. math:: \min_{f \in H_K} \frac{1}{\sum w} \sum_i w_i (y_i - f(x_i) - b)^2
              + \gamma_A \lVert f \rVert_K^2 + \gamma_I \, s \, f^\top L^p f

    (LapRLS, [BelkinNiyogi04]_, eq. 5, with a constant b, since values are seldom centred). See
    `LaplacianRLSClassifier` for the solution, the authors' spelling of the penalties and the cost.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "cosine", "precomputed"} or callable, default="rbf"
        k, as in `LaplacianRLSClassifier`.
    gamma_a : float or "auto", default="auto"
        Ambient penalty; "auto" chooses by exact leave-one-out.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    width : float or "auto", default="auto"
        Of "rbf".
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    laplacian : {"random_walk", "combinatorial", "normalized"}, default="random_walk"
        What stands for :math:`L^p`.
    power : int or "auto", default="auto"
        p; "auto" tries 1, 2 and, without landmarks, 4.
    scale : {"n2", "weights", "none"}, default="n2"
        s: one over n^2, over the sum of all weights, or one.
    approximation : {"auto", "none", "nystrom", "features"}, default="auto"
        As in `LaplacianRLSClassifier`.
    n_landmarks : int or "auto", default="auto"
        Landmarks, the labelled rows among them, or random features.
    n_eigenfunctions : int or "auto", default="auto"
        Eigenfunctions of the graph added to the features, as in `LaplacianRLSClassifier`.
    fit_intercept : bool, default=True
        Whether there is a b.
    random_state : int, Generator, RandomState or None, default=None
        Draws landmarks and random features.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        The value of each row: the given one where there is one, NaN where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    gamma_a_, gamma_i_, lambda1_, lambda2_ : float
        The penalties used, in both spellings.
    held_out_loss_ : float
        Leave-one-out loss of what was chosen, by which graphs can be compared; NaN where nothing
        was.
    width_, power_ : float, int
        What was used.
    approximation_ : Approximation
        What stood for the kernel, and an estimate of the error.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianRLSRegressor, circle
    >>> ring = circle(200, random_state=0)
    >>> y = np.where(np.arange(200) < 20, ring.points[:, 0], np.nan)
    >>> learner = LaplacianRLSRegressor().fit(ring.points, y)
    >>> bool(np.abs(learner.transduction_ - ring.points[:, 0]).max() < 0.1)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma_a: float | str = "auto",
        gamma_i: float | str = "auto",
        width: float | str = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        graph: Any = None,
        laplacian: str = "random_walk",
        power: int | str = "auto",
        scale: str = "n2",
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        n_eigenfunctions: int | str = "auto",
        fit_intercept: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.graph = graph
        self.laplacian = laplacian
        self.power = power
        self.scale = scale
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.n_eigenfunctions = n_eigenfunctions
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        # Without label i the fit is that to the same labels with y_i moved by its residual.
        moved = np.diag(residuals)
        multipliers, intercepts = self._path.multipliers(moved, self._strengths.ambient)
        rows, ratio = self._labeled.rows, self._strengths.ratio
        return self._deformed().expansion(rows, ratio, multipliers).at(points) + intercepts
