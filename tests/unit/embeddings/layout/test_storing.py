"""Maps in the store: what comes back is the map, and anything else is another key."""

from pathlib import Path

import numpy as np
import pytest

from beltrami import Graph, KnnGraph, eigenbasis
from beltrami.core.store import Store, remember
from beltrami.embeddings.layout import layout_graph

GRAPH = KnnGraph(6, random_state=0).build(np.random.default_rng(0).random((150, 3)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def draw(store: Store, graph=GRAPH, **named) -> tuple[np.ndarray, bool]:
    told: list[str] = []
    with remember(store, tell=told.append, least_seconds=0):
        positions = layout_graph(graph, n_epochs=named.pop("n_epochs", 20), **named)
    return positions, bool(told)


def test_the_second_map_is_the_first_and_nothing_else_is_stored(store: Store):
    plain = layout_graph(GRAPH, n_epochs=20, random_state=0)
    first, second = draw(store, random_state=0), draw(store, random_state=0)
    assert (first[1], second[1]) == (False, True)
    assert plain.tobytes() == first[0].tobytes() == second[0].tobytes()
    assert plain.strides == second[0].strides
    assert [entry.noun for entry in store.entries()] == ["map"]


def test_everything_that_changes_the_map_changes_the_key(store: Store):
    draw(store, random_state=0)
    start = np.random.default_rng(1).random((150, 2))
    others = (
        {"random_state": 1},
        {"random_state": 0, "n_epochs": 21},
        {"random_state": 0, "initial": start},
        {"random_state": 0, "initial": start + 1},
        {"random_state": 0, "basis": eigenbasis(GRAPH, 4, kind="random_walk")},
        {"random_state": 0, "graph": Graph(GRAPH.weights * 2)},
    )
    for named in others:
        assert not draw(store, **named)[1], named
    assert draw(store, random_state=0)[1]


def test_a_map_without_a_seed_is_drawn_every_time(store: Store):
    assert draw(store)[0].tobytes() != draw(store)[0].tobytes()
    assert store.entries() == []
