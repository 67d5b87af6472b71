"""What becomes of the flow: hypotheses of class sizes and borders, and the judge among them.

The flow of labels enters, a decision leaves: the partition that was chosen, or that the flow's own
answer stands. Further labels are answered from a decision in a few steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.learners.base import first_classes
from beltrami.learners.poisson.cuts import normalized_cut
from beltrami.learners.poisson.resplit import split_pairs_anew
from beltrami.learners.poisson.threshold_steps import (
    LEAST_SCORE,
    Diffusion,
    Fixed,
    sample_of,
    size_weights,
    threshold_steps,
    weighed,
)
from beltrami.learners.poisson.walks import Walk

TAU = 10
"""Time of diffusion between thresholds, in steps of the random walk."""
FLOW = "the flow itself"
_OWN = "the flow's own sizes"
_STANDS = "what stands"
_GIVEN = "the given sizes"
_SAME = 0.99
"""Share of nodes on which partitions agree that are tried as one."""
_TURNS = 3
"""How often hypotheses are tried, each time from the best so far."""
_LONGER = 3
"""Times as long are the steps that the chosen partition tries last."""
_FREE_STEPS = 3
"""Steps without sizes after those with them, and of a live answer."""
_MANY_NODES, _SAMPLE = 20_000, 8_000
"""Nodes above which hypotheses are tried on a sample, and how many it has."""
_SPEECH = 0.5
"""How much labels count beside the cut."""
_NO_CUT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided by the labels of a moment; later answers start from it.

    Attributes
    ----------
    name : str
        Which hypothesis it was.
    is_sharp : bool
        Whether a partition answers; else the flow's own numbers do.
    has_steps : bool
        Whether threshold steps made it; else it is the flow's own, after short walks at most.
    flow_codes : ndarray of shape (n,)
        The flow's own answer at that moment.
    codes : ndarray of shape (n,)
        The partition that was decided; at labels, what is said of them all around.
    coarse : ndarray of shape (n,)
        The largest class where that partition is diffused.
    shares : ndarray of shape (k,) or None
        Class sizes that were given, and are kept to.
    weights : ndarray of shape (k,) or None
        By which they are.
    cut : float
        Normalised cut of the partition.
    """

    name: str
    is_sharp: bool
    has_steps: bool
    flow_codes: NDArray[np.intp]
    codes: NDArray[np.intp]
    coarse: NDArray[np.intp]
    shares: FloatVector | None
    weights: NDArray[np.float32] | None
    cut: float

    def sizes(self, n_classes: int) -> FloatVector:
        """Return the share of each class in the partition, none of them nothing."""
        codes = self.codes[self.codes >= 0]
        counts = np.maximum(np.bincount(codes, minlength=n_classes), 1)
        return np.asarray(counts / counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Where labels speak: nodes that they reach, and classes that have one.

    Attributes
    ----------
    diffusion : Diffusion
        On these nodes.
    walk : Walk
        On the same.
    fixed : Fixed
        The labels.
    sources : ndarray of shape (l, k)
        What they send into the graph.
    """

    diffusion: Diffusion
    walk: Walk
    fixed: Fixed
    sources: FloatMatrix

    @property
    def n_nodes(self) -> int:
        """How many nodes."""
        return len(self.diffusion.degrees)

    def sample(self, also: IndexVector | None = None) -> IndexVector:
        """Return nodes that stand for all: labels, some others that are asked for, and a sample."""
        if self.n_nodes <= _MANY_NODES:
            return np.arange(self.n_nodes)
        asked = self.fixed.rows if also is None else np.concatenate([self.fixed.rows, also])
        return np.union1d(sample_of(self.n_nodes, _SAMPLE), asked)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """Weighs partitions against each other.

    Attributes
    ----------
    scene : Scene
        Labels, diffusion and graph.
    nodes : ndarray
        The sample.
    thin : Diffusion
        Between these.
    known : Fixed
        The labels among these.
    start : ndarray of shape (n,)
        The flow's own answer.
    """

    scene: Scene
    nodes: IndexVector
    thin: Diffusion
    known: Fixed
    start: NDArray[np.intp]

    @classmethod
    def of(cls, scene: Scene, start: NDArray[np.intp]) -> "_Judge":
        nodes = scene.sample()
        return cls(scene, nodes, scene.diffusion.thin(nodes), scene.fixed.among(nodes), start)

    def lift(self, codes: NDArray[np.intp], shares: FloatVector | None) -> NDArray[np.intp]:
        """Return a partition of all nodes from one of the sample, by one step of diffusion."""
        if len(codes) == self.scene.n_nodes:
            return codes
        scores = self.scene.diffusion.scores(self.thin.moments(codes, self.known.n_classes))
        weights = None if shares is None else size_weights(scores, shares)
        return self.scene.fixed.put_back(first_classes(weighed(scores, weights)))

    def cut(self, codes: NDArray[np.intp]) -> float:
        """Return the normalised cut on the graph."""
        return normalized_cut(self.scene.walk.weights, codes, self.known.n_classes)

    def doubt(self, codes: NDArray[np.intp]) -> float:
        r"""Return what speaks against a partition, by its cut, by labels, and by the flow.

        .. math:: \ln \mathrm{cut} - \frac{1}{2 \sqrt{l}} \sum_i \ln p_i + m

        where a walk from label i, its own part left out, ends in its class with probability
        :math:`p_i`, and the flow has another class at a share m of the nodes. Where classes
        overlap, a smaller cut is no better answer; labels that are contradicted all around say so.
        """
        rows, known = self.known.rows, self.known.codes
        moments = self.thin.moments(codes[self.nodes], self.known.n_classes)
        scores = np.maximum(self.thin.scores_without(moments, rows, known), 0.0) + LEAST_SCORE
        chances = scores[np.arange(len(rows)), known] / scores.sum(axis=1)
        speech = -_SPEECH * float(np.log(chances).sum()) / np.sqrt(len(rows))
        return float(np.log(max(self.cut(codes), _NO_CUT)) + speech + (codes != self.start).mean())

    def least_doubtful(self, tried: Mapping[str, NDArray[np.intp]]) -> tuple[str, NDArray[np.intp]]:
        """Return the partition that least speaks against, and its name; the first among equals."""
        doubts = {name: self.doubt(codes) for name, codes in tried.items()}
        best = min(doubts, key=lambda name: doubts[name])
        return best, tried[best]


def decide(scene: Scene, flow: NDArray[np.float32], shares: FloatVector | None = None) -> Decision:
    """Try class sizes and borders, and take the partition that least speaks against.

    The flow's own, from potentials (n, k), is one of them. The best is then walked from for a few
    steps on the graph itself, and stays as it is where that does not lessen the doubt. Given
    sizes, (k,), are the only ones tried.
    """
    start = scene.fixed.put_back(first_classes(flow))
    judge = _Judge.of(scene, start)
    name, few, codes = _take_turns(judge, flow[judge.nodes], shares)
    has_steps = name != FLOW
    if has_steps and shares is None:
        far = judge.lift(_with_longer_steps(judge.thin, few, judge.known), None)
        name, codes = judge.least_doubtful({name: codes, f"{name}, longer steps": far})
    if has_steps and len(few) < len(start):
        codes = threshold_steps(scene.diffusion, codes, scene.fixed, shares, most=_FREE_STEPS)
    walked = scene.walk.refine(codes, scene.sources, scene.fixed, shares)
    name, codes = judge.least_doubtful({name: codes, f"{name}, then short walks": walked})
    cut = judge.cut(codes)
    if name == FLOW:
        return Decision(FLOW, False, False, start, start, start, None, None, cut)
    return _conclude(scene, codes, start, shares, cut, name, has_steps=has_steps)


def _take_turns(
    judge: _Judge, flow: NDArray[np.float32], shares: FloatVector | None
) -> tuple[str, NDArray[np.intp], NDArray[np.intp]]:
    """Try hypotheses, then others from the best, while doubt falls.

    Returns the name of the best partition, it on the sample, and it on all nodes. `flow`, (m, k),
    is that of the sample.
    """
    name, few, codes = FLOW, judge.start[judge.nodes], judge.start
    stands = {_STANDS: codes} if shares is None else {}
    for _ in range(_TURNS):
        if shares is None:
            tried = _by_hypotheses(judge.thin, few, judge.known)
        else:
            tried = {_GIVEN: threshold_steps(judge.thin, few, judge.known, shares)}
        tried |= _with_borders_anew(judge.thin, tried, judge.known, flow, shares)
        lifted = {one: judge.lift(other, shares) for one, other in tried.items()}
        best, codes = judge.least_doubtful(stands | lifted)
        if best == _STANDS:
            break
        name, few, stands = best, tried[best], {_STANDS: codes}
    return name, few, codes


def _conclude(
    scene: Scene,
    codes: NDArray[np.intp],
    start: NDArray[np.intp],
    shares: FloatVector | None,
    cut: float,
    name: str,
    *,
    has_steps: bool,
) -> Decision:
    """Return the decision for a partition."""
    scores = scene.diffusion.scores(scene.diffusion.moments(codes, scene.fixed.n_classes))
    weights = None if shares is None else size_weights(scores, shares)
    coarse = first_classes(weighed(scores, weights))
    codes = codes.copy()
    codes[scene.fixed.rows] = coarse[scene.fixed.rows]
    return Decision(name, True, has_steps, start, codes, coarse, shares, weights, cut)


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
            if not np.array_equal(moved, codes):
                found[f"{name}, borders anew"] = moved
    return found


def _with_longer_steps(
    diffusion: Diffusion, codes: NDArray[np.intp], fixed: Fixed
) -> NDArray[np.intp]:
    """Return a partition after steps that reach over small bumps, and some of the usual length."""
    longer = Diffusion.of(diffusion.space, _LONGER * diffusion.tau)
    far = threshold_steps(longer, codes, fixed, most=_FREE_STEPS)
    return threshold_steps(diffusion, far, fixed, most=_FREE_STEPS)


def _by_hypotheses(
    diffusion: Diffusion, start: NDArray[np.intp], fixed: Fixed
) -> dict[str, NDArray[np.intp]]:
    """Return partitions by threshold steps under no sizes, and under some with free steps after."""
    tried = {}
    for name, degree in ((_OWN, 0.0), ("sizes halfway to equal", 0.5), ("equal sizes", 1.0)):
        shares = mixed_shares(start, fixed.n_classes, degree)
        sized = threshold_steps(diffusion, start, fixed, shares)
        tried[name] = threshold_steps(diffusion, sized, fixed, most=_FREE_STEPS)
    return tried | {"no sizes": threshold_steps(diffusion, start, fixed)}


def decide_sizes(
    scene: Scene, flow: NDArray[np.float32], shares: FloatVector | None = None
) -> Decision:
    """Take threshold steps under given class sizes, (k,), or under none; without a judge."""
    start = scene.fixed.put_back(first_classes(flow))
    codes = threshold_steps(scene.diffusion, start, scene.fixed, shares)
    cut = normalized_cut(scene.walk.weights, codes, scene.fixed.n_classes)
    name = "no sizes" if shares is None else _GIVEN
    return _conclude(scene, codes, start, shares, cut, name, has_steps=True)


def mixed_shares(codes: NDArray[np.intp], n_classes: int, degree: float) -> FloatVector:
    """Return class shares between a partition's own (degree 0) and equal ones (1)."""
    own = np.maximum(np.bincount(codes, minlength=n_classes), 1) / len(codes)
    mixed = own ** (1 - degree)
    return np.asarray(mixed / mixed.sum())


def answer(
    scene: Scene, now: NDArray[np.intp], decision: Decision
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return partition and scores, (n, k), for labels by a decision of some moment.

    It depends on nothing else. It starts from the decided partition, and from the flow's answer
    `now`, (n,), wherever that is another than it was then. Wherever diffusion then says what it
    said then, that partition stands; with the labels of that moment it does everywhere.
    """
    diffusion, fixed = scene.diffusion, scene.fixed
    as_then = (now == decision.flow_codes) & (decision.codes >= 0)
    codes = fixed.put_back(np.where(as_then, decision.codes, now))
    moments = diffusion.moments(codes, fixed.n_classes)
    for _ in range(_FREE_STEPS):
        scores = weighed(diffusion.scores(moments), decision.weights)
        coarse = first_classes(scores)
        stands = as_then & (coarse == decision.coarse)
        new = fixed.put_back(np.where(stands, decision.codes, coarse))
        if np.array_equal(new, codes):
            break
        moments, codes = diffusion.moved(moments, codes, new), new
    return codes, put_first(scores, codes, fixed.rows)


def put_first(
    scores: NDArray[np.float32], codes: NDArray[np.intp], but: IndexVector
) -> NDArray[np.float32]:
    """Exchange scores, in place, so that the largest is that of a node's class, but at some."""
    largest = first_classes(scores)
    largest[but] = codes[but]
    other = np.flatnonzero(largest != codes)
    high, low = (other, largest[other]), (other, codes[other])
    scores[high], scores[low] = scores[low], scores[high]
    return scores
