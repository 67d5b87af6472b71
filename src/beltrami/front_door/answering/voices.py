"""Voices: what each candidate needs to speak of new points, as plain arrays.

A fitted member enters; a flat record leaves that gives the logits of points that arrive, (m, k).
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.front_door.answering.arrival import Arrival
from beltrami.front_door.answering.forest import ForestVoice
from beltrami.front_door.deciding.members import GraphMember, Member, PlainMember, log_shares
from beltrami.kernel_machines.expansion import FeatureExpansion, KernelExpansion
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import CosineKernel, Kernel, RbfKernel
from beltrami.kernel_machines.landmarks import NystromFeatures
from beltrami.learners.base import distribute, softmax, without_absent
from beltrami.learners.baselines import (
    NEVER,
    ForestBaseline,
    LogisticBaseline,
    NearestBaseline,
)
from beltrami.learners.shared_graph import expansion_of, has_label_of, share_temperature
from beltrami.operators.extension import extend_eigenvectors, walk_factors


class Voice(Protocol):
    """What answers new points for one candidate."""

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return the logits of new points, (m, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class SharesVoice:
    """Scores carried from neighbours, which become shares: Poisson learning, regularisation.

    Attributes
    ----------
    scores : ndarray of shape (n, k)
        Of the anchors.
    temperature : float or None
        Of the softmax that makes them shares; None where they are shares, but for their sum.
    has_label, prior : ndarray of shape (k,)
        Which classes have a label, and the shares among labels.
    """

    scores: FloatMatrix
    temperature: float | None
    has_label: BoolVector
    prior: FloatVector

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return logarithms of shares."""
        scores = without_absent(arrival.carry(self.scores), self.has_label)
        shares = (
            np.maximum(scores, 0.0)
            if self.temperature is None
            else softmax(scores, self.temperature)
        )
        return log_shares(distribute(shares, arrival.reached, self.has_label, self.prior))


@dataclass(frozen=True, slots=True, eq=False)
class WalkVoice:
    """A combination of slow functions of the random walk.

    The functions are many and the classes few: what is kept is the combination, in the precision
    of the functions.

    Attributes
    ----------
    own : ndarray of shape (n, k)
        Its values at the anchors.
    slopes : ndarray of shape (n, k)
        The same combination of the functions over their denominators in Nyström's formula.
    has_label : ndarray of shape (k,)
        Which classes have a label.
    """

    own: FloatMatrix
    slopes: FloatMatrix
    has_label: BoolVector

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return the combination's values."""
        scores = arrival.extend(self.slopes, self.own)
        return np.maximum(without_absent(scores, self.has_label), NEVER)


@dataclass(frozen=True, slots=True, eq=False)
class SlowVoice:
    """A combination of slow functions of the combinatorial Laplacian, as few rows have them.

    Their denominators differ from point to point, so that the functions themselves are kept.

    Attributes
    ----------
    vectors : ndarray of shape (n, p)
        The functions at the anchors.
    values : ndarray of shape (p,)
        Their eigenvalues.
    coefficients : ndarray of shape (p, k)
        What each counts for a class.
    has_label : ndarray of shape (k,)
        Which classes have a label.
    """

    vectors: FloatMatrix
    values: FloatVector
    coefficients: FloatMatrix
    has_label: BoolVector

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return the functions' values."""
        tie = arrival.tie
        edges = tie.edges(len(self.vectors))
        there = extend_eigenvectors(edges, self.vectors, self.values, kind="combinatorial")
        is_old = tie.twins >= 0
        there[is_old] = self.vectors[tie.twins[is_old]]
        scores = there @ self.coefficients
        return np.maximum(without_absent(scores, self.has_label), NEVER)


@dataclass(frozen=True, slots=True, eq=False)
class MachineVoice:
    """A kernel machine, exact or on landmarks.

    Attributes
    ----------
    width : float or None
        Of the Gaussian kernel; None is the cosine.
    points : ndarray or csr_array of shape (s, p)
        Where the kernels are centred.
    coefficients : ndarray of shape (s, k)
        Of the kernels.
    intercept : ndarray of shape (k,)
        Constants.
    has_label : ndarray of shape (k,)
        Which classes have a label.
    """

    width: float | None
    points: Points
    coefficients: FloatMatrix
    intercept: FloatVector
    has_label: BoolVector

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return the machine's values."""
        kernel: Kernel = CosineKernel() if self.width is None else RbfKernel(self.width)
        gram = Gram(kernel, self.points)
        expansion = KernelExpansion(gram, self.coefficients, np.zeros((0, 0)))
        scores = np.asarray(expansion.at(arrival.points) + self.intercept)
        return np.maximum(without_absent(scores, self.has_label), NEVER)


