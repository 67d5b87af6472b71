"""How a committee's answer is stored: what it depends on, how it becomes arrays and comes back.

What the members chose for themselves is not stored: they are fitted again when they are asked for.
"""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import threads_in_force
from beltrami.core.store import Form, Parcel, seed_content
from beltrami.front_door.deciding.judgement import Answer, Judged, Judgement
from beltrami.front_door.mixture.confidence import Confidence
from beltrami.front_door.mixture.model import Mixture
from beltrami.front_door.prepare import View
from beltrami.learners.model import Labeled

_NAMED = ("n_labels", "can_promise")
_ARRAYS = ("is_told", "held_out", "importance")
_LABELS = ("rows", "targets", "weights")
_CODES = "codes."


def answer_content(view: View, labeled: Labeled, names: list[str], method: str) -> tuple[Any, ...]:
    """Return all that an answer depends on: graph, points, labels, and who is asked."""
    graph = view.graph
    lists = None if graph.neighbors is None else Parcel.of(graph.neighbors).parts
    return (
        (graph.weights, lists, view.points, view.plain, view.metric),
        (view.foundation.n_classes, view.foundation.is_shared),
        tuple(getattr(labeled, name) for name in _LABELS),
        (method, names, seed_content(view.random_state), threads_in_force()),
    )


def pack_answer(answer: Answer) -> Parcel:
    """Return an answer as arrays."""
    judgement = answer.judgement
    mixture = judgement.mixture
    arrays: dict[str, NDArray[Any]] = {"probabilities": answer.probabilities, "odds": mixture.odds}
    arrays |= {_CODES + name: codes for name, codes in answer.codes.items()}
    arrays |= {name: getattr(judgement, name) for name in _ARRAYS}
    arrays |= {f"judged.{name}": getattr(judgement.judged, name) for name in _LABELS}
    facts: dict[str, Any] = {name: getattr(judgement, name) for name in _NAMED}
    facts["choices"] = list(judgement.choices)
    facts |= {"weights": dict(mixture.weights), "temperatures": dict(mixture.temperatures)}
    facts["confidence"] = None if mixture.confidence is None else asdict(mixture.confidence)
    facts["members"] = [asdict(one) for one in judgement.members]
    return Parcel(arrays, facts)


def unpack_answer(parcel: Parcel) -> Answer:
    """Return the answer that was packed, without what the members chose."""
    arrays, facts = parcel.arrays, parcel.facts
    scores = arrays["probabilities"]
    codes = {
        name.removeprefix(_CODES): one for name, one in arrays.items() if name.startswith(_CODES)
    }
    judged = Labeled(*(arrays[f"judged.{name}"] for name in _LABELS))
    parts: dict[str, Any] = {name: facts[name] for name in _NAMED}
    parts |= {name: arrays[name] for name in _ARRAYS}
    members = tuple(Judged(**one) for one in facts["members"])
    choices = dict.fromkeys(facts["choices"])
    sure = facts["confidence"]
    confidence = None if sure is None else Confidence(sure["start"], tuple(sure["slopes"]))
    mixture = Mixture(facts["weights"], facts["temperatures"], arrays["odds"], confidence)
    judgement = Judgement(mixture, judged=judged, members=members, choices=choices, **parts)
    shape = (len(judged.rows), scores.shape[1])
    is_whole = judgement.held_out.shape == judged.targets.shape == shape
    is_whole &= judgement.is_told.shape == judgement.importance.shape == shape[:1]
    is_whole &= all(
        one.shape == scores.shape[:1] and one.dtype == np.intp for one in codes.values()
    )
    is_whole &= set(codes) == set(judgement.choices) == set(mixture.weights)
    is_whole &= set(mixture.weights) == set(mixture.temperatures)
    is_whole &= mixture.odds.shape == scores.shape[1:]
    if not is_whole:
        raise ValueError("probabilities, codes and judgement are not of one answer")
    return Answer(scores, codes, judgement)


ANSWER: Form[Answer] = Form("answer", pack_answer, unpack_answer)
"""How the store keeps an answer."""
