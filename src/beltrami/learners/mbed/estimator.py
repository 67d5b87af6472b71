"""Mbed, the large margin embedding: boundaries are fixed, the points are placed among them."""

import warnings
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import DisconnectedGraphWarning, InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.core.validation import check_count
from beltrami.embeddings.mbed.model import Problem, Targets
from beltrami.embeddings.mbed.modes import PaperMode, PracticalMode
from beltrami.embeddings.mbed.placement import TIE, ClassPull, place
from beltrami.embeddings.mbed.simplex import simplex_directions, sureness
from beltrami.embeddings.neighborhoods.affinities import twins_of
from beltrami.graph.fitting import checked_points
from beltrami.learners.base import PartialLabelClassifier, fitted_temperature, softmax
from beltrami.learners.mbed.guesses import cut_guess, guess_graph, spread_guess
from beltrami.learners.mbed.held_out import held_out_part
from beltrami.learners.mbed.partial_knowledge import Knowledge, read_knowledge
from beltrami.learners.model import Labeled
from beltrami.learners.parameters import checked_shares
from beltrami.operators.comparison import check_comparable, without_diagonal

_MODES = {"practical": PracticalMode, "paper": PaperMode}


class Mbed(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PartialLabelClassifier):
    r"""Place points among fixed class boundaries, from dissimilarities and few labels.

    Positions :math:`y_i \in \mathbb R^d` minimise [ZienQuinonero05]_

    .. math:: \sum_i KL(P_i \| Q_i) - H(\bar m) + \tfrac1n \sum_i H(m_i)
              + \sum_{i \in L} KL(t_i \| m_i):

    the neighbours of the data stay neighbours on the map, points keep away from the boundaries,
    classes are balanced, and labelled points lie in their class. The memberships are
    :math:`m_{ik} = \mathrm{softmax}_k(\langle w_k, y_i \rangle / \lambda)` with K fixed
    directions at equal angles. Labels may be probabilities, and without any the points are
    clustered.

    Parameters
    ----------
    n_classes : int or None, default=None
        K. None means as many as y shows; with more, the others are found without labels.
    mode : {"practical", "paper"}, PracticalMode or PaperMode, default="practical"
        How the map is made.
    metric : str or callable, default="euclidean"
        How rows are compared: "euclidean", "cosine", "angle", any metric of scikit-learn, or
        "precomputed" where X holds dissimilarities: any, even asymmetric ones, or a sparse matrix
        of near pairs.
    n_components : int or None, default=None
        d, at least K - 1; None means K + 5, and K in paper mode.
    prior : array-like of shape (K,) or None, default=None
        Expected shares of the classes.
    classes : array-like or None, default=None
        All classes there are; of soft labels, the names of their columns.
    unlabeled : object, default="auto"
        What marks an unlabelled row.
    random_state : int, Generator, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, d)
        Positions.
    directions_ : ndarray of shape (K, d)
        Class directions; a point belongs to the class it lies farthest along.
    path_ : tuple of Stage
        Every stage with its cost and criterion.
    temperature_ : float
        What memberships are divided by before they are called probabilities, fitted on labels that
        some maps did not know; 1 in paper mode, whose memberships are no probabilities.
    criterion_ : float
        Hotelling-Lawley trace of the chosen stage: between over within classes.
    classes_ : ndarray of shape (K,)
        The classes; 0 to K - 1 where no label names them.
    transduction_ : ndarray of shape (n,)
        Class of every row.
    label_distributions_ : ndarray of shape (n, K)
        Probabilities of the classes.
    confidence_ : ndarray of shape (n,)
        Probability of the class in `transduction_`.
    reached_ : ndarray of shape (n,)
        Whether a label reaches the row through neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import Mbed, two_moons
    >>> moons = two_moons(200, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[[0, 199]] = moons.targets[[0, 199]]
    >>> learner = Mbed(random_state=0).fit(moons.points, y)
    >>> bool((learner.transduction_ == moons.targets).mean() > 0.95)
    True
    >>> learner.predict([[0.0, 1.0], [1.0, -0.5]])
    array([0, 1])
    >>> Mbed(mode="paper", random_state=0).fit(moons.points, y).embedding_.shape
    (200, 2)
    """

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        mode: Any = "practical",
        metric: Any = "euclidean",
        n_components: int | None = None,
        prior: Any = None,
        classes: Any = None,
        unlabeled: Any = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_classes = n_classes
        self.mode = mode
        self.metric = metric
        self.n_components = n_components
        self.prior = prior
        self.classes = classes
        self.unlabeled = unlabeled
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Place the points of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n, p), or (n, n) for "precomputed"
            One row per point, labelled or not, in any order.
        y : array-like of shape (n,) or (n, K), or None, default=None
            Labels with unlabelled rows marked; class probabilities, with rows of NaN where nothing
            is known; or None to cluster.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts.

        Returns
        -------
        Mbed
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        check_comparable(points, self.metric)
        knowledge = self._read_labels(y, points.shape[0], sample_weight)
        self.classes_, self._marker = knowledge.classes, knowledge.marker
        k = len(knowledge.classes)
        self.mode_ = _resolve_mode(self.mode)
        d = self.mode_.dimensions(k) if self.n_components is None else self.n_components
        self.directions_ = simplex_directions(k, check_count(d, name="n_components"))
        self.affinity_ = self.mode_.affinity(points, self.metric, k)
        self.neighborhood_ = self.affinity_.neighborhood()
        labeled = knowledge.labeled
        self._guess = self._guess_classes(points, labeled)
        problem = Problem(
            self.neighborhood_,
            Targets(labeled.rows, labeled.targets, labeled.weights),
            k,
            d,
            self._shares(k),
            self._guess,
        )
        self.path_ = self.mode_.path(problem, generator(self.random_state))
        self.stage_ = self.mode_.chosen(self.path_)
        self.embedding_, self.criterion_ = self.stage_.embedding, self.stage_.criterion
        self._n_features_out = d
        self.temperature_ = self._choose_temperature(points, labeled)
        self._learn(labeled)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> FloatMatrix:
        """Place the points of X and return their positions.

        Parameters
        ----------
        X : array-like or sparse of shape (n, p)
            One row per point.
        y : array-like of shape (n,) or (n, K), or None, default=None
            As in `fit`.
        sample_weight : array-like of shape (n,) or None, default=None
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, d)
            ``embedding_``.
        """
        embedding: FloatMatrix = self.fit(X, y, sample_weight).embedding_
        return embedding

    def transform(self, X: Any) -> FloatMatrix:
        """Return the positions of new points: each minimises its own part of the cost.

        The points of the fit stay where they are, and the problem of a new one is convex. A point
        of the fit gets its own position back.

        Parameters
        ----------
        X : array-like or sparse of shape (m, p), or (m, n) for "precomputed"
            Points.

        Returns
        -------
        ndarray of shape (m, d)
            Positions.
        """
        check_is_fitted(self)
        return self._positions_at(checked_points(self, X, reset=False))[0]

    def _read_labels(self, y: Any, n_points: int, sample_weight: Any) -> Knowledge:
        return read_knowledge(
            y,
            n_points,
            sample_weight,
            n_classes=self.n_classes,
            unlabeled=self.unlabeled,
            classes=self.classes,
        )

    def _shares(self, n_classes: int) -> FloatVector | None:
        """Return the prior, checked."""
        if self.prior is None:
            return None
        return checked_shares(self.prior, n_classes, name="prior")

    def _guess_classes(self, points: Points, labeled: Labeled) -> FloatMatrix | None:
        """Return a graph learner's guess of every row, for the mode that starts from one."""
        if not isinstance(self.mode_, PracticalMode):
            return None
        k = len(self.classes_)
        mutual = self.neighborhood_.mutual
        if labeled.targets.any(axis=0).all():
            graph = guess_graph(self.metric, mutual)
            guess = spread_guess(self.mode_.guess, points, graph, labeled, k)
        else:
            guess = cut_guess(mutual, labeled, k, self.random_state)
        guess[labeled.rows] = labeled.targets
        return guess

    def _learn(self, labeled: Labeled) -> None:
        self._labeled = labeled
        self._has_label = np.ones(len(self.classes_), dtype=bool)  # without labels they are found
        uniform = np.full(len(self.classes_), 1 / len(self.classes_))
        self.class_prior_ = labeled.mean if len(labeled.rows) else uniform
        self.reached_ = self._reach(labeled)
        self._conclude(self._scores(labeled), labeled)

    def _scores(self, labeled: Labeled) -> FloatMatrix:  # noqa: ARG002
        return self._logits(self.embedding_)

    def _logits(self, embedding: FloatMatrix) -> FloatMatrix:
        logits: FloatMatrix = embedding @ self.directions_.T / self.stage_.scale
        return logits

    def _reach(self, labeled: Labeled) -> BoolVector:
        """Say which rows labels reach through neighbours; all, where classes are found without."""
        reached = np.ones(self.neighborhood_.n_points, dtype=bool)
        is_found = not labeled.targets.any(axis=0).all()
        mutual = getattr(self.neighborhood_, "mutual", None)
        if is_found or not isinstance(mutual, csr_array):  # a wide kernel leaves nobody out
            return reached
        _, component = connected_components(mutual, directed=False)
        reached = np.isin(component, component[labeled.rows])
        n_unreached = int((~reached).sum())
        if n_unreached:
            warnings.warn(
                f"{n_unreached} of {len(reached)} rows have no chain of neighbours to a labelled "
                "one and stay unlabelled (reached_ is False): the map puts them anywhere. Label a "
                "row among them, or raise the perplexity.",
                DisconnectedGraphWarning,
                stacklevel=4,
            )
        return reached

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        return softmax(scores, self.temperature_)

    def _choose_temperature(self, points: Points, labeled: Labeled) -> float:
        """Return how sure memberships may be, by maps that did not know some of the labels."""
        n_folds = getattr(self.mode_, "n_folds", 0)
        part = held_out_part(labeled, points.shape[0], len(self.classes_), n_folds)
        if part is None:
            return 1.0
        few = points[part.rows]
        if self.metric == "precomputed":
            few = few[:, part.rows]
            if issparse(few) and not np.diff(without_diagonal(few).indptr).all():
                return 1.0  # a part of near pairs that leaves a row alone says nothing of the whole
        held = clone(self).set_params(
            mode=clone(self.mode_).set_params(n_folds=0, n_steps=max(self.mode_.n_steps // 2, 10)),
            n_classes=len(self.classes_),
            classes=None,
            random_state=0,
        )
        logits = [held.fit(few, known)._scores_of(rows) for known, rows in part.folds()]
        return fitted_temperature(np.concatenate(logits), part.truth(), part.weights())

    def _scores_of(self, rows: IndexVector) -> FloatMatrix:
        return self._logits(self.embedding_[rows])

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        positions, reached = self._positions_at(points)
        return self._logits(positions), reached

    def _positions_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        check_comparable(points, self.metric, is_new=True)
        probabilities = self.affinity_.towards(points)
        positions = place(probabilities, self.embedding_, tie=TIE, pull=self._pull(probabilities))
        reached = np.asarray(probabilities @ self.reached_.astype(np.float64)) > 0
        twins = twins_of(self.affinity_.points, self.metric, points)
        is_old = twins >= 0
        positions[is_old] = self.embedding_[twins[is_old]]
        reached[is_old] = self.reached_[twins[is_old]]
        return positions, reached

    def _pull(self, probabilities: Any) -> ClassPull | None:
        """Return what the neighbours' guesses say of new points, as they weigh in the fit."""
        if self._guess is None:
            return None
        guess = np.asarray(probabilities @ self._guess)
        guess /= guess.sum(axis=1, keepdims=True)
        weights = self.mode_.guess_weight * sureness(guess)
        return ClassPull(self.directions_, self.stage_.scale, guess, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _resolve_mode(mode: Any) -> Any:
    if isinstance(mode, str) and mode in _MODES:
        return _MODES[mode]()
    if isinstance(mode, tuple(_MODES.values())):
        return clone(mode)
    raise InvalidInputError(
        f"mode={mode!r} must be one of {', '.join(map(repr, _MODES))}, or PaperMode(...) or "
        "PracticalMode(...)."
    )
