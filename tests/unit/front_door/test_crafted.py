"""A file with a right seal that nobody of ours wrote is refused in words, and runs nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.core.store import Parcel
from beltrami.core.store.parcels import write_parcel
from beltrami.front_door.kept import file
from beltrami.front_door.kept.file import read_labeller

pytestmark = pytest.mark.usefixtures("few_trees")

Change = Callable[[Parcel], None]


def _points(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kinds = np.arange(n) % 3
    return rng.normal(size=(n, 5)) + 6 * np.eye(3, 5)[kinds], kinds


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> dict[str, Path]:
    """Files of labellers by what answers."""
    points, kinds = _points()
    labels = np.array([f"c{k}" if i < 30 else "" for i, k in enumerate(kinds)])
    folder, found = tmp_path_factory.mktemp("kept"), {}
    for method in ("auto", "poisson", "forest", "logistic", "neighbors"):
        learner = bt.ManifoldClassifier(method, random_state=0).fit(points, labels)
        found[method] = learner.save(folder / method)
    return found


def _crafted(path: Path, change: Change, target: Path) -> Path:
    _, parcel = read_labeller(path)
    change(parcel)
    write_parcel(target, file._KEY, parcel)
    return target


def fact(name: str, value: Any) -> Change:
    return lambda parcel: parcel.facts.__setitem__(name, value)


def array(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda parcel: parcel.arrays.__setitem__(name, make(parcel.arrays[name]))


CASES: dict[str, tuple[str, Change]] = {
    "more anchors are listed than there are": ("poisson", fact("n_listed", 10**6)),
    "none is listed": ("poisson", fact("n_listed", 0)),
    "neighbours in words": ("poisson", fact("n_neighbors", "ten")),
    "voices are no mapping": ("auto", fact("voices", [1])),
    "a voice is missing": ("auto", fact("voices", {})),
    "weights are a number": ("auto", fact("weights", 5)),
    "weights are words": ("auto", lambda p: p.facts["weights"].update(poisson="x")),
    "no temperature": ("auto", fact("temperatures", {"x": 1.0})),
    "a class beyond whole numbers": ("auto", fact("names.dtype", "<i8")),
    "classes in vast cells": ("auto", fact("names.dtype", "<U20000000")),
    "another number of columns": ("poisson", fact("n_features", 7)),
    "columns in words": ("poisson", fact("n_features", "x")),
    "lists cut short": ("poisson", array("lists.indices", lambda a: a[:10])),
    "lists of strangers": ("poisson", array("lists.indices", lambda a: a + 1000)),
    "spans cut short": ("poisson", array("anchors.spans", lambda a: a[:10])),
    "what is reached is cut short": ("poisson", array("is_reached", lambda a: a[:3])),
    "scores cut short": ("poisson", array("voice.poisson.scores", lambda a: a[:3])),
    "a metric of no name": ("poisson", fact("metric", 3)),
    "an unknown rule": ("poisson", fact("rule", ["mine", {}])),
    "a tree without an end": (
        "forest", array("voice.forest.left", lambda a: np.arange(len(a), dtype=a.dtype)),
    ),
    "a tree that leads out": ("forest", array("voice.forest.right", lambda a: a + 10**6)),
    "a tree that asks for a strange column": (
        "forest", array("voice.forest.columns", lambda a: np.where(a >= 0, a + 99, a)),
    ),
    "a class that is none": ("logistic", array("voice.logistic.codes", lambda a: a + 9)),
    "slopes of fewer columns": ("logistic", array("voice.logistic.slopes", lambda a: a[:2])),
    "codes of other rows": ("neighbors", array("voice.neighbors.codes", lambda a: a[:2])),
    "a marker that is a list": ("auto", fact("marker", [1])),
    "confidence without slopes": ("auto", fact("confidence", [0.0, []])),
    "no shares": ("auto", lambda p: p.arrays.pop("shares")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_parts_that_do_not_fit_are_refused_when_the_file_is_read(case, content, tmp_path) -> None:
    method, change = CASES[case]
    crafted = _crafted(content[method], change, tmp_path / "crafted")
    with pytest.raises(InvalidInputError, match="lacks a part that a kept labeller has"):
        bt.load(crafted)


def test_lists_within_lists_without_end_are_refused(content, tmp_path) -> None:
    text = np.frombuffer(b"[" * 100_000, dtype=np.uint8)

    def nest(parcel: Parcel) -> None:
        del parcel.facts["preparation.reasons"]
        parcel.arrays["preparation.reasons#text"] = text

    with pytest.raises(InvalidInputError, match="lacks a part"):
        bt.load(_crafted(content["auto"], nest, tmp_path / "crafted"))


TABLE_CASES: dict[str, Change] = {
    "a share in words": fact("origin.usual", "x"),
    "a share that is no number": fact("origin.usual", float("nan")),
    "labels in a list": fact("roles.label", [1]),
    "fewer columns": lambda p: p.facts.__setitem__("recipe", [["numbers"], False, ""]),
    "numbers of other columns": array("recipe.0.instead", lambda a: a[:1]),
    "another part": fact("recipe", [["unheard"], False, ""]),
}


@pytest.mark.parametrize("case", TABLE_CASES)
def test_a_recipe_that_does_not_fit_is_refused(case, tmp_path) -> None:
    points, kinds = _points()
    frame = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "z": list("abc" * 20)})
    frame["kind"] = [f"c{k}" if i < 30 else None for i, k in enumerate(kinds)]
    found = bt.label(frame, "kind", n_questions=0, method="logistic").save(tmp_path / "m")
    with pytest.raises(InvalidInputError, match="lacks a part"):
        bt.load(_crafted(found, TABLE_CASES[case], tmp_path / "crafted"))
