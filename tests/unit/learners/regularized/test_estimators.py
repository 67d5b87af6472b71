"""Graph-regularised learners: harmonic closed forms, class masses, and the choice of gamma."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami.data import two_moons
from beltrami.graph.families import complete, disjoint_union, grid, path
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    model,
)

SMOOTHNESS = ["laplacian", ("iterated", 2), ("heat", 0.4)]


def blank(n):
    return np.zeros((n, 1))


def at(n, values):
    """NaN everywhere but at some rows."""
    y = np.full(n, np.nan)
    y[list(values)] = list(values.values())
    return y


def classes_at(n, labels):
    y = np.full(n, -1)
    y[list(labels)] = list(labels.values())
    return y


def regressor(graph, values, **options):
    learner = GraphRegularizedRegressor(graph=graph, tol=1e-12, **options)
    return learner.fit(blank(graph.n_nodes), at(graph.n_nodes, values))


def moons(n=150, per_class=4, seed=0):
    data = two_moons(n, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.full(n, -1)
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(data.targets == label), per_class, replace=False)] = label
    return data.points, y, data.targets


# --- closed forms -----------------------------------------------------------------------------


def test_a_harmonic_function_on_a_path_is_linear_between_its_ends() -> None:
    learner = regressor(path(9), {0: 1.0, 8: 5.0})
    assert_allclose(learner.transduction_, np.linspace(1, 5, 9), atol=1e-10)


def test_a_harmonic_function_on_a_path_is_linear_between_all_labels_and_flat_outside() -> None:
    learner = regressor(path(12), {2: 0.0, 6: 4.0, 8: 2.0})
    expected = np.interp(np.arange(12), [2, 6, 8], [0, 4, 2])
    assert_allclose(learner.transduction_, expected, atol=1e-10)


def test_the_classes_of_a_path_meet_half_way() -> None:
    y = classes_at(9, {0: 3, 8: 7})
    learner = GraphRegularizedClassifier(graph=path(9), class_mass=None, tol=1e-12)
    learner.fit(blank(9), y)
    assert_allclose(learner.values_[:, 1], np.linspace(0, 1, 9), atol=1e-10)
    assert_allclose(learner.label_distributions_, learner.values_, atol=1e-10)
    assert_array_equal(learner.transduction_[[0, 3, 5, 8]], [3, 3, 7, 7])


def test_penalised_values_on_a_complete_graph_shrink_to_the_mean() -> None:
    """All others are alike, so the fit has one number per label and one for the rest."""
    n, gamma = 6, 0.1
    learner = regressor(complete(n), {0: 0.0, 1: 6.0}, gamma=gamma)
    # (1/2)(f_i - y_i) + gamma (n f_i - sum f) = 0 at labels, f = sum f / n elsewhere.
    weight = 0.5 / (0.5 + gamma * n)
    assert_allclose(learner.scores_[:2, 0], [3 - 3 * weight, 3 + 3 * weight], atol=1e-10)
    assert_allclose(learner.scores_[2:, 0], 3, atol=1e-10)


def test_a_harmonic_function_keeps_to_the_range_of_its_labels() -> None:
    points, _, _ = moons()
    rng = np.random.default_rng(0)
    y = at(150, dict(zip(rng.permutation(150)[:12], rng.normal(size=12), strict=True)))
    for gamma in (0.0, 0.01):
        learner = GraphRegularizedRegressor(gamma=gamma).fit(points, y)
        assert learner.scores_.min() >= np.nanmin(y) - 1e-9
        assert learner.scores_.max() <= np.nanmax(y) + 1e-9


def test_each_unlabelled_node_has_the_mean_of_its_neighbours() -> None:
    points, y, _ = moons()
    learner = GraphRegularizedClassifier(class_mass=None, tol=1e-12).fit(points, y)
    weights = learner.graph_.weights
    means = (weights @ learner.values_) / learner.graph_.degrees[:, None]
    assert_allclose(learner.values_[y < 0], means[y < 0], atol=1e-9)


def test_iterated_interpolation_has_no_spikes_at_the_labels() -> None:
    """On a grid one label in the middle of zeros is a needle for L, a hill for L squared."""
    values = {0: 0.0, 20: 0.0, 420: 0.0, 440: 0.0, 220: 1.0}
    needle = regressor(grid(21, 21), values).scores_[221, 0]
    hill = regressor(grid(21, 21), values, smoothness=("iterated", 2)).scores_[221, 0]
    assert needle < 0.85
    assert hill > 0.95


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_gamma_runs_from_interpolation_to_the_mean(smoothness) -> None:
    values = {0: 1.0, 3: 4.0, 7: 2.0, 11: 9.0}
    exact = regressor(path(12), values, smoothness=smoothness).scores_
    near = regressor(path(12), values, smoothness=smoothness, gamma=1e-10).scores_
    assert_allclose(near, exact, atol=1e-5)
    flat = regressor(path(12), values, smoothness=smoothness, gamma=1e7).scores_
    assert_allclose(flat, 4.0, atol=1e-3)


def test_a_boundless_penalty_leaves_the_labelled_mean_of_each_component() -> None:
    graph = disjoint_union(path(5), path(4))
    learner = regressor(graph, {0: 1.0, 4: 3.0, 6: 10.0, 8: 20.0}, gamma=1e6)
    assert_allclose(learner.scores_[:, 0], [2.0] * 5 + [15.0] * 4, rtol=1e-4)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_a_component_without_labels_is_not_reached(smoothness, gamma: float) -> None:
    graph = disjoint_union(path(5), path(4))
    learner = regressor(graph, {0: 1.0, 4: 3.0}, smoothness=smoothness, gamma=gamma)
    assert_array_equal(learner.reached_, [True] * 5 + [False] * 4)
    assert np.isnan(learner.transduction_[5:]).all()
    alone = regressor(path(5), {0: 1.0, 4: 3.0}, smoothness=smoothness, gamma=gamma)
    assert_allclose(learner.scores_[:5], alone.scores_, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"gamma": 0.1}, {"smoothness": ("iterated", 2)}])
def test_every_row_may_be_labelled(options) -> None:
    points, _, truth = moons()
    learner = GraphRegularizedClassifier(**options).fit(points, truth)
    assert_array_equal(learner.transduction_, truth)
    if not options.get("gamma"):
        assert_allclose(learner.values_, np.eye(2)[truth], atol=1e-7)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_the_order_of_rows_does_not_matter(smoothness) -> None:
    points, y, _ = moons()
    order = np.random.default_rng(1).permutation(len(y))
    learner = GraphRegularizedClassifier(smoothness=smoothness, tol=1e-10)
    plain = learner.fit(points, y).scores_
    assert_allclose(learner.fit(points[order], y[order]).scores_, plain[order], atol=1e-6)


# --- class mass -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_mass", "shares"),
    [("equal", [0.5, 0.5]), ("labels", [0.25, 0.75]), ([1.0, 3.0], [0.25, 0.75]), ((4, 1), None)],
)
def test_totals_of_the_classes_are_as_asked(class_mass, shares) -> None:
    y = classes_at(30, {0: 0, 10: 1, 20: 1, 29: 1})
    learner = GraphRegularizedClassifier(graph=path(30), class_mass=class_mass).fit(blank(30), y)
    totals = learner.scores_.sum(axis=0)
    assert_allclose(totals / totals.sum(), [0.8, 0.2] if shares is None else shares)


def test_without_a_class_mass_the_functions_are_the_scores() -> None:
    y = classes_at(30, {0: 0, 10: 1, 20: 1, 29: 1})
    learner = GraphRegularizedClassifier(graph=path(30), class_mass=None).fit(blank(30), y)
    assert_array_equal(learner.scores_, learner.values_)


def test_unreached_rows_have_no_part_in_the_totals() -> None:
    graph = disjoint_union(path(30), path(50))
    y = classes_at(80, {0: 0, 10: 1, 20: 1, 29: 1})
    both = GraphRegularizedClassifier(graph=graph).fit(blank(80), y)
    alone = GraphRegularizedClassifier(graph=path(30)).fit(blank(30), y[:30])
    assert_allclose(both.scores_[:30], alone.scores_, atol=1e-9)


@pytest.mark.parametrize(
    "class_mass", ["most", [1.0], [1.0, 2.0, 3.0], [0.0, 1.0], [-1.0, 2.0], [np.nan, 1.0], {"a": 1}]
)
def test_other_masses_are_refused(class_mass) -> None:
    y = classes_at(30, {0: 0, 29: 1})
    with pytest.raises(InvalidInputError, match="class_mass="):
        GraphRegularizedClassifier(graph=path(30), class_mass=class_mass).fit(blank(30), y)


def test_a_declared_class_without_label_gets_nothing() -> None:
    y = classes_at(10, {0: 0, 9: 2})
    for options in ({}, {"class_mass": None}, {"gamma": 0.1}, {"class_mass": [1.0, 5.0, 1.0]}):
        learner = GraphRegularizedClassifier(graph=path(10), classes=[0, 1, 2], **options)
        learner.fit(blank(10), y)
        assert_array_equal(learner.label_distributions_[:, 1], 0)
        assert_array_equal(np.unique(learner.transduction_), [0, 2])


# --- gamma by leave-one-out -------------------------------------------------------------------


def test_auto_prefers_interpolation_for_exact_values_and_a_penalty_for_noise() -> None:
    n, rng = 200, np.random.default_rng(0)
    truth = np.sin(2 * np.pi * np.arange(n) / n)
    rows = np.arange(0, n, 4)
    exact = dict(zip(rows, truth[rows], strict=True))
    noisy = dict(zip(rows, truth[rows] + rng.normal(0, 0.5, size=len(rows)), strict=True))
    clean = regressor(path(n), exact, gamma="auto")
    assert clean.gamma_ < 1e-3
    rough = regressor(path(n), noisy, gamma="auto")
    assert rough.gamma_ > 100 * clean.gamma_
    through = regressor(path(n), noisy).scores_[:, 0]
    assert ((rough.scores_[:, 0] - truth) ** 2).mean() < 0.6 * ((through - truth) ** 2).mean()


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_the_chosen_gamma_has_the_lowest_loss_of_those_tried(smoothness) -> None:
    points, y, _ = moons(per_class=6)
    learner = GraphRegularizedClassifier(gamma="auto", smoothness=smoothness).fit(points, y)
    (choice,) = learner.choices_
    assert choice.value == learner.gamma_ == choice.tried[np.argmin(choice.losses)]
    assert len(choice.losses) == len(choice.tried)
    assert "lowest leave-one-out loss" in choice.reason
    fixed = GraphRegularizedClassifier(gamma=learner.gamma_, smoothness=smoothness).fit(points, y)
    assert_allclose(fixed.scores_, learner.scores_, atol=1e-8)


def test_too_few_labels_to_judge_are_interpolated() -> None:
    points, y, _ = moons(per_class=1)
    learner = GraphRegularizedClassifier(gamma="auto").fit(points, y)
    assert learner.gamma_ == 0
    assert "cannot judge" in learner.choices_[0].reason


@pytest.mark.parametrize("smoothness", ["laplacian", ("iterated", 2)])
def test_of_many_labels_a_sample_is_left_out(smoothness, monkeypatch) -> None:
    monkeypatch.setattr(model, "_MOST_LEFT_OUT", 20)
    points, y, _ = moons(per_class=30)
    learner = GraphRegularizedClassifier(gamma="auto", smoothness=smoothness).fit(points, y)
    left_out = learner._left_out()
    assert len(left_out.rows) == 20
    assert set(left_out.rows) <= set(np.flatnonzero(y >= 0))
    assert_array_equal(left_out.targets.argmax(axis=1), y[left_out.rows])
    assert left_out.error < 0.3
    assert learner.diagnose().n_left_out == 20


def test_intervals_leave_every_label_out_in_turn_however_many_there_are(monkeypatch) -> None:
    monkeypatch.setattr(model, "_MOST_LEFT_OUT", 10)
    truth = np.sin(np.arange(60) / 10)
    points = np.column_stack([np.arange(60.0), np.zeros(60)])
    y = at(60, dict(zip(range(0, 60, 2), truth[::2], strict=True)))
    recipe = KnnGraph(2)
    for gamma in (0.1, "auto"):
        learner = GraphRegularizedRegressor(graph=recipe, gamma=gamma).fit(points, y)
        sampled = learner.predict_interval(points)
        monkeypatch.setattr(model, "_MOST_LEFT_OUT", 1000)
        fixed = GraphRegularizedRegressor(graph=recipe, gamma=learner.gamma_).fit(points, y)
        assert_allclose(sampled, fixed.predict_interval(points), atol=1e-8)
        monkeypatch.setattr(model, "_MOST_LEFT_OUT", 10)
