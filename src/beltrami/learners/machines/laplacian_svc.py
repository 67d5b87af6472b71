"""Laplacian support vector machines: the large margin on a kernel that knows the data's shape."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatVector, Seed
from beltrami.core.validation import check_choice, check_positive
from beltrami.kernel_machines.deformation import require_exact_memory
from beltrami.kernel_machines.expansion import Expansion, KernelExpansion
from beltrami.kernel_machines.hinge.dual import hinge_dual, hinge_left_out
from beltrami.kernel_machines.hinge.gradients import squared_hinge_cg
from beltrami.kernel_machines.hinge.newton import squared_hinge_left_out, squared_hinge_newton
from beltrami.learners.base import TemperedClassifier
from beltrami.learners.machines.deformations import Approximation
from beltrami.learners.machines.machine import LaplacianMachine
from beltrami.learners.machines.tuning import held_out_scores, ridge_path
from beltrami.learners.model import Labeled, LeftOut

_SOLVERS = ("auto", "dual", "newton", "cg")
_LOSSES = ("hinge", "squared_hinge")


class LaplacianSVC(LaplacianMachine, TemperedClassifier):
    r"""Classify by a large margin in a kernel space, smooth in space and along the data.

    For each class against all others, with :math:`y_i = \pm 1` at l of n points,

    .. math:: \min_{f \in H_K, b} \frac{1}{\sum w} \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))
              + \gamma_A \lVert f \rVert_K^2 + \gamma_I \, s \, f^\top L^p f

    (LapSVM, [BelkinNiyogi04]_, eqs. 5, 8 and 9). On the kernel deformed by the second and third
    term it is an ordinary support vector machine of the labelled rows with
    :math:`C = 1 / (2 \gamma_A l)`, solved by libsvm; one factorisation serves all classes. The
    constant b is not penalised and follows from the optimality conditions, also where no support
    vector is free. With ``gamma_i=0`` this is ``SVC``.

    "auto" chooses the penalties by exact leave-one-out of the squared loss on the same deformed
    kernels, which costs no refit; see `LaplacianRLSClassifier` for the authors' spelling of the
    penalties and for the cost.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "cosine", "precomputed"} or callable, default="rbf"
        k, as in `LaplacianRLSClassifier`.
    gamma_a : float or "auto", default="auto"
        Ambient penalty.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    width : float or "auto", default="auto"
        Of "rbf".
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
        p; "auto" tries 1, 2 and, without landmarks, 4. The paper has 1.
    scale : {"n2", "weights", "none"}, default="n2"
        s: one over n^2, over the sum of all weights, or one.
    approximation : {"auto", "none", "nystrom", "features"}, default="auto"
        As in `LaplacianRLSClassifier`.
    n_landmarks : int or "auto", default="auto"
        Landmarks, the labelled rows among them, or random features.
    n_eigenfunctions : int or "auto", default="auto"
        Eigenfunctions of the graph added to the features, as in `LaplacianRLSClassifier`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The squared hinge has a smooth objective and more support vectors.
    solver : {"auto", "dual", "newton", "cg"}, default="auto"
        "dual" for the hinge; for its square Newton's method on the deformed kernel, or conjugate
        gradients on all points without any factorisation, stopped when decisions no longer change
        [MelacciBelkin11]_. The latter is exact in K, takes numbers for the penalties, takes "auto"
        for width and power to mean half the typical width and 1, and needs n^2 numbers in memory.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    tol : float, default=1e-7
        Largest violation of the optimality conditions of the hinge.
    random_state : int, Generator, RandomState or None, default=None
        Draws landmarks and random features.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Probabilities: softmax of the scores at the temperature that fits the leave-one-out scores
        of the squared loss.
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
    intercept_ : ndarray of shape (k,)
        b of each class.
    n_support_ : ndarray of shape (k,)
        Labelled rows that hold up each class's margin.
    approximation_ : Approximation
        What stood for the kernel, and an estimate of the error.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianSVC, two_moons
    >>> moons = two_moons(200, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[[0, 199]] = moons.targets[[0, 199]]
    >>> learner = LaplacianSVC().fit(moons.points, y)
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
        loss: str = "hinge",
        solver: str = "auto",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-7,
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
        self.loss = loss
        self.solver = solver
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol
        self.random_state = random_state

    _largest_strength = 0.1

    def _check_options(self) -> None:
        super()._check_options()
        check_positive(self.tol, name="tol")
        check_choice(self.loss, _LOSSES, name="loss")
        solver = check_choice(self.solver, _SOLVERS, name="solver")
        allowed = ("auto", "dual") if self.loss == "hinge" else ("auto", "newton", "cg")
        if solver not in allowed:
            raise InvalidInputError(
                f"solver={solver!r} does not serve loss={self.loss!r}; choose one of "
                f"{', '.join(map(repr, allowed))}."
            )
        if solver == "cg":
            self._check_conjugate()

    def _check_conjugate(self) -> None:
        automatic = [name for name in ("gamma_a", "gamma_i") if getattr(self, name) == "auto"]
        if automatic or self.gamma_a == 0:
            raise InvalidInputError(
                "solver='cg' factors nothing, so it cannot choose by leave-one-out and needs "
                f"gamma_a > 0; give numbers for {', '.join(automatic) or 'gamma_a'}, or take "
                "solver='newton'."
            )
        if self.approximation not in ("auto", "none"):
            raise InvalidInputError(
                f"solver='cg' works on the kernel itself, not on approximation="
                f"{self.approximation!r}; take solver='newton' with it."
            )

    def _chosen_method(self, n: int) -> str:
        if self.solver == "cg":
            require_exact_memory(n, copies=2)
            return "none"
        return super()._chosen_method(n)

    def _block_size(self, labeled: Labeled) -> int:
        return len(labeled.rows)

    def _machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        if self.solver == "cg":
            return self._conjugate(labeled)
        signs = labeled.with_signs()
        deformed = self._tuned(signs, intercept=True)
        ratio, ambient = self._strengths.ratio, self._strengths.ambient
        self._block = deformed.block(signs.rows, ratio)
        if self.loss == "hinge":
            fit = hinge_dual(self._block, signs.targets, ambient, signs.weights, tol=self.tol)
        else:
            fit = squared_hinge_newton(self._block, signs.targets, ambient, signs.weights)
        self._hinge_fit = fit
        self.n_support_ = (fit.multipliers != 0).sum(axis=0)
        self._certify(deformed, signs, intercept=True)
        path = ridge_path(deformed, signs, ratio, intercept=True)
        self._fit_temperature(held_out_scores(path, signs, ambient), labeled)
        return deformed.expansion(signs.rows, ratio, fit.multipliers), fit.intercepts

    def _conjugate(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        signs, total = labeled.with_signs(), float(labeled.weights.sum())
        self.width_, self.power_ = self._widths()[0], 1
        if self.power != "auto":
            self.power_ = int(self.power)
        self._strengths = self._penalties(total, self.power_).with_ambient(
            float(self.gamma_a) * total
        )
        self._report_strengths(labeled)
        self.choices_, self.held_out_loss_ = (), float("nan")
        gram, roughness = self._gram(self.width_), self._roughness(self.power_)
        kernel, ambient = gram.whole(), self._strengths.ambient
        fit = squared_hinge_cg(
            kernel,
            roughness.apply,
            signs.rows,
            signs.targets,
            ambient,
            ambient * self._strengths.ratio,
            signs.weights,
        )
        self.n_iter_ = fit.iterations
        self.approximation_ = Approximation("none")
        expansion = KernelExpansion(gram, fit.coefficients, kernel @ fit.coefficients)
        self._fit_temperature((expansion.of_fit + fit.intercepts)[signs.rows], labeled)
        return expansion, fit.intercepts

    def _left_out(self) -> LeftOut:
        if self.solver == "cg":
            raise InvalidInputError(
                "solver='cg' keeps no factorisation to leave labels out with; fit with "
                "solver='newton' to diagnose."
            )
        signs, ambient = self._labeled.with_signs(), self._strengths.ambient
        given = (self._block, signs.targets, ambient, signs.weights, self._hinge_fit)
        if self.loss == "hinge":
            scores = hinge_left_out(*given, tol=self.tol)
        else:
            scores = squared_hinge_left_out(*given)
        return LeftOut(signs.rows, signs.targets, np.asarray(scores), signs.weights)
