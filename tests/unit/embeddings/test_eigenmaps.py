import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from beltrami import Graph, KnnGraph, LaplacianEigenmaps, RadiusGraph, circle, laplacian, swiss_roll
from beltrami.core.errors import DisconnectedGraphWarning, InvalidInputError
from beltrami.graph.families import disjoint_union, path, ring


def test_ring_is_embedded_as_a_circle():
    embedding = LaplacianEigenmaps(2, graph=ring(40)).fit_transform(np.zeros((40, 1)))
    radii = np.linalg.norm(embedding, axis=1)
    assert_allclose(radii, radii.mean(), rtol=1e-9)


def test_eigenvalues_of_a_ring_match_the_closed_form():
    fitted = LaplacianEigenmaps(4, graph=ring(12)).fit(np.zeros((12, 1)))
    expected = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / 12)
    assert_allclose(fitted.eigenvalues_, expected, atol=1e-12)


def test_embedding_solves_the_generalised_problem_and_is_normalised():
    points = swiss_roll(300, random_state=0).points
    fitted = LaplacianEigenmaps(3).fit(points)
    degrees = fitted.graph_.degrees[:, None]
    image = laplacian(fitted.graph_) @ fitted.embedding_
    assert_allclose(image, degrees * fitted.embedding_ * fitted.eigenvalues_, atol=1e-8)
    assert_allclose(fitted.embedding_.T @ (degrees * fitted.embedding_), np.eye(3), atol=1e-9)
    assert_allclose(fitted.embedding_.T @ degrees, 0, atol=1e-9)


def test_large_and_small_solver_agree():
    points = swiss_roll(1500, random_state=1).points
    dense = LaplacianEigenmaps(2, solver="dense").fit_transform(points)
    block = LaplacianEigenmaps(2, solver="chebyshev", tol=1e-9).fit_transform(points)
    assert_allclose(block, dense, atol=1e-7)


def test_new_points_land_between_their_neighbours():
    sample = circle(400, spacing="even")
    fitted = LaplacianEigenmaps(2, graph=KnnGraph(6, weights="binary")).fit(sample.points)
    middle = np.pi / 400
    new = fitted.transform([[np.cos(middle), np.sin(middle)]])[0]
    assert_allclose(new, fitted.embedding_[:2].mean(axis=0), rtol=0.02)


def test_points_of_the_fit_get_their_own_coordinates_back():
    points = swiss_roll(200, random_state=2).points
    fitted = LaplacianEigenmaps(2).fit(points)
    assert_allclose(fitted.transform(points[17:20]), fitted.embedding_[17:20], atol=1e-9)


def test_points_of_a_radius_graph_get_their_own_coordinates_back():
    points = swiss_roll(200, random_state=2).points
    fitted = LaplacianEigenmaps(2, graph=RadiusGraph(8.0, connect="raise")).fit(points)
    assert_allclose(fitted.transform(points[17:20]), fitted.embedding_[17:20], atol=1e-9)


def test_far_new_points_are_finite():
    points = swiss_roll(200, random_state=2).points
    far = np.full((1, 3), 1e6)
    assert np.isfinite(LaplacianEigenmaps(2).fit(points).transform(far)).all()
    near = RadiusGraph(8.0, connect="raise")
    assert_allclose(LaplacianEigenmaps(2, graph=near).fit(points).transform(far), 0.0)


def test_components_are_told_apart_first():
    union = disjoint_union(path(30), path(20))
    with pytest.warns(DisconnectedGraphWarning, match="2 connected components; the first 1 of 2"):
        fitted = LaplacianEigenmaps(2, graph=union).fit(np.zeros((50, 1)))
    assert fitted.eigenvalues_[0] == 0
    assert_allclose(fitted.embedding_[:30, 0], 0, atol=1e-12)
    assert np.ptp(fitted.embedding_[30:, 0]) < 1e-12
    assert fitted.basis_.n_zero == fitted.basis_.n_connected == 2


