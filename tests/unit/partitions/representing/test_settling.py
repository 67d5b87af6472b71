"""Representatives settle at the mean of the rows they stand for."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.support.partitions import (
    EVERY_ROW,
    PLAIN,
    HeldPartition,
    blob_table,
    plain_layout,
    write_parts,
)

import beltrami as bt
from beltrami.partitions.representing.nearby import FACTOR, Standing
from beltrami.partitions.representing.settling import PartResiduals, Residuals, SettleTask, settle


def task(points: Any, scales: Any, spread: Any = (1.0, 1.0), limit: int = EVERY_ROW) -> SettleTask:
    standing = Standing.of(PLAIN.place(points), np.asarray(scales, float))
    return SettleTask(
        plain_layout(),
        np.zeros(2),
        np.asarray(spread),
        PLAIN,
        points,
        standing,
        seed=0,
        limit=limit,
    )


def rows_and_points(n: int = 300, m: int = 12) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 2))
    return rows, rows[:m].copy()


def test_a_representative_settles_at_the_mean_of_its_rows():
    rows, points = rows_and_points()
    residuals = Residuals.none(12, 2)
    residuals.add(task(points, np.full(12, 99.0), rows.std(axis=0))(HeldPartition("a", rows)))
    own = cdist(rows, points).argmin(axis=1)
    expected = np.array([rows[own == place].mean(axis=0) for place in range(12)])
    moved = residuals.settle(points, rows.std(axis=0), np.zeros(12, dtype=bool))
    np.testing.assert_allclose(moved, expected, atol=1e-6)
    assert residuals.counts.tolist() == np.bincount(own, minlength=12).tolist()


def test_rows_that_it_does_not_cover_do_not_move_it():
    rows, points = rows_and_points()
    rows[100:110] = [500.0, 0.0]
    scales = np.full(12, 0.4)
    found = task(points, scales)(HeldPartition("a", rows))
    distances = cdist(rows, points)
    is_covered = distances.min(axis=1) <= FACTOR * 0.4
    assert 0.3 < is_covered.mean() < 0.95
    own = distances.argmin(axis=1)[is_covered]
    assert found.counts.tolist() == np.bincount(own, minlength=12).tolist()
    steps = np.rint((rows[is_covered] - points[own]) * 2**24)
    expected = np.array([steps[own == place].sum(axis=0) for place in range(12)])
    np.testing.assert_array_equal(found.sums, expected)


def test_points_that_are_fixed_or_have_no_rows_stay():
    rows, points = rows_and_points()
    points = np.vstack([points, [[80.0, 80.0]]])
    residuals = Residuals.none(13, 2)
    residuals.add(task(points, np.full(13, 99.0))(HeldPartition("a", rows)))
    is_fixed = np.arange(13) < 3
    moved = residuals.settle(points, np.ones(2), is_fixed)
    assert (moved[:3] == points[:3]).all()
    assert (moved[3:12] != points[3:12]).all()
    assert (moved[12] == points[12]).all()
    assert moved.dtype == points.dtype


def test_sums_are_exact_whatever_the_order_of_partitions():
    rows, points = rows_and_points(700)
    rows *= 10.0 ** np.random.default_rng(1).integers(-6, 6, size=(700, 1))
    asked = task(points, np.full(12, np.inf))
    parts = [
        asked(HeldPartition(str(part), rows[100 * part : 100 * part + 100])) for part in range(7)
    ]
    orders = [[*range(7)], [6, 2, 5, 0, 1, 4, 3]]
    sums = []
    for order in orders:
        residuals = Residuals.none(12, 2)
        for place in order:
            residuals.add(parts[place])
        sums.append(residuals)
    assert (sums[0].sums == sums[1].sums).all()
    assert sums[0].sums.dtype == np.int64
    whole = asked(HeldPartition("all", rows))
    assert (sums[0].sums[whole.places] == whole.sums).all()


def test_a_column_without_spread_moves_nothing():
    rows, points = rows_and_points()
    rows[:, 1] = points[:, 1] = 3.0
    residuals = Residuals.none(12, 2)
    residuals.add(task(points, np.full(12, 99.0), (1.0, 0.0))(HeldPartition("a", rows)))
    moved = residuals.settle(points, np.array([1.0, 0.0]), np.zeros(12, dtype=bool))
    assert (moved[:, 1] == 3.0).all()


def test_some_rows_are_looked_at_where_there_are_many():
    rows, points = rows_and_points(4000)
    found = task(points, np.full(12, 99.0), limit=2**62)(HeldPartition("a", rows))
    assert 800 < found.counts.sum() < 1200


def test_only_representatives_with_rows_are_sent():
    rows, points = rows_and_points()
    found = task(points, np.full(12, 99.0))(HeldPartition("a", rows[:1]))
    assert isinstance(found, PartResiduals)
    assert found.places.tolist() == [0]
    assert found.counts.tolist() == [1]
    assert not found.sums.any()


def test_where_all_rows_learn_nothing_moves():
    chosen, survey = SimpleNamespace(points=np.zeros((5, 2))), SimpleNamespace(total=5)
    none: Any = None
    same: Any = chosen
    assert settle(same, (), none, none, survey, 0) is chosen  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [200, 600])
def test_a_job_moves_rows_without_a_label_where_more_rows_are_there(tmp_path, most):
    table = blob_table()
    bt.label_partitions(
        write_parts(tmp_path / "in", table),
        "kind",
        out=tmp_path / "out",
        method="poisson",
        n_representatives=most,
    )
    rows = np.stack([table.column(f"x{place}").to_numpy() for place in range(3)], axis=1)
    with np.load(tmp_path / "out" / "_beltrami" / "representatives.npz") as held:
        points, codes = held["points"], held["codes"]
        origin = held["rows"] + 150 * held["parts"]
        has_witnesses = "masses" in held.files
        n_told = int(held["masses"].sum()) if has_witnesses else 0
    is_same = (points == rows[origin]).all(axis=1)
    assert is_same[codes >= 0].all()
    assert is_same[codes < 0].mean() < 0.5 if most == 200 else is_same.all()
    assert has_witnesses == (most == 200)
    assert n_told == (600 if most == 200 else 0)
