"""Poisson learning: labels are sources and sinks of a flow, for one or two labels per class."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.base import GraphClassifier, softmax
from beltrami.learners.foundation import MOST_PIECES
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.learners.parameters import checked_shares
from beltrami.learners.poisson.cuts import normalized_cut
from beltrami.learners.poisson.decision import FLOW, TAU, Decision
from beltrami.learners.poisson.flow import FlowSpace, flow_of, single_classes
from beltrami.learners.poisson.in_basis import Ground, answers, held_out, left_out, settle
from beltrami.learners.poisson.sources import class_sources
from beltrami.learners.poisson.threshold_steps import Diffusion, matched_offsets, sample_of
from beltrami.learners.poisson.walks import STEPS, Walk
from beltrami.solvers.eigen import eigenbasis

_FUNCTIONS, _PER_CLASS = 100, 10
"""Functions of the basis, beside one for each piece of the graph: at least, and for each class."""
_MOST_BEHIND = 1e30
"""Lead up to which float32 holds sums, where hardly any weight ties a label to the rest."""
_LEADS = 20_000
"""Rows by which a typical lead is found."""
_SOLVED_ROWS = 20_000
"""Rows up to which the flow is solved for, as graph regularisation does at the front door."""


class PoissonClassifier(GraphClassifier):
    r"""Spread very few labels: one or two per class, on graphs of any size.

    Each labelled point is a source of its class and a sink of the others [CalderCook20]_:

    .. math:: L u = \sum_i w_i (y_i - \bar y)\, \delta_i, \qquad
              \sum_i d_i u_i = 0,

    with :math:`y_i` one-hot, :math:`\bar y` their mean, the :math:`w_i` of mean one, and each
    class's column divided by its share of the labels, so that a class with more labels does not win
    for that alone. Unlike a harmonic function u has no constant part for a class to win by.

    Threshold steps then sharpen the answer: the partition by the largest u is diffused for the time
    of ten steps of a random walk, in the lowest eigenfunctions of the graph, the largest class is
    taken again with the labels put back, and so on until hardly a point changes. No class sizes are
    needed: some between the flow's own and equal ones are tried, and other borders between classes
    of the same sizes. A judge takes the partition, the flow's own among them, that least speaks
    against: by its normalised cut, by labels that walks from them contradict, and by how many
    points the flow sees otherwise. Short walks on the graph itself, with the sources kept in, are
    the last touch, if the judge agrees. Class sizes that are given are kept to. The sources are
    measured against the heaviest edge, so that the unit of the weights has no part in the answer.

    Up to 20,000 rows, and where the plain flow stands, u is solved for; in threshold steps on more
    rows it is sought in the eigenfunctions and in constants on pieces that hang by a thread.

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means
        ``KnnGraph(10, weights="tuned_shared")``, which weakens edges between classes.
    priors : "labels", array-like of shape (k,) or None, default=None
        Class sizes: none, the shares among the labels, smoothed (for labels drawn at random), or
        your own in the order of ``classes_``. They are kept to, to within a few rows.
    n_steps : int or "auto", default="auto"
        Time of diffusion between thresholds, in steps of the random walk; 0 is plain Poisson
        learning. A number asks for threshold steps without hypotheses or judge.
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
        Time of diffusion that was used; 5 where short walks from the flow are all, 0 where the
        plain flow stands.
    cut_ : float
        Normalised cut of the partition.
    hypothesis_ : str
        Which class sizes, borders and walks it came from.
    priors_ : ndarray of shape (k,) or None
        Class sizes that came of it; None where the plain flow stands.
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

    _kept_decision: Decision | None = None

    def _recipe(self) -> Any:
        return KnnGraph(10, weights="tuned_shared") if self.graph is None else self.graph

    def _prepare(self, labeled: Labeled) -> None:  # noqa: ARG002
        self._unit = float(self.graph_.weights.data.max(initial=0.0)) or 1.0
        has_many_pieces = self._foundation.n_pieces > MOST_PIECES
        self._is_solved = self.graph_.n_nodes <= _SOLVED_ROWS or has_many_pieces

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        n_steps, priors = _checked_steps(self.n_steps), self._checked_priors(labeled)
        self._temperature: float | None = None
        self.n_steps_, self.hypothesis_ = 0, FLOW
        self.priors_: FloatVector | None = None
        if n_steps == 0:
            scores = self._plain(labeled, priors)
            self.cut_ = self._cut(scores, labeled)
            return scores
        return self._sharpened(labeled, TAU if n_steps is None else n_steps, priors)

    def _plain(self, labeled: Labeled, priors: FloatVector | None) -> FloatMatrix:
        """Return the flow, moved to given class sizes where there are any."""
        flow = self._flow(labeled)
        if priors is not None:
            block = np.ix_(self.reached_, labeled.targets.any(axis=0))  # the others have no class
            shares = priors[block[1].ravel()]
            flow[block] += matched_offsets(flow[block], shares / shares.sum())
            self.hypothesis_ = "the given sizes"
        self._temperature = _typical_lead(flow)
        return flow

    def _sharpened(self, labeled: Labeled, tau: int, priors: FloatVector | None) -> FloatMatrix:
        """Return the scores after threshold steps, or the plain flow where that is to stand."""
        ground = self._ground_for(tau, labeled.targets.shape[1])
        flow = self._flow_for_steps(labeled)
        decision = self._kept_decision
        if decision is None:
            is_free = self.n_steps != "auto"
            decision = settle(ground, labeled, flow, shares=priors, is_free=is_free)
        self.decision_, self.cut_ = decision, decision.cut
        if not decision.is_sharp:
            return self._plain(labeled, None)
        self.n_steps_, self.hypothesis_ = tau if decision.has_steps else STEPS, decision.name
        self.priors_ = decision.sizes(labeled.targets.shape[1])
        scores = answers(ground, labeled, decision, flow)
        return np.asfortranarray(scores, dtype=np.float64)  # what follows goes class by class

    def _flow_for_steps(self, labeled: Labeled) -> NDArray[np.float32] | None:
        """Return the flow where it is solved for, up to a number of each row's own."""
        if not self._is_solved:
            return None
        solved = self._solved_flow(labeled)
        behind = solved - solved.max(axis=1, keepdims=True)
        return np.asarray(np.maximum(behind, -_MOST_BEHIND), dtype=np.float32)

    def _ground_for(self, tau: int, n_classes: int) -> Ground:
        """Return the diffusion in the eigenfunctions, which are worked out once per graph."""
        foundation, known = self._foundation, self._ground
        if known is None:
            if foundation.is_shared:
                basis = foundation.basis
            else:
                count = basis_size(n_classes) + min(foundation.n_pieces, MOST_PIECES)
                count = min(self.graph_.n_nodes, count)
                basis = eigenbasis(self.graph_, count, kind="random_walk")
            space = FlowSpace.of(foundation, basis)
            known = Ground(Diffusion.of(space, tau), Walk.of(self.graph_.weights))
        elif known.diffusion.tau != tau:
            known = Ground(Diffusion.of(known.space, tau), known.walk)
        foundation.derived[Ground] = known
        return known

    @property
    def _ground(self) -> Ground | None:
        """What diffusion rests on, where it was needed."""
        known: Ground | None = self._foundation.derived.get(Ground)
        return known

    def _shares_at(self, labeled: Labeled, rows: IndexVector) -> FloatMatrix:
        """Return the shares of classes at rows whose labels are held out, by what was decided."""
        self._has_label, self.class_prior_ = labeled.targets.any(axis=0), labeled.mean
        reached = np.isin(self.component_[rows], self.component_[labeled.rows])
        if self.decision_.is_sharp:
            tau = _checked_steps(self.n_steps) or TAU
            ground, flow = self._ground_for(tau, len(labeled.mean)), self._flow_for_steps(labeled)
            scores = held_out(ground, labeled, rows, self.decision_, flow)
        elif self._is_solved or self._ground is None:
            scores = self._flow(labeled)[rows].astype(np.float32)
        else:
            scores = flow_of(self._ground.space, labeled, rows)
        return self._distributions(self._without_absent(scores.astype(np.float64)), reached)

    def _flow(self, labeled: Labeled) -> FloatMatrix:
        """Return the flow: in the basis on a large graph that is shared, by a solve elsewhere."""
        if self._is_solved or self._ground is None or not self._foundation.is_shared:
            return self._solved_flow(labeled)
        flow = flow_of(self._ground.space, labeled)
        return np.asfortranarray(flow, dtype=np.float64)  # what follows goes class by class

    def _solved_flow(self, labeled: Labeled) -> FloatMatrix:
        """Return the flow by sparse solves, of mean zero by degree on every component."""
        sources = self._unit * class_sources(labeled, self.component_, self.n_components_)
        if self._foundation.keeps_columns(len(labeled.rows)):
            flow = self._foundation.columns(labeled.rows, tol=self.tol) @ sources
        else:
            right = np.zeros((self.graph_.n_nodes, sources.shape[1]))
            right[labeled.rows] = sources
            flow = self._foundation.system.solve(right, tol=self.tol).values
        flow -= self._degree_means(flow)
        return np.asarray(flow + single_classes(self.component_, labeled, flow))

    def _keep_choices(self) -> None:
        self._kept_decision = self.decision_

    def _degree_means(self, flow: FloatMatrix) -> FloatMatrix:
        """Return the mean of each column over each component, weighted by degrees."""
        sums = np.zeros((self.n_components_, flow.shape[1]))
        degrees = self.graph_.degrees
        np.add.at(sums, self.component_, degrees[:, None] * flow)
        totals = np.bincount(self.component_, degrees)
        means = np.divide(sums, totals[:, None], out=np.zeros_like(sums), where=totals[:, None] > 0)
        return np.asarray(means[self.component_])

    def _cut(self, scores: FloatMatrix, labeled: Labeled) -> float:
        """Return the normalised cut of the answer, among classes with a label and rows reached."""
        among = np.flatnonzero(labeled.targets.any(axis=0))
        codes = scores[:, among].argmax(axis=1)
        codes[labeled.rows] = np.searchsorted(among, labeled.targets.argmax(axis=1))
        weights, inside = self.graph_.weights, self.reached_
        if not inside.all():
            weights, codes = csr_array(weights[inside][:, inside]), codes[inside]
        return normalized_cut(weights, codes, len(among))

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
            f"from {self.hypothesis_}: of the partitions tried, cut ({self.cut_:.3g}), labels and "
            "flow speak least against it"
            if self.n_steps_
            else f"the plain flow stands (normalised cut {self.cut_:.3g}): more speaks against the "
            "partitions tried, by their cut, by labels and by how much they differ from it"
        )
        return (Choice("n_steps", self.n_steps_, np.zeros(0), np.zeros(0), reason),)

    def _left_out(self) -> LeftOut:
        """Leave each label out of plain Poisson learning; threshold steps have no part in it."""
        if not self._is_solved and self._ground is not None:
            return left_out(self._ground.space, self._labeled)
        labeled = self._labeled.sample()
        columns = self._unit * self._foundation.columns(labeled.rows, tol=self.tol)
        columns -= self._degree_means(columns)
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
            scores[i] += single_classes(component, rest, scores[i], [i])[0]
        return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)


def basis_size(n_classes: int) -> int:
    """Return how many eigenfunctions answer for so many classes."""
    return max(_FUNCTIONS, _PER_CLASS * n_classes)


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
    flow = flow[sample_of(len(flow), _LEADS)]
    top = np.partition(flow, flow.shape[1] - 2, axis=1)[:, -2:]
    lead = float(np.median(top[:, 1] - top[:, 0])) / 2
    return lead if lead > 0 else max(float(np.abs(flow).max()), 1e-300)
