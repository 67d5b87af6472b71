"""The regressor at the front door: who answers, values, intervals, updates."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import Ridge

from beltrami import KnnGraph, ManifoldRegressor, circle, swiss_roll
from beltrami.core.errors import DisconnectedGraphWarning, InvalidInputError
from beltrami.front_door.deciding.candidates import VALUE_CANDIDATES
from beltrami.learners.baselines import NearestValueBaseline, RidgeBaseline, neighbors_among

METHODS = [candidate.name for candidate in VALUE_CANDIDATES]


@pytest.fixture(scope="module")
def roll():
    found = swiss_roll(400, random_state=0)
    values = found.extras["arc_length"]
    y = np.where(np.arange(400) < 40, values, np.nan)
    return found.points, values, y


@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 8))
    values = points @ np.arange(8.0) + 5 * rng.normal(size=300)
    return points, values, np.where(np.arange(300) < 60, values, np.nan)


def test_on_a_rolled_strip_the_graph_answers(roll):
    points, values, y = roll
    learner = ManifoldRegressor(random_state=0).fit(points, y)
    first = learner.report_.members[0]
    assert not first.is_baseline
    assert learner.method_ == first.name
    assert np.sqrt(np.mean((learner.transduction_ - values) ** 2)) < 0.2 * values.std()
    assert first.error < 0.5 * learner.report_.best_baseline.error
    assert f"beside {learner.report_.best_baseline.error:.3g}" in str(learner.report_)


def test_on_a_circle_the_graph_finds_what_a_plane_cannot():
    ring = circle(200, random_state=0)
    values = np.cos(3 * np.arctan2(ring.points[:, 1], ring.points[:, 0]))
    y = np.where(np.arange(200) < 40, values, np.nan)
    learner = ManifoldRegressor(random_state=0).fit(ring.points, y)
    assert not learner.report_.members[0].is_baseline
    assert np.abs(learner.transduction_ - values).mean() < 0.1


def test_where_a_plane_is_as_good_it_answers_and_the_report_says_so(line):
    points, values, y = line
    learner = ManifoldRegressor(random_state=0).fit(points, y)
    assert learner.method_ == "ridge"
    assert "ridge regression, labels alone answers: no learner on the graph does better" in str(
        learner.report_
    )
    errors = [one.error for one in learner.report_.members]
    assert errors == sorted(errors)
    assert np.corrcoef(learner.predict(points[60:]), values[60:])[0, 1] > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_each_candidate_can_be_asked_for(method, roll):
    points, _, y = roll
    learner = ManifoldRegressor(method, random_state=0).fit(points, y)
    assert learner.method_ == method
    np.testing.assert_array_equal(learner.transduction_[:40], y[:40])
    np.testing.assert_allclose(
        learner.predict(points[40:60]), learner.transduction_[40:60], rtol=1e-4
    )
    for twin in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        np.testing.assert_array_equal(twin.predict(points[:9]), learner.predict(points[:9]))


@pytest.mark.parametrize("method", METHODS)
def test_residuals_and_shifts_are_those_of_fits_without_a_label(method, line):
    """What jackknife+ rests on: for the baselines exactly, at the parameter that was chosen."""
    points, values, _ = line
    y = np.where(np.arange(300) < 12, values, np.nan)
    learner = ManifoldRegressor(method, random_state=0).fit(points, y)
    winner = learner._answer.winner
    residuals = winner.residuals()
    shifts = learner._shifts_at(points[200:210], residuals)
    assert shifts.shape == (10, 12)
    if method == "ridge":
        scaled = (points - points.mean(axis=0)) / points.std(axis=0)
        kept = np.arange(1, 12)
        peer = Ridge(winner.baseline._strength).fit(scaled[kept], values[kept])
        assert residuals[0] == pytest.approx(values[0] - peer.predict(scaled[:1])[0])
        without = learner.predict(points[200:210]) - shifts[:, 0]
        np.testing.assert_allclose(without, peer.predict(scaled[200:210]))
    if method == "neighbors":
        distances = np.linalg.norm(points[200:210, None] - points[None, 1:12], axis=2)
        nearest = 1 + np.argsort(distances, axis=1)[:, : winner.baseline._k]
        without = learner.predict(points[200:210]) - shifts[:, 0]
        np.testing.assert_allclose(without, values[nearest].mean(axis=1))


def test_a_row_twice_is_not_its_own_neighbour():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 3))
    points, values = np.vstack([half, half]), np.r_[np.arange(20.0), 100 + np.arange(20.0)]
    learner = ManifoldRegressor("neighbors").fit(points, values)
    assert isinstance(learner._answer.winner.baseline, NearestValueBaseline)
    lists = neighbors_among(points, "euclidean", 1)[:, 0]
    np.testing.assert_array_equal(lists, (np.arange(40) + 20) % 40)


@pytest.mark.parametrize("method", ["auto", "ridge", "neighbors"])
def test_intervals_hold_about_as_many_values_as_asked(method):
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(300, 8))
        values = points @ np.arange(8.0) + 5 * rng.normal(size=300)
        y = np.where(np.arange(300) < 60, values, np.nan)
        learner = ManifoldRegressor(method, random_state=0).fit(points, y)
        shares.append(_held(learner.predict_interval(points, 0.8), values)[60:].mean())
    assert abs(np.mean(shares) - 0.8) < 0.05
    with pytest.raises(InvalidInputError, match="at least 99 labels"):
        learner.predict_interval(points, 0.99)


def _held(ends, values):
    return (ends[:, 0] <= values) & (values <= ends[:, 1])


def noisy_arc(seed, law, n=700):
    """An arc in the plane, its values with noise of a standard deviation that is known."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(size=n)
    points = np.column_stack([np.cos(4 * place), np.sin(4 * place)])
    return points, place, np.sin(3 * place) + law(place) * rng.normal(size=n)


