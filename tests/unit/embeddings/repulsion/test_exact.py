"""Normalizers and forces between all pairs: exact, by tiles, by waves, and which to use."""

import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import thread_limit
from beltrami.embeddings.repulsion import regimes, tiles
from beltrami.embeddings.repulsion.exact import ExactRepulsion, repulsion_reference
from beltrami.embeddings.repulsion.regimes import RowError, choose_repulsion, row_error
from beltrami.embeddings.repulsion.tiles import TiledRepulsion, tile_order
from beltrami.embeddings.repulsion.waves import FourierRepulsion

EXACT = ExactRepulsion()
ALL_PAIRS = TiledRepulsion(np.inf)


def cloud(n, d, *, width=1.5, seed=0):
    return width * np.random.default_rng(seed).standard_normal((n, d))


def clusters(n, d=10, *, n_clusters=10, intrinsic=2, seed=0):
    """Curved sheets, apart from each other, with some tens of points within a kernel width."""
    rng = np.random.default_rng(seed)
    side = np.sqrt(n / n_clusters / 10)
    sheets = []
    for _ in range(n_clusters):
        flat = rng.uniform(-side / 2, side / 2, (n // n_clusters, intrinsic))
        basis = np.linalg.qr(rng.standard_normal((d, intrinsic)))[0]
        bent = flat @ basis.T + 0.3 * np.sin(flat[:, :1]) * rng.standard_normal(d)
        sheets.append(bent + side * rng.standard_normal(d) / 2)
    return np.vstack(sheets) + 0.05 * rng.standard_normal((n, d))


def assert_same(found, expected, tolerance):
    (log_z, force), (true_log_z, true_force) = found, expected
    assert log_z.dtype == force.dtype == np.float64
    scale = np.maximum(np.abs(true_log_z), 1)
    np.testing.assert_allclose(log_z / scale, true_log_z / scale, rtol=0, atol=tolerance)
    size = np.abs(true_force).max()
    np.testing.assert_allclose(force, true_force, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 20])
@pytest.mark.parametrize("n", [2, 3, 50, 257, 1000])
def test_exact_repulsion_is_its_slow_twin(n, d):
    Y = cloud(n, d, seed=n + d)
    expected = repulsion_reference(Y)
    assert_same(EXACT(Y), expected, 1e-12)
    np.testing.assert_allclose(EXACT.log_normalizers(Y), expected[0], rtol=0, atol=1e-12)


def test_two_points_at_a_known_distance_have_their_closed_form():
    log_z, force = EXACT(np.array([[0.0, 0.0], [0.6, 0.8]]))
    np.testing.assert_allclose(log_z, [-1, -1], rtol=1e-14)
    np.testing.assert_allclose(force, [[-1.2, -1.6], [1.2, 1.6]], rtol=1e-14)


@pytest.mark.parametrize(("n", "d", "width"), [(40, 3, 0.5), (140, 10, 1.0), (60, 2, 4.0)])
def test_minus_twice_the_force_is_the_gradient_of_the_sum_of_log_normalizers(n, d, width):
    Y = cloud(n, d, width=width)
    direction = np.random.default_rng(1).standard_normal(Y.shape)
    step = 1e-4
    ahead, behind = (EXACT.log_normalizers(Y + s * direction).sum() for s in (step, -step))
    slope = (ahead - behind) / (2 * step)
    assert slope == pytest.approx(-2 * np.vdot(EXACT(Y)[1], direction), rel=1e-6)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (50, 2), (257, 5), (300, 10)])
def test_attraction_in_the_same_go_is_the_matrix_product_beside_it(n, d):
    Y = cloud(n, d)
    Y[0] += 100  # far enough that it is treated apart
    mutual = np.random.default_rng(3).random((n, n))
    mutual = mutual + mutual.T
    np.fill_diagonal(mutual, 0)
    log_z, net, energy = EXACT.net_force(Y, mutual)
    near = mutual.sum(axis=1)[:, None] * Y - mutual @ Y
    true_log_z, force = repulsion_reference(Y)
    assert_same((log_z, net), (true_log_z, force - near), 1e-12)
    assert energy == pytest.approx(np.vdot(Y, near), rel=1e-12)
    with pytest.raises(InvalidInputError, match="shape"):
        EXACT.net_force(Y, mutual[:, 1:])


@pytest.mark.parametrize("repulsion", [EXACT, ALL_PAIRS], ids=["exact", "tiles"])
def test_moving_and_turning_the_embedding_moves_and_turns_nothing_else(repulsion):
    Y = cloud(300, 5)
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((5, 5)))[0]
    log_z, force = repulsion(Y)
    tolerance = 1e-8 if repulsion is EXACT else 1e-5
    assert_same(repulsion(Y + 1e6), (log_z, force), tolerance)
    assert_same(repulsion(Y @ turn), (log_z, force @ turn), tolerance)
    np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-10 if repulsion is EXACT else 1e-3)


