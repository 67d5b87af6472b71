"""The thesis's classifier over draws of labels, against a fit written out in full."""

import numpy as np
import pytest

from beltrami.graph.recipes import KnnGraph
from beltrami_papers.thesis.chapter3.trials import (
    eigenvector_rows,
    error_percent,
    label_coefficients,
    label_draws,
    predicted_classes,
    spectral_errors,
)


def _blobs(n: int = 240, seed: int = 0):
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 2.0 * np.eye(3, 4)[classes], classes


def _errors_reference(rows, classes, draws, sizes):
    errors = []
    for labelled in draws:
        unlabelled = np.setdiff1d(np.arange(len(classes)), labelled)
        line = []
        for size in sizes:
            E = rows[:size].T
            signs = np.where(classes[labelled][:, None] == np.arange(3), 1.0, -1.0)
            a, *_ = np.linalg.lstsq(E[labelled], signs, rcond=None)
            found = np.argmax(E[unlabelled] @ a, axis=1)
            line.append(100 * np.mean(found != classes[unlabelled]))
        errors.append(line)
    return np.array(errors)


@pytest.fixture(scope="module")
def blobs():
    points, classes = _blobs()
    graph = KnnGraph(6, weights="binary").build(points)
    return eigenvector_rows(graph, 30), classes


def test_errors_are_those_of_a_fit_per_size_and_draw(blobs):
    rows, classes = blobs
    draws = label_draws(len(classes), 60, 4)
    expected = _errors_reference(rows, classes, draws, [3, 10, 30])
    np.testing.assert_allclose(spectral_errors(rows, classes, draws, [3, 10, 30]), expected)


def test_a_size_with_fewer_draws_leaves_the_others_empty(blobs):
    rows, classes = blobs
    draws = label_draws(len(classes), 60, 4)
    everything = spectral_errors(rows, classes, draws, [3, 30])
    some = spectral_errors(rows, classes, draws, [3, 30], fewer={30: 2})
    assert np.isnan(some[2:, 1]).all()
    np.testing.assert_array_equal(some[:2], everything[:2])
    np.testing.assert_array_equal(some[:, 0], everything[:, 0])


def test_an_eigenvector_that_no_label_sees_gets_no_weight():
    rows = np.array([[1.0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 0, -1, 0, 0]])
    classes, labelled = np.array([0, 0, 1, 0, 1]), np.array([0, 1, 2])
    small, large = label_coefficients(rows, classes, labelled, [2, 3])
    assert (small[1] == 0).all()
    assert (large[1] == 0).all()
    expected, *_ = np.linalg.lstsq(rows[[0, 2]][:, labelled].T, [1.0, 1.0, -1.0], rcond=None)
    np.testing.assert_allclose(large[[0, 2], 0], expected)


def test_predictions_of_many_draws_are_those_of_each_alone(blobs):
    rows, classes = blobs
    draws = label_draws(len(classes), 40, 3)
    fitted = [label_coefficients(rows, classes, draw, [10])[0] for draw in draws]
    together = predicted_classes(rows, fitted)
    for i, one in enumerate(fitted):
        np.testing.assert_array_equal(together[:, i], np.argmax(rows[:10].T @ one, axis=1))


def test_labelled_points_do_not_count_as_errors():
    found, classes = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    assert error_percent(found, classes) == 50
    assert error_percent(found, classes, np.array([1])) == pytest.approx(100 / 3)
    assert error_percent(found, classes, np.array([1, 3])) == 0


def test_draws_are_sorted_distinct_and_do_not_depend_on_how_many_are_asked():
    few, many = label_draws(50, 20, 2), label_draws(50, 20, 5)
    for draw in many:
        assert len(set(draw.tolist())) == 20
        assert (np.diff(draw) > 0).all()
    np.testing.assert_array_equal(few, many[:2])
    assert len({tuple(draw) for draw in many}) == 5
    assert not np.array_equal(label_draws(50, 20, 1, seed=1)[0], few[0])
