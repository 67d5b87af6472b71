"""`ManifoldRegressor`: rows and a few values in, a value with an interval for every row out."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from beltrami.core.machine.threads import thread_limit
from beltrami.core.telling.progress import job
from beltrami.core.telling.stages import FIT, Stage
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Points, Seed
from beltrami.data.labels import checked_weights, encode_values
from beltrami.front_door.base import GivenLabels, ManifoldLearner, check_update
from beltrami.front_door.deciding.row_scales import RowScales
from beltrami.front_door.deciding.value_committee import ValueAnswer, ValueCommittee
from beltrami.front_door.doubts import out_of_time, value_doubts
from beltrami.front_door.report import ValueReport
from beltrami.graph.fitting import checked_points
from beltrami.learners.base import GraphRegressor
from beltrami.learners.baselines import FEWEST_VALUES
from beltrami.learners.model import Choice, Labeled, LeftOut


class ManifoldRegressor(ManifoldLearner, GraphRegressor):
    """Give every row a value from a few values, choosing the method by the values held out.

    The data are put on one scale where their columns ask for it, and joined into a neighbourhood
    graph. Learners on the graph (graph regularisation with the iterated Laplacian, spectral ridge
    on eigenfunctions, Laplacian least squares) and two that see the labelled rows only (ridge
    regression, nearest neighbours) are fitted, and each predicts every value from the others. The
    one with the lowest squared error answers; a learner on the graph only if it does better than
    both that see no graph. ``report_`` says what was tried and what answers; print it. Intervals of
    `predict_interval` are wide where held-out values were far off, and narrow elsewhere.

    Cost: that of the graph and of the candidates. Above 2,500 rows Laplacian least squares are not
    tried; the others grow as the graph does.

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
        The candidate that answers.
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

    _committee: ValueCommittee

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
        with job(*FIT), thread_limit(self.n_jobs):
            points = checked_points(self, X, reset=True)
            labeled, given = self._encode(y, points.shape[0], sample_weight)
            self._check_options()
            self._committee = ValueCommittee.of(self.method)
            self._view = self._build_view(points)
            self._learn(labeled)
        self._given = given
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
        check_is_fitted(self)
        with job(Stage.LEARN), thread_limit(self.n_jobs):
            labeled, given = self._encode(y, self.graph_.n_nodes, sample_weight)
            self._learn(labeled)
        self._given = given
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
        rows, new = check_update(indices, values, self._given.n_rows)
        given = self._given.change(rows, new)
        y, weights = np.full(given.n_rows, np.nan), None
        y[given.rows] = given.listed.astype(np.float64)
        if given.weights is not None:
            weights = np.zeros(given.n_rows)
            weights[given.rows] = given.listed_weights
        return self.fit_labels(y, weights)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatMatrix:
        r"""Return intervals meant to hold the true values of a stated share of points.

        Jackknife+ [BarberCandes21]_ with a scale for each row. With :math:`r_i` the leave-one-out
        residual of label i, :math:`f_{-i}` the fit without it, and :math:`s_{-i}(x)` the mean size
        of the other labels' residuals around x along the graph, raised to a power, the ends are the
        :math:`\lceil (1 - \alpha)(l + 1) \rceil`-th smallest of
        :math:`f_{-i}(x) + |r_i|\, s_{-i}(x) / s_{-i}(x_i)` and the
        :math:`\lfloor \alpha (l + 1) \rfloor`-th smallest of the same with a minus. Powers from 0,
        which leaves widths even, to 3 are averaged by how likely they make the held-out residuals;
        few labels, and noise that is the same everywhere, give widths that differ little. No fit is
        repeated.

        For labels drawn at random from the same points the share is about :math:`1 - \alpha`. That
        is measured and not proven. Proven is :math:`1 - 2 \alpha` where nothing is chosen by the
        labels and label i has no part in :math:`s_{-i}`; here a method and a power are chosen, each
        residual as if chosen without it, and residuals of other labels come from fits that hold
        label i. Of the share in parts of the data nothing is proven. For 90 %, a hundred labels and
        more, and noise that differs from place to place, 85 % were measured in the noisiest third
        of the rows, where one scale for all rows holds 76 %.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points, of the fit or new.
        coverage : float, default=0.9
            1 - alpha, between 0 and 1. It takes at least 1 / alpha - 1 labels.

        Returns
        -------
        ndarray of shape (m, 2)
            Lower and upper ends; infinite for a point that no label reaches. Where the graph was
            given, which says nothing about new points, and for less than four labels, the scale is
            the same everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> from beltrami import ManifoldRegressor
        >>> rng = np.random.default_rng(0)
        >>> place = rng.uniform(size=600)
        >>> points = np.column_stack([np.cos(4 * place), np.sin(4 * place)])
        >>> values = place + place * rng.normal(size=600)  # noise that grows from 0 to 1
        >>> y = np.where(np.arange(600) < 200, values, np.nan)
        >>> learner = ManifoldRegressor(random_state=0).fit(points, y)
        >>> width = np.diff(learner.predict_interval(points), axis=1)[:, 0]
        >>> bool(np.median(width[place > 0.8]) > 3 * np.median(width[place < 0.2]))
        True
        """
        return super().predict_interval(X, coverage)

    def _encode(self, y: Any, n_points: int, sample_weight: Any) -> tuple[Labeled, GivenLabels]:
        """Read y once: as numbers for the committee, and as it was given for later updates."""
        values, rows = encode_values(y, n_points)
        weights = checked_weights(sample_weight, n_points, rows)
        given = GivenLabels.of(
            n_points, rows, values[rows], None if sample_weight is None else weights
        )
        return Labeled.of(rows, values[rows, None], weights), given

    def _learn(self, labeled: Labeled) -> None:
        """Ask the committee, and keep its answer with what it says of each row."""
        self._labeled, self.mean_ = labeled, float(labeled.mean[0])
        self.reached_ = self._reach(labeled)
        self._answer: ValueAnswer = self._ask(labeled)
        self.method_ = self._answer.name
        self.report_ = self._report()
        self._conclude(self._answer.scores, labeled)

    def _report(self) -> ValueReport:
        first = self._answer.members[0]
        n_held_out = 0 if np.isnan(first.error) else len(self._labeled.sample().rows)
        return ValueReport(
            n_rows=self.graph_.n_nodes,
            n_labels=len(self._labeled.rows),
            preparation=self._view.preparation.reasons,
            graph=repr(self.graph_),
            members=self._answer.members,
            n_held_out=n_held_out,
            warnings=out_of_time(self._answer.members)
            + value_doubts(n_held_out, first.r2, int((~self.reached_).sum())),
        )

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        plain, projected = self._view.treat(points)
        values = self._answer.winner.at(projected, plain)
        return values[:, None], self._view.reached_at(projected, self.reached_)

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        plain, projected = self._view.treat(points)
        return self._answer.winner.shifts_at(projected, plain, residuals)

    def _residuals(self) -> FloatVector:
        return self._answer.winner.residuals()

    def _half_widths(self, points: Points, sizes: FloatVector) -> Callable[[slice], FloatMatrix]:
        view = self._view
        if view.recipe is None or len(sizes) < FEWEST_VALUES:
            return super()._half_widths(points, sizes)
        basis, rows = view.foundation.basis, self._labeled.rows
        scales = RowScales.of(sizes, basis.vectors[rows].astype(np.float64), basis.values)
        functions = view.functions_at(view.treat(points)[1])
        return lambda block: scales.half_widths(functions[block])

    def _left_out(self) -> LeftOut:
        labeled = self._labeled
        scores = labeled.targets - self._residuals()[:, None]
        return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)

    def _choices(self) -> tuple[Choice, ...]:
        losses = np.array([one.error for one in self._answer.members if not np.isnan(one.error)])
        numbers = np.arange(float(len(losses)))
        reason = f"method = {self.method_}: {self.report_.verdict}"
        return (Choice("method", 0.0, numbers, losses, reason, self._answer.honest),)
