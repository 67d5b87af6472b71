"""What becomes of the flow: hypotheses of class sizes and borders, and the cut as their judge.

The flow of labels enters, a decision leaves: the partition that was chosen, or that the flow's own
answer stands. Further labels are answered from a decision in a few steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatVector
from beltrami.learners.poisson.cuts import normalized_cut
from beltrami.learners.poisson.resplit import split_pairs_anew
from beltrami.learners.poisson.threshold_steps import (
    Diffusion,
    Fixed,
    Partition,
    threshold_steps,
)

TAU = 10
"""Time of diffusion between thresholds, in steps of the random walk."""
_OWN = "the flow's own sizes"
_WORTH = 0.95
"""Under other sizes than the flow's own the cut must be below this share of that under them."""
_SAME = 0.99
"""Share of nodes on which partitions agree that are tried as one."""
_FREE_STEPS = 3
"""Steps without sizes after those with them, and of a live answer."""
_LEAVES = 0.3
"""Most expected exits from a class in time TAU: above it classes are no clusters of this graph."""
_KEPT = 0.75
"""Least share of nodes on which a partition agrees with the flow it started from."""


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided by the labels of a moment; later answers start from it.

    Attributes
    ----------
    is_sharp : bool
        Whether threshold steps have a part in the answer; else the flow's own stands.
    flow_codes : ndarray of shape (n,)
        The flow's own answer at that moment.
    codes : ndarray of shape (n,)
        The partition that was decided.
    shares : ndarray of shape (k,) or None
        Class sizes that were given, and are kept to.
    cut : float
        Normalised cut of the partition.
    name : str
        Which hypothesis it was.
    """

    is_sharp: bool
    flow_codes: NDArray[np.intp]
    codes: NDArray[np.intp]
    shares: FloatVector | None
    cut: float
    name: str

    def sizes(self, n_classes: int) -> FloatVector:
        """Return the share of each class in the partition, none of them nothing."""
        codes = self.codes[self.codes >= 0]
        counts = np.maximum(np.bincount(codes, minlength=n_classes), 1)
        return np.asarray(counts / counts.sum())


def decide(
    diffusion: Diffusion,
    flow: NDArray[np.float32],
    fixed: Fixed,
    shares: FloatVector | None = None,
) -> Decision:
    """Try class sizes and borders, and take the partition of smallest normalised cut.

    It must have classes that a walk of the diffusion's time seldom leaves, and agree with the flow,
    (n, k), on most nodes: where classes overlap, a smaller cut is no better answer. Where none is,
    the flow's own answer stands. Given sizes, (k,), are the only ones tried, and stand themselves.
    """
    space, start = diffusion.space, fixed.put_back(flow.argmax(axis=1))
    if shares is None:
        own = _by_hypotheses(diffusion, start, fixed)
        base = Decision(False, start, start, None, np.inf, "the flow itself")
    else:
        base = decide_sizes(diffusion, flow, fixed, shares)
        own = {base.name: base.codes}
    tried = own | _with_borders_anew(diffusion, own, fixed, flow, shares)
    cuts = {
        name: normalized_cut(space.weights, codes, fixed.n_classes)
        for name, codes in ({base.name: base.codes} | tried).items()
    }
    most = _LEAVES * fixed.n_classes / diffusion.tau
    sound = [
        name
        for name, codes in tried.items()
        if cuts[name] <= most and (codes == start).mean() >= _KEPT
    ]
    name = min(
        (base.name, *sound),
        key=lambda one: cuts[one] if one.startswith((base.name, _OWN)) else cuts[one] / _WORTH,
    )
    if name == base.name:
        return replace(base, cut=cuts[name])
    return Decision(True, start, tried[name], shares, cuts[name], name)


def _with_borders_anew(
    diffusion: Diffusion,
    tried: Mapping[str, NDArray[np.intp]],
    fixed: Fixed,
    flow: NDArray[np.float32],
    shares: FloatVector | None,
) -> dict[str, NDArray[np.intp]]:
    """Return partitions with their borders tried anew, but one alone of those nearly the same."""
    found: dict[str, NDArray[np.intp]] = {}
    taken: list[NDArray[np.intp]] = []
    for name, codes in tried.items():
        if all((codes == other).mean() < _SAME for other in taken):
            taken.append(codes)
            moved = split_pairs_anew(diffusion, codes, fixed, flow, shares)
            found[f"{name}, borders anew"] = moved
    return found


def _by_hypotheses(
    diffusion: Diffusion, start: NDArray[np.intp], fixed: Fixed
) -> dict[str, NDArray[np.intp]]:
    """Return partitions by threshold steps under no sizes, and under some with free steps after."""
    tried = {}
    for name, degree in ((_OWN, 0.0), ("sizes halfway to equal", 0.5), ("equal sizes", 1.0)):
        shares = mixed_shares(start, fixed.n_classes, degree)
        sized = threshold_steps(diffusion, start, fixed, shares).codes
        tried[name] = threshold_steps(diffusion, sized, fixed, most=_FREE_STEPS).codes
    return tried | {"no sizes": threshold_steps(diffusion, start, fixed).codes}


def decide_sizes(
    diffusion: Diffusion,
    flow: NDArray[np.float32],
    fixed: Fixed,
    shares: FloatVector | None,
) -> Decision:
    """Take threshold steps under given class sizes, (k,), or under none; without a judge."""
    start = fixed.put_back(flow.argmax(axis=1))
    codes = threshold_steps(diffusion, start, fixed, shares).codes
    cut = normalized_cut(diffusion.space.weights, codes, fixed.n_classes)
    name = "no sizes" if shares is None else "the given sizes"
    return Decision(True, start, codes, shares, cut, name)


def mixed_shares(codes: NDArray[np.intp], n_classes: int, degree: float) -> FloatVector:
    """Return class shares between a partition's own (degree 0) and equal ones (1)."""
    own = np.maximum(np.bincount(codes, minlength=n_classes), 1) / len(codes)
    mixed = own ** (1 - degree)
    return np.asarray(mixed / mixed.sum())


def answer(
    diffusion: Diffusion, now: NDArray[np.intp], fixed: Fixed, decision: Decision
) -> Partition:
    """Return the partition for the labels of now by a decision of some moment; no other memory.

    It starts from the decided partition, and from the flow's answer `now`, (n,), wherever that is
    another than it was then. With the labels of that moment it is what was decided, to within a few
    nodes.
    """
    as_then = (now == decision.flow_codes) & (decision.codes >= 0)
    start = np.where(as_then, decision.codes, now)
    return threshold_steps(diffusion, start, fixed, decision.shares, most=_FREE_STEPS)
