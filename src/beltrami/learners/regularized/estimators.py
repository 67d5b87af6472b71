"""Graph-regularised learners: the smoothest function on the data near or through the labels."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, Points
from beltrami.graph.fitting import attach_to_fit
from beltrami.learners.base import GraphClassifier, GraphLearner, GraphRegressor
from beltrami.learners.leave_one_out import can_leave_one_out, held_out_loss, honest_residuals
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.learners.parameters import check_gamma, checked_shares
from beltrami.learners.regularized.label_kernel import KernelFit
from beltrami.learners.regularized.smoother import Smoother, smooth_values

_STRENGTHS = np.concatenate([[0.0], np.geomspace(1e-6, 1e2, 25)])
"""Penalties tried, over the median eigenvalue of the labels' kernel."""


class _GraphRegularizedLearner(GraphLearner):
    """What classifier and regressor share: the smoother, the strength, leaving one out."""

    gamma: Any
    smoothness: Any
    tol: float

    def _prepare(self, labeled: Labeled) -> None:  # noqa: ARG002
        self._smoother = Smoother.of(self._foundation, self.smoothness, tol=self.tol)

    def _solve(self, labeled: Labeled) -> FloatMatrix:
        """Return the minimiser at all nodes; choose gamma first where that was asked."""
        check_gamma(self.gamma)
        self.choices_: tuple[Choice, ...] = ()
        self._kernel_fit: KernelFit | None = None
        if isinstance(self.gamma, str):
            self.gamma_, choice = self._choose_gamma(labeled)
            self.choices_ = (choice,)
        else:
            self.gamma_ = float(self.gamma)
        keeps_columns = self._foundation.keeps_columns(len(labeled.rows))
        if self._smoother.is_laplacian and not keeps_columns:
            return smooth_values(self._smoother, labeled, self.gamma_)
        fit = self._fitted_kernel(labeled)
        return fit.values(labeled.targets, self.gamma_ * float(labeled.weights.sum()))

    def _keep_choices(self) -> None:
        self.gamma = self.gamma_

    def _fitted_kernel(self, labeled: Labeled) -> KernelFit:
        if self._kernel_fit is None or self._kernel_fit.labeled is not labeled:
            self._kernel_fit = KernelFit.of(self._smoother, labeled)
        return self._kernel_fit

    def _sample(self, labeled: Labeled) -> Labeled:
        """Return the labels to leave out: where a sample was solved for already, that one."""
        kept = self._kernel_fit.labeled if self._kernel_fit is not None else labeled
        return labeled.sample() if kept is labeled else kept

    def _choose_gamma(self, labeled: Labeled) -> tuple[float, Choice]:
        sample = self._sample(labeled)
        fit, total = self._fitted_kernel(sample), float(sample.weights.sum())
        positive = fit.kernel.values[fit.kernel.inverse(0.0) > 0]
        middle = float(np.median(positive)) if positive.size else 1.0
        gammas = _STRENGTHS * middle / total
        if not can_leave_one_out(sample):
            reason = "gamma = 0: with so few labels leave-one-out cannot judge"
            return 0.0, Choice("gamma", 0.0, gammas, np.zeros(0), reason)
        held_out = [self._held_out(fit, gamma * total) for gamma in gammas]
        losses = np.array([held_out_loss(predictions, sample) for predictions in held_out])
        best = int(np.argmin(losses))
        reason = (
            f"gamma = {gammas[best]:.3g} has the lowest leave-one-out loss ({losses[best]:.3g}) "
            f"of {len(gammas)}, 0 to {gammas[-1]:.3g}, on {len(sample.rows)} labels"
        )
        honest = None
        if sample.targets.shape[1] == 1 and sample is labeled:
            honest = honest_residuals((sample.targets - np.stack(held_out))[:, :, 0], sample)
        # The strength that was judged is gamma times the sum of weights: it is what is kept.
        chosen = float(gammas[best]) * total / float(labeled.weights.sum())
        return chosen, Choice("gamma", chosen, gammas, losses, reason, honest)

    def _held_out(self, fit: KernelFit, alpha: float) -> FloatMatrix:
        return fit.held_out(alpha)

    def _choices(self) -> tuple[Choice, ...]:
        return self.choices_

    def _left_out(self) -> LeftOut:
        sample = self._sample(self._labeled)
        fit = self._fitted_kernel(sample)
        scores = self._held_out(fit, self.gamma_ * float(self._labeled.weights.sum()))
        return LeftOut(sample.rows, sample.targets, scores, sample.weights)


