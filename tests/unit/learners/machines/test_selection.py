"""Which power is taken where labels are too few: that of the lowest normalised cut."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami import (
    KnnGraph,
    LaplacianPower,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    LaplacianSVC,
)
from beltrami.learners.poisson.cuts import normalized_cut

POWERS = (1, 2, 4)


def clusters(seed: int):
    """Two clouds that overlap, with one label each, and the graph of all."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(0, 1, (60, 5)), rng.normal(1.2, 1, (60, 5))])
    y = np.full(120, -1)
    y[[rng.integers(60), 60 + rng.integers(60)]] = 0, 1
    return points, y, KnnGraph(8).build(points)


@pytest.mark.parametrize("seed", range(8))
def test_the_power_of_the_lowest_cut_is_taken(seed: int) -> None:
    points, y, graph = clusters(seed)
    cuts = {}
    for power in POWERS:
        learner = LaplacianRLSClassifier(graph=graph, smoothness=LaplacianPower(power))
        codes = learner.fit(points, y).scores_.argmax(axis=1)
        cuts[power] = normalized_cut(graph.weights, codes, 2)
    chosen = LaplacianRLSClassifier(graph=graph).fit(points, y)
    assert cuts[chosen.power_] == pytest.approx(min(cuts.values()))
    (choice,) = chosen.choices_
    assert choice.name == "power"
    assert_allclose(choice.losses, [cuts[int(power)] for power in choice.tried])
    assert "lowest normalised cut" in choice.reason


def test_different_data_want_different_powers() -> None:
    powers = set()
    for seed in range(8):
        points, y, graph = clusters(seed)
        powers.add(LaplacianSVC(graph=graph).fit(points, y).power_)
    assert len(powers) > 1


@pytest.mark.parametrize("power", POWERS)
def test_the_intrinsic_penalty_grows_by_a_factor_with_each_power(power: int) -> None:
    points, y, graph = clusters(0)
    smoothness = LaplacianPower(power)
    learner = LaplacianRLSClassifier(graph=graph, smoothness=smoothness).fit(points, y)
    ratio = learner.gamma_i_ / learner.gamma_a_  # k(x, x) is one
    assert_allclose(ratio * smoothness.on(graph, power).typical, 100.0**power)


def test_a_class_without_label_has_no_part_in_the_cut() -> None:
    points, y, graph = clusters(1)
    plain = LaplacianRLSClassifier(graph=graph).fit(points, y)
    declared = LaplacianRLSClassifier(graph=graph, classes=[0, 1, 2]).fit(points, y)
    assert declared.power_ == plain.power_
    assert_allclose(declared.choices_[0].losses, plain.choices_[0].losses)


def test_values_have_no_cut_and_take_what_is_typical() -> None:
    points, y, graph = clusters(2)
    values = np.where(y >= 0, y, np.nan)
    learner = LaplacianRLSRegressor(graph=graph).fit(points, values)
    assert learner.power_ == 2
    assert [choice.name for choice in learner.choices_] == ["gamma_i"]
    assert np.isnan(learner.held_out_loss_)
