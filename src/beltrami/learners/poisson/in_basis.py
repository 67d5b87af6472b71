"""The doors of Poisson learning in a basis: decide, answer, and what labels say of each other.

A `Diffusion` (made once per graph and basis) and labels enter, scores of every node leave. `settle`
takes a second or so on large graphs and returns a decision; `answers` is a pure function of labels
and a decision, in milliseconds.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Labeled, LeftOut
from beltrami.learners.poisson.decision import Decision, answer, decide, decide_sizes
from beltrami.learners.poisson.flow import flow_of
from beltrami.learners.poisson.threshold_steps import Diffusion, Fixed, threshold_steps

_NONE = -1
"""Class of a node that no label reaches, and place of a class without a label."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What labels reach, and what is known there.

    Attributes
    ----------
    inside : ndarray of shape (n,)
        Whether a label shares the node's component.
    diffusion : Diffusion
        On these nodes.
    fixed : Fixed
        The labels, numbered by these nodes and by the classes that have one.
    among : ndarray of shape (m,)
        Which classes these are.
    """

    inside: BoolVector
    diffusion: Diffusion
    fixed: Fixed
    among: IndexVector

    @classmethod
    def of(cls, diffusion: Diffusion, labeled: Labeled) -> "_Scene":
        component = diffusion.space.component
        has_label = np.zeros(int(component.max()) + 1, dtype=bool)
        has_label[component[labeled.rows]] = True
        inside = has_label[component]
        among = np.flatnonzero(labeled.targets.any(axis=0))
        rows = (np.cumsum(inside) - 1)[labeled.rows]
        codes = np.searchsorted(among, labeled.targets.argmax(axis=1))
        return cls(inside, diffusion.take(inside), Fixed(rows, codes, len(among)), among)

    def gather(self, flow: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the part of a flow, (n, k), that plays here."""
        if self.inside.all() and len(self.among) == flow.shape[1]:
            return flow
        return flow[np.ix_(self.inside, self.among)]

    def spread(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return classes of all nodes in the numbers of all classes."""
        everywhere = np.full(len(self.inside), _NONE)
        everywhere[self.inside] = self.among[codes]
        return everywhere

    def narrow(self, decision: Decision, n_classes: int) -> Decision:
        """Return a decision in the numbers of these nodes and classes."""
        place = np.full(n_classes + 1, _NONE)  # the last is where _NONE looks itself up
        place[self.among] = np.arange(len(self.among))
        return replace(
            decision,
            flow_codes=place[decision.flow_codes[self.inside]],
            codes=place[decision.codes[self.inside]],
            shares=self.shares(decision.shares),
        )

    def shares(self, given: FloatVector | None) -> FloatVector | None:
        """Return given class sizes among the classes that have a label."""
        return None if given is None else given[self.among] / given[self.among].sum()


def settle(
    diffusion: Diffusion,
    labeled: Labeled,
    flow: NDArray[np.float32] | None = None,
    *,
    shares: FloatVector | None = None,
    is_free: bool = False,
) -> Decision:
    """Decide by these labels what answers start from.

    Class sizes are `shares`, (k,), where given, else hypotheses that the cut judges; with `is_free`
    there are neither hypotheses nor a judge. `flow`, (n, k), is the flow of these labels, where it
    is known already.
    """
    flow = flow_of(diffusion.space, labeled) if flow is None else flow
    scene = _Scene.of(diffusion, labeled)
    part = scene.gather(flow)
    judge = decide_sizes if is_free else decide
    found = judge(scene.diffusion, part, scene.fixed, scene.shares(shares))
    codes, flow_codes = scene.spread(found.codes), scene.spread(found.flow_codes)
    return replace(found, codes=codes, flow_codes=flow_codes, shares=shares)


def answers(
    diffusion: Diffusion,
    labeled: Labeled,
    decision: Decision,
    flow: NDArray[np.float32] | None = None,
) -> FloatMatrix:
    """Return the scores of all nodes, (n, k), for the labels of now by a decision.

    The largest is the answer. They are shares of a short walk from each node that end in each
    class, or the flow itself where the decision was to let it stand; zero where no label reaches.
    """
    flow = flow_of(diffusion.space, labeled) if flow is None else flow
    if not decision.is_sharp:
        return flow
    scene = _Scene.of(diffusion, labeled)
    now = scene.fixed.put_back(scene.gather(flow).argmax(axis=1))
    then = scene.narrow(decision, flow.shape[1])
    scores = answer(scene.diffusion, now, scene.fixed, then).scores
    if scores.shape == flow.shape:
        return scores
    everywhere = np.zeros(flow.shape, dtype=np.float32)
    everywhere[np.ix_(scene.inside, scene.among)] = scores
    return everywhere


def left_out(diffusion: Diffusion, labeled: Labeled) -> LeftOut:
    """Return what the flow of the other labels says of each; of many labels a sample is left out.

    Costs O(l p k) for each of l labels: no node but the labelled ones is asked.
    """
    labeled = labeled.sample()
    scores = np.empty(labeled.targets.shape)
    every, means = np.arange(len(labeled.rows)), mean_of_others(labeled)
    for i in every:
        scores[i] = _said_by(diffusion, labeled.take(every != i), labeled.rows[[i]], means[[i]])[0]
    return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)


def _said_by(
    diffusion: Diffusion, others: Labeled, rows: IndexVector, means: FloatMatrix
) -> FloatMatrix:
    """Return the flow of labels at some rows; the given means where none of them reaches."""
    component = diffusion.space.component
    reached = np.isin(component[rows], component[others.rows])
    if not reached.any():
        return means
    return np.where(reached[:, None], flow_of(diffusion.space, others, rows), means)


def held_out(
    diffusion: Diffusion, labeled: Labeled, folds: NDArray[np.intp], decision: Decision
) -> LeftOut:
    """Return what the labels of other folds, (l,), say of each label by the kind of a decision.

    The decided partition has seen all labels, so only its sizes are kept: each fold's flow is
    sharpened under them, without the judge.
    """
    scores, means = np.empty(labeled.targets.shape), mean_of_others(labeled)
    for fold in np.unique(folds):
        rest, asked = labeled.take(folds != fold), np.flatnonzero(folds == fold)
        if not len(rest.rows):
            scores[asked] = means[asked]
            continue
        rows = labeled.rows[asked]
        scores[asked] = (
            _sharpened_at(diffusion, rest, rows, means[asked], decision)
            if decision.is_sharp
            else _said_by(diffusion, rest, rows, means[asked])
        )
    return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)


def _sharpened_at(
    diffusion: Diffusion,
    labeled: Labeled,
    rows: IndexVector,
    means: FloatMatrix,
    decision: Decision,
) -> FloatMatrix:
    """Return the scores at some rows after threshold steps under the sizes of a decision."""
    scene = _Scene.of(diffusion, labeled)
    n_classes = labeled.targets.shape[1]
    codes = decision.codes[decision.codes >= 0]
    sizes = np.maximum(np.bincount(codes, minlength=n_classes), 1) / len(codes)
    start = scene.gather(flow_of(diffusion.space, labeled)).argmax(axis=1)
    sharp = threshold_steps(scene.diffusion, start, scene.fixed, scene.shares(sizes))
    scores = np.zeros((len(scene.inside), n_classes))
    scores[np.ix_(scene.inside, scene.among)] = sharp.scores
    return np.where(scene.inside[rows][:, None], scores[rows], means)
