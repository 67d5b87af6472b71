"""Prepare the data: one scale for all columns, fewer of them, angles; then the graph.

Points enter; a `View` leaves: the points that every learner sees and their graph, with the rule
that treats new points in the same way and a sentence for each thing that was done.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import ConnectedByBridgesWarning, InvalidInputError
from beltrami.core.machine.moments import column_moments
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import (
    BoolVector,
    CsrMatrix,
    FloatMatrix,
    FloatVector,
    IndexVector,
    Points,
    Seed,
)
from beltrami.core.validation import check_choice
from beltrami.front_door.islands import pieces_of
from beltrami.graph.distinct import DistinctKnnGraph
from beltrami.graph.fitting import fitted_graph, recipe_of
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe, KnnGraph
from beltrami.graph.witnessed import WitnessedKnnGraph
from beltrami.learners.foundation import Foundation
from beltrami.operators.extension import extend_eigenvectors

_SCALES = ("auto", "standard", "none")

_NEIGHBORS = 10

_FEW_COLUMNS = 0.1
"""Share of the columns that may hold all the variance before their units are thought to differ."""

_WIDE = 128
_LONG = 10_000
_KEPT = 100
"""Dense data of more than 10,000 rows and 128 columns are seen on 100 principal components."""

_BLOCK = 20_000

_NOISY = 0.3
"""Dense data whose signal holds less than 30 % of the variance are seen on the principal components
that stand out of the noise, and one more."""

_LEAST_COLUMNS = 10
_MOST_COLUMNS = 2000
_SAMPLE = 2000
"""Rows and columns up to which the noise is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """How points are treated before anything else.

    Attributes
    ----------
    metric : str
        How distances are measured.
    center, spread : ndarray of shape (d,) or None
        Taken off, and divided by; None for neither.
    directions : ndarray of shape (d, p) or None
        Principal directions to project on, after the mean is taken off.
    reasons : tuple of str
        What was done and why, for a person to read.
    """

    metric: str
    center: FloatVector | None
    spread: FloatVector | None
    directions: FloatMatrix | None
    reasons: tuple[str, ...]

    def rescale(self, points: Points) -> Points:
        """Return points on one scale, in the dtype that came, with all their columns."""
        if self.center is None:
            return points
        moved: FloatMatrix = points - self.center.astype(points.dtype)
        if self.spread is not None:
            moved /= self.spread.astype(points.dtype)
        return moved

    def project(self, plain: Points) -> Points:
        """Return what the graph is built of, from what `rescale` returned."""
        if self.directions is None:
            return plain
        projected: FloatMatrix = plain @ self.directions.astype(plain.dtype)
        return np.ascontiguousarray(projected)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The data as the learners see them; it is kept from fit to fit of other labels.

    Attributes
    ----------
    preparation : Preparation
        How new points are treated.
    plain : ndarray or csr_array of shape (n, d)
        All columns, on one scale; what the baselines see.
    points : ndarray or csr_array of shape (n, p)
        What the graph was built of.
    foundation : Foundation
        Their graph, and what follows from it alone.
    recipe : KnnGraph, RadiusGraph or None
        What made it; None for a given graph.
    random_state : Seed
        For learners that draw.
    """

    preparation: Preparation
    plain: Points
    points: Points
    foundation: Foundation
    recipe: GraphRecipe | None
    random_state: Seed

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.foundation.graph

    @property
    def metric(self) -> Any:
        """How distances are measured."""
        return getattr(self.recipe, "metric", self.preparation.metric)

    def treat(self, points: Points) -> tuple[Points, Points]:
        """Return new points as in `plain` and as in `points`."""
        plain = self.preparation.rescale(points)
        return plain, self.preparation.project(plain)

    def reached_at(self, points: Points, reached: BoolVector) -> BoolVector:
        """Say which new points, as the graph takes them, join rows that a label reaches."""
        if reached.all() or self.recipe is None:
            return np.ones(points.shape[0], dtype=bool)
        tie = self.recipe.attach(self.graph, self.points, points)
        return np.asarray((tie.weights @ reached.astype(np.float64)) > 0)

    def functions_at(self, points: Points) -> FloatMatrix:
        """Return the functions of the shared basis at new points, as the graph takes them.

        It takes a recipe: a given graph says nothing about new points.
        """
        assert self.recipe is not None
        basis = self.foundation.basis
        tie = self.recipe.attach(self.graph, self.points, points)
        functions = extend_eigenvectors(tie.weights, basis.vectors, basis.values, kind=basis.kind)
        is_old = tie.twins >= 0
        functions[is_old] = basis.vectors[tie.twins[is_old]]
        return functions


def build_view(
    points: Points,
    graph: Any = None,
    *,
    scale: str,
    metric: Any,
    random_state: Seed,
    n_jobs: int | None,
    n_classes: int = 0,
) -> View:
    """Prepare points and build their graph.

    - `graph`: as given to an estimator; a recipe brings its own metric, and None means ten
      neighbours, different ones where many rows are equal, pieces of the data joined by bridges.
    - `n_classes`: as many as are known of.
    """
    given = None if graph is None else recipe_of(graph)
    preparation = prepare(
        points,
        scale=scale,
        metric=metric if given is None else getattr(given, "metric", "euclidean"),
    )
    plain = preparation.rescale(points)
    projected = preparation.project(plain)
    enter_stage(Stage.GRAPH)
    if graph is None:
        usual = default_graph(metric=preparation.metric, random_state=random_state, n_jobs=n_jobs)
        built, recipe = _build_bridged(usual, projected)
    else:
        is_ours = isinstance(graph, WitnessedKnnGraph)
        built, recipe = (_build_bridged if is_ours else fitted_graph)(graph, projected)
    foundation = Foundation(built, is_shared=True, n_classes=n_classes)
    return View(preparation, plain, projected, foundation, recipe, random_state)


def default_graph(
    *, metric: Any, random_state: Seed, n_jobs: int | None, witnesses: CsrMatrix | None = None
) -> KnnGraph:
    """Return the recipe that is taken where none is asked for.

    - `witnesses`: how many rows lie between two points, where points stand for more rows.
    """
    options: dict[str, Any] = {
        "metric": metric,
        "weights": "tuned_shared",
        "connect": "mst",
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    if witnesses is None:
        return DistinctKnnGraph(_NEIGHBORS, **options)
    return WitnessedKnnGraph(witnesses, _NEIGHBORS, **options)


def _build_bridged(recipe: Any, points: Points) -> tuple[Graph, GraphRecipe | None]:
    """Build the default graph, and say what its bridges mean to those who did not choose it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConnectedByBridgesWarning)
        graph, made_by = fitted_graph(recipe, points)
    sizes = np.bincount(pieces_of(graph, points, recipe.metric, recipe.n_neighbors))
    n_pieces = len(sizes)
    if n_pieces > 1:
        warnings.warn(
            f"the data fall into {n_pieces} pieces, of {_sizes(sizes)} rows, which were joined "
            f"by {n_pieces - 1} bridge(s) {_where(graph)}. What is said "
            "across a bridge is a guess: label some rows in each piece.",
            ConnectedByBridgesWarning,
            stacklevel=5,  # whoever fits
        )
    return graph, made_by


