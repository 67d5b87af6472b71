"""k-means with bounds: the bounds hold, the sum never rises, and the best is found where known."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.cluster import KMeans

from beltrami.core.errors import ConvergenceWarning, InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.core.telling.progress import listen
from beltrami.separation.assignment import assign_reference
from beltrami.separation.constrained_kmeans import ConstrainedKMeans, constrained_kmeans


def blobs(n: int, *, d: int = 3, seed: int = 0) -> np.ndarray:
    """Four clouds of very unequal size."""
    rng = np.random.default_rng(seed)
    which = rng.choice(4, n, p=[0.7, 0.2, 0.08, 0.02])
    return rng.normal(size=(4, d))[which] * 4 + rng.normal(size=(n, d))


def squares(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return ((points[:, None] - centers) ** 2).sum(axis=2)


def best_of_all(points: np.ndarray, k: int, least: int) -> float:
    """The least sum of squares of all partitions with enough points in every part."""
    best = np.inf
    for labels in map(np.array, product(range(k), repeat=len(points))):
        if np.bincount(labels, minlength=k).min() >= least:
            parts = [points[labels == h] for h in range(k)]
            best = min(best, sum(float(((p - p.mean(axis=0)) ** 2).sum()) for p in parts))
    return best


@pytest.mark.parametrize(("k", "least"), [(2, 4), (3, 2)])
def test_the_best_partition_of_few_points_is_found(k, least):
    for seed in range(4):
        points = blobs(8, d=2, seed=seed)
        model = ConstrainedKMeans(k, min_size=least, n_init=30, random_state=0).fit(points)
        assert model.inertia_ == pytest.approx(best_of_all(points, k, least), rel=1e-9)


def test_without_bounds_it_is_k_means():
    points = blobs(600)
    start = points[:5]
    ours = constrained_kmeans(points, 5, start=start, tol=0, rng=np.random.default_rng(0))
    theirs = KMeans(5, init=start, n_init=1, tol=0).fit(points)
    assert_array_equal(ours.labels, theirs.labels_)
    assert_allclose(ours.centers, theirs.cluster_centers_, rtol=1e-9)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_labels_at_rest_are_the_best_for_their_centres(grouped):
    points = blobs(60)
    groups = np.arange(60) % 3 if grouped else None
    lower = 4 if grouped else 13
    found = constrained_kmeans(
        points, 4, lower, None, groups, n_init=2, tol=0, rng=np.random.default_rng(0)
    )
    costs = squares(points, found.centers)
    best = assign_reference(costs, lower, groups=groups)
    rows = np.arange(60)
    assert_allclose(costs[rows, found.labels].sum(), costs[rows, best].sum(), rtol=1e-10)


def test_costs_are_squared_distances():
    """One of the points at the left has to go; squares and distances choose different ones."""
    points = np.array([[0.2, 0.0], [0.0, 3.0], [9.0, 0.0], [9.0, 1.0]])
    start = np.array([[0.0, 0.0], [4.0, 0.0]])
    found = constrained_kmeans(points, 2, [1, 3], start=start, max_iter=1, tol=1e9, rng=None)
    assert_array_equal(found.labels, [1, 0, 1, 1])
    assert_array_equal(assign_reference(squares(points, start), [1, 3]), [1, 0, 1, 1])
    assert_array_equal(assign_reference(np.sqrt(squares(points, start)), [1, 3]), [0, 1, 1, 1])


@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_squares_never_rises_and_centres_are_means(seed):
    points = blobs(400, seed=seed)
    found = constrained_kmeans(points, 6, 60, 80, n_init=1, tol=0, rng=np.random.default_rng(seed))
    assert len(found.history) > 3
    assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()
    means = [points[found.labels == h].mean(axis=0) for h in range(6)]
    assert_allclose(found.centers, means, atol=1e-12)
    spread = squares(points, found.centers)[np.arange(400), found.labels].sum()
    assert_allclose([found.inertia, found.history[-1]], spread, rtol=1e-12)


@given(st.data())
def test_bounds_hold_for_every_group(data):
    n, k = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 5))
    k = min(k, n)
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    points = rng.integers(0, data.draw(st.integers(1, 6)), (n, 2)).astype(float)
    groups = rng.choice(["u", "v", "w"], n)
    meets = {g: np.bincount(rng.integers(0, k, (groups == g).sum()), minlength=k) for g in "uvw"}
    present = set(groups.tolist())
    lower = {g: np.maximum(m - rng.integers(0, 2), 0) for g, m in meets.items() if g in present}
    upper = {g: m + rng.integers(0, 2) for g, m in meets.items() if g in present}
    model = ConstrainedKMeans(
        k, min_size=lower, max_size=upper, groups=groups, n_init=2, random_state=seed
    ).fit(points)
    for group in present:
        sizes = np.bincount(model.labels_[groups == group], minlength=k)
        assert (lower[group] <= sizes).all()
        assert (sizes <= upper[group]).all()


def test_one_number_holds_in_each_group():
    points, groups = blobs(300), np.arange(300) % 10 == 0
    model = ConstrainedKMeans(3, min_size=8, groups=groups, random_state=0).fit(points)
    for value in (True, False):
        assert np.bincount(model.labels_[groups == value], minlength=3).min() >= 8


@pytest.mark.parametrize("grouped", [False, True])
def test_many_points_start_from_a_sample_and_keep_their_bounds(grouped):
    points = blobs(12000)
    groups = np.where(np.arange(12000) % 7 == 0, "few", "many") if grouped else None
    least = 400 if grouped else 2900
    model = ConstrainedKMeans(4, min_size=least, groups=groups, random_state=0).fit(points)
    kinds = [np.ones(12000, bool)] if groups is None else [groups == "few", groups == "many"]
    for rows in kinds:
        assert np.bincount(model.labels_[rows], minlength=4).min() >= least
    bounds = {"lower": least, "groups": None if groups is None else (groups == "few").astype(int)}
    rng = np.random.default_rng(0)
    alone = [
        constrained_kmeans(points, 4, start=points[rng.choice(12000, 4)], rng=rng, **bounds)
        for _ in range(3)
    ]
    assert model.inertia_ <= 1.01 * min(found.inertia for found in alone)


def test_an_empty_cluster_takes_the_farthest_point_free_to_go():
    points = np.array([[0.0], [1.0], [2.0], [50.0]])
    start = np.array([[0.0], [1e6]])
    found = constrained_kmeans(points, 2, start=start, rng=np.random.default_rng(0))
    assert_array_equal(found.labels, [0, 0, 0, 1])
    held = constrained_kmeans(
        points,
        2,
        [[0, 0], [1, 0]],
        groups=[0, 0, 0, 1],
        start=start,
        max_iter=1,
        tol=1e18,
        rng=None,
    )
    assert_array_equal(held.labels, [1, 0, 0, 0])  # 50 must stay; 0 lies farthest from the mean


def test_a_cluster_that_must_be_empty_stays_empty():
    points = blobs(50)
    model = ConstrainedKMeans(3, max_size=[50, 0, 50], random_state=0).fit(points)
    assert_array_equal(np.bincount(model.labels_, minlength=3) == 0, [False, True, False])
    assert np.isfinite(model.cluster_centers_).all()


def test_identical_points_are_shared_out():
    model = ConstrainedKMeans(4, min_size=5, random_state=0).fit(np.ones((20, 2)))
    assert_array_equal(np.bincount(model.labels_), [5, 5, 5, 5])
    assert model.inertia_ == 0


@pytest.mark.parametrize("k", [1, 12])
def test_one_cluster_and_as_many_as_points(k):
    points = blobs(12)
    model = ConstrainedKMeans(k, min_size=12 // k, max_size=12 // k, random_state=0).fit(points)
    assert_array_equal(np.bincount(model.labels_), np.full(k, 12 // k))
    if k == 12:
        assert model.inertia_ == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_points_give_what_dense_points_give(kind):
    points = np.where(np.random.default_rng(0).random((300, 12)) < 0.3, blobs(300, d=12), 0.0)
    dense = ConstrainedKMeans(4, min_size=60, random_state=0).fit(points)
    sparse = ConstrainedKMeans(4, min_size=60, random_state=0).fit(kind(points))
    assert_array_equal(sparse.labels_, dense.labels_)
    assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    assert sparse.inertia_ == pytest.approx(dense.inertia_, rel=1e-12)
    assert_array_equal(sparse.predict(kind(points)), dense.predict(points))
    empty = ConstrainedKMeans(3, random_state=0).fit(kind(np.eye(3)))
    assert_array_equal(np.bincount(empty.labels_), [1, 1, 1])


def test_single_precision_is_near_double():
    points = blobs(500)
    double = ConstrainedKMeans(4, min_size=110, random_state=0).fit(points)
    single = ConstrainedKMeans(4, min_size=110, random_state=0).fit(points.astype(np.float32))
    assert single.inertia_ == pytest.approx(double.inertia_, rel=1e-5)
    assert_allclose(single.cluster_centers_, double.cluster_centers_, atol=1e-4)


def test_a_shift_of_all_points_changes_no_label():
    points = blobs(300)
    near = ConstrainedKMeans(4, min_size=60, random_state=0).fit(points)
    far = ConstrainedKMeans(4, min_size=60, random_state=0).fit(points + 1e8)
    assert_array_equal(near.labels_, far.labels_)
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)


def test_same_seed_same_result():
    points = blobs(6000)
    first, second = (ConstrainedKMeans(5, min_size=1000, random_state=3).fit(points) for _ in "ab")
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.cluster_centers_, second.cluster_centers_)


def test_more_starts_are_no_worse():
    points = blobs(300, seed=5)
    one, many = (
        ConstrainedKMeans(6, min_size=30, n_init=n, random_state=0).fit(points) for n in (1, 12)
    )
    assert many.inertia_ <= one.inertia_


def test_new_points_go_to_the_nearest_centre_whatever_the_bounds():
    points = blobs(200)
    model = ConstrainedKMeans(4, min_size=50, random_state=0).fit(points)
    distances = model.transform(points)
    assert_allclose(distances**2, squares(points, model.cluster_centers_), atol=1e-9)
    assert_array_equal(model.predict(points), distances.argmin(axis=1))
    assert (model.predict(points) != model.labels_).any()
    assert_array_equal(model.fit_predict(points), model.labels_)


def test_names_of_a_frame_are_kept():
    frame = pd.DataFrame(blobs(40), columns=["a", "b", "c"])
    model = ConstrainedKMeans(2, min_size=15, random_state=0).set_output(transform="pandas")
    found = model.fit(frame, None)
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    assert found.n_features_in_ == 3
    assert list(found.transform(frame).columns) == ["constrainedkmeans0", "constrainedkmeans1"]
    groups = pd.Series(["x", "y"] * 20, index=range(5, 45))
    by_group = ConstrainedKMeans(2, min_size={"x": 10, "y": 5}, groups=groups, random_state=0)
    assert_array_equal(np.bincount(by_group.fit(frame).labels_[::2]), [10, 10])


def test_stopping_early_is_said_and_the_bounds_hold():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 rounds"):
        model = ConstrainedKMeans(4, min_size=70, max_iter=1, random_state=0).fit(blobs(300))
    assert np.bincount(model.labels_).min() >= 70
    assert model.n_iter_ == 1


def test_progress_is_told_to_the_end():
    seen = []
    with listen(seen.append):
        ConstrainedKMeans(4, min_size=1000, n_init=3, random_state=0).fit(blobs(5500))
        constrained_kmeans(blobs(50), 2, start=blobs(2), rng=np.random.default_rng(0))
    assert {event.step for event in seen} == {"size-constrained k-means"}
    assert seen[-1].done == seen[-1].total == 300
    assert max(event.total for event in seen) == 1200  # three starts on a sample, one run on all


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_size": 30}, r"has 100 point\(s\), its lower bounds sum to 120.*Lower"),
        ({"max_size": 20}, r"upper bounds to 80\. Raise"),
        ({"min_size": 20, "groups": ["a"] * 90 + ["b"] * 10}, r"group 'b' has 10 point\(s\)"),
        ({"min_size": {"a": 5}}, "needs groups="),
        ({"groups": ["a"] * 99}, "X has 100 rows, groups has 99"),
        ({"n_clusters": 101}, "n_clusters=101"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1}, "tol"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        ConstrainedKMeans(**({"n_clusters": 4} | parameters)).fit(blobs(100))


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryBudgetError, match="k-means of 500 points"):
        ConstrainedKMeans(4).fit(blobs(500))
