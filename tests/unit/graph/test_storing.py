"""Graphs in the store: what comes back is the graph, and anything else is another key."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from beltrami import HeatKernel, KnnGraph, RadiusGraph
from beltrami.core.errors import ConnectedByBridgesWarning, DegenerateDataWarning, StoreWarning
from beltrami.core.store import Store, remember
from beltrami.graph.fitting import fitted_graph
from beltrami.graph.model import Graph
from beltrami.graph.storing import GRAPH, pack_graph, unpack_graph
from beltrami.graph.weights import BinaryWeights

RNG = np.random.default_rng(0)
POINTS = RNG.random((60, 3))


def same(one: Graph, other: Graph) -> bool:
    """Whether two graphs are the same, bit by bit."""
    arrays, others = (pack_graph(graph).arrays for graph in (one, other))
    return (
        asdict(one.certificate) == asdict(other.certificate)
        and arrays.keys() == others.keys()
        and all(
            array.dtype == others[name].dtype and array.tobytes() == others[name].tobytes()
            for name, array in arrays.items()
        )
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def build(store: Store, recipe, points=POINTS) -> tuple[Graph, bool]:
    """Return a graph and whether it was taken from the store."""
    told: list[str] = []
    with remember(store, tell=told.append, least_seconds=0):
        graph, _ = fitted_graph(recipe, points)
    return graph, bool(told)


RECIPES = [
    KnnGraph(5, random_state=0),
    KnnGraph(5, random_state=0, weights="tuned_shared", connect="keep"),
    KnnGraph(5, random_state=0, weights=HeatKernel(0.5), search="exact"),
    KnnGraph(3, random_state=0, symmetry="mutual", connect="keep"),
    RadiusGraph(0.4, connect="keep"),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
@pytest.mark.parametrize("points", [POINTS, csr_array(POINTS)], ids=["dense", "sparse"])
def test_the_second_graph_is_the_first_bit_by_bit(store: Store, recipe, points):
    built = recipe.build(points)
    first, was_stored = build(store, recipe, points)
    assert not was_stored
    second, was_stored = build(store, recipe, points.copy())
    assert was_stored
    assert same(built, first)
    assert same(first, second)
    assert repr(first) == repr(second)


def test_long_row_numbers_stay_long():
    graph = KnnGraph(5).build(POINTS)
    weights = graph.weights.copy()
    weights.indices, weights.indptr = (
        x.astype(np.int64) for x in (weights.indices, weights.indptr)
    )
    assert same(
        unpack_graph(pack_graph(replace(graph, weights=weights))), replace(graph, weights=weights)
    )


def test_a_graph_without_lists_comes_back_without():
    graph = Graph.from_matrix(KnnGraph(5).build(POINTS).weights)
    assert unpack_graph(pack_graph(graph)).neighbors is None


OTHERS = {
    "neighbors": KnnGraph(6, random_state=0),
    "metric": KnnGraph(5, random_state=0, metric="cosine"),
    "weights": KnnGraph(5, random_state=0, weights="binary"),
    "rule": KnnGraph(5, random_state=0, weights=BinaryWeights()),
    "width": KnnGraph(5, random_state=0, weights=HeatKernel(1.0)),
    "other width": KnnGraph(5, random_state=0, weights=HeatKernel(2.0)),
    "search": KnnGraph(5, random_state=0, search="exact"),
    "symmetry": KnnGraph(5, random_state=0, symmetry="mutual", connect="keep"),
    "connect": KnnGraph(5, random_state=0, connect="keep"),
    "seed": KnnGraph(5, random_state=1),
    "threads": KnnGraph(5, random_state=0, n_jobs=1),
    "radius": RadiusGraph(0.5),
    "other radius": RadiusGraph(0.6),
}


def test_every_parameter_and_every_point_belongs_to_the_key(store: Store):
    build(store, KnnGraph(5, random_state=0))
    for name, recipe in OTHERS.items():
        assert build(store, recipe)[1] is False, name
    for name in KnnGraph().get_params():
        assert any(
            getattr(one, name, None) != KnnGraph().get_params()[name] for one in OTHERS.values()
        )
    moved = POINTS.copy()
    moved[-1, -1] = np.nextafter(moved[-1, -1], 2)
    for points in (moved, POINTS[::-1], POINTS.astype(np.float32), csr_array(POINTS)):
        assert build(store, KnnGraph(5, random_state=0), points)[1] is False
    assert build(store, KnnGraph(5, random_state=0))[1] is True


class OwnRule(BaseEstimator):
    """A user's own weights."""

    def reach(self, n_neighbors):
        return n_neighbors

    def weigh(self, edges, left, right):
        return np.full(len(edges.rows), 0.5)


@pytest.mark.parametrize(
    "recipe",
    [
        KnnGraph(5),
        KnnGraph(5, random_state=np.random.default_rng(0)),
        KnnGraph(5, random_state=0, metric=lambda a, b: float(np.abs(a - b).sum())),
        KnnGraph(5, random_state=0, weights=OwnRule()),
    ],
    ids=["no seed", "generator", "own metric", "own rule"],
)
def test_what_says_nothing_of_what_it_does_is_never_stored(store: Store, recipe):
    build(store, recipe)
    assert build(store, recipe)[1] is False
    assert store.entries() == []


def test_warnings_come_back_with_the_graph(store: Store):
    apart = np.vstack([POINTS, POINTS + 100])
    for was_stored in (False, True):
        with pytest.warns(ConnectedByBridgesWarning, match="fell into 2 components"):
            assert build(store, KnnGraph(5, random_state=0), apart)[1] is was_stored
        with pytest.warns(DegenerateDataWarning, match="identical"):
            assert build(store, KnnGraph(5, random_state=0), np.ones((60, 2)))[1] is was_stored


def test_a_stored_graph_that_is_none_is_built_anew(store: Store):
    graph, _ = build(store, KnnGraph(5, random_state=0))
    entry = store.entries()[0]
    crooked = pack_graph(graph)
    crooked.arrays["data"] = crooked.arrays["data"].copy()
    crooked.arrays["data"][0] += 1  # no longer symmetric
    from beltrami.core.store.parcels import Parcel, read_parcel, write_parcel

    key = entry.path.name[len("graph-") :].removesuffix(".arrays")
    facts = read_parcel(entry.path, key).facts
    write_parcel(entry.path, key, Parcel(crooked.arrays, facts))
    with pytest.warns(StoreWarning, match="does not hold what it should"):
        again, was_stored = build(store, KnnGraph(5, random_state=0))
    assert not was_stored
    assert same(again, graph)
    assert GRAPH.noun == entry.noun