class GraphRegularizedClassifier(_GraphRegularizedLearner, GraphClassifier):
    r"""Spread labels by the smoothest functions on the graph.

    For each class, with targets :math:`y_i` one at its labels and zero at the others,

    .. math:: \min_f \frac{1}{\sum w} \sum_i w_i (f_i - y_i)^2 + \gamma f^\top S f
              \quad (\gamma > 0), \qquad
              \min_f f^\top S f \;\text{ with } f_i = y_i \quad (\gamma = 0),

    Tikhonov and interpolated regularisation ([Belkin03]_, sec. 3.7.1, with the sign of its
    solution put right). For S = L and gamma = 0, f is the harmonic function: f_i is the chance that
    a random walk from i meets a label of the class first [ZhuGhahramani03]_. Solved on each
    component of the graph by itself; a component without a label is reported, not labelled. For
    exp(tL), which charges constants too, the mean of each component's labels is taken off first.

    With one or two labels per class on a large graph harmonic functions are nearly constant, and
    the largest constant wins everywhere. ``class_mass="equal"``, the default, divides each class's
    function by its mean, so that what counts is where it is high, not how high.

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    gamma : float or "auto", default=0.0
        0 goes through the labels; more trusts them less; "auto" chooses by leave-one-out, exact
        but for the class masses, which are those with all labels; of more than 1000 labels by a
        sample.
    smoothness : "laplacian", ("iterated", q) or ("heat", t), default="laplacian"
        S = L, L^q, or exp(tL). The latter two solve for each label, not only for each class.
    class_mass : {"equal", "labels", None} or array-like of shape (k,), default="equal"
        Total that each class's function is scaled to: equal for all, the shares among the labels,
        your own, or None for no scaling, as in the thesis.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    tol : float, default=1e-6
        Of the linear solver, in the energy norm.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        The functions, scaled to sum to one at each row.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    values_ : ndarray of shape (n, k)
        The functions f before any scaling.
    gamma_ : float
        What was used.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import GraphRegularizedClassifier, two_moons
    >>> moons = two_moons(300, random_state=0)
    >>> names = np.array(["upper", "lower"])[moons.targets]
    >>> y = np.where(np.arange(300) % 50 == 0, names, "")
    >>> learner = GraphRegularizedClassifier().fit(moons.points, y)
    >>> bool((learner.transduction_ == names).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        graph: Any = None,
        gamma: float | str = 0.0,
        smoothness: Any = "laplacian",
        class_mass: Any = "equal",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-6,
    ) -> None:
        self.graph = graph
        self.gamma = gamma
        self.smoothness = smoothness
        self.class_mass = class_mass
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol

    _temperature: float | None = None  # no softmax: the scores are shares, but for their sum

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        self._masses = _class_masses(self.class_mass, labeled)
        self.values_ = self._solve(labeled)
        if self._masses is None:
            return self.values_
        positive = np.maximum(self.values_, 0.0)
        means = positive[self.reached_].mean(axis=0)
        return np.asarray(positive * _scale(means, self._masses))

    def _held_out(self, fit: KernelFit, alpha: float) -> FloatMatrix:
        predictions = fit.held_out(alpha)
        if self._masses is None:
            return predictions
        multipliers, constants = fit.parts(fit.labeled.targets, alpha)
        sizes = fit.spread.sum(axis=0)
        means = (fit.columns.sum(axis=0) @ multipliers + sizes @ constants) / sizes.sum()
        return np.asarray(np.maximum(predictions, 0.0) * _scale(means, self._masses))


class GraphRegularizedRegressor(_GraphRegularizedLearner, GraphRegressor):
    r"""Fit the smoothest function on the graph near or through some values.

    .. math:: \min_f \frac{1}{\sum w} \sum_i w_i (f_i - y_i)^2 + \gamma f^\top S f
              \quad (\gamma > 0), \qquad
              \min_f f^\top S f \;\text{ with } f_i = y_i \quad (\gamma = 0)

    Tikhonov and interpolated regularisation ([Belkin03]_, sec. 3.7.1, with the sign of its solution
    put right). On manifolds of two and more dimensions S = L leaves spikes at few labels: values at
    points are held only by L^q with q above half the dimension, so ``smoothness=("iterated", 2)``
    serves up to three. For exp(tL), which charges constants too, the mean of each component's
    labels is taken off first.

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    gamma : float or "auto", default=0.0
        0 goes through the labels; more trusts them less; "auto" chooses by exact leave-one-out.
    smoothness : "laplacian", ("iterated", q) or ("heat", t), default="laplacian"
        S = L, L^q, or exp(tL).
    tol : float, default=1e-6
        Of the linear solver, in the energy norm.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        The value of each row: the given one where there is one, NaN where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    gamma_ : float
        What was used.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import GraphRegularizedRegressor, circle
    >>> ring = circle(200, random_state=0)
    >>> y = np.where(np.arange(200) < 20, ring.points[:, 0], np.nan)
    >>> learner = GraphRegularizedRegressor(smoothness=("iterated", 2)).fit(ring.points, y)
    >>> bool(np.abs(learner.transduction_ - ring.points[:, 0]).max() < 0.1)
    True
    """

    def __init__(
        self,
        *,
        graph: Any = None,
        gamma: float | str = 0.0,
        smoothness: Any = "laplacian",
        tol: float = 1e-6,
    ) -> None:
        self.graph = graph
        self.gamma = gamma
        self.smoothness = smoothness
        self.tol = tol

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        return self._solve(labeled)

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        fit = self._fitted_kernel(self._labeled)
        shifts = fit.shifts(residuals, self.gamma_ * float(self._labeled.weights.sum()))
        return self._carry(attach_to_fit(self, points), shifts)[0]

    def _residuals(self) -> FloatVector:
        fit = self._fitted_kernel(self._labeled)
        predictions = fit.held_out(self.gamma_ * float(self._labeled.weights.sum()))
        return np.asarray(self._labeled.targets - predictions)[:, 0]


def _class_masses(class_mass: Any, labeled: Labeled) -> FloatVector | None:
    """Return the shares that the classes' totals are scaled to, or None."""
    if class_mass is None:
        return None
    n_classes = labeled.targets.shape[1]
    if isinstance(class_mass, str):
        if class_mass == "equal":
            return np.full(n_classes, 1 / n_classes)
        if class_mass == "labels":
            return labeled.mean
        raise InvalidInputError(
            f"class_mass={class_mass!r} is not known; choose 'equal', 'labels', None, or give one "
            "positive number per class."
        )
    return checked_shares(class_mass, n_classes, name="class_mass")


def _scale(means: FloatVector, masses: FloatVector) -> FloatVector:
    floor = 1e-9 * float(np.abs(means).max(initial=0.0)) + 1e-300
    return np.asarray(masses / np.maximum(means, floor))
