"""Whether the parts of a kept labeller fit each other: one that was read is checked once.

A right seal says that a file is as it was written, and not by whom. What compiled loops follow by
number is looked at here, number by number, and all else by its shape.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.front_door.answering.answerer import Answerer, Strangers
from beltrami.front_door.answering.distilled import Distilled
from beltrami.front_door.answering.forest import ForestVoice
from beltrami.front_door.answering.voices import (
    LogisticVoice,
    MachineVoice,
    NearestVoice,
    SharesVoice,
    SlowVoice,
    WalkVoice,
)
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.front_door.mixture.confidence import ROW_SIGNS
from beltrami.front_door.prepare import Preparation
from beltrami.graph.anchors import Anchors

_SHAPES: dict[type[Any], dict[str, str]] = {
    KeptLabeller: {"classes_": "k", "prior": "k", "shares": "k"},
    Answerer: {"is_reached": "n!", "is_island": "n!", "has_label": "k!", "is_apart": "n!"},
    Preparation: {"center": "d", "spread": "d", "directions": "dq"},
    Strangers: {"functions": "nf", "factors": "f", "damping": "f", "places": "lf"},
    Distilled: {"landmarks": "sq", "coefficients": "sk"},
    SharesVoice: {"scores": "nk", "has_label": "k!", "prior": "k"},
    WalkVoice: {"own": "nk", "slopes": "nk", "has_label": "k!"},
    SlowVoice: {"vectors": "nf", "values": "f", "coefficients": "fk", "has_label": "k!"},
    MachineVoice: {"points": "sq", "coefficients": "sk", "intercept": "k", "has_label": "k!"},
    LogisticVoice: {"center": "d", "slopes": "zc", "intercept": "c", "codes": "l#"},
    NearestVoice: {"rows": "lq", "codes": "l#"},
    ForestVoice: {
        "roots": "t#", "columns": "m#", "thresholds": "m", "left": "m#", "right": "m#",
        "shares": "mc", "codes": "c#",
    },
}  # fmt: skip
"""The sizes of each array, by letters: n anchors, k classes, d columns that come, q that are
compared; others hold within their record. ! are truth values, # whole numbers."""

_KINDS = {"!": "b", "#": "iu"}


def require_whole(labeller: KeptLabeller) -> None:
    """Raise ValueError where the parts of a labeller do not fit each other."""
    answerer = labeller.answerer
    anchors = answerer.anchors
    _require(len(anchors.points.shape) == 2, "the points")
    n, q = anchors.points.shape
    sizes = {"n": n, "q": q, "k": len(labeller.classes_), "d": labeller.n_features}
    _require(all(type(one) is int and one > 0 for one in sizes.values()), "the sizes")
    names = labeller.feature_names
    _require(names is None or len(names) == sizes["d"], "the names of columns")
    records = [labeller, answerer, answerer.preparation, answerer.strangers, answerer.distilled]
    for record in (*records, *answerer.voices.values()):
        _require_shapes(record, dict(sizes))
    _require(answerer.preparation.directions is not None or q == sizes["d"], "the columns")
    _require_anchors(anchors, n, q)
    for voice in answerer.voices.values():
        _require_voice(voice, sizes)
    _require_mixture(answerer)
    rule = labeller.acceptance
    _require(rule.risk is None or _is_number(rule.risk), "the risk")
    _require(all(_is_number(one) for one in (rule.least, rule.far)), "what is accepted")


def _require_shapes(record: Any, sizes: dict[str, int]) -> None:
    """Raise where an array of a record is not of the sizes that are known, or not of its kind."""
    for name, letters in _SHAPES.get(type(record), {}).items():
        array = getattr(record, name)
        if array is None:
            continue
        kind = _KINDS.get(letters[-1])
        wanted = letters.rstrip("!#")
        _require(len(array.shape) == len(wanted), name)
        is_right = all(
            sizes.setdefault(letter, size) == size
            for letter, size in zip(wanted, array.shape, strict=True)
        )
        _require(is_right and (kind is None or array.dtype.kind in kind), name)
        _require_sparse(array)


def _require_sparse(points: Any) -> None:
    """Raise where a sparse array names columns that it has not."""
    if issparse(points):
        rows: Any = points
        rows.check_format(full_check=True)