def test_quiet_and_noisy_thirds_are_held_alike():
    """With one width for all rows the thirds hold about 100, 94 and 74 %."""
    thirds, ratios = [], []
    for seed in range(6):
        points, place, values = noisy_arc(seed, lambda s: 0.05 + s)
        y = np.where(np.arange(700) < 200, values, np.nan)
        ends = ManifoldRegressor(random_state=0).fit(points, y).predict_interval(points)
        rest = np.arange(200, 700)
        parts = np.array_split(rest[np.argsort(place[rest])], 3)
        thirds.append([_held(ends, values)[rows].mean() for rows in parts])
        widths = ends[:, 1] - ends[:, 0]
        ratios.append(np.median(widths[parts[2]]) / np.median(widths[parts[0]]))
    np.testing.assert_allclose(np.mean(thirds, axis=0), 0.9, atol=0.05)
    assert np.mean(ratios) > 2.5


def test_where_noise_is_even_so_are_widths():
    spans = []
    for seed in range(4):
        points, _, values = noisy_arc(seed, lambda s: np.full_like(s, 0.3))
        y = np.where(np.arange(700) < 200, values, np.nan)
        ends = ManifoldRegressor("ridge", random_state=0).fit(points, y).predict_interval(points)
        low, high = np.quantile(ends[:, 1] - ends[:, 0], [0.1, 0.9])
        spans.append(high / low)
    assert np.median(spans) < 1.3


@pytest.mark.parametrize("method", METHODS)
def test_new_points_have_the_width_of_where_they_are(method):
    points, place, values = noisy_arc(0, lambda s: 0.05 + s)
    y = np.where(np.arange(700) < 200, values, np.nan)
    learner = ManifoldRegressor(method, random_state=0).fit(points, y)
    rows = np.arange(200, 700)
    moved = points[rows] * (1 + 1e-7)
    old, new = (np.ptp(learner.predict_interval(x), axis=1) for x in (points[rows], moved))
    assert np.median(np.abs(new / old - 1)) < 0.1
    assert np.corrcoef(new, place[rows])[0, 1] > 0.7
    twin = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(twin.predict_interval(moved), learner.predict_interval(moved))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_labels", [4, 5, 9])
def test_few_values_rows_twice_and_one_value_everywhere_have_ends(method, n_labels):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(60, 3))
    points = np.vstack([half, half])
    coverage = n_labels / (n_labels + 1)
    for values in (np.r_[half[:, 0], half[:, 0] + 1], np.full(120, 7.0)):
        y = np.where(np.arange(120) % 60 < n_labels / 2, values, np.nan)
        y[np.flatnonzero(~np.isnan(y))[n_labels:]] = np.nan
        learner = ManifoldRegressor(method, random_state=0).fit(points, y)
        ends = learner.predict_interval(np.vstack([points, points + 0.01]), coverage)
        assert np.isfinite(ends).all()
        assert (ends[:, 0] <= ends[:, 1]).all()
    np.testing.assert_allclose(ends, 7.0, rtol=1e-4)


def test_on_a_given_graph_a_baseline_has_one_scale(line):
    points, _, y = line
    given = KnnGraph(10).build(points)
    learner = ManifoldRegressor("ridge", graph=given).fit(points, y)
    widths = np.ptp(learner.predict_interval(points[60:] + 0.01), axis=1)
    assert np.isfinite(widths).all()
    assert widths.max() < 1.5 * widths.min()


def test_intervals_of_a_graph_learner_hold_too(roll):
    points, values, y = roll
    found = ManifoldRegressor(random_state=0).fit(points, y).predict_interval(points, 0.9)
    inside = (found[:, 0] <= values) & (values <= found[:, 1])
    assert inside[40:].mean() > 0.75
    assert np.median(found[:, 1] - found[:, 0]) < values.std()


