"""The answerer: all that a fitted front door needs for new points, and nothing else.

The learner in memory and one that was read from a file both answer through it, so that they give
the same answers to the last bit. Points are tied to the graph once, for all candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from beltrami.core.machine.threads import thread_limit
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.front_door.answering.arrival import Arrival
from beltrami.front_door.answering.distilled import Distilled
from beltrami.front_door.answering.voices import Voice, voice_of
from beltrami.front_door.mixture.confidence import doubt_rows
from beltrami.front_door.mixture.model import Mixture
from beltrami.front_door.prepare import Preparation, View
from beltrami.graph.anchors import Anchors, named_nodes, set_anchors
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.weights import weight_rule
from beltrami.operators.extension import walk_factors
from beltrami.review.reach import Reach

_ROWS = 2**14
"""Rows that are answered together, whatever the number of all: memory is bounded by them."""

_SHARES = 2**19
"""Shares of classes in the answers to these; of very many classes fewer rows go together."""


@dataclass(frozen=True, eq=False)
class Strangers:
    """How rows are found that are like no label.

    Attributes
    ----------
    functions : ndarray of shape (n, q)
        Slow functions at the anchors.
    factors : ndarray of shape (q,)
        Their denominators in Nyström's formula.
    damping, places, least
        As in `Reach`.
    """

    functions: FloatMatrix
    factors: FloatVector
    damping: FloatVector
    places: FloatMatrix
    least: float

    @cached_property
    def _slopes(self) -> FloatMatrix:
        return np.asarray(self.functions / self.factors, dtype=self.functions.dtype)

    def among(self, arrival: Arrival) -> BoolVector:
        """Return which new points are like no label, (m,)."""
        reach = Reach(self.damping, self.places, self.least)
        return reach.misses(arrival.extend(self._slopes, self.functions))


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What is said of new points.

    Attributes
    ----------
    scores : ndarray of shape (m, k)
        Probabilities, before classes without a label are left out.
    reached, unlike : ndarray of shape (m,)
        Whether a label reaches a point, and whether it is like no label.
    stretch : ndarray of shape (m,)
        How far it lies from its neighbours beside what is usual there; see `Tie`.
    is_apart : ndarray of shape (m,)
        Whether it lies nearest to an anchor on an island.
    """

    scores: FloatMatrix
    reached: BoolVector
    unlike: BoolVector
    stretch: FloatVector
    is_apart: BoolVector


@dataclass(frozen=True, slots=True, eq=False)
class Answerer:
    """What answers new points.

    Attributes
    ----------
    preparation : Preparation
        How they are treated first.
    anchors : Anchors
        What they are tied to.
    is_reached, is_island : ndarray of shape (n,)
        Whether a label reaches an anchor, and whether it lies on an island.
    voices : dict of str to Voice
        Of the candidates that are heard.
    mixture : Mixture
        How these answer together.
    has_label : ndarray of shape (k,)
        Which classes have a label.
    strangers : Strangers or None
        How points like no label are found; None where no row of the fit was.
    distilled : Distilled or None, default=None
        What the points of the fit say as one function, where they stand for more rows.
    is_apart : ndarray of shape (n,) or None, default=None
        Whether an anchor stands for rows far from all others and from labels; None where each
        anchor stands for itself.
    """

    preparation: Preparation
    anchors: Anchors
    is_reached: BoolVector
    is_island: BoolVector
    voices: Mapping[str, Voice]
    mixture: Mixture
    has_label: BoolVector
    strangers: Strangers | None
    distilled: Distilled | None = None
    is_apart: BoolVector | None = None

    @property
    def n_together(self) -> int:
        """How many rows are answered together."""
        return int(np.clip(_SHARES // len(self.has_label), 2**9, _ROWS))

    def at(self, points: Points, n_jobs: int | None = None) -> Answers:
        """Answer new points, checked, in blocks."""
        starts = range(0, points.shape[0], self.n_together)
        with thread_limit(n_jobs):
            parts = [self._at(points[start : start + self.n_together]) for start in starts]
        if len(parts) == 1:
            return parts[0]
        names = ("scores", "reached", "unlike", "stretch", "is_apart")
        return Answers(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))

    def _at(self, points: Points) -> Answers:
        plain = self.preparation.rescale(points)
        projected = self.preparation.project(plain)
        tie = self.anchors.tie(projected)
        arrival = Arrival(plain, projected, tie, self.is_reached)
        logits = {name: self.voices[name].logits(arrival) for name in self.mixture.heard}
        scores = self.mixture.answer(logits)
        if self.distilled is not None:
            scores = self.distilled.answer(projected, scores, self.has_label)
        unlike = np.zeros(len(scores), dtype=bool)
        if self.strangers is not None:
            unlike = self.strangers.among(arrival)
        if self.is_apart is not None:
            unlike |= self.is_apart[tie.nearest]
        if unlike.any():
            scores = doubt_rows(scores, unlike, self.has_label)
        return Answers(scores, arrival.reached, unlike, tie.stretch, self.is_island[tie.nearest])


def anchors_of(view: View) -> Anchors | None:
    """Return the anchors of a view, set once; None where new points are not tied by lists."""
    recipe = view.recipe
    if not isinstance(recipe, KnnGraph) or not isinstance(recipe.metric, str):
        return None
    if recipe.metric == "precomputed" or view.graph.neighbors is None:
        return None
    known: Anchors | None = view.foundation.derived.get(Anchors)
    if known is None:
        known = set_anchors(
            view.points,
            view.graph,
            weight_rule(recipe.weights),
            metric=recipe.metric,
            n_neighbors=recipe.n_neighbors,
            by_cells=True,
        )
        view.foundation.derived[Anchors] = known
    return known


def answerer_of(
    view: View,
    members: Mapping[str, Any],
    mixture: Mixture,
    *,
    reached: BoolVector,
    island: IndexVector,
    has_label: BoolVector,
    reach: Reach | None,
) -> Answerer | None:
    """Return what answers new points for fitted members; None where arrays do not say it.

    - `reached`, `island`: of the rows of the fit; `reach`: how rows like no label are found.
    """
    anchors = anchors_of(view)
    if anchors is None or view.graph.neighbors is None:
        return None
    named = named_nodes(view.graph.neighbors)
    rows: Any = slice(None) if named is None else named
    voices = {name: voice_of(name, members[name], rows) for name in mixture.heard}
    spoken = {name: one for name, one in voices.items() if one is not None}
    strangers = None
    if reach is not None:
        basis, q = view.foundation.basis, len(reach.damping)
        functions = np.ascontiguousarray(basis.vectors[rows, :q])
        factors = walk_factors(basis.values[:q])
        strangers = Strangers(functions, factors, reach.damping, reach.places, reach.least)
    if len(spoken) < len(voices):
        return None
    return Answerer(
        view.preparation,
        anchors,
        reached[rows],
        island[rows] >= 0,
        spoken,
        mixture,
        has_label,
        strangers,
    )


def learner_answerer(learner: Any) -> Answerer | None:
    """Return what answers new points for a fitted `ManifoldClassifier`, made once for its answer.

    None where a given graph or a measure of the user's own leaves no arrays.
    """
    found: Answerer | None = learner._committee.answerer(
        learner._answer,
        lambda members, mixture: answerer_of(
            learner._view,
            members,
            mixture,
            reached=learner.reached_,
            island=learner.island_,
            has_label=np.asarray(learner._has_label),
            reach=learner._strangers_by,
        ),
    )
    return found
