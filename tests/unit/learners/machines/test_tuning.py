"""The strengths of the penalties: what is tried, what is chosen, what stands for "auto"."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami import KnnGraph
from beltrami.core.errors import InvalidInputError
from beltrami.kernel_machines.deformation import FeatureDeformation, ModalDeformation
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.kernel_machines.landmarks import NystromFeatures
from beltrami.kernel_machines.roughness import LaplacianPower
from beltrami.learners.leave_one_out import held_out_loss
from beltrami.learners.machines.tuning import (
    Penalties,
    best_trial,
    check_penalties,
    held_out_scores,
    ridge_path,
)
from beltrami.learners.model import Labeled

N = 50
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 2))
GRAM = Gram(RbfKernel(0.5), POINTS)
ROUGHNESS = LaplacianPower().on(KnnGraph(5, connect="mst").build(POINTS), 1)
KERNEL = ModalDeformation.of(GRAM, ROUGHNESS)
ROWS = np.arange(0, N, 3)
WEIGHTS = RNG.uniform(0.5, 2.0, len(ROWS))
VALUES = Labeled(ROWS, np.sin(2 * POINTS[ROWS, :1]), WEIGHTS)
CODES = (POINTS[ROWS, 0] > 0).astype(int) + (POINTS[ROWS, 1] > 0.3)
CLASSES = Labeled(ROWS, 2.0 * (CODES[:, None] == np.arange(3)) - 1, WEIGHTS)


def penalties(gamma_a="auto", gamma_i="auto"):
    return Penalties(gamma_a, gamma_i, float(WEIGHTS.sum()), 1.0, ROUGHNESS.typical)


# --- what is tried ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gammas", "n_settings", "n_ratios"),
    [
        (("auto", "auto"), 60, 10),
        (("auto", 0.0), 6, 1),
        (("auto", 2.0), 6, 6),
        ((0.1, "auto"), 10, 10),
        ((0.1, 2.0), 1, 1),
        ((0.1, 0.0), 1, 1),
        ((0.0, 2.0), 1, 1),
    ],
)
def test_only_what_is_left_open_is_tried(gammas, n_settings: int, n_ratios: int) -> None:
    asked = penalties(*gammas)
    tried = list(asked.candidates(KERNEL))
    assert len(tried) == n_settings
    assert len({one.ratio for one in tried}) == n_ratios
    assert asked.are_fixed == ("auto" not in gammas)
    is_extreme = gammas[0] == 0.0  # one ratio, but too large for one factorisation
    assert asked.has_one_ratio == (n_ratios == 1 and not is_extreme)


def test_settings_of_one_ratio_come_in_a_row() -> None:
    ratios = np.array([one.ratio for one in penalties().candidates(KERNEL)])
    assert np.count_nonzero(np.diff(ratios)) == 9


def test_the_plain_machine_is_among_what_is_tried() -> None:
    assert any(one.ratio == 0 for one in penalties().candidates(KERNEL))


def test_ambient_penalties_are_shares_of_the_deformed_kernel() -> None:
    shares = [one.ambient / KERNEL.size(one.ratio) for one in penalties().candidates(KERNEL)]
    assert_allclose(np.reshape(shares, (10, 6)), np.tile(10.0 ** np.arange(-4, 2), (10, 1)))


@pytest.mark.parametrize("gamma_a", [0.1, 3.0])
def test_given_penalties_enter_as_the_paper_says(gamma_a: float) -> None:
    """lambda1 = gamma_A l, and gamma_I / gamma_A is the ratio."""
    (one,) = penalties(gamma_a, 2.0).candidates(KERNEL)
    assert_allclose(one.ambient, gamma_a * WEIGHTS.sum())
    assert_allclose(one.ratio, 2.0 / gamma_a)


def test_a_given_intrinsic_penalty_is_kept_whatever_the_ambient_one() -> None:
    for one in penalties("auto", 2.0).candidates(KERNEL):
        assert_allclose(one.ambient * one.ratio, 2.0 * WEIGHTS.sum())


def test_a_given_ambient_penalty_is_kept_whatever_the_ratio() -> None:
    for one in penalties(0.1, "auto").candidates(KERNEL):
        assert_allclose(one.ambient, 0.1 * WEIGHTS.sum())


def test_no_ambient_penalty_means_a_vanishing_one() -> None:
    (one,) = penalties(0.0, 2.0).candidates(KERNEL)
    assert 0 < one.ambient * 1e6 < one.ambient * one.ratio * ROUGHNESS.typical


@pytest.mark.parametrize("gammas", [("auto", "auto"), ("auto", 2.0), (0.1, "auto"), ("auto", 0.0)])
def test_typical_strengths_keep_what_is_given(gammas) -> None:
    one = penalties(*gammas).typical(KERNEL, 1)
    assert np.isfinite([one.ambient, one.ratio]).all()
    assert one.ambient > 0
    if gammas[0] != "auto":
        assert_allclose(one.ambient, gammas[0] * WEIGHTS.sum())
    if gammas[1] != "auto":
        assert_allclose(one.ratio * one.ambient, gammas[1] * WEIGHTS.sum())


@pytest.mark.parametrize(
    ("gammas", "message"),
    [
        ((-1.0, 0.0), r"gamma_a=-1\.0 must be a number, not negative, or 'auto'"),
        ((1.0, -0.1), r"gamma_i=-0\.1 must be"),
        ((np.nan, 1.0), "gamma_a=nan must be"),
        ((1.0, np.inf), "gamma_i=inf must be"),
        (("much", 1.0), "gamma_a='much' must be"),
        ((1.0, None), "gamma_i=None must be"),
        ((True, 1.0), "gamma_a=True must be"),
        ((0, 0), "gamma_a=0 with gamma_i=0 leaves nothing"),
        ((0.0, "auto"), "gamma_a=0 with gamma_i='auto' leaves nothing.*hard margin"),
    ],
)
def test_penalties_that_make_no_sense_are_refused(gammas, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_penalties(*gammas)


# --- what is chosen ---------------------------------------------------------------------------


def solved(ratio, labeled, strength, kept, *, intercept):
    """Scores at the labelled rows of a fit to some of them, by a bordered system."""
    block = KERNEL.block(labeled.rows, ratio)
    weights, targets = labeled.weights[kept], labeled.targets[kept]
    count = len(kept)
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = weights[:, None] * block[np.ix_(kept, kept)]
    system[:count, :count] += strength * np.eye(count)
    if intercept:
        system[:count, count], system[count, :count] = weights, 1.0
    else:
        system[count, count] = 1.0
    right = np.vstack([weights[:, None] * targets, np.zeros((1, targets.shape[1]))])
    found = np.linalg.solve(system, right)
    return block[:, kept] @ found[:count] + found[count]


@pytest.mark.parametrize("intercept", [False, True])
def test_the_setting_of_least_loss_by_refits_is_chosen(intercept: bool) -> None:
    everyone = np.arange(len(ROWS))
    losses = []
    for one in penalties().candidates(KERNEL):
        rows = [
            solved(one.ratio, VALUES, one.ambient, np.delete(everyone, i), intercept=intercept)[i]
            for i in everyone
        ]
        losses.append(held_out_loss(np.array(rows), VALUES))
    trial = best_trial(KERNEL, VALUES, penalties(), intercept=intercept)
    assert trial.n_tried == 60
    assert_allclose(trial.loss, min(losses), rtol=1e-6)
    assert trial.strengths == list(penalties().candidates(KERNEL))[int(np.argmin(losses))]


def test_of_equal_settings_the_smoothest_is_chosen() -> None:
    flat = Labeled(ROWS, np.zeros((len(ROWS), 1)), WEIGHTS)
    trial = best_trial(KERNEL, flat, penalties(), intercept=True)
    assert trial.strengths == list(penalties().candidates(KERNEL))[-1]


def test_the_loss_of_classes_is_that_of_a_neighbourhood_of_settings() -> None:
    """One lucky label must not decide: losses are averaged over adjacent settings."""
    tried = list(penalties().candidates(KERNEL))
    losses = []
    for one in tried:
        path = ridge_path(KERNEL, CLASSES, one.ratio, intercept=False)
        found = held_out_scores(path, CLASSES, one.ambient)
        losses.append(held_out_loss(found, CLASSES))
    padded = np.pad(np.reshape(losses, (10, 6)), 1, mode="edge")
    average = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).mean(axis=(2, 3)).ravel()
    trial = best_trial(KERNEL, CLASSES, penalties(), intercept=False)
    assert_allclose(trial.loss, average.min())
    assert_allclose(average[tried.index(trial.strengths)], average.min())


def test_honest_residuals_are_one_per_value_and_none_for_classes() -> None:
    assert best_trial(KERNEL, VALUES, penalties(), intercept=True).honest.shape == ROWS.shape
    assert best_trial(KERNEL, CLASSES, penalties(), intercept=True).honest is None


def test_fewer_features_than_labels_give_the_same_path_by_a_factor() -> None:
    features = NystromFeatures.of(GRAM, np.arange(8), tol=1e-10)
    deformation = FeatureDeformation.of(features, ROUGHNESS)
    path = ridge_path(deformation, CLASSES, 5.0, intercept=True)
    assert path.vectors.shape == (len(ROWS), 8)
    block = deformation.block(ROWS, 5.0)
    expected = type(path).of(block, WEIGHTS, intercept=True).held_out(CLASSES.targets, 0.1)
    found = held_out_scores(path, CLASSES, 0.1)
    assert_allclose(found, expected.values, atol=1e-9)


def test_a_single_label_says_of_itself_what_it_is() -> None:
    alone = Labeled(ROWS[:1], np.array([[4.0]]), np.ones(1))
    path = ridge_path(KERNEL, alone, 0.0, intercept=True)
    assert_array_equal(held_out_scores(path, alone, 0.1), [[4.0]])
