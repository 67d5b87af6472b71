"""What points that stand for many rows say, as one smooth function."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from beltrami import ManifoldClassifier
from beltrami.front_door.answering import distilled
from beltrami.front_door.answering.distilled import Distilled, distil
from beltrami.front_door.kept.file import read_labeller
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.learners.base import softmax

STRENGTH = 0.03
SPANS = np.full(40, 0.5)
GIVEN = np.array([0, 7, 21])


def data(n_classes: int = 3, n: int = 40, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return points on a plane, soft answers of them, and the rows that each stands for."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 6, size=(n, 2))
    answers = rng.dirichlet(np.ones(n_classes), size=n)
    answers[np.arange(n), (points[:, 0] * n_classes / 6).astype(int)] += 1
    return (
        points,
        answers / answers.sum(axis=1, keepdims=True),
        rng.integers(1, 20, n).astype(float),
    )


def learned(points: Any, answers: Any, masses: Any, known: Any = None) -> Any:
    known = np.ones(answers.shape[1], dtype=bool) if known is None else known
    return distil(points, answers, masses, SPANS[: len(points)], GIVEN, known, seed=0)


def kernels(points: Any, others: Any, width: float) -> Any:
    return np.exp(-(cdist(points, others) ** 2) / (2 * width**2))


def ridge(points: Any, answers: Any, weights: Any, width: float) -> Any:
    """Return the coefficients of the docstring's problem, all points being landmarks."""
    K = kernels(points, points, width)
    normal = K.T @ (weights[:, None] * K) + STRENGTH * K
    right = K.T @ (weights[:, None] * np.eye(answers.shape[1])[answers.argmax(axis=1)])
    return np.linalg.solve(normal, right)


def test_with_all_points_as_landmarks_it_is_ridge_regression():
    points, answers, masses = data()
    found = learned(points, answers, masses).function
    assert found.width == pytest.approx(1.5 * 0.5)
    expected = ridge(points, answers, masses / masses.mean(), found.width)
    new = np.random.default_rng(1).uniform(0, 6, size=(50, 2))
    values = kernels(new, points, found.width) @ expected
    np.testing.assert_allclose(found.values(new), values, atol=2e-4)


def test_held_out_answers_are_those_of_really_leaving_the_point_out():
    points, answers, masses = data()
    found = learned(points, answers, masses)
    width, weights = found.function.width, masses / masses.mean()
    assert found.rows.tolist() == list(range(40))
    values = np.empty(answers.shape)
    for row in range(40):
        others = np.where(np.arange(40) == row, 0.0, weights)
        coefficients = ridge(points, answers, others, width)
        values[row] = kernels(points[row : row + 1], points, width) @ coefficients
    expected = softmax(values, found.function.temperature)
    np.testing.assert_allclose(found.held_out, expected, atol=5e-3)


def test_the_temperature_is_that_of_the_least_cross_entropy():
    points, answers, masses = data()
    found = learned(points, answers, masses)
    best = found.function.temperature
    values = best * np.log(np.maximum(found.held_out, 1e-300))

    def loss(temperature: float) -> float:
        shares = softmax(values, temperature)
        return float(-(masses[:, None] * answers * np.log(np.maximum(shares, 1e-12))).sum())

    assert all(loss(best) <= loss(best * other) + 1e-6 for other in (0.5, 0.9, 1.1, 2.0))
    assert 0.011 < best < 2.9


def test_far_points_leave_the_word_to_the_others():
    points, answers, masses = data()
    function = learned(points, answers, masses).function
    others = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
    far = np.array([[100.0, 100.0], [-50.0, 3.0]])
    known = np.ones(3, dtype=bool)
    np.testing.assert_array_equal(function.answer(far, others, known), others)
    near = function.answer(points[:2], others, known)
    np.testing.assert_allclose(near.sum(axis=1), 1)
    assert (near != others).all()


def test_a_class_without_a_label_gets_nothing():
    points, answers, masses = data()
    answers[:, 1] = 0.0
    answers /= answers.sum(axis=1, keepdims=True)
    known = np.array([True, False, True])
    found = learned(points, answers, masses, known)
    said = found.function.answer(points, answers, known)
    assert (said[:, 1] == 0).all()
    assert (found.held_out[:, 1] == 0).all()
    np.testing.assert_allclose(said.sum(axis=1), 1)
    np.testing.assert_allclose(found.held_out.sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [1, 2])
