"""How an answerer becomes arrays and facts, and comes back with the same bits."""

from dataclasses import asdict, dataclass
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.store import Parcel
from beltrami.core.store.records import put_together, take_apart
from beltrami.core.types import FloatVector, Points
from beltrami.front_door.answering.answerer import Answerer, Strangers
from beltrami.front_door.answering.distilled import Distilled
from beltrami.front_door.answering.voices import VOICES
from beltrami.front_door.mixture.confidence import Confidence
from beltrami.front_door.mixture.model import Mixture
from beltrami.front_door.prepare import Preparation
from beltrami.graph.anchors import Anchors, CellSearch
from beltrami.graph.model import Neighbors
from beltrami.graph.search.approximate import Plan
from beltrami.graph.search.cells import Division
from beltrami.graph.weights import (
    BinaryWeights,
    HeatKernel,
    SelfTuningWeights,
    SharedNeighborWeights,
    WeightRule,
)

_RULES: dict[str, type[Any]] = {
    "binary": BinaryWeights,
    "heat": HeatKernel,
    "self_tuning": SelfTuningWeights,
    "shared": SharedNeighborWeights,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The arrays of anchors."""

    points: Points
    spans: FloatVector


def pack_answerer(parcel: Parcel, answerer: Answerer) -> None:
    """Add an answerer to a parcel."""
    take_apart(parcel, "preparation", answerer.preparation)
    _pack_anchors(parcel, answerer.anchors)
    parcel.arrays["is_reached"] = answerer.is_reached
    parcel.arrays["is_island"] = answerer.is_island
    parcel.arrays["has_label"] = answerer.has_label
    kinds = {kind: name for name, kind in VOICES.items()}
    parcel.facts["voices"] = {name: kinds[type(one)] for name, one in answerer.voices.items()}
    for name, voice in answerer.voices.items():
        take_apart(parcel, f"voice.{name}", voice)
    _pack_mixture(parcel, answerer.mixture)
    parcel.facts["has_strangers"] = answerer.strangers is not None
    if answerer.strangers is not None:
        take_apart(parcel, "strangers", answerer.strangers)
    parcel.facts["has_distilled"] = answerer.distilled is not None
    if answerer.distilled is not None:
        take_apart(parcel, "distilled", answerer.distilled)
    if answerer.is_apart is not None:
        parcel.arrays["is_apart"] = answerer.is_apart


def unpack_answerer(parcel: Parcel) -> Answerer:
    """Return the answerer that a parcel holds; KeyError where a part is not there."""
    facts, arrays = parcel.facts, parcel.arrays
    voices = {
        name: put_together(parcel, f"voice.{name}", VOICES[kind])
        for name, kind in facts["voices"].items()
    }
    strangers = put_together(parcel, "strangers", Strangers) if facts["has_strangers"] else None
    distilled = put_together(parcel, "distilled", Distilled) if facts["has_distilled"] else None
    return Answerer(
        put_together(parcel, "preparation", Preparation),
        _unpack_anchors(parcel),
        arrays["is_reached"],
        arrays["is_island"],
        voices,
        _unpack_mixture(parcel),
        arrays["has_label"],
        strangers,
        distilled,
        arrays.get("is_apart"),
    )


def _pack_anchors(parcel: Parcel, anchors: Anchors) -> None:
    rule = next((name for name, kind in _RULES.items() if type(anchors.rule) is kind), None)
    if rule is None:
        raise InvalidInputError(
            f"edges are weighed by {type(anchors.rule).__name__}, a rule of your own, which a file "
            "without code cannot hold. Use a rule of beltrami's, such as weights='self_tuning'."
        )
    settings: Any = anchors.rule
    parcel.facts["rule"] = [rule, settings.get_params()]
    parcel.facts["metric"] = anchors.metric
    parcel.facts["n_neighbors"] = int(anchors.n_neighbors)
    parcel.facts["n_listed"] = int(anchors.n_listed)
    take_apart(parcel, "anchors", _Points(anchors.points, anchors.spans))
    take_apart(parcel, "lists", anchors.lists)
    search = anchors.cells
    parcel.facts["cells"] = None
    if search is not None:
        plan = asdict(search.plan)
        parcel.facts["cells"] = [{name: int(one) for name, one in plan.items()}, search.recall]
        take_apart(parcel, "division", search.division)


def _unpack_anchors(parcel: Parcel) -> Anchors:
    facts = parcel.facts
    name, settings = facts["rule"]
    rule: WeightRule = _RULES[name](**settings)
    cells = None
    if facts["cells"] is not None:
        plan, recall = facts["cells"]
        cells = CellSearch(put_together(parcel, "division", Division), Plan(**plan), recall)
    held = put_together(parcel, "anchors", _Points)
    return Anchors(
        held.points,
        facts["metric"],
        rule,
        facts["n_neighbors"],
        facts["n_listed"],
        put_together(parcel, "lists", Neighbors),
        held.spans,
        cells,
    )


def _pack_mixture(parcel: Parcel, mixture: Mixture) -> None:
    sure = mixture.confidence
    parcel.arrays["odds"] = mixture.odds
    parcel.facts["weights"] = {name: float(one) for name, one in mixture.weights.items()}
    parcel.facts["temperatures"] = {name: float(one) for name, one in mixture.temperatures.items()}
    parcel.facts["confidence"] = None if sure is None else [sure.start, list(sure.slopes)]


def _unpack_mixture(parcel: Parcel) -> Mixture:
    facts, sure = parcel.facts, parcel.facts["confidence"]
    confidence = None if sure is None else Confidence(sure[0], tuple(sure[1]))
    return Mixture(facts["weights"], facts["temperatures"], parcel.arrays["odds"], confidence)
