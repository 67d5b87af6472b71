"""Mbed that works in practice: a guess of every row, a local map around it, one descent."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.embeddings.mbed.model import Problem, Stage, Targets
from beltrami.embeddings.mbed.settling import settle_map
from beltrami.embeddings.mbed.simplex import simplex_directions, sureness
from beltrami.embeddings.mbed.stages import criterion_of
from beltrami.embeddings.mbed.terms import ClassTerms, log_memberships
from beltrami.embeddings.neighborhoods.probabilities import Neighborhood, StoredNeighborhood
from beltrami.embeddings.repulsion.pairs import lone_normalizers

_SIZES = np.geomspace(0.3, 40.0, 16)  # of the start, tried
_SHARPNESS = np.geomspace(0.02, 1.0, 25)  # lambda over the size of the start, tried
_NOISE = 0.01
_MOST_AT_ONCE = 20_000  # points; of more a part is settled first
_COARSENESS = 4  # one in so many


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """What the terms count against each other, per row.

    Attributes
    ----------
    label, guess, margin : float
        Weight of a label, of the guess of a row without one, and of a row's margin and of the
        classes' shares.
    n_steps : int
        Steps of the descent.
    """

    label: float
    guess: float
    margin: float
    n_steps: int


def practical_path(
    problem: Problem, balance: Balance, random: np.random.Generator
) -> tuple[Stage, ...]:
    r"""Start at the guess, and let neighbours, margins and labels settle it.

    The start :math:`Y_0 = s T W` puts every row between the class directions as the guess T has
    it; s is the size at which the neighbours fit best, and :math:`\lambda` the length at which the
    memberships of the start say what the guess says. Both then stay. `random` draws a little noise
    for the dimension that the guess leaves open.
    """
    directions = simplex_directions(problem.n_classes, problem.n_components)
    guess = _known_guess(problem)
    targets = _targets(problem, guess, balance)
    start = _start(guess, directions, problem.neighborhood, random)
    scale = _scale(start, directions, targets)
    margin = balance.margin * len(guess)
    prior = guess.mean(axis=0) if problem.prior is None else problem.prior
    terms = ClassTerms(directions, scale, targets, margin, margin, 1.0, prior)
    steps, first_map = balance.n_steps, start
    is_large = len(start) > _MOST_AT_ONCE
    total = steps + max(steps // _COARSENESS, 1) if is_large else steps
    with track("settling the map", total=total) as advance:
        if is_large:
            first_map = _coarse_start(problem.neighborhood, terms, start, steps, random, advance)
            steps = max(steps // _COARSENESS, 1)
        last_map = settle_map(
            problem.neighborhood, terms, first_map, n_steps=steps, advance=advance
        )
    first = Stage(
        1, scale, 1.0, float(last_map.costs[0]), criterion_of(start, directions), 0, start
    )
    last = Stage(
        2,
        scale,
        1.0,
        float(last_map.costs[-1]),
        criterion_of(last_map.embedding, directions),
        len(last_map.costs) - 1,
        last_map.embedding,
        last_map.error,
    )
    return first, last


def _coarse_start(
    neighborhood: Neighborhood,
    terms: ClassTerms,
    start: FloatMatrix,
    n_steps: int,
    random: np.random.Generator,
    advance: Callable[[float], None],
) -> FloatMatrix:
    """Settle a quarter of the points, and put the others among their neighbours.

    A point keeps the neighbours that are among the quarter, their probabilities scaled to sum to
    one again, and sees as many at the same distances as its share of the points; so the coarse map
    has the size of the whole one, at a sixteenth of the work per step. A P that is not stored, or
    that leaves a point without a neighbour in the quarter, has no coarse map, and the start is
    returned.
    """
    if not isinstance(neighborhood, StoredNeighborhood):
        return start
    n = len(start)
    rows = np.sort(random.choice(n, size=n // _COARSENESS, replace=False))
    weights = csr_array(neighborhood.mutual)[rows]
    among = csr_array(weights[:, rows])
    sums = np.asarray(among.sum(axis=1), dtype=np.float64).ravel()
    if not (sums > 0).all():
        return start
    part = StoredNeighborhood.of(csr_array(diags_array(1 / sums) @ among))
    share = len(rows) / n
    coarse = replace(
        terms,
        targets=terms.targets.among(rows, n),
        margin_weight=terms.margin_weight * share,
        balance_weight=terms.balance_weight * share,
    )
    settled = settle_map(part, coarse, start[rows], n_steps=n_steps, advance=advance).embedding
    totals = np.asarray(weights.sum(axis=0)).ravel()
    spread = np.asarray(weights.T @ settled)
    better = np.where(totals[:, None] > 0, spread / np.maximum(totals, 1e-12)[:, None], start)
    better[rows] = settled
    return better


def _known_guess(problem: Problem) -> FloatMatrix:
    """Return the guess with no class ruled out, and what is known in place of what was guessed."""
    assert problem.guess is not None
    guess = np.maximum(problem.guess, 1e-6)
    guess /= guess.sum(axis=1, keepdims=True)
    guess[problem.targets.rows] = problem.targets.distributions
    return guess


def _targets(problem: Problem, guess: FloatMatrix, balance: Balance) -> Targets:
    """Let a guess count as much as it is sure, from nothing at 1 / K to its weight at one."""
    weights = balance.guess * sureness(guess)
    weights[problem.targets.rows] = balance.label * problem.targets.weights
    used = np.flatnonzero(weights > 0)
    return Targets(used, guess[used], weights[used])


def _start(
    guess: FloatMatrix,
    directions: FloatMatrix,
    neighborhood: Neighborhood,
    random: np.random.Generator,
) -> FloatMatrix:
    """Put the guess between the directions, at the size where the neighbours fit best."""
    shape = guess @ directions
    shape -= shape.mean(axis=0)
    shape += _NOISE * random.standard_normal(shape.shape)
    near = neighborhood.pull[:, None] * shape - neighborhood.multiply(shape)
    stress = float(np.vdot(shape, near)) / len(shape)
    rows = np.sort(random.choice(len(shape), size=min(500, len(shape)), replace=False))
    costs = [size**2 * stress + _mean_log_normalizer(size * shape, rows) for size in _SIZES]
    start: FloatMatrix = _SIZES[int(np.argmin(costs))] * shape
    return start


def _mean_log_normalizer(embedding: FloatMatrix, rows: IndexVector) -> float:
    nearest, totals = lone_normalizers(embedding, rows)
    return float((np.log(totals) - nearest).mean())


def _scale(start: FloatMatrix, directions: FloatMatrix, targets: Targets) -> float:
    """Return the length at which the memberships of the start say what the targets say."""
    size = float(np.abs(start @ directions.T).max())
    positions, known = start[targets.rows], targets.distributions
    lengths = size * _SHARPNESS
    weighted = targets.weights[:, None] * known
    surprise = [
        -float((weighted * log_memberships(positions, directions, length)).sum())
        for length in lengths
    ]
    return float(lengths[int(np.argmin(surprise))])
