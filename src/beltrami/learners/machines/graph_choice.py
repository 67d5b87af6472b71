"""How many neighbours the graph joins, where that is left to the machine.

Graphs of several numbers of neighbours and what is open on each enter; the place of the best and
the reason leave. Held-out labels judge; between graphs that these cannot tell apart, and where they
are too few to judge at all, the normalised cut of the answer does.
"""

from collections.abc import Sequence

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.machines.selection import (
    Options,
    cut_of,
    cuts_by_power,
    has_cut,
    trials_by_power,
)
from beltrami.learners.machines.tuning import can_judge
from beltrami.learners.model import Choice, Labeled

_NEIGHBORS = (10, 6, 20, 50)
"""Neighbours tried: the paper has 6, and 50 suit Gaussians. Of equal ones the first is taken."""

_LEAST_SHARE = 4
"""Points there must be for each neighbour: a graph that joins most of them shows no shape."""

_MOST_LABELS = 200
"""Labels that judge graphs; of more a random part, always the same."""


def recipes_to_try(n_points: int) -> tuple[KnnGraph, ...]:
    """Return the graphs to choose from for so many points; the first is the default."""
    others = [k for k in _NEIGHBORS[1:] if _LEAST_SHARE * k <= n_points]
    return tuple(KnnGraph(k) for k in (_NEIGHBORS[0], *others))


def can_choose(labeled: Labeled) -> bool:
    """Say whether graphs can be compared: by held-out labels, or by a partition into classes."""
    return can_judge(labeled) or has_cut(labeled)


def judging_labels(labeled: Labeled) -> Labeled:
    """Return the labels that judge graphs."""
    if len(labeled.rows) <= _MOST_LABELS:
        return labeled
    return labeled.take(np.random.default_rng(0).permutation(len(labeled.rows))[:_MOST_LABELS])


def choose_graph(
    recipes: Sequence[KnnGraph],
    graphs: Sequence[Graph],
    options: Sequence[Options],
    labeled: Labeled,
) -> tuple[int, Choice]:
    """Return the place of the best graph and the choice, each graph at its best power."""
    if can_judge(labeled):
        judge = "leave-one-out loss"
        losses, cuts = _judge_by_labels(graphs, options, labeled)
        good = np.flatnonzero(losses <= losses.min() + _doubt(float(losses.min()), labeled))
    else:
        judge = "normalised cut of the answer"
        losses = cuts = np.array([min(cuts_by_power(one, labeled, graphs)) for one in options])
        good = np.arange(len(losses))
    best = int(good[cuts[good].argmin()])
    counts = [one.n_neighbors for one in recipes]
    reason = (
        f"a graph of {counts[best]} neighbours, of those with {', '.join(map(str, counts))}, by "
        f"its {judge} ({losses[best]:.3g})"
    )
    if len(good) > 1 and losses is not cuts:
        reason += "; the normalised cut of the answer chose between graphs about as good"
    tried, found = np.array(counts, np.float64), np.asarray(losses, np.float64)
    return best, Choice("n_neighbors", counts[best], tried, found, reason)


def _judge_by_labels(
    graphs: Sequence[Graph], options: Sequence[Options], labeled: Labeled
) -> tuple[FloatVector, FloatVector]:
    """Return the leave-one-out loss of each graph, and the cut of the answer; of values the loss.

    Both are those of the graph's best power.
    """
    losses, cuts = [], []
    for one in options:
        trials = trials_by_power(one, labeled)
        shape = min(trials, key=lambda shape: trials[shape].loss)
        losses.append(trials[shape].loss)
        has_classes, strengths = has_cut(labeled), trials[shape].strengths
        cut = cut_of(one, labeled, shape, strengths, graphs) if has_classes else losses[-1]
        cuts.append(cut)
    return np.array(losses), np.array(cuts)


def _doubt(error: float, labeled: Labeled) -> float:
    """Return the standard error of a share of errors, as if one more label were wrong; else 0."""
    if not has_cut(labeled):
        return 0.0
    count = len(labeled.rows)
    share = min((error * count + 1) / (count + 2), 0.5)
    return float(np.sqrt(share * (1 - share) / count))