@dataclass(frozen=True, slots=True, eq=False)
class LogisticVoice:
    """Logistic regression.

    Attributes
    ----------
    center : ndarray of shape (d,) or None
        Taken off; None for nothing.
    slopes : ndarray of shape (d, c)
        One column for each class that has a label, or one for two of them; none for a single one.
    intercept : ndarray of shape (c,)
        Constants.
    codes : ndarray of shape (l,)
        Classes that have a label.
    n_classes : int
        Classes in all.
    """

    center: FloatVector | None
    slopes: FloatMatrix
    intercept: FloatVector
    codes: IndexVector
    n_classes: int

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return logarithms of probabilities."""
        points = arrival.plain
        logits = np.full((points.shape[0], self.n_classes), NEVER)
        if len(self.codes) == 1:
            logits[:, self.codes] = 0.0
            return logits
        if self.center is not None:
            points = points - self.center.astype(points.dtype)
        slopes = self.slopes if issparse(points) else self.slopes.astype(points.dtype)
        scores = np.asarray(points @ slopes, dtype=np.float64) + self.intercept
        if scores.shape[1] == 1:  # one column says both of two classes
            scores = np.hstack([np.zeros_like(scores), scores])
        scores -= scores.max(axis=1, keepdims=True)
        shares = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        logits[:, self.codes] = np.maximum(shares, NEVER)
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class NearestVoice:
    """The nearest labelled row of each class.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (l, p)
        Labelled ones.
    codes : ndarray of shape (l,)
        Their classes.
    unit : float
        Of distances.
    metric : str
        How they are measured.
    n_classes : int
        Classes in all.
    """

    rows: Points
    codes: IndexVector
    unit: float
    metric: str
    n_classes: int

    def logits(self, arrival: Arrival) -> FloatMatrix:
        """Return distances to each class, negative, in units."""
        baseline = NearestBaseline()
        baseline.know(self.rows, self.codes, self.unit, self.metric, self.n_classes)
        return baseline.at(arrival.points)


VOICES: dict[str, type[Any]] = {
    "shares": SharesVoice,
    "walk": WalkVoice,
    "slow": SlowVoice,
    "machine": MachineVoice,
    "logistic": LogisticVoice,
    "forest": ForestVoice,
    "nearest": NearestVoice,
}
"""The kinds of voices, by the names that they have in files."""


def voice_of(name: str, member: Member, rows: IndexVector | slice) -> Voice | None:
    """Return what answers new points for a member; None where arrays do not say it.

    - `rows`: the rows of the fit that are anchors.
    """
    if isinstance(member, PlainMember):
        return _plain_voice(member.baseline)
    assert isinstance(member, GraphMember)
    speaker = member.speaker
    if name == "eigenfunctions":
        return _slow_voice(speaker, rows)
    if name not in ("poisson", "regularized"):
        return _machine_voice(speaker)
    return SharesVoice(
        speaker.scores_[rows],
        share_temperature(speaker),
        has_label_of(speaker),
        speaker.class_prior_,
    )


def _slow_voice(speaker: Any, rows: IndexVector | slice) -> Voice:
    basis, coefficients = speaker.basis_, speaker.spectral_fit_.coefficients
    p = len(coefficients)
    vectors, values = basis.vectors[rows, :p], basis.values[:p]
    if basis.kind == "combinatorial":
        return SlowVoice(vectors, values, coefficients, has_label_of(speaker))
    slopes = vectors @ (coefficients / walk_factors(values)[:, None])
    own = vectors @ coefficients
    return WalkVoice(own.astype(vectors.dtype), slopes.astype(vectors.dtype), has_label_of(speaker))


def _machine_voice(speaker: Any) -> Voice | None:
    expansion = expansion_of(speaker)
    if isinstance(expansion, KernelExpansion):
        columns = np.flatnonzero(expansion.coefficients.any(axis=1))
        gram, coefficients = expansion.gram, expansion.coefficients[columns]
    elif isinstance(expansion, FeatureExpansion) and isinstance(
        expansion.features, NystromFeatures
    ):
        gram, columns = expansion.features.gram, expansion.features.landmarks
        coefficients = expansion.features.whitening @ expansion.coefficients
    else:
        return None
    if not isinstance(gram.kernel, RbfKernel | CosineKernel):
        return None
    width = float(gram.kernel.width) if isinstance(gram.kernel, RbfKernel) else None
    intercept = np.broadcast_to(speaker.intercept_, coefficients.shape[1:]).copy()
    return MachineVoice(width, gram.points[columns], coefficients, intercept, has_label_of(speaker))


def _plain_voice(baseline: Any) -> Voice | None:
    if isinstance(baseline, ForestBaseline):
        return ForestVoice.of(baseline.model, baseline.n_classes)
    if isinstance(baseline, NearestBaseline):
        metric = baseline.known[3]
        return NearestVoice(*baseline.known) if isinstance(metric, str) else None
    if isinstance(baseline, LogisticBaseline):
        model, scale = baseline.model, baseline.scale
        codes = np.asarray(model.classes_, dtype=np.intp)
        if len(codes) == 1:
            return LogisticVoice(None, np.zeros((0, 1)), np.zeros(1), codes, baseline.n_classes)
        slopes = model.coef_.T
        if scale.spread is not None:
            slopes = slopes / scale.spread[:, None]
        return LogisticVoice(scale.center, slopes, model.intercept_, codes, baseline.n_classes)
    return None
