"""How many regions: a number, a rule of the slides or the spectrum, or held-out labels decide."""

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import FewerRegionsWarning, InvalidInputError
from beltrami.core.telling.progress import track
from beltrami.core.types import BoolVector, FloatVector, IndexVector, Points
from beltrami.learners.model import Choice, Labeled
from beltrami.learners.multi_manifold.region_models import held_out_losses, learns_from_unlabeled
from beltrami.separation.cut import (
    cut_regions,
    most_regions,
    regions_by_eigengap,
    regions_by_slides,
)
from beltrami.separation.model import ShapeGraph
from beltrami.separation.separate import regions_at
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

_RULES = ("auto", "slides", "eigengap")

_LADDER = (1, 2, 3, 5, 8, 12, 20)
_TOL = 1e-4


def checked_n_regions(n_regions: Any, n_labeled: int) -> int | str:
    """Return the number of regions or the rule, or say what is wrong with it.

    A number is lowered to at most one region per label, and to one below three labels.
    """
    if isinstance(n_regions, str) and n_regions in _RULES:
        return 1 if n_labeled < 3 else n_regions
    is_count = isinstance(n_regions, numbers.Integral) and not isinstance(n_regions, bool)
    if not is_count or n_regions < 1:
        raise InvalidInputError(
            f"n_regions={n_regions!r} must be a whole number of at least 1, or one of "
            f"{', '.join(map(repr, _RULES))}."
        )
    allowed = n_labeled if n_labeled >= 3 else 1
    if n_regions > allowed:
        warnings.warn(
            f"n_regions={n_regions} regions need a label each, and at least three labels in all, "
            f"and there are {n_labeled}: {allowed} will be made. Label more rows or ask for fewer "
            "regions.",
            FewerRegionsWarning,
            stacklevel=4,
        )
    return min(int(n_regions), allowed)


@dataclass(frozen=True, slots=True, eq=False)
class RegionCuts:
    """The cuts of one graph into any number of regions.

    Attributes
    ----------
    separated : ShapeGraph
        The graph.
    basis : Basis
        Its first eigenvectors.
    is_labeled : ndarray of shape (s,)
        Which nodes have a label.
    seed : int
        Of every cut, so that a number of regions gives the same regions whatever else is tried.
    """

    separated: ShapeGraph
    basis: Basis
    is_labeled: BoolVector
    seed: int

    @classmethod
    def of(
        cls, separated: ShapeGraph, labeled: Labeled, most: int, rng: np.random.Generator
    ) -> "RegionCuts":
        """Prepare cuts into up to `most` regions."""
        n_vectors = min(most + 1, len(separated.rows))
        basis = eigenbasis(
            separated.graph, n_vectors, kind="combinatorial", tol=_TOL, random_state=rng
        )
        is_labeled = np.isin(separated.rows, labeled.rows)
        return cls(separated, basis, is_labeled, int(rng.integers(2**31 - 1)))

    def nodes(self, n_regions: int) -> IndexVector:
        """Return the regions of the nodes, of a cut into `n_regions`."""
        rng = np.random.default_rng(self.seed)
        return cut_regions(self.basis, self.is_labeled, n_regions, rng)

    def judge(
        self, estimator: Any, points: Points, labeled: Labeled, n_regions: int
    ) -> FloatVector:
        """Return the losses of held-out labels with `n_regions` regions.

        Infinite where the estimator cannot be fitted with so few labels, or gives no number.
        """
        regions = np.zeros(points.shape[0], dtype=np.intp)
        if n_regions > 1:
            nodes = self.nodes(n_regions)
            if learns_from_unlabeled(estimator):
                regions = regions_at(self.separated, nodes, self.separated.points, "voronoi")
            regions[self.separated.rows] = nodes
        try:
            losses = held_out_losses(estimator, points, labeled, regions, n_regions)
        except ValueError:  # where one region wins, its own fit says what is wrong
            return np.full(len(labeled.rows), np.inf)
        return np.nan_to_num(losses, nan=np.inf)


def largest_count(rule: int | str, n_labeled: int) -> int:
    """Return the largest number of regions that may be tried.

    Where a rule decides, it is at most what the slides' least sizes leave room for.
    """
    return rule if isinstance(rule, int) else min(most_regions(n_labeled), _LADDER[-1])


def choose_count(
    cuts: RegionCuts, rule: int | str, estimator: Any, points: Points, labeled: Labeled
) -> Choice:
    """Choose the number of regions by a rule, or take the number given.

    "slides" is :math:`[log n]` for n labels, "eigengap" the largest gap of the eigenvalues, and
    "auto" the smallest mean loss of held-out labels over a ladder of numbers, both rules' among
    them, provided that it is below that of one region by a standard error of the difference. The
    smaller number wins a tie.
    """
    n_labeled = len(labeled.rows)
    most = largest_count(rule, n_labeled)
    by_slides = min(regions_by_slides(n_labeled), most)
    by_gap = regions_by_eigengap(cuts.basis.values, most)
    if rule == "slides":
        return _fixed_choice(by_slides, f"n_regions={by_slides}: log of {n_labeled} labels.")
    if rule == "eigengap":
        return _fixed_choice(by_gap, f"n_regions={by_gap}: the largest gap of the eigenvalues.")
    if isinstance(rule, int):
        return _fixed_choice(rule, f"n_regions={rule}: as asked.")
    tried = sorted({count for count in _LADDER if count <= most} | {by_slides, by_gap})
    label_losses = np.empty((len(tried), n_labeled))
    with track("number of regions", total=sum(tried)) as advance:
        for place, count in enumerate(tried):
            label_losses[place] = cuts.judge(estimator, points, labeled, count)
            advance(count)
    losses = label_losses @ labeled.weights / labeled.weights.sum()
    best = int(np.argmin(losses))
    clear = best > 0 and _is_clearly_less(label_losses[best], label_losses[0], labeled.weights)
    chosen = tried[best] if clear else 1
    reason = (
        f"n_regions={chosen}: held-out loss {losses[tried.index(chosen)]:.3g}, {losses[0]:.3g} "
        f"with one region (tried {', '.join(map(str, tried))})."
    )
    return Choice("n_regions", float(chosen), np.array(tried, dtype=np.float64), losses, reason)


def _is_clearly_less(less: FloatVector, more: FloatVector, weights: FloatVector) -> bool:
    """Say whether losses are below others by a standard error of their paired difference."""
    if not np.isfinite(more).all():
        return True
    shares = weights / weights.sum()
    gains = more - less
    gain = float(shares @ gains)
    doubt = float(np.sqrt((shares**2) @ (gains - gain) ** 2))
    return gain > doubt


def _fixed_choice(count: int, reason: str) -> Choice:
    nothing = np.empty(0, dtype=np.float64)
    return Choice("n_regions", float(count), nothing, nothing, reason)
