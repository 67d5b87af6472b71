"""How many regions: as asked, by a rule, or by held-out labels; lowered aloud where need be."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from beltrami import dollar_sign
from beltrami.core.errors import FewerRegionsWarning, InvalidInputError
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold import region_count
from beltrami.learners.multi_manifold.region_count import (
    RegionCuts,
    checked_n_regions,
    choose_count,
    largest_count,
)
from beltrami.learners.multi_manifold.region_models import held_out_losses
from beltrami.separation.cut import most_regions, regions_by_eigengap, regions_by_slides
from beltrami.separation.separate import regions_at, shape_graph


def dollar(n=1000, step=20, seed=0):
    """Points, the labels of every so many rows as values, and the cuts of their graph."""
    found = dollar_sign(n, random_state=seed)
    rows = np.arange(seed, n, step)
    labeled = Labeled(rows, found.targets[rows, None], np.ones(len(rows)))
    return found.points, labeled, cuts_of(found.points, labeled)


def cuts_of(points, labeled, most=20, seed=0):
    rng = np.random.default_rng(seed)
    graph = shape_graph(points, labeled.rows, rng=rng)
    return RegionCuts.of(graph, labeled, most, rng)


def with_classes(points, labeled, k=2):
    codes = (points[labeled.rows, 1] > 0).astype(int)
    return Labeled(labeled.rows, np.eye(k)[codes], labeled.weights)


# --- what was asked -------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["auto", "slides", "eigengap"])
def test_rules_are_kept_from_three_labels_on(rule):
    assert checked_n_regions(rule, 3) == rule
    assert checked_n_regions(rule, 2) == 1
    assert checked_n_regions(rule, 1) == 1


@pytest.mark.parametrize(("asked", "n_labeled"), [(1, 1), (1, 2), (3, 3), (7, 20), (20, 20)])
def test_numbers_that_labels_allow_are_kept_in_silence(asked, n_labeled):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checked_n_regions(asked, n_labeled) == asked
        assert checked_n_regions(np.int32(asked), n_labeled) == asked


@pytest.mark.parametrize(("asked", "n_labeled", "made"), [(2, 2, 1), (2, 1, 1), (9, 5, 5)])
def test_more_regions_than_labels_are_lowered_aloud(asked, n_labeled, made):
    message = f"n_regions={asked} .* there are {n_labeled}: {made} will be made. Label more rows"
    with pytest.warns(FewerRegionsWarning, match=message):
        assert checked_n_regions(asked, n_labeled) == made


@pytest.mark.parametrize("wrong", [0, -1, True, False, 2.5, 2.0, "many", "Auto", None, [2], np.nan])
def test_numbers_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"n_regions=.* at least 1, or one of 'auto'"):
        checked_n_regions(wrong, 100)


@pytest.mark.parametrize(("n_labeled", "most"), [(3, 1), (20, 8), (80, 19), (640, 20), (10**6, 20)])
def test_rules_consider_no_more_than_the_sizes_and_the_ladder_allow(n_labeled, most):
    assert largest_count("auto", n_labeled) == min(most_regions(n_labeled), 20) == most
    assert largest_count(50, n_labeled) == 50


# --- cuts -----------------------------------------------------------------------------------------


def test_a_number_of_regions_gives_the_same_regions_whatever_else_is_cut():
    _, _, cuts = dollar()
    first = cuts.nodes(5)
    cuts.nodes(3)
    assert_array_equal(cuts.nodes(5), first)
    assert_array_equal(np.unique(first), np.arange(5))


def test_labelled_nodes_are_known():
    _, labeled, cuts = dollar()
    assert_array_equal(cuts.separated.rows[cuts.is_labeled], labeled.rows)


def test_a_number_is_judged_by_the_losses_of_held_out_labels():
    points, labeled, cuts = dollar()
    regions = np.zeros(len(points), dtype=int)
    regions[cuts.separated.rows] = cuts.nodes(4)
    losses = held_out_losses(Ridge(), points, labeled, regions, 4)
    assert_allclose(cuts.judge(Ridge(), points, labeled, 4), losses)
    weights = 1 + np.arange(len(labeled.rows)) % 3.0
    heavy = Labeled(labeled.rows, labeled.targets, weights)
    losses = held_out_losses(Ridge(), points, heavy, regions, 4)
    assert_allclose(cuts.judge(Ridge(), points, heavy, 4), losses)
    choice = choose_count(cuts, "auto", Ridge(), points, heavy)
    place = choice.tried.tolist().index(4)
    assert_allclose(choice.losses[place], np.average(losses, weights=weights))


def test_one_that_learns_from_unlabelled_rows_is_judged_with_those_of_its_region():
    points, labeled, cuts = dollar()
    known = with_classes(points, labeled)
    regions = regions_at(cuts.separated, cuts.nodes(3), points, "voronoi")
    estimator = SelfTrainingClassifier(GaussianNB())
    losses = held_out_losses(estimator, points, known, regions, 3)
    assert_allclose(cuts.judge(estimator, points, known, 3), losses)


def test_what_cannot_be_fitted_is_worth_nothing():
    points, labeled, cuts = dollar()
    known = with_classes(points, labeled)
    assert len(labeled.rows) == 50
    assert np.isfinite(cuts.judge(KNeighborsClassifier(40), points, known, 1)).all()
    assert np.isinf(cuts.judge(KNeighborsClassifier(40), points, known, 8)).all()
    assert np.isinf(cuts.judge(KNeighborsClassifier(50), points, known, 1)).all()


def test_what_says_no_number_is_worth_nothing():
    class Lost(LinearRegression):
        def predict(self, X):
            return np.full(len(X), np.nan)

    points, labeled, cuts = dollar()
    assert np.isinf(cuts.judge(Lost(), points, labeled, 2)).all()


# --- the choice -----------------------------------------------------------------------------------


def test_a_number_asked_for_is_taken():
    points, labeled, cuts = dollar()
    choice = choose_count(cuts, 7, Ridge(), points, labeled)
    assert choice.value == 7
    assert choice.name == "n_regions"
    assert len(choice.tried) == len(choice.losses) == 0
    assert "as asked" in choice.reason


def test_the_slides_take_the_logarithm_of_the_labels():
    points, labeled, cuts = dollar()
    choice = choose_count(cuts, "slides", Ridge(), points, labeled)
    assert choice.value == regions_by_slides(50) == 4
    assert "log of 50 labels" in choice.reason


def test_the_eigengap_looks_at_the_eigenvalues():
    points, labeled, cuts = dollar()
    choice = choose_count(cuts, "eigengap", Ridge(), points, labeled)
    assert choice.value == regions_by_eigengap(cuts.basis.values, most_regions(50))
    assert "gap" in choice.reason


def test_auto_takes_the_least_held_out_loss_of_a_ladder():
    points, labeled, cuts = dollar()
    choice = choose_count(cuts, "auto", Ridge(), points, labeled)
    assert {1, 2, 3, 4, 5, 8, 12} <= set(choice.tried)  # 4 is the slides'
    assert (np.diff(choice.tried) > 0).all()
    judged = [cuts.judge(Ridge(), points, labeled, int(count)).mean() for count in choice.tried]
    assert_allclose(choice.losses, judged)
    assert choice.value == choice.tried[np.argmin(judged)]
    assert f"n_regions={int(choice.value)}: held-out loss" in choice.reason
    assert choice.losses.min() < choice.losses[0]


def test_the_smaller_number_wins_a_tie(monkeypatch):
    points, labeled, cuts = dollar()
    monkeypatch.setattr(region_count.RegionCuts, "judge", lambda *_: np.full(50, 0.25))
    assert choose_count(cuts, "auto", Ridge(), points, labeled).value == 1


@pytest.mark.parametrize(("gain", "chosen"), [(0.9, 1), (1.1, 5)])
def test_regions_must_win_by_a_standard_error(monkeypatch, gain, chosen):
    points, labeled, cuts = dollar()
    spread = np.tile([-1.0, 1.0], 25)  # its mean has a standard error of 1 / sqrt(50)
    losses = {5: 3.0 + spread - gain / np.sqrt(50)}
    judged = lambda self, estimator, points, labeled, k: losses.get(k, np.full(50, 3.0))  # noqa: E731
    monkeypatch.setattr(region_count.RegionCuts, "judge", judged)
    choice = choose_count(cuts, "auto", Ridge(), points, labeled)
    assert choice.value == chosen
    assert choice.losses.argmin() == choice.tried.tolist().index(5)


def test_where_nothing_can_be_judged_one_region_is_taken():
    points, labeled, cuts = dollar()
    known = with_classes(points, labeled)
    choice = choose_count(cuts, "auto", KNeighborsClassifier(50), points, known)
    assert choice.value == 1
    assert np.isinf(choice.losses).all()


def test_one_function_of_all_gains_nothing_from_regions():
    points, labeled, cuts = dollar()
    noise = 0.1 * np.random.default_rng(0).normal(size=labeled.targets.shape)
    plain = Labeled(labeled.rows, points[labeled.rows] @ [[1.0], [2.0]] + noise, labeled.weights)
    choice = choose_count(cuts, "auto", LinearRegression(), points, plain)
    assert choice.losses.min() > 0.9 * choice.losses[0]
    assert choice.value <= 3
    assert choice.losses[-1] > 1.5 * choice.losses[0]


def test_numbers_that_fail_are_passed_over():
    points, labeled, cuts = dollar()
    known = with_classes(points, labeled)
    choice = choose_count(cuts, "auto", KNeighborsClassifier(15), points, known)
    assert np.isinf(choice.losses).any()
    assert np.isfinite(choice.losses[choice.tried == choice.value]).all()


def test_classes_are_judged_by_the_share_of_errors():
    points, labeled, cuts = dollar()
    choice = choose_count(cuts, "auto", LogisticRegression(), points, with_classes(points, labeled))
    assert ((choice.losses >= 0) & (choice.losses <= 1)).all()
    assert_allclose(choice.losses * 50, np.round(choice.losses * 50), atol=1e-9)
