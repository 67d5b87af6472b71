"""Rows bear witness who belongs together."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.support.partitions import EVERY_ROW, PLAIN, HeldPartition, plain_layout

from beltrami.partitions.representing import witnessing
from beltrami.partitions.representing.nearby import Arranged
from beltrami.partitions.representing.witnessing import Pairs, Witnesses, WitnessTask


def asked(rows: Any, points: Any, name: str = "a") -> Pairs:
    arranged = Arranged.of(PLAIN.place(points))
    task = WitnessTask(plain_layout(), np.zeros(2), PLAIN, arranged, seed=0, limit=EVERY_ROW)
    return task(HeldPartition(name, rows))


def counted(rows: Any, points: Any) -> tuple[Any, Any]:
    """Return the matrix of witnesses and the masses, row by row, written to be believed."""
    m = len(points)
    matrix, masses = np.zeros((m, m)), np.zeros(m, dtype=int)
    for distances in cdist(rows.astype(np.float32), points.astype(np.float32)):
        first, *others = np.argsort(distances)[:3]
        masses[first] += 1
        for other in others:
            matrix[first, other] += 1
            matrix[other, first] += 1
    return matrix, masses


def added(parts: Any, m: int) -> Witnesses:
    found = Witnesses(np.zeros(m, np.int64))
    for one in parts:
        found.add(one)
    return found


@pytest.mark.parametrize("m", [2, 3, 20])
def test_pairs_are_counted_as_by_looking_at_all(m):
    rng = np.random.default_rng(m)
    rows, points = rng.normal(size=(200, 2)), rng.normal(size=(m, 2))
    found = added([asked(rows, points)], m)
    matrix, masses = counted(rows, points)
    assert found.masses.tolist() == masses.tolist()
    np.testing.assert_array_equal(found.matrix().toarray(), matrix)


def test_the_matrix_is_symmetric_and_nobody_is_beside_himself():
    rng = np.random.default_rng(0)
    matrix = added([asked(rng.normal(size=(300, 2)), rng.normal(size=(30, 2)))], 30).matrix()
    assert (matrix != matrix.T).nnz == 0
    assert not matrix.diagonal().any()
    assert matrix.sum() == 2 * 2 * 300


@pytest.mark.parametrize("held", [10, 2**22])
def test_the_order_of_partitions_changes_nothing(monkeypatch, held):
    monkeypatch.setattr(witnessing, "_HELD", held)
    rng = np.random.default_rng(0)
    rows, points = rng.normal(size=(700, 2)), rng.normal(size=(25, 2))
    parts = [asked(rows[100 * k : 100 * k + 100], points, str(k)) for k in range(7)]
    one, other = (added(some, 25) for some in (parts, parts[::-1]))
    whole = added([asked(rows, points)], 25)
    for found in (other, whole):
        assert (found.masses == one.masses).all()
        np.testing.assert_array_equal(found.matrix().toarray(), one.matrix().toarray())
        np.testing.assert_array_equal(found.matrix().indices, one.matrix().indices)


def test_no_rows_say_nothing():
    assert added([], 4).matrix().nnz == 0
