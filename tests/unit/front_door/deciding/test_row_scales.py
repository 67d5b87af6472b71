"""The scale of residuals at a row: closed forms, what a label has no part in, and odd sizes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.front_door.deciding.row_scales import RowScales, choose_powers, local_log_means

PSEUDO = 2.0


def two_groups(n_each=20, seed=0):
    """Labels in two groups that no diffusion joins, the second ten times as far off."""
    sizes = np.random.default_rng(seed).exponential(size=2 * n_each)
    sizes[n_each:] *= 10
    functions = np.repeat(np.eye(2), n_each, axis=0)
    return sizes, functions, np.zeros(2)


def along_a_line(count=40, seed=0, n_functions=8):
    """Labels on a line with cosines as functions, sizes that grow along it."""
    rng = np.random.default_rng(seed)
    place, orders = rng.uniform(size=count), np.arange(n_functions)
    sizes = (0.1 + place) * rng.exponential(size=count)
    return sizes, np.cos(np.pi * np.outer(place, orders)), (orders / n_functions) ** 2


def test_a_row_like_no_label_has_the_mean_of_the_others() -> None:
    sizes = np.array([1.0, 2.0, 6.0])
    means = np.exp(local_log_means(np.zeros((1, 3)), sizes)) * 3.0
    assert_allclose(means, [[4.0, 3.5, 1.5]])


def test_local_means_count_the_other_labels_and_two_of_average_size() -> None:
    rng = np.random.default_rng(0)
    alike, sizes = rng.uniform(size=(5, 7)), rng.uniform(size=7)
    found = np.exp(local_log_means(alike, sizes)) * sizes.mean()
    for label in range(7):
        rest = np.delete(np.arange(7), label)
        sums = alike[:, rest] @ sizes[rest] + PSEUDO * sizes[rest].mean()
        assert_allclose(found[:, label], sums / (alike[:, rest].sum(axis=1) + PSEUDO))


def test_a_label_has_no_part_in_the_local_mean_without_it() -> None:
    rng = np.random.default_rng(1)
    alike, sizes = rng.uniform(size=(5, 7)), rng.uniform(size=7)
    other = sizes.copy()
    other[3] *= 50
    before = local_log_means(alike, sizes) + np.log(sizes.mean())
    after = local_log_means(alike, other) + np.log(other.mean())
    assert_allclose(after[:, 3], before[:, 3])
    assert (after[:, 2] > before[:, 2]).all()


def test_the_mean_at_a_label_leaves_that_label_out() -> None:
    sizes, functions, values = two_groups(n_each=5)
    scales = RowScales.of(sizes, functions, values)
    rest = np.r_[1:5]
    others = np.delete(sizes, 0).mean()
    expected = (sizes[rest].sum() + PSEUDO * others) / (4 + PSEUDO)
    assert_allclose(np.exp(scales.own[0]) * sizes.mean(), expected)


def test_more_labels_than_a_block_are_left_out_alike() -> None:
    sizes, functions, values = two_groups(n_each=150)
    scales = RowScales.of(sizes, functions, values)
    whole = local_log_means(np.clip(scales.places @ scales.places.T, 0, 1), sizes)
    assert_allclose(scales.own, np.diag(whole))


def test_at_its_own_place_a_residual_reaches_as_far_as_it_is() -> None:
    sizes, functions, values = along_a_line()
    widths = RowScales.of(sizes, functions, values).half_widths(functions)
    assert_allclose(np.diag(widths), sizes)


def test_powers_are_the_mean_by_likelihood_without_the_label() -> None:
    sizes, own = np.array([1.0, 3.0, 2.0, 8.0]), np.log([1.5, 2.0, 2.5, 6.0])
    found = choose_powers(sizes, own)
    powers = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
    for label in range(4):
        chances = []
        for power in powers:
            level = np.mean(sizes / np.exp(power * own))
            density = np.exp(-sizes / (level * np.exp(power * own))) / (level * np.exp(power * own))
            chances.append(np.exp(-power) * np.delete(density, label).prod())
        assert_allclose(found[label], powers @ chances / np.sum(chances))


def test_groups_that_differ_get_widths_that_differ_as_much() -> None:
    sizes, functions, values = two_groups(n_each=60)
    scales = RowScales.of(sizes, functions, values)
    quiet, loud = np.median(scales.half_widths(np.eye(2)), axis=1)
    ratio = sizes[60:].mean() / sizes[:60].mean()
    assert 0.75 * ratio < loud / quiet < 1.33 * ratio


def test_where_sizes_have_no_pattern_widths_hardly_differ() -> None:
    spans = []
    for seed in range(10):
        _, functions, values = along_a_line(100, seed)
        sizes = np.random.default_rng(seed).exponential(size=100)
        widths = np.median(RowScales.of(sizes, functions, values).half_widths(functions), axis=1)
        spans.append(np.quantile(widths, 0.9) / np.quantile(widths, 0.1))
    assert np.median(spans) < 1.25


def test_few_labels_speak_for_widths_nearer_to_even() -> None:
    few, many = two_groups(n_each=3), two_groups(n_each=60)
    assert RowScales.of(*few).powers.mean() < 0.9 * RowScales.of(*many).powers.mean()


def test_widths_follow_the_unit_and_the_order_of_labels() -> None:
    sizes, functions, values = along_a_line()
    plain = RowScales.of(sizes, functions, values).half_widths(functions)
    larger = RowScales.of(1e6 * sizes, functions, values).half_widths(functions)
    assert_allclose(larger, 1e6 * plain)
    order = np.random.default_rng(2).permutation(40)
    moved = RowScales.of(sizes[order], functions[order], values).half_widths(functions)
    assert_allclose(moved, plain[:, order])


@pytest.mark.parametrize("count", [2, 4, 5])
@pytest.mark.parametrize("kind", ["zero", "one above zero", "tiny", "same place", "nowhere"])
def test_odd_sizes_and_places_give_finite_widths(kind: str, count: int) -> None:
    rng = np.random.default_rng(0)
    sizes, functions = rng.exponential(size=count), rng.normal(size=(count, 3))
    if kind == "zero":
        sizes[:] = 0
    elif kind == "one above zero":
        sizes[1:] = 0
    elif kind == "tiny":
        sizes *= 1e-300
    elif kind == "same place":
        functions[:] = functions[0]
    else:
        functions[:] = 0
    with np.errstate(all="raise", under="ignore"):
        scales = RowScales.of(sizes, functions, np.array([0.0, 0.1, 1.0]))
        widths = scales.half_widths(np.vstack([functions, np.zeros(3), rng.normal(size=3)]))
    assert np.isfinite(widths).all()
    assert (widths >= 0).all()
    assert_array_equal(widths[:, sizes == 0], 0)


def test_diffusion_makes_a_typical_label_like_twelve_others() -> None:
    _, functions, values = along_a_line(200, n_functions=80)
    places = RowScales.of(np.ones(200), functions, values).places
    alike = np.clip(places @ places.T, 0, 1)
    assert np.median(alike.sum(axis=1)) - 1 == pytest.approx(12, abs=0.1)
    few = RowScales.of(np.ones(10), functions[:10], values).places
    assert np.median(np.clip(few @ few.T, 0, 1).sum(axis=1)) - 1 == pytest.approx(4, abs=0.1)