def test_one_class_and_two_are_answered(n_classes):
    points, answers, masses = data(n_classes)
    found = learned(points, answers, masses)
    said = found.function.answer(points, answers, np.ones(n_classes, dtype=bool))
    np.testing.assert_allclose(said.sum(axis=1), 1)
    assert (said.argmax(axis=1) == answers.argmax(axis=1)).mean() > 0.9
    assert np.isfinite(found.held_out).all()


def test_points_without_rows_have_no_say():
    points, answers, masses = data()
    masses[10:20] = 0.0
    turned = answers.copy()
    turned[10:20] = turned[10:20, ::-1]
    one, other = (learned(points, some, masses).function for some in (answers, turned))
    np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_equal_points_are_answered():
    points, answers, masses = data()
    points[:20] = points[0]
    found = distil(points, answers, masses, np.zeros(40), GIVEN, np.ones(3, dtype=bool), seed=0)
    assert found.function.width == 1.5
    assert np.isfinite(found.function.coefficients).all()
    assert np.isfinite(found.held_out).all()


def test_points_with_a_label_are_landmarks_in_any_case(monkeypatch):
    monkeypatch.setattr(distilled, "_MOST_LANDMARKS", 10)
    monkeypatch.setattr(distilled, "_MOST_HEARD", 20)
    monkeypatch.setattr(distilled, "_MOST_TRIED", 8)
    points, answers, masses = data()
    found = learned(points, answers, masses)
    places = found.function.landmarks.tolist()
    assert len(places) == 10
    assert all(points[row].astype(np.float32).tolist() in places for row in GIVEN)
    assert len(found.rows) == len(found.held_out) == 8


def test_memory_is_bounded_by_blocks_of_rows(monkeypatch):
    points, answers, masses = data()
    whole = learned(points, answers, masses).function
    new = np.random.default_rng(1).uniform(0, 6, size=(500, 2))
    expected, heights = whole.values(new), []
    between = RbfKernel.between

    def watched(self: RbfKernel, X: Any, Y: Any) -> Any:
        heights.append(len(X))
        return between(self, X, Y)

    monkeypatch.setattr(distilled, "_ROWS", 16)
    monkeypatch.setattr(RbfKernel, "between", watched)
    np.testing.assert_allclose(whole.values(new), expected, atol=1e-5)
    assert max(heights) == 16
    assert len(heights) == 32
    again = learned(points, answers, masses).function
    np.testing.assert_allclose(again.values(new), expected, atol=1e-3)


@pytest.mark.usefixtures("few_trees")
def test_a_labeller_of_many_gives_the_same_bits_from_its_file(digits, tmp_path: Path):
    points, targets = digits
    labels = np.where(np.arange(len(targets)) < 40, targets, -1)
    learner = ManifoldClassifier(random_state=0, risk=0.1).fit(points[:200], labels[:200])
    made = KeptLabeller.of_many(learner, np.random.default_rng(0).integers(0, 30, 200))
    assert isinstance(made.answerer.distilled, Distilled)
    kept, _ = read_labeller(made.save(tmp_path / "model.beltrami"))
    one, other = made.judge(points), kept.judge(points)
    assert one.probabilities.tobytes() == other.probabilities.tobytes()
    assert one.accepted.tolist() == other.accepted.tolist()
    plain = KeptLabeller.of(learner)
    assert plain.answerer.distilled is None
    assert plain.predict_proba(points).tobytes() != one.probabilities.tobytes()
    np.testing.assert_allclose(one.probabilities.sum(axis=1), 1)


@pytest.mark.usefixtures("few_trees")
def test_rows_have_a_say_where_none_was_looked_at(digits):
    points, targets = digits
    labels = np.where(np.arange(len(targets)) < 40, targets, -1)
    learner = ManifoldClassifier("poisson", random_state=0).fit(points[:200], labels[:200])
    said = KeptLabeller.of_many(learner, np.zeros(200)).predict_proba(points)
    assert np.isfinite(said).all()
    assert (said.argmax(axis=1) == targets).mean() > 0.9