def _sizes(sizes: IndexVector) -> str:
    """Return sizes in words, the largest first, and how many more there are."""
    shown = [f"{size:,}" for size in np.sort(sizes)[::-1]]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more sizes" if len(shown) > 4 else "")


def _where(graph: Graph) -> str:
    rough = graph.certificate.n_rough_bridges
    closest = "where they come closest"
    return f"{closest}, {rough} of them only about so" if rough else closest


def prepare(points: Points, *, scale: str, metric: str) -> Preparation:
    r"""Decide how to treat points.

    Columns are put on one scale where a few of them hold nearly all the variance, which is what
    different units look like; the number of columns that hold it is the participation number
    :math:`(\sum v)^2 / \sum v^2` of the variances. Pixels, spectra and embeddings share a unit
    and are left alone. Where noise holds much of the variance, only the principal components that
    stand out of it are kept: distances in many noisy directions say little. Sparse data are
    compared by angle, unless rows of zeros have none.
    """
    check_choice(scale, _SCALES, name="scale")
    metric, reasons = _choose_metric(points, metric)
    if issparse(points) or metric != "euclidean":
        return Preparation(metric, None, None, None, reasons)
    center, spread = column_moments(points)
    if not np.isfinite(spread).all():
        raise InvalidInputError(
            f"X goes up to {float(np.abs(points).max()):.3g}, and the squares of such numbers "
            "overflow. Divide the columns by a unit of theirs."
        )
    is_standard = scale == "standard" or (scale == "auto" and _units_differ(spread))
    if is_standard:
        why = "as asked" if scale == "standard" else "a few columns hold nearly all the variance"
        reasons += (f"columns standardised: {why}",)
    units = spread if is_standard else None
    directions = None
    kept, share = _signal(points, units)
    n, d = points.shape
    if share < _NOISY:
        directions, _ = _directions(points, center, units, min(kept + 1, d))
        reasons += (
            f"{d} columns seen on {directions.shape[1]} principal components: {kept} stand out of "
            f"the noise, which holds {1 - share:.0%} of the variance",
        )
    elif n > _LONG and d > _WIDE:
        directions, held = _directions(points, center, units, _KEPT)
        reasons += (
            f"{d} columns seen on {_KEPT} principal components, {held:.0%} of the variance",
        )
    if not is_standard and directions is None:
        return Preparation(metric, None, None, None, reasons)
    safe = np.where(spread > 0, spread, 1.0) if is_standard else None
    return Preparation(metric, center, safe, directions, reasons)


