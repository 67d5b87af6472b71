"""The path of the paper's algorithm: from a crude map to sharper and sharper boundaries."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import serial_blas
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix
from beltrami.embeddings.mbed.model import Problem, Stage, Targets
from beltrami.embeddings.mbed.objective import MbedCost
from beltrami.embeddings.mbed.simplex import label_confidence, simplex_directions, soften
from beltrami.embeddings.mbed.stages import best_stage, criterion_of, radius_of
from beltrami.embeddings.mbed.terms import ClassTerms
from beltrami.embeddings.repulsion.regimes import choose_repulsion
from beltrami.solvers.descent import conjugate_descent

PRINTED = ("gradient", "margin", "targets", "start")
_FIRST, _LAST = 2, 20


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """How the paper's algorithm is read.

    Attributes
    ----------
    n_steps : int
        Steps of conjugate gradients in all.
    n_first_steps : int
        Of these, steps of the crude map.
    reach : float
        Rho: the targets stand for a point at this many radii.
    printed : tuple of str
        Which slips of the paper to keep.
    n_init : int
        Starts; the one with the largest criterion is kept.
    """

    n_steps: int
    n_first_steps: int
    reach: float
    printed: tuple[str, ...]
    n_init: int


def annealed_path(
    problem: Problem, schedule: Schedule, random: np.random.Generator
) -> tuple[Stage, ...]:
    r"""Follow algorithm 1 of [ZienQuinonero05]_.

    A crude map by plain SNE gives the radius r. From small noise, :math:`\lambda` falls from
    20 r to 0.2 r in 19 stages while the targets become surer, each stage starting where the last
    one ended.
    """
    total = schedule.n_init * (_LAST - _FIRST + 2)
    # Threads of BLAS would spin between the compiled loops.
    with serial_blas(), track("annealing", total=total) as advance:
        paths = [_one_path(problem, schedule, random, advance) for _ in range(schedule.n_init)]
    return max(paths, key=lambda path: best_stage(path).criterion)


def _one_path(
    problem: Problem,
    schedule: Schedule,
    random: np.random.Generator,
    advance: Callable[[float], None],
) -> tuple[Stage, ...]:
    shape = (problem.neighborhood.n_points, problem.n_components)
    is_variance = "start" in schedule.printed
    noise = random.standard_normal(shape) * (np.sqrt(0.1) if is_variance else 0.1)
    weight = 0.5 if "gradient" in schedule.printed else 1.0
    crude = MbedCost(problem.neighborhood, choose_repulsion(noise, seed=0)[0], None, weight)
    radius = radius_of(conjugate_descent(crude, noise, n_steps=schedule.n_first_steps).point)
    if not radius > 0:
        raise InvalidInputError(
            "the crude map collapsed onto fewer dimensions than it has: the neighbour "
            "probabilities hold no structure for this many dimensions. Lower n_components."
        )
    advance(1)
    spread = np.sqrt(1e-3 * radius) if is_variance else 1e-3 * radius
    embedding: FloatMatrix = random.standard_normal(shape) * spread
    directions = simplex_directions(problem.n_classes, problem.n_components)
    path = []
    for number in range(_FIRST, _LAST + 1):
        share = (number - _FIRST) / (_LAST - _FIRST)
        scale = 20 * radius / 100**share
        confidence = label_confidence(scale, radius, problem.n_classes, schedule.reach)
        terms = _terms(problem, schedule, directions, scale, confidence)
        repulsion, error = choose_repulsion(embedding, seed=0)
        cost = MbedCost(problem.neighborhood, repulsion, terms, weight)
        left = schedule.n_steps - schedule.n_first_steps
        descent = conjugate_descent(cost, embedding, n_steps=_share_of(left, number - _FIRST))
        embedding = descent.point
        path.append(
            Stage(
                number,
                scale,
                confidence,
                descent.cost,
                criterion_of(embedding, directions),
                len(descent.costs) - 1,
                embedding,
                error,
            )
        )
        advance(1)
    return tuple(path)


def _share_of(n_steps: int, stage: int) -> int:
    """Return the steps of one stage, when all are shared as evenly as whole numbers allow."""
    n_stages = _LAST - _FIRST + 1
    return max((stage + 1) * n_steps // n_stages - stage * n_steps // n_stages, 1)


def _terms(
    problem: Problem,
    schedule: Schedule,
    directions: FloatMatrix,
    scale: float,
    confidence: float,
) -> ClassTerms:
    labels = problem.targets
    soft = soften(labels.distributions, confidence, is_share_printed="targets" in schedule.printed)
    return ClassTerms(
        directions,
        scale,
        Targets(labels.rows, soft, labels.weights),
        prior=problem.prior,
        is_margin_summed="margin" in schedule.printed,
    )
