"""What is done to the data first: scale, noise, angles; new points are treated the same."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.front_door.prepare import build_view, prepare
from beltrami.graph.recipes import KnnGraph


def _prepared(points, **options):
    preparation = prepare(points, **({"scale": "auto", "metric": "auto"} | options))
    return preparation, preparation.project(preparation.rescale(points))


def test_columns_of_different_units_are_standardised():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 4)) * [1, 1, 1, 1000]
    preparation, found = _prepared(points)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), 1)
    assert any("standardised" in reason for reason in preparation.reasons)


def test_columns_of_one_unit_are_left_alone():
    rng = np.random.default_rng(0)
    pixels = np.abs(rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)))
    preparation, found = _prepared(pixels)
    assert found is pixels
    assert preparation.reasons == ()


def test_a_constant_column_is_not_divided_by_its_spread():
    points = np.column_stack([np.arange(50.0), np.full(50, 3.0), 1000 * np.arange(50.0)])
    _, found = _prepared(points, scale="standard")
    np.testing.assert_array_equal(found[:, 1], 0)
    assert np.isfinite(found).all()


def test_signal_is_found_in_gaussian_noise():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(60, 2)))[0]
    signal = 2 * rng.normal(size=(400, 2)) @ directions.T
    preparation, found = _prepared(signal + rng.normal(size=(400, 60)))
    assert found.shape == (400, 3)  # the two, and room for one more
    assert any("2 stand out of the noise" in reason for reason in preparation.reasons)
    # The first two directions are those of the signal.
    alike = np.linalg.svd(directions.T @ preparation.directions[:, :2])[1]
    np.testing.assert_allclose(alike, 1, atol=0.1)


def test_new_points_are_treated_as_the_old_ones():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 20)) * np.r_[[300.0, 200.0], np.ones(18)]
    view = build_view(points, scale="auto", metric="auto", random_state=0, n_jobs=None)
    assert view.preparation.reasons
    plain, projected = view.treat(points[5:9])
    np.testing.assert_allclose(plain, view.plain[5:9])
    np.testing.assert_allclose(projected, view.points[5:9])


def test_single_precision_is_kept():
    rng = np.random.default_rng(0)
    points = (rng.normal(size=(200, 30)) * np.r_[100, np.ones(29)]).astype(np.float32)
    preparation, found = _prepared(points, scale="standard")
    assert preparation.rescale(points).dtype == found.dtype == np.float32


def test_sparse_rows_are_compared_by_angle_unless_some_are_empty():
    rng = np.random.default_rng(0)
    dense = rng.random((30, 8)) * (rng.random((30, 8)) < 0.5)
    dense[:, 0] = 1.0
    assert prepare(csr_array(dense), scale="auto", metric="auto").metric == "angle"
    dense[3] = 0
    with_gap = prepare(csr_array(dense), scale="auto", metric="auto")
    assert with_gap.metric == "euclidean"
    assert "1 are all zero" in with_gap.reasons[0]


def test_a_recipe_brings_its_own_metric():
    rng = np.random.default_rng(0)
    points = (1 + rng.random((40, 5))) * [1, 1, 1, 1, 1000]
    recipe = KnnGraph(5, metric="angle")
    view = build_view(points, recipe, scale="auto", metric="euclidean", random_state=0, n_jobs=None)
    assert view.metric == "angle"
    assert view.points is points  # to move the origin would change angles


def test_numbers_whose_squares_overflow_are_refused():
    with pytest.raises(InvalidInputError, match=r"up to 2e\+200"):
        prepare(np.arange(3.0)[:, None] * np.full((1, 12), 1e200), scale="auto", metric="auto")


def test_an_unknown_scale_is_refused():
    with pytest.raises(InvalidInputError, match="scale"):
        prepare(np.eye(5), scale="log", metric="auto")
