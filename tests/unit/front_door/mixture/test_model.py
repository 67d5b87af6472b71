"""The mixture: weighted means of softmaxes, in blocks as at once."""

import numpy as np
import pytest

from beltrami.front_door.mixture import model
from beltrami.front_door.mixture.confidence import Confidence
from beltrami.front_door.mixture.model import Mixture

PLAIN = {"a": 1.0, "b": 1.0}


def test_a_mixture_is_the_weighted_mean_of_softmaxes():
    logits = {"a": np.log([[0.8, 0.2]]), "b": np.log([[0.3, 0.7]])}
    signs = Mixture({"a": 0.25, "b": 0.75}, PLAIN, np.ones(2)).listen(logits)
    np.testing.assert_allclose(signs.probabilities, [[0.425, 0.575]])
    np.testing.assert_allclose(signs.agreement, [0.75])
    np.testing.assert_allclose(signs.spread, [np.sqrt(0.25 * 0.75) * 0.5])


def test_odds_move_classes_and_a_class_without_a_label_gets_nothing():
    logits = {"a": np.log([[0.5, 0.25, 0.25]])}
    found = Mixture({"a": 1.0}, PLAIN, np.array([1.0, 3.0, 0.0]), Confidence(0.0, (1.0, 0, 0, 0)))
    np.testing.assert_allclose(found.listen(logits).probabilities, [[0.4, 0.6, 0.0]])
    answered = found.answer(logits)
    assert answered[0, 2] == 0
    np.testing.assert_allclose(answered[0, 1], 0.6)


def test_those_of_little_weight_are_not_heard_and_need_no_logits():
    mixture = Mixture({"a": 0.98, "b": 0.02}, PLAIN, np.ones(2))
    assert mixture.heard == ["a"]
    np.testing.assert_allclose(mixture.answer({"a": np.log([[0.8, 0.2]])}), [[0.8, 0.2]])
    many = Mixture({str(i): 0.02 for i in range(50)}, PLAIN, np.ones(2))
    assert len(many.heard) == 50


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    logits = {name: rng.normal(size=(100, 3)).astype(np.float32) for name in "ab"}
    mixture = Mixture({"a": 0.4, "b": 0.6}, PLAIN, np.ones(3), Confidence(0.1, (1.0, 0.2, 0.3, 0)))
    whole = mixture.answer(logits)
    monkeypatch.setattr(model, "_ROWS", 7)
    np.testing.assert_array_equal(mixture.answer(logits), whole)
    assert whole.sum(axis=1) == pytest.approx(1)
