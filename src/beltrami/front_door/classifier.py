"""`ManifoldClassifier`: rows and a few labels in, every row labelled with a confidence out."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import TooFewLabelsWarning
from beltrami.core.machine.threads import thread_limit
from beltrami.core.telling.progress import expect, job
from beltrami.core.telling.stages import FIT, Stage
from beltrami.core.types import BoolVector, FloatMatrix, Points, Seed
from beltrami.data.labels import checked_weights, encode_labels, encode_listed_labels, labeled_mask
from beltrami.front_door.acceptance import accepted_under, check_risk
from beltrami.front_door.answering.answerer import learner_answerer
from beltrami.front_door.base import (
    GivenLabels,
    ManifoldLearner,
    as_given,
    check_new_weights,
    check_update,
)
from beltrami.front_door.deciding.committee import ClassCommittee
from beltrami.front_door.deciding.forecast import Forecast
from beltrami.front_door.deciding.judgement import Answer, KeptJudgement, best_kept
from beltrami.front_door.dialogue import LabellingDialogue
from beltrami.front_door.islands import island_numbers
from beltrami.front_door.kept.keeping import Keeping
from beltrami.front_door.mixture.confidence import doubt_rows
from beltrami.front_door.mixture.shares import check_priors
from beltrami.graph.fitting import checked_points
from beltrami.learners.model import Labeled, LeftOut
from beltrami.review.reach import Reach


class ManifoldClassifier(ManifoldLearner, LabellingDialogue, Keeping):
    r"""Label every row from a few labels, with a confidence, choosing the method by the labels.

    The data are put on one scale where their columns ask for it, and joined into a neighbourhood
    graph. Learners on the graph (Poisson learning, graph regularisation, spectral ridge on
    eigenfunctions, Laplacian least squares) and some that see the labelled rows only (logistic
    regression, random forest, nearest neighbour) are fitted, and each is judged on labels that were
    put aside, all in the same folds. The answer is their mixture,

    .. math:: p(c \mid x) = \sum_m w_m\, p_m(c \mid x), \qquad
              w = \arg\max \; 3 \sum_m \pi_m \ln w_m + \sum_i \ln \sum_m w_m\, p_m(y_i),

    over held-out labels i, with :math:`\pi` learned over many data sets and worth three labels.
    How sure to be of a row was learned over these sets too, from how far its class leads, how far
    candidates agree, and how held-out labels were answered. ``report_`` says what was tried and
    what answers; print it.

    Cost: that of the graph and of the candidates. Above 500 rows landmarks stand for the rows of
    kernel machines, above 2,500 these are not tried, above 20,000 neither are graph regularisation
    and the forest.

    Parameters
    ----------
    method : str, default="auto"
        "auto", or the one that answers: "poisson", "regularized", "eigenfunctions",
        "laplacian_rls", "laplacian_svc", "logistic", "forest", "neighbors".
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ten neighbours with
        ``weights="tuned_shared"``, pieces of the data joined by bridges.
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
    priors : dict, array-like of shape (k,) or None, default=None
        The classes' shares of all rows, by class or in the order of ``classes_``, where they are
        known. None estimates them: labels of unequal number speak for themselves; where every
        class has as many, answers do, from three labels of each on.
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
        Whether the label may be used: reached, sure enough for ``risk``, on no island; under a
        risk, also like some label, and not far from all other rows.
    unlike_ : ndarray of shape (n,)
        Whether the row is like none of ten labels or more: it is answered, but no risk accepts it.
    island_ : ndarray of shape (n,)
        Number of the island that holds the row, -1 elsewhere. An island is a piece of the data that
        no edge but an added bridge joins to a label.
    method_ : str
        What answers: a candidate, or "mixture".
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

    _committee: ClassCommittee

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
        priors: Any = None,
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
        self.priors = priors
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
        with job(*FIT), thread_limit(self.n_jobs):
            points = checked_points(self, X, reset=True)
            labeled, given = self._encode(y, points.shape[0], sample_weight)
            self._check_options()
            self._committee = ClassCommittee.of(self.method)
            sizes = Forecast.of(points, labeled)
            expect(sizes.costs(self.method, time_budget=self.time_budget))
            self._view = self._build_view(points, len(self.classes_))
            self._begin_dialogue(X)
            self._learn(labeled)
        self._given = given
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
        with self._whole_or_not_at_all(), job(Stage.LEARN), thread_limit(self.n_jobs):
            labeled, given = self._encode(y, self.graph_.n_nodes, sample_weight)
            self._learn(labeled)
        self._given = given
        return self

    def start(self, X: Any) -> Self:
        """Look at the data without any label, so that `query` can say what to label first.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            The data.

        Returns
        -------
        ManifoldClassifier
            Itself; `query` and `update` work, `predict` needs labels of two classes.
        """
        for name in [name for name in vars(self) if name[0] == "_" or name[-1] == "_"]:
            delattr(self, name)  # what an earlier fit learned
        points: Points = checked_points(self, X, reset=True)
        self._check_options()
        self._committee = ClassCommittee.of(self.method)
        with job(Stage.PREPARE, Stage.GRAPH):
            expect(Forecast.of(points).costs(self.method))
            self._view = self._build_view(points)
        self._begin_dialogue(X)
        self._given = GivenLabels.of(points.shape[0], np.zeros(0, dtype=np.intp), np.zeros(0))
        return self

    def update(self, indices: Any, labels: Any, weights: Any = None) -> Self:
        """Add, change or remove labels of some rows, and answer at once.

        The candidates learn from the labels as they are now, each with what it chose before, and
        are believed as far as they were when labels were last held out to judge them. They are
        judged anew by `settle`, by `fit_labels`, when a class appears that had no label, and when
        the labels have doubled. The answer depends on the labels and that judgement only: taking a
        label back brings back what was there before it. Cost: O(n p k), p eigenvectors, k classes.

        Parameters
        ----------
        indices : int or array-like of int
            Row numbers.
        labels : object or array-like
            Their labels; None takes a label away.
        weights : float, array-like or None, default=None
            How much each counts, beside the ``sample_weight`` of the fit; without one there, all
            others count 1. None means as much as the others do on average.

        Returns
        -------
        ManifoldClassifier
            Itself, having learned; labels of fewer than two classes are kept for later.

        Warns
        -----
        TooFewLabelsWarning
            When there is nothing to learn from yet.
        """
        check_is_fitted(self, "graph_")
        rows, values = check_update(indices, labels, self._given.n_rows)
        vector = np.full(len(values), None, dtype=object)
        for place, value in enumerate(values):
            vector[place] = value
        typed, has_label = labeled_mask(vector, len(values), self.unlabeled)
        pairs = zip(typed.tolist(), has_label, strict=True)
        named = [value if is_label else None for value, is_label in pairs]
        given = self._given.change(rows, named, check_new_weights(weights, len(rows)))
        n_known = len(set(given.values.values()))
        if n_known >= (2 if self.classes is None else 1):
            with self._whole_or_not_at_all(), thread_limit(self.n_jobs):
                self._relearn(self._read_given(given))
            self._given = given
            return self
        self._given = given
        warnings.warn(
            f"there are labels of {n_known} class(es) so far and a classifier needs two; "
            "they are kept, and nothing was learned.",
            TooFewLabelsWarning,
            stacklevel=2,
        )
        return self

    def settle(self) -> Self:
        """Judge the candidates anew by the labels there are now, after any number of updates.

        Returns
        -------
        ManifoldClassifier
            Itself, as `fit` with the same labels leaves it; to the last bit up to ten classes.
        """
        check_is_fitted(self)
        whole = self._whole_or_not_at_all()
        with whole, self._foundation.columns_anew(), thread_limit(self.n_jobs):
            self._learn(self._read_given(self._given))
        return self

    def _read_given(self, given: GivenLabels) -> Labeled:
        """Turn the labels of some rows into numbers, as `_encode` does with a whole vector."""
        rows = given.rows
        labels = encode_listed_labels(
            given.listed, rows, given.n_rows, unlabeled=self.unlabeled, classes=self.classes
        )
        weights = checked_weights(given.listed_weights, len(rows), np.arange(len(rows)))
        return self._number(labels, weights)

    def _encode(self, y: Any, n_points: int, sample_weight: Any) -> tuple[Labeled, GivenLabels]:
        """Read y once: as numbers for the committee, and as it was given for later updates."""
        labels = encode_labels(y, n_points, unlabeled=self.unlabeled, classes=self.classes)
        weights = checked_weights(sample_weight, n_points, labels.rows)
        given = GivenLabels.of(
            n_points,
            labels.rows,
            labels.classes[labels.codes[labels.rows]],
            None if sample_weight is None else as_given(sample_weight, n_points)[labels.rows],
        )
        return self._number(labels, weights), given

    def _check_options(self) -> None:
        check_risk(self.risk)
        super()._check_options()

    def _ask(self, labeled: Labeled) -> Answer:
        """Return the committee's answer to some labels, under class sizes where these are given."""
        self._renew_committee()
        has_label = np.asarray(labeled.targets.any(axis=0))
        self._committee.shares = check_priors(self.priors, self.classes_, has_label)
        return super()._ask(labeled)  # type: ignore[no-any-return]

    def _learn(self, labeled: Labeled) -> None:
        """Ask the committee to judge and to answer, and forget earlier judgements."""
        self._judgements: list[KeptJudgement] = []
        self._judge(labeled)

    def _judge(self, labeled: Labeled) -> None:
        """Ask the committee to judge and to answer, and keep the judgement."""
        answer = self._ask(labeled)
        self._take(answer, labeled, self._find_reach(labeled))
        kept = KeptJudgement.of(
            self.classes_, labeled, answer.judgement, has_strangers=self._strangers_by is not None
        )
        self._judgements = [*self._judgements, kept]

    def _relearn(self, labeled: Labeled) -> None:
        """Ask the committee to answer by an earlier judgement, or to judge where none will do.

        Where every row was like some label then, further labels make no row unlike all.
        """
        if not hasattr(self, "_judgements") or self._committee.method != self.method:
            self._judgements = []
        kept = best_kept(self._judgements, self.classes_, labeled)
        if kept is None:
            self._judge(labeled)
            return
        answer = self._committee.answer_as_judged(self._view, labeled, kept.judgement)
        self._take(answer, labeled, self._find_reach(labeled) if kept.has_strangers else None)

    def _take(self, answer: Answer, labeled: Labeled, reach: Reach | None) -> None:
        """Keep the committee's answer, with what it says of each row."""
        self._labeled, self._has_label = labeled, labeled.targets.any(axis=0)
        self.class_prior_ = labeled.mean
        self.reached_ = self._reach(labeled)
        self._answer = answer
        self.weights_ = dict(answer.judgement.mixture.weights)
        top, weight = max(self.weights_.items(), key=lambda item: item[1])
        self.method_ = top if weight > 0.9 else "mixture"
        self.unlike_ = self._find_strangers(reach, labeled)
        self._strangers_by = reach if self.unlike_.any() else None
        known = doubt_rows(answer.probabilities, self.unlike_, np.asarray(self._has_label))
        self._conclude(self._without_absent(known), labeled)
        self.island_ = island_numbers(self._piece, labeled.rows)
        self.accepted_ = accepted_under(self, self.risk)
        self.report_ = self._report()

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        answerer = learner_answerer(self)
        if answerer is not None:
            answers = answerer.at(points, self.n_jobs)
            return answers.scores, answers.reached
        plain, projected = self._view.treat(points)
        scores = self._committee.at(projected, plain, self._answer.judgement)
        if self._strangers_by is not None and self._view.recipe is not None:
            unlike = self._strangers_by.misses(self._view.functions_at(projected))
            scores = doubt_rows(scores, unlike, np.asarray(self._has_label))
        return scores, self._view.reached_at(projected, self.reached_)

    def _left_out(self) -> LeftOut:
        judged, held_out = self._answer.judgement.judged, self._answer.judgement.held_out
        return LeftOut(judged.rows, judged.targets, held_out, judged.weights)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transduction_")
