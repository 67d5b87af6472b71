"""Laplacian support vector machines: the large margin on a kernel that knows the data's shape."""

from typing import Any

from beltrami.core.types import FloatVector, Seed
from beltrami.core.validation import check_positive
from beltrami.kernel_machines.expansion import Expansion
from beltrami.kernel_machines.hinge.dual import hinge_dual
from beltrami.kernel_machines.hinge.left_out import hinge_left_out
from beltrami.learners.base import TemperedClassifier
from beltrami.learners.machines.machine import LaplacianMachine
from beltrami.learners.machines.tuning import held_out_scores, ridge_path
from beltrami.learners.model import Labeled, LeftOut


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
    kernels, which costs no refit; see `LaplacianRLSClassifier` for what is done with one or two
    labels per class, for the authors' spelling of the penalties and for the cost.

    Parameters
    ----------
    kernel : str, RbfKernel, PolynomialKernel or callable, default="rbf"
        k, as in `LaplacianRLSClassifier`.
    gamma_a : float or "auto", default="auto"
        Ambient penalty.
    gamma_i : float or "auto", default="auto"
        Intrinsic penalty.
    smoothness : LaplacianPower or None, default=None
        Which power of which Laplacian, and s; None means ``LaplacianPower()``, which chooses the
        power. The paper has ``LaplacianPower(1, kind="combinatorial")``.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself, which is kept to; None chooses the number of
        neighbours, as in `LaplacianRLSClassifier`. The paper has
        ``KnnGraph(6, weights="binary")``.
    approximation : str, NystromApproximation or FeatureApproximation, default="auto"
        "auto", "none", "nystrom", "features" or an object, as in `LaplacianRLSClassifier`.
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
        smoothness: Any = None,
        graph: Any = None,
        approximation: Any = "auto",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-7,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.smoothness = smoothness
        self.graph = graph
        self.approximation = approximation
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol
        self.random_state = random_state

    _largest_strength = 0.1
    _has_intercept = True

    def _check_options(self) -> None:
        super()._check_options()
        check_positive(self.tol, name="tol")

    def _block_size(self, labeled: Labeled) -> int:
        return len(labeled.rows)

    def _fit_machine(self, labeled: Labeled) -> tuple[Expansion, FloatVector]:
        signs = self._labels_to_fit(labeled)
        deformed = self._tune(signs)
        ratio, ambient = self._strengths.ratio, self._strengths.ambient
        self._block = deformed.block(signs.rows, ratio)
        fit = hinge_dual(self._block, signs.targets, ambient, signs.weights, tol=self.tol)
        self._hinge_fit = fit
        self.n_support_ = (fit.multipliers != 0).sum(axis=0)
        self._certify(deformed, signs)
        path = ridge_path(deformed, signs, ratio, intercept=True)
        self._fit_temperature(held_out_scores(path, signs, ambient), labeled)
        return deformed.expansion(signs.rows, ratio, fit.multipliers), fit.intercepts

    def _left_out(self) -> LeftOut:
        signs, ambient = self._labeled.with_signs(), self._strengths.ambient
        scores = hinge_left_out(
            self._block, signs.targets, ambient, signs.weights, self._hinge_fit, tol=self.tol
        )
        return LeftOut(signs.rows, signs.targets, scores, signs.weights)