@pytest.mark.parametrize("repulsion", [EXACT, TiledRepulsion(), FourierRepulsion(128)], ids=str)
def test_points_in_one_place_have_n_minus_one_neighbours_and_no_force(repulsion):
    log_z, force = repulsion(np.full((300, 4), 7.0))
    np.testing.assert_allclose(log_z, np.log(299), atol=1e-6)
    np.testing.assert_allclose(force, 0, atol=1e-12)


@pytest.mark.parametrize("distance", [1e3, 1e6])
@pytest.mark.parametrize("repulsion", [EXACT, TiledRepulsion()], ids=["exact", "tiles"])
def test_outliers_keep_their_normalizers_and_forces(repulsion, distance):
    Y = cloud(400, 3)
    Y[5] += distance
    Y[[17, 200]] -= distance  # two that have each other, in numbers rounded at that distance
    log_z, force = repulsion(Y)
    true_log_z, true_force = repulsion_reference(Y)
    precise = 1e-12 + 1e-15 * distance if repulsion is EXACT else 1e-5
    assert_same((log_z, force), (true_log_z, true_force), precise)
    near = np.abs(true_force).max(axis=1) < 100
    assert near.sum() > 390
    np.testing.assert_allclose(force[near], true_force[near], rtol=0, atol=20 * precise)


@pytest.mark.parametrize("repulsion", [EXACT, TiledRepulsion()], ids=["exact", "tiles"])
def test_an_outlier_out_of_all_proportion_leaves_everything_finite(repulsion):
    Y = cloud(400, 3)
    Y[5] = 1e100
    Y[6] = -1e150
    found = repulsion(Y)
    assert np.isfinite(found[0]).all()
    assert np.isfinite(found[1]).all()
    assert_same(found, repulsion_reference(Y), 1e-12)


def test_points_that_are_all_far_apart_are_still_right():
    Y = cloud(150, 2, width=1e4)
    assert_same(EXACT(Y), repulsion_reference(Y), 1e-12)
    assert_same(TiledRepulsion()(Y), repulsion_reference(Y), 1e-6)


def test_float32_input_gives_float64_results():
    Y = cloud(200, 4).astype(np.float32)
    assert_same(EXACT(Y), repulsion_reference(Y.astype(np.float64)), 1e-12)
    assert FourierRepulsion(128)(Y)[1].dtype == np.float64


@pytest.mark.parametrize("repulsion", [EXACT, TiledRepulsion(), FourierRepulsion()], ids=str)
def test_something_without_pairs_is_refused(repulsion):
    for wrong in (np.zeros((1, 3)), np.zeros(5), np.zeros((4, 0))):
        with pytest.raises(InvalidInputError, match="two points"):
            repulsion(wrong)


@pytest.mark.parametrize("n", [300, 1025])
def test_tiles_of_infinite_reach_are_exact(n):
    Y = clusters(n - n % 10, 7)
    in_double = TiledRepulsion(np.inf, dtype="float64").refresh(Y)
    assert_same(in_double(Y), EXACT(Y), 1e-12)
    assert_same(ALL_PAIRS.refresh(Y)(Y), EXACT(Y), 1e-5)


def test_tile_orders_hold_every_row_once_and_halve_the_points_evenly():
    Y = clusters(1000, 3)
    order = tile_order(Y)
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    spread = np.mean([Y[order[s : s + 128]].std(axis=0).mean() for s in range(0, 1000, 128)])
    assert spread < 0.7 * Y.std(axis=0).mean()


@pytest.mark.parametrize("far_threshold", [3.0, 10.0])
def test_tiles_are_right_to_two_percent_on_clusters(far_threshold):
    Y = clusters(6000)
    repulsion = TiledRepulsion(far_threshold).refresh(Y)
    log_z, force = repulsion(Y)
    true_log_z, true_force = EXACT(Y)
    assert np.sqrt(np.mean(np.expm1(log_z - true_log_z) ** 2)) < 0.02
    assert np.linalg.norm(force - true_force) < 0.02 * np.linalg.norm(true_force)
    np.testing.assert_allclose(repulsion.log_normalizers(Y), log_z, rtol=1e-12)