def test_values_added_changed_and_taken_away_equal_a_fresh_fit(roll):
    points, values, y = roll
    learner = ManifoldRegressor(random_state=0).fit(points, y)
    graph = learner.graph_
    learner.update([50, 3, 4], [values[50], 1.5, None])
    changed = y.copy()
    changed[[50, 3, 4]] = [values[50], 1.5, np.nan]
    fresh = clone(learner).fit(points, changed)
    assert learner.graph_ is graph
    np.testing.assert_allclose(learner.transduction_, fresh.transduction_)
    learner.update(60, float(values[60])).fit_labels(y)
    np.testing.assert_allclose(learner.transduction_, clone(learner).fit(points, y).transduction_)
    with pytest.raises(InvalidInputError, match="0 to 399"):
        learner.update(400, 1.0)


def test_weights_survive_an_update(line):
    points, values, y = line
    weights = np.where(np.arange(300) < 30, 1.0, 5.0)
    learner = ManifoldRegressor("ridge").fit(points, y, sample_weight=weights)
    learner.update(100, values[100])
    changed, own = y.copy(), weights.copy()
    changed[100], own[100] = values[100], weights[:60].mean()
    fresh = ManifoldRegressor("ridge").fit(points, changed, sample_weight=own)
    np.testing.assert_allclose(learner.predict(points), fresh.predict(points))


def test_three_values_are_too_few_to_judge(roll):
    points, values, _ = roll
    y = np.where(np.arange(400) < 3, values, np.nan)
    learner = ManifoldRegressor().fit(points, y)
    assert learner.method_ == "regularized"
    assert learner.report_.n_held_out == 0
    assert "too few values" in str(learner.report_)
    one = ManifoldRegressor().fit(points, np.where(np.arange(400) < 1, values, np.nan))
    np.testing.assert_allclose(one.predict(points), values[0])


def test_values_without_a_pattern_are_warned_of(line):
    rng = np.random.default_rng(1)
    points, _, _ = line
    y = np.where(np.arange(300) < 40, rng.normal(size=300), np.nan)
    learner = ManifoldRegressor(random_state=0).fit(points, y)
    assert learner.report_.members[0].r2 < 0.15
    assert ManifoldRegressor("neighbors").fit(points, y).report_.warnings
    assert "no better than by their mean" in str(
        ManifoldRegressor("neighbors").fit(points, y).report_
    )


def test_one_value_everywhere_is_learned_and_its_variance_not_divided_by(roll):
    points, _, y = roll
    learner = ManifoldRegressor().fit(points, np.where(np.isnan(y), np.nan, 7.0))
    np.testing.assert_allclose(learner.predict(points), 7.0)
    assert all(np.isnan(one.r2) for one in learner.report_.members)
    assert learner.report_.warnings == ()


def test_a_spent_time_budget_leaves_the_rest_out(roll):
    points, _, y = roll
    learner = ManifoldRegressor(time_budget=0.0).fit(points, y)
    assert learner.method_ == "ridge"
    assert sum("time budget" in one.note for one in learner.report_.members) == 4
    assert "4 of 5 methods were left out for time" in learner.report_.warnings[0]
    asked = ManifoldRegressor("laplacian_rls", time_budget=0.0).fit(points, y)
    assert asked.method_ == "laplacian_rls"


def test_rows_that_no_value_reaches_get_none(roll):
    points, _values, y = roll
    far = np.vstack([points, points + 1e4])
    learner = ManifoldRegressor("regularized", graph=KnnGraph(10, connect="keep"), scale="none")
    with pytest.warns(DisconnectedGraphWarning) as said:
        learner.fit(far, np.r_[y, np.full(400, np.nan)])
    assert len(said) == 1
    assert np.isnan(learner.transduction_[400:]).all()
    np.testing.assert_allclose(learner.predict(far[400:410] + 0.01), y[:40].mean())
    assert np.isinf(learner.predict_interval(far[400:402] + 0.01)).all()
    assert "400 rows share no component" in str(learner.report_)


def test_sparse_data_and_unknown_methods(line):
    points, _values, y = line
    sparse = csr_array(np.where(np.abs(points) > 0.5, points, 0.0))
    learner = ManifoldRegressor(random_state=0).fit(sparse, y)
    assert np.isfinite(learner.predict(sparse)).all()
    assert np.isfinite(learner.predict_interval(sparse[:5], 0.8)).all()
    with pytest.raises(InvalidInputError, match=r"method='magic'.*ridge"):
        ManifoldRegressor("magic").fit(points, y)


def test_few_rows_in_many_columns_are_decomposed_by_rows(line):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 100))
    values = points[:, 0]
    learner = ManifoldRegressor("ridge", scale="none").fit(points, values)
    ridge = learner._answer.winner.baseline
    assert isinstance(ridge, RidgeBaseline)
    plain = learner._view.plain
    scaled = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    peer = Ridge(ridge._strength).fit(scaled, values)
    np.testing.assert_allclose(learner.predict(points), peer.predict(scaled))
