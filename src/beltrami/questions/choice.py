"""The door: rows worth a label, by one of four strategies, each with its reason.

A graph, its basis, the labelled rows and what a learner believes of the others enter; questions
leave, the most useful first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Seed
from beltrami.core.validation import check_choice, check_count
from beltrami.graph.model import Graph
from beltrami.questions.beliefs import Beliefs
from beltrami.questions.likeness import (
    FEWEST_GROUPS,
    POOL,
    Islands,
    pooled_rows,
    sampled_rows,
)
from beltrami.questions.model import Question
from beltrami.questions.scene import Scene
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

STRATEGIES = ("auto", "cover", "uncertain", "random")
_MOST_VECTORS = 150


def choose_questions(
    graph: Graph,
    *,
    n: int,
    strategy: str = "auto",
    distributions: FloatMatrix | None = None,
    labelled: Any = (),
    reached: BoolVector | None = None,
    piece: IndexVector | None = None,
    basis: Basis | None = None,
    candidates: Any = None,
    classes: Sequence[Any] | None = None,
    masses: FloatVector | None = None,
    rng: Seed = None,
) -> tuple[Question, ...]:
    """Choose the rows whose labels would teach most.

    "cover" takes rows that stand for many rows unlike any labelled one, at the scale of as many
    groups as there are labels and questions: representatives of groups without a label, one batch
    spread over many groups. It needs no labels at all. "auto" does the same with every row weighed
    half by the learner's doubt about it, so that once the groups are covered the questions move to
    the places between classes where many rows are in doubt; without `distributions` it is "cover".
    "uncertain" takes the rows with the smallest lead of the first class over the second, whatever
    stands around them, and "random" is the baseline.

    Rows that no label reaches count as wholly in doubt and alike to no label, so an island is asked
    as early as its size deserves.

    Cost: with the basis given it hardly grows with n. 8000 rows drawn at random stand for all, and
    2000 drawn at random are weighed as questions; smaller graphs are looked at whole.

    - `n`: how many rows to ask; where fewer may be asked, all of them are returned.
    - `distributions`: (n_nodes, k), probabilities of the classes; needed by "uncertain".
    - `reached`: whether a label reaches the row; None means: shares its component of the graph.
    - `piece`: number of the part of the data that each row lies in, for the size of an island that
      no label reaches; None means its component of the graph.
    - `basis`: eigenvectors of the graph, of any kind; "random_walk" served best. Three for each
      label and question are used, so 100 serve long; None computes them.
    - `candidates`: rows that may be asked; None means all. Labelled ones are never asked again.
    - `masses`: (n_nodes,), how many rows each stands for, itself among them; None means itself
      alone. All that is said of numbers of rows then speaks of those.

    Examples
    --------
    >>> from beltrami import KnnGraph, load_dataset
    >>> from beltrami.questions import choose_questions
    >>> digits = load_dataset("digits")
    >>> graph = KnnGraph(10, weights="tuned_shared").build(digits.points)
    >>> questions = choose_questions(graph, n=20, rng=0)  # no label yet
    >>> len({int(digits.targets[question.row]) for question in questions})
    10
    """
    check_count(n, name="n")
    check_choice(strategy, STRATEGIES, name="strategy")
    rng = generator(rng)
    known = _check_rows(labelled, graph.n_nodes, "labelled")
    allowed = np.arange(graph.n_nodes)
    if candidates is not None:
        allowed = _check_rows(candidates, graph.n_nodes, "candidates")
    allowed = np.setdiff1d(allowed, known)
    n = min(n, len(allowed))
    if n == 0:
        return ()
    n_groups = max(FEWEST_GROUPS, len(known) + n)
    islands = Islands.of(graph, n_groups)
    weights = _check_masses(masses, graph.n_nodes)
    beliefs = Beliefs.of(distributions, reached, islands, known, piece, weights)
    if basis is None:
        n_vectors = min(_MOST_VECTORS, 3 * n_groups, graph.n_nodes)
        basis = eigenbasis(graph, n_vectors, kind="random_walk")
    elif len(basis.vectors) != graph.n_nodes:
        raise InvalidInputError(
            f"basis has {len(basis.vectors)} rows and the graph {graph.n_nodes}; give eigenvectors "
            "of this graph, or None."
        )
    n_pool = max(POOL, 2 * n)
    sampled = sampled_rows(islands, rng, n_pool, masses=weights)
    scene = Scene.of(basis, islands, known, n_groups, sampled)
    if strategy == "random":
        drawn = rng.choice(allowed, n, replace=False)
        return scene.questions(drawn, np.zeros(n), beliefs, classes)
    if strategy == "uncertain":
        return scene.questions(*_most_uncertain(allowed, beliefs, n, rng), beliefs, classes)
    pool = pooled_rows(allowed, islands, graph.degrees, rng, n_pool)
    doubts = beliefs.doubts if strategy == "auto" else None
    return scene.questions(*scene.best(pool, doubts, n), beliefs, classes)


def _most_uncertain(
    allowed: IndexVector, beliefs: Beliefs, n: int, rng: np.random.Generator
) -> tuple[IndexVector, FloatVector]:
    if beliefs.doubts is None:
        raise InvalidInputError(
            "strategy='uncertain' needs labels and distributions, and there are none yet; use "
            "'auto' or 'cover' for the first questions."
        )
    doubts = beliefs.doubts[allowed]
    order = np.lexsort((rng.random(len(allowed)), -doubts))[:n]
    return allowed[order], doubts[order]


def _check_masses(masses: FloatVector | None, n: int) -> FloatVector | None:
    """Return how many rows each node stands for, all of them 1 and more."""
    if masses is None:
        return None
    weights = np.asarray(masses, dtype=np.float64)
    if weights.shape != (n,) or not (weights >= 1).all() or not np.isfinite(weights).all():
        raise InvalidInputError(
            f"masses have shape {weights.shape} and the graph {n} rows; give a number of rows for "
            "each, of 1 and more: every row stands for itself."
        )
    return weights


def _check_rows(rows: Any, n: int, name: str) -> IndexVector:
    """Return row numbers, sorted and each once."""
    listed = np.asarray(rows)
    if listed.size == 0:
        return np.zeros(0, dtype=np.intp)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} must be a list of row numbers and has shape {listed.shape} of {listed.dtype}; "
            "for a mask pass np.flatnonzero(mask)."
        )
    if listed.min() < 0 or listed.max() >= n:
        wrong = int(np.count_nonzero((listed < 0) | (listed >= n)))
        raise InvalidInputError(
            f"{wrong} of the {name} row numbers are outside 0 to {n - 1}, the rows of the graph "
            f"(lowest {listed.min()}, highest {listed.max()})."
        )
    return np.unique(listed).astype(np.intp)
