"""How many neighbours the graph joins, where that is left to the Laplacian machines."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

from beltrami import (
    KnnGraph,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    LaplacianSVC,
    two_moons,
)
from beltrami.core.errors import ConnectedByBridgesWarning
from beltrami.learners.foundation import Foundation
from beltrami.learners.machines import graph_choice, machine
from beltrami.learners.machines.graph_choice import choose_graph, judging_labels, recipes_to_try
from beltrami.learners.machines.tuning import Shape, Strengths, Trial
from beltrami.learners.model import Labeled

# Bridges between moons are no news here.
pytestmark = pytest.mark.filterwarnings("ignore::beltrami.core.errors.ConnectedByBridgesWarning")

MACHINES = [LaplacianRLSClassifier, LaplacianSVC]


def moons(seed: int, *, noise: float = 0.05, per_class: int = 1, n: int = 200):
    points, classes = make_moons(n, noise=noise, random_state=seed)
    rng, y = np.random.default_rng(seed), np.full(n, -1)
    for c in (0, 1):
        y[rng.choice(np.flatnonzero(classes == c), per_class, replace=False)] = c
    return points, classes, y


def labels(count: int, n_classes: int = 2) -> Labeled:
    rows = np.arange(count)
    targets = 2.0 * (rows[:, None] % n_classes == np.arange(n_classes)) - 1
    return Labeled(rows, targets, np.ones(count))


def neighbors_of(learner) -> int:
    return learner.recipe_.n_neighbors


def chosen(learner) -> list[str]:
    return [one.name for one in learner._choices()]


# --- the paper's picture ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("seed", range(3))
def test_one_label_per_class_is_enough_for_two_moons(kind, seed: int) -> None:
    points, classes, y = moons(seed)
    assert (kind().fit(points, y).transduction_ == classes).mean() > 0.99
    ours = two_moons(200, random_state=seed)
    y = np.full(200, -1)
    y[[10, 150]] = ours.targets[[10, 150]]
    assert (kind().fit(ours.points, y).transduction_ == ours.targets).mean() > 0.99


# --- who chooses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "counts"),
    [
        (10, [10]),
        (23, [10]),
        (24, [10, 6]),
        (79, [10, 6]),
        (80, [10, 6, 20]),
        (200, [10, 6, 20, 50]),
    ],
)
def test_graphs_of_a_quarter_of_the_points_at_most_are_tried(n: int, counts: list[int]) -> None:
    assert [one.n_neighbors for one in recipes_to_try(n)] == counts


@pytest.mark.parametrize("kind", MACHINES)
def test_a_given_recipe_or_graph_is_kept_to(kind) -> None:
    points, _, y = moons(0)
    learner = kind(graph=KnnGraph(7)).fit(points, y)
    assert neighbors_of(learner) == 7
    assert "n_neighbors" not in chosen(learner)
    graph = KnnGraph(9).build(points)
    assert kind(graph=graph).fit(points, y).graph_ is graph


@pytest.mark.parametrize("kind", MACHINES)
def test_learners_that_share_a_graph_do_not_look_for_another(kind) -> None:
    points, _, y = moons(0)
    foundation, recipe = Foundation(KnnGraph(7).build(points)), KnnGraph(7)
    rows = np.flatnonzero(y >= 0)
    labeled = Labeled(rows, (y[rows, None] == np.arange(2)).astype(float), np.ones(len(rows)))
    learner = kind().fit_on(points, foundation, recipe, labeled)
    assert learner.graph_ is foundation.graph
    assert chosen(learner) == ["power"]
    shared = Foundation(foundation.graph, is_shared=True)
    learner = kind().fit_on(points, shared, recipe, labeled)
    assert chosen(learner) == ["gamma_i"]  # nor for a power: others answer, too
    assert learner.power_ == 2


def test_where_nothing_is_charged_along_the_data_no_graph_is_looked_for() -> None:
    points, _, y = moons(0, per_class=5)
    assert "n_neighbors" not in chosen(LaplacianRLSClassifier(gamma_i=0.0).fit(points, y))


def test_many_points_have_the_default_graph(monkeypatch) -> None:
    points, _, y = moons(0)
    monkeypatch.setattr(machine, "_MOST_EXACT", 199)
    learner = LaplacianRLSClassifier(approximation="none").fit(points, y)
    assert neighbors_of(learner) == 10
    assert "n_neighbors" not in chosen(learner)


def test_two_values_cannot_choose_a_graph() -> None:
    points, classes, y = moons(0)
    values = np.where(y >= 0, classes.astype(float), np.nan)
    learner = LaplacianRLSRegressor().fit(points, values)
    assert neighbors_of(learner) == 10
    assert "n_neighbors" not in chosen(learner)


def test_other_labels_of_the_same_points_keep_the_graph() -> None:
    points, _, y = moons(3, noise=0.2)
    learner = LaplacianRLSClassifier().fit(points, y)
    graph = learner.graph_
    assert learner.fit_labels(moons(3, noise=0.2, per_class=6)[2]).graph_ is graph


# --- how it is chosen -------------------------------------------------------------------------


@pytest.mark.parametrize("per_class", [1, 6])
def test_the_choice_is_told_and_always_the_same(per_class: int) -> None:
    points, _, y = moons(1, noise=0.2, per_class=per_class)
    first, second = (LaplacianRLSClassifier().fit(points, y) for _ in range(2))
    choice = first._choices()[0]
    assert choice.name == "n_neighbors"
    assert choice.value == neighbors_of(first) == neighbors_of(second)
    assert sorted(choice.tried) == [6, 10, 20, 50]
    assert f"a graph of {neighbors_of(first)} neighbours" in str(first.diagnose())
    np.testing.assert_array_equal(first.scores_, second.scores_)


def test_landmarks_compare_graphs_where_points_are_more(monkeypatch) -> None:
    points, classes, y = moons(2)
    monkeypatch.setattr(machine, "_SCOUTS", 100)
    learner, again = (LaplacianSVC().fit(points, y) for _ in range(2))
    assert learner.approximation_.method == "none"  # the fit itself is exact
    np.testing.assert_array_equal(learner._choices()[0].losses, again._choices()[0].losses)
    assert (learner.transduction_ == classes).mean() > 0.95


def test_a_precomputed_kernel_has_its_graph_chosen_too() -> None:
    points, classes, y = moons(0)
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    learner = LaplacianRLSClassifier(kernel="precomputed").fit(np.exp(-squares / 0.08), y)
    assert "n_neighbors" in chosen(learner)
    assert (learner.transduction_ == classes).mean() > 0.95


def test_graphs_that_were_not_taken_do_not_warn() -> None:
    rng = np.random.default_rng(0)
    # Twelve points each: six neighbours leave them apart, ten do too, twenty join them.
    points = np.concatenate([rng.normal(5 * c, 0.1, (12, 2)) for c in range(10)])
    y = np.full(120, -1)
    y[[0, 119]] = 0, 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        learner = LaplacianRLSClassifier().fit(points, y)
    n_told = sum(issubclass(one.category, ConnectedByBridgesWarning) for one in told)
    assert n_told == int(learner.graph_.certificate.n_bridges > 0)


def _choice_of(monkeypatch, losses, cuts, labeled) -> tuple[int, bool]:
    """Choose between three graphs of known losses and cuts; say whether the reason is the cut."""
    shape = Shape(1.0, 2)
    monkeypatch.setattr(
        graph_choice,
        "trials_by_power",
        lambda one, _: {shape: Trial(Strengths(1.0, 1.0), losses[one], 1, None)},
    )
    monkeypatch.setattr(graph_choice, "cut_of", lambda one, *_: cuts[one])
    monkeypatch.setattr(graph_choice, "cuts_by_power", lambda one, *_: [9.0, cuts[one]])
    recipes = recipes_to_try(80)
    best, choice = choose_graph(recipes, [None] * 3, [0, 1, 2], labeled)  # type: ignore[list-item]
    return best, "about as good" in choice.reason


def test_labels_that_can_tell_choose(monkeypatch) -> None:
    found = _choice_of(monkeypatch, [0.4, 0.1, 0.3], [0.1, 0.9, 0.2], labels(100))
    assert found == (1, False)


def test_between_graphs_that_labels_cannot_tell_apart_the_cut_does(monkeypatch) -> None:
    # With 100 labels and one error in ten the standard error is three in a hundred.
    found = _choice_of(monkeypatch, [0.12, 0.1, 0.15], [0.5, 0.9, 0.2], labels(100))
    assert found == (0, True)


def test_where_labels_are_few_the_cut_alone_chooses(monkeypatch) -> None:
    found = _choice_of(monkeypatch, [0.0, 0.5, 0.5], [0.5, 0.9, 0.2], labels(4))
    assert found == (2, False)


def test_of_values_the_lowest_loss_is_taken(monkeypatch) -> None:
    values = Labeled(np.arange(9), np.arange(9.0)[:, None], np.ones(9))
    assert _choice_of(monkeypatch, [0.12, 0.1, 0.11], [0.5, 0.9, 0.2], values) == (1, False)


def test_of_many_labels_a_part_judges() -> None:
    assert judging_labels(few := labels(200)) is few
    part, again = judging_labels(labels(900)), judging_labels(labels(900))
    assert len(part.rows) == 200
    np.testing.assert_array_equal(part.rows, again.rows)