def _require_anchors(anchors: Anchors, n: int, q: int) -> None:
    """Raise where lists or cells name anchors that are not there."""
    _require_sparse(anchors.points)
    lists, spans = anchors.lists, anchors.spans
    _require(spans.shape == (n,) and spans.dtype.kind == "f", "the spans")
    for one in (lists.indices, lists.distances):
        _require(one.ndim == 2 and one.shape[0] == n and one.shape[1] > 0, "the lists")
    _require_below(lists.indices, n, "the lists")
    _require_metric(anchors.metric)
    counts = anchors.n_neighbors, anchors.n_listed
    _require(all(type(one) is int for one in counts), "the neighbours")
    _require(counts[0] >= 1 and 1 <= counts[1] <= n, "the neighbours")
    anchors.rule.reach(anchors.n_neighbors)  # which looks at what the rule was set to
    if anchors.cells is None:
        return
    division, plan = anchors.cells.division, anchors.cells.plan
    centers = division.centers
    _require(centers.ndim == 2 and centers.shape[1] == q and len(centers) > 0, "the cells")
    _require(centers.dtype == np.float32 and division.owner.dtype == np.int32, "the cells")
    _require(division.owner.shape == (n,), "the cells")
    _require_below(division.owner, len(centers), "the cells")
    searched = plan.n_searched, plan.n_listed
    _require(all(type(one) is int and one >= 1 for one in searched), "the search")
    _require(searched[0] <= searched[1] and searched[1] <= len(centers), "the search")


def _require_voice(voice: Any, sizes: Mapping[str, int]) -> None:
    """Raise where a voice speaks of classes, columns or nodes that are not there."""
    k, d = sizes["k"], sizes["d"]
    if hasattr(voice, "codes"):
        _require(len(voice.codes) > 0 and voice.n_classes == k, "the classes of a voice")
        _require_below(voice.codes, k, "the classes of a voice")
    for name in ("temperature", "width", "unit"):
        value = getattr(voice, name, None)
        _require(value is None or _is_number(value), name)
    if isinstance(voice, NearestVoice):
        _require_metric(voice.metric)
    if isinstance(voice, LogisticVoice) and len(voice.codes) > 1:
        width = voice.slopes.shape[1]
        _require(voice.slopes.shape[0] == d, "the slopes")
        _require(width == len(voice.codes) or (width, len(voice.codes)) == (1, 2), "the slopes")
    if isinstance(voice, ForestVoice):
        _require_forest(voice, d)


def _require_forest(forest: ForestVoice, d: int) -> None:
    """Raise where a walk down a tree would leave it, or find no end: all ways lead onwards."""
    n_nodes = len(forest.columns)
    _require(len(forest.roots) > 0, "the trees")
    _require_below(forest.roots, n_nodes, "the trees")
    _require(bool((forest.columns < d).all()), "the trees")
    asks = np.flatnonzero(forest.columns >= 0)
    for ends in (forest.left, forest.right):
        _require_below(ends, n_nodes, "the trees")
        _require(bool((ends[asks] > asks).all()), "the trees")


def _require_mixture(answerer: Answerer) -> None:
    """Raise where a voice is due that is not there, or what it counts is no number."""
    mixture, sure = answerer.mixture, answerer.mixture.confidence
    _require(mixture.odds.shape == answerer.has_label.shape, "the odds")
    for one in (mixture.weights, mixture.temperatures):
        _require(len(one) > 0 and all(map(_is_number, one.values())), "the weights of voices")
    _require(sum(mixture.weights.values()) > 0, "the weights of voices")
    _require(set(mixture.heard) <= set(answerer.voices), "the voices")
    _require(set(mixture.heard) <= set(mixture.temperatures), "the voices")
    if sure is not None:
        _require(all(map(_is_number, (sure.start, *sure.slopes))), "the confidence")
        _require(len(sure.slopes) == len(ROW_SIGNS), "the confidence")


def _require_metric(name: Any) -> None:
    _require(isinstance(name, str) and name != "precomputed", "the metric")


def _require_below(numbers: Any, stop: int, what: str) -> None:
    is_whole = numbers.dtype.kind in "iu"
    _require(is_whole and bool(((numbers >= 0) & (numbers < stop)).all()), what)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} do not fit the rest")
