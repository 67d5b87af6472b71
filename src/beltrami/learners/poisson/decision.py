"""What becomes of the flow: hypotheses of class sizes and borders, and the cut as their judge.

The flow of labels enters, a decision leaves: the partition that was chosen, or that the flow's own
answer stands. Further labels are answered from a decision in a few steps.
"""

from dataclasses import dataclass

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
_DEGREES = (0.0, 0.5, 1.0)
"""How far sizes are moved from the flow's own to equal ones, geometrically."""
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


def decide(diffusion: Diffusion, flow: NDArray[np.float32], fixed: Fixed) -> Decision:
    """Try class sizes and borders, and take the partition of smallest normalised cut.

    The flow's own answer stands where no partition has classes that a walk of the diffusion's time
    seldom leaves and agrees with the flow, (n, k), on most nodes: where classes overlap, a smaller
    cut is no better answer.
    """
    space, start = diffusion.space, fixed.put_back(flow.argmax(axis=1))

    def cut_of(codes: NDArray[np.intp]) -> float:
        return normalized_cut(space.weights, codes, fixed.n_classes)

    tried = {"no sizes": threshold_steps(diffusion, start, fixed).codes}
    for degree in _DEGREES:
        shares = mixed_shares(start, fixed.n_classes, degree)
        sized = threshold_steps(diffusion, start, fixed, shares).codes
        free = threshold_steps(diffusion, sized, fixed, most=_FREE_STEPS).codes
        tried |= {f"sizes {degree:g} of the way to equal": free}
    for name, codes in list(tried.items()):
        tried[f"{name}, borders anew"] = split_pairs_anew(diffusion, codes, fixed, flow)
    cuts = {name: cut_of(codes) for name, codes in tried.items()}
    most = _LEAVES * fixed.n_classes / diffusion.tau
    sound = [
        name
        for name, codes in tried.items()
        if cuts[name] <= most and (codes == start).mean() >= _KEPT
    ]
    plain = cut_of(start)
    name = min(sound, key=cuts.__getitem__, default="")
    if not name or cuts[name] >= plain:
        return Decision(False, start, start, None, plain, "the flow itself")
    return Decision(True, start, tried[name], None, cuts[name], name)


def decide_sizes(
    diffusion: Diffusion,
    flow: NDArray[np.float32],
    fixed: Fixed,
    shares: FloatVector | None,
) -> Decision:
    """Take threshold steps under given class sizes, (k,), or under none."""
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
