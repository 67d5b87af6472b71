"""Eigenfunction learners: labels are fitted by the slowest functions that live on the data."""

from abc import abstractmethod
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexMatrix, Points, Seed
from beltrami.core.validation import check_choice
from beltrami.graph.fitting import attach_to_fit
from beltrami.graph.search import open_space
from beltrami.learners.base import GraphLearner, GraphRegressor, TemperedClassifier
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.learners.parameters import check_gamma
from beltrami.learners.spectral.basis_fit import SpectralFit, spectral_fit, vector_count
from beltrami.operators.extension import extend_eigenvectors
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

MOST_VECTORS = 200
"""Eigenvectors computed for ``n_eigenvectors="auto"``."""

_NEW_POINTS = ("nystrom", "neighbors")
_VOTERS = 3
_OWN_ROWS = 5000
"""Rows up to which a basis of its own costs next to nothing on a graph that is shared: small tables
are told apart better by the eigenvectors of the combinatorial Laplacian than by the shared ones."""
_SMALL_ENTRIES = 500_000
"""Entries up to which a factorisation is faster on one thread."""


class _OwnBases(dict[tuple[int, float, int | None], Basis]):
    """Bases of one graph by number of eigenvectors, tolerance and seed."""


class _EigenfunctionLearner(GraphLearner):
    """What classifier and regressor share: the basis, the fit in it, its values elsewhere."""

    n_eigenvectors: Any
    gamma: Any
    new_points: str
    tol: float
    random_state: Seed

    def _prepare(self, labeled: Labeled) -> None:
        if self._shares_basis:
            self.basis_ = self._foundation.basis
            return
        n, count = self.graph_.n_nodes, len(labeled.rows)
        needed = vector_count(self.n_eigenvectors, count, n, most=MOST_VECTORS)
        # The constants of all components, and one more vector to see whether a space is split.
        size = min(max(needed, self.n_components_) + 1, n)
        require_memory(
            16.0 * n * size,
            what=f"a basis of {size} eigenvectors of {n} points",
            instead="Ask for fewer eigenvectors, or join the components (connect='mst').",
        )
        self.basis_ = self._own_basis(size)

    def _own_basis(self, size: int) -> Basis:
        """Return so many eigenvectors, worked out once where others rest on the graph, too."""
        seed = self.random_state
        if not self._foundation.is_shared or not isinstance(seed, int | None):
            return eigenbasis(self.graph_, size, tol=self.tol, random_state=seed)
        kept: _OwnBases = self._foundation.derived.setdefault(_OwnBases, _OwnBases())
        key = size, self.tol, seed
        if key not in kept:
            kept[key] = eigenbasis(self.graph_, size, tol=self.tol, random_state=seed)
        return kept[key]

    @property
    def _shares_basis(self) -> bool:
        return self._foundation.is_shared and self.graph_.n_nodes > _OWN_ROWS

    def _keep_choices(self) -> None:
        self.gamma, self.n_eigenvectors = self.gamma_, self.n_eigenvectors_

    def _fit_spectrum(self, labeled: Labeled) -> SpectralFit:
        check_choice(self.new_points, _NEW_POINTS, name="new_points")
        check_gamma(self.gamma)
        n, count = self.graph_.n_nodes, len(labeled.rows)
        needed = vector_count(self.n_eigenvectors, count, n, most=1)
        if min(needed + 1, n) > len(self.basis_.values) and not self._shares_basis:
            self._prepare(labeled)  # a share of more labels than before
        is_small = count * len(self.basis_.values) < _SMALL_ENTRIES
        with serial_blas() if is_small else nullcontext():
            fit = spectral_fit(
                self.basis_.vectors[labeled.rows],
                self.basis_.values,
                labeled,
                n_eigenvectors=self.n_eigenvectors,
                gamma=self.gamma,
                n_constant=self.n_components_,
            )
        self.spectral_fit_ = fit
        self.n_eigenvectors_, self.gamma_ = fit.size, fit.gamma
        return fit

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        fit = self._fit_spectrum(labeled)
        vectors = self.basis_.vectors[:, : fit.size]
        coefficients = fit.coefficients.astype(vectors.dtype, copy=False)
        return np.asfortranarray(vectors @ coefficients)  # what follows goes class by class

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        if self.new_points == "neighbors":
            return self._scores_by_vote(points)
        return self._extend(points, self.spectral_fit_.coefficients)

    def _extend(self, points: Points, coefficients: FloatMatrix) -> tuple[FloatMatrix, BoolVector]:
        """Return a combination of eigenvectors at new points, and which of these are reached."""
        tie, p = attach_to_fit(self, points), len(coefficients)
        inside = np.asarray((tie.weights @ self.reached_.astype(np.float64)) > 0)
        vectors, values = self.basis_.vectors[:, :p], self.basis_.values[:p]
        there = extend_eigenvectors(tie.weights, vectors, values, kind=self.basis_.kind)
        return self._with_twins(tie, there @ coefficients, inside, vectors @ coefficients)

    def _scores_by_vote(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        """Return the votes of the three nearest points of the fit, with what they were given."""
        voters, is_reached = self._voters(points)
        return self._count_votes(voters, is_reached), np.asarray(is_reached.any(axis=1))

    def _voters(self, points: Points) -> tuple[IndexMatrix, NDArray[np.bool_]]:
        """Return the three nearest points of the fit and whether a label reaches each."""
        space = open_space(self.points_, getattr(self.recipe_, "metric", "euclidean"))
        voters: IndexMatrix = space.nearest(points, min(_VOTERS, len(self.reached_)))[0]
        return voters, self.reached_[voters]

    @abstractmethod
    def _count_votes(self, voters: IndexMatrix, is_reached: NDArray[np.bool_]) -> FloatMatrix:
        """Return the scores that the voters which a label reaches give together."""

    def _left_out(self) -> LeftOut:
        return self.spectral_fit_.left_out

    def _choices(self) -> tuple[Choice, ...]:
        return self.spectral_fit_.choices


class EigenfunctionClassifier(_EigenfunctionLearner, TemperedClassifier):
    r"""Classify by least squares on the first eigenvectors of the graph [BelkinNiyogi02]_.

    The eigenvectors :math:`L e_j = \lambda_j e_j` of the Laplacian of all points, labelled or not,
    are the slowest functions on the data. For each class against all others, with targets
    :math:`c_i = \pm 1` at the labelled points,

    .. math:: \min_a \frac{1}{\sum w} \sum_i w_i \left(c_i - \sum_{j \le p} a_j e_j(i)\right)^2
              + \gamma \sum_j \lambda_j a_j^2,

    and every point gets the class with the highest score :math:`\sum_j a_j e_j`
    ([Belkin03]_, sec. 3.5, without the penalty). The constant vector is among the p. The labels
    are fitted by an orthogonal factorisation, never by the normal equations.

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``. The thesis uses
        ``KnnGraph(8, weights="binary")``, for phonemes 10 neighbours.
    n_eigenvectors : int, float or "auto", default="auto"
        p: a number, a share of the labels (0.2 is the thesis's rule), or chosen among up to 200
        by exact leave-one-out, at most 0.6 per label. As many as labels or more, without a
        penalty, are lowered to that with a warning; never fewer than components of the graph.
    gamma : float or "auto", default=0.0
        Penalty, spectral ridge: 0 is the thesis's method; "auto" chooses it by exact
        leave-one-out and uses all eigenvectors.
    new_points : {"nystrom", "neighbors"}, default="nystrom"
        How `predict` labels new points: by the eigenvectors' values there (Nyström), or by the
        three nearest points of the fit with the labels they were given ([Belkin03]_, sec. 3.8.4).
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    tol : float, default=1e-3
        Of `eigenbasis`; the fit needs the span of the vectors only.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the eigensolver.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Probabilities: softmax of the scores at the temperature that fits the leave-one-out scores.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    n_eigenvectors_, gamma_, temperature_ : int, float, float
        What was used.
    graph_, basis_ : Graph, Basis
        With their certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import EigenfunctionClassifier, two_moons
    >>> moons = two_moons(300, random_state=0)
    >>> y = np.full(300, -1)
    >>> y[::30] = moons.targets[::30]
    >>> learner = EigenfunctionClassifier().fit(moons.points, y)
    >>> bool((learner.transduction_ == moons.targets).mean() > 0.95)
    True
    """

    def __init__(
        self,
        *,
        graph: Any = None,
        n_eigenvectors: float | str = "auto",
        gamma: float | str = 0.0,
        new_points: str = "nystrom",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.graph = graph
        self.n_eigenvectors = n_eigenvectors
        self.gamma = gamma
        self.new_points = new_points
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol
        self.random_state = random_state

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        scores = super()._scores(labeled.with_signs())
        self._fit_temperature(self.spectral_fit_.left_out.scores, labeled)
        return scores

    def _count_votes(self, voters: IndexMatrix, is_reached: NDArray[np.bool_]) -> FloatMatrix:
        codes = self.scores_.argmax(axis=1)
        codes[self._labeled.rows] = self._labeled.targets.argmax(axis=1)
        # Nearest first breaks ties: it has a little more than one vote.
        shares = 1.0 - 0.01 * np.arange(voters.shape[1])
        votes = np.zeros((len(voters), len(self.classes_)))
        for column, share in enumerate(shares):
            votes[np.arange(len(voters)), codes[voters[:, column]]] += share * is_reached[:, column]
        return np.asarray(2 * votes / shares.sum() - 1)


class EigenfunctionRegressor(_EigenfunctionLearner, GraphRegressor):
    r"""Fit a function by least squares on the first eigenvectors of the graph.

    .. math:: \min_a \frac{1}{\sum w} \sum_i w_i \left(y_i - \sum_{j \le p} a_j e_j(i)\right)^2
              + \gamma \sum_j \lambda_j a_j^2

    with :math:`L e_j = \lambda_j e_j` over all points, labelled or not ([Belkin03]_, sec. 3.6.2,
    without the penalty).

    Parameters
    ----------
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    n_eigenvectors : int, float or "auto", default="auto"
        p: a number, a share of the labels, or, without a penalty, chosen among up to 200 by exact
        leave-one-out.
    gamma : float or "auto", default="auto"
        Penalty; "auto" chooses it by exact leave-one-out and uses all eigenvectors unless a number
        of them is given. With 0 the choice of p jumps from draw to draw of few labels, and
        intervals come out too short.
    new_points : {"nystrom", "neighbors"}, default="nystrom"
        How `predict` treats new points: by the eigenvectors' values there, or by the mean of the
        three nearest points of the fit.
    tol : float, default=1e-3
        Of `eigenbasis`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the eigensolver.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        The value of each row: the given one where there is one, NaN where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    n_eigenvectors_, gamma_ : int, float
        What was used.
    graph_, basis_ : Graph, Basis
        With their certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import EigenfunctionRegressor, circle
    >>> ring = circle(200, random_state=0)
    >>> y = np.where(np.arange(200) < 20, ring.points[:, 0], np.nan)
    >>> learner = EigenfunctionRegressor().fit(ring.points, y)
    >>> bool(np.abs(learner.transduction_ - ring.points[:, 0]).max() < 0.2)
    True
    """

    def __init__(
        self,
        *,
        graph: Any = None,
        n_eigenvectors: float | str = "auto",
        gamma: float | str = "auto",
        new_points: str = "nystrom",
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.graph = graph
        self.n_eigenvectors = n_eigenvectors
        self.gamma = gamma
        self.new_points = new_points
        self.tol = tol
        self.random_state = random_state

    def _count_votes(self, voters: IndexMatrix, is_reached: NDArray[np.bool_]) -> FloatMatrix:
        return _mean_of_reached(self.transduction_[:, None], voters, is_reached)

    def _shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        operator = self.spectral_fit_.operator() * residuals
        if self.new_points == "nystrom":
            return self._extend(points, operator)[0]
        shifts: FloatMatrix = self.basis_.vectors[:, : len(operator)] @ operator
        shifts[self._labeled.rows] = np.diag(residuals)  # these vote as given, but for their own
        return _mean_of_reached(shifts, *self._voters(points))


def _mean_of_reached(
    values: FloatMatrix, voters: IndexMatrix, is_reached: NDArray[np.bool_]
) -> FloatMatrix:
    totals = np.zeros((len(voters), values.shape[1]))
    for column in range(voters.shape[1]):
        rows = np.flatnonzero(is_reached[:, column])
        totals[rows] += values[voters[rows, column]]
    return np.asarray(totals / np.maximum(is_reached.sum(axis=1), 1)[:, None])