def _signal(points: FloatMatrix, spread: FloatVector | None) -> tuple[int, float]:
    r"""Return how many principal components stand out of the noise, and their share of variance.

    Independent noise of variance :math:`\sigma^2` in d columns of n rows has eigenvalues between
    :math:`\sigma^2 (1 \pm \sqrt{d / n})^2` [MarchenkoPastur67]_; what lies above stands out, with
    :math:`\sigma^2` from the median eigenvalue. At least one component does.
    """
    n, d = points.shape
    if not _LEAST_COLUMNS <= d <= _MOST_COLUMNS or n <= 2 * _LEAST_COLUMNS:
        return d, 1.0
    rows = np.random.default_rng(0).permutation(n)[: max(_SAMPLE, 2 * d)]
    sample = points[np.sort(rows)].astype(np.float64)
    sample -= sample.mean(axis=0)
    if spread is not None:
        sample /= np.where(spread > 0, spread, 1.0)
    sample = sample[:, np.ptp(sample, axis=0) > 0]
    short, long = sorted(sample.shape)
    if short < _LEAST_COLUMNS:
        return d, 1.0
    products = sample.T @ sample if sample.shape[1] == short else sample @ sample.T
    values = np.maximum(np.linalg.eigvalsh(products)[::-1], 0.0) / long
    aspect = short / long
    noise = float(np.median(values)) / _median_noise(aspect)
    kept = max(int((values > noise * (1 + np.sqrt(aspect)) ** 2).sum()), 1)
    return kept, float(values[:kept].sum() / max(values.sum(), 1e-300))


def _median_noise(aspect: float) -> float:
    """Return the median of the law of Marchenko and Pastur for unit variance."""
    low, high = (1 - np.sqrt(aspect)) ** 2, (1 + np.sqrt(aspect)) ** 2
    places = np.linspace(low, high, 2001)[1:-1]
    mass = np.cumsum(np.sqrt((high - places) * (places - low)) / places)
    return float(places[np.searchsorted(mass, mass[-1] / 2)])


def _choose_metric(points: Points, metric: Any) -> tuple[Any, tuple[str, ...]]:
    if not (isinstance(metric, str) and metric == "auto"):
        return metric, ()
    if not issparse(points):
        return "euclidean", ()
    n_empty = int((_squares(points) == 0).sum())
    if n_empty:
        return "euclidean", (f"rows not compared by angle: {n_empty} are all zero and have none",)
    return "angle", ("rows compared by angle: the data are sparse, such as words of texts",)


def _squares(points: CsrMatrix) -> FloatVector:
    sums: FloatVector = np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64)
    return sums.ravel()


def _units_differ(spread: FloatVector) -> bool:
    varied = spread[spread > 0] ** 2
    if len(varied) < 2:
        return False
    shares = varied / varied.max()  # free of overflow
    holding = shares.sum() ** 2 / (shares**2).sum()
    return bool(holding < 1 + _FEW_COLUMNS * (len(varied) - 1))


def _directions(
    points: FloatMatrix, center: FloatVector, spread: FloatVector | None, count: int
) -> tuple[FloatMatrix, float]:
    """Return the leading principal directions, and the share of the variance along them."""
    d = points.shape[1]
    products = np.zeros((d, d))
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK].astype(np.float64) - center
        if spread is not None:
            block /= np.where(spread > 0, spread, 1.0)
        products += block.T @ block
    values, vectors = np.linalg.eigh(products)
    order = np.argsort(values)[::-1][:count]
    return vectors[:, order], float(values[order].sum() / max(values.sum(), 1e-300))