def test_sparse_input_gives_the_same_map():
    rng = np.random.default_rng(0)
    points = rng.random((80, 12)) * (rng.random((80, 12)) < 0.4)
    dense = LaplacianEigenmaps(2).fit_transform(points)
    assert_allclose(LaplacianEigenmaps(2).fit_transform(csr_array(points)), dense, atol=1e-8)


def test_data_frames_keep_their_names_and_index():
    frame = pd.DataFrame(
        swiss_roll(60, random_state=0).points,
        columns=["x", "y", "z"],
        index=[f"row{i}" for i in range(60)],
    )
    fitted = LaplacianEigenmaps(2).set_output(transform="pandas").fit(frame)
    out = fitted.transform(frame)
    assert list(out.index) == list(frame.index)
    assert list(out.columns) == ["laplacianeigenmaps0", "laplacianeigenmaps1"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.rename(columns={"x": "other"}))


def test_it_works_in_a_pipeline_and_takes_nested_parameters():
    pipeline = make_pipeline(StandardScaler(), LaplacianEigenmaps(2, graph=KnnGraph(5)))
    pipeline.set_params(laplacianeigenmaps__graph__n_neighbors=7)
    points = swiss_roll(60, random_state=0).points
    assert pipeline.fit(points).transform(points).shape == (60, 2)
    assert pipeline[-1].graph_.neighbors.indices.shape[1] == 7


def test_too_many_components_are_refused_with_numbers():
    with pytest.raises(InvalidInputError, match=r"n_components=5 .* n_samples = 5"):
        LaplacianEigenmaps(5).fit(np.random.default_rng(0).random((5, 2)))


def test_a_given_graph_must_have_the_right_size():
    with pytest.raises(InvalidInputError, match="5 nodes and X has 4 rows"):
        LaplacianEigenmaps(2, graph=ring(5)).fit(np.zeros((4, 1)))


def test_a_given_graph_takes_no_new_points():
    fitted = LaplacianEigenmaps(2, graph=ring(8)).fit(np.zeros((8, 1)))
    with pytest.raises(InvalidInputError, match="says nothing about new points"):
        fitted.transform(np.zeros((1, 1)))


def test_a_sparse_matrix_serves_as_graph():
    weights = ring(10).weights
    by_matrix = LaplacianEigenmaps(2, graph=weights).fit(np.zeros((10, 1)))
    by_graph = LaplacianEigenmaps(2, graph=Graph.from_matrix(weights)).fit(np.zeros((10, 1)))
    assert_allclose(by_matrix.embedding_, by_graph.embedding_)


def test_something_else_is_not_a_graph():
    with pytest.raises(InvalidInputError, match="is not a graph"):
        LaplacianEigenmaps(2, graph="knn").fit(np.zeros((10, 1)))


def test_a_recipe_changed_after_the_fit_does_not_reach_it():
    points = swiss_roll(80, random_state=0).points
    recipe = KnnGraph(6)
    fitted = LaplacianEigenmaps(2, graph=recipe).fit(points)
    before = fitted.transform(points[:4] + 0.01)
    recipe.set_params(n_neighbors=2, weights="binary")
    assert_allclose(fitted.transform(points[:4] + 0.01), before)


def test_precomputed_distances_make_the_input_pairwise():
    precomputed = LaplacianEigenmaps(graph=KnnGraph(5, metric="precomputed"))
    assert precomputed.__sklearn_tags__().input_tags.pairwise
    assert not LaplacianEigenmaps().__sklearn_tags__().input_tags.pairwise
    points = swiss_roll(60, random_state=0).points
    gaps = np.linalg.norm(points[:, None] - points, axis=2)
    by_distance = LaplacianEigenmaps(2, graph=KnnGraph(5, metric="precomputed")).fit(gaps)
    by_points = LaplacianEigenmaps(2, graph=KnnGraph(5)).fit(points)
    assert_allclose(by_distance.embedding_, by_points.embedding_, atol=1e-9)
    assert_allclose(by_distance.transform(gaps[:3]), by_points.transform(points[:3]), atol=1e-9)
