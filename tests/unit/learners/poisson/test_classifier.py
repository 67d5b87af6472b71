"""Poisson learning: dense formulas, class balance, components, priors, leave-one-out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import disjoint_union, grid, path, ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import PoissonClassifier, model
from beltrami.learners.model import Labeled
from beltrami.learners.poisson import classifier as room
from beltrami.learners.poisson.sources import class_sources


def random_graph(n, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return Graph(KnnGraph(5).build(points).weights)


def plain(graph, labels, *, sample_weight=None, **options):
    """Poisson learning without threshold steps on a given graph; `labels` maps rows to classes."""
    n = graph.n_nodes
    y = np.full(n, -1)
    y[list(labels)] = list(labels.values())
    learner = PoissonClassifier(**{"graph": graph, "n_steps": 0, "tol": 1e-12} | options)
    return learner.fit(np.zeros((n, 1)), y, sample_weight)


def mixture(seed, apart=4.5):
    """Three Gaussians of unequal size and two labels per class."""
    centers = apart * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    points, truth = make_blobs([400, 100, 50], centers=centers, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in range(3):
        y[rng.choice(np.flatnonzero(truth == label), 2, replace=False)] = label
    return points, y, truth


def error(learner, points, y, truth):
    learner.fit(points, y)
    return 100 * (learner.transduction_ != truth)[y < 0].mean()


# --- the equation -----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_the_pseudo_inverse_times_the_sources(weighted: bool) -> None:
    graph, labels = random_graph(40), {0: 0, 7: 1, 8: 1, 20: 2, 33: 0, 39: 0}
    sample_weight = np.random.default_rng(0).uniform(0.5, 2, 40) if weighted else np.ones(40)
    learner = plain(graph, labels, sample_weight=sample_weight)
    weights = graph.weights.toarray() / graph.weights.max()
    degrees = weights.sum(axis=1)
    rows = np.array(sorted(labels))
    w, Y = sample_weight[rows], np.eye(3)[[labels[row] for row in rows]]
    w = w / w.mean()
    mean = w @ Y / w.sum()
    right = np.zeros((40, 3))
    right[rows] = w[:, None] * (Y - mean) / (3 * mean)
    expected = np.linalg.pinv(np.diag(degrees) - weights) @ right
    expected -= degrees @ expected / degrees.sum()
    assert_allclose(learner.scores_, expected, atol=1e-8 * abs(expected).max())


def test_flow_on_a_path_between_two_labels_is_linear_between_them_and_flat_outside() -> None:
    learner = plain(path(9), {2: 0, 6: 1})
    lead = learner.scores_[:, 0] - learner.scores_[:, 1]
    assert_allclose(np.diff(lead), [0, 0, -1, -1, -1, -1, 0, 0], atol=1e-8)
    assert_allclose(lead[4], 0, atol=1e-8)
    assert_array_equal(learner.transduction_[[0, 3, 5, 8]], [0, 0, 1, 1])


def test_sources_sum_to_zero_on_each_component() -> None:
    rng = np.random.default_rng(0)
    component = np.repeat([0, 1, 2], 10)
    rows = np.sort(rng.permutation(30)[:12])
    labeled = Labeled(rows, np.eye(4)[rng.integers(0, 4, 12)], rng.uniform(0.2, 2, 12))
    sources = class_sources(labeled, component, 3)
    for number in range(3):
        assert_allclose(sources[component[rows] == number].sum(axis=0), 0, atol=1e-12)


def test_a_class_with_heavier_labels_wins_nothing_by_them() -> None:
    """For two classes the lead does not depend on how much each of them counts as a whole."""
    graph, labels = random_graph(40), {0: 0, 7: 1, 20: 1, 33: 0}
    even = plain(graph, labels)
    uneven = np.ones(40)
    uneven[[7, 20]] = 2.0
    uneven = plain(graph, labels, sample_weight=uneven)
    lead = even.scores_[:, 1] - even.scores_[:, 0]
    assert_allclose(uneven.scores_[:, 1] - uneven.scores_[:, 0], lead, atol=1e-8)
    assert_array_equal(uneven.transduction_, even.transduction_)


def test_twice_the_labels_of_one_class_do_not_move_the_border_on_a_symmetric_ring() -> None:
    learner = plain(ring(20), {0: 0, 9: 1, 11: 1})
    assert_array_equal(learner.transduction_[[2, 3, 4]], 0)
    assert_array_equal(learner.transduction_[[18, 17, 16]], 0)
    assert_array_equal(learner.transduction_[6:15], 1)


def test_scores_have_mean_zero_by_degree() -> None:
    graph = random_graph(50)
    learner = plain(graph, {0: 0, 10: 1, 20: 2})
    assert_allclose(graph.degrees @ learner.scores_, 0, atol=1e-6)


# --- components -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [0, 3, "auto"])
def test_a_component_with_labels_of_one_class_gets_that_class(n_steps) -> None:
    graph = disjoint_union(grid(4, 4), path(5), ring(6), path(3))
    labels = {0: 0, 15: 2, 17: 1, 19: 1, 22: 2}
    learner = plain(graph, labels, n_steps=n_steps)
    assert_array_equal(learner.transduction_[16:21], 1)
    assert_array_equal(learner.transduction_[21:27], 2)
    assert_array_equal(learner.transduction_[27:], -1)
    assert_array_equal(learner.reached_, [True] * 27 + [False] * 3)
    assert_array_equal(learner.confidence_[27:], 0)
    assert np.isfinite(learner.scores_).all()


@pytest.mark.parametrize("n_steps", [0, 3, "auto"])
def test_components_of_one_class_each_are_left_out_to_their_own_class(n_steps) -> None:
    """Nothing flows here, yet the labels agree: this is no reason to call the graph no help."""
    graph = disjoint_union(grid(4, 4), grid(4, 5))
    learner = plain(graph, {0: 0, 5: 0, 9: 0, 20: 1, 25: 1, 30: 1}, n_steps=n_steps)
    assert_array_equal(learner.transduction_, [0] * 16 + [1] * 20)
    assert learner._left_out().error == 0
    assert not learner.diagnose().is_beaten


def test_a_single_label_of_declared_classes_is_spread() -> None:
    learner = plain(path(6), {2: 1}, classes=[0, 1])
    assert_array_equal(learner.transduction_, 1)
    assert_allclose(learner.label_distributions_.sum(axis=1), 1)
    assert np.isfinite(learner._left_out().scores).all()


# --- steps ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [1, 5])
def test_a_fixed_number_of_steps_is_used(n_steps: int) -> None:
    points, y, _ = mixture(0)
    learner = PoissonClassifier(n_steps=n_steps).fit(points, y)
    assert learner.n_steps_ == n_steps
    assert not learner._choices()


def test_what_was_decided_is_said() -> None:
    points, y, _ = mixture(0)
    best = PoissonClassifier().fit(points, y)
    assert best._choices()[0].value == best.n_steps_ == 10
    assert f"({best.cut_:.3g})" in best._choices()[0].reason
    assert best.hypothesis_ in best._choices()[0].reason


def test_a_sharpened_answer_has_a_smaller_cut_than_the_flow() -> None:
    for seed in range(4):
        points, y, _ = mixture(seed)
        best = PoissonClassifier().fit(points, y)
        flow = PoissonClassifier(n_steps=0).fit(points, y)
        assert best.cut_ <= flow.cut_
        if best.n_steps_ == 0:
            assert_array_equal(best.scores_, flow.scores_)


def test_the_flow_stands_where_classes_are_no_clusters() -> None:
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(300, 20)), np.full(300, -1)
    y[:6] = [0, 1, 2, 0, 1, 2]
    learner = PoissonClassifier().fit(points, y)
    assert (learner.n_steps_, learner.hypothesis_) == (0, "the flow itself")
    plain_one = PoissonClassifier(n_steps=0).fit(points, y)
    assert_array_equal(learner.transduction_, plain_one.transduction_)
    assert "the plain flow stands" in learner._choices()[0].reason


def test_the_flow_in_a_basis_answers_as_the_solved_one(monkeypatch) -> None:
    for seed in range(3):
        points, y, _ = mixture(seed)
        solved = PoissonClassifier(n_steps=5).fit(points, y)
        monkeypatch.setattr(room, "_SOLVED_ROWS", 100)
        found = PoissonClassifier(n_steps=5).fit(points, y)
        monkeypatch.undo()
        assert (found.transduction_ == solved.transduction_).mean() > 0.99
        left, exact = found._left_out(), solved._left_out()
        assert_array_equal(left.rows, exact.rows)
        assert_array_equal(left.scores.argmax(axis=1), exact.scores.argmax(axis=1))


def test_the_cut_is_that_of_the_transduction() -> None:
    points, y, _ = mixture(1)
    learner = PoissonClassifier().fit(points, y)
    dense = learner.graph_.weights.toarray()
    cut = 0.0
    for label in range(3):
        inside = learner.transduction_ == label
        cut += dense[inside][:, ~inside].sum() / dense[inside].sum()
    assert_allclose(learner.cut_, cut)


@pytest.mark.parametrize("n_steps", [-1, 1.5, True, "many", None])
def test_other_numbers_of_steps_are_refused(n_steps) -> None:
    with pytest.raises(InvalidInputError, match="n_steps="):
        plain(path(5), {0: 0, 4: 1}, n_steps=n_steps)


# --- priors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("priors", ["guess", [1.0, 2.0], [1.0, 0.0, 1.0], [1, -1, 1], [np.inf] * 3])
def test_other_priors_are_refused(priors) -> None:
    points, y, _ = mixture(0)
    with pytest.raises(InvalidInputError, match="priors="):
        PoissonClassifier(priors=priors).fit(points, y)


@pytest.mark.parametrize("n_steps", [0, 3, "auto"])
@pytest.mark.parametrize("priors", [[8.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
def test_given_class_sizes_are_kept_to(priors, n_steps) -> None:
    points, y, _ = mixture(1)
    learner = PoissonClassifier(n_steps=n_steps, priors=priors).fit(points, y)
    sizes = np.bincount(learner.transduction_) / len(y)
    assert_allclose(sizes, np.array(priors) / sum(priors), atol=0.03)
    assert learner.hypothesis_.startswith("the given sizes")


def test_sizes_from_labels_are_their_smoothed_shares() -> None:
    points, y, truth = mixture(0)
    rows = np.random.default_rng(0).permutation(len(y))[:110]
    y[rows] = truth[rows]
    learner = PoissonClassifier(priors="labels").fit(points, y)
    counts = np.bincount(y[y >= 0]) + 1
    sizes = np.bincount(learner.transduction_) / len(y)
    assert_allclose(sizes, counts / counts.sum(), atol=0.03)


def errors_with(priors, *, apart, seeds):
    return np.mean(
        [error(PoissonClassifier(priors=priors), *mixture(seed, apart)) for seed in range(seeds)]
    )


@pytest.mark.parametrize("apart", [4.5, pytest.param(6.0, marks=pytest.mark.slow)])
def test_true_class_sizes_help_on_an_unbalanced_mixture(apart: float) -> None:
    none = errors_with(None, apart=apart, seeds=8)
    assert errors_with([8, 2, 1], apart=apart, seeds=8) < 0.5 * none


def test_priors_are_those_of_the_rows_that_labels_reach() -> None:
    """Rows of a component without labels have no class, so they have no part in the sizes."""
    points, y, _ = mixture(2)
    recipe = KnnGraph(10, connect="keep")
    far = np.random.default_rng(0).normal(1000, 1, size=(300, 2))
    alone = PoissonClassifier(graph=recipe, n_steps=0, priors=[8, 2, 1]).fit(points, y)
    more = PoissonClassifier(graph=recipe, n_steps=0, priors=[8, 2, 1])
    more.fit(np.vstack([points, far]), np.concatenate([y, np.full(300, -1)]))
    assert alone.hypothesis_ == "the given sizes"
    assert_array_equal(more.transduction_[: len(y)], alone.transduction_)


# --- probabilities and classes ----------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [0, 2, "auto"])
@pytest.mark.parametrize("priors", [None, "labels", [1.0, 2.0, 3.0, 4.0]])
def test_a_declared_class_without_label_has_probability_zero(n_steps, priors) -> None:
    points, y, _ = mixture(0)
    learner = PoissonClassifier(n_steps=n_steps, priors=priors, classes=[0, 1, 2, 9])
    learner.fit(points, y)
    assert_array_equal(learner.label_distributions_[:, 3], 0)
    assert_array_equal(learner.predict_proba(points[:5] + 0.01)[:, 3], 0)
    assert 9 not in learner.transduction_
    assert_allclose(learner.label_distributions_.sum(axis=1), 1)


# --- units of the weights ---------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [0, 3, "auto"])
@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e-3, 7.0, 1e30, 1e200])
def test_the_unit_of_a_given_graph_changes_no_answer(unit: float, n_steps: int | str) -> None:
    graph, labels = random_graph(40), {0: 0, 7: 1, 8: 1, 20: 2, 33: 0, 39: 0}
    expected = plain(graph, labels, n_steps=n_steps)
    found = plain(Graph(unit * graph.weights), labels, n_steps=n_steps)
    assert_array_equal(found.transduction_, expected.transduction_)
    assert_allclose(found.label_distributions_, expected.label_distributions_, atol=1e-6)
    assert_allclose(found._left_out().scores, expected._left_out().scores, atol=1e-6)


def test_a_label_that_hardly_any_weight_ties_to_the_rest_gives_no_nan() -> None:
    weights = path(9).weights.toarray()
    weights[0, 1] = weights[1, 0] = 1e-60
    learner = plain(Graph.from_matrix(weights), {0: 0, 4: 1, 8: 0}, n_steps=3)
    assert np.isfinite(learner.label_distributions_).all()
    assert_allclose(learner.label_distributions_.sum(axis=1), 1)


# --- leave-one-out ----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_plain_poisson_learning_without_the_label(weighted: bool) -> None:
    graph = disjoint_union(random_graph(40), random_graph(25, seed=1))
    labels = {0: 0, 7: 1, 8: 1, 20: 2, 33: 0, 39: 2, 45: 0, 50: 1, 60: 0, 64: 1}
    sample_weight = np.random.default_rng(0).uniform(0.5, 2, 65) if weighted else None
    learner = plain(graph, labels, sample_weight=sample_weight)
    left_out = learner._left_out()
    for row, scores in zip(left_out.rows, left_out.scores, strict=True):
        rest = {other: label for other, label in labels.items() if other != row}
        again = plain(graph, rest, sample_weight=sample_weight)
        assert_allclose(scores, again.scores_[row], atol=1e-7 * abs(again.scores_).max())


def test_the_only_label_of_a_component_is_left_out_to_the_mean_of_the_others() -> None:
    learner = plain(disjoint_union(path(6), path(4)), {0: 1, 5: 1, 8: 0})
    assert_allclose(learner._left_out().scores[2], [0.0, 1.0])


def test_of_many_labels_a_sample_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(model, "_MOST_LEFT_OUT", 4)
    points, y, _ = mixture(0)
    left_out = PoissonClassifier().fit(points, y)._left_out()
    assert len(left_out.rows) == 4
    assert_array_equal(left_out.targets.argmax(axis=1), y[left_out.rows])


@pytest.mark.parametrize("factor", [1e9, 1e12, 1e20])
@pytest.mark.parametrize("heavy", [[0], [0, 1], [0, 6]])
def test_labels_whose_weights_differ_by_many_orders_are_weighed(factor, heavy) -> None:
    """The heavy label's own source is minus the sum of the others', which 1 - mean rounds away."""
    graph = disjoint_union(grid(3, 3), ring(6))
    y = np.full(15, -1)
    y[[0, 1, 4, 8, 9, 11, 13]] = [0, 0, 1, 2, 0, 1, 1]
    weights = np.ones(15)
    weights[np.flatnonzero(y >= 0)[heavy]] = factor
    learner = PoissonClassifier(graph=graph, n_steps=0).fit(np.zeros((15, 1)), y, weights)
    assert np.isfinite(learner.scores_).all()
    rows = np.flatnonzero(y >= 0)
    labeled = Labeled(rows, np.eye(3)[y[rows]], weights[rows])
    sources = class_sources(labeled, np.repeat([0, 1], [9, 6]), 2)
    for inside in (rows < 9, rows >= 9):
        total = np.abs(sources[inside]).sum(axis=0)
        assert_allclose(sources[inside].sum(axis=0), 0, atol=1e-12 * total.max())
        assert (np.abs(sources[inside].sum(axis=0)) <= 1e-12 * total).all()
