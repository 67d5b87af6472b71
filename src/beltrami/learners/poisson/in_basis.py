"""The doors of Poisson learning in a basis: decide, answer, and what labels say of each other.

A `Ground` (made once per graph and basis) and labels enter, scores of every node leave. `settle`
takes half a second or so on large graphs and returns a decision; `answers` is a pure function of
labels and a decision, in milliseconds.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.learners.base import first_classes
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Labeled, LeftOut
from beltrami.learners.poisson.decision import (
    Decision,
    Scene,
    answer,
    decide,
    decide_sizes,
    put_first,
)
from beltrami.learners.poisson.flow import FlowSpace, flow_of
from beltrami.learners.poisson.sources import class_sources
from beltrami.learners.poisson.threshold_steps import Diffusion, Fixed, threshold_steps
from beltrami.learners.poisson.walks import Walk

_NONE = -1
"""Class of a node that no label reaches, and place of a class without a label."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a graph gives to all labels.

    Attributes
    ----------
    diffusion : Diffusion
        In a basis.
    walk : Walk
        On the graph itself.
    """

    diffusion: Diffusion
    walk: Walk

    @property
    def space(self) -> FlowSpace:
        """The functions among which potentials are sought."""
        return self.diffusion.space


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """A scene, and where it lies in the whole.

    Attributes
    ----------
    inside : ndarray of shape (n,)
        Whether a label shares the node's component.
    among : ndarray of shape (m,)
        Which classes have a label.
    scene : Scene
        Numbered by these nodes and classes.
    """

    inside: BoolVector
    among: IndexVector
    scene: Scene

    @classmethod
    def of(cls, ground: Ground, labeled: Labeled) -> "_Stage":
        component = ground.space.component
        n_components = int(component.max()) + 1
        has_label = np.zeros(n_components, dtype=bool)
        has_label[component[labeled.rows]] = True
        inside = has_label[component]
        among = np.flatnonzero(labeled.targets.any(axis=0))
        rows = (np.cumsum(inside) - 1)[labeled.rows]
        codes = np.searchsorted(among, labeled.targets.argmax(axis=1))
        sources = class_sources(labeled, component, n_components)[:, among]
        fixed = Fixed(rows, codes, len(among))
        diffusion, walk = ground.diffusion.take(inside), ground.walk.take(inside)
        return cls(inside, among, Scene(diffusion, walk, fixed, sources))

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

    def everywhere(self, scores: NDArray[np.float32], n_classes: int) -> NDArray[np.float32]:
        """Return scores of all nodes and classes; zero where no label reaches."""
        if scores.shape == (len(self.inside), n_classes):
            return scores
        spread = np.zeros((len(self.inside), n_classes), dtype=np.float32)
        spread[np.ix_(self.inside, self.among)] = scores
        return spread

    def narrow(self, decision: Decision, n_classes: int) -> Decision:
        """Return a decision in the numbers of these nodes and classes."""
        place = np.full(n_classes + 1, _NONE)  # the last is where _NONE looks itself up
        place[self.among] = np.arange(len(self.among))
        weights = None if decision.weights is None else decision.weights[self.among]
        return replace(
            decision,
            flow_codes=place[decision.flow_codes[self.inside]],
            codes=place[decision.codes[self.inside]],
            coarse=place[decision.coarse[self.inside]],
            shares=self.shares(decision.shares),
            weights=weights,
        )

    def shares(self, given: FloatVector | None) -> FloatVector | None:
        """Return given class sizes among the classes that have a label."""
        return None if given is None else given[self.among] / given[self.among].sum()


def settle(
    ground: Ground,
    labeled: Labeled,
    flow: NDArray[np.float32] | None = None,
    *,
    shares: FloatVector | None = None,
    is_free: bool = False,
) -> Decision:
    """Decide by these labels what answers start from.

    Class sizes are `shares`, (k,), where given, else hypotheses that are judged; with `is_free`
    there are neither hypotheses nor a judge. `flow`, (n, k), is the flow of these labels, where it
    is known already.
    """
    flow = flow_of(ground.space, labeled) if flow is None else flow
    stage = _Stage.of(ground, labeled)
    choose = decide_sizes if is_free else decide
    found = choose(stage.scene, stage.gather(flow), stage.shares(shares))
    weights = None
    if found.weights is not None:
        weights = np.ones(flow.shape[1], dtype=np.float32)
        weights[stage.among] = found.weights
    return replace(
        found,
        flow_codes=stage.spread(found.flow_codes),
        codes=stage.spread(found.codes),
        coarse=stage.spread(found.coarse),
        shares=shares,
        weights=weights,
    )


def answers(
    ground: Ground,
    labeled: Labeled,
    decision: Decision,
    flow: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return the scores of all nodes, (n, k), for the labels of now by a decision.

    The largest is the answer. They are shares of a short walk from each node that end in each
    class, or the flow itself where the decision was to let it stand; zero where no label reaches.
    """
    flow = flow_of(ground.space, labeled) if flow is None else flow
    if not decision.is_sharp:
        return flow
    stage = _Stage.of(ground, labeled)
    now = stage.scene.fixed.put_back(first_classes(stage.gather(flow)))
    scores = answer(stage.scene, now, stage.narrow(decision, flow.shape[1]))[1]
    return stage.everywhere(scores, flow.shape[1])


def held_out(
    ground: Ground,
    labeled: Labeled,
    rows: IndexVector,
    decision: Decision,
    flow: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return the scores of some rows, (m, k), by labels elsewhere and the kind of a decision.

    The decided partition has seen all labels, so only its sizes are kept: the flow of these labels
    is sharpened under them, without the judge. On many nodes that is done on a sample.
    """
    n_classes = labeled.targets.shape[1]
    if not decision.is_sharp:
        return flow_of(ground.space, labeled, rows) if flow is None else flow[rows]
    stage = _Stage.of(ground, labeled)
    scene, reached = stage.scene, stage.inside[rows]
    places = (np.cumsum(stage.inside) - 1)[rows[reached]]
    nodes = scene.sample(places)
    known, thin = scene.fixed.among(nodes), scene.diffusion.thin(nodes)
    if flow is None:
        at = np.flatnonzero(stage.inside)[nodes]
        codes = first_classes(flow_of(ground.space, labeled, at)[:, stage.among])
    else:
        codes = first_classes(stage.gather(flow))[nodes]
    codes = known.put_back(codes)
    if decision.has_steps:
        codes = threshold_steps(thin, codes, known, stage.shares(decision.sizes(n_classes)))
    if len(nodes) == scene.n_nodes:
        codes = scene.walk.refine(codes, scene.sources, known)
    scores = put_first(thin.scores(thin.moments(codes, known.n_classes)), codes, known.rows)
    said = np.zeros((len(rows), n_classes), dtype=np.float32)
    said[np.ix_(reached, stage.among)] = scores[np.searchsorted(nodes, places)]
    return said


def left_out(space: FlowSpace, labeled: Labeled) -> LeftOut:
    """Return what the flow of the other labels says of each; of many labels a sample is left out.

    Costs O(l p k) for each of l labels: no node but the labelled ones is asked.
    """
    labeled = labeled.sample()
    scores = np.empty(labeled.targets.shape)
    every, means = np.arange(len(labeled.rows)), mean_of_others(labeled)
    for i in every:
        others, row = labeled.take(every != i), labeled.rows[[i]]
        is_reached = space.component[row[0]] in space.component[others.rows]
        scores[i] = flow_of(space, others, row)[0] if is_reached else means[i]
    return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)
