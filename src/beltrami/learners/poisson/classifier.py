"""Poisson learning: labels are sources and sinks of a flow, for one or two labels per class."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.base import GraphClassifier, softmax
from beltrami.learners.foundation import Foundation
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.learners.parameters import checked_shares
from beltrami.learners.poisson.threshold_steps import Refinement, Walk, matched_offsets
from beltrami.learners.regularized.smoother import Smoother
from beltrami.solvers.linear import solve

_WHOLE, _HALF = 1.0, 0.5
_WORTH = 0.8
"""Given class sizes are followed only where the cut falls below this share of what it was."""
_TRIFLE = 1e-9
"""Share of the largest flow that decides where nothing flows."""
_MOST_SOURCE = 1e30
"""Where hardly any weight ties a label to the rest: sums of such sources stay within float32."""
_NEARLY_ALL = 0.9999
"""Share of one class in the weight of a component's labels above which the rest is summed apart."""


class PoissonClassifier(GraphClassifier):
    r"""Spread very few labels: one or two per class, on graphs of any size.

    Each labelled point is a source of its class and a sink of the others [CalderCook20]_:

    .. math:: L u = \sum_i w_i (y_i - \bar y)\, \delta_i, \qquad
              \sum_i d_i u_i = 0,

    with :math:`y_i` one-hot, :math:`\bar y` their mean, the :math:`w_i` of mean one, and each
    class's column divided by its share of the labels, so that a class with more labels does not win
    for that alone. Unlike a harmonic function u has no constant part for a class to win by.

    Threshold steps then sharpen the answer: the partition by the largest u is diffused a few steps
    of a random walk with the sources kept in, the largest class is taken again, and so on until
    hardly a point changes. How many steps is chosen from the data: the partition with the smallest
    normalised cut is kept, which sees ragged edges (too few steps) and swallowed classes (too
    many). The sources are measured against the heaviest edge, so that the unit of the weights has
    no part in the answer. No class sizes are needed. Given ones are tried by degrees, and followed
    only as far as they make the cut smaller by a fifth.

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means
        ``KnnGraph(10, weights="tuned_shared")``, which weakens edges between classes.
    priors : "labels", array-like of shape (k,) or None, default=None
        Class sizes: none, the shares among the labels, smoothed (for labels drawn at random), or
        your own in the order of ``classes_``. They are soft.
    n_steps : int or "auto", default="auto"
        Diffusion steps between thresholds; 0 is plain Poisson learning.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    tol : float, default=1e-4
        Of the linear solver, in the energy norm.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Share of a short walk from each row that ends in each class, sources included; for plain
        Poisson learning a softmax of u. Not calibrated.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    n_steps_ : int
        Steps that were used.
    cut_ : float
        Normalised cut of the partition.
    prior_strength_ : float
        How far the given class sizes were followed: 0, 0.5 or 1.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import PoissonClassifier, load_dataset
    >>> digits = load_dataset("digits")
    >>> y = np.full(len(digits.targets), -1)
    >>> first = np.unique(digits.targets, return_index=True)[1]
    >>> y[first] = digits.targets[first]  # one label per class
    >>> learner = PoissonClassifier().fit(digits.points, y)
    >>> bool((learner.transduction_ == digits.targets).mean() > 0.75)
    True
    """

    def __init__(
        self,
        *,
        graph: Any = None,
        priors: Any = None,
        n_steps: int | str = "auto",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-4,
    ) -> None:
        self.graph = graph
        self.priors = priors
        self.n_steps = n_steps
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol

    def _recipe(self) -> Any:
        return KnnGraph(10, weights="tuned_shared") if self.graph is None else self.graph

    def _prepare(self, labeled: Labeled) -> None:  # noqa: ARG002
        self._even = _with_unit_weights(self.graph_)
        self._walk = Walk.of(self._even)
        self._degrees = self._even.degrees

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        n_steps, priors = _checked_steps(self.n_steps), self._checked_priors(labeled)
        sources = class_sources(labeled, self.component_, self.n_components_)
        right = np.zeros((self.graph_.n_nodes, sources.shape[1]))
        right[labeled.rows] = sources
        flow = solve(self._even, right, tol=self.tol).values
        flow -= self._degree_means(flow)
        flow += self._single_classes(labeled, flow)
        self.prior_strength_, self._temperature = 0.0, None
        best = self._refine(flow, right, labeled, n_steps)
        if priors is not None:
            best, flow = self._with_priors(best, flow, right, labeled, n_steps, priors)
        self.n_steps_, self.cut_ = best.n_steps, best.cut
        if best.n_steps == 0:
            self._temperature = _typical_lead(flow)
            return flow
        return np.asarray(best.scores[self._walk.place], dtype=np.float64)

    def _keep_choices(self) -> None:
        self.n_steps = self.n_steps_

    def _degree_means(self, flow: FloatMatrix) -> FloatMatrix:
        """Return the mean of each column over each component, weighted by degrees."""
        sums = np.zeros((self.n_components_, flow.shape[1]))
        np.add.at(sums, self.component_, self._degrees[:, None] * flow)
        totals = np.bincount(self.component_, self._degrees)
        means = np.divide(sums, totals[:, None], out=np.zeros_like(sums), where=totals[:, None] > 0)
        return np.asarray(means[self.component_])

    def _single_classes(self, labeled: Labeled, flow: FloatMatrix) -> FloatMatrix:
        """Return a trifle for the classes that a component has labels of.

        It decides where nothing flows: in a component whose labels are all of one class.
        """
        shares = np.zeros((self.n_components_, flow.shape[1]))
        np.add.at(shares, self.component_[labeled.rows], labeled.targets)
        trifle = _TRIFLE * (float(np.abs(flow).max()) or 1.0)
        return np.asarray(trifle * (shares > 0)[self.component_])

    def _refine(
        self, flow: FloatMatrix, right: FloatMatrix, labeled: Labeled, n_steps: int | None
    ) -> Refinement:
        """Partition by the largest flow, then sharpen; among classes with a label only."""
        walk, present = self._walk, np.asarray(labeled.targets.any(axis=0))
        among = np.flatnonzero(present)
        fixed = walk.place[labeled.rows]
        start = np.asarray(flow[np.ix_(walk.order, among)].argmax(axis=1))
        start[fixed] = np.searchsorted(among, labeled.targets.argmax(axis=1))
        degrees = np.where(walk.degrees > 0, walk.degrees, 1.0)[:, None]
        source = right[np.ix_(walk.order, among)] / degrees
        source = np.clip(source, -_MOST_SOURCE, _MOST_SOURCE).astype(np.float32)
        if n_steps is None:
            fine = walk.refine(start, source, fixed)
        elif n_steps == 0:
            empty, cut = np.zeros((0, len(among))), walk.normalized_cut(start, len(among))
            fine = Refinement(start, empty, cut, 0, 0)
        else:
            fine = walk.threshold_steps(start, source, fixed, n_steps)
        scores = np.zeros((len(fine.scores), len(present)), dtype=fine.scores.dtype)
        scores[:, among] = fine.scores
        return Refinement(among[fine.codes], scores, fine.cut, fine.n_steps, fine.n_rounds)

    def _with_priors(
        self,
        best: Refinement,
        flow: FloatMatrix,
        right: FloatMatrix,
        labeled: Labeled,
        n_steps: int | None,
        priors: FloatVector,
    ) -> tuple[Refinement, FloatMatrix]:
        """Move towards the given class sizes where that makes the cut clearly smaller."""
        present = np.asarray(labeled.targets.any(axis=0))
        shares = priors[present] / priors[present].sum()
        inside = np.flatnonzero(self.reached_)  # the others have no class, so no part in sizes
        codes = best.codes[self._walk.place[inside]]
        sizes = np.bincount(codes, minlength=len(present))[present] / len(inside)
        chosen, kept = best, flow
        block = np.ix_(inside, present)
        for strength in (_HALF, _WHOLE):
            mixed = np.maximum(sizes, 1 / len(inside)) ** (1 - strength) * shares**strength
            moved = flow.copy()
            moved[block] += matched_offsets(flow[block], mixed / mixed.sum())
            candidate = self._refine(moved, right, labeled, n_steps)
            if candidate.cut < min(_WORTH * best.cut, chosen.cut):
                chosen, kept, self.prior_strength_ = candidate, moved, strength
        return chosen, kept

    def _checked_priors(self, labeled: Labeled) -> FloatVector | None:
        if self.priors is None:
            return None
        if isinstance(self.priors, str):
            if self.priors != "labels":
                raise InvalidInputError(
                    f"priors={self.priors!r} is not known; choose None, 'labels', or give one "
                    "positive number per class."
                )
            counts = labeled.targets.sum(axis=0) + 1.0
            return np.asarray(counts / counts.sum())
        return checked_shares(self.priors, labeled.targets.shape[1], name="priors")

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        if self._temperature is not None:
            return softmax(scores, self._temperature)
        return np.maximum(scores, 0.0)

    def _choices(self) -> tuple[Choice, ...]:
        if self.n_steps != "auto":
            return ()
        reason = (
            f"{self.n_steps_} diffusion step(s) between thresholds give the smallest normalised "
            f"cut ({self.cut_:.3g})"
        )
        return (Choice("n_steps", self.n_steps_, np.zeros(0), np.zeros(0), reason),)

    def _left_out(self) -> LeftOut:
        """Leave each label out of plain Poisson learning; threshold steps have no part in it."""
        labeled = self._labeled.sample()
        smoother = Smoother.of(Foundation(self._even), "laplacian", tol=self.tol)
        columns = smoother.columns(labeled)
        columns = columns - self._degree_means(columns)
        between = columns[labeled.rows]
        component = self.component_[labeled.rows]
        scores, others_mean = np.empty(labeled.targets.shape), mean_of_others(labeled)
        for i in range(len(labeled.rows)):
            others = np.arange(len(labeled.rows)) != i
            near = others & (component == component[i])
            if not near.any():  # no other label reaches it: their mean, as for all learners
                scores[i] = others_mean[i]
                continue
            rest = Labeled(np.flatnonzero(others), labeled.targets[others], labeled.weights[others])
            sources = class_sources(rest, component, self.n_components_)
            scores[i] = between[i, others] @ sources
            # As in `_single_classes`: it decides where nothing flows.
            trifle = _TRIFLE * (float(np.abs(scores[i]).max()) or 1.0)
            scores[i] += trifle * labeled.targets[near].any(axis=0)
        return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)