def test_far_tiles_are_estimated_without_bias(monkeypatch):
    Y = cloud(2000, 2, width=4.0)
    true_log_z, true_force = EXACT(Y)
    shares, errors = [], []
    for seed in range(40):  # only tiles at most one width apart are computed in full
        repulsion = TiledRepulsion(1e-3, 64, seed, "float64").refresh(Y)
        log_z, force = repulsion(Y)
        with monkeypatch.context() as patch:
            patch.setattr(tiles, "_HORIZON", 0.0)
            near = np.exp(repulsion.log_normalizers(Y))
        far = np.exp(true_log_z) - near
        assert far.sum() > 1e-4 * near.sum()  # there is something to estimate
        shares.append(np.vdot(np.exp(log_z) - near, far) / np.vdot(far, far))
        errors.append(force - true_force)
    assert abs(np.mean(shares) - 1) < 4 * np.std(shares) / np.sqrt(40) < 0.15
    assert np.linalg.norm(np.mean(errors, axis=0)) < 0.35 * np.linalg.norm(errors[0])
    assert TiledRepulsion(seed=3).refresh(Y).seed == 4


def test_tiles_made_for_another_number_of_points_say_so():
    repulsion = TiledRepulsion().refresh(cloud(200, 2))
    with pytest.raises(InvalidInputError, match="call refresh "):
        repulsion(cloud(201, 2))
    with pytest.raises(InvalidInputError, match="far_threshold"):
        TiledRepulsion(-1.0)
    with pytest.raises(InvalidInputError, match="n_samples"):
        TiledRepulsion(n_samples=65)


def test_waves_are_right_on_a_narrow_embedding_and_found_out_on_a_wide_one():
    shape = cloud(3000, 10, width=1 / np.sqrt(10))
    narrow = row_error(FourierRepulsion(), 0.2 * shape)
    assert 0 < narrow.largest < 0.005
    wide = row_error(FourierRepulsion(), 5 * shape)
    assert wide.normalizer > 1
    assert wide.force > 1
    true_log_z, true_force = EXACT(0.2 * shape)
    log_z, force = FourierRepulsion()(0.2 * shape)
    np.testing.assert_allclose(log_z, true_log_z, atol=0.01)
    assert np.linalg.norm(force - true_force) < 0.005 * np.linalg.norm(true_force)


def test_more_waves_are_better():
    Y = cloud(1000, 3, width=0.3)
    few = np.mean([row_error(FourierRepulsion(128, s), Y).largest for s in range(5)])
    many = np.mean([row_error(FourierRepulsion(2048, s), Y).largest for s in range(5)])
    assert many < few / 2


class Wrong:
    """The exact repulsion, made wrong by known factors."""

    def __call__(self, embedding):
        log_z, force = EXACT(embedding)
        return log_z + np.log(1.1), 0.95 * force


def test_the_error_of_rows_is_that_of_a_known_mistake():
    Y = cloud(400, 3)
    assert row_error(EXACT, Y).largest < 1e-12
    assert row_error(EXACT, cloud(600, 3)).n_rows == 500
    wrong = row_error(Wrong(), Y)
    assert wrong.n_rows == 400
    assert wrong.normalizer == pytest.approx(0.1, rel=1e-9)
    # The force is judged with the estimate's own z of the columns: 1/z_j is 1/1.1 of the true.
    assert wrong.force == pytest.approx(0.05, abs=0.06)


def test_the_choice_is_exact_waves_or_tiles_and_within_tolerance():
    assert choose_repulsion(cloud(100, 3), seed=0) == (ExactRepulsion(), RowError(0.0, 0.0, 100))
    narrow, error = choose_repulsion(cloud(6000, 10, width=0.06), seed=0)
    assert isinstance(narrow, FourierRepulsion)
    assert 0 < error.largest <= 0.02
    Y = clusters(6000)
    spread, error = choose_repulsion(Y, seed=0)
    assert isinstance(spread, TiledRepulsion)
    assert error == row_error(spread, Y)
    assert error.largest <= 0.02


def test_the_choice_ends_with_all_pairs_where_no_estimate_will_do(monkeypatch):
    monkeypatch.setattr(regimes, "_TILES", ((1e-3, 1), (np.inf, 1)))
    Y = cloud(2000, 2, width=4.0)
    chosen, error = choose_repulsion(Y, seed=0, tolerance=1e-4, exact_below=100)
    assert isinstance(chosen, TiledRepulsion)
    assert np.isinf(chosen.far_threshold)
    assert error.largest <= 1e-4
    chosen, error = choose_repulsion(Y, seed=0, tolerance=1e-10, exact_below=100)
    assert chosen == ExactRepulsion()
    assert error.largest == 0


@pytest.mark.parametrize(
    "repulsion",
    [EXACT, TiledRepulsion(3.0), FourierRepulsion(256)],
    ids=["exact", "tiles", "waves"],
)
def test_results_do_not_depend_on_the_number_of_threads(repulsion):
    Y = clusters(2500) if isinstance(repulsion, TiledRepulsion) else cloud(2500, 6, width=0.4)
    with thread_limit(1):
        alone = repulsion(Y)
    with thread_limit(2):
        together = repulsion(Y)
    assert_same(together, alone, 1e-12)
