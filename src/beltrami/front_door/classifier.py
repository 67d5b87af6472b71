"""`ManifoldClassifier`: rows and a few labels in, every row labelled with a confidence out."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from beltrami.core.threads import thread_limit
from beltrami.core.types import BoolVector, FloatMatrix, IndexVector, Points, Seed
from beltrami.front_door.acceptance import accepted_rows, checked_risk, nothing_accepted
from beltrami.front_door.budget import checked_budget, left_out_for_time
from beltrami.front_door.committee import Committee
from beltrami.front_door.dialogue import LabellingDialogue
from beltrami.front_door.islands import islands_of
from beltrami.front_door.seeing import seen
from beltrami.front_door.summary import FitReport, doubts, exact_bounds
from beltrami.graph.model import Graph
from beltrami.learners.base import softmax
from beltrami.learners.model import Labeled, LeftOut
from beltrami.review.conformal import prediction_sets
from beltrami.review.guessing import beside_guessing


class ManifoldClassifier(LabellingDialogue):
    r"""Label every row from a few labels, with a confidence, choosing the method by the labels.

    The data are put on one scale where their columns ask for it, and joined into a neighbourhood
    graph. Learners on the graph (Poisson learning, graph regularisation, spectral ridge on
    eigenfunctions, Laplacian least squares and support vectors) and two that see the labelled rows
    only (logistic regression, nearest neighbour) are fitted, and each is held to its word on labels
    that were put aside. The answer is their mixture,

    .. math:: p(c \mid x) = \sum_m w_m\, p_m(c \mid x), \qquad
              w_m \propto \pi_m \prod_i p_m(y_i),

    over held-out labels i, with :math:`\pi` from many data sets: few labels leave the weights
    there, more decide them. The probabilities are calibrated on the held-out labels. ``report_``
    says what was tried and who answers; print it.

    Cost: that of the graph and of the candidates. Above 2,500 rows the kernel machines are not
    tried, above 100,000 neither are eigenfunctions; what remains grows as the graph does.

    Parameters
    ----------
    method : str, default="auto"
        "auto", or the one that answers: "poisson", "regularized", "eigenfunctions",
        "laplacian_rls", "laplacian_svc", "logistic", "neighbors".
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ten neighbours with
        ``weights="tuned_shared"``, pieces of the data joined by bridges up to 200,000 rows.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns are put on one scale; "auto" does where a few hold nearly all variance.
    metric : {"auto", "euclidean", "angle"} or other, default="auto"
        Of the default graph: angles for sparse data without rows of zeros, else Euclidean.
    risk : float or None, default=None
        Largest expected share of wrong ones among the labels that are accepted: the least sure
        rows are set aside until it holds. None accepts all that a label reaches.
    time_budget : float or None, default=None
        Seconds after which no further candidate is begun; results then depend on the machine. The
        first is always tried, and ``report_`` says which were left out.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    random_state : int, Generator, RandomState or None, default=None
        Seeds what is drawn; results repeat for an int.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Calibrated probabilities.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    accepted_ : ndarray of shape (n,)
        Whether the label may be used: reached, sure enough for ``risk``, and not on an island.
    island_ : ndarray of shape (n,)
        Number of the island that holds the row, -1 elsewhere. An island is a piece of the data that
        no edge but an added bridge joins to a label.
    method_ : str
        Who answers: a candidate, or "mixture".
    weights_ : dict of str to float
        The candidates' parts in the answer.
    report_ : FitReport
        What was tried and why; printable.
    names_ : ndarray of shape (n,)
        Index of the rows of a DataFrame, else row numbers.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import ManifoldClassifier, load_dataset
    >>> digits = load_dataset("digits")
    >>> y = np.full(len(digits.targets), -1)
    >>> y[:40] = digits.targets[:40]
    >>> learner = ManifoldClassifier(random_state=0).fit(digits.points, y)
    >>> bool((learner.transduction_ == digits.targets).mean() > 0.9)
    True
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        graph: Any = None,
        scale: str = "auto",
        metric: Any = "auto",
        risk: float | None = None,
        time_budget: float | None = None,
        unlabeled: Any = "auto",
        classes: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.graph = graph
        self.scale = scale
        self.metric = metric
        self.risk = risk
        self.time_budget = time_budget
        self.unlabeled = unlabeled
        self.classes = classes
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Build the graph of X and learn from the labels in y.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point, labelled or not, in any order.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts; 0 makes the row unlabelled.

        Returns
        -------
        ManifoldClassifier
            Itself, fitted.
        """
        with thread_limit(self.n_jobs):
            super().fit(X, y, sample_weight)
        self._remember(X, y, sample_weight)
        return self

    def fit_labels(self, y: Any, sample_weight: Any = None) -> Self:
        """Learn from other labels of the same points; the graph and what rests on it are kept.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts.

        Returns
        -------
        ManifoldClassifier
            Itself, with the new labels.
        """
        check_is_fitted(self, "graph_")
        with thread_limit(self.n_jobs):
            self._learn(self._read(y, self.graph_.n_nodes, sample_weight))
        self._remember(None, y, sample_weight)
        return self

    def _built_graph(self, points: Points) -> tuple[Graph, Any]:
        checked_risk(self.risk)
        checked_budget(self.time_budget)
        self._committee = Committee.of(self.method)
        self._asked = np.zeros(0, dtype=np.intp)
        self._seen = seen(
            points, self.graph, self.scale, self.metric, self.random_state, self.n_jobs
        )
        return self._seen.graph, self._seen.recipe

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        view = self._seen.view(len(self.classes_), self.random_state)
        if self._committee.method != self.method:  # set_params since the fit
            self._committee = Committee.of(self.method)
        budget = checked_budget(self.time_budget)
        answer = self._committee.answer(view, labeled, time_budget=budget)
        self._answer, self.temperature_ = answer, answer.temperature
        self.weights_ = dict(self._committee.weights)
        top = max(self.weights_, key=self.weights_.__getitem__)
        self.method_ = top if self.weights_[top] > 0.9 else "mixture"
        return answer.logs

    def _settle(self, scores: FloatMatrix, labeled: Labeled) -> None:
        super()._settle(scores, labeled)
        self._islands = islands_of(
            self.graph_, labeled.rows, getattr(self.recipe_, "n_neighbors", None)
        )
        self.island_ = self._islands.number
        self.accepted_ = accepted_rows(
            self.confidence_, self.reached_ & (self.island_ < 0), labeled.rows, self.risk
        )
        self.report_ = self._reported(labeled)

    def _reported(self, labeled: Labeled) -> FitReport:
        answer = self._answer
        told = answer.held_out[answer.is_told].argmax(axis=1)
        right = told == answer.judged.targets[answer.is_told].argmax(axis=1)
        own = answer.importance[answer.is_told]
        accuracy = float(np.average(right, weights=own)) if len(right) else float("nan")
        others = np.ones(len(self.reached_), dtype=bool)
        others[labeled.rows] = False
        counted = self.confidence_[others] if others.any() else self.confidence_
        warned = left_out_for_time(answer.members)
        warned += nothing_accepted(self.confidence_, self.accepted_, labeled.rows, self.risk)
        warned += doubts(
            labeled.targets.sum(axis=0),
            self.label_distributions_.mean(axis=0),
            tuple(map(str, self.classes_)),
            float(counted.mean()),
            beside_guessing(answer.judged.targets[answer.is_told].argmax(axis=1), told),
            n_asked=len(np.intersect1d(labeled.rows, self._asked)),
            n_islands=self._islands.count,
            n_stranded=int((self.island_ >= 0).sum()),
        )
        return FitReport(
            len(self.reached_),
            len(labeled.rows),
            len(self.classes_),
            self._seen.reasons,
            repr(self.graph_),
            answer.members,
            len(right),
            float(counted.mean()),
            accuracy,
            exact_bounds(accuracy * len(right), len(right)) if len(right) else (0.0, 1.0),
            warned,
        )

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        return softmax(scores, self.temperature_)

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        plain, projected = self._seen.prepared(points)
        logs = self._committee.at(projected, plain)
        return logs, self._seen.reached_at(projected, self.reached_)

    def _left_out(self) -> LeftOut:
        judged = self._answer.judged
        return LeftOut(judged.rows, judged.targets, self._answer.held_out, judged.weights)

    def candidate_codes(self, name: str) -> IndexVector:
        """Return what one candidate alone would have answered.

        Parameters
        ----------
        name : str
            One of ``weights_``.

        Returns
        -------
        ndarray of shape (n,)
            Positions in ``classes_``.
        """
        check_is_fitted(self)
        return self._answer.codes[name]

    def prediction_sets(self, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for each row of the fit the classes that it may well be.

        Parameters
        ----------
        coverage : float, default=0.9
            Share of the sets that shall hold the true class. It needs coverage / (1 - coverage)
            labels that can be held out; with fewer every set is whole.

        Returns
        -------
        ndarray of bool of shape (n, k)
            In the order of ``classes_``. A labelled row has its label alone.
        """
        check_is_fitted(self)
        found = self._sets(self.label_distributions_, self.reached_, coverage)
        rows, targets = self._labeled.rows, self._labeled.targets
        found[rows] = targets == targets.max(axis=1, keepdims=True)
        return found

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for each point the classes that it may well be.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points, of the fit or new.
        coverage : float, default=0.9
            Share of the sets that shall hold the true class, where labels are a random sample.

        Returns
        -------
        ndarray of bool of shape (m, k)
            In the order of ``classes_``; all classes for a point that no label reaches.
        """
        scores, reached = self._checked_scores(X)
        return self._sets(self._distributions(scores, reached), reached, coverage)

    def _sets(
        self, probabilities: FloatMatrix, reached: BoolVector, coverage: float
    ) -> NDArray[np.bool_]:
        threshold = self._answer.set_threshold(coverage)
        found = prediction_sets(probabilities, threshold, never_empty=True)
        found[~reached] = True
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
