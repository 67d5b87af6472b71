"""`ManifoldRegressor`: rows and a few values in, a value with an interval for every row out."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from beltrami.core.threads import thread_limit
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Points, Seed
from beltrami.data.labels import checked_weights, encode_values
from beltrami.front_door.budget import checked_budget, left_out_for_time
from beltrami.front_door.rows import checked_rows
from beltrami.front_door.seeing import seen
from beltrami.front_door.value_committee import ValueCommittee
from beltrami.front_door.value_summary import ValueReport, value_doubts
from beltrami.graph.model import Graph
from beltrami.learners.base import GraphRegressor
from beltrami.learners.model import Choice, Labeled, LeftOut


class ManifoldRegressor(GraphRegressor):
    """Give every row a value from a few values, choosing the method by the values held out.

    The data are put on one scale where their columns ask for it, and joined into a neighbourhood
    graph. Learners on the graph (graph regularisation with the iterated Laplacian, spectral ridge
    on eigenfunctions, Laplacian least squares) and two that see the labelled rows only (ridge
    regression, nearest neighbours) are fitted, and each predicts every value from the others. The
    one with the lowest squared error answers; a learner on the graph only if it does better than
    both that see no graph. ``report_`` says what was tried and who answers; print it.

    Cost: that of the graph and of the candidates. Above 2,500 rows Laplacian least squares are not
    tried, above 100,000 neither are eigenfunctions.

    Parameters
    ----------
    method : str, default="auto"
        "auto", or the one that answers: "ridge", "neighbors", "regularized", "eigenfunctions",
        "laplacian_rls".
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ten neighbours with
        ``weights="tuned_shared"``.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns are put on one scale; "auto" does where a few hold nearly all variance.
    metric : {"auto", "euclidean", "angle"} or other, default="auto"
        Of the default graph: angles for sparse data without rows of zeros, else Euclidean.
    time_budget : float or None, default=None
        Seconds after which no further candidate is begun; results then depend on the machine.
    random_state : int, Generator, RandomState or None, default=None
        Seeds what is drawn; results repeat for an int.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        The value of each row: the given one where there is one, NaN where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    method_ : str
        Who answers.
    report_ : ValueReport
        What was tried and why; printable.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import ManifoldRegressor, swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> y = np.where(np.arange(500) < 40, roll.extras["arc_length"], np.nan)
    >>> learner = ManifoldRegressor(random_state=0).fit(roll.points, y)
    >>> bool(np.abs(learner.transduction_ - roll.extras["arc_length"]).mean() < 1.0)  # of 89
    True
    >>> best, baseline = learner.report_.members[0], learner.report_.best_baseline
    >>> bool(best.error < baseline.error / 5)
    True
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        graph: Any = None,
        scale: str = "auto",
        metric: Any = "auto",
        time_budget: float | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.graph = graph
        self.scale = scale
        self.metric = metric
        self.time_budget = time_budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Build the graph of X and learn from the values in y.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point, labelled or not, in any order.
        y : array-like of shape (n,)
            Values, NaN where there is none.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each value counts; 0 makes the row unlabelled.

        Returns
        -------
        ManifoldRegressor
            Itself, fitted.
        """
        with thread_limit(self.n_jobs):
            super().fit(X, y, sample_weight)
        self._remember(y, sample_weight)
        return self

    def fit_labels(self, y: Any, sample_weight: Any = None) -> Self:
        """Learn from other values of the same points; the graph and what rests on it are kept.

        Parameters
        ----------
        y : array-like of shape (n,)
            Values, NaN where there is none.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each value counts.

        Returns
        -------
        ManifoldRegressor
            Itself, with the new values.
        """
        with thread_limit(self.n_jobs):
            super().fit_labels(y, sample_weight)
        self._remember(y, sample_weight)
        return self

    def update(self, indices: Any, values: Any) -> Self:
        """Add, change or remove values of some rows; the graph is kept.

        Parameters
        ----------
        indices : int or array-like of int
            Row numbers.
        values : float or array-like
            Their values; None or NaN takes a value away. A new value counts as much as the others
            do on average.

        Returns
        -------
        ManifoldRegressor
            Itself, having learned.
        """
        check_is_fitted(self)
        rows, new = checked_rows(indices, values, len(self._given))
        given, weights = self._given.copy(), self._given_weights
        for row, value in zip(rows, new, strict=True):
            given[row] = value
        if weights is not None:
            weights = weights.copy()
            weights[rows] = weights[weights > 0].mean()
        return self.fit_labels(given, weights)

    def _remember(self, y: Any, sample_weight: Any) -> None:
        n = self.graph_.n_nodes
        values, rows = encode_values(y, n)
        self._given = values.astype(object)
        self._given[np.isnan(values)] = None
        self._given_weights: FloatVector | None = None
        if sample_weight is not None:
            self._given_weights = np.zeros(n)
            self._given_weights[rows] = checked_weights(sample_weight, n, rows)

    def _built_graph(self, points: Points) -> tuple[Graph, Any]:
        checked_budget(self.time_budget)
        self._committee = ValueCommittee.of(self.method)
        self._seen = seen(
            points, self.graph, self.scale, self.metric, self.random_state, self.n_jobs
        )
        return self._seen.graph, self._seen.recipe

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        view = self._seen.view(1, self.random_state)
        if self._committee.method != self.method:  # set_params since the fit
            self._committee = ValueCommittee.of(self.method)
        budget = checked_budget(self.time_budget)
        self._answer = self._committee.answer(view, labeled, time_budget=budget)
        self.method_ = self._answer.winner.name
        self.report_ = self._reported(labeled)
        return self._answer.values[:, None]

    def _reported(self, labeled: Labeled) -> ValueReport:
        first = self._answer.members[0]
        n_held_out = 0 if np.isnan(first.error) else len(labeled.sample().rows)
        return ValueReport(
            self.graph_.n_nodes,
            len(labeled.rows),
            self._seen.reasons,
            repr(self.graph_),
            self._answer.members,
            n_held_out,
            left_out_for_time(self._answer.members)
            + value_doubts(n_held_out, first.r2, int((~self.reached_).sum())),
        )

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        plain, projected = self._seen.prepared(points)
        values = self._answer.winner.at(projected, plain)
        return values[:, None], self._seen.reached_at(projected, self.reached_)

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        plain, projected = self._seen.prepared(points)
        return self._answer.winner.shifts_at(projected, plain, residuals)

    def _residuals(self) -> FloatVector:
        return self._answer.winner.residuals()

    def _left_out(self) -> LeftOut:
        own = self._labeled
        scores = own.targets - self._residuals()[:, None]
        return LeftOut(own.rows, own.targets, scores, own.weights)

    def _choices(self) -> tuple[Choice, ...]:
        losses = np.array([one.error for one in self._answer.members if not np.isnan(one.error)])
        numbers = np.arange(float(len(losses)))
        reason = f"method = {self.method_}: {self.report_.verdict}"
        return (Choice("method", 0.0, numbers, losses, reason, self._answer.honest),)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
