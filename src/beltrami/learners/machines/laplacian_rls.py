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

    def _fit_machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        labels = self._labels_to_fit(labeled)
        deformed = self._tune(labels)
        ratio = self._strengths.ratio
        self._path = ridge_path(deformed, labels, ratio, intercept=self._has_intercept)
        multipliers, intercepts = self._path.multipliers(labels.targets, self._strengths.ambient)
        self._certify(deformed, labels)
        expansion = deformed.expansion(labels.rows, ratio, multipliers)
        self._keep_kernel(deformed)
        return expansion, intercepts

    def _keep_kernel(self, deformed: Deformation) -> None:
        """Keep the kernel of the fit, where it is needed later; by default it is not."""

    @property
    def _has_intercept(self) -> bool:
        return bool(self.fit_intercept)

    def _left_out(self) -> LeftOut:
        labels = self._labels_to_fit(self._labeled)
        scores = held_out_scores(self._path, labels, self._strengths.ambient)
        return LeftOut(labels.rows, labels.targets, scores, labels.weights)


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

    Up to two labels per class leave-one-out cannot judge: power and graph are then those whose
    answer has the lowest normalised cut, the width is the narrowest of those tried, and
    ``gamma_i / gamma_a`` in units of kernel and Laplacian is 100 to the power.

    Cost: O(n^3) once up to 3000 points, whatever the labels; above, with m landmarks, O(n m^2) time
    and O(n + m^2) memory. The label-dependent part is O(l^3) on top.

    Parameters
    ----------
    kernel : str, RbfKernel, PolynomialKernel or callable, default="rbf"
        k: "rbf", ``exp(-d^2 / (2 width^2))`` with a width that is chosen too; "poly",
        ``(x'y + 1)^3``; "linear", ``x'y``; "cosine"; `RbfKernel` and `PolynomialKernel` with
        parameters of your own; a kernel object of scikit-learn; or a function of two sets of
        points. With "precomputed" X is k(x_i, x_j).
    gamma_a : float or "auto", default="auto"
        Ambient penalty; "auto" chooses by exact leave-one-out. Not scale-free: it goes with k.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    smoothness : LaplacianPower or None, default=None
        Which power of which Laplacian, and s; None means ``LaplacianPower()``, which chooses the
        power. The paper has ``LaplacianPower(1, kind="combinatorial")``.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself, which is kept to. None chooses between
        ``KnnGraph(k)`` for k of 6, 10, 20 and 50, up to a quarter of the points, by leave-one-out
        and the normalised cut of the answer; above 3000 points it means ``KnnGraph()``. The paper
        has ``KnnGraph(6, weights="binary")``.
    approximation : str, NystromApproximation or FeatureApproximation, default="auto"
        "none" is exact; "nystrom" lets landmarks stand for the points; "features" takes explicit
        features (random waves for "rbf", the coordinates for "linear" and "cosine"); "auto" is
        exact up to 3000 points and takes landmarks above, with 100 eigenfunctions of the graph
        where ``gamma_i`` is "auto" too and the graph is a recipe. The objects say how many.
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
        smoothness: Any = None,
        graph: Any = None,
        approximation: Any = "auto",
        fit_intercept: bool = False,
        unlabeled: Any = "auto",
        classes: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.smoothness = smoothness
        self.graph = graph
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.classes = classes
        self.random_state = random_state

    def _fit_machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        expansion, intercepts = super()._fit_machine(labeled)
        labels = self._labels_to_fit(labeled)
        held_out = held_out_scores(self._path, labels, self._strengths.ambient)
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
    kernel : str, RbfKernel, PolynomialKernel or callable, default="rbf"
        k, as in `LaplacianRLSClassifier`.
    gamma_a : float or "auto", default="auto"
        Ambient penalty; "auto" chooses by exact leave-one-out.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    smoothness : LaplacianPower or None, default=None
        Which power of which Laplacian, and s; None means ``LaplacianPower()``.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None chooses the number of neighbours by
        leave-one-out, as in `LaplacianRLSClassifier`.
    approximation : str, NystromApproximation or FeatureApproximation, default="auto"
        "auto", "none", "nystrom", "features" or an object, as in `LaplacianRLSClassifier`.
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
        smoothness: Any = None,
        graph: Any = None,
        approximation: Any = "auto",
        fit_intercept: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.smoothness = smoothness
        self.graph = graph
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _labels_to_fit(self, labeled: Labeled) -> Labeled:
        return labeled

    def _keep_kernel(self, deformed: Deformation) -> None:
        # An exact kernel has n squared entries and can be made again: it is not kept for good.
        self._kept_kernel = None if self._deformations.is_exact else deformed

    def _deformed_kernel(self) -> Deformation:
        """Return the deformed kernel of the fit."""
        if self._kept_kernel is not None:
            return self._kept_kernel
        penalties = self._penalties(float(self._labeled.weights.sum()), self.power_)
        shape = Shape(self.width_, self.power_)
        return self._deformations.final(shape, has_one_ratio=penalties.has_one_ratio)

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        # Without label i the fit is that to the same labels with y_i moved by its residual.
        moved = np.diag(residuals)
        multipliers, intercepts = self._path.multipliers(moved, self._strengths.ambient)
        rows, ratio = self._labeled.rows, self._strengths.ratio
        return self._deformed_kernel().expansion(rows, ratio, multipliers).at(points) + intercepts
