"""Columns of the inverse in the store: what comes back is what was solved for."""

from pathlib import Path

import numpy as np
import pytest

from beltrami import Graph, KnnGraph
from beltrami.core.store import Store, remember
from beltrami.learners.foundation import Foundation

GRAPH = KnnGraph(6, random_state=0).build(np.random.default_rng(0).random((200, 3)))
ROWS = np.array([3, 50, 7])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def columns(store: Store, *asked, graph=GRAPH, tol=1e-6) -> tuple[np.ndarray, list[str]]:
    """Return the columns at the rows asked for last, and what was taken from the store."""
    told: list[str] = []
    foundation = Foundation(graph)
    with remember(store, tell=told.append, least_seconds=0):
        for rows in asked:
            found = foundation.columns(rows, tol=tol)
    return found, told


def test_the_second_columns_are_the_first_bit_by_bit_and_nothing_is_factorised(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    plain = Foundation(GRAPH).columns(ROWS, tol=1e-6)
    first, told = columns(store, ROWS)
    assert told == []
    monkeypatch.setattr("beltrami.learners.foundation.prepare_system", pytest.fail)
    second, told = columns(store, ROWS)
    assert [line.split(":")[0] for line in told] == ["influence"]
    assert plain.tobytes() == first.tobytes() == second.tobytes()
    assert plain.strides == first.strides == second.strides


def test_a_row_that_is_added_is_solved_for_and_the_others_stay(store: Store):
    more = np.append(ROWS, 9)
    columns(store, ROWS)
    found, told = columns(store, ROWS, more)
    assert len(told) == 1
    plain = Foundation(GRAPH)
    plain.columns(ROWS, tol=1e-6)
    assert found.tobytes() == plain.columns(more, tol=1e-6).tobytes()
    assert found.flags.f_contiguous


def test_other_rows_graphs_and_tolerances_are_other_keys(store: Store):
    columns(store, ROWS)
    assert columns(store, ROWS[::-1])[1] == []
    assert columns(store, ROWS, tol=1e-7)[1] == []
    assert columns(store, ROWS, graph=Graph(GRAPH.weights * 2))[1] == []
    assert len(columns(store, ROWS)[1]) == 1