def class_sources(labeled: Labeled, component: NDArray[Any], n_components: int) -> FloatMatrix:
    """Return the sources at the labels, (l, k): one-hot, centred on each component, classes equal.

    `component` is that of each node.
    """
    even = labeled.weights / labeled.weights.mean()  # scores keep their size, whatever the unit
    weights, member = even[:, None], component[labeled.rows]
    sums = np.zeros((n_components, labeled.targets.shape[1]))
    np.add.at(sums, member, weights * labeled.targets)
    totals = np.bincount(member, even, minlength=n_components)
    means = sums / np.where(totals > 0, totals, 1.0)[:, None]
    deviations = labeled.targets - means[member]
    # Where one class has nearly all the weight, 1 - mean is rounded away; the others' sum is not.
    is_lost = (labeled.targets == 1) & (means[member] > _NEARLY_ALL)
    others = (sums[member] * (labeled.targets != 1)).sum(axis=1) / totals[member]
    deviations[is_lost] = others[is_lost.any(axis=1)]
    shares = labeled.mean * labeled.targets.shape[1]
    scale = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(weights * deviations * scale)


def _with_unit_weights(graph: Graph) -> Graph:
    """Return the graph in units of its heaviest edge."""
    heaviest = float(graph.weights.data.max(initial=0.0))
    return Graph(csr_array(graph.weights / heaviest)) if heaviest > 0 else graph


def _checked_steps(n_steps: Any) -> int | None:
    """Return the number of steps, None for "auto"."""
    if isinstance(n_steps, str) and n_steps == "auto":
        return None
    is_count = isinstance(n_steps, numbers.Integral) and not isinstance(n_steps, bool)
    if is_count and int(n_steps) >= 0:
        return int(n_steps)
    raise InvalidInputError(f"n_steps={n_steps!r} must be a whole number, 0 or more, or 'auto'.")


def _typical_lead(flow: FloatMatrix) -> float:
    """Return half the median lead of the first class over the second, as a temperature."""
    top = np.partition(flow, flow.shape[1] - 2, axis=1)[:, -2:]
    lead = float(np.median(top[:, 1] - top[:, 0])) / 2
    return lead if lead > 0 else max(float(np.abs(flow).max()), 1e-300)
