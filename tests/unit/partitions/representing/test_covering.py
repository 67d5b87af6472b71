"""Who stands for whom."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial.distance import cdist
from tests.support.partitions import PLAIN, HeldPartition, plain_layout, write_parts

import beltrami as bt
from beltrami.partitions import Coverage
from beltrami.partitions.representing.covering import (
    Candidates,
    CoverTask,
    Gaps,
    local_scales,
    thin,
)
from beltrami.partitions.representing.drawing import Drawn, settle_draw
from beltrami.partitions.representing.nearby import FACTOR, Standing
from beltrami.partitions.representing.representatives import Strays
from beltrami.partitions.rows import key_limit, row_keys


def test_the_scale_on_a_grid_is_the_distance_to_the_tenth_neighbour():
    line = np.arange(100, dtype=np.float32)[:, None]
    assert local_scales(line)[50] == pytest.approx(5.0)


def test_a_lonely_row_has_the_scale_of_its_neighbours():
    places = np.concatenate([np.arange(100), [1000]]).astype(np.float32)[:, None]
    assert local_scales(places)[-1] < 12


def test_equal_rows_have_a_scale_above_nothing():
    assert (local_scales(np.ones((30, 2), np.float32)) > 0).all()


def test_a_dense_clump_adds_a_few_rows_not_all():
    rng = np.random.default_rng(0)
    clumps = np.repeat([[0.0, 0.0], [50.0, 0.0]], 200, axis=0)
    points = clumps + rng.normal(scale=0.1, size=(400, 2))
    ones = np.ones(400)
    found = Candidates(np.arange(400), points, 5 + rng.random(400), ones)
    taken = thin(points.astype(np.float32), found, most=100)
    assert len(taken) == 2
    nearest = np.linalg.norm(points[:, None] - points[taken], axis=2).min(axis=1)
    assert (nearest <= FACTOR).all()


def test_the_sample_does_not_depend_on_how_a_partition_is_cut_into_batches():
    whole = row_keys(7, "a.parquet", 0, 1000)
    parts = [row_keys(7, "a.parquet", start, 250) for start in range(0, 1000, 250)]
    assert (whole == np.concatenate(parts)).all()
    assert (whole != row_keys(7, "b.parquet", 0, 1000)).all()


def test_keys_are_drawn_evenly():
    keys = row_keys(0, "a", 0, 100_000)
    drawn = (keys < key_limit(1000, 100_000)).sum()
    assert 1000 <= drawn <= 1500


def test_labelled_rows_all_stay():
    labels = np.array(["a", None, None, "b", None], dtype=object)
    keys = np.array([9, 5, 3, 8, 4], np.uint64)
    drawn = Drawn(np.arange(5), keys, np.zeros((5, 1)), labels, np.zeros(5, np.int64))
    stay, spare = settle_draw(drawn, 2)
    assert stay.rows.tolist() == [0, 2, 3, 4]
    assert spare.rows.tolist() == [1]


@pytest.mark.parametrize("share", [0.0, 0.9999])
def test_a_rare_clump_is_covered_only_where_uncovered_rows_are_added(tmp_path, share):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6000, 2))
    points[3000:3008] = rng.normal(loc=40.0, scale=0.3, size=(8, 2))
    kinds = [("a" if x[0] > 0 else "b") if row < 40 else None for row, x in enumerate(points)]
    table = pa.table({"x0": points[:, 0], "x1": points[:, 1], "kind": kinds})
    found = bt.label_partitions(
        write_parts(tmp_path / "in", table),
        "kind",
        out=tmp_path / "out",
        method="poisson",
        n_representatives=300,
        coverage=share,
    )
    with np.load(tmp_path / "out" / "_beltrami" / "representatives.npz") as held:
        chosen, origin = held["points"], held["rows"] + 1500 * held["parts"]
    assert (np.linalg.norm(points[origin] - chosen, axis=1) < 2).all()  # settled, not far
    assert (points[origin[origin < 40]] == chosen[origin < 40]).all()  # those with labels stay
    assert (chosen.max() > 30) == (share > 0)
    assert len(chosen) == 300
    assert (found.coverage.largest_distance > 20) == (share == 0)
    assert found.coverage.rounds == 0 if share == 0 else found.coverage.rounds > 0


def test_a_search_by_cells_calls_no_row_covered_that_nobody_covers():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(5000, 6)).astype(np.float32)
    scales = 0.3 + 0.3 * rng.random(5000)
    rows = (1.3 * rng.normal(size=(3000, 6))).astype(np.float32)
    distances = cdist(rows, places)
    ratios, own = Standing.of(places, scales).ratios(rows)
    apart = distances / (FACTOR * scales)
    assert Standing.of(places, scales).arranged.division is not None
    assert 0.05 < (ratios > 1).mean() < 0.95
    assert (ratios >= apart.min(axis=1) * (1 - 1e-12)).all()
    nearest = distances.argmin(axis=1)
    of_nearest = apart[np.arange(3000), nearest]
    is_open = ratios > 1
    assert (of_nearest[is_open] > 1).all()
    np.testing.assert_allclose(ratios[is_open], of_nearest[is_open], rtol=1e-12)
    np.testing.assert_array_equal(own[is_open], scales[nearest[is_open]])


def look(rows, at, before=None):
    """Return what a look finds of rows, given one more representative of scale 1."""
    standing = Standing.of(np.array([at], np.float32), np.ones(1))
    task = CoverTask(plain_layout(), np.zeros(2), PLAIN, standing, 10)
    return task(HeldPartition("a", np.array(rows)), before)


def test_a_later_round_does_not_forget_how_far_rows_are_that_were_covered_before():
    rows = [[0.0, 0.0], [1.4, 0.0], [1.2, 0.0], [100.0, 0.0], [300.0, 0.0]]
    first = look(rows, [0.0, 0.0])
    second = look(rows, [100.0, 0.0], first)
    third = look(rows, [301.3, 0.0], second)
    assert FACTOR * np.array([one.largest for one in (first, second, third)]) == pytest.approx(
        [300.0, 200.0, 1.4]
    )
    assert [len(one.rows) for one in (first, second, third)] == [2, 1, 0]


def test_a_certificate_is_rounded_to_the_side_on_which_it_holds():
    assert str(Coverage(1 - 1e-9, 3.21, 10**9, 50_000, 1)) == (
        "99.99 % of 1,000,000,000 rows covered by 50,000 representatives (1 round; farthest at "
        "3.3 scales)"
    )
    assert "99.87 % of" in str(Coverage(0.9987, 1.5, 10_000, 100, 1))
    assert "farthest at 1.5 scales" in str(Coverage(0.9987, 1.5, 10_000, 100, 1))
    assert str(Coverage(1.0, 0.0, 10, 10, 0)) == (
        "100.00 % of 10 rows covered by 10 representatives (0 rounds; farthest at 0.0 scales)"
    )


def test_the_worst_rows_are_those_of_all_partitions_together():
    rng = np.random.default_rng(0)
    none = np.zeros(0)
    empty = Candidates(none.astype(np.int64), np.zeros((0, 2)), none, none)
    gaps = []
    for n in (900, 0, 400, 10):
        ratios = np.round(1 + rng.exponential(size=n), 1).astype(np.float32)  # many are equal
        rows = np.sort(rng.choice(5000, n, replace=False))
        gaps.append(Gaps(5000, rows, ratios, ratios, 9.0, 1.0, empty))
    listed = [
        (-ratio, part, row)
        for part, one in enumerate(gaps)
        for row, ratio in zip(one.rows, one.ratios, strict=True)
    ]
    found = Strays.of([*gaps, None])
    told = list(zip(-found.ratios, found.parts, found.rows, strict=True))
    assert told == sorted(listed)[:200]
